/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/elf_head.h"
#include "support/check.h"

Test(elf_head, reads_this_very_program)
{
	struct gt_elf_head head;

	cr_assert(eq(int, gt_elf_head_read(&head, "/proc/self/exe"), 1));
	cr_expect(head.has_segments);
	cr_expect(head.is_dynamic);
	cr_expect(eq(int, head.loader[0], '/'));
}

/* The memory behind the bytes is another's: a sanitizer sees a read there. */
Test(elf_head, reads_nothing_behind_a_file_that_is_cut)
{
	Elf32_Ehdr whole = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB},
		.e_machine = EM_386,
		.e_phoff = 20, /* its own bytes are a segment, too */
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 1,
	};

	for (size_t size = 0; size <= sizeof(whole); size++) {
		uint8_t *bytes = malloc(size ? size : 1);
		struct gt_elf_head head;

		memcpy(bytes, &whole, size);
		cr_expect(eq(int, gt_elf_head_parse(&head, bytes, size), size == sizeof(whole)));
		cr_expect(eq(int, head.has_segments, size == sizeof(whole)));
		free(bytes);
	}
}

Test(elf_head, refuses_segments_and_loaders_that_are_not_in_the_file)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment;
	} file = {
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
	                 .e_machine = EM_X86_64,
	                 .e_phoff = UINT64_MAX - 8,
	                 .e_phentsize = sizeof(Elf64_Phdr),
	                 .e_phnum = 1},
		.segment = {.p_type = PT_INTERP, .p_offset = UINT64_MAX, .p_filesz = 64},
	};
	struct gt_elf_head head;

	cr_assert(eq(int, gt_elf_head_parse(&head, (const uint8_t *)&file, sizeof(file)), 1));
	cr_expect(not(head.has_segments));
	file.head.e_phoff = sizeof(file.head);
	file.head.e_phnum = 2;
	(void)gt_elf_head_parse(&head, (const uint8_t *)&file, sizeof(file));
	cr_expect(not(head.has_segments));
	file.head.e_phnum = 1;
	(void)gt_elf_head_parse(&head, (const uint8_t *)&file, sizeof(file));
	cr_expect(head.is_dynamic);
	expect_text(head.loader, "");
}

Test(elf_head, knows_a_file_of_the_other_byte_order)
{
	uint8_t bytes[64] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2MSB};
	struct gt_elf_head head;

	bytes[19] = EM_PPC64;
	cr_assert(eq(int, gt_elf_head_parse(&head, bytes, sizeof(bytes)), 1));
	cr_expect(eq(int, head.machine, EM_PPC64));
}

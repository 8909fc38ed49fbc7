/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/elf_head.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"

/* The two classes of ELF, of 32 and 64 bits, differ in where the fields stand (elf(5)). */
struct layout {
	size_t head_size;
	size_t segments;     /* offset of e_phoff */
	size_t segment_size; /* offset of e_phentsize, and of e_phnum behind it */
	size_t offset;       /* of p_offset in a segment */
	size_t file_size;    /* of p_filesz */
	size_t least_size;   /* of a segment */
	bool wide;
};

static const struct layout layouts[] = {
	{52, 28, 42, 4, 16, 32, false},
	{64, 32, 54, 8, 32, 56, true},
};

static uint64_t get_word(const struct layout *layout, const uint8_t *at)
{
	return layout->wide ? gt_get_u64(at) : gt_get_u32(at);
}

static bool is_inside(uint64_t offset, uint64_t length, size_t size)
{
	return offset <= size && length <= size - offset;
}

static void take_loader(struct gt_elf_head *head, const struct layout *layout,
                        const uint8_t *segment, const uint8_t *bytes, size_t size)
{
	const uint64_t offset = get_word(layout, segment + layout->offset);
	const uint64_t length = get_word(layout, segment + layout->file_size);

	head->is_dynamic = true;
	if (length > 0 && length < sizeof(head->loader) && is_inside(offset, length, size))
		snprintf(head->loader, sizeof(head->loader), "%.*s", (int)length,
		         (const char *)bytes + offset);
}

static void read_segments(struct gt_elf_head *head, const struct layout *layout,
                          const uint8_t *bytes, size_t size)
{
	const uint64_t first = get_word(layout, bytes + layout->segments);
	const size_t each = gt_get_u16(bytes + layout->segment_size);
	const size_t count = gt_get_u16(bytes + layout->segment_size + 2);

	if (count == 0 || each < layout->least_size || !is_inside(first, each * count, size))
		return;
	head->has_segments = true;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *segment = bytes + first + i * each;

		if (gt_get_u32(segment) == PT_INTERP)
			take_loader(head, layout, segment, bytes, size);
	}
}

int gt_elf_head_parse(struct gt_elf_head *head, const uint8_t *bytes, size_t size)
{
	const struct layout *layout;

	*head = (struct gt_elf_head){.machine = 0};
	if (size < layouts[0].head_size || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return 0;
	if (bytes[EI_DATA] == ELFDATA2MSB) { /* no GPU has such a host: its name is enough */
		head->machine = (uint16_t)(bytes[18] << 8 | bytes[19]);
		return 1;
	}
	head->machine = gt_get_u16(bytes + 18);
	layout = &layouts[bytes[EI_CLASS] == ELFCLASS64];
	if (size >= layout->head_size)
		read_segments(head, layout, bytes, size);
	return 1;
}

int gt_elf_head_read(struct gt_elf_head *head, const char *path)
{
	uint8_t bytes[GT_ELF_HEAD_BYTES] = {0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));

	if (fd >= 0)
		(void)close(fd);
	return gt_elf_head_parse(head, bytes, size > 0 ? (size_t)size : 0);
}

void gt_elf_machine_name(uint16_t machine, char *text, size_t size)
{
	static const struct {
		uint16_t machine;
		const char *name;
	} names[] = {
		{EM_386, "x86 of 32 bits"}, {EM_X86_64, "x86-64"}, {EM_ARM, "ARM of 32 bits"},
		{EM_AARCH64, "ARM64"},      {EM_PPC64, "POWER"},   {EM_RISCV, "RISC-V"},
	};

	for (size_t i = 0; i < GT_COUNT_OF(names); i++)
		if (names[i].machine == machine) {
			snprintf(text, size, "%s", names[i].name);
			return;
		}
	snprintf(text, size, "ELF machine %u", machine);
}

uint16_t gt_elf_machine_here(void)
{
	struct gt_elf_head head;

	(void)gt_elf_head_read(&head, "/proc/self/exe");
	return head.machine;
}

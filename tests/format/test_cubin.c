/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/cubin.h"
#include "format/recording.h"
#include "support/check.h"

/* The sections of a cubin of nvcc's (tests/cubins), and of what is none. */

static struct gt_content content;

static void load(void)
{
	cr_assert(eq(int, gt_load_file(&content, GT_TEST_DATA "/cubins/sample_90.cubin", NULL), 0));
}

static void release(void)
{
	gt_unload(&content);
}

TestSuite(cubin, .init = load, .fini = release);

static int open_as(size_t size)
{
	struct gt_cubin cubin;

	return gt_cubin_open(&cubin, content.bytes, size, NULL);
}

/* The variables of the cubin, in a text with a blank behind each: NAME:BYTES, c for constants. */
static void list_variables(const char *path, char *text, size_t size)
{
	struct gt_cubin_section section;
	struct gt_cubin_variable variable;
	struct gt_content file = {0};
	struct gt_cubin opened;
	size_t used = 0;

	*text = '\0';
	cr_assert(eq(int, gt_load_file(&file, path, NULL), 0));
	cr_assert(eq(int, gt_cubin_open(&opened, file.bytes, file.size, NULL), 0));
	for (uint32_t i = 0; i < opened.section_count; i++) {
		uint64_t next = 0;

		if (!gt_cubin_section(&opened, i, &section) || section.type != GT_ELF_SYMTAB)
			continue;
		while (gt_cubin_next_variable(&opened, &section, &next, &variable))
			used += (size_t)snprintf(text + used, size - used, "%s:%llu%s ",
			                         variable.name, (unsigned long long)variable.size,
			                         variable.constant ? "c" : "");
	}
	gt_unload(&file);
}

Test(cubin, has_variables_that_are_no_constants_of_functions)
{
	char text[256];

	list_variables(GT_TEST_DATA "/cubins/replay_90.cubin", text, sizeof(text));
	cr_expect(eq(str, text, "replay_weights:16c replay_launches:4 "));
	list_variables(GT_TEST_DATA "/cubins/sample_90.cubin", text, sizeof(text));
	cr_expect(eq(str, text, "table:256c "));
}

Test(cubin, has_a_section_of_code_for_every_function)
{
	struct gt_cubin_section section;
	struct gt_cubin cubin;
	char names[256] = "";

	cr_assert(eq(int, gt_cubin_open(&cubin, content.bytes, content.size, NULL), 0));
	cr_expect(eq(u32, cubin.arch, 90));
	for (uint32_t i = 0; i < cubin.section_count; i++) {
		const char *name;
		size_t size;

		cr_assert(gt_cubin_section(&cubin, i, &section));
		if (gt_cubin_function(&section, &name, &size))
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%.*s ",
			         (int)size, name);
	}
	expect_text(names, "plain _Z5stackPfi _Z5scaleIdEvPT_S0_i _Z5scaleIfEvPT_S0_i ");
}

/* Compilers before CUDA 13 have the architecture in the lowest byte of the flags. */
Test(cubin, knows_the_architecture_of_older_compilers_cubins)
{
	struct gt_cubin cubin;

	content.bytes[8] = 7;
	gt_put_u32(content.bytes + 48, 0x500556);
	cr_assert(eq(int, gt_cubin_open(&cubin, content.bytes, content.size, NULL), 0));
	cr_expect(eq(u32, cubin.arch, 86));
	cr_expect(not(cubin.one_arch));
	gt_put_u32(content.bytes + 48, 0x5a0d5a); /* as CUDA 12 makes it for sm_90a */
	cr_assert(eq(int, gt_cubin_open(&cubin, content.bytes, content.size, NULL), 0));
	cr_expect(eq(u32, cubin.arch, 90));
	cr_expect(cubin.one_arch);
}

/* Where the section .nv.compat stands; what nvcc 13 makes for sm_90a differs in one byte of it. */
static struct gt_cubin_section find_compat(void)
{
	struct gt_cubin_section section = {0};
	struct gt_cubin cubin;

	cr_assert(eq(int, gt_cubin_open(&cubin, content.bytes, content.size, NULL), 0));
	cr_expect(not(cubin.one_arch));
	for (uint32_t i = 0; i < cubin.section_count; i++)
		if (gt_cubin_section(&cubin, i, &section) &&
		    strcmp(section.name, ".nv.compat") == 0)
			return section;
	cr_fatal("there is no section .nv.compat");
	return section;
}

Test(cubin, says_whether_it_is_for_one_architecture_alone)
{
	struct gt_cubin_section section = find_compat();
	uint8_t bytes[64];

	cr_expect(not(gt_cubin_says_one_arch(&section)));
	cr_assert(le(sz, section.size, sizeof(bytes)));
	memcpy(bytes, section.bytes, section.size);
	cr_assert(eq(u8, bytes[1], 9));
	bytes[2] = 1;
	section.bytes = bytes;
	cr_expect(gt_cubin_says_one_arch(&section));
	section.size = 3;
	cr_expect(not(gt_cubin_says_one_arch(&section)));
	section.bytes = NULL;
	cr_expect(not(gt_cubin_says_one_arch(&section)));
}

/* Other attributes come first, or none does. */
Test(cubin, reads_attributes_as_far_as_they_go)
{
	const uint8_t behind[] = {4, 11, 4, 0, 1, 2, 3, 4, 2, 9, 1, 0};
	const uint8_t beyond[] = {4, 11, 40, 0, 2, 9, 1, 0};
	struct gt_cubin_section section = {.name = ".nv.compat"};

	section.bytes = behind;
	section.size = sizeof(behind);
	cr_expect(gt_cubin_says_one_arch(&section));
	section.bytes = beyond;
	section.size = sizeof(beyond);
	cr_expect(not(gt_cubin_says_one_arch(&section)));
	section.bytes = behind;
	section.size = sizeof(behind);
	section.name = ".nv.info";
	cr_expect(not(gt_cubin_says_one_arch(&section)));
}

Test(cubin, is_none_without_its_headers)
{
	struct gt_error err = {0};
	struct gt_cubin cubin;

	cr_expect(eq(int, open_as(0), -EBADMSG));
	cr_expect(eq(int, open_as(63), -EBADMSG));
	cr_expect(eq(int, open_as(64), -EBADMSG));
	cr_expect(eq(int, open_as(content.size / 2), -EBADMSG));
	content.bytes[18] = 62; /* of x86-64 */
	cr_expect(eq(int, gt_cubin_open(&cubin, content.bytes, content.size, &err), -EBADMSG));
	expect_text(err.text, "it is no cubin");
}

Test(cubin, has_no_section_that_lies_outside_of_it)
{
	const uint64_t sections = gt_get_u64(content.bytes + 40);
	struct gt_cubin_section section;
	struct gt_cubin cubin;

	gt_put_u64(content.bytes + sections + 3 * 64 + 24, content.size);
	gt_put_u64(content.bytes + sections + 4 * 64 + 32, UINT64_MAX);
	cr_assert(eq(int, gt_cubin_open(&cubin, content.bytes, content.size, NULL), 0));
	cr_expect(gt_cubin_section(&cubin, 2, &section));
	cr_expect(not(gt_cubin_section(&cubin, 3, &section)));
	cr_expect(not(gt_cubin_section(&cubin, 4, &section)));
}

Test(cubin, is_none_with_more_sections_than_fit)
{
	gt_put_u16(content.bytes + 60, 0xfff0);
	cr_expect(eq(int, open_as(content.size), -EBADMSG));
	gt_put_u16(content.bytes + 60, 0);                   /* the number stands elsewhere, */
	cr_expect(eq(int, open_as(content.size), -EBADMSG)); /* and is 0 there */
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "collector/cubins/cubin.h"
#include "format/recording.h"
#include "support/capture.h"
#include "support/check.h"

/* Facts read from a cubin of nvcc's, beside those of ptxas on the same code (tests/cubins). */

static struct gt_content content;
static struct gt_cubin cubin;
static struct gt_cubin_facts facts;

static void load(const char *name)
{
	struct gt_error err = {0};
	char path[512];

	snprintf(path, sizeof(path), GT_TEST_DATA "/cubins/%s", name);
	cr_assert(eq(int, gt_load_file(&content, path, &err), 0), "%s", err.text);
	cr_assert(eq(int, gt_cubin_open(&cubin, content.bytes, content.size, &err), 0), "%s",
	          err.text);
	gt_cubin_facts_read(&facts, &cubin);
}

static void release(void)
{
	gt_cubin_facts_release(&facts);
	gt_unload(&content);
}

TestSuite(cubin, .fini = release);

static bool is(struct gt_cubin_text text, const char *wanted)
{
	return text.size == strlen(wanted) && memcmp(text.text, wanted, text.size) == 0;
}

static const struct gt_cubin_function *function(const char *name)
{
	gt_array_each(const struct gt_cubin_function, row, &facts.functions)
		if (is(row->name, name))
			return row;
	cr_fail("there is no %s", name);
	return NULL;
}

Test(cubin, has_every_function_with_what_ptxas_says_it_takes)
{
	load("sample_90.cubin");
	cr_expect(eq(u32, cubin.arch, 90));
	cr_assert(eq(sz, facts.functions.count, 4));
	cr_expect(eq(u32, function("plain")->registers, 10));
	cr_expect(eq(u64, function("plain")->shared_bytes, 0));
	cr_expect(eq(u64, function("plain")->code_bytes, 384));
	cr_expect(eq(u32, function("_Z5stackPfi")->registers, 38));
	cr_expect(eq(u64, function("_Z5stackPfi")->local_bytes, 256));
	cr_expect(eq(u32, function("_Z5scaleIfEvPT_S0_i")->registers, 11));
	cr_expect(eq(u64, function("_Z5scaleIfEvPT_S0_i")->shared_bytes, 1024));
	cr_expect(eq(u32, function("_Z5scaleIfEvPT_S0_i")->max_threads, 256));
	cr_expect(eq(u32, function("_Z5scaleIfEvPT_S0_i")->barriers, 1));
	cr_expect(eq(u32, function("plain")->barriers, 0));
	cr_expect(eq(u32, function("_Z5scaleIdEvPT_S0_i")->registers, 14));
	cr_expect(eq(u64, function("_Z5scaleIdEvPT_S0_i")->shared_bytes, 2048));
	cr_expect(eq(u64, function("_Z5scaleIdEvPT_S0_i")->local_bytes, 0));
	cr_expect(gt(u64, function("_Z5scaleIdEvPT_S0_i")->constant_bytes, 512));
}

Test(cubin, says_where_a_function_was_written_but_for_what_was_inlined)
{
	load("sample_90.cubin");
	cr_expect(is(function("_Z5scaleIfEvPT_S0_i")->file, "sample.cu"));
	cr_expect(is(function("_Z5scaleIfEvPT_S0_i")->folder, "/src"));
	cr_expect(eq(u32, function("_Z5scaleIfEvPT_S0_i")->line, 16));
	cr_expect(eq(u32, function("_Z5scaleIdEvPT_S0_i")->line, 16));
	cr_expect(eq(u32, function("_Z5stackPfi")->line, 43));
	cr_expect(eq(u32, function("plain")->line, 48));
}

Test(cubin, names_its_compiler_and_the_ptx_it_was_made_of)
{
	load("sample_90.cubin");
	cr_expect(is(facts.compiler, "Cuda compilation tools, release 13.0, V13.0.88"));
	cr_expect(is(facts.options, "-lineinfo  -arch sm_90 -m 64 "));
	cr_expect(eq(u32, facts.ptx_arch, 90));
	cr_expect(gt(u64, facts.ptx_bytes, 1000));
}

Test(cubin, without_lineinfo_knows_no_lines_and_has_no_ptx)
{
	load("sample_75.cubin");
	cr_expect(eq(u32, cubin.arch, 75));
	cr_expect(not(facts.one_arch));
	cr_assert(eq(sz, facts.functions.count, 4));
	cr_expect(eq(u32, function("plain")->line, 0));
	cr_expect(eq(u64, function("_Z5scaleIfEvPT_S0_i")->shared_bytes, 1024));
	cr_expect(eq(u64, facts.ptx_bytes, 0));
}

/* PTX for sm_75, which the driver compiles for the very GPU: kept while samples/modules ran. */
Test(cubin, that_the_driver_made_says_so_too)
{
	load("driver_90a.cubin");
	cr_expect(eq(u32, cubin.arch, 90));
	cr_expect(facts.one_arch);
	cr_expect(eq(u32, facts.ptx_arch, 75));
	cr_assert(eq(sz, facts.functions.count, 1));
	cr_expect(eq(u32, function("jitted")->registers, 10));
	cr_expect(eq(u64, function("jitted")->code_bytes, 512));
	cr_expect(eq(u64, function("jitted")->constant_bytes, 536));
}

/* All rows of a function become rows of code that was inlined into it. */
Test(cubin, does_not_take_a_line_of_inlined_code_for_the_functions)
{
	/* File 1, line 48, a row, a row two lines further; and: inlined at call 2, a row. */
	static const uint8_t before[] = {4, 1, 3, 0x2f, 1, 0xf1};
	static const uint8_t after[] = {0, 3, 0x90, 2, 0, 1};
	uint8_t *at;

	load("sample_90.cubin");
	cr_assert(eq(u32, function("plain")->line, 48));
	gt_cubin_facts_release(&facts);
	at = memmem(content.bytes, content.size, before, sizeof(before));
	cr_assert(ne(ptr, at, NULL));
	memcpy(at, after, sizeof(after));
	gt_cubin_facts_read(&facts, &cubin);
	cr_expect(eq(u32, function("plain")->line, 0));
	cr_expect(eq(u32, function("_Z5stackPfi")->line, 43));
}

/* All sequences name a file that there is not, but for one that names none: it is in the first. */
Test(cubin, begins_each_sequence_of_lines_in_the_first_file)
{
	static const uint8_t set_file[] = {4, 1, 3}; /* and advance the line */
	uint8_t *last = NULL;
	uint8_t *at;
	size_t with_lines = 0;

	load("sample_90.cubin");
	gt_cubin_facts_release(&facts);
	at = content.bytes;
	while ((at = memmem(at, content.size - (size_t)(at - content.bytes), set_file,
	                    sizeof(set_file)))) {
		last = at++;
		last[1] = 0x7f;
	}
	cr_assert(ne(ptr, last, NULL));
	memcpy(last, (const uint8_t[]){3, 0}, 2);
	gt_cubin_facts_read(&facts, &cubin);
	gt_array_each(const struct gt_cubin_function, row, &facts.functions) {
		if (row->line == 0)
			continue;
		with_lines++;
		cr_expect(is(row->file, "sample.cu"));
	}
	cr_expect(eq(sz, with_lines, 1));
}

/* All sections that say something of functions are the same one, at the largest size. */
Test(cubin, whose_sections_overlap_says_no_more_than_its_bytes_can)
{
	const uint8_t *names;
	uint64_t sections;
	size_t total = 0;

	load("sample_90.cubin");
	gt_cubin_facts_release(&facts);
	sections = gt_get_u64(content.bytes + 40);
	names = content.bytes + cubin.names;
	for (uint32_t i = 2; i < cubin.section_count; i++) {
		uint8_t *header = content.bytes + sections + (uint64_t)i * 64;

		for (uint32_t at = 0; at < cubin.names_size; at++)
			if (strcmp((const char *)names + at, ".text._Z5scaleIfEvPT_S0_i") == 0)
				gt_put_u32(header, at);
	}
	gt_cubin_facts_read(&facts, &cubin);
	gt_array_each(const struct gt_cubin_function, row, &facts.functions)
		total += row->name.size;
	cr_expect(gt(sz, facts.functions.count, 10));
	cr_expect(le(sz, total, cubin.names_size));
}

/* Every byte in turn is another: nothing outside is read, and nothing goes on for ever. */
Test(cubin, survives_every_damaged_byte)
{
	uint64_t state = 1;
	uint8_t *copy;

	load("sample_90.cubin");
	copy = malloc(content.size);
	for (size_t i = 0; i < content.size; i += 1 + next_random(&state) % 7) {
		struct gt_cubin damaged;
		struct gt_cubin_facts found;

		memcpy(copy, content.bytes, content.size);
		copy[i] = (uint8_t)next_random(&state);
		if (gt_cubin_open(&damaged, copy, content.size, NULL) < 0)
			continue;
		gt_cubin_facts_read(&found, &damaged);
		cr_expect(le(sz, found.functions.count, damaged.section_count));
		gt_cubin_facts_release(&found);
	}
	free(copy);
}

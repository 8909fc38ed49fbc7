/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/distinct_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static struct gt_distinct_names names;

static void add(const char *full, const char *text)
{
	*gt_array_push(&names) = (struct gt_distinct_name){
		.full = full, .text = strdup(text), .number = (uint32_t)names.count};
}

static void drop(void)
{
	gt_array_each(struct gt_distinct_name, name, &names)
		free(name->text);
	gt_array_release(&names);
}

static const char *text_of(const char *full)
{
	gt_array_each(const struct gt_distinct_name, name, &names)
		if (strcmp(name->full, full) == 0)
			return name->text;
	return NULL;
}

TestSuite(distinct_names, .fini = drop);

Test(distinct_names, leaves_alone_what_is_distinct)
{
	gt_distinct_names(&names);
	add("void a<int>()", "a<int>");
	gt_distinct_names(&names);
	add("void b<int>()", "b<int>");
	gt_distinct_names(&names);
	expect_text(text_of("void a<int>()"), "a<int>");
	expect_text(text_of("void b<int>()"), "b<int>");
}

Test(distinct_names, puts_back_just_what_differs)
{
	add("f<g(int)::{lambda(float)#1}, 4>", "f<g>");
	add("f<g(int)::{lambda(float)#2}, 4>", "f<g>");
	add("h<c10::Half>(int)", "h");
	add("h<c10::BFloat16>(int)", "h");
	add("h<float>(int)", "h");
	add("sm80_gemm_tile64_stage3", "gemm");
	add("sm80_gemm_tile64_stage3_aligned", "gemm");
	gt_distinct_names(&names);
	expect_text(text_of("f<g(int)::{lambda(float)#1}, 4>"), "f<g> [#1]");
	expect_text(text_of("f<g(int)::{lambda(float)#2}, 4>"), "f<g> [#2]");
	expect_text(text_of("h<c10::Half>(int)"), "h [fp16]");
	expect_text(text_of("h<c10::BFloat16>(int)"), "h [bf16]");
	expect_text(text_of("h<float>(int)"), "h [float]");
	expect_text(text_of("sm80_gemm_tile64_stage3"), "gemm");
	expect_text(text_of("sm80_gemm_tile64_stage3_aligned"), "gemm [aligned]");
}

/* One word is the beginning of the other: they part where both begin. */
Test(distinct_names, puts_back_whole_words)
{
	add("k<row>(int)", "k");
	add("k<row2>(int)", "k");
	gt_distinct_names(&names);
	expect_text(text_of("k<row>(int)"), "k [row]");
	expect_text(text_of("k<row2>(int)"), "k [row2]");
}

Test(distinct_names, follows_those_that_still_share_a_word)
{
	add("k<1, 1, 9>", "k");
	add("k<1, 2, 9>", "k");
	add("k<2, 1, 9>", "k");
	gt_distinct_names(&names);
	expect_text(text_of("k<1, 1, 9>"), "k [1, 1]");
	expect_text(text_of("k<1, 2, 9>"), "k [1, 2]");
	expect_text(text_of("k<2, 1, 9>"), "k [2]");
}

Test(distinct_names, numbers_those_that_differ_in_no_word)
{
	add("k<->", "k");
	add("k<+>", "k");
	gt_distinct_names(&names);
	expect_text(text_of("k<+>"), "k [1 of 2]");
	expect_text(text_of("k<->"), "k [2 of 2]");
}

Test(distinct_names, are_distinct_however_many_there_are)
{
	static char full[2000][32];

	for (unsigned i = 0; i < 2000; i++) {
		snprintf(full[i], sizeof(full[i]), "k<%u, %u, %u>", i % 7, i % 13, i);
		add(full[i], "k");
	}
	gt_distinct_names(&names);
	for (size_t i = 0; i < names.count; i++)
		for (size_t j = 0; j < i; j++)
			cr_assert(ne(str, names.rows[i].text, names.rows[j].text));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <stddef.h>
#include <string.h>

#include "support/check.h"

static const char *const words[] = {"run", "report", "export", "info", "limit", NULL};

Test(nearest, finds_a_word_with_one_slip)
{
	static const char *const slips[][2] = {
		{"limt", "limit"},   /* dropped */
		{"limmit", "limit"}, /* added */
		{"limot", "limit"},  /* changed */
		{"rnu", "run"},      /* swapped */
		{"reprot", "report"}, {"exprt", "export"},
	};

	for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++)
		expect_text(gt_nearest(slips[i][0], words), slips[i][1]);
}

Test(nearest, finds_a_word_with_two_slips)
{
	expect_text(gt_nearest("exxxport", words), "export");
	expect_text(gt_nearest("rreporrt", words), "report");
}

Test(nearest, gives_up_on_what_is_too_far)
{
	cr_expect(eq(ptr, (void *)gt_nearest("kernels", words), NULL));
	cr_expect(eq(ptr, (void *)gt_nearest("abc", words), NULL));
	cr_expect(eq(ptr, (void *)gt_nearest("", words), NULL));
	cr_expect(eq(ptr, (void *)gt_nearest("rn", words), NULL)); /* one of two letters */
}

Test(nearest, takes_the_closer_of_two)
{
	static const char *const pair[] = {"report", "export", NULL};

	expect_text(gt_nearest("exort", pair), "export");
	expect_text(gt_nearest("reort", pair), "report");
}

Test(nearest, prefers_the_longer_common_beginning)
{
	static const char *const both[] = {"list", "limit", "lint", NULL};

	expect_text(gt_nearest("limt", both), "limit");
	expect_text(gt_nearest("lisd", both), "list");
}

Test(nearest, survives_words_of_any_length)
{
	char text[1000];
	const char *const longest[] = {text, "limit", NULL};

	memset(text, 'l', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cr_expect(eq(ptr, (void *)gt_nearest(text, words), NULL));
	expect_text(gt_nearest("limt", longest), "limit");
	text[63] = '\0';
	cr_expect(eq(ptr, (void *)gt_nearest(text, words), NULL));
	cr_expect(eq(ptr, (void *)gt_nearest(text, longest), (void *)text));
}

Test(nearest, lists_alternatives)
{
	static const char *const one[] = {"all", NULL};
	char text[32];

	gt_alternatives(one, text, sizeof(text));
	expect_text(text, "all");
	gt_alternatives((const char *const[]){"outer", "all", "none", NULL}, text, sizeof(text));
	expect_text(text, "outer, all or none");
	gt_alternatives((const char *const[]){"outer", "all", "none", NULL}, text, 9);
	expect_text(text, "outer, a");
}

Test(nearest, counts_what_texts_have_in_common)
{
	cr_expect(eq(sz, gt_common_prefix("kernel<a>", "kernel<b>"), 7));
	cr_expect(eq(sz, gt_common_prefix("kernel", "kernels"), 6));
	cr_expect(eq(sz, gt_common_prefix("", "a"), 0));
}

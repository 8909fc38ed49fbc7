/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/folds.h"

#include "support/check.h"
#include "support/trace.h"

static const char *folded(const char *text, uint32_t numbers)
{
	static char result[64];

	gt_fold_text(text, numbers, result, sizeof(result));
	return result;
}

Test(range_folds, have_a_sign_for_each_number)
{
	expect_text(folded("step 12", GT_FOLD_ALL), "step #");
	expect_text(folded("7, 8/99x", GT_FOLD_ALL), "#, #/#x");
	expect_text(folded("none", GT_FOLD_ALL), "none");
	expect_text(folded("", GT_FOLD_ALL), "");
}

Test(range_folds, leave_numbers_that_are_the_same)
{
	expect_text(folded("Backward0, op_id = 123", 2), "Backward0, op_id = #");
}

Test(range_folds, are_cut_where_there_is_no_room)
{
	char result[4];

	gt_fold_text("12ab34", GT_FOLD_ALL, result, sizeof(result));
	expect_text(result, "#ab");
}

Test(range_folds, fit_any_number)
{
	cr_expect(gt_fold_fits("step #", "step 1"));
	cr_expect(gt_fold_fits("step #", "step 123456"));
	cr_expect(gt_fold_fits("step # of 9", "step 3 of 9"));
	cr_expect(gt_fold_fits("step #", "step #"));
	cr_expect(not(gt_fold_fits("step #", "step ")));
	cr_expect(not(gt_fold_fits("step #", "step 1 ")));
	cr_expect(not(gt_fold_fits("step # of 9", "step 3 of 8")));
	cr_expect(not(gt_fold_fits("step 1", "step 12")));
}

Test(range_folds, fit_what_they_were_made_of)
{
	static const char *const texts[] = {"a1", "1a", "1", "0 0 0", "x", "step 1/2"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect(gt_fold_fits(folded(texts[i], GT_FOLD_ALL), texts[i]));
}

/* Which numbers differ among ranges with these texts, as bits. */
static uint32_t varying(const char *const *texts, size_t count)
{
	struct gt_range_folds folds;
	struct gt_trace trace;
	uint32_t varies;
	gt_id thread;

	trace_init(&trace, 1000);
	thread = trace_thread(&trace, trace_process(&trace, "app", 1), 7);
	for (size_t i = 0; i < count; i++)
		trace_range(&trace, thread, GT_NONE, texts[i], 10 * (gt_time)i,
		            10 * (gt_time)i + 5);
	gt_range_folds_init(&folds, &trace, GT_FOLD_YES);
	cr_expect(eq(sz, folds.names, count));
	cr_expect(eq(sz, folds.into, 1));
	varies = folds.varies[trace.ranges.rows[0].text];
	for (size_t i = 1; i < count; i++)
		cr_expect(eq(u32, folds.varies[trace.ranges.rows[i].text], varies));
	gt_range_folds_release(&folds);
	gt_trace_release(&trace);
	return varies;
}

Test(range_folds, know_which_numbers_differ)
{
	cr_expect(eq(u32, varying((const char *const[]){"a1 b2", "a1 b3"}, 2), 2));
	cr_expect(eq(u32, varying((const char *const[]){"a1 b2", "a4 b2"}, 2), 1));
	cr_expect(eq(u32, varying((const char *const[]){"a1 b2", "a3 b2", "a1 b9"}, 3), 3));
}

/* 1 and 10 are two numbers, though one is how the other begins. */
Test(range_folds, tell_a_number_from_a_longer_one)
{
	cr_expect(eq(u32, varying((const char *const[]){"step 1", "step 10"}, 2), 1));
	cr_expect(eq(u32, varying((const char *const[]){"step 10", "step 1"}, 2), 1));
	cr_expect(eq(u32, varying((const char *const[]){"1 of 8", "12 of 8", "1 of 8000"}, 3), 3));
}

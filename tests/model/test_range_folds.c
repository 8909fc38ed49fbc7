/* SPDX-License-Identifier: Apache-2.0 */
#include "model/range_folds.h"

#include "support/check.h"

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

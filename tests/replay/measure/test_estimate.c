/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/estimate.h"

#include <math.h>

#include "support/check.h"

Test(estimate, says_where_values_lie)
{
	const double values[] = {5, 1, 4, 2, 3};
	const struct gt_estimate found = gt_estimate_of(values, 5);

	cr_expect(eq(dbl, found.median, 3));
	cr_expect(eq(dbl, found.least, 1));
	cr_expect(eq(dbl, found.most, 5));
	cr_expect(eq(dbl, found.p05, 1));
	cr_expect(eq(dbl, found.p95, 5));
}

Test(estimate, is_sure_of_equal_values_and_unsure_of_others)
{
	double values[100];

	for (int i = 0; i < 100; i++)
		values[i] = 10;
	cr_expect(eq(dbl, gt_estimate_of(values, 100).error, 0));
	/* 0 to 99: ranks 44 and 55 of 49.5 +- 5. */
	for (int i = 0; i < 100; i++)
		values[i] = i;
	cr_expect(eq(dbl, gt_estimate_of(values, 100).error, 5.5 / 49.5));
}

Test(estimate, is_not_moved_by_one_that_sticks_out)
{
	const double values[] = {10, 10, 10, 10, 10, 10, 10, 10, 9000};

	cr_expect(eq(dbl, gt_estimate_of(values, 9).median, 10));
	cr_expect(eq(dbl, gt_estimate_of(values, 9).error, 0));
}

Test(estimate, knows_nothing_of_no_values_and_no_error_of_two)
{
	const double values[] = {1, 3};

	cr_expect(isnan(gt_estimate_of(values, 0).median));
	cr_expect(eq(dbl, gt_estimate_of(values, 2).median, 2));
	cr_expect(isnan(gt_estimate_of(values, 2).error));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sums.h"

#include "support/check.h"

Test(sums, stays_at_the_largest_number)
{
	uint64_t sum = 0;

	gt_sum_add(&sum, 7);
	cr_expect(eq(u64, sum, 7));
	gt_sum_add(&sum, UINT64_MAX - 8);
	cr_expect(eq(u64, sum, UINT64_MAX - 1));
	gt_sum_add(&sum, 2);
	cr_expect(eq(u64, sum, UINT64_MAX));
	gt_sum_add(&sum, UINT64_MAX);
	cr_expect(eq(u64, sum, UINT64_MAX));
}

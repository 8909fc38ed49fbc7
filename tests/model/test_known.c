/* SPDX-License-Identifier: Apache-2.0 */
#include "model/known.h"

#include "support/check.h"

enum { COUNT = 10000 };

/* Far apart, and such that many begin alike. */
static uint64_t number_of(gt_id row)
{
	return (uint64_t)row << 32 | row % 7;
}

Test(known, are_none_at_first)
{
	struct gt_known known = {0};

	cr_expect(eq(u32, gt_known_find(&known, 0), GT_NONE));
	gt_known_release(&known);
}

Test(known, are_all_that_were_added)
{
	struct gt_known known = {0};

	for (gt_id row = 0; row < COUNT; row++)
		gt_known_add(&known, number_of(row), row);
	for (gt_id row = 0; row < COUNT; row++)
		cr_assert(eq(u32, gt_known_find(&known, number_of(row)), row));
	cr_expect(eq(u32, gt_known_find(&known, number_of(COUNT)), GT_NONE));
	cr_expect(eq(sz, known.count, COUNT));
	gt_known_release(&known);
}

Test(known, are_set_whether_they_were_known_or_not)
{
	struct gt_known known = {0};

	for (gt_id row = 0; row < COUNT; row++)
		gt_known_set(&known, number_of(row), 0);
	for (gt_id row = 0; row < COUNT; row++)
		gt_known_set(&known, number_of(row), row + 1);
	for (gt_id row = 0; row < COUNT; row++)
		cr_assert(eq(u32, gt_known_find(&known, number_of(row)), row + 1));
	cr_expect(eq(sz, known.count, COUNT), "one that was known is no other one");
	gt_known_release(&known);
}

Test(known, are_the_next_row_when_they_are_new)
{
	struct gt_known known = {0};
	gt_id row = 77;

	cr_expect(gt_known_is_new(&known, 5, 0, &row));
	cr_expect(eq(u32, row, 0));
	cr_expect(gt_known_is_new(&known, 9, 1, &row));
	cr_expect(eq(u32, row, 1));
	cr_expect(not(gt_known_is_new(&known, 5, 2, &row)));
	cr_expect(eq(u32, row, 0));
	cr_expect(eq(u32, gt_known_find(&known, 9), 1));
	gt_known_release(&known);
}

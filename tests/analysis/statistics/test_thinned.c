/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics/thinned.h"

#include "support/check.h"

enum { STRETCHES = 10000 };

static struct gt_thinned thinned;

static void expect_point(size_t at, gt_time time_ns, double value)
{
	cr_assert(at < thinned.points.count, "%zu points", thinned.points.count);
	cr_expect(eq(i64, thinned.points.rows[at].time_ns, time_ns));
	cr_expect(eq(dbl, thinned.points.rows[at].value, value));
}

Test(thinned, keeps_every_change_where_there_are_few)
{
	gt_thinned_init(&thinned, (struct gt_interval){100, 200}, 4, STRETCHES);
	gt_thinned_add(&thinned, 100, 0);
	gt_thinned_add(&thinned, 110, 5);
	gt_thinned_add(&thinned, 120, 5);
	gt_thinned_add(&thinned, 130, 2);
	gt_thinned_finish(&thinned);
	cr_expect(eq(sz, thinned.points.count, 3));
	expect_point(0, 100, 0);
	expect_point(1, 110, 5);
	expect_point(2, 130, 2);
	gt_thinned_release(&thinned);
}

Test(thinned, of_one_time_keeps_the_last_and_a_higher_one_before)
{
	gt_thinned_init(&thinned, (struct gt_interval){0, 100}, 6, STRETCHES);
	gt_thinned_add(&thinned, 10, 0);
	gt_thinned_add(&thinned, 10, 7);
	gt_thinned_add(&thinned, 20, 9);
	gt_thinned_add(&thinned, 20, 4);
	gt_thinned_finish(&thinned);
	cr_expect(eq(sz, thinned.points.count, 3));
	expect_point(0, 10, 7);
	expect_point(1, 20, 9);
	expect_point(2, 20, 4);
	gt_thinned_release(&thinned);
}

/* Ten stretches of the first width have a hundred changes from 1 to 10 each, and one peak of 50. */
Test(thinned, of_a_stretch_keeps_lowest_highest_and_last)
{
	const gt_time width_ns = 1000;
	const gt_time end_ns = width_ns * STRETCHES - 1;

	gt_thinned_init(&thinned, (struct gt_interval){0, end_ns},
	                GT_THINNED_OF_STRETCH * STRETCHES + 1, STRETCHES);
	for (gt_time i = 0; i < 1000; i++)
		gt_thinned_add(&thinned, i * 10, i == 555 ? 50 : i % 10 + 1.0);
	gt_thinned_finish(&thinned);
	/* The first, lowest value of a stretch, the highest; the last is as high. */
	cr_expect(eq(sz, thinned.points.count, 21));
	expect_point(0, 0, 1);
	expect_point(1, 90, 10);
	expect_point(2, 1000, 1);
	expect_point(10, 5000, 1);
	expect_point(11, 5550, 50);
	expect_point(12, 5990, 10);
	expect_point(20, 9090, 10);
	gt_thinned_release(&thinned);
}

Test(thinned, has_a_bound_and_loses_neither_end_nor_extremes)
{
	double highest = 0;
	double lowest = 1e9;

	gt_thinned_init(&thinned, (struct gt_interval){0, 5000000}, 1000000, STRETCHES);
	for (gt_time i = 0; i < 1000000; i++)
		gt_thinned_add(&thinned, i * 5, (double)(i * 7919 % 100003));
	gt_thinned_finish(&thinned);
	cr_expect(le(sz, thinned.points.count, 3 * STRETCHES));
	cr_expect(ge(sz, thinned.points.count, 2 * STRETCHES));
	for (size_t i = 0; i < thinned.points.count; i++) {
		const struct gt_point *point = &thinned.points.rows[i];

		cr_assert(i == 0 || point[-1].time_ns <= point->time_ns);
		highest = point->value > highest ? point->value : highest;
		lowest = point->value < lowest ? point->value : lowest;
	}
	cr_expect(eq(dbl, highest, 100002));
	cr_expect(eq(dbl, lowest, 0));
	expect_point(thinned.points.count - 1, 4999995, (double)(999999ll * 7919 % 100003));
	gt_thinned_release(&thinned);
}

Test(thinned, keeps_all_of_a_window_of_no_length)
{
	gt_thinned_init(&thinned, (struct gt_interval){5, 5}, GT_THINNED_OF_STRETCH * STRETCHES + 1,
	                STRETCHES);
	gt_thinned_add(&thinned, 5, 1);
	gt_thinned_finish(&thinned);
	cr_expect(eq(sz, thinned.points.count, 1));
	gt_thinned_release(&thinned);
}

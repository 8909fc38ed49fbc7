/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"
#include "model/ranges/open.h"
#include "model/trace.h"
#include "support/check.h"

enum { THREAD = 1, OTHER_THREAD = 0 };

static struct gt_trace trace;
static struct gt_open_ranges ranges;

static gt_id add(gt_id thread, gt_time start_ns, gt_time end_ns, gt_id parent)
{
	const gt_id row = (gt_id)trace.ranges.count;

	*gt_array_push(&trace.ranges) = (struct gt_range){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.thread = thread,
		.parent = parent,
		.for_range = GT_NONE,
		.depth = parent < row ? trace.ranges.rows[parent].depth + 1 : 0,
		.flags = end_ns ? 0 : GT_UNFINISHED,
	};
	return row;
}

static gt_id open_at(gt_time at_ns)
{
	return gt_open_range(&ranges, THREAD, at_ns);
}

static void make(void)
{
	gt_trace_init(&trace);
}

static void drop(void)
{
	gt_open_ranges_release(&ranges);
	gt_trace_release(&trace);
}

TestSuite(open_ranges, .init = make, .fini = drop);

Test(open_ranges, are_the_innermost_of_their_thread_at_a_moment)
{
	const gt_id outer = add(THREAD, 100, 500, GT_NONE);
	const gt_id other = add(OTHER_THREAD, 150, 400, GT_NONE);
	const gt_id inner = add(THREAD, 200, 300, outer);

	gt_open_ranges_init(&ranges, &trace);
	cr_expect(eq(u32, open_at(99), GT_NONE));
	cr_expect(eq(u32, open_at(100), outer));
	cr_expect(eq(u32, open_at(200), inner));
	cr_expect(eq(u32, open_at(299), inner));
	cr_expect(eq(u32, open_at(300), outer));
	cr_expect(eq(u32, open_at(500), GT_NONE));
	cr_expect(eq(u32, gt_open_range(&ranges, OTHER_THREAD, 250), other));
	cr_expect(eq(u32, gt_open_range(&ranges, GT_NONE, 250), GT_NONE));
}

/* A range may end before one of another domain that was begun after it. */
Test(open_ranges, may_outlast_what_is_around_them)
{
	const gt_id first = add(THREAD, 100, 250, GT_NONE);
	const gt_id second = add(THREAD, 200, 400, first);
	const gt_id third = add(THREAD, 300, 0, second);

	gt_open_ranges_init(&ranges, &trace);
	cr_expect(eq(u32, open_at(260), second));
	cr_expect(eq(u32, open_at(1000), third));
	trace.ranges.rows[third].end_ns = 350;
	trace.ranges.rows[third].flags = 0;
	cr_expect(eq(u32, open_at(360), second));
	cr_expect(eq(u32, open_at(400), GT_NONE));
}

Test(open_ranges, of_a_damaged_trace_are_found_in_finite_time)
{
	add(THREAD, 100, 200, 1);
	add(THREAD, 110, 200, 0);
	trace.ranges.rows[0].parent = 1;
	trace.ranges.rows[1].parent = 700;
	gt_open_ranges_init(&ranges, &trace);
	cr_expect(eq(u32, open_at(300), GT_NONE));
}

Test(open_ranges, are_none_without_ranges)
{
	gt_open_ranges_init(&ranges, &trace);
	cr_expect(eq(u32, open_at(0), GT_NONE));
}

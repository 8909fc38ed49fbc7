/* SPDX-License-Identifier: Apache-2.0 */
#include "model/work/intervals.h"
#include "support/check.h"

Test(intervals, that_overlap_count_once)
{
	struct gt_interval intervals[] = {{20, 30}, {0, 10}, {5, 12}, {6, 7}, {30, 31}};

	cr_expect(eq(u64, gt_intervals_union(intervals, 5), 23));
	cr_expect(eq(i64, intervals[0].start_ns, 0));
	cr_expect(eq(i64, intervals[4].start_ns, 30));
}

Test(intervals, of_nothing_cover_nothing)
{
	struct gt_interval backwards[] = {{10, 5}, {7, 7}};

	cr_expect(eq(u64, gt_intervals_union(NULL, 0), 0));
	cr_expect(eq(u64, gt_intervals_union(backwards, 2), 0));
}

Test(intervals, may_reach_over_the_whole_range_of_times)
{
	struct gt_interval whole[] = {{INT64_MIN, INT64_MAX}};

	cr_expect(eq(u64, gt_intervals_union(whole, 1), UINT64_MAX));
}

Test(intervals, tell_the_gap_before_each)
{
	struct gt_cover cover = {0};

	cr_expect(eq(u64, gt_cover_span(&cover), 0));
	cr_expect(eq(u64, gt_cover_add(&cover, (struct gt_interval){100, 200}), 0));
	cr_expect(eq(u64, gt_cover_add(&cover, (struct gt_interval){110, 120}), 0));
	cr_expect(eq(u64, gt_cover_add(&cover, (struct gt_interval){200, 210}), 0));
	cr_expect(eq(u64, gt_cover_add(&cover, (struct gt_interval){250, 250}), 40));
	cr_expect(eq(u64, gt_cover_add(&cover, (struct gt_interval){260, 300}), 10));
	cr_expect(eq(u64, cover.covered_ns, 150));
	cr_expect(eq(u64, gt_cover_span(&cover), 200));
}

Test(intervals, that_end_before_they_start_are_moments)
{
	struct gt_cover cover = {0};

	gt_cover_add(&cover, (struct gt_interval){0, 100});
	cr_expect(eq(u64, gt_cover_add(&cover, (struct gt_interval){200, 150}), 100));
	cr_expect(eq(u64, gt_cover_add(&cover, (struct gt_interval){300, 310}), 100));
	cr_expect(eq(u64, cover.covered_ns, 110));
}

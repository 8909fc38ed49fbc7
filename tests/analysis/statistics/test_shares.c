/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics/shares.h"

#include <math.h>

#include "model/view/view.h"
#include "support/check.h"
#include "support/scene.h"

/* Times of units, united before they are shares of wall time. */

static struct gt_interval at(gt_time start_ns, gt_time end_ns)
{
	return (struct gt_interval){TRACE_START_NS + start_ns, TRACE_START_NS + end_ns};
}

Test(shares, count_each_moment_once)
{
	struct gt_united united = {0};
	struct gt_share share;
	struct gt_view view;
	struct gt_wall wall;

	scene_begin(1000);
	view = gt_view_of(&trace);
	wall = gt_wall_of(&view);
	gt_unite(&united, &wall, at(100, 300));
	gt_unite(&united, &wall, at(200, 400));
	gt_unite(&united, &wall, at(250, 260));
	share = gt_share_of(&united, &wall, GT_OF_GPU, device);
	cr_expect(eq(u64, share.ns, 300));
	cr_expect(eq(dbl, gt_share_percent(&share), 30));
	cr_expect(gt_share_reaches(&share, 30));
	cr_expect(not(gt_share_reaches(&share, 31)));
	gt_trace_release(&trace);
}

/* Time outside of the window, or of the parts of it that are looked at, does not count. */
Test(shares, end_where_the_window_ends)
{
	const struct gt_interval parts[] = {at(200, 300), at(500, 700)};
	struct gt_united united = {0};
	struct gt_united in_parts = {0};
	struct gt_share share;
	struct gt_view view;
	struct gt_wall wall;

	scene_begin(1000);
	view = gt_view_of(&trace);
	view.start_ns += 100;
	view.end_ns -= 100;
	wall = gt_wall_of(&view);
	gt_unite(&united, &wall, at(0, 1000));
	gt_unite(&united, &wall, at(900, 5000));
	share = gt_share_of(&united, &wall, GT_OF_RECORDING, GT_NONE);
	cr_expect(eq(dbl, gt_share_percent(&share), 100));
	for (size_t i = 0; i < 2; i++)
		*gt_array_push(&trace.parts) = parts[i];
	wall = gt_wall_of(&view);
	cr_expect(eq(u64, wall.ns, 300));
	gt_unite(&in_parts, &wall, at(0, 250));
	gt_unite(&in_parts, &wall, at(240, 600));
	gt_unite(&in_parts, &wall, at(300, 500));
	gt_unite(&in_parts, &wall, at(700, 900));
	share = gt_share_of(&in_parts, &wall, GT_OF_RECORDING, GT_NONE);
	cr_expect(eq(u64, share.ns, 200));
	wall = gt_wall_of_window(&view);
	cr_expect(eq(u64, wall.ns, 800));
	gt_trace_release(&trace);
}

Test(shares, are_never_over_100_percent)
{
	struct gt_interval all[] = {at(500, 900), at(0, 600), at(0, 600), at(-50, 20)};
	struct gt_share share;
	struct gt_view view;
	struct gt_wall wall;

	scene_begin(1000);
	view = gt_view_of(&trace);
	wall = gt_wall_of(&view);
	share = gt_share_of_apart(&wall, 5000, GT_OF_GPU, device);
	cr_expect(eq(dbl, gt_share_percent(&share), 100));
	share = gt_share_of_intervals(&wall, all, 4, GT_OF_GPU, device);
	cr_expect(eq(u64, share.ns, 900));
	cr_expect(eq(u64, gt_share_part(&share, 0.5).ns, 450));
	cr_expect(eq(u64, gt_share_part(&share, 7).ns, 900));
	cr_expect(eq(u64, gt_share_part(&share, -1).ns, 0));
	cr_expect(eq(u64, gt_share_part(&share, (double)NAN).ns, 0));
	gt_trace_release(&trace);
}

Test(shares, of_nothing_are_not_known)
{
	struct gt_share share;
	struct gt_view view;
	struct gt_wall wall;

	scene_begin(0);
	view = gt_view_of(&trace);
	wall = gt_wall_of(&view);
	share = gt_share_of_apart(&wall, 5, GT_OF_GPU, device);
	cr_expect(eq(u64, share.ns, 0));
	cr_expect(isnan(gt_share_percent(&share)));
	cr_expect(not(gt_share_reaches(&share, 0)));
	gt_trace_release(&trace);
}

Test(shares, tell_units_apart)
{
	struct gt_unit_times times;
	struct gt_share most;
	struct gt_view view;
	gt_id other;

	scene_begin(1000);
	other = trace_thread(&trace, process, 8);
	view = gt_view_of(&trace);
	gt_unit_times_init(&times, &view, GT_OF_THREAD);
	cr_expect(eq(u64, gt_unit_times_most(&times).ns, 0));
	cr_expect(eq(sz, gt_unit_times_used(&times), 0));
	gt_unit_times_add(&times, thread, at(0, 100));
	gt_unit_times_add(&times, other, at(50, 250));
	gt_unit_times_add(&times, GT_NONE, at(50, 60));
	gt_unit_times_add(&times, thread, at(240, 300));
	most = gt_unit_times_most(&times);
	cr_expect(eq(u32, most.row, other));
	cr_expect(eq(u64, most.ns, 200));
	expect_text(gt_share_unit(&most, &trace).text, "thread  (8)");
	cr_expect(eq(u64, gt_unit_times_of(&times, thread).ns, 160));
	cr_expect(eq(u64, gt_unit_times_any(&times).ns, 300));
	cr_expect(eq(u64, gt_unit_times_sum(&times), 370));
	cr_expect(eq(sz, gt_unit_times_used(&times), 3));
	gt_unit_times_release(&times);
	gt_trace_release(&trace);
}

Test(shares, name_their_unit)
{
	struct gt_share share = {.whose = GT_OF_PROCESS, .row = 0};

	scene_begin(1000);
	expect_text(gt_share_unit(&share, &trace).text, "process app (100)");
	share.whose = GT_OF_GPU;
	expect_text(gt_share_unit(&share, &trace).text, "GPU 0");
	share.row = GT_NONE;
	expect_text(gt_share_unit(&share, &trace).text, "a GPU that is not known");
	share.whose = GT_OF_PROCESS;
	expect_text(gt_share_unit(&share, &trace).text, "a process that is not known");
	share.whose = GT_OF_RECORDING;
	expect_text(gt_share_unit(&share, &trace).text, "the recording");
	gt_trace_release(&trace);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/covered.h"

#include "support/check.h"
#include "support/scene.h"

static uint64_t within(const struct gt_covered *covered, gt_time start_ns, gt_time end_ns)
{
	return gt_covered_within(covered, (struct gt_interval){start_ns, end_ns});
}

Test(covered, counts_what_overlaps_once)
{
	struct gt_covered covered = {.stretches = {0}};

	gt_covered_add(&covered, (struct gt_interval){100, 200}, 1);
	gt_covered_add(&covered, (struct gt_interval){150, 160}, 2);
	gt_covered_add(&covered, (struct gt_interval){180, 250}, 3);
	gt_covered_add(&covered, (struct gt_interval){250, 260}, 4);
	gt_covered_add(&covered, (struct gt_interval){400, 300}, 5);
	gt_covered_add(&covered, (struct gt_interval){500, 600}, 6);
	cr_assert(eq(sz, covered.stretches.count, 2));
	cr_expect(eq(i64, covered.stretches.rows[0].asked_ns, 1));
	cr_expect(eq(i64, covered.stretches.rows[1].asked_ns, 6));
	cr_expect(eq(u64, within(&covered, 0, 1000), 260));
	cr_expect(eq(u64, within(&covered, 120, 130), 10));
	cr_expect(eq(u64, within(&covered, 255, 505), 10));
	cr_expect(eq(u64, within(&covered, 260, 500), 0));
	cr_expect(eq(u64, within(&covered, 550, 540), 0));
	cr_expect(eq(sz, gt_covered_begun(&covered, 99), 0));
	cr_expect(eq(sz, gt_covered_begun(&covered, 100), 1));
	cr_expect(eq(sz, gt_covered_begun(&covered, 500), 2));
	gt_covered_release(&covered);
}

Test(covered, knows_nothing_before_anything_ran)
{
	const struct gt_covered covered = {.stretches = {0}};

	cr_expect(eq(u64, within(&covered, 0, 1000), 0));
	cr_expect(eq(sz, gt_covered_begun(&covered, 1000), 0));
}

/* Copies count for all that ran, and not for kernels. */
Test(covered, is_told_apart_by_device_and_by_what_ran)
{
	struct gt_covered_device *devices;
	gt_id other;

	scene_begin(10000);
	other = trace_stream(&trace, process, trace_device(&trace));
	trace_kernel(&trace, stream, shape, 100, 200);
	trace_copy(&trace, stream, 1, 64, 150, 250);
	trace_kernel(&trace, other, shape, 1000, 1100);
	devices = gt_covered_devices(&trace);
	cr_expect(eq(u64, within(&devices[0].kernels, 0, TRACE_START_NS + 10000), 100));
	cr_expect(eq(u64, within(&devices[0].all, 0, TRACE_START_NS + 10000), 150));
	cr_expect(eq(u64, within(&devices[1].kernels, 0, TRACE_START_NS + 10000), 100));
	gt_covered_devices_release(devices, &trace);
	gt_trace_release(&trace);
}

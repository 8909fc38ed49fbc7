/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/busy.h"

#include "base/array.h"
#include "model/names.h"
#include "model/view/view.h"
#include "support/check.h"
#include "support/trace.h"

static struct gt_trace trace;
static struct gt_view view;
static gt_id streams[2];
static gt_id shape;

/* A window from 100 to 500 of a recording of 1000, on two GPUs. */
static void make(void)
{
	gt_id process;

	trace_init(&trace, 1000);
	process = trace_process(&trace, "app", 100);
	for (int i = 0; i < 2; i++)
		streams[i] = trace_stream(&trace, process, trace_device(&trace));
	shape = trace_shape(&trace, "step", 1, 32);
	view = gt_view_of(&trace);
	view.start_ns = TRACE_START_NS + 100;
	view.end_ns = TRACE_START_NS + 500;
	*gt_array_push(&trace.parts) = (struct gt_interval){view.start_ns, view.end_ns};
}

static void drop(void)
{
	gt_trace_release(&trace);
}

TestSuite(busy, .init = make, .fini = drop);

Test(busy, is_only_what_lies_in_the_window)
{
	struct gt_busy *devices;

	trace_kernel(&trace, streams[0], shape, 50, 150);
	trace_kernel(&trace, streams[0], shape, 200, 230);
	trace_kernel(&trace, streams[0], shape, 450, 900);
	devices = gt_busy_of_devices(&view);
	cr_expect(eq(u64, devices[0].kernels.covered_ns, 50 + 30 + 50));
	cr_expect(eq(u64, devices[0].kernel_count, 3));
	cr_expect(epsilon_eq(dbl, gt_busy_percent(&view, &devices[0].kernels), 100.0 * 130 / 400,
	                     1e-9));
	cr_expect(eq(u64, devices[1].kernels.covered_ns, 0));
	gt_array_free(devices);
}

Test(busy, tells_kernels_copies_and_fills_apart)
{
	struct gt_busy *devices;

	trace_kernel(&trace, streams[1], shape, 100, 200);
	trace_copy(&trace, streams[1], GT_COPY_HOST_TO_DEVICE, 8, 150, 250);
	trace_fill(&trace, streams[1], 8, 300, 310);
	devices = gt_busy_of_devices(&view);
	cr_expect(eq(u64, devices[1].kernels.covered_ns, 100));
	cr_expect(eq(u64, devices[1].copies.covered_ns, 100));
	cr_expect(eq(u64, devices[1].kernels_or_copies.covered_ns, 150));
	cr_expect(eq(u64, devices[1].all.covered_ns, 160));
	cr_expect(eq(u64, devices[1].kernel_count, 1));
	gt_array_free(devices);
}

static void add_graph_trace(gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace.graph_traces) = (struct gt_graph_trace){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.stream = streams[0],
		.device = 0,
		.api_call = GT_NONE,
		.exec = GT_NONE,
	};
}

/* The work in it is not known: no kernel, and no copy, is counted. */
Test(busy, is_a_gpu_while_a_graph_runs_that_was_recorded_as_a_whole)
{
	struct gt_busy *devices;

	trace_kernel(&trace, streams[0], shape, 100, 120);
	add_graph_trace(110, 200);
	trace_copy(&trace, streams[0], GT_COPY_HOST_TO_DEVICE, 8, 150, 250);
	devices = gt_busy_of_devices(&view);
	cr_expect(eq(u64, devices[0].kernels.covered_ns, 100));
	cr_expect(eq(u64, devices[0].all.covered_ns, 150));
	cr_expect(eq(u64, devices[0].kernel_count, 1));
	cr_expect(eq(u64, gt_busy_overlap(&devices[0]), 50));
	gt_array_free(devices);
}

/* They are in order of their start, as the rows of each table are. */
Test(busy, walks_graphs_only_where_they_are_asked_for)
{
	struct gt_activity_walk walk;
	struct gt_activity activity;
	const enum gt_activity_type types[] = {GT_ACTIVITY_GRAPH, GT_ACTIVITY_KERNEL,
	                                       GT_ACTIVITY_GRAPH};

	add_graph_trace(110, 200);
	trace_kernel(&trace, streams[0], shape, 120, 130);
	add_graph_trace(300, 400);
	gt_activity_walk_init(&walk, &trace, GT_WORK_BUSY);
	for (size_t i = 0; i < GT_COUNT_OF(types); i++) {
		cr_assert(eq(int, gt_activity_next(&walk, &activity), 1));
		cr_expect(eq(int, activity.type, types[i]));
	}
	cr_expect(eq(int, gt_activity_next(&walk, &activity), 0));
	gt_activity_walk_init(&walk, &trace, GT_WORK_FIGURES);
	cr_expect(eq(int, gt_activity_next(&walk, &activity), 1));
	cr_expect(eq(int, activity.type, GT_ACTIVITY_KERNEL));
	cr_expect(eq(int, gt_activity_next(&walk, &activity), 0));
}

Test(busy, walks_kernels_that_ran_several_times_only_where_they_are_asked_for)
{
	struct gt_activity_walk walk;
	struct gt_activity activity;

	trace_kernel(&trace, streams[0], shape, 100, 120);
	gt_array_end(&trace.kernels)[-1].flags |= GT_PROFILED;
	gt_activity_walk_init(&walk, &trace, GT_WORK_BUSY);
	cr_expect(eq(int, gt_activity_next(&walk, &activity), 0));
	gt_activity_walk_init(&walk, &trace, GT_WORK_ALL);
	cr_expect(eq(int, gt_activity_next(&walk, &activity), 1));
	cr_expect(eq(int, gt_activity_next(&walk, &activity), 0));
}

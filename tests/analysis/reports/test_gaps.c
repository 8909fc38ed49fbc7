/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "model/names.h"

/* A kernel and the call that launched it. */
static void launch(gt_time call_ns, gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaLaunchKernel", call_ns, call_ns + 5);

	trace_kernel(&trace, stream, shape, start_ns, end_ns)->api_call = call;
}

Test(gaps, are_where_neither_kernels_nor_copies_nor_fills_run)
{
	scene_begin(100000);

	const gt_id other = trace_stream(&trace, 0, 0);

	/* Busy 100..400 by streams that overlap, 450..500 by a copy, 600..610 by a fill. */
	trace_kernel(&trace, stream, shape, 100, 300);
	trace_kernel(&trace, other, shape, 150, 160);
	trace_kernel(&trace, other, shape, 250, 400);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 8, 450, 500);
	trace_fill(&trace, stream, 8, 600, 610);
	run_report(&result, "gaps", &trace);

	cr_assert(eq(sz, row_count(&result, "devices"), 1));
	expect_words(&result, "devices", 0, "device", "0: NVIDIA H200");
	expect_count(&result, "devices", 0, "span_ns", 510);
	expect_count(&result, "devices", 0, "busy_ns", 300);
	expect_real(&result, "devices", 0, "busy_percent", 0.3);
	expect_count(&result, "devices", 0, "active_ns", 360);
	expect_count(&result, "devices", 0, "gap_ns", 150);
	expect_real(&result, "devices", 0, "gap_percent", 100.0 * 150 / 510);
	expect_count(&result, "devices", 0, "gaps", 2);
	expect_count(&result, "devices", 0, "mean_gap_ns", 75);

	cr_assert(eq(sz, row_count(&result, "largest_gaps"), 2));
	expect_count(&result, "largest_gaps", 0, "start_time_ns", 500);
	expect_count(&result, "largest_gaps", 0, "duration_ns", 100);
	expect_words(&result, "largest_gaps", 0, "before", "copy HtoD");
	expect_words(&result, "largest_gaps", 0, "after", "fill");
	expect_count(&result, "largest_gaps", 1, "duration_ns", 50);
	expect_words(&result, "largest_gaps", 1, "before", "gemm");
	expect_unknown(&result, "largest_gaps", 1, "host_call");
	expect_unknown(&result, "largest_gaps", 1, "host_call_ns");
	scene_end();
}

Test(gaps, say_when_launches_were_held_up_for_their_counters)
{
	scene_begin(100000);
	launch(10, 100, 200);
	run_report(&result, "gaps", &trace);
	cr_expect(not(has_remark(&result, "launches were held up")));
	*gt_array_push(&trace.profiled_launches) =
		(struct gt_profiled_launch){.start_ns = 10, .end_ns = 200};
	*gt_array_push(&trace.profiled_launches) =
		(struct gt_profiled_launch){.start_ns = 300, .end_ns = 400};
	gt_result_release(&result);
	run_report(&result, "gaps", &trace);
	cr_expect(has_remark(&result,
	                     "2 launches were held up, for their counters (run "
	                     "--kernel-counters) or to be captured, 290 ns in all. That time is "
	                     "neither busy nor idle"));
	scene_end();
}

/* A GPU is idle when it is not busy, also while it copies: both are of the whole recording. */
Test(gaps, have_a_busy_and_an_idle_time_that_are_all_of_the_recording)
{
	double busy_percent;
	int64_t busy_ns;

	scene_begin(100000);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 8, 50, 90);
	trace_kernel(&trace, stream, shape, 100, 400);
	run_report(&result, "gaps", &trace);

	busy_ns = cell(&result, "devices", 0, "busy_ns")->count;
	busy_percent = cell(&result, "devices", 0, "busy_percent")->real;
	cr_expect(eq(i64, busy_ns, 300));
	expect_count(&result, "devices", 0, "idle_ns", trace.end_ns - trace.start_ns - busy_ns);
	expect_real(&result, "devices", 0, "idle_percent", 100 - busy_percent);
	cr_expect(has_remark(&result, "A GPU is busy while a kernel runs"));
	scene_end();
}

Test(gaps, name_what_ended_last_before_them)
{
	scene_begin(100000);

	const gt_id other = trace_stream(&trace, 0, 0);
	const gt_id longer = trace_shape(&trace, "longer", 1, 32);

	trace_kernel(&trace, stream, longer, 0, 100);
	trace_kernel(&trace, other, shape, 10, 20);
	trace_kernel(&trace, other, shape, 200, 210);
	run_report(&result, "gaps", &trace);

	expect_words(&result, "largest_gaps", 0, "before", "longer");
	expect_words(&result, "largest_gaps", 0, "after", "gemm");
	scene_end();
}

Test(gaps, of_two_devices_are_apart)
{
	scene_begin(100000);

	const gt_id other = trace_stream(&trace, 0, trace_device(&trace));

	trace_kernel(&trace, stream, shape, 0, 10);
	trace_kernel(&trace, other, shape, 10, 20);
	trace_kernel(&trace, stream, shape, 20, 30);
	trace_kernel(&trace, other, shape, 50, 60);
	run_report(&result, "gaps", &trace);

	cr_assert(eq(sz, row_count(&result, "devices"), 2));
	expect_count(&result, "devices", 0, "gap_ns", 10);
	expect_count(&result, "devices", 1, "gap_ns", 30);
	expect_words(&result, "devices", 1, "device", "1: NVIDIA H200");
	scene_end();
}

Test(gaps, say_what_the_host_did_meanwhile)
{
	scene_begin(100000);

	const gt_id other = trace_thread(&trace, 0, 200);

	launch(0, 100, 200);
	trace_call(&trace, thread, "cudaMemcpy", 150, 260);
	trace_call(&trace, other, "cudaFree", 190, 900);
	trace_call(&trace, other, "cudaHostAlloc", 210, 590);
	trace_call(&trace, thread, "cudaMalloc", 300, 550);
	launch(560, 600, 700);
	run_report(&result, "gaps", &trace);

	/* cudaMemcpy took 60 of the gap 200..600, cudaMalloc 250; other threads do not count. */
	expect_count(&result, "largest_gaps", 0, "duration_ns", 400);
	expect_words(&result, "largest_gaps", 0, "host_call", "cudaMalloc");
	expect_count(&result, "largest_gaps", 0, "host_call_ns", 250);
	scene_end();
}

Test(gaps, find_a_call_that_began_long_before)
{
	scene_begin(100000);

	const gt_id other = trace_thread(&trace, 0, 200);

	launch(0, 100, 200);
	trace_call(&trace, thread, "cudaStreamSynchronize", 10, 500);
	for (gt_time i = 0; i < 50; i++)
		trace_call(&trace, other, "cudaMalloc", 20 + 2 * i, 21 + 2 * i);
	launch(560, 600, 700);
	run_report(&result, "gaps", &trace);

	expect_words(&result, "largest_gaps", 0, "host_call", "waiting in cudaStreamSynchronize");
	expect_count(&result, "largest_gaps", 0, "host_call_ns", 300);
	scene_end();
}

Test(gaps, find_the_first_call_of_a_thread)
{
	scene_begin(100000);

	const gt_id other = trace_thread(&trace, 0, 200);

	trace_kernel(&trace, stream, shape, 100, 200)->api_call =
		trace_call(&trace, other, "cudaLaunchKernel", 0, 10);
	trace_call(&trace, thread, "cudaMalloc", 150, 500);
	launch(560, 600, 700);
	run_report(&result, "gaps", &trace);

	expect_words(&result, "largest_gaps", 0, "host_call", "cudaMalloc");
	expect_count(&result, "largest_gaps", 0, "host_call_ns", 300);
	scene_end();
}

Test(gaps, take_all_kinds_of_activity_in_the_order_of_time)
{
	scene_begin(100000);
	trace_kernel(&trace, stream, shape, 0, 10);
	trace_kernel(&trace, stream, shape, 60, 70);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 8, 20, 30);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 8, 80, 90);
	trace_fill(&trace, stream, 8, 40, 50);
	run_report(&result, "gaps", &trace);

	expect_count(&result, "devices", 0, "gaps", 4);
	expect_count(&result, "devices", 0, "active_ns", 50);
	expect_count(&result, "devices", 0, "gap_ns", 40);
	scene_end();
}

Test(gaps, in_which_the_host_did_something_else_say_so)
{
	scene_begin(100000);
	launch(0, 100, 200);
	trace_call(&trace, thread, "cudaMalloc", 10, 200);
	launch(600, 600, 700);
	run_report(&result, "gaps", &trace);

	expect_words(&result, "largest_gaps", 0, "host_call", "no CUDA call");
	expect_count(&result, "largest_gaps", 0, "host_call_ns", 0);
	scene_end();
}

Test(gaps, blame_no_call_that_explains_little_of_them)
{
	scene_begin(100000);
	launch(0, 100, 200);
	trace_call(&trace, thread, "cuModuleLoadData", 210, 329);
	trace_call(&trace, thread, "cudaMalloc", 340, 360);
	launch(500, 600, 700);
	launch(710, 800, 900);
	run_report(&result, "gaps", &trace);

	/* They took 119, 20 and, launching, 5 of the gap 200..600. */
	expect_count(&result, "largest_gaps", 0, "duration_ns", 400);
	expect_words(&result, "largest_gaps", 0, "host_call", "mostly no CUDA call");
	expect_count(&result, "largest_gaps", 0, "host_call_ns", 144);
	scene_end();
}

Test(gaps, name_a_call_from_half_of_them_on)
{
	scene_begin(100000);
	launch(0, 100, 200);
	trace_call(&trace, thread, "cudaMalloc", 300, 500);
	launch(600, 600, 700);
	trace_call(&trace, thread, "cudaMalloc", 800, 949);
	launch(1000, 1000, 1100);
	run_report(&result, "gaps", &trace);

	expect_count(&result, "largest_gaps", 0, "duration_ns", 400);
	expect_words(&result, "largest_gaps", 0, "host_call", "cudaMalloc");
	expect_count(&result, "largest_gaps", 0, "host_call_ns", 200);
	expect_count(&result, "largest_gaps", 1, "duration_ns", 300);
	expect_words(&result, "largest_gaps", 1, "host_call", "mostly no CUDA call");
	expect_count(&result, "largest_gaps", 1, "host_call_ns", 149);
	scene_end();
}

Test(gaps, tell_many_short_calls_from_none)
{
	scene_begin(100000);
	launch(0, 100, 200);
	for (gt_time i = 0; i < 10; i++)
		trace_call(&trace, thread, "cudaMalloc", 210 + 30 * i, 235 + 30 * i);
	launch(600, 600, 700);
	run_report(&result, "gaps", &trace);

	expect_words(&result, "largest_gaps", 0, "host_call", "cudaMalloc (10 calls)");
	expect_count(&result, "largest_gaps", 0, "host_call_ns", 250);
	scene_end();
}

/* The row of waited_for that says so; fails when there is none. */
static size_t waited_for(const char *what)
{
	const size_t rows = row_count(&result, "waited_for");
	size_t row = 0;

	while (row < rows && strcmp(cell(&result, "waited_for", row, "host_call")->text, what) != 0)
		row++;
	cr_assert(lt(sz, row, rows), "nothing waited for %s", what);
	return row;
}

static void expect_waited_for(const char *what, int64_t gaps, int64_t total_ns)
{
	const size_t row = waited_for(what);

	expect_count(&result, "waited_for", row, "gaps", gaps);
	expect_count(&result, "waited_for", row, "total_ns", total_ns);
	expect_count(&result, "waited_for", row, "mean_ns", total_ns / gaps);
}

static int64_t sum_waited_for(void)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < row_count(&result, "waited_for"); i++)
		sum_ns += cell(&result, "waited_for", i, "total_ns")->count;
	return sum_ns;
}

Test(gaps, add_up_by_what_the_host_did)
{
	scene_begin(100000);

	const gt_id other = trace_thread(&trace, 0, 200);

	launch(0, 100, 200);
	trace_call(&trace, thread, "cudaMalloc", 150, 260);
	trace_call(&trace, other, "cudaFree", 200, 1000);
	trace_call(&trace, thread, "cudaMalloc", 270, 300);
	launch(560, 600, 700);
	launch(790, 800, 900);
	run_report(&result, "gaps", &trace);

	/* 200..600: malloc 60 and 30, launching 5, 35 on its way; 700..800: 5 and 5 more of these. */
	expect_waited_for("cudaMalloc", 1, 90);
	expect_waited_for("cudaLaunchKernel", 2, 10);
	expect_waited_for("launched but not started", 2, 40);
	expect_waited_for("no CUDA call", 2, 360);
	expect_words(&result, "waited_for", 0, "host_call", "no CUDA call");
	expect_real(&result, "waited_for", 0, "share_percent", 72);
	cr_expect(eq(i64, sum_waited_for(), cell(&result, "devices", 0, "gap_ns")->count));
	scene_end();
}

Test(gaps, before_work_that_was_asked_for_earlier_are_not_the_hosts)
{
	scene_begin(100000);
	launch(0, 100, 200);
	launch(50, 300, 400);
	trace_call(&trace, thread, "cudaStreamSynchronize", 60, 900);
	run_report(&result, "gaps", &trace);

	expect_words(&result, "largest_gaps", 0, "host_call", "launched but not started");
	expect_count(&result, "largest_gaps", 0, "host_call_ns", 100);
	expect_waited_for("launched but not started", 1, 100);
	cr_expect(eq(sz, row_count(&result, "waited_for"), 1));
	scene_end();
}

Test(gaps, between_nodes_of_one_graph_launch_are_not_the_hosts)
{
	gt_id call;

	scene_begin(100000);
	call = trace_call(&trace, thread, "cudaGraphLaunch", 0, 900);
	trace.api_calls.rows[call].kind = GT_API_GRAPH_LAUNCH;
	trace_kernel(&trace, stream, shape, 100, 200)->api_call = call;
	trace_kernel(&trace, stream, shape, 230, 300)->api_call = call;
	trace_kernel(&trace, stream, shape, 320, 400)->api_call = call;
	launch(910, 1000, 1100);
	run_report(&result, "gaps", &trace);

	expect_words(&result, "largest_gaps", 1, "host_call", "within one graph launch");
	expect_waited_for("within one graph launch", 2, 50);
	expect_waited_for("cudaGraphLaunch", 1, 500);
	scene_end();
}

/* One call may ask for several pieces of work, as a copy of many rows does, and be no graph. */
Test(gaps, between_what_one_other_call_asked_for_are_the_hosts)
{
	gt_id call;

	scene_begin(100000);
	call = trace_call(&trace, thread, "cudaMemcpy", 0, 900);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 64, 100, 200)->api_call = call;
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 64, 450, 500)->api_call = call;
	run_report(&result, "gaps", &trace);

	expect_count(&result, "largest_gaps", 0, "duration_ns", 250);
	expect_words(&result, "largest_gaps", 0, "host_call", "cudaMemcpy");
	expect_waited_for("cudaMemcpy", 1, 250);
	cr_expect(eq(sz, row_count(&result, "waited_for"), 1));
	scene_end();
}

Test(gaps, are_around_graphs_that_were_recorded_as_a_whole)
{
	gt_id call;

	scene_begin(100000);
	launch(0, 100, 200);
	call = trace_call(&trace, thread, "cudaGraphLaunch", 210, 290);
	*gt_array_push(&trace.graph_traces) = (struct gt_graph_trace){
		.start_ns = TRACE_START_NS + 300,
		.end_ns = TRACE_START_NS + 900,
		.stream = stream,
		.device = 0,
		.api_call = call,
		.exec = GT_NONE,
	};
	launch(910, 1000, 1100);
	run_report(&result, "gaps", &trace);

	expect_count(&result, "devices", 0, "busy_ns", 800);
	cr_assert(eq(sz, row_count(&result, "largest_gaps"), 2));
	expect_words(&result, "largest_gaps", 0, "after", "graph launch");
	expect_words(&result, "largest_gaps", 0, "host_call", "cudaGraphLaunch");
	expect_words(&result, "largest_gaps", 1, "before", "graph launch");
	cr_expect(has_remark(&result, "Launches of graphs that were recorded as a whole"));
	scene_end();
}

/* As damage leaves it: calls of a thread that overlap each other. */
Test(gaps, count_no_moment_twice)
{
	scene_begin(100000);
	launch(0, 100, 200);
	trace_call(&trace, thread, "cudaMalloc", 210, 500);
	trace_call(&trace, thread, "cudaFree", 220, 550);
	trace_call(&trace, thread, "cudaFree", 300, 400);
	launch(560, 600, 700);
	run_report(&result, "gaps", &trace);

	expect_waited_for("cudaMalloc", 1, 290);
	expect_waited_for("cudaFree", 1, 50);
	cr_expect(eq(i64, sum_waited_for(), 400));
	scene_end();
}

Test(gaps, of_which_nobody_is_known_say_so)
{
	scene_begin(100000);
	trace_kernel(&trace, stream, shape, 100, 200);
	trace_kernel(&trace, stream, shape, 300, 400);
	run_report(&result, "gaps", &trace);

	expect_waited_for("not known", 1, 100);
	scene_end();
}

Test(gaps, list_only_the_largest_of_many)
{
	gt_time now = 0;

	scene_begin(100000);
	for (gt_time gap = 1; gap <= 50; gap++) {
		trace_kernel(&trace, stream, shape, now, now + 1);
		now += 1 + (gap * 7) % 51; /* all lengths from 1 to 50, in no order */
	}
	trace_kernel(&trace, stream, shape, now, now + 1);
	run_report(&result, "gaps", &trace);

	cr_assert(eq(sz, row_count(&result, "largest_gaps"), 20));
	for (size_t i = 0; i < 20; i++)
		expect_count(&result, "largest_gaps", i, "duration_ns", 50 - (int64_t)i);
	expect_count(&result, "devices", 0, "gaps", 50);
	expect_count(&result, "devices", 0, "gap_ns", 50 * 51 / 2);
	scene_end();
}

Test(gaps, of_all_devices_are_listed_longest_first)
{
	scene_begin(100000);

	const gt_id other = trace_stream(&trace, 0, trace_device(&trace));
	gt_time now = 0;

	for (gt_time gap = 1; gap <= 15; gap++) {
		trace_kernel(&trace, stream, shape, now, now + 1);
		trace_kernel(&trace, other, shape, now, now + 1 + gap % 2);
		now += 1 + 10 * gap;
	}
	run_report(&result, "gaps", &trace);

	/* 14 gaps of each: of 10, 20, ... 140 on one, of the other every second 1 shorter. */
	cr_assert(eq(sz, row_count(&result, "largest_gaps"), 20));
	expect_count(&result, "largest_gaps", 0, "duration_ns", 140);
	expect_count(&result, "largest_gaps", 1, "duration_ns", 140);
	expect_words(&result, "largest_gaps", 1, "device", "1: NVIDIA H200");
	expect_count(&result, "largest_gaps", 2, "duration_ns", 130);
	expect_words(&result, "largest_gaps", 2, "device", "0: NVIDIA H200");
	expect_count(&result, "largest_gaps", 3, "duration_ns", 129);
	cr_expect(eq(u64, gt_result_find(&result, "largest_gaps")->more, 8));
	scene_end();
}

Test(gaps, are_sorted_into_sizes_by_powers_of_ten)
{
	scene_begin(100000);
	trace_kernel(&trace, stream, shape, 0, 10);
	trace_kernel(&trace, stream, shape, 19, 20);     /* 9 */
	trace_kernel(&trace, stream, shape, 30, 40);     /* 10 */
	trace_kernel(&trace, stream, shape, 139, 140);   /* 99 */
	trace_kernel(&trace, stream, shape, 1140, 1150); /* 1000 */
	run_report(&result, "gaps", &trace);

	cr_assert(eq(sz, row_count(&result, "gap_sizes"), 3));
	expect_count(&result, "gap_sizes", 0, "from_ns", 1);
	expect_count(&result, "gap_sizes", 0, "below_ns", 10);
	expect_count(&result, "gap_sizes", 0, "gaps", 1);
	expect_count(&result, "gap_sizes", 1, "from_ns", 10);
	expect_count(&result, "gap_sizes", 1, "gaps", 2);
	expect_count(&result, "gap_sizes", 1, "total_ns", 109);
	expect_count(&result, "gap_sizes", 2, "from_ns", 1000);
	expect_real(&result, "gap_sizes", 2, "share_percent", 100.0 * 1000 / 1118);
	scene_end();
}

Test(gaps, tell_how_long_launches_took)
{
	scene_begin(100000);
	/* The first and third find the GPU idle; the second is queued behind the first. */
	launch(100, 110, 200);
	launch(120, 200, 300);
	launch(400, 430, 500);
	run_report(&result, "gaps", &trace);

	cr_assert(eq(sz, row_count(&result, "launch_latency"), 2));
	expect_words(&result, "launch_latency", 0, "process", "app (100)");
	expect_words(&result, "launch_latency", 0, "launches", "all");
	expect_count(&result, "launch_latency", 0, "calls", 3);
	expect_count(&result, "launch_latency", 0, "min_ns", 10);
	expect_count(&result, "launch_latency", 0, "p50_ns", 30);
	expect_count(&result, "launch_latency", 0, "p99_ns", 80);
	expect_count(&result, "launch_latency", 0, "max_ns", 80);
	expect_count(&result, "launch_latency", 0, "mean_ns", 40);
	expect_words(&result, "launch_latency", 1, "launches", "found device idle");
	expect_count(&result, "launch_latency", 1, "calls", 2);
	expect_real(&result, "launch_latency", 1, "share_percent", 100.0 * 2 / 3);
	expect_count(&result, "launch_latency", 1, "max_ns", 30);
	scene_end();
}

Test(gaps, count_a_launch_as_idle_from_the_moment_work_ended)
{
	scene_begin(100000);
	launch(0, 10, 100);
	launch(99, 110, 200);
	launch(200, 210, 300);
	run_report(&result, "gaps", &trace);

	expect_words(&result, "launch_latency", 1, "launches", "found device idle");
	expect_count(&result, "launch_latency", 1, "calls", 2);
	scene_end();
}

Test(gaps, leave_graphs_out_of_launch_latency)
{
	scene_begin(100000);

	const gt_id call = trace_call(&trace, thread, "cudaGraphLaunch", 0, 10);

	trace_kernel(&trace, stream, shape, 50, 60)->api_call = call;
	trace_kernel(&trace, stream, shape, 60, 70)->api_call = call;
	run_report(&result, "gaps", &trace);

	cr_expect(eq(sz, row_count(&result, "launch_latency"), 0));
	cr_expect(has_remark(&result, "2 kernels came from graphs"));
	scene_end();
}

/* A kernel launched on the GPU has its parent's call, and not that call's latency. */
Test(gaps, leave_kernels_that_kernels_launched_out_of_launch_latency)
{
	scene_begin(100000);
	launch(0, 50, 60);
	trace_kernel(&trace, stream, shape, 70, 80)->api_call = 0;
	trace.kernels.rows[1].flags = GT_DEVICE_LAUNCHED;
	run_report(&result, "gaps", &trace);

	expect_count(&result, "launch_latency", 0, "calls", 1);
	expect_count(&result, "launch_latency", 0, "max_ns", 50);
	cr_expect(has_remark(&result, "1 kernels came from graphs"));
	scene_end();
}

Test(gaps, remark_on_kernels_that_start_before_their_call)
{
	scene_begin(100000);
	launch(100, 90, 200);
	run_report(&result, "gaps", &trace);

	expect_count(&result, "launch_latency", 0, "min_ns", -10);
	cr_expect(has_remark(&result, "1 kernels start before their call"));
	scene_end();
}

Test(gaps, ignore_what_has_no_times)
{
	scene_begin(100000);
	trace_unfinished_kernel(&trace, stream, shape);
	trace_kernel(&trace, stream, shape, 100, 100);
	trace_kernel(&trace, stream, shape, 200, 200);
	run_report(&result, "gaps", &trace);

	expect_count(&result, "devices", 0, "span_ns", 100);
	expect_count(&result, "devices", 0, "active_ns", 0);
	expect_real(&result, "devices", 0, "gap_percent", 100.0);
	scene_end();
}

Test(gaps, group_the_digits_of_their_remarks)
{
	scene_begin(100000);
	*gt_array_push(&trace.clocks) = (struct gt_clock){.bound_ns = 999};
	trace_kernel(&trace, stream, shape, 0, 10);
	run_report(&result, "gaps", &trace);
	cr_expect(has_remark(&result, "within 999 ns"));
	gt_result_release(&result);
	trace.clocks.rows[0].bound_ns = 1000;
	run_report(&result, "gaps", &trace);
	cr_expect(has_remark(&result, "within 1,000 ns"));
	gt_result_release(&result);
	trace.clocks.rows[0].bound_ns = 123456789;
	run_report(&result, "gaps", &trace);
	cr_expect(has_remark(&result, "within 123,456,789 ns"));
	scene_end();
}

Test(gaps, without_gpu_activity_are_not_spoken_of)
{
	scene_begin(100000);
	trace_call(&trace, thread, "cudaMalloc", 10, 200);
	run_report(&result, "gaps", &trace);

	cr_expect(eq(sz, row_count(&result, "devices"), 0));
	cr_expect(eq(sz, row_count(&result, "largest_gaps"), 0));
	cr_expect(has_remark(&result, "No GPU activity"));
	scene_end();
}

Test(gaps, of_an_empty_trace_are_none)
{
	struct gt_trace trace;
	struct gt_result result;

	gt_trace_init(&trace);
	run_report(&result, "gaps", &trace);
	cr_expect(eq(sz, row_count(&result, "devices"), 0));
	cr_expect(eq(sz, row_count(&result, "gap_sizes"), 0));
	cr_expect(eq(sz, row_count(&result, "launch_latency"), 0));
	gt_result_release(&result);
	gt_trace_release(&trace);
}

Test(gaps, between_chosen_ranges_are_none)
{
	struct gt_trace trace;
	struct gt_result result;

	trace_init(&trace, 1000);

	const gt_id process = trace_process(&trace, "app", 100);
	const gt_id stream = trace_stream(&trace, process, trace_device(&trace));
	const gt_id shape = trace_shape(&trace, "gemm", 1, 32);

	trace_kernel(&trace, stream, shape, 100, 200);
	trace_kernel(&trace, stream, shape, 250, 300);
	trace_kernel(&trace, stream, shape, 700, 800);
	*gt_array_push(&trace.parts) =
		(struct gt_interval){TRACE_START_NS + 50, TRACE_START_NS + 330};
	*gt_array_push(&trace.parts) =
		(struct gt_interval){TRACE_START_NS + 680, TRACE_START_NS + 800};
	run_report(&result, "gaps", &trace);
	/* 200..250, 300..330 and 680..700. */
	expect_count(&result, "devices", 0, "gap_ns", 100);
	expect_count(&result, "devices", 0, "gaps", 3);
	expect_count(&result, "devices", 0, "span_ns", 350);
	expect_real(&result, "devices", 0, "busy_percent", 62.5);
	cr_assert(eq(sz, row_count(&result, "largest_gaps"), 3));
	expect_count(&result, "largest_gaps", 0, "duration_ns", 50);
	expect_count(&result, "largest_gaps", 2, "start_time_ns", 680);
	gt_result_release(&result);
	gt_trace_release(&trace);
}

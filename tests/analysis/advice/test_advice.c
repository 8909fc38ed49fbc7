/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"

#include <stdio.h>

#include "analysis/advice/facts.h"
#include "analysis/check_advice.h"
#include "base/strings.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/work/sync.h"

/*
 * Report advice, and its rules about the host and about copies, each with a scene that has the fault
 * and one that has not. Those whose fault is in a scene of test_overview.c have the other one here.
 *
 * Covers ADVICE(failed_calls). Covers ADVICE(out_of_memory). Covers ADVICE(slow_environment).
 */

/* So many kernels of 10 us, each after a gap of so many microseconds. */
static void add_kernels(int count, gt_time gap_us)
{
	for (gt_time i = 0; i < count; i++)
		trace_kernel(&trace, stream, shape, i * (10 + gap_us) * 1000,
		             i * (10 + gap_us) * 1000 + 10000);
}

/* The kernel, by a call of 500 ns outside of any range. */
static void launch(gt_time call_ns, gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaLaunchKernel", call_ns, call_ns + 500);

	trace_kernel(&trace, stream, shape, start_ns, end_ns)->api_call = call;
}

/* A stream that is not the default one. */
static void leave_default_stream(void)
{
	trace.streams.rows[stream].number = 13;
}

Test(advice, rules_each_say_what_they_look_for)
{
	for (size_t i = 0; i < gt_advice_rule_count; i++) {
		const struct gt_advice_rule *rule = gt_advice_rules[i];
		const size_t length = strlen(rule->summary);

		cr_expect(length > 0 && length < 90 && rule->summary[length - 1] != '.', "%s",
		          rule->name);
		cr_expect(gt_report_find(rule->report) != NULL, "%s: %s", rule->name, rule->report);
		cr_expect(ne(int, rule->of_recording == NULL, rule->of_device == NULL), "%s",
		          rule->name);
	}
}

/* Covers ADVICE(launch_bound). */
Test(advice, on_launches_is_worth_the_short_gaps)
{
	scene_begin(5000000);
	add_kernels(101, 15);
	ask();
	expect_rule("launch_bound", "change", "59.8% of the time it was in use");
	expect_gain("launch_bound", "at most", 1500000);
	expect_silence("left_alone");
	done();
}

Test(advice, on_launches_is_not_given_for_waits)
{
	scene_begin(5000000);
	for (gt_time at = 0; at < 101 * 25000; at += 25000) {
		/* The host waits until 2 us before the next launch. */
		trace_call(&trace, thread, "cudaStreamSynchronize", at + 8000, at + 23000);
		launch(at + 23500, at + 25000, at + 35000);
	}
	ask();
	expect_silence("launch_bound");
	done();
}

Test(advice, on_launches_is_not_given_for_replays)
{
	scene_begin(5000000);
	add_kernels(101, 15);
	trace.kernels.rows[50].flags = GT_PROFILED;
	ask();
	expect_silence("launch_bound");
	cr_expect(ne(ptr, strstr(not_asked("launch_bound"), "launches were profiled"), NULL));
	done();
}

Test(advice, is_silent_of_a_gpu_that_is_busy)
{
	scene_begin(1100000);
	add_kernels(101, 0);
	ask();
	cr_expect(eq(sz, row_count(&advice, "advice"), 0));
	cr_expect(has_remark(&advice, "No rule found anything"));
	done();
}

/* Covers ADVICE(left_alone). Covers ADVICE(late_start). */
Test(advice, on_a_gpu_left_alone_is_worth_the_long_gaps)
{
	scene_begin(100000000);
	add_kernels(11, 3990);
	ask();
	expect_rule("left_alone", "change", "in gaps over 1 ms");
	expect_gain("left_alone", "at most", 39900000);
	expect_silence("launch_bound");
	expect_silence("graph_gaps");
	expect_silence("late_start");
	done();
}

/* A graph of 101 kernels of 10 us each. */
static void launch_graph(gt_time gap_us)
{
	const gt_id call = trace_call(&trace, thread, "cudaGraphLaunch", 0, 500);

	trace.api_calls.rows[call].kind = GT_API_GRAPH_LAUNCH;
	add_kernels(101, gap_us);
	gt_array_each(struct gt_kernel, kernel, &trace.kernels)
		kernel->api_call = call;
}

/* Covers ADVICE(graph_gaps). */
Test(advice, on_gaps_within_a_graph_is_worth_these_gaps)
{
	scene_begin(10000000);
	launch_graph(20);
	ask();
	expect_rule("graph_gaps", "change", "100 gaps of 20.0 us on average between nodes");
	expect_gain("graph_gaps", "at most", 2000000);
	expect_silence("launch_bound");
	done();
}

/* As on an H200: nodes that need each other are 270 ns apart. */
Test(advice, is_silent_of_the_gap_that_any_node_has)
{
	scene_begin(10000000);
	launch_graph(2);
	ask();
	expect_silence("graph_gaps");
	done();
}

/* The stretch of a rule's finding, after the start of the scene. */
static void expect_when(const struct gt_advice *said, const char *rule, gt_time start_ns,
                        gt_time end_ns)
{
	bool found = false;

	gt_array_each(const struct gt_advice_row, row, &said->rows) {
		if (strcmp(row->rule->name, rule) != 0)
			continue;
		found = true;
		cr_expect(eq(i64, row->when.start_ns - trace.start_ns, start_ns), "%s", rule);
		cr_expect(eq(i64, row->when.end_ns - trace.start_ns, end_ns), "%s", rule);
	}
	cr_expect(found, "%s says nothing", rule);
}

/* Two kernels, a range around both, code that is loaded twice, and a call that fails. */
Test(advice, is_about_a_stretch)
{
	struct gt_view view;
	struct gt_facts facts;
	struct gt_advice said;

	scene_begin(100000000);
	trace_kernel(&trace, stream, shape, 40000000, 40010000);
	trace_kernel(&trace, stream, shape, 90000000, 90010000);
	(void)trace_range(&trace, thread, GT_NONE, "step", 39000000, 95000000);
	(void)trace_call(&trace, thread, "cuLibraryLoadData", 10000000, 20000000);
	(void)trace_call(&trace, thread, "cuLibraryLoadData", 25000000, 26000000);
	trace.api_calls.rows[0].kind = trace.api_calls.rows[1].kind = GT_API_MODULE;
	trace.api_calls.rows[trace_call(&trace, thread, "cudaFree", 50000000, 50000100)].result = 2;
	view = gt_view_of(&trace);
	gt_facts_init(&facts, &view);
	gt_advice_init(&said, &facts);
	expect_when(&said, "left_alone", 40000000, 90010000);
	expect_when(&said, "late_start", 0, 40000000);
	expect_when(&said, "failed_calls", 50000000, 50000100);
	expect_when(&said, "loading", 10000000, 26000000);
	expect_when(&said, "quiet_range", 39000000, 95000000);
	gt_advice_release(&said);
	gt_facts_release(&facts);
	done();
}

Test(advice, on_a_late_start_brings_nothing)
{
	scene_begin(1000);
	trace_kernel(&trace, stream, shape, 600, 1000);
	ask();
	expect_rule("late_start", "know", "the first 600 ns");
	expect_no_gain("late_start");
	expect_silence("left_alone");
	done();
}

/* Covers ADVICE(quiet_range). Covers ADVICE(range_gaps). */
Test(advice, on_a_range_before_the_first_work_is_none)
{
	scene_begin(1000000);
	(void)trace_range(&trace, thread, GT_NONE, "start", 0, 500000);
	trace_kernel(&trace, stream, shape, 600000, 1000000);
	ask();
	expect_rule("quiet_range", "know", "In range start no GPU had anything to do for 500 us");
	expect_no_gain("quiet_range");
	expect_silence("range_gaps");
	gt_array_release(&trace.ranges);
	(void)trace_range(&trace, thread, GT_NONE, "step", 600000, 1000000);
	ask_again();
	expect_silence("quiet_range");
	done();
}

Test(advice, on_a_range_in_use_is_worth_its_quiet_time)
{
	scene_begin(1000000);
	(void)trace_range(&trace, thread, GT_NONE, "data", 400000, 800000);
	trace_kernel(&trace, stream, shape, 0, 400000);
	trace_kernel(&trace, stream, shape, 800000, 1000000);
	ask();
	expect_rule("quiet_range", "change", "In range data");
	expect_gain("quiet_range", "at most", 400000);
	done();
}

/* Rule quiet_range, which would say it in other words, is about programs with kernels. */
Test(advice, on_gaps_of_a_range_is_given_without_kernels_too)
{
	gt_id step;

	scene_begin(1000000);
	step = trace_range(&trace, thread, GT_NONE, "step", 0, 900000);
	for (int i = 0; i < 2; i++)
		trace_copy(&trace, stream, GT_COPY_DEVICE_TO_DEVICE, 100, 800000 * i,
		           800000 * i + 100000)
			->api_call = trace_call_in(&trace, step, "cudaMemcpyAsync", i, i + 1);
	ask();
	expect_silence("quiet_range");
	expect_rule("range_gaps", "change", "of range step");
	expect_gain("range_gaps", "at most", 700000);
	done();
}

/* The range inside has four fifths of it, but less than a tenth of the recording. */
Test(advice, on_a_range_is_not_left_out_for_one_inside_that_is_not_told_of)
{
	gt_id outer;

	scene_begin(1000000);
	outer = trace_range(&trace, thread, GT_NONE, "step", 400000, 560000);
	(void)trace_range(&trace, thread, outer, "load", 410000, 505000);
	trace_kernel(&trace, stream, shape, 0, 400000);
	trace_kernel(&trace, stream, shape, 510000, 1000000);
	ask();
	expect_rule("quiet_range", "change", "In range step");
	expect_gain("quiet_range", "at most", 110000);
	done();
}

/* A wait for the stream, with its call. */
static void add_wait(gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaStreamSynchronize", start_ns, end_ns);

	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.kind = GT_SYNC_STREAM_SYNCHRONIZE,
		.thread = thread,
		.stream = stream,
		.event = GT_NONE,
		.record = GT_NONE,
		.api_call = call,
	};
}

static void add_host_edge(gt_id kernel, gt_id sync)
{
	*gt_array_push(&trace.edges) = (struct gt_edge){
		.from_table = GT_TABLE_kernels,
		.from_row = kernel,
		.to_table = GT_TABLE_syncs,
		.to_row = sync,
		.sync = sync,
		.kind = GT_EDGE_HOST,
	};
}

/* Steps of 100 us: a kernel of 50 us that the host waits for, then so long until the next launch. */
static void add_waiting_steps(gt_id steps, gt_time pause_ns)
{
	for (gt_id i = 0; i < steps; i++) {
		const gt_time at = (gt_time)i * (60000 + pause_ns);

		launch(at, at + 5000, at + 55000);
		add_wait(at + 1000, at + 56000);
		add_host_edge(i, i);
	}
}

/* Covers ADVICE(sync_empties). Covers ADVICE(waiting_host). */
Test(advice, on_waits_that_empty_the_gpu_is_worth_the_gaps_behind_them)
{
	scene_begin(2000000);
	add_waiting_steps(20, 40000);
	ask();
	/* The last one has nothing behind it. */
	expect_rule("sync_empties", "change", "ran dry in 19 waits of the host");
	expect_gain("sync_empties", "at most", 19 * 50000);
	expect_rule("waiting_host", "know", "55.0% of the recording");
	expect_no_gain("waiting_host");
	done();
}

Test(advice, on_waits_is_not_given_for_few_or_short_ones)
{
	scene_begin(2000000);
	add_waiting_steps(10, 40000);
	ask();
	expect_silence("sync_empties");
	expect_silence("waiting_host");
	done();
}

Test(advice, on_waits_is_not_given_while_other_work_goes_on)
{
	scene_begin(2000000);
	trace_kernel(&trace, trace_stream(&trace, process, device), shape, 0, 2000000);
	for (gt_id i = 0; i < 20; i++) {
		const gt_time at = (gt_time)i * 100000;

		launch(at, at + 5000, at + 55000);
		add_wait(at + 1000, at + 56000);
		add_host_edge(i + 1, i);
	}
	ask();
	expect_silence("sync_empties");
	done();
}

/* Covers ADVICE(loading). */
Test(advice, on_loading_is_worth_it_once)
{
	scene_begin(1000);
	trace_kernel(&trace, stream, shape, 0, 1000);
	trace_call(&trace, thread, "cuLibraryLoadData", 10, 110);
	trace.api_calls.rows[0].kind = GT_API_MODULE;
	ask();
	expect_rule("loading", "change", "Loading code took 100 ns");
	expect_gain("loading", "at most", 100);
	trace.api_calls.rows[0].end_ns -= 60;
	ask_again();
	expect_silence("loading");
	done();
}

/* Covers ADVICE(allocation_churn). */
Test(advice, on_allocations_is_given_where_they_go_on)
{
	scene_begin(1000000);
	for (gt_time at = 0; at < 1000000; at += 50000) {
		trace_kernel(&trace, stream, shape, at, at + 20000);
		trace_call(&trace, thread, "cudaMalloc", at + 30000, at + 34000);
		trace_call(&trace, thread, "cudaFree", at + 45000, at + 50000);
	}
	for (size_t i = 0; i < trace.kernels.count; i++) /* a free waits for half of its time */
		trace.kernels.rows[i].end_ns = trace.kernels.rows[i].start_ns + 47500;
	ask();
	expect_rule("allocation_churn", "change", "(40 calls, the longest cudaFree)");
	expect_gain("allocation_churn", "at most", 20 * (4000 + 2500));
	done();
}

Test(advice, on_allocations_is_not_given_for_warming_up)
{
	scene_begin(1000000);
	trace_call(&trace, thread, "cudaMalloc", 0, 400000);
	trace_kernel(&trace, stream, shape, 400000, 410000);
	for (gt_time at = 420000; at < 540000; at += 10000)
		trace_call(&trace, thread, "cudaMalloc", at, at + 9000);
	for (gt_time at = 540000; at < 1000000; at += 20000)
		trace_kernel(&trace, stream, shape, at, at + 20000);
	ask();
	expect_silence("allocation_churn");
	done();
}

/* Kernels of 80 us, a copy of 20 us and 1 MB before each. */
static void add_copying_steps(int steps, gt_count memory)
{
	for (gt_time i = 0; i < steps; i++) {
		trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 1000000, i * 100000,
		           i * 100000 + 20000)
			->src_kind = memory;
		trace_kernel(&trace, stream, shape, i * 100000 + 20000, i * 100000 + 100000);
	}
}

/* Covers ADVICE(copies_alone). Covers ADVICE(default_stream). */
Test(advice, on_copies_that_run_alone_is_worth_those_between_kernels)
{
	scene_begin(2000000);
	add_copying_steps(20, GT_MEMORY_PINNED);
	leave_default_stream();
	ask();
	/* Nothing could run beside the first. */
	expect_rule("copies_alone", "change", "GPU 0 copied for 400 us, 20.0%");
	expect_gain("copies_alone", "at most", 19 * 20000);
	expect_silence("default_stream");
	done();
}

Test(advice, on_the_default_stream_is_given_where_copies_could_overlap)
{
	scene_begin(2000000);
	add_copying_steps(20, GT_MEMORY_PINNED);
	ask();
	expect_rule("default_stream", "change",
	            "All that ran on GPU 0, 40 kernels, copies and fills");
	expect_gain("default_stream", "at most", 19 * 20000);
	expect_silence("copies_alone");
	done();
}

Test(advice, on_the_default_stream_is_not_given_for_its_own_sake)
{
	scene_begin(2000000);
	add_kernels(40, 0);
	ask();
	expect_silence("default_stream");
	done();
}

Test(advice, on_copies_is_not_given_where_nothing_could_run_beside_them)
{
	scene_begin(1000000);
	leave_default_stream();
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 1000000, 0, 200000);
	trace_kernel(&trace, stream, shape, 200000, 600000);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_HOST, 1000000, 600000, 900000);
	ask();
	expect_silence("copies_alone");
	done();
}

Test(advice, on_copies_is_not_given_for_those_inside_of_a_gpu)
{
	scene_begin(2000000);
	add_copying_steps(20, GT_MEMORY_DEVICE);
	leave_default_stream();
	for (size_t i = 0; i < trace.copies.count; i++)
		trace.copies.rows[i].kind = GT_COPY_DEVICE_TO_DEVICE;
	ask();
	expect_silence("copies_alone");
	expect_silence("default_stream");
	done();
}

Test(advice, on_copies_is_not_given_where_they_overlap)
{
	const int steps = 20;

	scene_begin(2000000);
	add_copying_steps(steps, GT_MEMORY_PINNED);
	leave_default_stream();
	for (int i = 0; i < steps; i++)
		trace.copies.rows[i].end_ns += 5000;
	ask();
	expect_silence("copies_alone");
	done();
}

/* Covers ADVICE(pageable_copies). */
Test(advice, on_pageable_copies_goes_by_the_rate_of_pinned_ones)
{
	scene_begin(1000000);
	trace_kernel(&trace, stream, shape, 0, 900000);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 1000000, 100000, 200000)->src_kind =
		GT_MEMORY_PAGEABLE;
	ask();
	/* 1 MB over PCIe 5 x16: 63.015 GB/s, by its line code. */
	expect_rule("pageable_copies", "change", "1 copy of pageable memory (1.00 MB)");
	expect_gain("pageable_copies", "at most", 84131);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 8000000, 300000, 460000);
	ask_again();
	expect_gain("pageable_copies", "about", 80000);
	done();
}

Test(advice, on_pageable_copies_is_not_given_for_small_or_pinned_ones)
{
	scene_begin(1000000);
	trace_kernel(&trace, stream, shape, 0, 900000);
	for (gt_time at = 0; at < 10; at++)
		trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 65536, at * 50000,
		           at * 50000 + 10000)
			->src_kind = GT_MEMORY_PAGEABLE;
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 4000000, 600000, 900000);
	ask();
	expect_silence("pageable_copies");
	done();
}

/* So many copies, one every 5 us, by calls of 4 us. */
static void add_copies_of(int count, gt_count flags, gt_size bytes)
{
	for (gt_time i = 0; i < count; i++) {
		const gt_id call =
			trace_call(&trace, thread, "cudaMemcpy", i * 5000, i * 5000 + 4000);
		struct gt_copy *copy = trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, bytes,
		                                  i * 5000 + 2000, i * 5000 + 3000);

		trace.api_calls.rows[call].kind = GT_API_COPY;
		copy->api_call = call;
		copy->flags = flags;
	}
}

static void add_small_copies(int count, gt_count flags)
{
	add_copies_of(count, flags, 4000);
}

/* Covers ADVICE(small_copies). */
Test(advice, on_small_copies_is_worth_their_calls)
{
	scene_begin(1000000);
	add_small_copies(200, GT_ASYNC);
	ask();
	expect_rule("small_copies", "change",
	            "200 copies of at most 64 KiB between the host and GPU 0 moved 800 KB in all");
	expect_gain("small_copies", "at most", 199 * 4000);
	done();
}

Test(advice, on_small_copies_leaves_out_what_their_calls_wait_for)
{
	scene_begin(1000000);
	add_small_copies(200, 0);
	trace_kernel(&trace, trace_stream(&trace, process, device), shape, 0, 1000000);
	ask();
	expect_silence("small_copies");
	done();
}

Test(advice, on_small_copies_takes_64_KiB_for_small_and_no_byte_more)
{
	scene_begin(1000000);
	add_copies_of(200, GT_ASYNC, 65536);
	ask();
	expect_rule("small_copies", "change",
	            "200 copies of at most 64 KiB between the host and GPU 0 moved 13.1 MB in all");
	done();
	scene_begin(1000000);
	add_copies_of(200, GT_ASYNC, 65537);
	ask();
	expect_silence("small_copies");
	done();
}

Test(advice, on_small_copies_is_not_given_for_few)
{
	scene_begin(1000000);
	add_small_copies(99, GT_ASYNC);
	ask();
	expect_silence("small_copies");
	done();
}

/* Covers ADVICE(throttling). */
Test(advice, on_clocks_goes_by_how_far_they_fell)
{
	const double reasons[] = {0, 4, 4, 0}; /* the power limit */
	const double clocks[] = {1980, 990, 990, 1980};

	scene_begin(1000);
	trace.devices.rows[device].sm_clock_khz = 1980000;
	trace_kernel(&trace, stream, shape, 0, 150);
	trace_counter(&trace, device, "throttle_reasons", GT_COUNTER_MASK, 0, 100, reasons, 4);
	trace_counter(&trace, device, "sm_clock_mhz", GT_COUNTER_GAUGE, 0, 100, clocks, 4);
	ask();
	/* The kernel ran for 50 ns of the time in which the clock was half of its peak. */
	expect_rule("throttling", "change", "held down for 200 ns (20.0% of the time)");
	expect_gain("throttling", "at most", 25);
	done();
}

/* The power limit for most of the time, then heat. */
Test(advice, on_clocks_names_what_held_them_longest)
{
	const double reasons[] = {4, 4, 4, 0x40, 0};

	scene_begin(1000);
	trace_kernel(&trace, stream, shape, 0, 1000);
	trace_counter(&trace, device, "throttle_reasons", GT_COUNTER_MASK, 0, 100, reasons, 5);
	ask();
	expect_rule("throttling", "change",
	            "held down for 300 ns (30.0% of the time): the power limit is reached");
	done();
}

Test(advice, on_clocks_is_not_given_for_being_idle_nor_without_samples)
{
	const double reasons[] = {1, 1, 1, 1};

	scene_begin(1000);
	trace_kernel(&trace, stream, shape, 0, 1000);
	ask();
	expect_silence("throttling");
	expect_text(not_asked("throttling"), "no telemetry was recorded (run --telemetry)");
	trace_counter(&trace, device, "throttle_reasons", GT_COUNTER_MASK, 0, 100, reasons, 4);
	ask_again();
	expect_silence("throttling");
	expect_text(not_asked("throttling"), "");
	done();
}

Test(advice, counts_rules_with_nothing_to_go_by_once_whatever_gpus_there_are)
{
	size_t not_asked = 0;
	char words[64];

	scene_begin(1000);
	trace_kernel(&trace, stream, shape, 0, 1000);
	trace_kernel(&trace, trace_stream(&trace, process, trace_device(&trace)), shape, 0, 1000);
	ask();
	for (size_t i = 0; i < row_count(&advice, "rules"); i++)
		not_asked += !cell(&advice, "rules", i, "not_asked")->unknown;
	cr_expect(gt(sz, not_asked, 0));
	snprintf(words, sizeof(words), "%zu of %zu rules had nothing", not_asked,
	         row_count(&advice, "rules"));
	cr_expect(has_remark(&advice, words), "%s", words);
	done();
}

Test(advice, is_sorted_by_what_is_wrong_and_then_by_gain)
{
	scene_begin(1000000);
	trace.launch_shapes.rows[shape].grid_x = 132000;
	for (gt_time at = 0; at < 1000000; at += 100000)
		trace_kernel(&trace, stream, shape, at, at + 100000);
	trace_call(&trace, thread, "cuLibraryLoadData", 0, 60000);
	trace_call(&trace, thread, "cuLibraryLoadData", 100000, 160000);
	trace.api_calls.rows[0].kind = GT_API_MODULE;
	trace.api_calls.rows[1].kind = GT_API_MODULE;
	for (gt_time at = 500000; at < 900000; at += 20000)
		trace_call(&trace, thread, "cudaMalloc", at, at + 10000);
	trace_call(&trace, thread, "cudaMalloc", 950000, 950001);
	trace.api_calls.rows[22].result = 2;
	ask();
	cr_assert(eq(sz, row_count(&advice, "advice"), 3));
	expect_words(&advice, "advice", 0, "rule", "failed_calls");
	expect_words(&advice, "advice", 1, "rule", "allocation_churn");
	expect_words(&advice, "advice", 2, "rule", "loading");
	expect_count(&advice, "evidence", 0, "number", 1);
	expect_words(&advice, "evidence", 0, "report", "errors");
	expect_count(&advice, "estimates", 0, "number", 2);
	done();
}

/* The report, table and column that an advice names have to be there. */
Test(advice, has_evidence_that_other_reports_have)
{
	scene_begin(2000000);
	add_waiting_steps(20, 40000);
	add_copying_steps(0, GT_MEMORY_PINNED);
	ask();
	cr_assert(row_count(&advice, "evidence") > 3);
	for (size_t i = 0; i < row_count(&advice, "evidence"); i++) {
		const char *column = cell(&advice, "evidence", i, "column")->text;
		const char *table = cell(&advice, "evidence", i, "table")->text;
		struct gt_result result;
		bool found = false;

		run_report(&result, cell(&advice, "evidence", i, "report")->text, &trace);

		const struct gt_section *section = gt_result_find(&result, table);

		cr_assert(section != NULL, "there is no table %s", table);
		for (size_t j = 0; j < section->heading_count; j++)
			found |= strcmp(section->headings[j].name, column) == 0;
		cr_expect(found, "%s has no column %s", table, column);
		gt_result_release(&result);
	}
	done();
}

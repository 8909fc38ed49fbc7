/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "analysis/check_advice.h"
#include "base/strings.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/view/filter.h"
#include "model/work/sync.h"

/*
 * The rules of report advice with several threads, processes and GPUs: times of units that go on
 * beside each other are not added up and called a share of the recording.
 */

enum { RANKS = 8 };

#define US ((gt_time)1000)
#define MS ((gt_time)1000000)

/* A process with a thread, and a stream on a GPU. */
static struct rank {
	gt_id process;
	gt_id thread;
	gt_id device;
	gt_id stream;
} ranks[RANKS];

enum layout {
	THREADS,   /* eight threads of one process on one GPU */
	PROCESSES, /* eight processes on one GPU */
	GPUS,      /* eight processes with a GPU each */
	PEERS,     /* one process with eight GPUs */
};

static void begin(enum layout layout, gt_time duration_ns)
{
	scene_begin(duration_ns);
	ranks[0] = (struct rank){process, thread, device, stream};
	for (gt_count i = 1; i < RANKS; i++) {
		struct rank *rank = &ranks[i];

		*rank = ranks[0];
		if (layout == PROCESSES || layout == GPUS)
			rank->process = trace_process(&trace, "app", 100 + i);
		if (layout != PEERS)
			rank->thread = trace_thread(&trace, rank->process, 7 + i);
		if (layout == GPUS || layout == PEERS)
			rank->device = trace_device(&trace);
		rank->stream = trace_stream(&trace, rank->process, rank->device);
	}
}

static void wait_on(const struct rank *rank, gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.kind = GT_SYNC_STREAM_SYNCHRONIZE,
		.thread = rank->thread,
		.stream = rank->stream,
		.event = GT_NONE,
		.record = GT_NONE,
		.api_call = GT_NONE,
	};
}

static void expect_overview(const char *topic, const char *expected)
{
	struct gt_result summary;
	const char *text = "";

	run_report(&summary, "summary", &trace);
	for (size_t i = 0; i < row_count(&summary, "overview"); i++)
		if (strcmp(cell(&summary, "overview", i, "topic")->text, topic) == 0)
			text = cell(&summary, "overview", i, "text")->text;
	expect_text(text, expected);
	gt_result_release(&summary);
}

Test(advice_units, on_waits_are_threads)
{
	begin(THREADS, 1 * MS);
	for (int i = 0; i < RANKS; i++)
		wait_on(&ranks[i], 100 * US, 200 * US);
	ask();
	expect_silence("waiting_host");
	expect_overview("waits", "100 us of thread  (7), longest of 8 threads; 800 us together (8 "
	                         "calls of all threads, all in stream synchronize)");
	for (int i = 0; i < RANKS; i++)
		wait_on(&ranks[i], 300 * US, (700 + i) * US);
	ask_again();
	expect_rule("waiting_host", "know",
	            "Thread  (14) waited for the GPU for 507 us, 50.7% of the recording, longest "
	            "of 8 threads (16 calls of all threads, all in stream synchronize)");
	done();
}

/* Whose waits they are is not known of half of them. */
Test(advice_units, on_waits_may_be_unknown)
{
	begin(THREADS, 1 * MS);
	for (int i = 0; i < RANKS; i++) {
		wait_on(&ranks[i], (i + 1) * US, (i + 601) * US);
		if (i % 2)
			trace.syncs.rows[i].thread = GT_NONE;
	}
	ask();
	expect_rule("waiting_host", "know",
	            "A thread that is not known waited for the GPU for 606 us, 60.6%");
	done();
}

/* Each rank frees and allocates for 27 percent of the time, beside the others. */
static void churn(void)
{
	for (int i = 0; i < RANKS; i++)
		trace_kernel(&trace, ranks[i].stream, shape, i, i + 1);
	for (gt_time at = 50 * US; at < 1000 * US; at += 50 * US)
		for (int i = 0; i < RANKS; i++) {
			trace_call(&trace, ranks[i].thread, "cudaMalloc", at, at + 10 * US);
			trace_call(&trace, ranks[i].thread, "cudaFree", at, at + 15 * US);
		}
	for (int i = 0; i < RANKS; i++)
		trace_kernel(&trace, ranks[i].stream, shape, 700 * US, 701 * US + i);
}

Test(advice_units, on_allocations_are_processes)
{
	begin(GPUS, 1 * MS);
	churn();
	ask();
	expect_rule("allocation_churn", "change",
	            "took 285 us of process app (100), 28.5% of the recording, most of 8 "
	            "processes, after its first kernel had begun (38 calls, the longest cudaFree)");
	expect_gain("allocation_churn", "at most", 285 * US);
	done();
}

Test(advice_units, on_allocations_of_one_process_are_united)
{
	begin(THREADS, 1 * MS);
	churn();
	ask();
	expect_rule("allocation_churn", "change",
	            "Allocating and freeing memory took 285 us, 28.5% of the recording, after the "
	            "first kernel had begun (304 calls, the longest cudaFree)");
	done();
}

/* The second process takes twice as long for each. */
Test(advice_units, on_allocations_name_the_process_that_loses_most)
{
	begin(PROCESSES, 1 * MS);
	for (gt_time at = 0; at <= 100 * US; at += 100 * US)
		for (gt_time i = 0; i < 3; i++)
			trace_kernel(&trace, ranks[i].stream, shape, at, at + 1 * US);
	for (gt_time at = 110 * US; at < 910 * US; at += 50 * US)
		for (gt_time i = 0; i < 3; i++)
			trace_call(&trace, ranks[i].thread, "cudaMalloc", at,
			           at + (i == 1 ? 20 : 10) * US);
	ask();
	expect_rule("allocation_churn", "change", "took 320 us of process app (101)");
	done();
}

/* A free waits for the GPUs of its own process: the neighbour's work does not excuse it. */
Test(advice_units, on_frees_look_at_the_gpus_of_their_process)
{
	begin(GPUS, 1 * MS);
	trace_kernel(&trace, ranks[0].stream, shape, 0, 1 * US);
	trace_kernel(&trace, ranks[1].stream, shape, 0, 1000 * US);
	for (gt_time at = 50 * US; at < 950 * US; at += 50 * US)
		trace_call(&trace, ranks[0].thread, "cudaFree", at, at + 20 * US);
	trace_kernel(&trace, ranks[0].stream, shape, 400 * US, 401 * US);
	ask();
	expect_rule("allocation_churn", "change", "took 360 us, 36.0% of the recording, after");
	expect_gain("allocation_churn", "at most", 359 * US);
	done();
}

/* A rank that starts late allocates what it needs first while others run their kernels. */
Test(advice_units, on_allocations_warm_up_one_process_after_the_other)
{
	begin(PROCESSES, 1 * MS);
	for (int i = 0; i < 20; i++)
		trace_kernel(&trace, ranks[0].stream, shape, i * US, i * US + 900);
	for (gt_time at = 100 * US; at < 400 * US; at += 10 * US)
		trace_call(&trace, ranks[1].thread, "cudaMalloc", at, at + 9 * US);
	for (int i = 0; i < 20; i++)
		trace_kernel(&trace, ranks[1].stream, shape, (500 + i) * US, (500 + i) * US + 900);
	ask();
	expect_silence("allocation_churn");
	done();
}

/* 33 blocks leave three quarters of the GPU empty. */
static void run_small_grids(gt_time each_ns, gt_time later_ns)
{
	shape = trace_shape(&trace, "work", 33, 256);
	for (int i = 0; i < RANKS; i++)
		trace_kernel(&trace, ranks[i].stream, shape, 10 * MS + i * later_ns,
		             10 * MS + i * later_ns + each_ns + i);
}

Test(advice_units, on_kernels_are_gpus_side_by_side)
{
	begin(GPUS, 100 * MS);
	run_small_grids(10 * MS, 0);
	ask();
	expect_rule("small_grids", "change", "132 multiprocessors of GPU 7");
	expect_gain("small_grids", "at most", 7500005);
	expect_real(&advice, "advice", (size_t)row_of("small_grids"), "gain_percent", 7.500005);
	done();
	begin(PEERS, 100 * MS);
	run_small_grids(10 * MS, 0);
	ask();
	expect_gain("small_grids", "at most", 7500005);
	done();
}

/* GPUs that wait for each other: each could have been done earlier. */
Test(advice_units, on_kernels_are_gpus_one_after_the_other)
{
	begin(GPUS, 100 * MS);
	run_small_grids(10 * MS, 11 * MS);
	ask();
	expect_gain("small_grids", "at most", 60000021);
	done();
}

/* The GPU on which a kernel takes most is named, and shares of kernel time are shares of its own. */
Test(advice_units, on_kernels_name_the_gpu_that_has_most)
{
	begin(GPUS, 100 * MS);
	shape = trace_shape(&trace, "other", 132000, 256);
	for (int i = 0; i < RANKS; i++)
		trace_kernel(&trace, ranks[i].stream, shape, 1 * MS, 2 * MS);
	shape = trace_shape(&trace, "work", 1056 + 106, 256);
	for (int i = 0; i < RANKS; i++)
		trace_kernel(&trace, ranks[i].stream, shape, 10 * MS, (i == 5 ? 30 : 11) * MS);
	ask();
	expect_rule("tail_effect", "change", "The blocks of work fill GPU 5 1.10 times");
	expect_words(&advice, "advice", (size_t)row_of("tail_effect"), "device", "5: NVIDIA H200");
	expect_gain("tail_effect", "at most", 8996212);
	done();
}

/* Two models of GPU: a grid that is small on one fills the other. */
Test(advice_units, on_kernels_tell_models_of_gpus_apart)
{
	begin(GPUS, 100 * MS);
	trace.devices.rows[ranks[0].device].sm_count = 33;
	run_small_grids(10 * MS, 11 * MS);
	trace.kernels.rows[0].end_ns += 1 * MS;
	ask();
	expect_rule("small_grids", "change", "132 multiprocessors of GPU 7");
	expect_gain("small_grids", "at most", 52500021);
	done();
}

/* Eight streams of one GPU: the same time is not gained eight times. */
Test(advice_units, on_kernels_are_not_added_up_on_one_gpu)
{
	begin(PROCESSES, 100 * MS);
	shape = trace_shape(&trace, "work", 1056 + 106, 256);
	for (int i = 0; i < RANKS; i++)
		trace_kernel(&trace, ranks[i].stream, shape, 10 * MS, 90 * MS);
	ask();
	expect_gain("tail_effect", "at most", 35984848);
	done();
}

/* Both GPUs wait for their last block at the same time. */
Test(advice_units, on_uneven_blocks_are_gpus_side_by_side)
{
	const gt_time ends[] = {3 * MS, 3 * MS, 3 * MS, 9 * MS};

	begin(GPUS, 10 * MS);
	shape = trace_shape(&trace, "work", 4, 256);
	for (gt_id i = 0; i < 2; i++)
		trace_kernel(&trace, ranks[i].stream, shape, 1 * MS, 9 * MS);
	for (gt_id i = 0; i < 2; i++)
		for (gt_count block = 0; block < 4; block++)
			trace_device_event(&trace, i, GT_DEVICE_RANGE, "row", block, 1 * MS,
			                   ends[block]);
	ask();
	expect_rule("uneven_blocks", "change", "are done 56.2% of its time before the last one is");
	expect_gain("uneven_blocks", "at most", 4500 * US);
	done();
}

/* Replays are longer than what they stand for, on each GPU. */
Test(advice_units, on_profiled_kernels_count_once_a_gpu)
{
	begin(GPUS, 100 * MS);
	shape = trace_shape(&trace, "work", 1056 + 106, 256);
	for (gt_id i = 0; i < RANKS; i++) {
		trace_kernel(&trace, ranks[i].stream, shape, 10 * MS, 90 * MS)->flags = GT_PROFILED;
		*gt_array_push(&trace.kernel_counters) = (struct gt_kernel_counter){
			.kernel = i,
			.name = gt_strings_add(trace.strings, "duration_ns"),
			.value = 10 * MS,
		};
	}
	ask();
	expect_gain("tail_effect", "at most", 4498106);
	done();
}

static void load(const struct rank *rank, gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, rank->thread, "cuLibraryLoadData", start_ns, end_ns);

	trace.api_calls.rows[call].kind = GT_API_MODULE;
}

Test(advice_units, on_loading_are_processes)
{
	begin(GPUS, 1 * MS);
	for (int i = 0; i < RANKS; i++)
		load(&ranks[i], i, 100 * US + 2 * i);
	ask();
	expect_rule("loading", "change",
	            "Loading code took 100 us of process app (107), 10.0% of the recording, most "
	            "of 8 processes (8 calls of all processes, all in cuLibraryLoadData)");
	expect_gain("loading", "at most", 100 * US + 14);
	/* Modules were recorded: their times are of processes, too. */
	for (int i = 0; i < RANKS; i++)
		*gt_array_push(&trace.modules) = (struct gt_module){
			.loaded_ns = TRACE_START_NS + 300 * US,
			.load_ns = 100000 + i,
			.process = ranks[i].process,
			.thread = ranks[i].thread,
			.api_call = GT_NONE,
		};
	ask_again();
	expect_rule("loading", "change",
	            "Loading code took 200 us of process app (107), 20.0% of the recording, most "
	            "of 8 processes: 100 us of it in calls that take it in");
	expect_gain("loading", "at most", 200 * US + 21);
	done();
}

static void copy_little(const struct rank *rank, gt_time at)
{
	const gt_id call = trace_call(&trace, rank->thread, "cudaMemcpy", at, at + 4000);
	struct gt_copy *copy = trace_copy(&trace, rank->stream, GT_COPY_HOST_TO_DEVICE, 4000,
	                                  at + 2000, at + 3000);

	trace.api_calls.rows[call].kind = GT_API_COPY;
	copy->api_call = call;
	copy->flags = GT_ASYNC;
}

Test(advice_units, on_small_copies_are_united)
{
	begin(THREADS, 1 * MS);
	for (gt_time at = 0; at < 100; at++)
		for (int i = 0; i < RANKS; i++)
			copy_little(&ranks[i], at * 10 * US);
	ask();
	expect_rule("small_copies", "change", "800 copies of at most 64 KiB");
	expect_gain("small_copies", "at most", 400 * US - 500);
	done();
}

Test(advice_units, on_pageable_copies_are_united)
{
	begin(THREADS, 1 * MS);
	for (int i = 0; i < RANKS; i++)
		trace_copy(&trace, ranks[i].stream, GT_COPY_HOST_TO_DEVICE, 1000000, 100 * US,
		           200 * US)
			->src_kind = GT_MEMORY_PAGEABLE;
	ask();
	/* 1 MB takes 15.87 us of the link. */
	expect_gain("pageable_copies", "at most", 84131);
	done();
}

/* Urgent kernels that are ready at once wait at the same time. */
Test(advice_units, on_priorities_are_united)
{
	begin(THREADS, 10 * MS);
	for (size_t i = 0; i < trace.streams.count; i++) {
		trace.streams.rows[i].flags = 2; /* non-blocking */
		trace.streams.rows[i].priority = i == 0 ? 0 : -5;
	}
	for (gt_time at = 0; at < 2 * MS; at += 1 * MS) {
		gt_id calls[RANKS];

		for (int i = 1; i < RANKS; i++)
			calls[i] = trace_call(&trace, ranks[i].thread, "cudaLaunchKernel", at,
			                      at + 5 * US);
		trace_kernel(&trace, ranks[0].stream, shape, at + 10 * US, at + 410 * US);
		for (int i = 1; i < RANKS; i++)
			trace_kernel(&trace, ranks[i].stream, shape, at + 405 * US, at + 500 * US)
				->api_call = calls[i];
	}
	ask();
	expect_rule("priorities_inverted", "change", "14 kernels of more urgent streams");
	expect_gain("priorities_inverted", "at most", 800 * US);
	done();
}

/* Processes share a GPU in turns, whatever the priorities of their streams. */
Test(advice_units, on_priorities_are_of_one_process)
{
	begin(PROCESSES, 10 * MS);
	for (size_t i = 0; i < trace.streams.count; i++) {
		trace.streams.rows[i].flags = 2; /* non-blocking */
		trace.streams.rows[i].priority = i == 0 ? 0 : -5;
	}
	for (gt_time at = 0; at < 10 * MS; at += 500 * US) {
		const gt_id call =
			trace_call(&trace, ranks[1].thread, "cudaLaunchKernel", at, at + 5 * US);

		trace_kernel(&trace, ranks[0].stream, shape, at + 10 * US, at + 210 * US);
		trace_kernel(&trace, ranks[1].stream, shape, at + 210 * US, at + 310 * US)
			->api_call = call;
	}
	ask();
	expect_silence("priorities_inverted");
	done();
}

/* Eight threads are in a range of one name at the same time. */
Test(advice_units, on_quiet_ranges_are_united)
{
	begin(THREADS, 1 * MS);
	for (int i = 0; i < RANKS; i++)
		(void)trace_range(&trace, ranks[i].thread, GT_NONE, "data", 400 * US, 800 * US);
	trace_kernel(&trace, stream, shape, 0, 400 * US);
	trace_kernel(&trace, stream, shape, 800 * US, 1000 * US);
	ask();
	expect_rule("quiet_range", "change",
	            "In range data no GPU had anything to do for 400 us, 100.0% of its time (8 "
	            "such ranges)");
	expect_gain("quiet_range", "at most", 400 * US);
	done();
}

/* Each GPU is idle for 600 of the 800 us of its range. */
Test(advice_units, on_gaps_in_ranges_are_united)
{
	begin(GPUS, 1 * MS);
	for (int i = 0; i < RANKS; i++)
		(void)trace_range(&trace, ranks[i].thread, GT_NONE, "step", 100 * US, 200 * US);
	for (gt_time at = 110 * US; at <= 120 * US; at += 10 * US)
		for (gt_id i = 0; i < RANKS; i++)
			(void)trace_call_in(&trace, i, "cudaLaunchKernel", at, at + 100);
	for (gt_id i = 0; i < RANKS; i++)
		trace_kernel(&trace, ranks[i].stream, shape, 150 * US, 250 * US)->api_call = i;
	for (gt_id i = 0; i < RANKS; i++)
		trace_kernel(&trace, ranks[i].stream, shape, 850 * US, 950 * US)->api_call =
			RANKS + i;
	ask();
	expect_rule("range_gaps", "change", "of range step");
	expect_gain("range_gaps", "at most", 600 * US);
	done();
}

/* One range, two GPUs: the second has its gap while the first still runs. */
Test(advice_units, on_gaps_in_ranges_look_at_each_gpu_from_its_begin)
{
	begin(GPUS, 1 * MS);
	(void)trace_range(&trace, ranks[0].thread, GT_NONE, "step", 0, 100 * US);
	for (gt_id i = 0; i < 4; i++)
		(void)trace_call_in(&trace, 0, "cudaLaunchKernel", i * US, i * US + 100);
	trace_kernel(&trace, ranks[0].stream, shape, 10 * US, 110 * US)->api_call = 0;
	trace_kernel(&trace, ranks[1].stream, shape, 10 * US, 410 * US)->api_call = 1;
	trace_kernel(&trace, ranks[0].stream, shape, 610 * US, 960 * US)->api_call = 2;
	trace_kernel(&trace, ranks[1].stream, shape, 910 * US, 950 * US)->api_call = 3;
	ask();
	expect_rule("range_gaps", "change", "of range step");
	expect_gain("range_gaps", "at most", 800 * US);
	done();
}

/* Work of another range keeps the GPU busy, also where it is not shown. */
Test(advice_units, on_gaps_in_ranges_go_by_all_work)
{
	struct gt_filter filter;
	struct gt_view view;

	begin(THREADS, 1 * MS);
	(void)trace_range(&trace, ranks[0].thread, GT_NONE, "step", 0, 200 * US);
	(void)trace_range(&trace, ranks[1].thread, GT_NONE, "other", 0, 200 * US);
	for (gt_id i = 0; i < 3; i++)
		(void)trace_call_in(&trace, i % 2, "cudaLaunchKernel", i * US, i * US + 100);
	trace_kernel(&trace, stream, shape, 10 * US, 110 * US)->api_call = 0;
	trace_kernel(&trace, ranks[1].stream, shape, 110 * US, 310 * US)->api_call = 1;
	trace_kernel(&trace, stream, shape, 810 * US, 900 * US)->api_call = 2;
	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_RANGE, "step", NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&advice, "advice", &view);
	expect_gain("range_gaps", "at most", 500 * US);
	gt_filter_release(&filter);
	done();
}

/* ---- clocks ---- */

/* 1 ms, of which a kernel runs all; the reason holds all the time. */
static void begin_throttled(const double *clocks, size_t count)
{
	const double reasons[] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};

	scene_begin(1 * MS);
	trace.devices.rows[device].sm_clock_khz = 1980000;
	trace_kernel(&trace, stream, shape, 0, 1 * MS);
	trace_counter(&trace, device, "throttle_reasons", GT_COUNTER_MASK, 0, 100 * US, reasons,
	              11);
	trace_counter(&trace, device, "sm_clock_mhz", GT_COUNTER_GAUGE, 0, 100 * US, clocks, count);
}

/* The reason is seen before the clock falls: half of it for 80 percent of the recording. */
Test(advice_units, on_clocks_goes_by_each_reading)
{
	const double clocks[] = {1980, 1980, 990, 990, 990, 990, 990, 990, 990, 990, 990};

	begin_throttled(clocks, 11);
	ask();
	expect_rule("throttling", "change", "held down for 1.00 ms (100.0% of the time)");
	expect_gain("throttling", "at most", 400 * US);
	done();
}

Test(advice_units, on_clocks_that_rise_is_not_worth_the_lowest)
{
	const double clocks[] = {990, 990, 1980, 1980, 1980, 1980, 1980, 1980, 1980, 1980, 1980};

	begin_throttled(clocks, 11);
	ask();
	expect_gain("throttling", "at most", 100 * US);
	done();
}

/* Missing readings are not taken for readings. */
Test(advice_units, on_clocks_says_of_how_much_they_are_not_known)
{
	const double clocks[] = {NAN, NAN, 990, 990, 990, 990, 990, 990, 990, 990, 990};
	const double none[] = {NAN, NAN};

	begin_throttled(clocks, 11);
	ask();
	expect_rule("throttling", "change", "The clock is not known for 200 us of that");
	expect_gain("throttling", "at most", 400 * US);
	done();
	begin_throttled(none, 2);
	ask();
	expect_rule("throttling", "change", "held down for 1.00 ms");
	expect_no_gain("throttling");
	done();
}

/* Two processes read the same GPU one after the other. */
Test(advice_units, on_clocks_goes_by_what_all_processes_read)
{
	const double full[] = {1980, 1980, 1980};
	const double half[] = {990, 990, 990, 990, 990, 990};
	const double none[] = {0, 0, 0};
	const double power[] = {4, 4, 4, 4, 4, 4};

	scene_begin(1 * MS);
	trace.devices.rows[device].sm_clock_khz = 1980000;
	trace_kernel(&trace, stream, shape, 0, 1 * MS);
	trace_counter(&trace, device, "throttle_reasons", GT_COUNTER_MASK, 0, 100 * US, none, 3);
	trace_counter(&trace, device, "sm_clock_mhz", GT_COUNTER_GAUGE, 0, 100 * US, full, 3);
	trace_counter(&trace, device, "throttle_reasons", GT_COUNTER_MASK, 400 * US, 100 * US,
	              power, 6);
	trace_counter(&trace, device, "sm_clock_mhz", GT_COUNTER_GAUGE, 400 * US, 100 * US, half,
	              6);
	ask();
	expect_rule("throttling", "change", "held down for 500 us (50.0% of the time)");
	expect_gain("throttling", "at most", 250 * US);
	done();
}

/* ---- all of it ---- */

static void do_much_of_everything(void)
{
	for (int i = 0; i < RANKS; i++)
		load(&ranks[i], 0, 100 * US);
	for (int i = 0; i < RANKS; i++)
		(void)trace_range(&trace, ranks[i].thread, GT_NONE, "step", 0, 20 * MS);
	for (gt_time at = 1 * MS; at < 19 * MS; at += 100 * US)
		for (int i = 0; i < RANKS; i++) {
			trace_call(&trace, ranks[i].thread, "cudaMalloc", at, at + 90 * US);
			copy_little(&ranks[i], at);
			trace_copy(&trace, ranks[i].stream, GT_COPY_HOST_TO_DEVICE, 100000,
			           at + 2000, at + 60 * US)
				->src_kind = GT_MEMORY_PAGEABLE;
			trace_kernel(&trace, ranks[i].stream, shape, at + 50 * US, at + 89 * US);
			wait_on(&ranks[i], at, at + 95 * US);
		}
}

/* The largest figure before a percent sign. */
static double most_percent(const char *text)
{
	double most = 0;

	for (const char *sign = strchr(text, '%'); sign; sign = strchr(sign + 1, '%')) {
		const char *digits = sign;

		while (digits > text && strchr("0123456789.,", digits[-1]))
			digits--;
		if (strtod(digits, NULL) > most)
			most = strtod(digits, NULL);
	}
	return most;
}

static void expect_no_more_than_all(const struct gt_result *result, const char *table,
                                    const char *column)
{
	for (size_t i = 0; i < row_count(result, table); i++) {
		const char *text = cell(result, table, i, column)->text;

		cr_expect(most_percent(text) <= 100, "%s", text);
	}
}

/* Whatever there is: no gain is longer than the window, and no figure is a share over all of it. */
Test(advice_units, never_gain_more_than_the_recording)
{
	const struct gt_filter filter = {
		.from = {.given = true, .ns = 5 * MS},
		.to = {.given = true, .ns = 10 * MS},
		.text = "--from 5ms --to 10ms",
	};

	for (int windowed = 0; windowed < 2; windowed++)
		for (enum layout layout = THREADS; layout <= PEERS; layout++) {
			struct gt_result summary;
			struct gt_view view;

			begin(layout, 20 * MS);
			shape = trace_shape(&trace, "work", 33, 256);
			do_much_of_everything();
			view = gt_view_of(&trace);
			if (windowed)
				cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
			run_report_on(&advice, "advice", &view);
			cr_expect(says("allocation_churn") && says("pageable_copies"));
			for (size_t i = 0; i < row_count(&advice, "advice"); i++) {
				const struct gt_cell *share =
					cell(&advice, "advice", i, "gain_percent");
				const char *text = cell(&advice, "advice", i, "advice")->text;

				cr_expect(share->unknown || share->real <= 100, "%s", text);
			}
			expect_no_more_than_all(&advice, "advice", "advice");
			expect_no_more_than_all(&advice, "evidence", "value");
			run_report_on(&summary, "summary", &view);
			expect_no_more_than_all(&summary, "overview", "text");
			expect_no_more_than_all(&summary, "stands_out", "finding");
			gt_result_release(&summary);
			done();
		}
}

/* ---- rules that are asked for each GPU ---- */

/* Number of rows that a rule has. */
static size_t rows_of(const char *rule)
{
	size_t rows = 0;

	for (size_t i = 0; i < row_count(&advice, "advice"); i++)
		rows += strcmp(cell(&advice, "advice", i, "rule")->text, rule) == 0;
	return rows;
}

/* Each GPU is idle for 39.9 of 100 ms: that is a row of each, and no sum. */
Test(advice_units, on_a_gpu_left_alone_is_each_of_its_own)
{
	begin(GPUS, 100 * MS);
	for (gt_time i = 0; i < 11; i++)
		for (int j = 0; j < RANKS; j++)
			trace_kernel(&trace, ranks[j].stream, shape, i * 4 * MS,
			             i * 4 * MS + 10 * US);
	ask();
	cr_expect(eq(sz, rows_of("left_alone"), RANKS));
	expect_gain("left_alone", "at most", 39900 * US);
	done();
}

/* Eight processes keep one GPU busy in turn: it is not idle, whatever one of them does. */
Test(advice_units, on_a_gpu_that_processes_share_goes_by_all_of_them)
{
	begin(PROCESSES, 100 * MS);
	for (gt_time i = 0; i < 100; i++)
		trace_kernel(&trace, ranks[i % RANKS].stream, shape, i * MS, (i + 1) * MS);
	ask();
	expect_silence("left_alone");
	expect_silence("launch_bound");
	expect_silence("late_start");
	done();
}

/* Each process has a default stream. */
Test(advice_units, on_default_streams_tells_how_many_there_are)
{
	begin(PROCESSES, 2 * MS);
	for (size_t i = 0; i < trace.contexts.count; i++)
		trace.contexts.rows[i].null_stream = trace.streams.rows[i].number;
	for (gt_time i = 0; i < 20; i++) {
		trace_copy(&trace, ranks[i % RANKS].stream, GT_COPY_HOST_TO_DEVICE, 1000000,
		           i * 100 * US, i * 100 * US + 20 * US);
		trace_kernel(&trace, ranks[i % RANKS].stream, shape, i * 100 * US + 20 * US,
		             (i + 1) * 100 * US);
	}
	ask();
	expect_rule("default_stream", "change", "was on the default streams of several contexts");
	for (size_t i = 0; i < row_count(&advice, "evidence"); i++)
		if (strcmp(cell(&advice, "evidence", i, "column")->text, "streams") == 0)
			expect_words(&advice, "evidence", i, "value", "8");
	done();
}

/* A gap behind eight waits that end with it is charged to one of them. */
Test(advice_units, on_waits_that_empty_the_gpu_charges_each_gap_once)
{
	begin(THREADS, 2 * MS);
	for (gt_time at = 0; at < 2 * MS; at += 100 * US) {
		const gt_id call = trace_call(&trace, thread, "cudaLaunchKernel", at, at + 500);

		trace_kernel(&trace, stream, shape, at + 5 * US, at + 55 * US)->api_call = call;
		for (int i = 0; i < RANKS; i++) {
			wait_on(&ranks[i], at + 1 * US, at + 56 * US);
			trace.syncs.rows[trace.syncs.count - 1].context =
				trace.streams.rows[stream].context;
		}
	}
	ask();
	expect_rule("sync_empties", "change", "ran dry in 19 waits of the host");
	expect_gain("sync_empties", "at most", 19 * 50 * US);
	done();
}

/* Rules about the host say what they lack where no API calls were recorded. */
Test(advice_units, say_what_they_lack_without_api_calls)
{
	begin(GPUS, 100 * MS);
	run_small_grids(10 * MS, 0);
	ask();
	cr_expect(ne(ptr, strstr(not_asked("allocation_churn"), "no API calls"), NULL));
	cr_expect(ne(ptr, strstr(not_asked("small_copies"), "no API calls"), NULL));
	cr_expect(ne(ptr, strstr(not_asked("loading"), "no API calls"), NULL));
	cr_expect(ne(ptr, strstr(not_asked("waiting_host"), "no calls that wait"), NULL));
	done();
}

/* One process is chosen among eight: shares are of the window, and of it alone. */
Test(advice_units, of_a_chosen_process_are_its_own)
{
	struct gt_filter filter;
	struct gt_view view;

	begin(GPUS, 1 * MS);
	churn();
	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_PROCESS, "103", NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&advice, "advice", &view);
	expect_rule("allocation_churn", "change",
	            "took 285 us, 28.5% of the recording, after the first kernel had begun (38 "
	            "calls, the longest cudaFree)");
	gt_filter_release(&filter);
	done();
}

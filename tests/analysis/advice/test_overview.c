/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/check_report.h"
#include "base/strings.h"
#include "model/gpu/throttle.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/work/sync.h"

/* The words of report summary: the tables overview and stands_out. */

static struct gt_trace trace;
static struct gt_result result;
static gt_id process;
static gt_id thread;
static gt_id device;
static gt_id stream;
static gt_id shape;

static void begin(gt_time duration_ns)
{
	trace_init(&trace, duration_ns);
	process = trace_process(&trace, "app", 100);
	thread = trace_thread(&trace, process, 100);
	device = trace_device(&trace);
	stream = trace_stream(&trace, process, device);
	shape = trace_shape(&trace, "gemm", 132000, 32);
}

static void end(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

static void set_environment(const char *lines)
{
	trace.processes.rows[process].environment = gt_strings_add(trace.strings, lines);
}

/* The line of a topic; "" when there is none. */
static const char *said(const char *topic)
{
	for (size_t i = 0; i < row_count(&result, "overview"); i++)
		if (strcmp(cell(&result, "overview", i, "topic")->text, topic) == 0)
			return cell(&result, "overview", i, "text")->text;
	return "";
}

/* Whether a finding begins so. */
static bool stands_out(const char *words)
{
	for (size_t i = 0; i < row_count(&result, "stands_out"); i++)
		if (strncmp(cell(&result, "stands_out", i, "finding")->text, words,
		            strlen(words)) == 0)
			return true;
	return false;
}

static void add_wait(gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.kind = GT_SYNC_STREAM_SYNCHRONIZE,
		.thread = thread,
		.stream = stream,
		.event = GT_NONE,
		.record = GT_NONE,
	};
}

Test(overview, says_in_lines_what_the_tables_have_in_figures)
{
	begin(1000000);
	trace.processes.rows[process].command = gt_strings_add(trace.strings, "./app --fast");
	trace_kernel(&trace, stream, shape, 100000, 150000);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 2000, 140000, 160000);
	trace_call(&trace, thread, "cudaLaunchKernel", 400000, 401000);
	trace_kernel(&trace, stream, shape, 410000, 500000)->api_call = 0;
	add_wait(450000, 505000);
	trace_ledger(&trace, process, "arming_ns", 3000000);
	trace_ledger(&trace, process, "writer_cpu_ns", 2000);
	trace_ledger(&trace, process, "callback_samples", 10);
	trace_ledger(&trace, process, "callback_ns", 2840);
	set_environment("NCCL_ALGO=Ring\nNCCL_VERSION=2.28\nOMP_NUM_THREADS=4\n"
	                "TORCHINDUCTOR_CACHE_DIR=/tmp/a\n");
	run_report(&result, "summary", &trace);

	expect_text(said("program"), "./app --fast");
	expect_text(said("recorded"), "1.00 ms: 2 kernels, 1 copy of 2.00 KB, 1 CUDA call");
	expect_text(said("GPU 0"),
	            "NVIDIA H200, busy 140 us, 14.0% of the time; in use for 400 us, "
	            "busy 35.0% of that; copies took 20.0 us, 10.0 us of it beside "
	            "kernels");
	expect_text(said("waits"), "55.0 us of the host (1 call, all in stream synchronize)");
	expect_text(said("top gap"),
	            "250 us on GPU 0 at 160 us; meanwhile no CUDA call for 249 us of it");
	expect_text(said("variables"), "NCCL_ALGO=Ring, OMP_NUM_THREADS=4");
	expect_text(said("cost"),
	            "3.00 ms to start, 2.00 us in threads of its own, 284 ns a CUDA call");
	cr_expect(eq(sz, row_count(&result, "stands_out"), 0));
	end();
}

Test(overview, leaves_out_what_there_is_nothing_to_say_of)
{
	begin(1000);
	run_report(&result, "summary", &trace);
	expect_text(said("recorded"), "1.00 us");
	expect_text(said("GPU 0"), "NVIDIA H200, nothing ran on it");
	expect_text(said("waits"), "");
	expect_text(said("top gap"), "");
	expect_text(said("variables"), "");
	expect_text(said("cost"), "");
	expect_text(said("note"), "");
	end();
}

Test(overview, bounds_what_others_wrote)
{
	char long_text[2000];

	begin(1000);
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	trace.processes.rows[process].command = gt_strings_add(trace.strings, long_text);
	memcpy(long_text, "NCCL_A=1\n", 9);
	set_environment(long_text);
	run_report(&result, "summary", &trace);
	cr_expect(eq(sz, strlen(said("program")), 203));
	expect_text(said("variables"), "NCCL_A=1, and 1 more: see gputrace info");
	end();
}

Test(overview, says_each_note_once_and_not_all)
{
	size_t notes = 0;

	begin(1000);
	for (int i = 0; i < 20; i++) {
		char note[32];

		snprintf(note, sizeof(note), "note %d", i / 2);
		*gt_array_push(&trace.notes) =
			(struct gt_note){.process = process,
		                         .topic = gt_strings_add(trace.strings, note),
		                         .text = gt_strings_add(trace.strings, note)};
	}
	run_report(&result, "summary", &trace);
	for (size_t i = 0; i < row_count(&result, "overview"); i++)
		notes += strcmp(cell(&result, "overview", i, "topic")->text, "note") == 0;
	cr_expect(eq(sz, notes, 6));
	expect_text(said("note"), "note 0");
	end();
}

static void add_note(const char *topic, const char *text)
{
	*gt_array_push(&trace.notes) =
		(struct gt_note){.process = process,
	                         .topic = gt_strings_add(trace.strings, topic),
	                         .text = gt_strings_add(trace.strings, text)};
}

Test(overview, says_what_one_source_noted_in_one_line)
{
	begin(1000);
	add_note("python", "Blocks are recorded");
	add_note("python", "They were asked for twice");
	add_note("telemetry", "There is none");
	run_report(&result, "summary", &trace);
	expect_text(said("note"), "Blocks are recorded. They were asked for twice");
	cr_expect(eq(sz, row_count(&result, "overview"), 5));
	expect_words(&result, "overview", 4, "text", "There is none");
	end();
}

/* Notes of two processes are two lines, also on one topic. */
Test(overview, says_what_each_process_noted_in_a_line_of_its_own)
{
	begin(1000);
	add_note("python", "Blocks are recorded");
	process = trace_process(&trace, "other", 101);
	add_note("python", "There is no torch");
	add_note("python", "There is no jax");
	run_report(&result, "summary", &trace);
	expect_text(said("note"), "Blocks are recorded");
	expect_words(&result, "overview", row_count(&result, "overview") - 1, "text",
	             "There is no torch. There is no jax");
	end();
}

/* So many kernels of 10 us, each after a gap of so many microseconds. */
static void add_kernels(int count, gt_time gap_us)
{
	for (gt_time i = 0; i < count; i++)
		trace_kernel(&trace, stream, shape, i * (10 + gap_us) * 1000,
		             i * (10 + gap_us) * 1000 + 10000);
}

Test(findings, tell_of_a_gpu_that_waits_for_launches)
{
	begin(5000000);
	add_kernels(101, 15);
	run_report(&result, "summary", &trace);
	expect_words(&result, "stands_out", 0, "report", "gaps");
	expect_words(&result, "stands_out", 0, "finding",
	             "GPU 0 waited for launches 59.8% of the time it was in use: 100 gaps, 100 "
	             "under 20 us. Larger or fused kernels, or CUDA graphs, help. Worth at most "
	             "1.50 ms (30.0%).");
	end();
}

Test(findings, tell_of_a_gpu_that_is_left_alone)
{
	begin(100000000);
	add_kernels(11, 3990);
	run_report(&result, "summary", &trace);
	expect_words(&result, "stands_out", 0, "report", "gaps");
	expect_words(
		&result, "stands_out", 0, "finding",
		"Nothing ran on GPU 0 for 99.7% of the time it was in use, 100.0% of that in gaps over "
		"1 ms. Worth at most 39.9 ms (39.9%).");
	end();
}

/* A launch of a graph by a call of so long, that ran two kernels with a gap of so long. */
static void launch_graph(gt_time call_ns, gt_time return_ns, gt_time inner_gap_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaGraphLaunch", call_ns, return_ns);

	trace.api_calls.rows[call].kind = GT_API_GRAPH_LAUNCH;
	*gt_array_push(&trace.graph_launches) = (struct gt_graph_launch){
		.start_ns = trace.api_calls.rows[call].start_ns,
		.end_ns = trace.api_calls.rows[call].end_ns,
		.thread = thread,
		.context = GT_NONE,
		.stream = stream,
		.api_call = call,
		.exec = GT_NONE,
	};
	trace_kernel(&trace, stream, shape, return_ns, return_ns + 1000)->api_call = call;
	trace_kernel(&trace, stream, shape, return_ns + 1000 + inner_gap_ns,
	             return_ns + 2000 + inner_gap_ns)
		->api_call = call;
}

Test(findings, say_what_the_host_did_while_a_gpu_waited)
{
	begin(100000000);
	for (gt_time i = 0; i < 101; i++)
		launch_graph(i * 100000 + 10000, i * 100000 + 90000, 10);
	run_report(&result, "summary", &trace);
	/* 100 gaps of 97,990 ns: 80,000 in the call, the rest before it. */
	cr_expect(stands_out(
		"GPU 0 waited for launches 98.0% of the time it was in use: 100 gaps of 98.0 us on "
		"average. Meanwhile: cudaGraphLaunch (81.6%). Larger or fused "
		"kernels help."));
	end();
}

Test(findings, tell_gaps_within_graphs_from_waits_for_launches)
{
	begin(1000000);
	for (gt_time i = 0; i < 101; i++)
		launch_graph(i * 6000, i * 6000 + 100, 3000);
	run_report(&result, "summary", &trace);
	cr_expect(not(stands_out("GPU 0 waited for launches")));
	cr_expect(stands_out("Within launches of graphs nothing ran on GPU 0 for 50.1% of the time "
	                     "it was in use: 101 gaps of 3.00 us on average between nodes."));
	end();
}

Test(findings, of_many_gpus_are_told_of_two)
{
	begin(1000);
	trace_kernel(&trace, stream, shape, 600, 700);
	for (int i = 0; i < 4; i++)
		trace_kernel(&trace, trace_stream(&trace, process, trace_device(&trace)), shape,
		             600, 700);
	run_report(&result, "summary", &trace);
	cr_assert(eq(sz, row_count(&result, "stands_out"), 3));
	cr_expect(stands_out("GPU 0 had"));
	cr_expect(stands_out("GPU 1 had"));
	expect_words(&result, "stands_out", 2, "finding", "The same is true of 3 more.");
	end();
}

Test(findings, do_not_blame_launches_for_few_or_long_gaps)
{
	begin(1000000000);
	add_kernels(100, 15);
	run_report(&result, "summary", &trace);
	cr_expect(not(stands_out("GPU 0 waited")));
	gt_result_release(&result);
	add_kernels(0, 0);
	trace_kernel(&trace, stream, shape, 2500000, 2510000);
	trace_kernel(&trace, stream, shape, 900000000, 900010000);
	run_report(&result, "summary", &trace);
	cr_expect(not(stands_out("GPU 0 waited")));
	end();
}

Test(findings, tell_of_failed_calls_and_of_a_slow_environment)
{
	begin(1000);
	trace_kernel(&trace, stream, shape, 0, 900);
	trace_call(&trace, thread, "cudaMalloc", 10, 20);
	trace_call(&trace, thread, "cudaMemcpy", 30, 40);
	trace.api_calls.rows[0].result = 2;
	trace.api_calls.rows[1].result = 1;
	set_environment("CUDA_LAUNCH_BLOCKING=1\n");
	run_report(&result, "summary", &trace);
	cr_assert(eq(sz, row_count(&result, "stands_out"), 2));
	expect_words(&result, "stands_out", 0, "finding",
	             "2 CUDA calls failed, the first was cudaMalloc: cudaErrorMemoryAllocation.");
	expect_words(
		&result, "stands_out", 1, "finding",
		"CUDA_LAUNCH_BLOCKING=1 is set: every launch waits until its kernel has ended.");
	gt_result_release(&result);
	set_environment("CUDA_LAUNCH_BLOCKING=0\n");
	run_report(&result, "summary", &trace);
	cr_expect(eq(sz, row_count(&result, "stands_out"), 1));
	end();
}

Test(findings, tell_of_start_up_and_of_loading_code)
{
	begin(1000);
	trace_kernel(&trace, stream, shape, 300, 1000);
	trace_call(&trace, thread, "cuLibraryLoadData", 10, 59);
	trace.api_calls.rows[0].kind = GT_API_MODULE;
	run_report(&result, "summary", &trace);
	cr_assert(eq(sz, row_count(&result, "stands_out"), 1));
	cr_expect(stands_out("GPU 0 had nothing to do for the first 300 ns, 30.0% of the "));
	gt_result_release(&result);
	trace.api_calls.rows[0].end_ns++;
	run_report(&result, "summary", &trace);
	cr_expect(stands_out("Loading code took 50 ns, 5.0% of the recording (1 call, all in "
	                     "cuLibraryLoadData)"));
	end();
}

Test(findings, tell_where_warming_up_ended)
{
	begin(100000000);
	trace_kernel(&trace, stream, shape, 100, 100000000);
	trace_call(&trace, thread, "cuLibraryLoadData", 10, 9000010);
	trace_call(&trace, thread, "cuLibraryLoadData", 80000000, 80000001);
	trace_call(&trace, thread, "cudaGetDevice", 99000000, 99000001);
	trace.api_calls.rows[0].kind = GT_API_MODULE;
	trace.api_calls.rows[1].kind = GT_API_MODULE;
	run_report(&result, "summary", &trace);
	cr_expect(stands_out("Loading code took 9.00 ms, 9.0% of the recording (2 calls, all in "
	                     "cuLibraryLoadData): first launches pay for it. Warm up, "
	                     "or leave it out: --from 81ms."));
	gt_result_release(&result);
	/* Hardly anything comes after it. */
	trace.api_calls.rows[1].start_ns = 95000000;
	trace.api_calls.rows[1].end_ns = 95000001;
	run_report(&result, "summary", &trace);
	cr_expect(stands_out("Loading code took 9.00 ms, 9.0% of the recording (2 calls, all in "
	                     "cuLibraryLoadData): first launches pay for it. Warm up, "
	                     "or look at --from."));
	end();
}

static void load_module(gt_id call, gt_time loaded_ns, double load_ns)
{
	*gt_array_push(&trace.modules) = (struct gt_module){
		.loaded_ns = TRACE_START_NS + loaded_ns,
		.load_ns = load_ns,
		.process = process,
		.thread = thread,
		.api_call = call,
	};
}

/* With lazy loading launches take most of it. */
Test(findings, tell_of_modules_that_launches_loaded)
{
	begin(1000);
	trace_kernel(&trace, stream, shape, 200, 1000);
	trace_call(&trace, thread, "cuLibraryLoadData", 10, 30);
	trace.api_calls.rows[0].kind = GT_API_MODULE;
	load_module(trace_call(&trace, thread, "cuLaunchKernel", 40, 100), 60, 20);
	load_module(GT_NONE, 90, 9);
	run_report(&result, "summary", &trace);
	cr_expect(eq(sz, row_count(&result, "stands_out"), 0));
	gt_result_release(&result);
	trace.modules.rows[1].load_ns = 10;
	run_report(&result, "summary", &trace);
	cr_assert(eq(sz, row_count(&result, "stands_out"), 1));
	expect_words(&result, "stands_out", 0, "report", "modules");
	cr_expect(stands_out("Loading code took 50 ns, 5.0% of the recording: 20 ns in calls that "
	                     "take it in (1 call, all in cuLibraryLoadData)"));
	end();
}

Test(findings, tell_of_many_allocations_but_not_of_the_first)
{
	begin(1000);
	trace_kernel(&trace, stream, shape, 0, 1000);
	trace_call(&trace, thread, "cudaMalloc", 0, 500);
	run_report(&result, "summary", &trace);
	cr_expect(eq(sz, row_count(&result, "stands_out"), 0));
	gt_result_release(&result);
	for (gt_time i = 0; i < 9; i++)
		trace_call(&trace, thread, "cudaFree", 510 + 10 * i, 511 + 10 * i);
	run_report(&result, "summary", &trace);
	cr_expect(
		stands_out("Allocating and freeing memory took 509 ns, 50.9% of the recording, "
	                   "after the first kernel had begun (10 calls, the longest cudaMalloc)"));
	end();
}

Test(findings, tell_of_a_host_that_waits)
{
	begin(1000);
	trace_kernel(&trace, stream, shape, 0, 1000);
	add_wait(100, 599);
	run_report(&result, "summary", &trace);
	cr_expect(not(stands_out("The host waited")));
	gt_result_release(&result);
	add_wait(700, 701);
	run_report(&result, "summary", &trace);
	cr_expect(stands_out("The host waited for the GPU for 500 ns, 50.0% of the recording (2 "
	                     "calls, all in stream synchronize)"));
	end();
}

Test(findings, tell_of_copies_that_run_alone_and_of_pageable_memory)
{
	begin(1000000);
	trace_kernel(&trace, stream, shape, 0, 800000);
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 2000000, 800000, 900000)->src_kind =
		GT_MEMORY_PAGEABLE;
	trace_kernel(&trace, stream, shape, 900000, 950000);
	run_report(&result, "summary", &trace);
	cr_expect(stands_out("GPU 0 copied for 100 us, 10.5% of the time it was in use, and only "
	                     "0 ns of that while a kernel ran"));
	cr_expect(stands_out("1 copy of pageable memory (2.00 MB) took 100 us, at 20.0 GB/s"));
	gt_result_release(&result);
	trace.copies.rows[0].src_kind = GT_MEMORY_PINNED;
	trace.kernels.rows[0].end_ns += 50000;
	run_report(&result, "summary", &trace);
	cr_expect(eq(sz, row_count(&result, "stands_out"), 0));
	end();
}

Test(findings, tell_of_clocks_that_were_held_down)
{
	const double reasons[] = {0, GT_THROTTLE_SW_POWER_CAP, GT_THROTTLE_GPU_IDLE, 0};

	begin(1000);
	trace_kernel(&trace, stream, shape, 0, 1000);
	trace_counter(&trace, device, "throttle_reasons", GT_COUNTER_MASK, 0, 100, reasons, 4);
	run_report(&result, "summary", &trace);
	cr_assert(eq(sz, row_count(&result, "stands_out"), 1));
	expect_words(&result, "stands_out", 0, "report", "telemetry");
	cr_expect(stands_out("The clocks of GPU 0 were held down for 100 ns (10.0% of the time)"));
	end();
}

/* Two steps of 400 us, each with 300 us in which data is read, and a kernel right behind that. */
static void add_steps(void)
{
	begin(1000000);
	for (gt_time at = 0; at < 800000; at += 400000) {
		const gt_id step =
			trace_range(&trace, thread, GT_NONE, "step", at + 1000, at + 399000);
		gt_id launch;

		(void)trace_range(&trace, thread, step, "data", at + 2000, at + 302000);
		launch = trace_call_in(&trace, step, "cudaLaunchKernel", at + 303000, at + 304000);
		trace_kernel(&trace, stream, shape, at + 305000, at + 398000)->api_call = launch;
	}
}

Test(findings, tell_of_a_range_in_which_no_gpu_has_anything_to_do)
{
	add_steps();
	run_report(&result, "summary", &trace);
	cr_expect(stands_out("In range step/data no GPU had anything to do for 600 us, 100.0% of "
	                     "its time (2 such ranges)"));
	cr_expect(not(stands_out("In range step no GPU")), "what lies in it says more");
	end();
}

Test(findings, leave_alone_ranges_that_are_short_or_busy)
{
	add_steps();
	for (size_t i = 0; i < trace.ranges.count; i++)
		if (i % 2)
			trace.ranges.rows[i].end_ns = trace.ranges.rows[i].start_ns + 20000;
	trace.ranges.rows[0].start_ns = TRACE_START_NS + 290000;
	trace.ranges.rows[2].start_ns = TRACE_START_NS + 690000;
	run_report(&result, "summary", &trace);
	cr_expect(not(stands_out("In range")));
	end();
}

Test(findings, tell_of_a_range_whose_work_has_gaps)
{
	gt_id step;

	begin(1000000);
	step = trace_range(&trace, thread, GT_NONE, "step", 0, 10000);
	for (gt_time at = 0; at < 500000; at += 50000)
		trace_kernel(&trace, stream, shape, at + 20000, at + 30000)->api_call =
			trace_call_in(&trace, step, "cudaLaunchKernel", 1000 + at / 1000,
		                      1001 + at / 1000);
	run_report(&result, "summary", &trace);
	cr_expect(stands_out("Between the first and the last work of range step the GPU was idle "
	                     "for 360 us, 78.3% of that time"));
	end();
}

Test(overview, has_the_ranges_that_took_most_of_the_gpu)
{
	add_steps();
	run_report(&result, "summary", &trace);
	cr_assert(eq(sz, row_count(&result, "top_ranges"), 2));
	expect_words(&result, "top_ranges", 0, "range", "step");
	expect_count(&result, "top_ranges", 0, "ranges", 2);
	expect_count(&result, "top_ranges", 0, "wall_ns", 796000);
	expect_count(&result, "top_ranges", 0, "gpu_ns", 186000);
	expect_real(&result, "top_ranges", 0, "busy_percent", 100.0 * 186000 / 796000);
	expect_words(&result, "top_ranges", 1, "range", "step/data");
	cr_expect(not(gt_result_find(&result, "top_ranges")->detail));
	end();
}

Test(overview, has_no_ranges_where_there_are_none)
{
	begin(1000);
	trace_kernel(&trace, stream, shape, 600, 700);
	run_report(&result, "summary", &trace);
	cr_expect(gt_result_find(&result, "top_ranges")->detail);
	end();
}

static void allocate(gt_size bytes, gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaMalloc", start_ns, start_ns + 5);

	trace_allocation(&trace, call, device, GT_MEMORY_CALL_ALLOCATE, bytes, end_ns);
}

Test(overview, says_how_much_memory_was_allocated)
{
	begin(1000000);
	allocate(15075482009, 100, 5000);
	allocate(2097152, 200, 0);
	run_report(&result, "summary", &trace);
	expect_text(said("memory"),
	            "at most 14.0 GiB (10.0%) on GPU 0, 2 MiB at the end, never freed");
	cr_expect(not(stands_out("1 allocation")));
	end();
}

Test(overview, says_nothing_of_memory_that_is_little)
{
	begin(1000000);
	allocate(1000000000, 100, 5000);
	trace_kernel(&trace, stream, shape, 1000, 2000);
	run_report(&result, "summary", &trace);
	expect_text(said("memory"), "");
	end();
}

Test(overview, says_how_little_memory_was_allocated_where_nothing_ran)
{
	begin(1000000);
	allocate(134217728, 100, 5000);
	run_report(&result, "summary", &trace);
	expect_text(said("GPU 0"), "NVIDIA H200, nothing ran on it");
	expect_text(said("memory"), "at most 128 MiB (0.1%) on GPU 0, 0 B at the end");
	end();
}

Test(overview, finds_allocations_that_failed)
{
	gt_id call;

	begin(1000000);
	allocate(3145728, 100, 0);
	call = trace_call(&trace, thread, "cudaMalloc", 200, 205);
	trace_memory_call(&trace, call, GT_MEMORY_CALL_ALLOCATE, 214748364800, 2)->place = device;
	run_report(&result, "summary", &trace);
	cr_expect(stands_out("1 allocation on GPU 0 failed: the first asked for 200 GiB when 3 "
	                     "MiB of 140 GiB were allocated."));
	end();
}

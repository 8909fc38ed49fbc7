/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "base/array.h"
#include "base/strings.h"
#include "model/view/filter.h"
#include "model/work/sync.h"

enum { INVALID = 1, NO_MEMORY = 2, ECC = 214, NOT_READY = 600, ILLEGAL_ADDRESS = 700 };

/* A call of a thread that returned that result; its row. */
static gt_id fail(gt_id by, const char *function, gt_time start_ns, gt_time end_ns, gt_code code)
{
	const gt_id call = trace_call(&trace, by, function, start_ns, end_ns);

	trace.api_calls.rows[call].result = code;
	return call;
}

/* A launch of a kernel that has no end in the recording. */
static void launch_open(gt_id by, gt_id into, gt_time call_ns)
{
	const gt_id call = trace_call(&trace, by, "cuLaunchKernel", call_ns, call_ns + 5);

	trace_unfinished_kernel(&trace, into, shape)->api_call = call;
}

/* A kernel with an end, launched by a call 50 ns before it began. Behind all that have none. */
static void launch_ended(gt_id into, gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cuLaunchKernel", start_ns - 50, start_ns);

	trace_kernel(&trace, into, shape, start_ns, end_ns)->api_call = call;
}

/* A wait for all of a stream's context that returned success. */
static void wait_well(gt_id of, gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.thread = thread,
		.context = trace.streams.rows[of].context,
		.stream = GT_NONE,
		.event = GT_NONE,
		.record = GT_NONE,
		.api_call = GT_NONE,
		.kind = GT_SYNC_CONTEXT_SYNCHRONIZE,
	};
}

static void note(gt_id of, const char *text)
{
	*gt_array_push(&trace.notes) = (struct gt_note){
		.process = of,
		.topic = gt_strings_add(trace.strings, GT_KERNEL_LOG_TOPIC),
		.text = gt_strings_add(trace.strings, text),
	};
}

static void read_log(const char *state)
{
	trace.kernel_log = gt_strings_add(trace.strings, state);
}

static void run(void)
{
	run_report(&result, "errors", &trace);
}

Test(errors, say_in_one_sentence_that_there_are_none)
{
	scene_begin(1000);
	trace_call(&trace, thread, "cudaMalloc", 10, 20);
	fail(thread, "cudaEventQuery", 30, 40, NOT_READY);
	fail(thread, "cudaDeviceEnablePeerAccess", 50, 60, 704);
	read_log("is not readable: Permission denied");
	run();
	cr_expect(eq(sz, row_count(&result, "errors"), 0));
	cr_expect(eq(sz, row_count(&result, "in_flight"), 0));
	cr_expect(eq(sz, result.remarks.count, 1));
	cr_expect(has_remark(&result, "No CUDA call that was recorded returned an error."));
	scene_end();
}

Test(errors, of_a_call_that_asked_for_too_much_have_no_work_in_flight)
{
	scene_begin(1000);
	launch_open(thread, stream, 10);

	const gt_id range = trace_range(&trace, thread, GT_NONE, "load", 15, 100);
	const gt_id call = trace_call_in(&trace, range, "cudaMalloc", 20, 30);

	trace.api_calls.rows[call].result = NO_MEMORY;
	fail(thread, "cudaMalloc", 40, 50, NO_MEMORY);
	fail(thread, "cuLaunchKernel", 60, 70, INVALID);
	trace.api_calls.rows[3].flags = GT_DRIVER_API;
	run();

	cr_assert(eq(sz, row_count(&result, "errors"), 2));
	expect_words(&result, "errors", 0, "first", "first");
	expect_words(&result, "errors", 0, "result", "cudaErrorMemoryAllocation");
	expect_words(&result, "errors", 0, "class", "resources");
	expect_words(&result, "errors", 0, "function", "cudaMalloc");
	expect_words(&result, "errors", 0, "process", "app (100)");
	expect_words(&result, "errors", 0, "range", "load");
	expect_count(&result, "errors", 0, "time_ns", 30);
	expect_count(&result, "errors", 0, "calls", 2);
	expect_words(&result, "errors", 1, "first", "later");
	expect_words(&result, "errors", 1, "result", "CUDA_ERROR_INVALID_VALUE");
	expect_words(&result, "errors", 1, "class", "configuration");
	expect_count(&result, "errors", 1, "calls", 1);
	expect_unknown(&result, "errors", 1, "range");
	cr_expect(eq(sz, row_count(&result, "in_flight"), 0));
	scene_end();
}

/* One thread waits from the beginning on. The other one's call failed while it did. */
Test(errors, come_in_the_order_in_which_calls_returned)
{
	scene_begin(1000);

	const gt_id other = trace_thread(&trace, process, 8);

	fail(thread, "cudaDeviceSynchronize", 10, 500, ILLEGAL_ADDRESS);
	fail(other, "cudaMalloc", 100, 200, NO_MEMORY);
	run();
	cr_assert(eq(sz, row_count(&result, "errors"), 2));
	expect_words(&result, "errors", 0, "function", "cudaMalloc");
	expect_words(&result, "errors", 0, "first", "first");
	expect_words(&result, "errors", 0, "thread", " (8)");
	expect_words(&result, "errors", 1, "function", "cudaDeviceSynchronize");
	expect_words(&result, "errors", 1, "first", "later");
	scene_end();
}

Test(errors, of_a_process_leave_out_calls_inside_other_calls)
{
	scene_begin(1000);
	fail(thread, "cudaMalloc", 10, 50, NO_MEMORY);
	trace.api_calls.rows[fail(thread, "cuMemAlloc", 20, 40, NO_MEMORY)].flags =
		GT_NESTED | GT_DRIVER_API;
	run();
	cr_assert(eq(sz, row_count(&result, "errors"), 1));
	expect_words(&result, "errors", 0, "function", "cudaMalloc");
	expect_count(&result, "errors", 0, "calls", 1);
	cr_expect(has_remark(&result,
	                     "Failed calls that were made inside other calls are not counted: 1."));
	scene_end();
}

Test(errors, of_work_name_what_was_in_flight_first_of_each_stream_first)
{
	scene_begin(1000);

	const gt_id other = trace_stream(&trace, process, device);

	wait_well(stream, 10, 20);
	launch_open(thread, stream, 100);
	launch_open(thread, stream, 110);
	launch_open(thread, other, 120);
	fail(thread, "cudaDeviceSynchronize", 200, 300, ILLEGAL_ADDRESS);
	fail(thread, "cudaMemcpy", 310, 320, ILLEGAL_ADDRESS);
	launch_open(thread, other, 400);
	read_log(GT_KERNEL_LOG_READ);
	run();

	cr_assert(eq(sz, row_count(&result, "errors"), 1));
	expect_words(&result, "errors", 0, "class", "asynchronous, sticky");
	expect_words(&result, "errors", 0, "function", "cudaDeviceSynchronize");
	expect_count(&result, "errors", 0, "calls", 2);
	cr_assert(eq(sz, row_count(&result, "in_flight"), 3));
	expect_words(&result, "in_flight", 0, "state", "first without an end");
	expect_words(&result, "in_flight", 0, "operation", "gemm");
	expect_words(&result, "in_flight", 0, "call", "cuLaunchKernel");
	expect_count(&result, "in_flight", 0, "launch_time_ns", 100);
	expect_unknown(&result, "in_flight", 0, "end_time_ns");
	expect_words(&result, "in_flight", 1, "state", "first without an end");
	expect_count(&result, "in_flight", 1, "launch_time_ns", 120);
	expect_words(&result, "in_flight", 2, "state", "behind other work");
	expect_count(&result, "in_flight", 2, "launch_time_ns", 110);
	cr_expect(has_remark(&result, "The kernel log has no Xid message"));
	scene_end();
}

/* Kernels that had ended before the last wait that was well did not fail. */
Test(errors, of_work_have_kernels_that_ended_since_the_last_good_wait)
{
	scene_begin(2000);
	launch_ended(stream, 100, 150);
	launch_ended(stream, 300, 310);
	launch_ended(stream, 400, 410);
	launch_ended(stream, 500, 510);
	fail(thread, "cudaStreamSynchronize", 600, 700, ILLEGAL_ADDRESS);
	wait_well(stream, 160, 200);
	run();
	cr_assert(eq(sz, row_count(&result, "in_flight"), 3));
	expect_words(&result, "in_flight", 0, "state", "ended");
	expect_count(&result, "in_flight", 0, "end_time_ns", 510);
	expect_count(&result, "in_flight", 2, "end_time_ns", 310);
	gt_result_release(&result);

	run_report_with(&result, "errors", &trace, "ended=1");
	cr_assert(eq(sz, row_count(&result, "in_flight"), 1));
	expect_count(&result, "in_flight", 0, "end_time_ns", 510);
	cr_expect(has_remark(
		&result,
		"Kernels that ended after the last wait that returned well, and are left out: 2."));
	scene_end();
}

Test(errors, of_work_count_launches_without_a_kernel)
{
	scene_begin(1000);
	trace_call(&trace, thread, "cuLaunchKernel", 10, 15);
	wait_well(stream, 20, 30);
	trace_call(&trace, thread, "cuLaunchKernel", 40, 45);
	fail(thread, "cuLaunchKernel", 50, 55, ILLEGAL_ADDRESS);
	run();
	cr_expect(eq(sz, row_count(&result, "in_flight"), 0));
	cr_expect(has_remark(&result,
	                     "Launches before the error whose kernels are not in the recording"));
	cr_expect(has_remark(&result, "Nobody read the kernel log"));
	scene_end();
}

/* Two processes launch; the one of them whose call failed is asked about. */
Test(errors, are_those_of_the_process_that_has_them)
{
	scene_begin(1000);

	const gt_id other = trace_process(&trace, "well", 200);
	const gt_id its_thread = trace_thread(&trace, other, 200);
	const gt_id its_stream = trace_stream(&trace, other, device);

	launch_open(its_thread, its_stream, 100);
	launch_open(thread, stream, 110);
	fail(thread, "cudaDeviceSynchronize", 200, 300, ILLEGAL_ADDRESS);
	run();
	cr_assert(eq(sz, row_count(&result, "errors"), 1));
	expect_words(&result, "errors", 0, "process", "app (100)");
	cr_assert(eq(sz, row_count(&result, "in_flight"), 1));
	expect_count(&result, "in_flight", 0, "pid", 100);
	expect_count(&result, "in_flight", 0, "launch_time_ns", 110);
	scene_end();
}

static void cut(enum gt_filter_part part, const char *value)
{
	struct gt_filter filter;
	struct gt_view view;

	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, part, value, NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&result, "errors", &view);
	gt_filter_release(&filter);
}

Test(errors, that_a_filter_leaves_know_that_others_came_before)
{
	scene_begin(1000);
	launch_open(thread, stream, 10);
	fail(thread, "cudaMalloc", 100, 200, NO_MEMORY);
	fail(thread, "cudaDeviceSynchronize", 500, 600, ILLEGAL_ADDRESS);
	cut(GT_FILTER_FROM, "400ns");
	cr_assert(eq(sz, row_count(&result, "errors"), 1));
	expect_words(&result, "errors", 0, "first", "later");
	expect_words(&result, "errors", 0, "function", "cudaDeviceSynchronize");
	cr_assert(eq(sz, row_count(&result, "in_flight"), 1));
	expect_count(&result, "in_flight", 0, "launch_time_ns", 10);
	cr_expect(has_remark(&result, "In 1 process the first call that failed is not in"));
	scene_end();
}

/* Lines as an H200 with driver 580 wrote them. */
Test(errors, of_work_have_the_xids_that_name_their_process_or_its_gpu)
{
	scene_begin(1000);

	const gt_id other = trace_process(&trace, "well", 200);

	trace.devices.rows[device].pci = gt_strings_add(trace.strings, "00000000:00:06.0");
	note(process,
	     "host: [   31.639714] NVRM: Xid (PCI:0000:00:06): 31, pid=100, name=app, channel "
	     "0x0000000a, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_8 faulted "
	     "@ 0x0_00000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE");
	note(GT_NONE,
	     "host: [   33.114249] NVRM: Xid (PCI:0000:00:06): 13, Graphics SM Warp Exception "
	     "on (GPC 1, TPC 4, SM 0): Misaligned Address");
	note(GT_NONE,
	     "host: [   33.115707] NVRM: Xid (PCI:0000:00:06): 13, Graphics Exception: ESR "
	     "0x519730=0x500000f");
	note(other,
	     "host: [   35.798636] NVRM: Xid (PCI:0000:00:06): 43, pid=200, name=well, channel "
	     "0x0000000a");
	note(GT_NONE,
	     "host: [   36.000000] NVRM: Xid (PCI:0000:00:07): 79, GPU has fallen off the bus.");
	note(GT_NONE, "elsewhere: [   36.000000] NVRM: Xid (PCI:0000:00:06): 48, pid='<unknown>', "
	              "name=<unknown>");
	note(GT_NONE, "host: no message");
	read_log(GT_KERNEL_LOG_READ);
	fail(thread, "cudaDeviceSynchronize", 200, 300, ILLEGAL_ADDRESS);
	fail(thread, "cudaMalloc", 400, 500, NO_MEMORY);
	run();

	expect_words(&result, "errors", 0, "xid", "31, 13");
	expect_unknown(&result, "errors", 1, "xid");
	cr_assert(eq(sz, row_count(&result, "xids"), 6));
	expect_count(&result, "xids", 0, "xid", 31);
	expect_words(&result, "xids", 0, "device", "GPU 0");
	expect_count(&result, "xids", 0, "pid", 100);
	expect_words(&result, "xids", 0, "process", "app (100)");
	expect_unknown(&result, "xids", 1, "pid");
	expect_unknown(&result, "xids", 4, "device");
	expect_unknown(&result, "xids", 5, "device");
	expect_unknown(&result, "xids", 5, "pid");
	cr_expect(not(has_remark(&result, "has no Xid message")));
	scene_end();
}

Test(errors, say_that_the_kernel_log_is_not_readable)
{
	scene_begin(1000);
	fail(thread, "cudaMemcpy", 200, 300, ECC);
	read_log("is not readable: Operation not permitted");
	run();
	expect_words(&result, "errors", 0, "class", "hardware");
	cr_expect(has_remark(&result, "The kernel log is not readable: Operation not permitted."));
	scene_end();
}

/* The page that people read first names the call and the work, before its last line. */
Test(errors, are_named_by_the_summary)
{
	scene_begin(1000);

	const gt_id range = trace_range(&trace, thread, GT_NONE, "step", 5, 900);

	launch_open(thread, stream, 100);
	trace.api_calls.rows[0].range = range;
	fail(thread, "cudaDeviceSynchronize", 200, 300, ILLEGAL_ADDRESS);
	run_report(&result, "summary", &trace);
	cr_expect(has_remark(&result,
	                     "The first CUDA call that failed: cudaDeviceSynchronize on thread"));
	cr_expect(has_remark(&result,
	                     "returned cudaErrorIllegalAddress (700: asynchronous, sticky)"));
	cr_expect(has_remark(&result,
	                     "In flight then, without an end: gemm on stream 7, launched by "
	                     "cuLaunchKernel"));
	cr_expect(has_remark(&result, ", in range step."));
	scene_end();
}

/* A call that failed and was dealt with is not what the program failed of. */
Test(errors, of_work_are_named_by_the_summary_behind_a_first_one_that_is_none)
{
	scene_begin(1000);
	launch_open(thread, stream, 10);
	fail(thread, "cudaMalloc", 100, 200, NO_MEMORY);
	fail(thread, "cudaDeviceSynchronize", 300, 400, ILLEGAL_ADDRESS);
	run_report(&result, "summary", &trace);
	cr_expect(has_remark(&result, "The first CUDA call that failed: cudaMalloc"));
	cr_expect(has_remark(&result, "The first error of work: cudaDeviceSynchronize"));
	cr_expect(has_remark(&result, "In flight then, without an end: gemm"));
	scene_end();
}

Test(errors, that_are_none_are_not_named_by_the_summary)
{
	scene_begin(1000);
	fail(thread, "cudaEventQuery", 200, 300, NOT_READY);
	run_report(&result, "summary", &trace);
	cr_expect(not(has_remark(&result, "failed")));
	scene_end();
}

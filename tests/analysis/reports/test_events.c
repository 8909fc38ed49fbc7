/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "model/names.h"

static void make(void)
{
	scene_begin(1000000);
}

TestSuite(events, .init = make, .fini = scene_end);

/* A kernel that a call outside of all ranges launched. */
static struct gt_kernel *launch(gt_time call_ns, gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaLaunchKernel", call_ns, call_ns + 5);
	struct gt_kernel *kernel = trace_kernel(&trace, stream, shape, start_ns, end_ns);

	kernel->api_call = call;
	return kernel;
}

static void copy(gt_time start_ns, gt_time end_ns)
{
	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 4000, start_ns, end_ns)->correlation = 9;
}

Test(events, are_rows_in_the_order_of_their_start)
{
	const gt_id range = trace_range(&trace, thread, GT_NONE, "step", 10, 500);

	(void)scene_launch(range, 20, 100, 160);
	(void)launch(600, 700, 720);
	copy(300, 304);
	run_report(&result, "events", &trace);
	cr_assert(eq(sz, row_count(&result, "events"), 3));
	expect_words(&result, "events", 0, "what", "kernel");
	expect_words(&result, "events", 0, "name", "gemm");
	expect_count(&result, "events", 0, "start_time_ns", 100);
	expect_count(&result, "events", 0, "duration_ns", 60);
	expect_words(&result, "events", 0, "grid", "1x1x1");
	expect_words(&result, "events", 0, "block", "32x1x1");
	expect_words(&result, "events", 0, "range", "step");
	expect_unknown(&result, "events", 0, "bytes");
	expect_words(&result, "events", 1, "what", "copy");
	expect_words(&result, "events", 1, "name", "HtoD");
	expect_count(&result, "events", 1, "bytes", 4000);
	expect_words(&result, "events", 1, "host_memory", "pinned");
	expect_unknown(&result, "events", 1, "grid");
	expect_unknown(&result, "events", 1, "range");
	expect_words(&result, "events", 1, "process", "app (100)");
	expect_words(&result, "events", 2, "what", "kernel");
	expect_unknown(&result, "events", 2, "range");
}

Test(events, show_the_same_text_for_each_row_of_a_stream)
{
	(void)launch(20, 100, 160);
	(void)launch(30, 200, 260);
	run_report(&result, "events", &trace);
	for (size_t row = 0; row < 2; row++) {
		cr_expect(eq(str, (char *)(uintptr_t)cell(&result, "events", row, "device")->text,
		             (char *)(uintptr_t)cell(&result, "events", 0, "device")->text));
		expect_words(&result, "events", row, "process", "app (100)");
		expect_words(&result, "events", row, "grid", "1x1x1");
	}
}

Test(events, of_the_host_are_calls)
{
	const gt_id range = trace_range(&trace, thread, GT_NONE, "step", 10, 500);

	(void)scene_launch(range, 20, 100, 160);
	trace.api_calls.rows[0].result = 700;
	trace.api_calls.rows[0].correlation = 3;
	run_report_with(&result, "events", &trace, "of=api");
	cr_assert(eq(sz, row_count(&result, "events"), 1));
	expect_words(&result, "events", 0, "what", "call");
	expect_words(&result, "events", 0, "name", "cudaLaunchKernel");
	expect_count(&result, "events", 0, "duration_ns", 5);
	expect_count(&result, "events", 0, "result", 700);
	expect_count(&result, "events", 0, "correlation", 3);
	expect_words(&result, "events", 0, "range", "step");
}

Test(events, are_ranges_with_their_paths)
{
	const gt_id outer = trace_range(&trace, thread, GT_NONE, "train", 10, 900);
	const gt_id around = trace_range(&trace, thread, GT_NONE, "left over", 15, 800);

	(void)trace_range(&trace, thread, outer, "step", 20, 500);
	trace.ranges.rows[around].flags |= GT_AROUND;
	run_report_with(&result, "events", &trace, "of=ranges");
	cr_assert(eq(sz, row_count(&result, "events"), 2));
	expect_words(&result, "events", 0, "name", "train");
	expect_unknown(&result, "events", 0, "range");
	expect_words(&result, "events", 1, "name", "train/step");
	expect_words(&result, "events", 1, "range", "train");
	expect_count(&result, "events", 1, "duration_ns", 480);
}

Test(events, of_all_sorts_are_in_one_order)
{
	static const char *const wanted[] = {"range", "call", "kernel", "copy"};
	const gt_id range = trace_range(&trace, thread, GT_NONE, "step", 20, 500);

	(void)scene_launch(range, 20, 100, 160);
	copy(300, 304);
	run_report_with(&result, "events", &trace, "of=all");
	cr_assert(eq(sz, row_count(&result, "events"), 4));
	for (size_t i = 0; i < 4; i++)
		expect_words(&result, "events", i, "what", wanted[i]);
	expect_unknown(&result, "events", 0, "correlation");
	expect_unknown(&result, "events", 2, "result");
	expect_count(&result, "events", 3, "correlation", 9);
}

Test(events, without_times_are_told_of)
{
	(void)trace_unfinished_kernel(&trace, stream, shape);
	(void)launch(20, 100, 160);
	launch(30, 200, 260)->flags = GT_PROFILED;
	run_report(&result, "events", &trace);
	cr_assert(eq(sz, row_count(&result, "events"), 2));
	expect_count(&result, "events", 0, "duration_ns", 60);
	expect_unknown(&result, "events", 1, "duration_ns");
	cr_expect(has_remark(&result, "Without a row: 1 kernels"));
	cr_expect(has_remark(&result, "Without a duration: 1 kernels"));
}

Test(events, say_why_there_are_none)
{
	run_report_with(&result, "events", &trace, "of=ranges");
	cr_expect(eq(sz, row_count(&result, "events"), 0));
	cr_expect(has_remark(&result, "No NVTX ranges were recorded."));
}

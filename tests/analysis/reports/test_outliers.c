/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "model/gpu/throttle.h"
#include "model/names.h"

static void begin(void)
{
	scene_begin(100000000);
}

/* So many kernels of 10 us, one each 100 us, from a moment on. */
static void add_usual(int count, gt_time start_ns)
{
	for (gt_time i = 0; i < count; i++)
		trace_kernel(&trace, stream, shape, start_ns + i * 100000,
		             start_ns + i * 100000 + 10000);
}

Test(outliers, take_twice_the_median_and_more)
{
	begin();
	add_usual(10, 0);
	trace_kernel(&trace, stream, shape, 2000000, 2019999);
	trace_kernel(&trace, stream, shape, 3000000, 3020000);
	trace_kernel(&trace, stream, shape, 4000000, 4090000);
	run_report(&result, "outliers", &trace);

	cr_assert(eq(sz, row_count(&result, "outliers"), 2));
	expect_count(&result, "outliers", 0, "start_time_ns", 4000000);
	expect_count(&result, "outliers", 0, "duration_ns", 90000);
	expect_count(&result, "outliers", 0, "median_ns", 10000);
	expect_real(&result, "outliers", 0, "times", 9.0);
	expect_words(&result, "outliers", 0, "kernel", "gemm");
	expect_unknown(&result, "outliers", 0, "beside");
	expect_count(&result, "outliers", 1, "duration_ns", 20000);

	cr_assert(eq(sz, row_count(&result, "kernels"), 1));
	expect_count(&result, "kernels", 0, "calls", 13);
	expect_count(&result, "kernels", 0, "outliers", 2);
	expect_count(&result, "kernels", 0, "excess_ns", 90000);
	expect_real(&result, "kernels", 0, "excess_percent", 100.0 * 90000 / 229999);
	expect_count(&result, "kernels", 0, "unexplained", 2);
	scene_end();
}

Test(outliers, are_what_the_settings_say)
{
	static const struct {
		const char *setting;
		size_t outliers;
	} cases[] = {{"factor=3", 1}, {"factor=10", 0}, {"least=11us", 1}, {"least=1s", 0},
	             {"calls=13", 2}, {"calls=14", 0},  {"top=1", 1},      {"top=0", 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		add_usual(11, 0);
		trace_kernel(&trace, stream, shape, 3000000, 3020000);
		trace_kernel(&trace, stream, shape, 4000000, 4090000);
		run_report_with(&result, "outliers", &trace, cases[i].setting);
		cr_expect(eq(sz, row_count(&result, "outliers"), cases[i].outliers), "%s",
		          cases[i].setting);
		scene_end();
	}
}

Test(outliers, are_told_from_other_launch_shapes)
{
	begin();

	const gt_id large = trace_shape(&trace, "gemm", 1000, 32);

	add_usual(20, 0);
	for (gt_time i = 0; i < 20; i++)
		trace_kernel(&trace, stream, large, 3000000 + i * 100000, 3090000 + i * 100000);
	run_report(&result, "outliers", &trace);
	cr_expect(eq(sz, row_count(&result, "outliers"), 0));
	scene_end();
}

Test(outliers, say_what_stood_beside_them)
{
	const double reasons[] = {0, GT_THROTTLE_SW_POWER_CAP, 0, 0};

	begin();

	const gt_id second = trace_stream(&trace, process, device);
	const gt_id theirs = trace_stream(&trace, trace_process(&trace, "other", 200), device);

	trace_kernel(&trace, stream, shape, 0, 50000);
	add_usual(20, 100000);
	trace_kernel(&trace, stream, shape, 10000000, 10060000);
	trace_kernel(&trace, stream, shape, 20000000, 20070000);
	trace_kernel(&trace, second, trace_shape(&trace, "axpy", 1, 32), 20035000, 20070000);
	trace_kernel(&trace, stream, shape, 30000000, 30080000);
	trace_kernel(&trace, theirs, trace_shape(&trace, "theirs", 1, 32), 30000000, 30080000);
	trace_copy(&trace, second, GT_COPY_HOST_TO_DEVICE, 8, 10000000, 10030000);
	trace_counter(&trace, device, "throttle_reasons", GT_COUNTER_MASK, 0, 15000000, reasons, 4);
	run_report(&result, "outliers", &trace);

	cr_assert(eq(sz, row_count(&result, "outliers"), 4));
	expect_words(&result, "outliers", 0, "beside", "kernels (100%), another process (100%)");
	expect_count(&result, "outliers", 0, "processes_ns", 80000);
	expect_words(&result, "outliers", 1, "beside", "sw_power_cap, kernels (50%)");
	expect_count(&result, "outliers", 1, "kernels_ns", 35000);
	expect_words(&result, "outliers", 2, "beside", "copies (50%)");
	expect_count(&result, "outliers", 2, "copies_ns", 30000);
	expect_words(&result, "outliers", 3, "beside", "first launch");

	expect_count(&result, "kernels", 0, "first", 1);
	expect_count(&result, "kernels", 0, "throttled", 1);
	expect_count(&result, "kernels", 0, "copies", 1);
	expect_count(&result, "kernels", 0, "kernels", 2);
	expect_count(&result, "kernels", 0, "processes", 1);
	expect_count(&result, "kernels", 0, "unexplained", 0);
	scene_end();
}

Test(outliers, do_not_blame_what_hardly_touched_them)
{
	begin();
	add_usual(20, 0);
	trace_kernel(&trace, stream, shape, 10000000, 10060000);
	trace_copy(&trace, trace_stream(&trace, process, device), GT_COPY_HOST_TO_DEVICE, 8,
	           9000000, 10005999);
	run_report(&result, "outliers", &trace);
	expect_unknown(&result, "outliers", 0, "beside");
	expect_count(&result, "outliers", 0, "copies_ns", 5999);
	scene_end();
}

Test(outliers, of_nothing_are_none)
{
	begin();
	trace_unfinished_kernel(&trace, stream, shape);
	run_report(&result, "outliers", &trace);
	cr_expect(eq(sz, row_count(&result, "kernels"), 0));
	cr_expect(eq(sz, row_count(&result, "outliers"), 0));
	cr_expect(has_remark(&result, "No launch was an outlier."));
	scene_end();
}

Test(outliers, say_which_range_they_were_asked_for_in)
{
	gt_id step;

	begin();
	add_usual(10, 0);
	step = trace_range(&trace, trace_thread(&trace, process, 7), GT_NONE, "step", 0, 100);
	trace_kernel(&trace, stream, shape, 2000000, 2090000)->api_call =
		trace_call_in(&trace, step, "cudaLaunchKernel", 10, 20);
	trace_kernel(&trace, stream, shape, 3000000, 3080000);
	run_report(&result, "outliers", &trace);
	expect_words(&result, "outliers", 0, "range", "step");
	expect_unknown(&result, "outliers", 1, "range");
	scene_end();
}

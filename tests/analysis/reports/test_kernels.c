/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_report.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "base/strings.h"
#include "model/gpu/throttle.h"
#include "model/naming/kernel_names.h"

/* One process with one stream on each of two GPUs. */
struct scene {
	struct gt_trace trace;
	struct gt_result result;
	gt_id stream;
	gt_id other_stream;
};

static void scene_init(struct scene *scene)
{
	trace_init(&scene->trace, 1000);

	const gt_id process = trace_process(&scene->trace, "app", 100);

	scene->stream = trace_stream(&scene->trace, process, trace_device(&scene->trace));
	scene->other_stream = trace_stream(&scene->trace, process, trace_device(&scene->trace));
}

static void scene_release(struct scene *scene)
{
	gt_result_release(&scene->result);
	gt_trace_release(&scene->trace);
}

Test(kernels, puts_the_busiest_first_with_its_spread)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id relu = trace_shape(&scene.trace, "relu", 100, 128);
	const gt_id gemm = trace_shape(&scene.trace, "gemm", 100, 256);

	trace_kernel(&scene.trace, scene.stream, relu, 0, 10);
	trace_kernel(&scene.trace, scene.stream, gemm, 10, 30);
	trace_kernel(&scene.trace, scene.stream, gemm, 30, 90);
	trace_kernel(&scene.trace, scene.stream, gemm, 90, 100);
	trace_kernel(&scene.trace, scene.stream, gemm, 100, 140);
	run_report(&scene.result, "kernels", &scene.trace);

	cr_assert(eq(sz, row_count(&scene.result, "kernels"), 2));
	expect_words(&scene.result, "kernels", 0, "kernel", "gemm");
	expect_count(&scene.result, "kernels", 0, "calls", 4);
	expect_count(&scene.result, "kernels", 0, "total_ns", 130);
	expect_real(&scene.result, "kernels", 0, "share_percent", 100.0 * 130 / 140);
	expect_count(&scene.result, "kernels", 0, "mean_ns", 33); /* 32.5 */
	expect_count(&scene.result, "kernels", 0, "median_ns", 30);
	expect_count(&scene.result, "kernels", 0, "min_ns", 10);
	expect_count(&scene.result, "kernels", 0, "max_ns", 60);
	expect_count(&scene.result, "kernels", 0, "deviation_ns", 22); /* of 10 20 40 60: 22.17 */
	expect_count(&scene.result, "kernels", 0, "shapes", 1);
	expect_count(&scene.result, "kernels", 0, "unfinished", 0);
	expect_words(&scene.result, "kernels", 1, "kernel", "relu");
	expect_count(&scene.result, "kernels", 1, "median_ns", 10);
	expect_unknown(&scene.result, "kernels", 1, "deviation_ns");
	scene_release(&scene);
}

Test(kernels, has_a_row_for_each_shape_and_device)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id small = trace_shape(&scene.trace, "gemm", 132, 256);
	const gt_id large = trace_shape(&scene.trace, "gemm", 132 * 8 * 2, 256);

	trace_shape(&scene.trace, "gemm", 7, 32); /* never launched */
	scene.trace.launch_shapes.rows[large].shared_dynamic_bytes = 48 * 1024;
	trace_kernel(&scene.trace, scene.stream, small, 0, 10);
	trace_kernel(&scene.trace, scene.stream, large, 20, 120);
	trace_kernel(&scene.trace, scene.other_stream, large, 20, 70);
	run_report(&scene.result, "kernels", &scene.trace);

	cr_expect(eq(sz, row_count(&scene.result, "kernels"), 1));
	expect_count(&scene.result, "kernels", 0, "shapes", 2);
	cr_assert(eq(sz, row_count(&scene.result, "launch_shapes"), 3));
	expect_words(&scene.result, "launch_shapes", 0, "device", "0: NVIDIA H200");
	expect_words(&scene.result, "launch_shapes", 0, "grid", "2112x1x1");
	expect_words(&scene.result, "launch_shapes", 0, "block", "256x1x1");
	expect_unknown(&scene.result, "launch_shapes", 0, "cluster");
	expect_count(&scene.result, "launch_shapes", 0, "registers", 32);
	expect_count(&scene.result, "launch_shapes", 0, "shared_dynamic_bytes", 48 * 1024);
	expect_count(&scene.result, "launch_shapes", 0, "total_ns", 100);
	/* 4 blocks of 48 + 1 KiB fit into 228 KiB: 32 of 64 warps. */
	expect_real(&scene.result, "launch_shapes", 0, "occupancy_percent", 50.0);
	expect_words(&scene.result, "launch_shapes", 0, "limited_by", "shared memory");
	expect_real(&scene.result, "launch_shapes", 0, "waves_per_sm", 4.0);
	expect_words(&scene.result, "launch_shapes", 1, "device", "1: NVIDIA H200");
	expect_count(&scene.result, "launch_shapes", 1, "total_ns", 50);
	expect_words(&scene.result, "launch_shapes", 2, "limited_by", "warps");
	expect_real(&scene.result, "launch_shapes", 2, "waves_per_sm", 0.125);
	scene_release(&scene);
}

/* CUPTI says 0 of kernels that have some, too. */
Test(kernels, show_local_memory_that_is_known)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id known = trace_shape(&scene.trace, "spills", 132, 256);
	const gt_id other = trace_shape(&scene.trace, "other", 132, 256);

	scene.trace.launch_shapes.rows[known].local_per_thread_bytes = 0;
	scene.trace.launch_shapes.rows[known].local_known = 1;
	trace_kernel(&scene.trace, scene.stream, known, 0, 20);
	trace_kernel(&scene.trace, scene.stream, other, 20, 30);
	run_report(&scene.result, "kernels", &scene.trace);
	expect_count(&scene.result, "launch_shapes", 0, "local_bytes", 0);
	expect_unknown(&scene.result, "launch_shapes", 1, "local_bytes");
	cr_expect(
		has_remark(&scene.result, "local_bytes was not measured of 1 of 2 launch shapes"));
	gt_result_release(&scene.result);
	scene.trace.launch_shapes.rows[other].local_per_thread_bytes = 1024;
	scene.trace.launch_shapes.rows[other].local_known = 1;
	run_report(&scene.result, "kernels", &scene.trace);
	expect_count(&scene.result, "launch_shapes", 1, "local_bytes", 1024);
	cr_expect(not(has_remark(&scene.result, "local_bytes was not measured")));
	scene_release(&scene);
}

Test(kernels, leaves_occupancy_unknown_without_limits)
{
	struct scene scene;

	scene_init(&scene);
	scene.trace.devices.rows[0].registers_per_sm = 0;
	trace_kernel(&scene.trace, scene.stream, trace_shape(&scene.trace, "k", 1, 32), 0, 10);
	run_report(&scene.result, "kernels", &scene.trace);

	expect_unknown(&scene.result, "launch_shapes", 0, "occupancy_percent");
	expect_unknown(&scene.result, "launch_shapes", 0, "limited_by");
	expect_unknown(&scene.result, "launch_shapes", 0, "waves_per_sm");
	scene_release(&scene);
}

Test(kernels, that_never_finished_have_a_name_and_no_times)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id spin = trace_shape(&scene.trace, "spin_forever", 1, 32);
	const gt_id queued = trace_shape(&scene.trace, "a_queued_one", 1, 32);
	const gt_id k = trace_shape(&scene.trace, "k", 1, 32);

	trace_unfinished_kernel(&scene.trace, scene.stream, queued);
	trace_unfinished_kernel(&scene.trace, scene.stream, spin);
	trace_unfinished_kernel(&scene.trace, scene.stream, spin);
	trace_unfinished_kernel(&scene.trace, scene.stream, GT_NONE);
	trace_unfinished_kernel(&scene.trace, scene.stream, k);
	trace_kernel(&scene.trace, scene.stream, k, 5, 5);
	run_report(&scene.result, "kernels", &scene.trace);

	cr_assert(eq(sz, row_count(&scene.result, "kernels"), 4));
	expect_words(&scene.result, "kernels", 0, "kernel", "k");
	expect_count(&scene.result, "kernels", 0, "calls", 1);
	expect_count(&scene.result, "kernels", 0, "unfinished", 1);
	expect_words(&scene.result, "kernels", 1, "kernel", "spin_forever");
	expect_count(&scene.result, "kernels", 1, "calls", 0);
	expect_unknown(&scene.result, "kernels", 1, "total_ns");
	expect_unknown(&scene.result, "kernels", 1, "share_percent");
	expect_unknown(&scene.result, "kernels", 1, "median_ns");
	expect_unknown(&scene.result, "kernels", 1, "deviation_ns");
	expect_unknown(&scene.result, "kernels", 1, "shapes");
	expect_count(&scene.result, "kernels", 1, "unfinished", 2);
	expect_words(&scene.result, "kernels", 2, "kernel", "(name not known)");
	expect_words(&scene.result, "kernels", 3, "kernel", "a_queued_one");
	cr_expect(eq(sz, row_count(&scene.result, "launch_shapes"), 1));
	cr_expect(has_remark(&scene.result, "5 of 6 kernels"));
	scene_release(&scene);
}

Test(kernels, that_were_only_profiled_have_a_row_without_times)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id gemm = trace_shape(&scene.trace, "gemm", 1, 32);
	const gt_id relu = trace_shape(&scene.trace, "relu", 1, 32);

	trace_kernel(&scene.trace, scene.stream, gemm, 0, 500)->flags |= GT_PROFILED;
	trace_kernel(&scene.trace, scene.stream, relu, 510, 520);
	run_report(&scene.result, "kernels", &scene.trace);

	cr_assert(eq(sz, row_count(&scene.result, "kernels"), 2));
	expect_words(&scene.result, "kernels", 0, "kernel", "relu");
	expect_count(&scene.result, "kernels", 0, "profiled", 0);
	expect_words(&scene.result, "kernels", 1, "kernel", "gemm");
	expect_count(&scene.result, "kernels", 1, "calls", 0);
	expect_unknown(&scene.result, "kernels", 1, "total_ns");
	expect_count(&scene.result, "kernels", 1, "profiled", 1);
	scene_release(&scene);
}

Test(kernels, that_took_no_time_have_no_share)
{
	struct scene scene;

	scene_init(&scene);
	trace_kernel(&scene.trace, scene.stream, trace_shape(&scene.trace, "k", 1, 32), 5, 5);
	run_report(&scene.result, "kernels", &scene.trace);

	expect_count(&scene.result, "kernels", 0, "calls", 1);
	expect_count(&scene.result, "kernels", 0, "total_ns", 0);
	expect_unknown(&scene.result, "kernels", 0, "share_percent");
	scene_release(&scene);
}

Test(kernels, without_shape_or_device_are_still_counted)
{
	struct scene scene;

	scene_init(&scene);
	trace_kernel(&scene.trace, scene.stream, GT_NONE, 0, 10)->device = GT_NONE;
	run_report(&scene.result, "kernels", &scene.trace);

	expect_words(&scene.result, "kernels", 0, "kernel", "(name not known)");
	expect_unknown(&scene.result, "kernels", 0, "shapes");
	expect_unknown(&scene.result, "launch_shapes", 0, "device");
	expect_unknown(&scene.result, "launch_shapes", 0, "grid");
	expect_unknown(&scene.result, "launch_shapes", 0, "registers");
	expect_count(&scene.result, "launch_shapes", 0, "total_ns", 10);
	scene_release(&scene);
}

Test(kernels, takes_the_compilers_name_when_there_is_no_other)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id shape = trace_shape(&scene.trace, "_Z4gemmv", 1, 32);

	scene.trace.launch_shapes.rows[shape].demangled = 0;
	trace_kernel(&scene.trace, scene.stream, shape, 0, 10);
	run_report(&scene.result, "kernels", &scene.trace);

	expect_words(&scene.result, "kernels", 0, "kernel", "_Z4gemmv");
	scene_release(&scene);
}

Test(kernels, of_an_empty_trace_are_none)
{
	struct gt_trace trace;
	struct gt_result result;

	gt_trace_init(&trace);
	run_report(&result, "kernels", &trace);
	cr_expect(eq(sz, row_count(&result, "kernels"), 0));
	cr_expect(eq(sz, row_count(&result, "launch_shapes"), 0));
	cr_expect(has_remark(&result, "No kernels"));
	gt_result_release(&result);
	gt_trace_release(&trace);
}

/* Sampled at 0, 100, ...: slowed from 200 to 400, and idle is no reason that slows. */
Test(kernels, counts_executions_that_began_while_the_gpu_was_slowed)
{
	static const double reasons[] = {
		1, 0, GT_THROTTLE_SW_POWER_CAP, GT_THROTTLE_SW_POWER_CAP | GT_THROTTLE_GPU_IDLE,
		1, 1};
	struct scene scene;

	scene_init(&scene);

	const gt_id shape = trace_shape(&scene.trace, "gemm", 1, 32);
	const gt_id other = trace_shape(&scene.trace, "relu", 1, 32);

	trace_counter(&scene.trace, 0, "throttle_reasons", GT_COUNTER_MASK, 0, 100, reasons, 6);
	trace_kernel(&scene.trace, scene.stream, shape, 150, 250);
	trace_kernel(&scene.trace, scene.stream, shape, 200, 210);
	trace_kernel(&scene.trace, scene.other_stream, other, 300, 310);
	trace_kernel(&scene.trace, scene.stream, shape, 399, 410);
	trace_kernel(&scene.trace, scene.stream, shape, 400, 410);
	run_report(&scene.result, "kernels", &scene.trace);
	expect_words(&scene.result, "kernels", 0, "kernel", "gemm");
	expect_count(&scene.result, "kernels", 0, "throttled_calls", 2);
	expect_unknown(&scene.result, "kernels", 1, "throttled_calls");
	cr_expect(has_remark(&scene.result, "2 executions began while"));
	cr_expect(has_remark(&scene.result, "sw_power_cap (the power limit is reached)"));
	scene_release(&scene);
}

static void run_by(struct scene *scene, const char *setting)
{
	const struct gt_report *report = gt_report_find("kernels");
	const struct gt_view view = gt_view_of(&scene->trace);
	struct gt_arguments arguments;

	gt_arguments_init(&arguments, report->parameters);
	cr_assert(eq(int, gt_arguments_set(&arguments, report->parameters, setting, NULL), 0));
	gt_result_init(&scene->result);
	cr_assert(eq(int, gt_report_run(report, &view, &arguments, &scene->result, NULL), 0));
}

static gt_id named_shape(struct scene *scene, const char *full, const char *short_name,
                         enum gt_family family)
{
	const gt_id shape = trace_shape(&scene->trace, full, 4, 128);

	scene->trace.launch_shapes.rows[shape].short_name =
		gt_strings_add(scene->trace.strings, short_name);
	scene->trace.launch_shapes.rows[shape].family = family;
	return shape;
}

/* Two instances of one function, and a gemm, on two streams. */
static void scene_of_groups(struct scene *scene)
{
	scene_init(scene);

	const gt_id sum = named_shape(scene, "void r<Sum>(int)", "r<sum>", GT_FAMILY_reduction);
	const gt_id max = named_shape(scene, "void r<Max>(int)", "r<max>", GT_FAMILY_reduction);
	const gt_id gemm = named_shape(scene, "sgemm_8", "gemm 8x8 (x)", GT_FAMILY_gemm);

	scene->trace.launch_shapes.rows[sum].origin = GT_ORIGIN_torch;
	scene->trace.launch_shapes.rows[max].origin = GT_ORIGIN_torch;
	scene->trace.launch_shapes.rows[gemm].tile = gt_strings_add(scene->trace.strings, "8x8");

	trace_kernel(&scene->trace, scene->stream, sum, 0, 10);
	trace_kernel(&scene->trace, scene->stream, max, 10, 30);
	trace_kernel(&scene->trace, scene->stream, max, 30, 70);
	trace_kernel(&scene->trace, scene->other_stream, gemm, 30, 230);
}

Test(kernels, show_the_short_name_and_keep_the_others)
{
	struct scene scene;

	scene_of_groups(&scene);
	run_by(&scene, "by=name");
	cr_assert(eq(sz, row_count(&scene.result, "kernels"), 3));
	expect_words(&scene.result, "kernels", 0, "kernel", "gemm 8x8 (x)");
	expect_words(&scene.result, "kernels", 0, "full_name", "sgemm_8");
	expect_words(&scene.result, "kernels", 0, "family", "gemm");
	expect_words(&scene.result, "kernels", 0, "tile", "8x8");
	expect_unknown(&scene.result, "kernels", 0, "origin");
	expect_words(&scene.result, "kernels", 1, "kernel", "r<max>");
	expect_words(&scene.result, "kernels", 1, "full_name", "void r<Max>(int)");
	expect_words(&scene.result, "kernels", 1, "origin", "PyTorch");
	expect_unknown(&scene.result, "kernels", 1, "tile");
	gt_result_release(&scene.result);
	scene.trace.names = GT_NAMES_FULL;
	run_by(&scene, "by=name");
	expect_words(&scene.result, "kernels", 1, "kernel", "void r<Max>(int)");
	scene_release(&scene);
}

Test(kernels, are_grouped_by_what_is_asked_for)
{
	struct scene scene;

	scene_of_groups(&scene);
	run_by(&scene, "by=base");
	cr_assert(eq(sz, row_count(&scene.result, "kernels"), 2));
	expect_words(&scene.result, "kernels", 0, "base", "gemm");
	expect_words(&scene.result, "kernels", 1, "base", "r");
	expect_count(&scene.result, "kernels", 1, "calls", 3);
	gt_result_release(&scene.result);
	run_by(&scene, "by=family");
	expect_words(&scene.result, "kernels", 1, "family", "reduction");
	expect_count(&scene.result, "kernels", 1, "total_ns", 70);
	gt_result_release(&scene.result);
	run_by(&scene, "by=origin");
	cr_assert(eq(sz, row_count(&scene.result, "kernels"), 2));
	expect_words(&scene.result, "kernels", 0, "origin", "not known");
	expect_words(&scene.result, "kernels", 1, "origin", "PyTorch");
	expect_count(&scene.result, "kernels", 1, "calls", 3);
	gt_result_release(&scene.result);
	run_by(&scene, "by=stream");
	cr_assert(eq(sz, row_count(&scene.result, "kernels"), 2));
	expect_words(&scene.result, "kernels", 1, "stream", "stream 7 of GPU 0");
	expect_count(&scene.result, "kernels", 1, "calls", 3);
	expect_count(&scene.result, "kernels", 1, "shapes", 2);
	gt_result_release(&scene.result);
	run_by(&scene, "by=shape");
	expect_words(&scene.result, "kernels", 1, "kernel", "r<max> <<<4x1x1, 128x1x1>>>");
	scene_release(&scene);
}

Test(kernels, are_grouped_by_the_range_that_they_were_asked_for_in)
{
	struct scene scene;

	scene_of_groups(&scene);

	const gt_id thread = trace_thread(&scene.trace, 0, 7);
	const gt_id step = trace_range(&scene.trace, thread, GT_NONE, "step", 0, 100);
	const gt_id inner = trace_range(&scene.trace, thread, step, "forward", 10, 50);

	scene.trace.kernels.rows[0].api_call =
		trace_call_in(&scene.trace, inner, "cudaLaunchKernel", 20, 30);
	scene.trace.kernels.rows[1].api_call =
		trace_call_in(&scene.trace, step, "cudaLaunchKernel", 60, 70);
	run_by(&scene, "by=range");
	cr_assert(eq(sz, row_count(&scene.result, "kernels"), 3));
	for (size_t i = 0; i < 3; i++) {
		const char *range = cell(&scene.result, "kernels", i, "range")->text;
		const bool named = strcmp(range, "step/forward") == 0 || strcmp(range, "step") == 0;

		cr_expect(named || strcmp(range, "(in no range)") == 0, "%s", range);
		expect_count(&scene.result, "kernels", i, "calls",
		             named ? 1 : (int64_t)scene.trace.kernels.count - 2);
	}
	scene_release(&scene);
}

Test(kernels, say_what_the_time_went_into)
{
	struct scene scene;

	scene_of_groups(&scene);
	run_report(&scene.result, "kernels", &scene.trace);
	cr_assert(eq(sz, row_count(&scene.result, "families"), 2));
	expect_words(&scene.result, "families", 0, "family", "gemm");
	expect_real(&scene.result, "families", 0, "share_percent", 100.0 * 200 / 270);
	expect_words(&scene.result, "families", 1, "family", "reduction");
	expect_count(&scene.result, "families", 1, "calls", 3);
	expect_count(&scene.result, "families", 1, "kernels", 2);
	scene_release(&scene);
}

/* The kernel that was added last, by a call that took so long. */
static void launched_by(struct gt_trace *trace, gt_time duration_ns)
{
	trace->kernels.rows[trace->kernels.count - 1].api_call = (gt_id)trace->api_calls.count;
	*gt_array_push(&trace->api_calls) = (struct gt_api_call){
		.start_ns = 10,
		.end_ns = 10 + duration_ns,
		.range = GT_NONE,
		.for_range = GT_NONE,
		.kind = GT_API_LAUNCH,
	};
}

Test(kernels, tell_first_launches_from_later_ones)
{
	struct scene scene;

	scene_init(&scene);

	const gt_id shape = trace_shape(&scene.trace, "k", 4, 128);
	const gt_time ends[] = {900, 1010, 1030, 1050};

	for (size_t i = 0; i < 4; i++) {
		const gt_time start = i ? 1000 + 20 * ((gt_time)i - 1) : 100;

		trace_kernel(&scene.trace, scene.stream, shape, start, ends[i]);
		launched_by(&scene.trace, i ? 5 : 5000);
	}
	run_report(&scene.result, "kernels", &scene.trace);
	expect_count(&scene.result, "kernels", 0, "first_calls", 1);
	expect_count(&scene.result, "kernels", 0, "later_mean_ns", 10);
	expect_count(&scene.result, "kernels", 0, "later_median_ns", 10);
	expect_count(&scene.result, "first_launches", 0, "first_ns", 800);
	expect_count(&scene.result, "first_launches", 0, "later_median_ns", 10);
	expect_count(&scene.result, "first_launches", 0, "first_host_ns", 5000);
	expect_count(&scene.result, "first_launches", 0, "later_host_median_ns", 5);
	scene_release(&scene);
}

/* One first launch is by a call that was recorded, that on a second GPU is not. */
Test(kernels, take_the_mean_of_first_calls_of_those_that_are_known)
{
	struct scene scene;
	gt_id other;
	gt_id shape;

	scene_init(&scene);
	shape = trace_shape(&scene.trace, "k", 4, 128);
	other = trace_stream(&scene.trace, 0, trace_device(&scene.trace));
	trace_kernel(&scene.trace, scene.stream, shape, 100, 900);
	launched_by(&scene.trace, 5000);
	trace_kernel(&scene.trace, other, shape, 200, 600);
	trace_kernel(&scene.trace, scene.stream, shape, 1000, 1010);
	launched_by(&scene.trace, 7);
	run_report(&scene.result, "kernels", &scene.trace);
	expect_count(&scene.result, "first_launches", 0, "first_calls", 2);
	expect_count(&scene.result, "first_launches", 0, "first_ns", 600);
	expect_count(&scene.result, "first_launches", 0, "first_host_ns", 5000);
	expect_count(&scene.result, "first_launches", 0, "later_host_median_ns", 7);
	scene_release(&scene);
}

/* Three steps, of which the last two are chosen; the last has no kernel of the second sort. */
static void add_steps(struct gt_trace *trace)
{
	const gt_id process = trace_process(trace, "app", 100);
	const gt_id thread = trace_thread(trace, process, 7);
	const gt_id stream = trace_stream(trace, process, trace_device(trace));
	const gt_id shapes[] = {trace_shape(trace, "gemm", 1, 32),
	                        trace_shape(trace, "reduce", 1, 32)};

	for (gt_time step = 0; step < 3; step++) {
		const gt_time at = step * 1000;
		const gt_id range = trace_range(trace, thread, GT_NONE, "step", at, at + 900);
		const gt_id inner = trace_range(trace, thread, range, "inner", at + 1, at + 800);
		const gt_id call =
			trace_call_in(trace, inner, "cudaLaunchKernel", at + 10, at + 20);

		trace->ranges.rows[range].flags = step ? 0 : GT_AROUND;
		trace->ranges.rows[inner].flags = step ? 0 : GT_AROUND;
		trace_kernel(trace, stream, shapes[0], at + 100, at + 200 + 10 * step)->api_call =
			call;
		trace_kernel(trace, stream, shapes[0], at + 300, at + 400)->api_call = call;
		if (step < 2)
			trace_kernel(trace, stream, shapes[1], at + 500, at + 550)->api_call = call;
	}
}

Test(kernels, tell_what_they_take_of_each_range)
{
	struct scene scene;

	trace_init(&scene.trace, 10000);
	add_steps(&scene.trace);
	run_by(&scene, "each=yes");
	cr_assert(eq(sz, row_count(&scene.result, "each"), 2));
	expect_words(&scene.result, "each", 0, "kernel", "gemm");
	expect_count(&scene.result, "each", 0, "ranges", 2);
	expect_real(&scene.result, "each", 0, "calls", 2.0);
	expect_count(&scene.result, "each", 0, "mean_ns", 215);
	expect_count(&scene.result, "each", 0, "median_ns", 215);
	expect_count(&scene.result, "each", 0, "min_ns", 210);
	expect_count(&scene.result, "each", 0, "max_ns", 220);
	expect_count(&scene.result, "each", 0, "p95_ns", 220);
	expect_count(&scene.result, "each", 0, "deviation_ns", 7);
	/* Nothing of it in the last step. */
	expect_words(&scene.result, "each", 1, "kernel", "reduce");
	expect_real(&scene.result, "each", 1, "calls", 0.5);
	expect_count(&scene.result, "each", 1, "median_ns", 25);
	expect_count(&scene.result, "each", 1, "min_ns", 0);
	expect_count(&scene.result, "each", 1, "max_ns", 50);
	expect_count(&scene.result, "each", 1, "deviation_ns", 35);
	scene_release(&scene);
}

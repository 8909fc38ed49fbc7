/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/check_scene.h"
#include "base/strings.h"

#define US INT64_C(1000)

static void make(void)
{
	scene_begin(10000 * US);
}

TestSuite(occupancy, .init = make, .fini = scene_end);

/* A kernel of so many blocks of 256 threads, three of which fit on each of 132 multiprocessors. */
static gt_id add_shape(const char *name, gt_count blocks)
{
	const gt_id row = trace_shape(&trace, name, blocks, 256);

	trace.launch_shapes.rows[row].registers = 72;
	return row;
}

static void add_counter(gt_id kernel, const char *name, double value)
{
	*gt_array_push(&trace.kernel_counters) = (struct gt_kernel_counter){
		.kernel = kernel,
		.name = gt_strings_add(trace.strings, name),
		.metric = gt_strings_add(trace.strings, "sm__warps_active"),
		.unit = gt_strings_add(trace.strings, "%"),
		.value = value,
	};
}

static void add_note(const char *topic, const char *text)
{
	*gt_array_push(&trace.notes) = (struct gt_note){
		.process = 0,
		.topic = gt_strings_add(trace.strings, topic),
		.text = gt_strings_add(trace.strings, text),
	};
}

Test(occupancy, says_what_fits_and_what_the_last_wave_leaves_empty)
{
	/* 396 blocks at a time: 594 are a wave and a half. */
	trace_kernel(&trace, stream, add_shape("half", 594), 100 * US, 200 * US);
	trace_kernel(&trace, stream, shape, 300 * US, 310 * US);
	run_report(&result, "occupancy", &trace);
	cr_assert(eq(sz, row_count(&result, "occupancy"), 2));
	expect_words(&result, "occupancy", 0, "kernel", "half");
	expect_words(&result, "occupancy", 0, "grid", "594x1x1");
	expect_words(&result, "occupancy", 0, "block", "256x1x1");
	expect_count(&result, "occupancy", 0, "calls", 1);
	expect_count(&result, "occupancy", 0, "total_ns", 100 * US);
	expect_real(&result, "occupancy", 0, "share_percent", 100.0 * 100 / 110);
	expect_real(&result, "occupancy", 0, "occupancy_percent", 37.5);
	expect_words(&result, "occupancy", 0, "limited_by", "registers");
	expect_count(&result, "occupancy", 0, "blocks_per_sm", 3);
	expect_count(&result, "occupancy", 0, "blocks_by_registers", 3);
	expect_count(&result, "occupancy", 0, "blocks_by_warps", 8);
	expect_real(&result, "occupancy", 0, "waves_per_sm", 1.5);
	expect_real(&result, "occupancy", 0, "empty_percent", 50.0);
	/* A quarter of the places of two waves. */
	expect_count(&result, "occupancy", 0, "tail_ns", 25 * US);
	/* One block of a warp on 132 multiprocessors is less than a wave. */
	expect_words(&result, "occupancy", 1, "kernel", "gemm");
	expect_unknown(&result, "occupancy", 1, "tail_ns");
	expect_unknown(&result, "occupancy", 1, "raise");
	cr_expect(has_remark(&result, "1 of 2 launch shapes have up to one wave"));
}

/* Three blocks on each of 132 multiprocessors: with one more something waits for room. */
Test(occupancy, names_no_change_up_to_one_wave)
{
	trace_kernel(&trace, stream, add_shape("full", 396), 100 * US, 300 * US);
	trace_kernel(&trace, stream, add_shape("more", 397), 300 * US, 400 * US);
	run_report(&result, "occupancy", &trace);
	expect_words(&result, "occupancy", 0, "kernel", "full");
	expect_real(&result, "occupancy", 0, "waves_per_sm", 1.0);
	expect_unknown(&result, "occupancy", 0, "raise");
	expect_unknown(&result, "occupancy", 0, "raised_percent");
	expect_words(&result, "occupancy", 1, "kernel", "more");
	expect_words(&result, "occupancy", 1, "raise", "64 registers");
	expect_real(&result, "occupancy", 1, "raised_percent", 50.0);
	cr_expect(has_remark(&result, "1 of 2 launch shapes have up to one wave"));
}

Test(occupancy, names_changes_that_let_more_blocks_fit)
{
	trace_kernel(&trace, stream, add_shape("half", 594), 100 * US, 200 * US);
	run_report(&result, "occupancy", &trace);
	expect_words(&result, "occupancy", 0, "raise", "64 registers");
	expect_real(&result, "occupancy", 0, "raised_percent", 50.0);
	cr_assert(ge(sz, row_count(&result, "changes"), 2));
	expect_words(&result, "changes", 0, "kernel", "half");
	expect_words(&result, "changes", 0, "raise", "64 registers");
	expect_words(&result, "changes", 0, "how", "__launch_bounds__(256, 4) or -maxrregcount=64");
	expect_count(&result, "changes", 0, "raised_registers", 64);
	expect_unknown(&result, "changes", 0, "raised_shared_bytes");
	expect_count(&result, "changes", 0, "blocks_per_sm", 3);
	expect_count(&result, "changes", 0, "raised_blocks_per_sm", 4);
	expect_words(&result, "changes", 1, "raise", "32 registers");
	expect_real(&result, "changes", 1, "raised_percent", 100.0);
	expect_words(&result, "changes", 1, "raised_limited_by", "warps");
}

Test(occupancy, names_shared_memory_its_configuration_and_other_blocks)
{
	const gt_id row = trace_shape(&trace, "shared", 10000, 192);

	trace.launch_shapes.rows[row].shared_dynamic_bytes = 31 << 10;
	trace.launch_shapes.rows[row].shared_executed_bytes = 100 << 10;
	trace_kernel(&trace, stream, row, 100 * US, 200 * US);
	run_report(&result, "occupancy", &trace);
	expect_count(&result, "occupancy", 0, "shared_configured_bytes", 100 << 10);
	expect_count(&result, "occupancy", 0, "blocks_per_sm", 3);
	expect_words(&result, "changes", 0, "raise", "228 KiB configured");
	expect_words(&result, "changes", 0, "how",
	             "cudaFuncAttributePreferredSharedMemoryCarveout of 100");
	expect_count(&result, "changes", 0, "raised_blocks_per_sm", 7);
	/* 25 KiB a block, of which the system takes one. */
	expect_words(&result, "changes", 1, "raise", "24 KiB shared");
	expect_unknown(&result, "changes", 1, "how");
	expect_count(&result, "changes", 1, "raised_shared_bytes", 24 << 10);
	expect_count(&result, "changes", 1, "raised_blocks_per_sm", 4);
	expect_words(&result, "changes", row_count(&result, "changes") - 1, "raise",
	             "blocks of 1024");
}

Test(occupancy, takes_the_achieved_one_of_profiled_launches)
{
	const gt_id half = add_shape("half", 594);

	trace_kernel(&trace, stream, half, 100 * US, 200 * US);
	trace_kernel(&trace, stream, half, 300 * US, 900 * US)->flags |= GT_PROFILED;
	trace_kernel(&trace, stream, half, 1000 * US, 1600 * US)->flags |= GT_PROFILED;
	add_counter(1, "warps_active_percent", 30);
	add_counter(1, "dram_read_bytes", 1e9);
	add_counter(2, "warps_active_percent", 32);
	run_report(&result, "occupancy", &trace);
	cr_assert(eq(sz, row_count(&result, "occupancy"), 1));
	expect_count(&result, "occupancy", 0, "calls", 1);
	expect_count(&result, "occupancy", 0, "total_ns", 100 * US);
	expect_real(&result, "occupancy", 0, "achieved_percent", 31.0);
	expect_words(&result, "occupancy", 0, "achieved_source", "kernel counters");
	expect_real(&result, "devices", 0, "achieved_percent", 31.0);
	expect_real(&result, "devices", 0, "achieved_share_percent", 100.0);
	cr_expect(not(has_remark(&result, "was not measured")));
}

/* A launch that was only replayed has no time, and is there all the same. */
Test(occupancy, shows_what_was_only_profiled)
{
	trace_kernel(&trace, stream, add_shape("half", 594), 300 * US, 900 * US)->flags |=
		GT_PROFILED;
	add_counter(0, "warps_active_percent", 30);
	run_report(&result, "occupancy", &trace);
	cr_assert(eq(sz, row_count(&result, "occupancy"), 1));
	expect_count(&result, "occupancy", 0, "calls", 0);
	expect_unknown(&result, "occupancy", 0, "total_ns");
	expect_unknown(&result, "occupancy", 0, "tail_ns");
	expect_real(&result, "occupancy", 0, "achieved_percent", 30.0);
	cr_expect(eq(sz, row_count(&result, "changes"), 0));
}

/* Samples of 100 us: half of the multiprocessors have warps, a quarter of what all could hold. */
static void sample(bool with_active)
{
	static const double warps[] = {0, 20, 30, NAN, 0};
	static const double active[] = {0, 40, 60, 50, 0};
	const struct trace_column columns[] = {
		{"warps_active_percent", "%", GT_COUNTER_MEAN, warps},
		{"sm_active_percent", "%", GT_COUNTER_MEAN, active},
	};

	trace_kernel(&trace, stream, add_shape("half", 594), 100 * US, 400 * US);
	trace_sampled(&trace, device, 0, 100 * US, columns, with_active ? 2 : 1, 5);
}

Test(occupancy, takes_the_achieved_one_of_samples)
{
	sample(true);
	run_report(&result, "occupancy", &trace);
	expect_real(&result, "occupancy", 0, "achieved_percent", 50.0);
	expect_words(&result, "occupancy", 0, "achieved_source", "PM samples");
}

Test(occupancy, is_of_all_multiprocessors_where_samples_do_not_tell_which_had_warps)
{
	sample(false);
	run_report(&result, "occupancy", &trace);
	expect_real(&result, "occupancy", 0, "achieved_percent", 25.0);
}

Test(occupancy, gives_no_samples_where_others_work_may_be_left_out)
{
	struct gt_view view;

	sample(true);
	view = gt_view_of(&trace);
	view.by_work = true;
	run_report_on(&result, "occupancy", &view);
	expect_unknown(&result, "occupancy", 0, "achieved_percent");
	expect_words(&result, "occupancy", 0, "achieved_source", "not measured");
	cr_expect(has_remark(&result, "No sample is given to a kernel"));
}

Test(occupancy, says_what_would_measure_it_and_what_stood_in_the_way)
{
	trace_kernel(&trace, stream, shape, 100, 200);
	add_note("kernel_counters", "no kernel counters of GPU 0: nobody may");
	add_note("clock", "it ticks");
	run_report(&result, "occupancy", &trace);
	expect_unknown(&result, "occupancy", 0, "achieved_percent");
	expect_words(&result, "occupancy", 0, "achieved_source", "not measured");
	expect_unknown(&result, "devices", 0, "achieved_percent");
	cr_expect(has_remark(&result, "not measured of 1 of 1 launch shapes: gputrace run "
	                              "--kernel-counters=occupancy"));
	cr_expect(has_remark(&result, "Noted: no kernel counters of GPU 0: nobody may."));
	cr_expect(not(has_remark(&result, "it ticks")));
}

Test(occupancy, counts_waves_on_the_multiprocessors_of_a_green_context)
{
	const gt_id half = add_shape("half", 594);
	const gt_id green = trace_stream(&trace, process, device);

	trace.contexts.rows[trace.streams.rows[green].context].sm_count = 33;
	trace_kernel(&trace, stream, half, 100 * US, 200 * US);
	trace_kernel(&trace, green, half, 200 * US, 500 * US);
	run_report(&result, "occupancy", &trace);
	cr_assert(eq(sz, row_count(&result, "occupancy"), 2));
	expect_count(&result, "occupancy", 0, "multiprocessors", 33);
	expect_real(&result, "occupancy", 0, "waves_per_sm", 6.0);
	expect_count(&result, "occupancy", 0, "tail_ns", 0);
	expect_count(&result, "occupancy", 1, "multiprocessors", 132);
	expect_real(&result, "occupancy", 1, "waves_per_sm", 1.5);
	cr_expect(has_remark(&result, "1 launch shapes ran in a green context"));
	gt_result_release(&result);
	run_report(&result, "kernels", &trace);
	expect_real(&result, "launch_shapes", 0, "waves_per_sm", 6.0);
	expect_real(&result, "launch_shapes", 1, "waves_per_sm", 1.5);
}

Test(occupancy, says_what_clusters_leave_open)
{
	const gt_id half = add_shape("half", 594);

	trace.launch_shapes.rows[half].cluster_x = 2;
	trace.launch_shapes.rows[half].cluster_y = 1;
	trace.launch_shapes.rows[half].cluster_z = 1;
	trace_kernel(&trace, stream, half, 100 * US, 200 * US);
	run_report(&result, "occupancy", &trace);
	expect_words(&result, "occupancy", 0, "cluster", "2x1x1");
	cr_expect(has_remark(&result, "Blocks of a cluster run on multiprocessors that are"));
}

Test(occupancy, is_not_known_without_the_limits_of_the_gpu)
{
	trace.devices.rows[device].cc_major = 0;
	trace_kernel(&trace, stream, add_shape("half", 594), 100 * US, 200 * US);
	run_report(&result, "occupancy", &trace);
	expect_unknown(&result, "occupancy", 0, "occupancy_percent");
	expect_unknown(&result, "occupancy", 0, "limited_by");
	expect_unknown(&result, "occupancy", 0, "blocks_per_sm");
	expect_unknown(&result, "occupancy", 0, "waves_per_sm");
	expect_unknown(&result, "occupancy", 0, "tail_ns");
	expect_unknown(&result, "devices", 0, "warps");
	expect_unknown(&result, "devices", 0, "tail_ns");
	cr_expect(has_remark(&result, "The occupancy of 1 launch shapes is not known"));
}

Test(occupancy, sums_up_each_gpu_by_time)
{
	trace_kernel(&trace, stream, add_shape("half", 594), 100 * US, 200 * US);
	trace_kernel(&trace, stream, trace_shape(&trace, "full", 5280, 256), 300 * US, 600 * US);
	run_report(&result, "occupancy", &trace);
	cr_assert(eq(sz, row_count(&result, "devices"), 1));
	expect_count(&result, "devices", 0, "multiprocessors", 132);
	expect_count(&result, "devices", 0, "warps", 64);
	expect_count(&result, "devices", 0, "blocks", 32);
	expect_count(&result, "devices", 0, "registers", 65536);
	expect_count(&result, "devices", 0, "shared_bytes", 228 << 10);
	expect_count(&result, "devices", 0, "total_ns", 400 * US);
	expect_real(&result, "devices", 0, "occupancy_percent", (37.5 * 100 + 100.0 * 300) / 400);
	expect_count(&result, "devices", 0, "tail_ns", 25 * US);
	expect_real(&result, "devices", 0, "achieved_share_percent", 0.0);
}

Test(occupancy, has_nothing_to_say_without_kernels)
{
	run_report(&result, "occupancy", &trace);
	cr_expect(eq(sz, row_count(&result, "occupancy"), 0));
	cr_expect(gt_result_says_why_empty(&result));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/check_scene.h"
#include "analysis/parameter.h"
#include "model/names.h"
#include "model/ranges/folds.h"
#include "model/view/filter.h"

static void begin(void)
{
	scene_begin(10000);
}

/* train has two steps of 100 and 300 ns, each with a forward, and a checkpoint. */
static void train(void)
{
	const gt_id outer = trace_range(&trace, thread, GT_NONE, "train", 0, 1000);
	const gt_id first = trace_range(&trace, thread, outer, "step", 100, 200);
	const gt_id forward = trace_range(&trace, thread, first, "forward", 110, 150);
	const gt_id second = trace_range(&trace, thread, outer, "step", 300, 600);
	const gt_id again = trace_range(&trace, thread, second, "forward", 310, 350);
	const gt_id save = trace_range(&trace, thread, outer, "checkpoint", 700, 900);
	gt_id copying;

	scene_launch(forward, 120, 1000, 1100);
	scene_launch(first, 160, 1150, 1200);
	scene_launch(again, 320, 1300, 1500);
	scene_launch(again, 330, 1600, 1700);
	copying = trace_call_in(&trace, save, "cudaMemcpyAsync", 710, 720);
	trace_copy(&trace, stream, GT_COPY_DEVICE_TO_HOST, 5000, 2000, 2500)->api_call = copying;
}

/* Runs the report on a part of the trace. */
static void run_part(enum gt_filter_part part, const char *value)
{
	const struct gt_report *report = gt_report_find("ranges");
	struct gt_arguments arguments;
	struct gt_filter filter;
	struct gt_view view;

	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, part, value, NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	gt_arguments_init(&arguments, report->parameters);
	gt_result_init(&result);
	cr_assert(eq(int, gt_report_run(report, &view, &arguments, &result, NULL), 0));
	gt_filter_release(&filter);
}

static void run_chosen(const char *range)
{
	run_part(GT_FILTER_RANGE, range);
}

Test(ranges, have_a_row_for_each_path_inner_ones_behind_outer_ones)
{
	begin();
	train();
	run_report(&result, "ranges", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 4));
	expect_words(&result, "ranges", 0, "range", "train");
	expect_words(&result, "ranges", 1, "range", "train/step");
	expect_words(&result, "ranges", 2, "range", "train/step/forward");
	expect_words(&result, "ranges", 3, "range", "train/checkpoint");
	scene_end();
}

Test(ranges, tell_what_the_host_took)
{
	begin();
	train();
	run_report(&result, "ranges", &trace);
	expect_count(&result, "ranges", 1, "ranges", 2);
	expect_count(&result, "ranges", 1, "wall_ns", 400);
	expect_count(&result, "ranges", 1, "mean_ns", 200);
	expect_count(&result, "ranges", 1, "median_ns", 200);
	expect_count(&result, "ranges", 1, "min_ns", 100);
	expect_count(&result, "ranges", 1, "max_ns", 300);
	expect_count(&result, "ranges", 1, "p95_ns", 300);
	expect_count(&result, "ranges", 1, "open", 0);
	scene_end();
}

Test(ranges, tell_how_long_no_gpu_did_anything_meanwhile)
{
	begin();
	train();
	(void)trace_range(&trace, thread, GT_NONE, "wait", 1000, 2050);
	run_report(&result, "ranges", &trace);
	expect_words(&result, "ranges", 0, "range", "wait");
	/* Busy: 1000..1100, 1150..1200, 1300..1500, 1600..1700 and from 2000 on. */
	expect_real(&result, "ranges", 0, "quiet_percent", 100.0 * 550 / 1050);
	expect_words(&result, "ranges", 1, "range", "train");
	expect_real(&result, "ranges", 1, "quiet_percent", 100.0);
	scene_end();
}

Test(ranges, tell_what_gpus_took_whenever_it_ran)
{
	begin();
	train();
	run_report(&result, "ranges", &trace);
	expect_count(&result, "ranges", 0, "kernels", 4);
	expect_count(&result, "ranges", 0, "copies", 1);
	expect_count(&result, "ranges", 0, "copied_bytes", 5000);
	expect_count(&result, "ranges", 1, "gpu_ns", 450);
	/* 1000..1200 and 1300..1700, with holes of 50 and 100. */
	expect_count(&result, "ranges", 1, "span_ns", 600);
	expect_count(&result, "ranges", 1, "idle_ns", 150);
	expect_real(&result, "ranges", 1, "span_busy_percent", 75.0);
	expect_count(&result, "ranges", 2, "kernels", 3);
	expect_count(&result, "ranges", 2, "gpu_ns", 400);
	expect_count(&result, "ranges", 3, "kernels", 0);
	expect_count(&result, "ranges", 3, "gpu_ns", 500);
	scene_end();
}

Test(ranges, tell_what_one_of_them_takes)
{
	begin();
	train();
	run_report(&result, "ranges", &trace);
	expect_words(&result, "each", 1, "range", "train/step");
	expect_real(&result, "each", 1, "kernels", 2.0);
	expect_count(&result, "each", 1, "gpu_mean_ns", 225);
	expect_count(&result, "each", 1, "gpu_median_ns", 225);
	expect_count(&result, "each", 1, "gpu_min_ns", 150);
	expect_count(&result, "each", 1, "gpu_max_ns", 300);
	expect_count(&result, "each", 1, "gpu_p95_ns", 300);
	expect_count(&result, "each", 1, "gpu_deviation_ns", 106);
	expect_count(&result, "each", 1, "idle_mean_ns", 75);
	expect_count(&result, "each", 1, "idle_max_ns", 100);
	expect_count(&result, "each", 1, "wall_mean_ns", 200);
	cr_expect(gt_result_find(&result, "each")->detail);
	scene_end();
}

Test(ranges, show_what_one_of_them_takes_where_that_is_asked_for)
{
	begin();
	train();
	run_report_with(&result, "ranges", &trace, "each=yes");
	cr_expect(not(gt_result_find(&result, "each")->detail));
	scene_end();
}

Test(ranges, by_name_are_counted_wherever_they_stand)
{
	begin();
	train();
	(void)trace_range(&trace, thread, GT_NONE, "forward", 2000, 2050);
	run_report_with(&result, "ranges", &trace, "by=name");
	cr_assert(eq(sz, row_count(&result, "ranges"), 4));
	for (size_t i = 0; i < 4; i++)
		if (strcmp(cell(&result, "ranges", i, "range")->text, "forward") == 0)
			expect_count(&result, "ranges", i, "ranges", 3);
	expect_words(&result, "ranges", 0, "range", "train");
	expect_words(&result, "ranges", 1, "range", "step");
	scene_end();
}

Test(ranges, by_domain_are_those_of_one_library)
{
	begin();
	train();
	(void)trace_domain(&trace, process, "unused");

	const gt_id domain = trace_domain(&trace, process, "NCCL");
	const gt_id reduce = trace_range(&trace, thread, GT_NONE, "reduce", 2000, 6000);

	trace.ranges.rows[reduce].domain = domain;
	scene_launch(reduce, 2010, 7000, 7100);
	run_report_with(&result, "ranges", &trace, "by=domain");
	cr_assert(eq(sz, row_count(&result, "ranges"), 2));
	expect_words(&result, "ranges", 0, "domain", "NCCL");
	expect_count(&result, "ranges", 0, "ranges", 1);
	expect_count(&result, "ranges", 0, "kernels", 1);
	expect_words(&result, "ranges", 1, "domain", "(default)");
	expect_count(&result, "ranges", 1, "ranges", 6);
	expect_count(&result, "ranges", 1, "kernels", 4);
	scene_end();
}

Test(ranges, that_are_open_have_no_wall_time)
{
	begin();

	const gt_id open = trace_range(&trace, thread, GT_NONE, "serve", 100, 100);

	trace.ranges.rows[open].end_ns = 0;
	trace.ranges.rows[open].flags = GT_UNFINISHED;
	scene_launch(open, 120, 1000, 1100);
	run_report(&result, "ranges", &trace);
	expect_count(&result, "ranges", 0, "ranges", 1);
	expect_count(&result, "ranges", 0, "open", 1);
	expect_unknown(&result, "ranges", 0, "wall_ns");
	expect_unknown(&result, "ranges", 0, "p95_ns");
	expect_count(&result, "ranges", 0, "gpu_ns", 100);
	scene_end();
}

Test(ranges, without_api_calls_know_nothing_of_gpus)
{
	begin();
	(void)trace_range(&trace, thread, GT_NONE, "step", 100, 200);
	trace_kernel(&trace, stream, shape, 1000, 1100);
	run_report(&result, "ranges", &trace);
	expect_count(&result, "ranges", 0, "wall_ns", 100);
	expect_unknown(&result, "ranges", 0, "gpu_ns");
	expect_unknown(&result, "ranges", 0, "kernels");
	expect_unknown(&result, "ranges", 0, "idle_ns");
	expect_unknown(&result, "each", 0, "gpu_mean_ns");
	cr_expect(has_remark(&result, "No API calls were recorded"));
	scene_end();
}

Test(ranges, that_launched_nothing_took_no_gpu_time_and_have_no_span)
{
	begin();
	train();
	(void)trace_range(&trace, thread, GT_NONE, "data", 3000, 9000);
	run_report(&result, "ranges", &trace);
	expect_words(&result, "ranges", 0, "range", "data");
	expect_count(&result, "ranges", 0, "gpu_ns", 0);
	expect_unknown(&result, "ranges", 0, "span_ns");
	expect_unknown(&result, "ranges", 0, "span_busy_percent");
	expect_unknown(&result, "ranges", 0, "idle_ns");
	expect_real(&result, "ranges", 0, "busy_percent", 0);
	scene_end();
}

/* Busy is a share of the wall time: what runs later is none of it. */
Test(ranges, are_busy_while_their_work_runs_before_they_end)
{
	begin();

	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 1000);
	const gt_id inner = trace_range(&trace, thread, step, "inner", 100, 200);

	scene_launch(inner, 110, 150, 350);
	scene_launch(step, 300, 900, 1400);
	run_report(&result, "ranges", &trace);
	expect_words(&result, "ranges", 0, "range", "step");
	expect_real(&result, "ranges", 0, "busy_percent", 30.0);
	expect_count(&result, "ranges", 0, "gpu_ns", 700);
	expect_count(&result, "ranges", 0, "span_ns", 1250);
	expect_real(&result, "ranges", 1, "busy_percent", 50.0);
	expect_count(&result, "ranges", 1, "gpu_ns", 200);
	scene_end();
}

/* Two GPUs at once are one busy time, and one sum of GPU time. */
Test(ranges, are_busy_once_on_several_gpus)
{
	begin();

	const gt_id other = trace_stream(&trace, process, trace_device(&trace));
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 1000);

	scene_launch(step, 10, 100, 500);
	scene_launch(step, 20, 300, 700)->stream = other;
	trace.kernels.rows[1].device = 1;
	run_report(&result, "ranges", &trace);
	expect_real(&result, "ranges", 0, "busy_percent", 60.0);
	expect_count(&result, "ranges", 0, "gpu_ns", 800);
	expect_count(&result, "ranges", 0, "span_ns", 800);
	scene_end();
}

/* Four ranges share a name. The work of the first runs on in the second; the nested one's comes
 * later. */
Test(ranges, that_come_again_are_busy_with_their_own_work)
{
	begin();

	const gt_id first = trace_range(&trace, thread, GT_NONE, "step", 0, 100);
	const gt_id second = trace_range(&trace, thread, GT_NONE, "step", 100, 200);
	const gt_id again = trace_range(&trace, thread, second, "step", 150, 200);
	const gt_id late = trace_range(&trace, thread, GT_NONE, "step", 200, 400);

	scene_launch(first, 10, 50, 300);
	scene_launch(again, 160, 300, 350);
	scene_launch(late, 210, 350, 400);
	trace.ranges.rows[trace_range(&trace, thread, GT_NONE, "step", 500, 600)].flags =
		GT_UNFINISHED;
	run_report_with(&result, "ranges", &trace, "by=name");
	expect_count(&result, "ranges", 0, "open", 1);
	expect_count(&result, "ranges", 0, "wall_ns", 450);
	expect_real(&result, "ranges", 0, "busy_percent", 100.0 * (50 + 50) / 450);
	scene_end();
}

/*
 * step with a forward pass; what autograd runs for it, of which the operation is known by its
 * number and the rest by time; and what any of two threads may have asked for.
 */
static void train_with_autograd(void)
{
	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 1000);
	const gt_id op =
		trace_range(&trace, other, GT_NONE, "MmBackward0, seq = 5, op_id = 1", 300, 400);
	gt_id call;

	trace.ranges.rows[op].for_range = step;
	scene_launch(step, 10, 100, 200);
	scene_launch(op, 310, 400, 600);
	call = trace_call(&trace, other, "cudaLaunchKernel", 500, 505);
	trace.api_calls.rows[call].for_range = step;
	trace.api_calls.rows[call].flags = GT_BY_TIME;
	trace_kernel(&trace, stream, shape, 700, 730)->api_call = call;
	call = trace_call(&trace, other, "cudaLaunchKernel", 800, 805);
	trace.api_calls.rows[call].flags = GT_UNTOLD;
	trace_kernel(&trace, stream, shape, 810, 820)->api_call = call;
}

Test(ranges, own_what_other_threads_did_for_them)
{
	begin();
	train_with_autograd();
	run_report(&result, "ranges", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 2));
	expect_words(&result, "ranges", 0, "range", "step");
	expect_count(&result, "ranges", 0, "kernels", 3);
	expect_count(&result, "ranges", 0, "gpu_ns", 330);
	expect_count(&result, "ranges", 0, "by_time_ns", 30);
	expect_real(&result, "ranges", 0, "busy_percent", 33.0);
	expect_words(&result, "ranges", 1, "range", "MmBackward0, seq = 5, op_id = 1");
	expect_count(&result, "ranges", 1, "by_time_ns", 0);
	cr_expect(has_remark(
		&result,
		"Other threads launched 230 ns of 340 ns of GPU time for these "
		"ranges: 200 ns is known by sequence numbers of PyTorch, 30 ns by time alone"));
	cr_expect(has_remark(&result, "10 ns of GPU time is in no range"));
	scene_end();
}

Test(ranges, that_are_chosen_say_what_belongs_to_them_by_time)
{
	begin();
	train_with_autograd();
	run_chosen("step");
	cr_expect(eq(sz, trace.kernels.count, 3));
	expect_count(&result, "ranges", 0, "gpu_ns", 330);
	expect_count(&result, "ranges", 0, "by_time_ns", 30);
	scene_end();
}

Test(ranges, own_what_their_threads_did_alone_where_that_is_asked_for)
{
	struct gt_filter filter;
	struct gt_view view;

	begin();
	train_with_autograd();
	gt_filter_init(&filter);
	gt_filter_own_threads(&filter);
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&result, "ranges", &view);
	expect_count(&result, "ranges", 0, "gpu_ns", 100);
	expect_count(&result, "ranges", 0, "by_time_ns", 0);
	cr_expect(not(has_remark(&result, "Other threads")));
	cr_expect(not(has_remark(&result, "several others")));
	gt_filter_release(&filter);
	scene_end();
}

/* So many steps, of which each has a number and, where that is given, comes twice. */
static void number_steps(int steps, bool twice)
{
	const gt_id outer = trace_range(&trace, thread, GT_NONE, "train", 0, 10000);

	for (int i = 0; i < steps * (twice + 1); i++) {
		char name[32];
		gt_id step;

		snprintf(name, sizeof(name), "step %d of epoch 1", i % steps);
		step = trace_range(&trace, thread, outer, name, 100 * i, 100 * i + 50);
		(void)trace_range(&trace, thread, step, "forward", 100 * i, 100 * i + 10);
	}
}

Test(ranges, that_are_numbered_are_one)
{
	begin();
	number_steps(GT_FOLD_MANY, false);
	run_report(&result, "ranges", &trace);
	cr_assert(eq(sz, row_count(&result, "ranges"), 3));
	expect_words(&result, "ranges", 1, "range", "train/step # of epoch 1");
	expect_count(&result, "ranges", 1, "ranges", GT_FOLD_MANY);
	expect_count(&result, "ranges", 1, "wall_ns", 50 * GT_FOLD_MANY);
	expect_words(&result, "ranges", 2, "range", "train/step # of epoch 1/forward");
	cr_expect(has_remark(&result, "32 names that differ in numbers alone are counted as 1"));
	scene_end();
}

Test(ranges, that_are_few_or_come_again_keep_their_numbers)
{
	begin();
	number_steps(GT_FOLD_MANY - 1, false);
	run_report(&result, "ranges", &trace);
	cr_expect(eq(sz, row_count(&result, "ranges"), 1 + 2 * (GT_FOLD_MANY - 1)));
	scene_end();
	begin();
	number_steps(GT_FOLD_MANY, true);
	run_report(&result, "ranges", &trace);
	cr_expect(eq(sz, row_count(&result, "ranges"), 1 + 2 * GT_FOLD_MANY));
	scene_end();
}

Test(ranges, keep_or_lose_their_numbers_where_that_is_asked_for)
{
	begin();
	number_steps(GT_FOLD_MANY, false);
	run_report_with(&result, "ranges", &trace, "fold=no");
	cr_expect(eq(sz, row_count(&result, "ranges"), 1 + 2 * GT_FOLD_MANY));
	scene_end();
	begin();
	number_steps(2, true);
	run_report_with(&result, "ranges", &trace, "fold=yes");
	cr_expect(eq(sz, row_count(&result, "ranges"), 3));
	expect_count(&result, "ranges", 1, "ranges", 4);
	scene_end();
}

Test(ranges, that_launched_nothing_know_what_gpus_did_where_they_alone_are_chosen)
{
	begin();
	train();
	(void)trace_range(&trace, thread, GT_NONE, "data", 1050, 2050);
	run_chosen("data");
	cr_assert(eq(sz, row_count(&result, "ranges"), 1));
	/* Busy: until 1100, 1150..1200, 1300..1500, 1600..1700 and from 2000 on. */
	expect_real(&result, "ranges", 0, "quiet_percent", 100.0 * 550 / 1000);
	expect_count(&result, "ranges", 0, "gpu_ns", 0);
	expect_count(&result, "ranges", 0, "kernels", 0);
	cr_expect(not(has_remark(&result, "No API calls were recorded")));
	scene_end();
}

Test(ranges, that_are_chosen_count_as_idle_only_when_nothing_ran_that_others_asked_for)
{
	begin();
	train();
	/* In the hole from 1500 to 1600 of the second forward. */
	trace_fill(&trace, stream, 8, 1500, 1540)->api_call =
		trace_call_in(&trace, 0, "cudaMemsetAsync", 720, 725);
	run_chosen("forward");
	expect_words(&result, "ranges", 0, "range", "train/step/forward");
	/* 1000..1100 of the first, 1300..1700 of the second. */
	expect_count(&result, "ranges", 0, "span_ns", 500);
	expect_count(&result, "ranges", 0, "idle_ns", 60);
	scene_end();
}

Test(ranges, are_chosen_as_they_are_shown_without_numbers)
{
	begin();
	number_steps(GT_FOLD_MANY, false);
	run_chosen("train/step # of epoch 1/forward");
	cr_assert(eq(sz, row_count(&result, "ranges"), 1));
	expect_count(&result, "ranges", 0, "ranges", GT_FOLD_MANY);
	scene_end();
}

Test(ranges, that_are_chosen_without_numbers_are_skipped_together)
{
	struct gt_filter filter;
	struct gt_view view;

	begin();
	number_steps(5, false);
	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_RANGE, "step # of epoch #", NULL), 0));
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_SKIP, "2", NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	cr_expect(eq(sz, trace.ranges.count, 1 + 2 * 3)); /* train is around them */
	gt_filter_release(&filter);
	gt_result_init(&result);
	scene_end();
}

Test(ranges, that_are_chosen_with_a_gpu_are_quiet_as_that_is)
{
	begin();
	train();
	(void)trace_range(&trace, thread, GT_NONE, "data", 3000, 4000);
	trace_kernel(&trace, trace_stream(&trace, process, trace_device(&trace)), shape, 3100,
	             3200);
	trace_kernel(&trace, stream, shape, 3500, 3900);
	run_chosen("data");
	expect_real(&result, "ranges", 0, "quiet_percent", 50.0);
	scene_end();
}

/* Both steps launch what runs from 1000 on; the first one began before the window. */
Test(ranges, of_a_window_have_no_work_of_those_that_began_before_it)
{
	begin();
	train();
	run_part(GT_FILTER_FROM, "250ns");
	cr_assert(eq(sz, row_count(&result, "ranges"), 3));
	expect_words(&result, "ranges", 0, "range", "train/step");
	expect_count(&result, "ranges", 0, "ranges", 1);
	expect_count(&result, "ranges", 0, "kernels", 2);
	expect_count(&result, "ranges", 0, "gpu_ns", 300);
	cr_expect(not(has_remark(&result, "in no range")));
	scene_end();
}

/* The range is open from 0 to 1000, the window ends at 400: busy 100..200 and 300..400 of it. */
Test(ranges, that_reach_beyond_a_window_count_up_to_its_end)
{
	gt_id range;

	begin();
	range = trace_range(&trace, thread, GT_NONE, "step", 0, 1000);
	scene_launch(range, 10, 100, 200);
	scene_launch(range, 20, 300, 600);
	scene_launch(range, 30, 700, 1000);
	run_part(GT_FILTER_TO, "400ns");
	expect_count(&result, "ranges", 0, "wall_ns", 1000);
	expect_real(&result, "ranges", 0, "busy_percent", 50.0);
	expect_real(&result, "ranges", 0, "quiet_percent", 50.0);
	scene_end();
}

Test(ranges, that_are_there_for_paths_alone_have_no_row)
{
	begin();
	train();
	trace.ranges.rows[0].flags |= GT_AROUND;
	run_report(&result, "ranges", &trace);
	expect_words(&result, "ranges", 0, "range", "train/step");
	scene_end();
}

Test(ranges, count_kernels_that_nobody_named)
{
	begin();
	train();
	trace_kernel(&trace, stream, shape, 3000, 3100)->api_call =
		trace_call(&trace, thread, "cudaLaunchKernel", 2000, 2010);
	run_report(&result, "ranges", &trace);
	cr_expect(has_remark(&result, "1 of 5 kernels were asked for in no range."));
	scene_end();
}

Test(ranges, have_marks_beside_them)
{
	begin();
	train();

	const gt_id domain = trace_domain(&trace, process, "TSL");

	trace_mark(&trace, thread, 1, "loss", 150);
	trace_mark(&trace, thread, GT_NONE, "epoch", 250)->domain = domain;
	trace_mark(&trace, thread, 3, "loss", 350);
	run_report(&result, "ranges", &trace);
	cr_assert(eq(sz, row_count(&result, "marks"), 2));
	expect_words(&result, "marks", 0, "mark", "loss");
	expect_count(&result, "marks", 0, "marks", 2);
	expect_count(&result, "marks", 0, "first_time_ns", 150);
	expect_count(&result, "marks", 0, "last_time_ns", 350);
	expect_words(&result, "marks", 0, "range", "train/step");
	expect_words(&result, "marks", 1, "mark", "TSL:epoch");
	expect_unknown(&result, "marks", 1, "range");
	scene_end();
}

Test(ranges, that_are_not_there_are_said_to_be_missing)
{
	begin();
	run_report(&result, "ranges", &trace);
	cr_expect(eq(sz, row_count(&result, "ranges"), 0));
	cr_expect(has_remark(&result, "No NVTX ranges were recorded."));
	scene_end();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/check_scene.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/view/filter.h"

/* Six steps of 100 ns and one of 400, each 1000 ns after the one before it, in one range around. */
enum { STEPS = 7, SLOW = 4 };

static gt_id steps[STEPS];

/* before, behind: makes what a step has before its launches and behind them; NULL: nothing. */
static void train_with(void (*before)(int step, gt_time begin),
                       void (*behind)(int step, gt_time begin))
{
	const gt_id outer = trace_range(&trace, thread, GT_NONE, "train", 0, 9000);

	for (int i = 0; i < STEPS; i++) {
		const gt_time begin = 1000 + 1000 * i;

		steps[i] = trace_range(&trace, thread, outer, "step", begin,
		                       begin + (i == SLOW ? 400 : 100));
		if (before)
			before(i, begin);
		scene_launch(steps[i], begin + 10, begin + 20, begin + 60);
		scene_launch(steps[i], begin + 20, begin + 50, begin + 80);
		if (behind)
			behind(i, begin);
	}
}

static void train(void)
{
	train_with(NULL, NULL);
}

Test(steps, are_the_ranges_that_repeat)
{
	scene_begin(10000);
	train();
	run_report(&result, "steps", &trace);
	cr_assert(eq(sz, row_count(&result, "steps"), 1));
	expect_words(&result, "steps", 0, "range", "train/step");
	expect_count(&result, "steps", 0, "steps", STEPS);
	expect_count(&result, "steps", 0, "mean_ns", 143);
	expect_count(&result, "steps", 0, "deviation_ns", 113);
	expect_count(&result, "steps", 0, "median_ns", 100);
	expect_count(&result, "steps", 0, "p95_ns", 400);
	expect_count(&result, "steps", 0, "min_ns", 100);
	expect_count(&result, "steps", 0, "max_ns", 400);
	scene_end();
}

/* The steps last 1000 ns: 60 of each are busy, and two calls of 5 take the thread. */
Test(steps, tell_the_parts_of_their_time)
{
	scene_begin(10000);
	train();
	run_report(&result, "steps", &trace);
	expect_real(&result, "steps", 0, "busy_percent", 42.0);
	expect_real(&result, "steps", 0, "quiet_percent", 58.0);
	expect_real(&result, "steps", 0, "host_percent", 93.0);
	expect_real(&result, "steps", 0, "kernels", 2.0);
	expect_count(&result, "each_step", 0, "step", SLOW + 1);
	expect_count(&result, "each_step", 0, "wall_ns", 400);
	expect_real(&result, "each_step", 0, "times", 4.0);
	expect_count(&result, "each_step", 0, "busy_ns", 60);
	expect_count(&result, "each_step", 0, "quiet_ns", 340);
	expect_count(&result, "each_step", 0, "host_ns", 390);
	expect_count(&result, "each_step", 0, "kernels", 2);
	expect_count(&result, "each_step", 1, "step", 1);
	scene_end();
}

static void launch_late(int step, gt_time begin)
{
	if (step == 0)
		scene_launch(steps[step], begin + 90, begin + 95, begin + 300);
}

/* Work that runs after the step's end is its work, and no busy time of it. */
Test(steps, are_busy_with_their_own_work_while_they_last)
{
	scene_begin(10000);
	train_with(NULL, launch_late);
	run_report(&result, "steps", &trace);
	expect_count(&result, "each_step", 1, "step", 1);
	expect_count(&result, "each_step", 1, "busy_ns", 65);
	expect_count(&result, "each_step", 1, "gpu_ns", 265);
	expect_count(&result, "each_step", 1, "kernels", 3);
	scene_end();
}

Test(steps, with_numbers_in_their_names_are_steps_as_well)
{
	scene_begin(10000);
	for (int i = 0; i < STEPS; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "step %d", i);
		(void)trace_range(&trace, thread, GT_NONE, name, 1000 * i, 1000 * i + 100);
	}
	run_report(&result, "steps", &trace);
	expect_words(&result, "steps", 0, "range", "step #");
	expect_count(&result, "steps", 0, "steps", STEPS);
	scene_end();
}

/* The median of five is 0 ns: how many times longer one took is not known. */
Test(steps, that_take_no_time_have_no_multiple_of_it)
{
	scene_begin(10000);
	for (int i = 0; i < 5; i++)
		(void)trace_range(&trace, thread, GT_NONE, "step", 1000 * i,
		                  1000 * i + (i == 4 ? 100 : 0));
	run_report(&result, "steps", &trace);
	expect_count(&result, "steps", 0, "median_ns", 0);
	expect_count(&result, "each_step", 0, "wall_ns", 100);
	expect_unknown(&result, "each_step", 0, "times");
	scene_end();
}

Test(steps, are_none_where_no_range_ended_five_times)
{
	scene_begin(10000);
	for (int i = 0; i < 5; i++)
		(void)trace_range(&trace, thread, GT_NONE, "step", 1000 * i,
		                  i == 4 ? 0 : 1000 * i + 100);
	trace.ranges.rows[4].flags |= GT_UNFINISHED;
	run_report(&result, "steps", &trace);
	cr_assert(eq(sz, row_count(&result, "steps"), 0));
	cr_expect(has_remark(&result, "No range that may be a step ended 5 times or more"));
	scene_end();
}

/* Runs the report on what a filter leaves. */
static void run_part(enum gt_filter_part part, const char *value)
{
	struct gt_filter filter;
	struct gt_view view;

	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, part, value, NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&result, "steps", &view);
	gt_filter_release(&filter);
}

static void go_forward(int step, gt_time begin)
{
	if (step == 0)
		scene_launch(trace_range(&trace, thread, steps[step], "forward", begin + 1,
		                         begin + 9),
		             begin + 2, begin + 10, begin + 15);
}

/* Those of --range are steps, however few, and however long others took. */
Test(steps, are_those_that_were_chosen)
{
	scene_begin(10000);
	train_with(go_forward, NULL);
	run_part(GT_FILTER_RANGE, "forward");
	expect_words(&result, "steps", 0, "range", "train/step/forward");
	expect_count(&result, "steps", 0, "steps", 1);
	expect_count(&result, "each_step", 0, "kernels", 1);
	scene_end();
}

static gt_id other;

static void go_elsewhere(int step, gt_time begin)
{
	static gt_id around;

	if (step == 0)
		around = trace_range(&trace, other, GT_NONE, "train", begin + 1, begin + 9000);
	if (step < 3)
		(void)trace_range(&trace, other, around, "step", begin + 100, begin + 300);
}

/* Threads of two processes: each has its own numbers and its own median. */
Test(steps, of_each_process_are_counted_alone)
{
	scene_begin(20000);
	other = trace_thread(&trace, trace_process(&trace, "other", 200), 8);
	train_with(NULL, go_elsewhere);
	run_report(&result, "steps", &trace);
	cr_assert(eq(sz, row_count(&result, "steps"), 2));
	expect_count(&result, "steps", 0, "steps", STEPS);
	expect_count(&result, "steps", 1, "steps", 3);
	expect_words(&result, "steps", 1, "process", "other (200)");
	expect_count(&result, "steps", 1, "median_ns", 200);
	expect_real(&result, "steps", 1, "busy_percent", 0);
	scene_end();
}

static void wait_long(int step, gt_time begin)
{
	if (step == SLOW)
		(void)trace_call_in(&trace, steps[step], "cudaStreamSynchronize", begin + 85,
		                    begin + 385);
}

/* The slow step waits for 300 ns in a call; its kernels are as always. */
Test(steps, name_what_the_slowest_had_more_of)
{
	scene_begin(10000);
	train_with(NULL, wait_long);
	run_report(&result, "steps", &trace);
	expect_words(&result, "slowest", 0, "what", "call");
	expect_words(&result, "slowest", 0, "function", "cudaStreamSynchronize");
	expect_count(&result, "slowest", 0, "more_ns", 300);
	expect_count(&result, "slowest", 0, "slowest_step", SLOW + 1);
	expect_count(&result, "slowest", 0, "slowest", 1);
	expect_count(&result, "slowest", 0, "median", 0);
	expect_words(&result, "slowest", 1, "what", "kernel");
	expect_count(&result, "slowest", 1, "more_ns", 0);
	expect_count(&result, "slowest", 1, "slowest_ns", 70);
	scene_end();
}

static void allocate_for_a_while(int step, gt_time begin)
{
	gt_id call;

	if (step != SLOW)
		return;
	call = trace_call_in(&trace, steps[step], "cudaMalloc", begin + 85, begin + 90);
	trace_allocation(&trace, call, device, GT_MEMORY_CALL_ALLOCATE, 500, begin + 200);
}

/* Allocated before all steps and in one, and freed in that. */
Test(steps, tell_the_most_memory_of_their_process)
{
	scene_begin(10000);
	trace_allocation(&trace, trace_call(&trace, thread, "cudaMalloc", 0, 10), device,
	                 GT_MEMORY_CALL_ALLOCATE, 1000, 0);
	train_with(NULL, allocate_for_a_while);
	run_report(&result, "steps", &trace);
	expect_count(&result, "each_step", 0, "peak_bytes", 1500);
	expect_count(&result, "each_step", 1, "peak_bytes", 1000);
	scene_end();
}

/* A filter chooses what is shown: the thread was in all its calls. */
Test(steps, do_not_change_with_a_choice_of_kernels)
{
	scene_begin(10000);
	train_with(NULL, wait_long);
	run_part(GT_FILTER_KERNEL, "gemm");
	expect_count(&result, "each_step", 0, "wall_ns", 400);
	expect_count(&result, "each_step", 0, "host_ns", 90);
	scene_end();
}

/* Ranges after the steps, longer than these. */
static gt_id longer[STEPS];

static void add_longer(const char *domain, const char *name)
{
	const gt_id in = domain ? trace_domain(&trace, process, domain) : GT_NONE;

	for (int i = 0; i < STEPS; i++) {
		const gt_time begin = 10000 + 1000 * i;

		longer[i] = trace_range(&trace, thread, GT_NONE, name, begin, begin + 900);
		trace.ranges.rows[longer[i]].domain = in;
	}
}

static void launch_outside(const char *name, gt_time call_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaLaunchKernel", call_ns, call_ns + 5);

	trace_kernel(&trace, stream, trace_shape(&trace, name, 1, 32), call_ns + 10, call_ns + 20)
		->api_call = call;
}

/* A gemm and a relu in each of them. */
static void launch_longer(void)
{
	const gt_id relu = trace_shape(&trace, "relu", 1, 32);

	for (int i = 0; i < STEPS; i++) {
		const gt_time begin = 10000 + 1000 * i;

		scene_launch(longer[i], begin + 10, begin + 20, begin + 60);
		scene_launch(longer[i], begin + 20, begin + 60, begin + 90)->shape = relu;
	}
}

/* XLA names its compiler, modules and instructions, NCCL its calls: none is the program's step. */
Test(steps, are_no_ranges_of_a_library)
{
	static const char *const names[][2] = {
		{"TSL", "XlaCompileBackend:#module=dot,program_id=3#"},
		{"TSL", "XlaModule:#hlo_module=jit_step,program_id=3#"},
		{"TSL", "Thunk:#name=dot,hlo_op=custom-call.2#"},
		{"NCCL", "ncclAllReduce"},
		{"CCCL", "cub::DeviceReduce"},
	};

	for (size_t i = 0; i < GT_COUNT_OF(names); i++) {
		scene_begin(20000);
		add_longer(names[i][0], names[i][1]);
		launch_longer();
		run_report(&result, "steps", &trace);
		expect_words(&result, "steps", 0, "range", "guessed: gemm");
		expect_count(&result, "steps", 0, "steps", STEPS - 1);
		expect_count(&result, "steps", 0, "median_ns", 1000);
		cr_expect(has_remark(&result, "No range that may be a step repeats."));
		scene_end();
		scene_begin(20000);
		train();
		add_longer(names[i][0], names[i][1]);
		launch_longer();
		run_report(&result, "steps", &trace);
		expect_words(&result, "steps", 0, "range", "train/step");
		scene_end();
	}
}

/* Nobody knows how many steps there were in a pause, nor how long the interrupted one took. */
Test(steps, that_are_guessed_end_where_recording_is_paused)
{
	scene_begin(20000);
	add_longer("NCCL", "ncclAllReduce");
	launch_longer();
	*gt_array_push(&trace.pauses) = (struct gt_pause){
		.start_ns = TRACE_START_NS + 12500,
		.end_ns = TRACE_START_NS + 12700,
		.process = process,
		.resumed_by = 2,
	};
	run_report(&result, "steps", &trace);
	expect_words(&result, "steps", 0, "range", "guessed: gemm");
	expect_count(&result, "steps", 0, "steps", STEPS - 2);
	expect_count(&result, "steps", 0, "median_ns", 1000);
	scene_end();
}

Test(steps, are_no_ranges_inside_an_operation)
{
	scene_begin(20000);
	for (int i = 0; i < STEPS; i++) {
		const gt_time begin = 10000 + 1000 * i;
		const gt_id op = trace_range(&trace, thread, GT_NONE,
		                             "aten::mm, seq = 1, op_id = 2", begin, begin + 900);

		longer[i] = trace_range(&trace, thread, op, "pack", begin + 5, begin + 890);
	}
	launch_longer();
	run_report(&result, "steps", &trace);
	expect_words(&result, "steps", 0, "range", "guessed: gemm");
	scene_end();
}

Test(steps, are_no_ranges_without_work_where_others_have_some)
{
	scene_begin(20000);
	add_longer(NULL, "load");
	run_report(&result, "steps", &trace);
	expect_words(&result, "steps", 0, "range", "load");
	scene_end();
	scene_begin(20000);
	train();
	add_longer(NULL, "load");
	run_report(&result, "steps", &trace);
	expect_words(&result, "steps", 0, "range", "train/step");
	scene_end();
}

/* The kernels are launched outside of the ranges: these are no steps, and the period is. */
Test(steps, are_no_ranges_without_work_where_kernels_repeat)
{
	scene_begin(20000);
	add_longer(NULL, "load");
	for (int i = 0; i < STEPS; i++) {
		launch_outside("gemm", 10950 + 1000 * i);
		launch_outside("relu", 10970 + 1000 * i);
	}
	run_report(&result, "steps", &trace);
	expect_words(&result, "steps", 0, "range", "guessed: gemm");
	expect_count(&result, "steps", 0, "median_ns", 1000);
	scene_end();
}

/* Whose work it is is not known where calls are not: then the longest ranges are the steps. */
Test(steps, may_have_no_work_where_its_calls_are_not_known)
{
	scene_begin(20000);
	train();
	add_longer(NULL, "load");
	gt_array_each(struct gt_kernel, kernel, &trace.kernels)
		kernel->api_call = GT_NONE;
	run_report(&result, "steps", &trace);
	expect_words(&result, "steps", 0, "range", "load");
	scene_end();
}

static void launch_elsewhere(int step, gt_time begin)
{
	(void)step;
	launch_outside("relu", begin + 410);
}

/* That a filter shows no work of theirs takes nothing from them. */
Test(steps, have_work_whatever_a_filter_shows_of_it)
{
	scene_begin(10000);
	train_with(NULL, launch_elsewhere);
	run_part(GT_FILTER_KERNEL, "relu");
	expect_words(&result, "steps", 0, "range", "train/step");
	expect_count(&result, "each_step", 0, "kernels", 0);
	scene_end();
}

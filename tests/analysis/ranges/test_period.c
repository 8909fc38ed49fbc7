/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made by seeds, that keep themselves when their steps began. */
#include "analysis/ranges/steps/period.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/ranges/steps/steps.h"
#include "model/view/view.h"
#include "support/check.h"
#include "support/scene.h"

enum { SHAPES = 64, MOST_STEPS = 64 };

/* A step: kernels of its own, layers of a few kernels each, kernels of its own. */
struct program {
	unsigned head, layers, layer, tail;
	unsigned steps;
	unsigned first_uses; /* of the first kernel, each with another, before all */
	unsigned warm_up;    /* kernels that no step has, before the first */
	unsigned log_every;  /* steps with some kernels more; 0: none */
	unsigned look_after; /* a step with an evaluation behind it; 0: none */
	bool shuffled;       /* kernels of a layer, as where threads launch */
};

struct truth {
	gt_time starts[MOST_STEPS];
	size_t count;
};

static gt_id shapes[SHAPES];
static gt_time now;

static void launch(gt_id on_thread, gt_id on_stream, unsigned number)
{
	const gt_id call = trace_call(&trace, on_thread, "cudaLaunchKernel", now, now + 5);

	trace_kernel(&trace, on_stream, shapes[number % SHAPES], now + 10, now + 60)->api_call =
		call;
	now += 100;
}

static void launch_many(unsigned count, unsigned from)
{
	for (unsigned i = 0; i < count; i++)
		launch(thread, stream, from + i);
}

static void launch_layers(const struct program *program, unsigned step)
{
	for (unsigned i = 0; i < program->layers; i++)
		for (unsigned k = 0; k < program->layer; k++)
			launch(thread, stream,
			       20 + (program->shuffled ? (k + step + i) % program->layer : k));
}

static void make(const struct program *program, struct truth *truth)
{
	char name[16];

	scene_begin(1000000000);
	for (unsigned i = 0; i < SHAPES; i++) {
		snprintf(name, sizeof(name), "kernel_%u", i);
		shapes[i] = trace_shape(&trace, name, 1 + i, 32);
	}
	now = 1000;
	truth->count = 0;
	for (unsigned i = 0; i < program->first_uses; i++) {
		launch_many(1, 0);
		launch_many(1, 60);
	}
	launch_many(program->warm_up, 40);
	for (unsigned step = 1; step <= program->steps; step++) {
		truth->starts[truth->count++] = TRACE_START_NS + now;
		launch_many(program->head, 0);
		launch_layers(program, step);
		launch_many(program->tail, 10);
		if (program->log_every && step % program->log_every == 0)
			launch_many(2, 30);
		if (step == program->look_after) {
			truth->count--;
			for (unsigned i = 0; i < program->layers; i++)
				launch_many(10, 50);
		}
	}
}

/* Each step that ends is found, and nothing else: the last one has no end. */
static void expect_steps(const struct program *program)
{
	struct gt_periods periods;
	struct truth truth;

	make(program, &truth);
	gt_periods_init(&periods, &trace);
	cr_assert(eq(sz, periods.rows.count, truth.count - 1));
	for (size_t i = 0; i < periods.rows.count; i++) {
		const struct gt_period_step *step = &periods.rows.rows[i];

		cr_expect(eq(i64, step->start_ns, truth.starts[i]));
		cr_expect(eq(u32, step->process, process));
		cr_expect(eq(u32, step->thread, thread));
	}
	cr_expect(eq(u64, periods.others, program->first_uses + (program->look_after > 0)));
	cr_expect(eq(str, (char *)periods.anchor, "kernel_0"));
	gt_periods_release(&periods);
	gt_trace_release(&trace);
}

Test(period, is_that_of_steps_and_not_of_the_layers_in_them)
{
	for (unsigned seed = 1; seed <= 200; seed++) {
		srand(seed);
		expect_steps(&(struct program){
			.head = 1 + (unsigned)rand() % 5,
			.layers = (unsigned)rand() % 30,
			.layer = 2 + (unsigned)rand() % 6,
			.tail = 6 + (unsigned)rand() % 4,
			.steps = 6 + (unsigned)rand() % 40,
			.warm_up = (unsigned)rand() % 10,
			.shuffled = rand() % 2,
		});
	}
}

Test(period, lasts_though_some_steps_log_and_others_are_followed_by_more)
{
	expect_steps(&(struct program){
		.head = 3, .layers = 12, .layer = 8, .tail = 9, .steps = 40, .log_every = 10});
	expect_steps(&(struct program){
		.head = 3, .layers = 12, .layer = 8, .tail = 9, .steps = 30, .look_after = 17});
}

static int by_start(const void *a, const void *b)
{
	const gt_time left = ((const struct gt_kernel *)a)->start_ns;
	const gt_time right = ((const struct gt_kernel *)b)->start_ns;

	return (left > right) - (left < right);
}

/* As XLA's functions that make random numbers are those of a step. */
Test(period, does_not_begin_where_the_same_function_makes_first_values)
{
	for (unsigned first_uses = 1; first_uses <= 5; first_uses++)
		expect_steps(&(struct program){.head = 3,
		                               .layers = 3,
		                               .layer = 3,
		                               .tail = 4,
		                               .steps = 25,
		                               .warm_up = 3,
		                               .first_uses = first_uses});
}

/* A GPU may run what a step begins with before all else of the steps before it. */
Test(period, is_that_of_the_launches_and_not_of_their_order_on_gpus)
{
	struct gt_periods periods;
	struct truth truth;

	make(&(struct program){.head = 3, .tail = 6, .steps = 30}, &truth);
	for (size_t i = 0; i < trace.kernels.count; i++)
		if (i % 9) {
			trace.kernels.rows[i].start_ns += 2000;
			trace.kernels.rows[i].end_ns += 2000;
		}
	qsort(trace.kernels.rows, trace.kernels.count, sizeof(*trace.kernels.rows), by_start);
	gt_periods_init(&periods, &trace);
	cr_assert(eq(sz, periods.rows.count, truth.count - 1));
	for (size_t i = 0; i < periods.rows.count; i++)
		cr_expect(eq(i64, periods.rows.rows[i].start_ns, truth.starts[i]));
	cr_expect(eq(u64, periods.others, 0));
	gt_periods_release(&periods);
	gt_trace_release(&trace);
}

/*
 * Steps that are launched as a graph of six kernels by one call, of which two are of one function,
 * and whose parallel branches run in either order; before them kernels that are launched alone.
 */
Test(period, has_all_kernels_of_a_graph_in_one_step)
{
	struct gt_periods periods;
	struct truth truth;

	make(&(struct program){.first_uses = 4}, &truth);
	for (unsigned step = 0; step < 20; step++) {
		const gt_id call = trace_call(&trace, thread, "cudaGraphLaunch", now, now + 5);

		for (unsigned i = 0; i < 6; i++)
			trace_kernel(&trace, stream, shapes[(step % 2 ? 5 - i : i) % 5],
			             now + 10 + 20 * i, now + 25 + 20 * i)
				->api_call = call;
		now += 500;
	}
	gt_periods_init(&periods, &trace);
	cr_assert(eq(sz, periods.rows.count, 19));
	gt_array_each(const struct gt_period_step, step, &periods.rows)
		cr_expect(eq(i64, step->end_ns - step->start_ns, 500));
	cr_expect(eq(u64, periods.others, 4));
	gt_periods_release(&periods);
	gt_trace_release(&trace);
}

static void expect_none(void)
{
	struct gt_periods periods;

	gt_periods_init(&periods, &trace);
	cr_expect(eq(sz, periods.rows.count, 0));
	cr_expect(periods.anchor == NULL);
	gt_periods_release(&periods);
	gt_trace_release(&trace);
}

Test(period, is_none_of_few_steps_of_one_kernel_and_of_launches_without_order)
{
	struct truth truth;

	make(&(struct program){.head = 3, .tail = 3, .steps = 4}, &truth);
	expect_none();
	make(&(struct program){.head = 1, .steps = 50}, &truth);
	expect_none();
	make(&(struct program){0}, &truth);
	expect_none();
	make(&(struct program){0}, &truth);
	srand(7);
	for (unsigned i = 0; i < 2000; i++)
		launch(thread, stream, (unsigned)rand());
	expect_none();
	/* Five repeated kernels in a program that does much else. */
	make(&(struct program){.head = 2, .steps = 6, .warm_up = 50}, &truth);
	expect_none();
}

/* Two processes in turn, one of three kernels a step and one of four. */
Test(period, is_each_process_s_own)
{
	struct gt_periods periods;
	struct truth truth;
	gt_id other_thread;
	gt_id other_stream;

	make(&(struct program){0}, &truth);
	other_thread = trace_thread(&trace, trace_process(&trace, "app", 101), 8);
	other_stream = trace_stream(&trace, 1, device);
	for (unsigned i = 0; i < 24; i++) {
		launch(thread, stream, i % 3);
		launch(other_thread, other_stream, i % 4);
	}
	gt_periods_init(&periods, &trace);
	cr_assert(eq(sz, periods.rows.count, 7 + 5));
	for (size_t i = 0; i < periods.rows.count; i++) {
		const struct gt_period_step *step = &periods.rows.rows[i];

		cr_expect(eq(u32, step->process, i >= 7));
		cr_expect(eq(i64, step->end_ns - step->start_ns, i < 7 ? 600 : 800));
	}
	gt_periods_release(&periods);
	gt_trace_release(&trace);
}

/* A step has the work that was launched in it, whenever that ran, and only its own time as busy. */
Test(period, makes_steps_of_the_work_that_was_launched_in_them)
{
	struct gt_steps steps;
	struct gt_view view;
	struct truth truth;

	make(&(struct program){.head = 2, .steps = 6}, &truth);
	view = gt_view_of(&trace);
	for (size_t i = 0; i < trace.kernels.count; i++)
		if (i % 2)
			trace.kernels.rows[i].end_ns = trace.kernels.rows[i].start_ns + 150;
	gt_steps_init(&steps, &view);
	cr_assert(eq(sz, steps.rows.count, 5));
	cr_expect(steps.path == GT_NONE);
	gt_array_each(const struct gt_step, step, &steps.rows) {
		cr_expect(eq(i64, gt_step_wall(step), 200));
		cr_expect(eq(u64, step->kernels, 2));
		cr_expect(eq(u64, step->busy_ns, 50 + 90));
		cr_expect(eq(u64, step->gpu_ns, 50 + 150));
		cr_expect(eq(u64, step->host_ns, 200 - 10));
		/* Work that runs on from the step before is no idle time. */
		cr_expect(eq(u64, step->quiet_ns, step->number == 1 ? 60 : 50));
	}
	gt_steps_release(&steps);
	gt_trace_release(&trace);
}

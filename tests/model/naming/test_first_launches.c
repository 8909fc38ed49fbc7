/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/first_launches.h"

#include "model/naming/functions.h"
#include "support/check.h"
#include "support/trace.h"

static struct gt_trace trace;
static struct gt_first_launches first;

static void make(void)
{
	gt_trace_init(&trace);
}

static void drop(void)
{
	gt_first_launches_release(&first);
	gt_trace_release(&trace);
}

TestSuite(first_launches, .init = make, .fini = drop);

static void find(void)
{
	struct gt_functions functions;

	gt_functions_init(&functions, &trace);
	gt_first_launches_init(&first, &trace, &functions);
	gt_functions_release(&functions);
}

Test(first_launches, are_one_for_each_function_process_and_gpu)
{
	static const bool expected[] = {true, false, true, true, true, false};
	const gt_id process = trace_process(&trace, "app", 100);
	const gt_id other = trace_process(&trace, "other", 101);
	const gt_id device = trace_device(&trace);
	const gt_id stream = trace_stream(&trace, process, device);
	const gt_id second_gpu = trace_stream(&trace, process, trace_device(&trace));
	const gt_id of_other = trace_stream(&trace, other, device);
	const gt_id step = trace_shape(&trace, "step", 1, 32);
	const gt_id wide_step = trace_shape(&trace, "step", 1, 64);
	const gt_id axpy = trace_shape(&trace, "axpy", 1, 32);

	trace_kernel(&trace, stream, step, 0, 10);
	trace_kernel(&trace, stream, wide_step, 20, 30); /* the same function */
	trace_kernel(&trace, stream, axpy, 40, 50);
	trace_kernel(&trace, second_gpu, step, 60, 70);
	trace_kernel(&trace, of_other, step, 80, 90);
	trace_kernel(&trace, of_other, step, 100, 110);
	find();
	cr_assert(eq(sz, first.count, 6));
	for (size_t i = 0; i < 6; i++)
		cr_expect(eq(int, first.is_first[i], expected[i]), "kernel %zu", i);
}

Test(first_launches, have_times)
{
	const gt_id stream =
		trace_stream(&trace, trace_process(&trace, "app", 100), trace_device(&trace));
	const gt_id step = trace_shape(&trace, "step", 1, 32);

	trace_unfinished_kernel(&trace, stream, step);
	trace_kernel(&trace, stream, step, 20, 30);
	find();
	cr_expect(not(first.is_first[0]));
	cr_expect(first.is_first[1]);
}

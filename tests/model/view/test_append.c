/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/append.h"

#include <math.h>
#include <string.h>

#include "model/naming/shape_names.h"
#include "model/work/activity.h"
#include "support/check.h"
#include "support/trace.h"

/* A program of its own names, with so many launches, the first at this moment, each 100 ns after
 * that. */
static void make(struct gt_trace *trace, const char *name, const char *kernel, gt_time first_ns,
                 unsigned launches)
{
	const double values[] = {100, 200, NAN};
	gt_id process, thread, device, stream, shape, range;

	trace_init(trace, 10000);
	process = trace_process(trace, name, 100);
	thread = trace_thread(trace, process, 7);
	device = trace_device(trace);
	stream = trace_stream(trace, process, device);
	shape = trace_shape(trace, kernel, 1, 32);
	range = trace_range(trace, thread, GT_NONE, "step", first_ns, first_ns + 5000);
	trace_unfinished_kernel(trace, stream, shape);
	for (unsigned i = 0; i < launches; i++) {
		const gt_time at_ns = first_ns + 100 * (gt_time)i;
		const gt_id call =
			trace_call_in(trace, range, "cudaLaunchKernel", at_ns, at_ns + 5);

		trace_kernel(trace, stream, shape, at_ns + 10, at_ns + 60)->api_call = call;
	}
	trace_counter(trace, device, "sm_clock_mhz", GT_COUNTER_GAUGE, first_ns, 100, values, 3);
}

static const char *program_of(const struct gt_trace *trace, const struct gt_kernel *kernel)
{
	return gt_trace_text(
		trace, trace->processes.rows[gt_trace_stream_process(trace, kernel->stream)].name);
}

/* Each kernel still has its own stream, name, call, range and process, in order of time. */
static void check_rows(const struct gt_trace *trace, const char *second)
{
	gt_time last_ns = 0;

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const bool is_second = strcmp(program_of(trace, kernel), second) == 0;
		const struct gt_api_call *call;

		expect_text(gt_shape_name(trace, kernel->shape), is_second ? "conv" : "gemm");
		cr_expect(kernel->start_ns >= last_ns);
		last_ns = kernel->start_ns;
		if (kernel->flags & GT_UNFINISHED)
			continue;
		call = &trace->api_calls.rows[kernel->api_call];
		cr_expect(eq(i64, kernel->start_ns, call->start_ns + 10));
		expect_text(gt_trace_text(trace, call->function), "cudaLaunchKernel");
		expect_text(gt_trace_text(trace,
		                          trace->processes
		                                  .rows[trace->threads.rows[call->thread].process]
		                                  .name),
		            program_of(trace, kernel));
		cr_expect(eq(u32, trace->ranges.rows[call->range].thread, call->thread));
	}
}

Test(append, two_programs)
{
	struct gt_trace a;
	struct gt_trace b;
	const struct gt_counter *counter;

	make(&a, "first", "gemm", 100, 5);
	make(&b, "second", "conv", 2000, 3);
	gt_trace_append(&a, &b, -1850); /* so that both launch in turn: 100, 150, 200, 250, ... */
	gt_trace_release(&b);
	cr_expect(eq(sz, a.kernels.count, 10) && eq(sz, a.processes.count, 2));
	check_rows(&a, "second");
	cr_expect(eq(i64, a.kernels.rows[2].start_ns, TRACE_START_NS + 110));
	cr_expect(eq(i64, a.kernels.rows[3].start_ns, TRACE_START_NS + 160));
	counter = &a.counters.rows[1];
	cr_expect(eq(u32, counter->device, 1));
	cr_expect(eq(i64, a.series.rows[counter->series].times_ns[0], TRACE_START_NS + 150));
	cr_expect(eq(dbl, a.series.rows[counter->series].columns[counter->place][1], 200));
	cr_expect(eq(i64, a.start_ns, TRACE_START_NS - 1850));
	cr_expect(eq(i64, a.end_ns, TRACE_START_NS + 10000));
	gt_trace_release(&a);
}

/* Behind nothing, a trace is as it was. */
Test(append, to_nothing)
{
	struct gt_trace whole;
	struct gt_trace trace;

	make(&trace, "first", "gemm", 100, 5);
	gt_trace_init(&whole);
	gt_trace_append(&whole, &trace, 0);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_table left = gt_trace_table(&whole, i);
		const struct gt_table right = gt_trace_table(&trace, i);

		cr_expect(eq(sz, left.row_count, right.row_count));
	}
	check_rows(&whole, "second");
	cr_expect(eq(i64, whole.start_ns, trace.start_ns) && eq(i64, whole.end_ns, trace.end_ns));
	gt_trace_append(&whole, &(struct gt_trace){.strings = trace.strings}, 5);
	cr_expect(eq(sz, whole.kernels.count, 6) && eq(i64, whole.end_ns, trace.end_ns));
	gt_trace_release(&trace);
	gt_trace_release(&whole);
}

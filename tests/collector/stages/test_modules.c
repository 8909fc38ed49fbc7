/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "collector/collect.h"

/* Covers STAGE(modules): how long modules took to load, in which calls, and when they ended. */

enum { RESOURCE = 3 << 16, MODULE_LOADING = 4 << 16, TID = 100 };

/* The lower half of a pthread_t, as CUPTI names threads. */
#define PTHREAD 1982484480u

static struct recording recording;

static void make(void)
{
	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 42);
}

static void finish(void)
{
	recording_release(&recording);
}

TestSuite(modules, .init = make, .fini = finish);

static void call_cuda(uint64_t start, uint64_t end, uint32_t correlation)
{
	recording_add(&recording, api_call, .start_ns = start, .end_ns = end,
	              .correlation = correlation, .function = STRING_LAUNCH, .thread = TID);
}

/* That gputrace took 50 ns for. */
static void add_module(uint32_t number, uint64_t loaded)
{
	recording_add(&recording, module, .loaded_ns = loaded, .noted_ns = loaded + 50,
	              .number = number, .cupti_id = number, .context = CONTEXT, .thread = TID,
	              .traits = GT_RECORD_MODULE_JIT);
}

static struct gt_trace done(void)
{
	recording_end(&recording, true);
	return collect(&recording);
}

Test(modules, were_loaded_since_their_call_began)
{
	struct gt_trace trace;

	call_cuda(1000000, 1000800, 1);
	add_module(1, 1000700);
	call_cuda(1001000, 1002000, 2);
	trace = done();
	cr_assert(eq(sz, trace.modules.count, 1));
	cr_expect(eq(dbl, trace.modules.rows[0].load_ns, 700));
	cr_expect(eq(u32, trace.modules.rows[0].api_call, 0));
	cr_expect(eq(dbl, trace.modules.rows[0].jit_ns, 0));
	cr_expect(eq(u32, trace.modules.rows[0].process, 0));
	gt_trace_release(&trace);
}

/* The program made the outer one; the rest of that is no part of loading. */
Test(modules, that_a_call_inside_of_a_call_loads_are_the_outer_ones)
{
	struct gt_trace trace;

	call_cuda(1000000, 1000800, 1);
	recording_add(&recording, api_call, .start_ns = 1000100, .end_ns = 1000750,
	              .correlation = 2, .function = STRING_LAUNCH, .thread = TID,
	              .flags = GT_RECORD_NESTED);
	add_module(1, 1000700);
	trace = done();
	cr_expect(eq(u32, trace.modules.rows[0].api_call, 0));
	cr_expect(eq(dbl, trace.modules.rows[0].load_ns, 600));
	gt_trace_release(&trace);
}

/* gputrace's own work on the first is no part of loading the second. */
Test(modules, of_one_call_were_loaded_one_after_the_other)
{
	struct gt_trace trace;

	call_cuda(1000000, 1000800, 1);
	add_module(1, 1000300);
	add_module(2, 1000700);
	trace = done();
	cr_expect(eq(dbl, trace.modules.rows[0].load_ns, 300));
	cr_expect(eq(dbl, trace.modules.rows[1].load_ns, 350));
	cr_expect(eq(u32, trace.modules.rows[1].api_call, 0));
	gt_trace_release(&trace);
}

/* As cuBLAS loads its kernels, in a call that is not recorded. */
Test(modules, outside_of_calls_were_loaded_since_the_one_before)
{
	struct gt_trace trace;

	call_cuda(1000000, 1000100, 1);
	add_module(1, 1000300);
	call_cuda(1000400, 1000500, 2);
	trace = done();
	cr_expect(eq(dbl, trace.modules.rows[0].load_ns, 200));
	cr_expect(eq(u32, trace.modules.rows[0].api_call, GT_NONE));
	gt_trace_release(&trace);
}

Test(modules, long_after_the_last_call_have_no_load_time)
{
	struct gt_trace trace;

	add_module(1, 1000000);
	call_cuda(1000100, 1000200, 1);
	add_module(2, 101000200);
	call_cuda(102000000, 102000100, 2);
	add_module(3, 202000101);
	trace = done();
	cr_expect(isnan(trace.modules.rows[0].load_ns));
	cr_expect(eq(dbl, trace.modules.rows[1].load_ns, 100000000));
	cr_expect(isnan(trace.modules.rows[2].load_ns));
	gt_trace_release(&trace);
}

/* Eager loading: most of the first call is making the context. */
Test(modules, were_not_loaded_before_their_context_was_there)
{
	struct gt_trace trace;

	call_cuda(1000000, 9000800, 1);
	recording_add(&recording, overhead, .start_ns = 7000000, .end_ns = 8000000,
	              .correlation = 1, .tid = PTHREAD, .kind = RESOURCE);
	add_module(1, 8100000);
	recording_add(&recording, overhead, .start_ns = 8200000, .end_ns = 8300000,
	              .correlation = 1, .tid = PTHREAD, .kind = RESOURCE);
	trace = done();
	cr_expect(eq(dbl, trace.modules.rows[0].load_ns, 100000));
	cr_expect(eq(u32, trace.overheads.rows[0].api_call, 0));
	gt_trace_release(&trace);
}

Test(modules, of_other_threads_are_not_loaded_in_a_call)
{
	struct gt_trace trace;

	recording_add(&recording, api_call, .start_ns = 1000000, .end_ns = 1000800,
	              .correlation = 1, .function = STRING_LAUNCH, .thread = TID + 1);
	add_module(1, 1000700);
	trace = done();
	cr_expect(isnan(trace.modules.rows[0].load_ns));
	cr_expect(eq(u32, trace.modules.rows[0].api_call, GT_NONE));
	gt_trace_release(&trace);
}

/* The driver knows better than the call around it, of which most may be something else. */
Test(modules, were_loaded_since_the_driver_says_so)
{
	struct gt_trace trace;

	call_cuda(1000000, 2000800, 1);
	recording_add(&recording, overhead, .start_ns = 1500000, .end_ns = 1600000,
	              .correlation = 1, .tid = PTHREAD, .kind = MODULE_LOADING);
	add_module(1, 1599000);
	trace = done();
	cr_expect(eq(dbl, trace.modules.rows[0].load_ns, 99000));
	cr_expect(eq(u32, trace.modules.rows[0].api_call, 0));
	gt_trace_release(&trace);
}

Test(modules, that_were_compiled_say_how_long_that_took)
{
	struct gt_trace trace;

	call_cuda(1000000, 3000000, 1);
	recording_add(&recording, jit, .start_ns = 1100000, .end_ns = 1300000, .correlation = 1,
	              .tid = TID, .operation = 3);
	recording_add(&recording, jit, .start_ns = 1300000, .end_ns = 1310000, .correlation = 1,
	              .tid = TID, .operation = 2);
	add_module(1, 1400000);
	add_module(2, 2500000);
	trace = done();
	cr_expect(eq(dbl, trace.modules.rows[0].jit_ns, 210000));
	cr_expect(eq(dbl, trace.modules.rows[1].jit_ns, 0));
	cr_expect(eq(u32, trace.jits.rows[0].api_call, 0));
	gt_trace_release(&trace);
}

Test(modules, end_with_the_last_loading_before_their_unloading)
{
	struct gt_trace trace;

	for (int i = 0; i < 2; i++)
		recording_add(&recording, module, .loaded_ns = 1000000 + 1000 * (uint64_t)i,
		              .number = 1 + (uint32_t)i, .cupti_id = 7, .context = CONTEXT,
		              .thread = TID);
	recording_add(&recording, module, .loaded_ns = 1000500, .number = 3, .cupti_id = 8,
	              .context = CONTEXT, .thread = TID);
	recording_add(&recording, module_unload, .time_ns = 1000900, .cupti_id = 7,
	              .context = CONTEXT);
	recording_add(&recording, module_unload, .time_ns = 1000950, .cupti_id = 7,
	              .context = CONTEXT + 1);
	trace = done();
	cr_expect(eq(i64, trace.modules.rows[0].unloaded_ns, 1000900));
	cr_expect(eq(i64, trace.modules.rows[1].unloaded_ns, 0));
	cr_expect(eq(i64, trace.modules.rows[2].unloaded_ns, 0));
	cr_expect(
		isnan(trace.modules.rows[0].jit_ns)); /* it does not say that they were recorded */
	gt_trace_release(&trace);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/recorded.h"
#include "support/check.h"
#include "support/recording.h"

/* Covers STAGE(captured_launches): which kernels were captured, and which were refused. */

enum { BUNDLE = STRING_NEXT, REASON, NOTHING };

static void prepare(void)
{
	make();
	recording_add_string(&recording, BUNDLE, "1-1-gemm");
	recording_add_string(&recording, REASON, "it uses memory of another GPU");
	recording_add_string(&recording, NOTHING, "");
}

TestSuite(captured_launches, .init = prepare, .fini = drop);

static void add_kernel(uint64_t start, uint32_t correlation)
{
	recording_add_call(&recording, start, correlation);
	recording_add(&recording, kernel, .start_ns = start + 100, .end_ns = start + 200,
	              .shape = SHAPE, .context = CONTEXT, .stream = STREAM,
	              .correlation = correlation);
}

Test(captured_launches, name_their_kernels)
{
	add_kernel(1000, 5);
	add_kernel(2000, 6);
	add_kernel(3000, 7);
	recording_add(&recording, captured_launch, .start_ns = 2001, .end_ns = 2050,
	              .correlation = 6, .context = CONTEXT, .number = 1, .bytes = 4096,
	              .bundle = BUNDLE, .reason = NOTHING);
	recording_add(&recording, captured_launch, .start_ns = 3001, .end_ns = 3050,
	              .correlation = 7, .context = CONTEXT, .number = 2, .bundle = NOTHING,
	              .reason = REASON);
	recording_add(&recording, captured_launch, .start_ns = 4001, .end_ns = 4050,
	              .correlation = 5, .context = CONTEXT, .bundle = NOTHING, .reason = REASON);
	finish();
	cr_assert(eq(sz, trace.captured_launches.count, 3));
	const struct gt_captured_launch *rows = trace.captured_launches.rows;

	cr_assert(lt(u32, rows[0].kernel, (gt_id)trace.kernels.count));
	cr_expect(eq(u32, trace.kernels.rows[rows[0].kernel].correlation, 6));
	cr_expect(eq(str, (char *)gt_trace_text(&trace, rows[0].bundle), "1-1-gemm"));
	cr_expect(eq(u64, rows[0].bytes, 4096));
	cr_expect(ne(u32, trace.api_calls.rows[rows[0].api_call].flags & GT_PROFILED, 0));
	cr_expect(eq(u32, trace.kernels.rows[rows[0].kernel].flags & GT_PROFILED, 0));
	cr_expect(eq(u32, trace.kernels.rows[rows[1].kernel].correlation, 7));
	cr_expect(eq(str, (char *)gt_trace_text(&trace, rows[1].reason),
	             "it uses memory of another GPU"));
	cr_expect(eq(u32, rows[2].kernel, GT_NONE), "it was refused before it was counted");
}

Test(captured_launches, of_sequences_take_all_calls_out_of_times)
{
	recording_add_string(&recording, NOTHING + 1, "step");
	add_kernel(1000, 5);
	add_kernel(2000, 6);
	add_kernel(3000, 7);
	/* The capture begins inside of its first call. */
	recording_add(&recording, captured_launch, .start_ns = 2001, .end_ns = 2900,
	              .correlation = 6, .context = CONTEXT, .number = 1, .bytes = 4096, .steps = 1,
	              .bundle = BUNDLE, .reason = NOTHING, .range = NOTHING + 1);
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.captured_launches.count, 1));
	cr_expect(eq(u32, trace.captured_launches.rows[0].kernel, GT_NONE));
	cr_expect(eq(u32, trace.captured_launches.rows[0].steps, 1));
	cr_assert(eq(sz, trace.api_calls.count, 3));
	cr_expect(eq(u32, trace.api_calls.rows[0].flags & GT_PROFILED, 0));
	cr_expect(ne(u32, trace.api_calls.rows[1].flags & GT_PROFILED, 0));
	cr_expect(eq(u32, trace.api_calls.rows[2].flags & GT_PROFILED, 0));
}

/* Another process goes on meanwhile. */
Test(captured_launches, of_sequences_hold_no_other_process_up)
{
	recording_add_string(&recording, NOTHING + 1, "step");
	add_kernel(2000, 6);
	recording_add(&recording, captured_launch, .start_ns = 2001, .end_ns = 2900,
	              .correlation = 6, .context = CONTEXT, .number = 1, .bytes = 4096, .steps = 1,
	              .bundle = BUNDLE, .reason = NOTHING, .range = NOTHING + 1);
	recording_end(&recording, true);
	recording_begin(&recording, "node-2-1");
	recording_add_basics(&recording, 2);
	add_kernel(2100, 6);
	finish();
	cr_assert(eq(sz, trace.processes.count, 2));
	cr_assert(eq(sz, trace.api_calls.count, 2));
	gt_array_each(const struct gt_api_call, call, &trace.api_calls) {
		const gt_id owner = gt_trace_thread_process(&trace, call->thread);
		const bool is_held_up = (call->flags & GT_PROFILED) != 0;

		cr_expect(eq(int, is_held_up, trace.processes.rows[owner].pid == 1));
	}
}

/* All kernels of a launch of a graph have its number. */
Test(captured_launches, of_graphs_have_the_kernel_of_their_node)
{
	const uint32_t nodes[] = {NOTHING + 1, STRING_KERNEL, NOTHING + 2};

	recording_add_string(&recording, NOTHING + 1, "*");
	recording_add_string(&recording, NOTHING + 2, "_Z5otherv");
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t start = 1000 * (i + 1);

		add_kernel(start, 5 + i);
		recording_add(&recording, captured_launch, .start_ns = start + 1,
		              .end_ns = start + 50, .correlation = 5 + i, .context = CONTEXT,
		              .number = i + 1, .steps = 3, .bundle = BUNDLE, .reason = NOTHING,
		              .node = nodes[i]);
	}
	recording_end(&recording, true);
	trace = collect(&recording);
	cr_assert(eq(sz, trace.captured_launches.count, 3));
	cr_expect(eq(u32, trace.captured_launches.rows[0].kernel, GT_NONE));
	cr_expect(eq(u32, trace.captured_launches.rows[1].kernel, 1));
	cr_expect(eq(u32, trace.captured_launches.rows[2].kernel, GT_NONE));
	for (uint32_t i = 0; i < 3; i++)
		cr_expect(ne(u32, trace.api_calls.rows[i].flags & GT_PROFILED, 0));
}

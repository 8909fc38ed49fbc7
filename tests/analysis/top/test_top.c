/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/top/top.h"

#include <math.h>

#include "analysis/result.h"
#include "analysis/top/tables.h"
#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"
#include "support/check.h"
#include "support/scene.h"

enum { MS = 1000000, SECOND = 1000 * MS, NOW = 10 };

/* So long before now ends what has been fetched, by default. */
enum { FRESH = 200 * MS };

static struct gt_top top;

/* The process runs, and was heard of a moment before now, ten seconds after the begin. */
static void begin(void)
{
	scene_begin(NOW * (gt_time)SECOND);
	trace.processes.rows[process].ended = GT_END_RUNNING;
	trace.processes.rows[process].end_ns = TRACE_START_NS + NOW * (gt_time)SECOND - MS;
}

static void look(void)
{
	gt_top_init(&top, &trace, TRACE_START_NS + NOW * (gt_time)SECOND, SECOND);
}

static void end(void)
{
	gt_top_release(&top);
	gt_trace_release(&trace);
}

TestSuite(top, .init = begin, .fini = end);

/* Milliseconds behind the begin of the window. */
static gt_time at(gt_time ms)
{
	return (NOW - 1) * (gt_time)SECOND - FRESH + ms * MS;
}

static void add_kernel(gt_time from_ms, gt_time to_ms)
{
	trace_kernel(&trace, stream, shape, at(from_ms), at(to_ms));
}

Test(top, the_window_ends_where_records_have_been_fetched)
{
	look();
	cr_expect(eq(i64, top.window.end_ns, TRACE_START_NS + NOW * (gt_time)SECOND - FRESH));
	cr_expect(eq(i64, top.window.end_ns - top.window.start_ns, SECOND));
}

Test(top, busy_time_is_united_and_cut_at_the_edges)
{
	add_kernel(-100, 100);
	add_kernel(50, 200);
	add_kernel(900, 1100);
	look();
	cr_expect(eq(u64, top.devices[device].busy_ns, 300 * MS));
	cr_expect(eq(u64, top.devices[device].known_ns, SECOND));
	cr_expect(eq(u64, top.devices[device].kernels, 2), "those that begin in it");
	cr_expect(eq(u64, top.devices[device].kernel_ns, 350 * MS));
	cr_assert(eq(sz, top.kernels.count, 1));
	cr_expect(eq(u64, top.kernels.rows[0].calls, 2));
	cr_expect(eq(u64, top.kernels.rows[0].total_ns, 350 * MS));
}

Test(top, only_what_was_read_is_known)
{
	add_kernel(0, 100);
	add_kernel(700, 800);
	trace.known_from_ns = TRACE_START_NS + at(600);
	look();
	cr_expect(eq(u64, top.devices[device].known_ns, 400 * MS));
	cr_expect(eq(u64, top.devices[device].busy_ns, 100 * MS));
	cr_expect(eq(u64, top.devices[device].kernels, 1));
}

Test(top, nothing_is_known_where_nothing_of_the_window_was_read)
{
	add_kernel(0, 100);
	trace.known_from_ns = TRACE_START_NS + at(5000);
	look();
	cr_expect(eq(u64, top.devices[device].known_ns, 0));
	cr_expect(eq(u64, top.devices[device].busy_ns, 0));
}

Test(top, it_is_not_known_what_ran_since_work_may_have_begun_that_has_not_ended)
{
	const gt_id call = trace_call(&trace, thread, "cuLaunchKernel", at(100), at(101));

	trace_unfinished_kernel(&trace, stream, shape)->api_call = call;
	add_kernel(50, 300);
	look();
	cr_expect(eq(u64, top.devices[device].known_ns, 300 * MS), "it waited for the other");
	cr_expect(eq(u64, top.devices[device].busy_ns, 250 * MS));
	expect_text(top.may_run[device].name, "gemm");
}

Test(top, other_gpus_are_known_meanwhile)
{
	const gt_id other = trace_device(&trace);
	const gt_id call = trace_call(&trace, thread, "cuLaunchKernel", at(100), at(101));

	trace_stream(&trace, process, other);
	trace_unfinished_kernel(&trace, stream, shape)->api_call = call;
	look();
	cr_expect(eq(u64, top.devices[device].known_ns, 100 * MS));
	cr_expect(eq(u64, top.devices[other].known_ns, SECOND));
}

/* A pause of the process; that goes on where it has no end. */
static void add_pause(gt_time from_ms, gt_time to_ms, gt_count flags)
{
	*gt_array_push(&trace.pauses) = (struct gt_pause){
		.start_ns = TRACE_START_NS + at(from_ms),
		.end_ns = TRACE_START_NS + at(to_ms),
		.process = process,
		.resumed_by = !flags,
		.flags = flags,
	};
}

Test(top, a_pause_is_neither_busy_nor_idle)
{
	add_pause(200, 500, 0);
	add_kernel(0, 100);
	add_kernel(500, 600);
	trace_call(&trace, thread, "cuLaunchKernel", at(50), at(51));
	look();
	cr_expect(eq(u64, top.devices[device].known_ns, 700 * MS));
	cr_expect(eq(u64, top.devices[device].busy_ns, 200 * MS));
	cr_expect(not(top.processes[process].paused));
	cr_expect(eq(u64, top.processes[process].known_ns, 700 * MS));
}

Test(top, a_pause_that_goes_on_lasts_until_now)
{
	add_pause(400, 410, GT_UNFINISHED);
	look();
	cr_expect(top.processes[process].paused);
	cr_expect(eq(sz, top.paused, 1));
	cr_expect(eq(u64, top.devices[device].known_ns, 400 * MS));
}

Test(top, a_process_that_is_silent_fetches_no_records)
{
	trace.processes.rows[process].end_ns = TRACE_START_NS + at(-3000);
	look();
	cr_expect(eq(u64, top.devices[device].known_ns, 0));
}

Test(top, launches_are_counted_but_those_into_graphs_and_those_that_failed)
{
	gt_id call;

	trace_call(&trace, thread, "cuLaunchKernel", at(-1), at(1));
	trace_call(&trace, thread, "cuLaunchKernel", at(1), at(2));
	call = trace_call(&trace, thread, "cuLaunchKernel", at(3), at(4));
	trace.api_calls.rows[call].flags |= GT_GRAPH_NODE;
	call = trace_call(&trace, thread, "cuLaunchKernel", at(5), at(6));
	trace.api_calls.rows[call].result = 1;
	look();
	cr_expect(eq(u64, top.processes[process].launches, 1));
	cr_expect(top.processes[process].has_calls);
}

Test(top, steps_are_those_that_ended_in_the_window)
{
	for (gt_time i = 0; i < 6; i++)
		trace_range(&trace, thread, GT_NONE, "step", at(-1000 + 300 * i),
		            at(-1000 + 300 * i + 250));
	look();
	cr_expect(eq(u64, top.processes[process].steps, 3));
	cr_expect(eq(u64, top.processes[process].steps_ns, 750 * MS));
	cr_expect(eq(i64, top.processes[process].last_step_ns, 250 * MS));
}

Test(top, losses_are_those_that_the_process_counts)
{
	gt_trace_add_ledger(&trace, process, "dropped_by_cupti", 3);
	gt_trace_add_ledger(&trace, process, "api_calls", 100);
	gt_trace_add_ledger(&trace, GT_NONE, "launches_unrecorded", 2);
	look();
	cr_expect(eq(i64, top.processes[process].losses, 3));
	cr_expect(eq(i64, top.unrecorded_losses, 2));
}

Test(top, a_program_that_has_ended_shows_its_end)
{
	trace.processes.rows[process].ended = GT_END_CLEAN;
	look();
	cr_expect(eq(sz, top.running, 0));
	cr_expect(eq(i64, top.window.end_ns, trace.end_ns));
}

Test(top, its_tables_say_unknown_for_what_is_not_known)
{
	struct gt_result result;
	struct gt_error err = {0};
	const struct gt_section *gpus;

	trace.known_from_ns = TRACE_START_NS + at(5000);
	look();
	gt_result_init(&result);
	gt_top_add_tables(&result, &top, 10);
	cr_expect(eq(int, gt_result_check(&result, &err), 0), "%s", err.text);
	gpus = gt_result_find(&result, "gpus");
	cr_assert(eq(sz, gt_section_row_count(gpus), 1));
	cr_expect(gt_section_cell(gpus, 0, "busy_percent")->unknown);
	cr_expect(gt_section_cell(gpus, 0, "busy_ns")->unknown);
	cr_expect(gt_section_cell(gpus, 0, "kernels")->unknown);
	cr_expect(gt_section_cell(gpus, 0, "copied_bytes_per_second")->unknown);
	cr_expect(gt_section_cell(gpus, 0, "memory_bytes")->unknown);
	cr_expect(gt_section_cell(gpus, 0, "power_w")->unknown);
	cr_expect(gt_section_cell(gt_result_find(&result, "processes"), 0, "launches")->unknown);
	gt_result_release(&result);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_report.h"
#include "analysis/time/beside.h"
#include "model/names.h"
#include "model/view/filter.h"
#include "model/view/view.h"

static struct gt_trace trace;
static struct gt_result result;
static gt_id process;
static gt_id device;
static gt_id first;
static gt_id second;
static gt_id shape;

static void begin(void)
{
	trace_init(&trace, 1000);
	process = trace_process(&trace, "app", 100);
	device = trace_device(&trace);
	first = trace_stream(&trace, process, device);
	second = trace_stream(&trace, process, device);
	shape = trace_shape(&trace, "gemm", 1, 32);
}

static void end(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

Test(streams, tell_what_each_did_and_what_ran_beside_it)
{
	begin();
	/* The first: 100..300 and 300..400; the second: a copy 250..350, a kernel 500..600. */
	trace_kernel(&trace, first, shape, 100, 300);
	trace_copy(&trace, second, GT_COPY_HOST_TO_DEVICE, 8, 250, 350);
	trace_fill(&trace, first, 8, 300, 400);
	trace_kernel(&trace, second, shape, 500, 600);
	run_report(&result, "streams", &trace);

	cr_assert(eq(sz, row_count(&result, "streams"), 2));
	expect_count(&result, "streams", 0, "kernels", 1);
	expect_count(&result, "streams", 0, "copies", 0);
	expect_count(&result, "streams", 0, "fills", 1);
	expect_count(&result, "streams", 0, "busy_ns", 200);
	expect_real(&result, "streams", 0, "busy_percent", 20.0);
	expect_count(&result, "streams", 0, "copy_ns", 0);
	expect_count(&result, "streams", 0, "overlap_ns", 100);
	expect_real(&result, "streams", 0, "overlap_percent", 100.0 / 3);
	expect_words(&result, "streams", 0, "process", "app (100)");
	expect_count(&result, "streams", 1, "copies", 1);
	expect_count(&result, "streams", 1, "copy_ns", 100);
	expect_count(&result, "streams", 1, "hidden_copy_ns", 50);
	expect_real(&result, "streams", 1, "overlap_percent", 50.0);

	cr_assert(eq(sz, row_count(&result, "devices"), 1));
	expect_count(&result, "devices", 0, "streams", 2);
	expect_count(&result, "devices", 0, "most_at_once", 2);
	expect_count(&result, "devices", 0, "active_ns", 400);
	expect_count(&result, "devices", 0, "overlap_ns", 100);
	expect_real(&result, "devices", 0, "overlap_percent", 25.0);
	expect_count(&result, "devices", 0, "hidden_copy_ns", 50);
	expect_real(&result, "devices", 0, "hidden_copy_percent", 50.0);

	cr_assert(eq(sz, row_count(&result, "overlaps"), 1));
	expect_count(&result, "overlaps", 0, "overlap_ns", 100);
	expect_real(&result, "overlaps", 0, "stream_percent", 100.0 / 3);
	expect_real(&result, "overlaps", 0, "other_percent", 50.0);
	end();
}

Test(streams, are_busy_while_a_graph_runs_that_was_recorded_as_a_whole)
{
	begin();
	*gt_array_push(&trace.graph_traces) = (struct gt_graph_trace){
		.start_ns = TRACE_START_NS + 100,
		.end_ns = TRACE_START_NS + 300,
		.stream = first,
		.device = 0,
		.api_call = GT_NONE,
		.exec = GT_NONE,
	};
	trace_copy(&trace, second, GT_COPY_HOST_TO_DEVICE, 8, 250, 350);
	run_report(&result, "streams", &trace);

	cr_assert(eq(sz, row_count(&result, "streams"), 2));
	expect_count(&result, "streams", 0, "kernels", 0);
	expect_count(&result, "streams", 0, "busy_ns", 200);
	expect_count(&result, "streams", 1, "hidden_copy_ns", 50);
	expect_count(&result, "devices", 0, "overlap_ns", 50);
	end();
	begin();
	*gt_array_push(&trace.graph_traces) = (struct gt_graph_trace){.flags = GT_UNFINISHED};
	run_report(&result, "kernels", &trace);
	cr_expect(has_remark(&result, "No kernels were recorded: launches of CUDA graphs were"));
	end();
}

Test(streams, tell_of_graphs_only_where_there_are_any)
{
	for (int graphs = 0; graphs < 2; graphs++) {
		begin();
		trace_kernel(&trace, first, shape, 100, 300);
		if (graphs)
			*gt_array_push(&trace.graph_launches) = (struct gt_graph_launch){
				.thread = GT_NONE,
				.context = GT_NONE,
				.stream = first,
				.api_call = GT_NONE,
				.exec = GT_NONE,
			};
		run_report(&result, "streams", &trace);
		cr_expect(eq(int, has_remark(&result, "Kernels of a graph count"), graphs));
		end();
	}
}

/* The first has a kernel that reaches into the window; all the rest was over by then. */
Test(streams, of_a_window_are_those_on_which_something_ran_in_it)
{
	struct gt_filter filter;
	struct gt_view view;

	begin();
	trace_kernel(&trace, first, shape, 100, 600);
	trace_kernel(&trace, second, shape, 200, 400);
	trace_kernel(&trace, trace_stream(&trace, process, device), shape, 700, 800);
	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_FROM, "500ns", NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	gt_result_init(&result);
	run_report_on(&result, "streams", &view);
	cr_assert(eq(sz, row_count(&result, "streams"), 2));
	expect_count(&result, "streams", 0, "kernels", 0);
	expect_count(&result, "streams", 0, "busy_ns", 100);
	expect_count(&result, "streams", 1, "kernels", 1);
	expect_count(&result, "devices", 0, "most_at_once", 1);
	gt_filter_release(&filter);
	end();
}

Test(streams, that_touch_do_not_overlap)
{
	begin();
	trace_kernel(&trace, first, shape, 100, 200);
	trace_kernel(&trace, second, shape, 200, 300);
	run_report(&result, "streams", &trace);
	expect_count(&result, "devices", 0, "most_at_once", 1);
	expect_count(&result, "devices", 0, "overlap_ns", 0);
	cr_expect(eq(sz, row_count(&result, "overlaps"), 0));
	end();
}

Test(streams, of_two_gpus_do_not_overlap)
{
	begin();

	const gt_id there = trace_stream(&trace, process, trace_device(&trace));

	trace_kernel(&trace, first, shape, 100, 200);
	trace_kernel(&trace, there, shape, 100, 200);
	run_report(&result, "streams", &trace);
	cr_assert(eq(sz, row_count(&result, "devices"), 2));
	expect_count(&result, "devices", 0, "overlap_ns", 0);
	expect_count(&result, "devices", 1, "overlap_ns", 0);
	cr_expect(eq(sz, row_count(&result, "overlaps"), 0));
	end();
}

Test(streams, kernels_that_overlap_on_one_stream_count_once)
{
	begin();
	trace_kernel(&trace, first, shape, 100, 200);
	trace_kernel(&trace, second, shape, 100, 250);
	trace_kernel(&trace, first, shape, 150, 250);
	run_report(&result, "streams", &trace);
	for (size_t i = 0; i < 2; i++) {
		expect_count(&result, "streams", i, "busy_ns", 150);
		expect_count(&result, "streams", i, "overlap_ns", 150);
	}
	expect_count(&result, "overlaps", 0, "overlap_ns", 150);
	end();
}

/* Work beside a stream counts as such also where it is not shown itself. */
Test(streams, that_are_chosen_overlap_with_those_that_are_not)
{
	struct gt_filter filter;
	struct gt_view view;

	begin();
	trace.streams.rows[first].number = 7;
	trace.streams.rows[second].number = 8;
	trace_kernel(&trace, first, shape, 100, 200);
	trace_kernel(&trace, second, shape, 150, 250);
	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_STREAM, "7", NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&result, "streams", &view);
	cr_expect(eq(sz, row_count(&result, "streams"), 1));
	cr_assert(eq(sz, row_count(&result, "overlaps"), 1));
	expect_count(&result, "overlaps", 0, "overlap_ns", 50);
	gt_filter_release(&filter);
	end();
}

Test(streams, that_did_nothing_are_left_out)
{
	begin();
	trace_unfinished_kernel(&trace, second, shape);
	trace_kernel(&trace, first, shape, 100, 200);
	run_report(&result, "streams", &trace);
	cr_expect(eq(sz, row_count(&result, "streams"), 1));
	expect_count(&result, "devices", 0, "streams", 1);
	end();
}

Test(streams, are_told_apart_in_pairs_up_to_a_number)
{
	begin();
	trace_kernel(&trace, first, shape, 100, 200);
	for (int i = 0; i < GT_BESIDE_PAIRS; i++)
		trace_kernel(&trace, trace_stream(&trace, process, device), shape, 100, 200);
	run_report(&result, "streams", &trace);
	expect_count(&result, "devices", 0, "most_at_once", GT_BESIDE_PAIRS + 1);
	cr_expect(eq(sz, row_count(&result, "overlaps"), 20));
	cr_expect(has_remark(&result, "More than 32 streams ran at a time"));
	end();
}

Test(streams, of_a_damaged_recording_on_another_gpu_than_their_own_are_not_counted_there)
{
	begin();
	trace_device(&trace);
	trace_kernel(&trace, first, shape, 100, 300);
	trace_kernel(&trace, first, shape, 150, 250)->device = 1;
	trace_kernel(&trace, first, shape, 160, 400);
	trace_kernel(&trace, first, shape, 170, 500)->stream = GT_NONE;
	run_report(&result, "streams", &trace);
	expect_count(&result, "devices", 0, "overlap_ns", 230);
	expect_count(&result, "devices", 1, "overlap_ns", 0);
	cr_expect(has_remark(&result, "1 activities are on no known stream"));
	end();
}

struct seen {
	uint64_t kernels_ns[3]; /* by row of kernels */
	uint64_t processes_ns[3];
};

static void see(void *context, const struct gt_activity *activity, const struct gt_beside *beside)
{
	struct seen *seen = context;

	seen->kernels_ns[activity->row] = beside->kernels_ns;
	seen->processes_ns[activity->row] = beside->processes_ns;
}

Test(streams, the_walk_tells_kernels_and_processes_beside_each_kernel)
{
	struct gt_beside_totals totals;
	struct seen seen = {{0}};

	begin();

	const gt_id theirs = trace_stream(&trace, trace_process(&trace, "other", 200), device);

	trace_kernel(&trace, first, shape, 100, 200);
	trace_kernel(&trace, second, shape, 150, 300);
	trace_kernel(&trace, theirs, shape, 180, 190);

	gt_beside_walk(&totals, &trace, NULL, see, &seen);
	cr_expect(eq(u64, seen.kernels_ns[0], 50));
	cr_expect(eq(u64, seen.kernels_ns[1], 50));
	cr_expect(eq(u64, seen.kernels_ns[2], 10));
	cr_expect(eq(u64, seen.processes_ns[0], 10));
	cr_expect(eq(u64, seen.processes_ns[1], 10));
	cr_expect(eq(u64, seen.processes_ns[2], 10));
	gt_beside_release(&totals);
	gt_trace_release(&trace);
}

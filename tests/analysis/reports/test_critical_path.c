/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "analysis/time/path_account.h"
#include "base/error.h"
#include "model/names.h"
#include "model/view/filter.h"

#define US(time) ((gt_time)(time)*1000)

static void make(void)
{
	scene_begin(US(1000));
}

TestSuite(critical_path, .init = make, .fini = scene_end);

static gt_id call_in(gt_id range, const char *function, double start, double end)
{
	return trace_call_in(&trace, range, function, US(start), US(end));
}

static void kernel(gt_id of_stream, gt_id asked, gt_id of_shape, double start, double end)
{
	trace_kernel(&trace, of_stream, of_shape, US(start), US(end))->api_call = asked;
}

static void wait_for(gt_id asked, gt_id row)
{
	*gt_array_push(&trace.syncs) = (struct gt_sync){
		.start_ns = trace.api_calls.rows[asked].start_ns,
		.end_ns = trace.api_calls.rows[asked].end_ns,
		.thread = thread,
		.stream = stream,
		.event = GT_NONE,
		.record = GT_NONE,
		.api_call = asked,
		.kind = 3,
	};
	*gt_array_push(&trace.edges) = (struct gt_edge){
		.from_table = GT_TABLE_kernels,
		.from_row = row,
		.to_table = GT_TABLE_syncs,
		.to_row = (gt_id)trace.syncs.count - 1,
		.sync = (gt_id)trace.syncs.count - 1,
		.kind = GT_EDGE_HOST,
	};
}

/*
 * A step: gemm of 92 us, and beside it on another stream one of 40 us; the host waits for gemm,
 * works for 18 us and launches once more.
 */
static void run_step(void)
{
	const gt_id side = (gt_id)trace.streams.count;
	const gt_id other = trace_shape(&trace, "aside", 1, 32);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, US(130));
	gt_id first;
	gt_id second;
	gt_id last;

	*gt_array_push(&trace.streams) = (struct gt_stream){
		.context = trace.streams.rows[stream].context, .number = 9, .flags = 2};
	first = call_in(step, "cudaLaunchKernel", 0, 5);
	second = call_in(step, "cudaLaunchKernel", 6, 11);
	kernel(stream, first, shape, 8, 100);
	kernel(side, second, other, 14, 54);
	wait_for(call_in(step, "cudaStreamSynchronize", 12, 102), 0);
	last = call_in(step, "cudaLaunchKernel", 120, 125);
	kernel(stream, last, shape, 128, 200);
}

static size_t row_of(const char *section, const char *heading, const char *words)
{
	for (size_t i = 0; i < row_count(&result, section); i++)
		if (strcmp(cell(&result, section, i, heading)->text, words) == 0)
			return i;
	cr_fatal("%s has no %s %s", section, heading, words);
	return 0;
}

static void expect_kind(const char *kind, gt_time us)
{
	const size_t row = row_of("by_kind", "kind", kind);

	expect_count(&result, "by_kind", row, "total_ns", US(us));
}

Test(critical_path, adds_up_to_the_time)
{
	gt_time sum_ns = 0;

	run_step();
	run_report(&result, "critical-path", &trace);
	cr_assert(eq(sz, row_count(&result, "paths"), 1));
	expect_count(&result, "paths", 0, "length_ns", US(200));
	expect_count(&result, "paths", 0, "path_ns", US(200));
	expect_count(&result, "paths", 0, "certain_ns", US(200));
	expect_count(&result, "paths", 0, "assumed", 0);
	expect_unknown(&result, "paths", 0, "ranges");
	expect_kind("kernels", 92 + 72);
	expect_kind("launch latency", 8 + 8);
	expect_kind("return from a wait", 2);
	expect_kind("program's own time", 18);
	for (size_t i = 0; i < row_count(&result, "by_kind"); i++)
		sum_ns += cell(&result, "by_kind", i, "total_ns")->count;
	cr_expect(eq(i64, sum_ns, US(200)));
}

Test(critical_path, says_which_kernels_are_on_it_and_how_late_others_could_be)
{
	size_t row;

	run_step();
	run_report(&result, "critical-path", &trace);
	row = row_of("kernels", "kernel", "gemm");
	expect_count(&result, "kernels", row, "on_path", 2);
	expect_count(&result, "kernels", row, "on_path_ns", US(164));
	expect_real(&result, "kernels", row, "share_percent", 82.0);
	expect_unknown(&result, "kernels", row, "slack_ns");
	row = row_of("kernels", "kernel", "aside");
	expect_count(&result, "kernels", row, "on_path", 0);
	/* Nothing waits for it but the end. */
	expect_count(&result, "kernels", row, "slack_ns", US(200 - 54));
}

Test(critical_path, runs_again_with_a_kernel_that_takes_no_time)
{
	size_t row;

	run_step();
	run_report(&result, "critical-path", &trace);
	row = row_of("what_if", "change", "gemm takes no time");
	/* The host would be through at 40: what runs beside it leads then. */
	expect_count(&result, "what_if", row, "length_ns", US(54));
	expect_count(&result, "what_if", row, "saved_ns", US(146));
	expect_real(&result, "what_if", row, "saved_percent", 73.0);
	row = row_of("what_if", "change", "as it is");
	expect_count(&result, "what_if", row, "saved_ns", 0);
}

Test(critical_path, runs_again_with_kernels_by_their_names)
{
	size_t row;

	run_step();
	run_report_with(&result, "critical-path", &trace, "kernel=^asi");
	row = row_of("what_if", "change", "kernels that fit ^asi take no time");
	expect_count(&result, "what_if", row, "saved_ns", 0);
}

Test(critical_path, refuses_what_is_no_regular_expression)
{
	const struct gt_report *report = gt_report_find("critical-path");
	const struct gt_view view = gt_view_of(&trace);
	struct gt_arguments arguments;
	struct gt_error err = {0};

	gt_arguments_init(&arguments, report->parameters);
	cr_assert(eq(int, gt_arguments_set(&arguments, report->parameters, "kernel=(", NULL), 0));
	gt_result_init(&result);
	cr_expect(lt(int, gt_report_run(report, &view, &arguments, &result, &err), 0));
	cr_expect(ne(ptr, strstr(err.text, "no regular expression"), NULL));
}

Test(critical_path, says_which_waits_it_goes_through)
{
	run_step();
	run_report(&result, "critical-path", &trace);
	cr_assert(eq(sz, row_count(&result, "waits"), 1));
	expect_words(&result, "waits", 0, "function", "cudaStreamSynchronize");
	expect_count(&result, "waits", 0, "calls", 1);
	expect_count(&result, "waits", 0, "call_ns", US(90));
	expect_count(&result, "waits", 0, "return_ns", US(2));
}

Test(critical_path, of_each_range_goes_on_to_the_end_of_its_work)
{
	struct gt_filter filter;
	struct gt_view view;

	run_step();
	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_RANGE, "step", NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&result, "critical-path", &view);
	expect_count(&result, "paths", 0, "ranges", 1);
	expect_count(&result, "paths", 0, "length_ns", US(200));
	cr_assert(eq(sz, row_count(&result, "each"), 1));
	expect_count(&result, "each", 0, "kernels_ns", US(164));
	expect_count(&result, "each", 0, "host_ns", US(18));
	expect_words(&result, "each", 0, "range", "step");
	expect_words(&result, "by_range", 0, "range", "step");
	expect_count(&result, "by_range", 0, "total_ns", US(200));
	gt_filter_release(&filter);
}

Test(critical_path, lists_the_longest_members_first)
{
	run_step();
	run_report_with(&result, "critical-path", &trace, "top=2");
	cr_assert(eq(sz, row_count(&result, "longest_members"), 2));
	expect_count(&result, "longest_members", 0, "duration_ns", US(92));
	expect_count(&result, "longest_members", 1, "duration_ns", US(72));
	expect_words(&result, "longest_members", 0, "name", "gemm");
	expect_words(&result, "longest_members", 0, "basis", "recorded");
}

Test(critical_path, says_why_there_is_none)
{
	run_report(&result, "critical-path", &trace);
	cr_expect(gt_result_says_why_empty(&result));
	cr_expect(zero(sz, row_count(&result, "paths")));
}

Test(critical_path, is_one_for_each_process)
{
	const gt_id neighbour = trace_process(&trace, "other", 200);
	const gt_id its_thread = trace_thread(&trace, neighbour, 201);

	run_step();
	trace_call(&trace, its_thread, "cudaMalloc", US(300), US(400));
	run_report(&result, "critical-path", &trace);
	cr_assert(eq(sz, row_count(&result, "paths"), 2));
	expect_count(&result, "paths", 0, "length_ns", US(200));
	expect_count(&result, "paths", 1, "length_ns", US(100));
	expect_count(&result, "paths", 0, "stretches", 6);
	expect_count(&result, "paths", 1, "stretches", 1);
	cr_expect(has_remark(&result, "Each process has a path of its own: no event"));
	cr_expect(zero(sz, row_count(&result, "by_process")));
}

/* Another process waits for gemm, which ended at 100 us, with a kernel of 60 us. */
Test(critical_path, says_whose_time_it_is_where_a_process_waited_for_another)
{
	const gt_id neighbour = trace_process(&trace, "other", 200);
	const gt_id its_thread = trace_thread(&trace, neighbour, 201);
	const gt_id its_stream = trace_stream(&trace, neighbour, device);
	const gt_id after = trace_shape(&trace, "after", 1, 32);
	const gt_id first = trace_call(&trace, thread, "cudaLaunchKernel", 0, US(5));
	const gt_id second = trace_call(&trace, its_thread, "cudaLaunchKernel", US(6), US(11));

	kernel(stream, first, shape, 8, 100);
	kernel(its_stream, second, after, 104, 164);
	*gt_array_push(&trace.edges) = (struct gt_edge){
		.from_table = GT_TABLE_kernels,
		.from_row = 0,
		.to_table = GT_TABLE_kernels,
		.to_row = (gt_id)trace.kernels.count - 1,
		.sync = GT_NONE,
		.kind = GT_EDGE_EVENT,
	};
	run_report(&result, "critical-path", &trace);
	cr_assert(eq(sz, row_count(&result, "by_process"), 3));
	expect_words(&result, "by_process", 0, "path_of", "app (100)");
	expect_words(&result, "by_process", 0, "process", "app (100)");
	expect_words(&result, "by_process", 1, "path_of", "other (200)");
	expect_words(&result, "by_process", 1, "process", "app (100)");
	expect_count(&result, "by_process", 1, "gpu_ns", US(92));
	expect_words(&result, "by_process", 2, "process", "other (200)");
	expect_count(&result, "by_process", 2, "gpu_ns", US(60));
	expect_count(&result, "by_process", 2, "total_ns", US(64));
	expect_words(&result, "longest_members", 0, "kind", "kernels");
	cr_expect(has_remark(&result, "proves the wait (1 edges)"));
}

/* The first kernel ran several times for its counters: from its call to its end nothing is
 * measured. */
Test(critical_path, counts_no_kernel_that_was_held_up_for_its_counters)
{
	run_step();
	trace.kernels.rows[0].flags |= GT_PROFILED;
	trace.api_calls.rows[trace.kernels.rows[0].api_call].flags |= GT_PROFILED;
	*gt_array_push(&trace.profiled_launches) =
		(struct gt_profiled_launch){.start_ns = trace.api_calls.rows[0].start_ns,
	                                    .end_ns = trace.kernels.rows[0].end_ns,
	                                    .process = process,
	                                    .kernel = 0};
	run_report(&result, "critical-path", &trace);
	expect_kind("not measured", 100);
	expect_kind("kernels", 72);
	expect_count(&result, "kernels", row_of("kernels", "kernel", "gemm"), "calls", 1);
	expect_count(&result, "kernels", row_of("kernels", "kernel", "gemm"), "total_ns", US(72));
	expect_count(&result, "what_if", row_of("what_if", "change", "gemm takes no time"),
	             "saved_ns", US(72));
	cr_expect(has_remark(&result, "not measured"));
}

/* ---- what is shown ---- */

static bool is_no_gemm(const void *context, struct gt_step step)
{
	(void)context;
	return step.table != GT_TABLE_kernels || trace.kernels.rows[step.row].shape != shape;
}

/* The path is that of all that happened: what is not shown is on it, under one name. */
Test(critical_path, calls_what_is_not_shown_other_work)
{
	const struct gt_path_shown shown = {.is = is_no_gemm, .window = {INT64_MIN, INT64_MAX}};
	struct gt_path_account account;
	gt_time other_ns = 0;
	gt_time all_ns = 0;

	run_step();
	gt_path_account_init(&account, &trace, &shown, true, 20);
	gt_array_each(const struct gt_path_total, total, &account.by_name) {
		cr_expect(ne(u32, total->key.what, GT_PATH_WHAT_KERNEL));
		all_ns += total->total_ns;
		if (total->key.kind == GT_PATH_OF_KERNEL)
			other_ns += total->total_ns;
	}
	cr_expect(eq(i64, other_ns, US(92 + 72)));
	cr_expect(eq(i64, all_ns, US(200)));
	cr_expect(eq(i64, account.lasts_ns, US(200)));
	gt_path_account_release(&account);
}

/* ---- ranges that are changed ---- */

static void run_on_ranges(const char *name)
{
	struct gt_filter filter;
	struct gt_view view;

	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_RANGE, name, NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&result, "critical-path", &view);
	gt_filter_release(&filter);
}

static void expect_bounded(void)
{
	const gt_time length_ns = cell(&result, "what_if", 0, "length_ns")->count;

	for (size_t i = 0; i < row_count(&result, "what_if"); i++) {
		const gt_time saved_ns = cell(&result, "what_if", i, "saved_ns")->count;

		cr_expect(ge(i64, saved_ns, 0), "%s saves %lld ns",
		          cell(&result, "what_if", i, "change")->text, (long long)saved_ns);
		cr_expect(le(i64, saved_ns, length_ns));
	}
}

static void expect_saved(const char *change, gt_time us)
{
	expect_count(&result, "what_if", row_of("what_if", "change", change), "saved_ns", US(us));
}

/* Steps of 110 us one after the other: a kernel of 100 us, and the host waits for it. */
static void run_steps(gt_time begin, int count)
{
	for (int i = 0; i < count; i++) {
		const double at = (double)begin + 120.0 * i;
		const gt_id step =
			trace_range(&trace, thread, GT_NONE, "step", US(at), US(at + 110));
		const gt_id launch = call_in(step, "cudaLaunchKernel", at + 1, at + 4);

		kernel(stream, launch, shape, at + 6, at + 106);
		wait_for(call_in(step, "cudaStreamSynchronize", at + 5, at + 108),
		         (gt_id)trace.kernels.count - 1);
	}
}

/* Without its wait each step lasts until its kernel has ended: the host is through long before. */
Test(critical_path, of_steps_is_not_longer_without_the_wait_at_their_ends)
{
	run_steps(0, 6);
	run_on_ranges("step");
	expect_count(&result, "paths", 0, "ranges", 6);
	expect_count(&result, "what_if", 0, "length_ns", US(6 * 110));
	expect_bounded();
	/* The return of the wait, and the host's own time after it. */
	expect_saved("cudaStreamSynchronize waits for nothing", 6 * 4);
	expect_saved("gemm takes no time", 6 * 100);
	/* The call and the latency: from 1 to 6. */
	expect_saved("launches cost nothing", 6 * 5);
}

/* The kernel that the range waits for was launched before it, behind another one. */
Test(critical_path, of_a_range_that_waits_for_what_came_before_it)
{
	const gt_id before = trace_range(&trace, thread, GT_NONE, "before", 0, US(20));
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", US(30), US(260));
	const gt_id first = call_in(before, "cudaLaunchKernel", 0, 5);
	const gt_id second = call_in(before, "cudaLaunchKernel", 6, 11);
	const gt_id third = call_in(step, "cudaLaunchKernel", 40, 45);

	kernel(stream, first, shape, 8, 100);
	kernel(stream, second, shape, 101, 200);
	kernel(stream, third, shape, 201, 250);
	wait_for(call_in(step, "cudaStreamSynchronize", 50, 252), 2);
	run_on_ranges("step");
	expect_count(&result, "what_if", 0, "length_ns", US(230));
	expect_bounded();
	/* 50 us are left: up to the begin of the wait, which returns 2 us later, and 8 more. */
	expect_saved("gemm takes no time", 230 - (50 + 2 + 8 - 30));
	/* The third kernel still comes after both. */
	expect_saved("cudaStreamSynchronize waits for nothing", 10);
}

/* The other thread's work fills the stream, and goes on without end. */
Test(critical_path, of_a_range_is_not_longer_by_what_another_thread_does)
{
	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", US(30), US(300));
	const gt_id early = trace_call(&trace, other, "cudaLaunchKernel", US(0), US(5));
	const gt_id sync = trace_call(&trace, other, "cudaStreamSynchronize", US(6), US(102));
	const gt_id own = call_in(step, "cudaLaunchKernel", 40, 45);
	const gt_id late = trace_call(&trace, other, "cudaLaunchKernel", US(110), US(115));

	kernel(stream, early, shape, 8, 100);
	kernel(stream, own, shape, 101, 150);
	kernel(stream, late, shape, 151, 900);
	wait_for(sync, 0);
	trace.syncs.rows[0].thread = other;
	wait_for(call_in(step, "cudaStreamSynchronize", 160, 902), 2);
	trace.ranges.rows[step].end_ns = TRACE_START_NS + US(910);
	run_on_ranges("step");
	expect_count(&result, "what_if", 0, "length_ns", US(880));
	expect_bounded();
}

/* Its end is not known: it is open until the recording ends. */
Test(critical_path, of_a_range_that_did_not_end_saves_nothing_by_itself)
{
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", US(0), US(900));
	const gt_id launch = call_in(step, "cudaLaunchKernel", 1, 4);

	trace.ranges.rows[step].end_ns = 0;
	trace.ranges.rows[step].flags |= GT_UNFINISHED;
	kernel(stream, launch, shape, 6, 106);
	run_on_ranges("step");
	expect_count(&result, "what_if", 0, "length_ns", US(1000));
	expect_bounded();
	/* The host is what lasts: of its time the call is known. */
	expect_saved("launches cost nothing", 3);
}

/* Copies and fills are work of the GPU as kernels are, in ranges and of processes. */
Test(critical_path, counts_copies_as_time_of_the_gpu)
{
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, US(40));
	const gt_id asked = call_in(step, "cudaMemcpyAsync", 10, 20);
	size_t row;

	trace_copy(&trace, stream, GT_COPY_HOST_TO_DEVICE, 64, US(30), US(90))->api_call = asked;
	kernel(stream, call_in(step, "cudaLaunchKernel", 22, 25), shape, 90, 120);
	trace.end_ns = TRACE_START_NS + US(120);
	run_report(&result, "critical-path", &trace);
	expect_kind("copies and fills", 60);
	expect_kind("kernels", 30);
	row = row_of("by_range", "range", "step");
	expect_count(&result, "by_range", row, "gpu_ns", US(90));
}

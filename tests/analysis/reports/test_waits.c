/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_report.h"
#include "base/array.h"
#include "base/strings.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/work/sync.h"

static struct gt_trace trace;
static struct gt_result result;
static gt_id process;
static gt_id thread;
static gt_id first;
static gt_id second;

static void make(void)
{
	trace_init(&trace, 100000);
	process = trace_process(&trace, "app", 1);
	thread = trace_thread(&trace, process, 101);
	first = trace_stream(&trace, process, trace_device(&trace));
	trace.streams.rows[first].number = 7;
	*gt_array_push(&trace.streams) =
		(struct gt_stream){.context = trace.streams.rows[first].context, .number = 8};
	second = 1;
}

static void drop(void)
{
	gt_result_release(&result);
	gt_trace_release(&trace);
}

TestSuite(waits, .init = make, .fini = drop);

static struct gt_sync *add_sync(enum gt_sync_kind kind, gt_id stream, gt_time start_ns,
                                gt_time end_ns)
{
	struct gt_sync *sync = gt_array_push(&trace.syncs);

	*sync = (struct gt_sync){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.kind = kind,
		.thread = thread,
		.stream = stream,
		.event = GT_NONE,
		.record = GT_NONE,
		.api_call = GT_NONE,
	};
	return sync;
}

Test(waits, are_counted_by_kind_with_their_times)
{
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, first, 100, 150);
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, first, 200, 400)->result = 700;
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, first, 500, 0)->flags = GT_UNFINISHED;
	add_sync(GT_SYNC_EVENT_RECORD, first, 600, 601);
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "waits"), 2));
	expect_text(cell(&result, "waits", 0, "kind")->text, "stream synchronize");
	cr_expect(eq(i64, cell(&result, "waits", 0, "calls")->count, 3));
	cr_expect(eq(i64, cell(&result, "waits", 0, "total_ns")->count, 250));
	cr_expect(eq(i64, cell(&result, "waits", 0, "max_ns")->count, 200));
	cr_expect(eq(i64, cell(&result, "waits", 0, "failed")->count, 1));
	cr_expect(eq(i64, cell(&result, "waits", 0, "unfinished")->count, 1));
	expect_text(cell(&result, "waits", 0, "host_waits")->text, "yes");
	expect_text(cell(&result, "waits", 1, "host_waits")->text, "no");
}

Test(waits, that_took_longest_come_first_and_queries_last)
{
	add_sync(GT_SYNC_EVENT_RECORD, first, 100, 101);
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, first, 200, 250);
	add_sync(GT_SYNC_EVENT_SYNCHRONIZE, first, 300, 400);
	*gt_array_push(&trace.queries) =
		(struct gt_query){.kind = GT_SYNC_STREAM_QUERY, .thread = thread, .count = 1000};
	run_report(&result, "waits", &trace);
	expect_words(&result, "waits", 0, "kind", "event synchronize");
	expect_words(&result, "waits", 1, "kind", "stream synchronize");
	expect_words(&result, "waits", 2, "kind", "event record");
	expect_words(&result, "waits", 3, "kind", "stream query");
	expect_text(gt_result_find(&result, "waits")->order, "total_ns");
}

Test(waits, say_who_waited_on_what)
{
	*gt_array_push(&trace.events) = (struct gt_event){
		.process = process, .number = 3, .name = gt_strings_add(trace.strings, "copied")};
	trace.streams.rows[first].name = gt_strings_add(trace.strings, "compute");
	add_sync(GT_SYNC_EVENT_RECORD, second, 50, 51)->event = 0;
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, first, 100, 1100);
	struct gt_sync *wait = add_sync(GT_SYNC_EVENT_SYNCHRONIZE, GT_NONE, 2000, 7000);
	wait->event = 0;
	wait->record = 0;
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "waited_on"), 2));
	expect_text(cell(&result, "waited_on", 0, "kind")->text, "event synchronize");
	expect_text(cell(&result, "waited_on", 0, "stream")->text, "8");
	cr_expect(eq(i64, cell(&result, "waited_on", 0, "event")->count, 3));
	expect_text(cell(&result, "waited_on", 0, "event_name")->text, "copied");
	cr_expect(eq(dbl, cell(&result, "waited_on", 0, "thread_percent")->real, 5.0));
	expect_text(cell(&result, "waited_on", 1, "stream")->text, "7: compute");
	cr_expect(cell(&result, "waited_on", 1, "event")->unknown);
}

/* Threads that are not known wait at the same time, and beyond the window. */
Test(waits, have_no_share_over_the_window)
{
	struct gt_view view = gt_view_of(&trace);
	int64_t whole_ns;

	view.end_ns = TRACE_START_NS + 1000;
	for (int i = 0; i < 8; i++)
		add_sync(GT_SYNC_STREAM_SYNCHRONIZE, first, 500 + i, 5000)->thread = GT_NONE;
	run_report_on(&result, "waits", &view);
	cr_assert(eq(sz, row_count(&result, "waited_on"), 1));
	whole_ns = cell(&result, "waited_on", 0, "total_ns")->count;
	cr_expect(eq(i64, whole_ns, 8 * 4500 - 28));
	cr_expect(eq(dbl, cell(&result, "waited_on", 0, "thread_percent")->real, 50.0));
}

Test(waits, add_queries_of_one_answer_up)
{
	for (int i = 0; i < 4; i++)
		*gt_array_push(&trace.queries) = (struct gt_query){.count = 5,
		                                                   .kind = GT_SYNC_EVENT_QUERY,
		                                                   .result = i < 3 ? 600 : 0,
		                                                   .thread = thread};
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "queries"), 2));
	expect_text(cell(&result, "queries", 0, "answer")->text, "not ready");
	cr_expect(eq(i64, cell(&result, "queries", 0, "calls")->count, 15));
	expect_text(cell(&result, "queries", 1, "answer")->text, "ready");
	cr_expect(eq(i64, cell(&result, "waits", 0, "calls")->count, 20));
	cr_expect(cell(&result, "waits", 0, "total_ns")->unknown);
	cr_expect(eq(i64, cell(&result, "waits", 0, "failed")->count, 0));
}

Test(waits, count_each_query_that_failed)
{
	for (int i = 0; i < 3; i++)
		*gt_array_push(&trace.queries) = (struct gt_query){.count = 5,
		                                                   .kind = GT_SYNC_EVENT_QUERY,
		                                                   .result = i < 2 ? 700 : 0,
		                                                   .thread = thread};
	run_report(&result, "waits", &trace);
	cr_expect(eq(i64, cell(&result, "waits", 0, "calls")->count, 15));
	cr_expect(eq(i64, cell(&result, "waits", 0, "failed")->count, 10));
}

/* A wait of the second stream for the first, asked for at 200; the awaited kernel ends at 1000. */
static void add_dependency(gt_time before_it_ends_ns)
{
	const gt_id shape = trace_shape(&trace, "k", 1, 32);

	trace_kernel(&trace, first, shape, 100, 1000);
	trace_kernel(&trace, second, shape, 150, before_it_ends_ns);
	trace_kernel(&trace, second, shape, 2000, 2100);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, second, 200, 201)->record = 0;
	*gt_array_push(&trace.edges) = (struct gt_edge){
		.from_table = GT_TABLE_kernels,
		.from_row = 0,
		.to_table = GT_TABLE_kernels,
		.to_row = 2,
		.sync = 0,
		.kind = GT_EDGE_EVENT,
	};
}

Test(waits, tell_how_long_a_stream_held_another_one_back)
{
	add_dependency(600);
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "dependencies"), 1));
	expect_text(cell(&result, "dependencies", 0, "from_stream")->text, "7");
	expect_text(cell(&result, "dependencies", 0, "to_stream")->text, "8");
	cr_expect(eq(i64, cell(&result, "dependencies", 0, "calls")->count, 1));
	cr_expect(eq(i64, cell(&result, "dependencies", 0, "held")->count, 1));
	cr_expect(eq(i64, cell(&result, "dependencies", 0, "held_ns")->count, 400));
}

Test(waits, that_were_over_before_the_stream_came_to_them_held_nothing)
{
	add_dependency(1500);
	run_report(&result, "waits", &trace);
	cr_expect(eq(i64, cell(&result, "dependencies", 0, "calls")->count, 1));
	cr_expect(eq(i64, cell(&result, "dependencies", 0, "held")->count, 0));
	cr_expect(eq(i64, cell(&result, "dependencies", 0, "held_ns")->count, 0));
}

Test(waits, of_a_stream_hold_nothing_back_behind_work_that_never_ended)
{
	add_dependency(600);
	trace.kernels.rows[1].end_ns = 0;
	trace.kernels.rows[1].flags |= GT_UNFINISHED;
	run_report(&result, "waits", &trace);
	expect_count(&result, "dependencies", 0, "calls", 1);
	expect_count(&result, "dependencies", 0, "held", 0);
}

Test(waits, of_a_stream_hold_nothing_back_that_is_asked_for_later)
{
	add_dependency(600);
	trace.kernels.rows[2].api_call = trace_call(&trace, thread, "cudaLaunchKernel", 1900, 1905);
	run_report(&result, "waits", &trace);
	expect_count(&result, "dependencies", 0, "held", 0);
	expect_count(&result, "dependencies", 0, "held_ns", 0);
	trace.api_calls.rows[0].start_ns = TRACE_START_NS + 700;
	gt_result_release(&result);
	run_report(&result, "waits", &trace);
	expect_count(&result, "dependencies", 0, "held", 1);
	expect_count(&result, "dependencies", 0, "held_ns", 300);
}

/* Two events of the same work hold one kernel back: it waits for both at the same time. */
Test(waits, of_one_stream_at_the_same_time_hold_it_back_once)
{
	struct gt_edge first_edge;

	add_dependency(600);
	first_edge = trace.edges.rows[0];
	first_edge.sync = 1;
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, second, 202, 203)->record = 0;
	*gt_array_push(&trace.edges) = first_edge;
	run_report(&result, "waits", &trace);
	expect_count(&result, "dependencies", 0, "calls", 2);
	expect_count(&result, "dependencies", 0, "held", 2);
	expect_count(&result, "dependencies", 0, "held_ns", 400);
	expect_count(&result, "dependencies", 0, "max_held_ns", 400);
}

Test(waits, are_remarked_when_there_are_none)
{
	run_report(&result, "waits", &trace);
	cr_expect(has_remark(&result, "No waits"));
}

/* ---- what waits cost ---- */

/* A kernel of the first stream, asked for by a call of 5 ns. */
static gt_id add_work(gt_id stream, gt_time call_ns, gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaLaunchKernel", call_ns, call_ns + 5);

	if (trace.launch_shapes.count == 0)
		trace_shape(&trace, "k", 1, 32);
	trace_kernel(&trace, stream, 0, start_ns, end_ns)->api_call = call;
	return (gt_id)trace.kernels.count - 1;
}

/* A wait with its call; table and row: what it waited for, as stage waits links it. */
static struct gt_sync *add_wait(enum gt_sync_kind kind, const char *function, gt_time start_ns,
                                gt_time end_ns, size_t table, gt_id row)
{
	const gt_id call = trace_call(&trace, thread, function, start_ns, end_ns);
	struct gt_sync *sync = add_sync(kind, first, start_ns, end_ns);

	sync->api_call = call;
	sync->context = trace.streams.rows[first].context;
	*gt_array_push(&trace.edges) = (struct gt_edge){
		.from_table = (gt_count)table,
		.from_row = row,
		.to_table = GT_TABLE_syncs,
		.to_row = (gt_id)trace.syncs.count - 1,
		.sync = (gt_id)trace.syncs.count - 1,
		.kind = GT_EDGE_HOST,
	};
	return sync;
}

static void add_synchronize(gt_time start_ns, gt_time end_ns, gt_id kernel)
{
	add_wait(GT_SYNC_STREAM_SYNCHRONIZE, "cudaStreamSynchronize", start_ns, end_ns,
	         GT_TABLE_kernels, kernel);
}

Test(waits, tell_what_the_gpu_did_meanwhile)
{
	add_synchronize(110, 1010, add_work(first, 100, 210, 1000));
	run_report(&result, "waits", &trace);
	expect_words(&result, "blocked", 0, "function", "cudaStreamSynchronize");
	expect_count(&result, "blocked", 0, "blocked_ns", 900);
	expect_count(&result, "blocked", 0, "busy_ns", 790);
	expect_count(&result, "blocked", 0, "idle_ns", 110);
	expect_count(&result, "meanwhile", 0, "busy_ns", 790);
	expect_count(&result, "meanwhile", 0, "copying_ns", 0);
	expect_count(&result, "meanwhile", 0, "idle_ns", 110);
	expect_count(&result, "blocked", 0, "emptied", 0);
}

Test(waits, that_emptied_the_gpu_pay_for_the_gap)
{
	add_synchronize(110, 1010, add_work(first, 100, 200, 1000));
	add_work(first, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "emptied", 1);
	expect_count(&result, "blocked", 0, "gap_ns", 600);
}

/* A wait for a context is for all of its streams: the one that ended last held it. */
Test(waits, for_several_streams_are_for_what_ended_last)
{
	const gt_id last = add_work(first, 90, 100, 1000);
	const gt_id done = add_work(second, 95, 110, 150);
	struct gt_edge *edge;

	add_wait(GT_SYNC_CONTEXT_SYNCHRONIZE, "cudaDeviceSynchronize", 200, 1010, GT_TABLE_kernels,
	         done);
	edge = gt_array_push(&trace.edges);
	*edge = trace.edges.rows[0];
	edge->from_row = last;
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "calls", 1);
	expect_count(&result, "blocked", 0, "at_once", 0);
}

/* The second kernel was asked for before the first was waited for, and began after it. */
Test(waits, that_left_the_gpu_something_to_do_emptied_nothing)
{
	const gt_id kernel = add_work(first, 100, 200, 1000);

	add_work(second, 105, 1300, 1400);
	add_synchronize(120, 1010, kernel);
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "emptied", 0);
	expect_count(&result, "blocked", 0, "gap_ns", 0);
}

Test(waits, charge_a_gap_once)
{
	const gt_id kernel = add_work(first, 100, 200, 1000);

	add_synchronize(110, 1010, kernel);
	add_synchronize(1020, 1030, kernel);
	add_work(first, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "calls", 2);
	expect_count(&result, "blocked", 0, "emptied", 1);
	expect_count(&result, "blocked", 0, "gap_ns", 600);
	expect_count(&result, "blocked", 0, "at_once", 1);
}

Test(waits, charge_a_gap_once_where_two_threads_waited_until_it_began)
{
	const gt_id other = trace_thread(&trace, process, 102);
	const gt_id kernel = add_work(first, 100, 200, 1000);

	add_synchronize(110, 1010, kernel);
	add_synchronize(112, 1012, kernel);
	trace.syncs.rows[1].thread = other;
	trace.api_calls.rows[2].thread = other;
	add_work(first, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "calls", 2);
	expect_count(&result, "blocked", 0, "emptied", 1);
	expect_count(&result, "blocked", 0, "gap_ns", 600);
}

/* The other thread waits from before the first gap until after it, and empties the GPU later. */
Test(waits, charge_each_gap_where_several_threads_wait_at_once)
{
	const gt_id other = trace_thread(&trace, process, 102);
	const gt_id late = trace_call(&trace, other, "cudaLaunchKernel", 90, 94);
	const gt_id late_row = 2;
	gt_id work;

	add_synchronize(95, 6010, late_row);
	trace.syncs.rows[0].thread = other;
	trace.api_calls.rows[1].thread = other;
	work = add_work(first, 100, 200, 1000);
	add_synchronize(110, 1010, work);
	add_work(first, 1500, 1600, 1700);
	trace_kernel(&trace, second, 0, 5000, 6000)->api_call = late;
	add_work(first, 7000, 7100, 7200);
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "emptied", 2);
	expect_count(&result, "blocked", 0, "gap_ns", 600 + 1100);
}

static void hold_up(gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&trace.profiled_launches) = (struct gt_profiled_launch){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.kernel = GT_NONE,
	};
}

/* Launches of others were held up for their counters. */
Test(waits, say_nothing_of_time_that_is_not_measured)
{
	add_synchronize(110, 1010, add_work(first, 100, 210, 500));
	hold_up(400, 900);
	hold_up(1200, 1300);
	add_work(first, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "blocked_ns", 900);
	expect_count(&result, "meanwhile", 0, "busy_ns", 190);
	expect_count(&result, "meanwhile", 0, "copying_ns", 0);
	expect_count(&result, "meanwhile", 0, "idle_ns", 100 + 110);
	expect_count(&result, "blocked", 0, "emptied", 0);
}

Test(waits, pay_for_a_gap_until_nothing_is_measured)
{
	add_synchronize(110, 1010, add_work(first, 100, 200, 1000));
	hold_up(1200, 1300);
	add_work(first, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "emptied", 1);
	expect_count(&result, "blocked", 0, "gap_ns", 200);
}

/* The stream and the event's stream never had work; the GPU does, for another process. */
Test(waits, for_what_was_never_given_anything_cost_nothing)
{
	const gt_id other = trace_stream(&trace, process, 0);
	struct gt_sync *sync;

	trace_kernel(&trace, other, trace_shape(&trace, "gemm", 1, 32), 100, 500);
	add_sync(GT_SYNC_EVENT_RECORD, first, 600, 601);
	sync = add_sync(GT_SYNC_EVENT_SYNCHRONIZE, GT_NONE, 700, 705);
	sync->record = 0;
	sync->context = trace.streams.rows[first].context;
	sync = add_sync(GT_SYNC_CONTEXT_SYNCHRONIZE, GT_NONE, 800, 805);
	sync->context = trace.streams.rows[first].context;
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "blocked"), 2));
	expect_count(&result, "blocked", 0, "at_once", 1);
	expect_count(&result, "blocked", 1, "at_once", 1);
}

Test(waits, for_work_that_was_done_cost_nothing)
{
	add_synchronize(5000, 5010, add_work(first, 100, 200, 1000));
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "at_once", 1);
	expect_count(&result, "blocked", 0, "emptied", 0);
	cr_expect(eq(sz, row_count(&result, "avoidable"), 0), "it was waited for once");
}

/* It waited for something that is not recorded, such as a function of the host. */
Test(waits, that_took_long_for_work_that_was_done_are_not_explained)
{
	add_synchronize(5000, 65000, add_work(first, 100, 200, 1000));
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "at_once", 0);
	cr_expect(has_remark(&result, "What 1 of 1 waits waited for is not known"));
}

Test(waits, for_what_had_been_waited_for_are_avoidable)
{
	const gt_id kernel = add_work(first, 100, 200, 1000);

	add_synchronize(110, 1010, kernel);
	add_synchronize(1020, 1030, kernel);
	add_synchronize(1040, 1055, kernel);
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "avoidable"), 1));
	expect_words(&result, "avoidable", 0, "why", "nothing new");
	expect_count(&result, "avoidable", 0, "calls", 2);
	expect_count(&result, "avoidable", 0, "blocked_ns", 25);
	expect_count(&result, "avoidable", 0, "at_ns", 1040);
}

/* Each thread has news of its own, whoever else has waited for it. */
Test(waits, for_what_another_thread_had_waited_for_are_needed)
{
	const gt_id one = thread;
	const gt_id kernel = add_work(first, 100, 200, 1000);

	add_synchronize(110, 1010, kernel);
	thread = trace_thread(&trace, process, 102);
	add_synchronize(1020, 1030, kernel);
	run_report(&result, "waits", &trace);
	cr_expect(eq(sz, row_count(&result, "avoidable"), 0));
	gt_result_release(&result);
	add_synchronize(1040, 1050, kernel);
	thread = one;
	add_synchronize(1060, 1075, kernel);
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "avoidable"), 1));
	expect_count(&result, "avoidable", 0, "calls", 2);
	expect_count(&result, "avoidable", 0, "blocked_ns", 25);
}

Test(waits, right_before_more_work_of_the_stream_are_avoidable)
{
	add_synchronize(110, 1010, add_work(first, 100, 200, 1000));
	add_work(first, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "avoidable"), 1));
	expect_words(&result, "avoidable", 0, "why", "then more work");
	expect_count(&result, "avoidable", 0, "gap_ns", 600);
	cr_expect(strstr(cell(&result, "avoidable", 0, "evidence")->text,
	                 "cudaLaunchKernel 490 ns later") != NULL);
}

Test(waits, before_work_of_another_stream_could_be_events)
{
	add_synchronize(110, 1010, add_work(first, 100, 200, 1000));
	add_work(second, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "avoidable"), 1));
	expect_words(&result, "avoidable", 0, "why", "then other stream");
}

/* The host reads what the copy brought, or fills what the copy took. */
Test(waits, for_a_copy_of_the_hosts_memory_are_needed)
{
	const gt_id kernel = add_work(first, 100, 200, 1000);
	const gt_id call = trace_call(&trace, thread, "cudaMemcpyAsync", 108, 109);

	trace_copy(&trace, first, GT_COPY_HOST_TO_DEVICE, 100000, 1000, 1100)->api_call = call;
	add_synchronize(110, 1110, kernel);
	add_work(first, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	cr_expect(eq(sz, row_count(&result, "avoidable"), 0));
}

/* It was copied since the thread itself waited last; another one waited meanwhile. */
Test(waits, for_a_copy_that_another_thread_waited_for_are_needed)
{
	const gt_id one = thread;
	const gt_id kernel = add_work(first, 100, 200, 1000);
	gt_id call;

	add_synchronize(110, 1010, kernel);
	call = trace_call(&trace, thread, "cudaMemcpyAsync", 1100, 1105);
	trace_copy(&trace, first, GT_COPY_DEVICE_TO_HOST, 100000, 1200, 1300)->api_call = call;
	thread = trace_thread(&trace, process, 102);
	add_synchronize(1350, 1400, kernel);
	thread = one;
	add_synchronize(1450, 1910, add_work(first, 1410, 1420, 1900));
	add_work(first, 2000, 2100, 2200);
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "avoidable"), 1));
	expect_count(&result, "avoidable", 0, "calls", 1); /* the first, before the copy */
}

Test(waits, before_a_time_is_read_are_needed)
{
	add_synchronize(110, 1010, add_work(first, 100, 200, 1000));
	add_sync(GT_SYNC_EVENT_ELAPSED_TIME, GT_NONE, 1020, 1021);
	add_work(first, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	cr_expect(eq(sz, row_count(&result, "avoidable"), 0));
}

Test(waits, are_not_called_avoidable_where_the_host_reads_managed_memory)
{
	*gt_array_push(&trace.allocations) =
		(struct gt_allocation){.kind = GT_MEMORY_CALL_ALLOCATE_MANAGED};
	add_synchronize(110, 1010, add_work(first, 100, 200, 1000));
	add_work(first, 1500, 1600, 1700);
	run_report(&result, "waits", &trace);
	cr_expect(eq(sz, row_count(&result, "avoidable"), 0));
	cr_expect(has_remark(&result, "managed memory"));
}

static void add_whole_graph(gt_time call_ns, gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaGraphLaunch", call_ns, call_ns + 5);

	*gt_array_push(&trace.graph_traces) =
		(struct gt_graph_trace){.start_ns = TRACE_START_NS + start_ns,
	                                .end_ns = TRACE_START_NS + end_ns,
	                                .device = 0,
	                                .stream = first,
	                                .api_call = call,
	                                .exec = GT_NONE};
}

/* The table of edges knows the kernel before the graphs alone, which had been waited for. */
Test(waits, for_whole_graphs_are_not_for_the_kernel_before_them)
{
	const gt_id kernel = add_work(first, 100, 200, 1000);

	add_synchronize(110, 1010, kernel);
	add_whole_graph(2000, 2100, 2500);
	add_synchronize(2010, 2510, kernel);
	add_whole_graph(3000, 3100, 3500);
	add_synchronize(3010, 3510, kernel);
	run_report(&result, "waits", &trace);
	expect_count(&result, "blocked", 0, "calls", 3);
	expect_count(&result, "blocked", 0, "at_once", 0);
	for (size_t i = 0; i < row_count(&result, "avoidable"); i++)
		expect_words(&result, "avoidable", i, "why", "then more work");
	cr_expect(not(has_remark(&result, "waited for is not known")));
}

/* As .item() does: a copy of some bytes, and a wait for it. */
static void read_little(gt_size bytes, gt_time from_ns)
{
	const gt_id call = trace_call(&trace, thread, "cudaMemcpyAsync", from_ns, from_ns + 5);

	trace_copy(&trace, first, GT_COPY_DEVICE_TO_HOST, bytes, from_ns + 300, from_ns + 400)
		->api_call = call;
	add_wait(GT_SYNC_STREAM_SYNCHRONIZE, "cudaStreamSynchronize", from_ns + 10, from_ns + 450,
	         GT_TABLE_copies, (gt_id)trace.copies.count - 1);
}

Test(waits, for_a_few_bytes_are_small_reads)
{
	read_little(4, 100);
	read_little(4096, 1100);
	read_little(4097, 2100);
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "avoidable"), 1));
	expect_words(&result, "avoidable", 0, "why", "small read");
	expect_count(&result, "avoidable", 0, "calls", 2);
	expect_count(&result, "avoidable", 0, "bytes", 4100);
	expect_count(&result, "avoidable", 0, "blocked_ns", 880);
	gt_result_release(&result);
	run_report_with(&result, "waits", &trace, "small=4");
	expect_count(&result, "avoidable", 0, "calls", 1);
}

Test(waits, for_a_copy_from_pageable_memory_are_told_apart)
{
	for (int i = 0; i < 2; i++) {
		const gt_time from_ns = 100 + 1000 * i;
		const gt_id call =
			trace_call(&trace, thread, "cudaMemcpyAsync", from_ns, from_ns + 5);
		struct gt_copy *row = trace_copy(&trace, first, GT_COPY_HOST_TO_DEVICE, 65536,
		                                 from_ns + 300, from_ns + 400);

		row->api_call = call;
		if (i == 0)
			row->src_kind = GT_MEMORY_PAGEABLE;
		add_wait(GT_SYNC_STREAM_SYNCHRONIZE, "cudaStreamSynchronize", from_ns + 10,
		         from_ns + 450, GT_TABLE_copies, (gt_id)trace.copies.count - 1);
	}
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "avoidable"), 1));
	expect_words(&result, "avoidable", 0, "why", "pageable copy");
	expect_count(&result, "avoidable", 0, "calls", 1);
	expect_count(&result, "avoidable", 0, "bytes", 65536);
}

Test(waits, are_summed_up_by_range_and_operation)
{
	const gt_id range = trace_range(&trace, thread, GT_NONE, "aten::item, seq = 3", 50, 5000);
	const gt_id kernel = add_work(first, 100, 200, 1000);

	add_synchronize(110, 1010, kernel);
	trace.api_calls.rows[trace.syncs.rows[0].api_call].range = range;
	add_synchronize(6000, 6010, kernel);
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "blocked_ranges"), 1));
	expect_words(&result, "blocked_ranges", 0, "range", "aten::item, seq = 3");
	expect_count(&result, "blocked_ranges", 0, "blocked_ns", 900);
	cr_assert(eq(sz, row_count(&result, "blocked_ops"), 1));
	expect_words(&result, "blocked_ops", 0, "op", "aten::item");
	expect_count(&result, "blocked", 0, "calls", 2);
}

Test(waits, without_api_calls_say_what_is_not_known)
{
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, first, 100, 1000);
	run_report(&result, "waits", &trace);
	expect_words(&result, "blocked", 0, "function", "stream synchronize");
	expect_unknown(&result, "blocked", 0, "emptied");
	expect_unknown(&result, "blocked", 0, "gap_ns");
	cr_expect(has_remark(&result, "API calls were not recorded"));
}

/* ---- events ---- */

static void add_event_call(enum gt_sync_kind kind, gt_id event, gt_time start_ns)
{
	add_sync(kind, first, start_ns, start_ns + 1)->event = event;
}

Test(waits, count_events_that_are_made_for_one_record_and_records_for_nobody)
{
	for (gt_count i = 0; i < 3; i++)
		*gt_array_push(&trace.events) = (struct gt_event){
			.process = process, .number = i + 1, .handle = 16 + i, .records = 1};
	trace.events.rows[2].records = 3;
	trace.events.rows[0].created_ns = 10;
	trace.events.rows[0].destroyed_ns = 40;
	trace.events.rows[1].created_ns = 50;
	trace.events.rows[1].destroyed_ns = 70;
	add_event_call(GT_SYNC_EVENT_RECORD, 0, 20);
	add_event_call(GT_SYNC_STREAM_WAIT_EVENT, 0, 30);
	add_event_call(GT_SYNC_EVENT_RECORD, 1, 60);
	for (int i = 0; i < 3; i++)
		add_event_call(GT_SYNC_EVENT_RECORD, 2, 80 + i);
	run_report(&result, "waits", &trace);
	expect_count(&result, "events", 0, "events", 3);
	expect_count(&result, "events", 0, "created", 2);
	expect_count(&result, "events", 0, "single_use", 2);
	expect_count(&result, "events", 0, "records", 5);
	expect_count(&result, "events", 0, "waits", 1);
	expect_count(&result, "events", 0, "unused_records", 4);
}

/* An elapsed time is read from both of its events. */
Test(waits, count_an_elapsed_time_for_both_events)
{
	for (gt_count i = 0; i < 2; i++)
		*gt_array_push(&trace.events) = (struct gt_event){
			.process = process, .number = i + 1, .handle = 16 + i, .records = 1};
	add_event_call(GT_SYNC_EVENT_RECORD, 0, 10);
	add_event_call(GT_SYNC_EVENT_RECORD, 1, 20);
	add_event_call(GT_SYNC_EVENT_ELAPSED_TIME, 1, 30);
	trace.syncs.rows[2].value = 16;
	run_report(&result, "waits", &trace);
	expect_count(&result, "events", 0, "unused_records", 0);
}

/* Handles are addresses: two processes may have an event at one. */
Test(waits, count_an_elapsed_time_for_events_of_its_process)
{
	const gt_id other = trace_process(&trace, "other", 101);

	for (gt_count i = 0; i < 3; i++)
		*gt_array_push(&trace.events) = (struct gt_event){
			.process = process, .number = i + 1, .handle = 16 + i, .records = 1};
	trace.events.rows[2].process = other;
	trace.events.rows[2].handle = 16;
	add_event_call(GT_SYNC_EVENT_RECORD, 0, 10);
	add_event_call(GT_SYNC_EVENT_RECORD, 2, 15);
	add_event_call(GT_SYNC_EVENT_RECORD, 1, 20);
	add_event_call(GT_SYNC_EVENT_ELAPSED_TIME, 1, 30);
	trace.syncs.rows[3].value = 16;
	run_report(&result, "waits", &trace);
	cr_assert(eq(sz, row_count(&result, "events"), 2));
	expect_count(&result, "events", 0, "unused_records", 0);
	expect_count(&result, "events", 1, "records", 1);
	expect_count(&result, "events", 1, "unused_records", 1);
}

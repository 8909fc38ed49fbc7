/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_report.h"
#include "base/array.h"
#include "base/strings.h"
#include "model/sync.h"

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

Test(waits, are_remarked_when_there_are_none)
{
	run_report(&result, "waits", &trace);
	cr_expect(has_remark(&result, "No waits"));
}

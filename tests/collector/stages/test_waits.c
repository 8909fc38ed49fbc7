/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "collector/collect.h"
#include "format/file/meta.h"
#include "model/path/stream_order.h"
#include "model/work/sync.h"
#include "support/check.h"
#include "support/recording.h"

static struct recording recording;

enum {
	OTHER_STREAM = 8, /* beside STREAM, the default one */
	HANDLE = 0x7000,  /* of OTHER_STREAM */
	EVENT = 0x9000,
};

static void make(void)
{
	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 1);
	recording_add(&recording, handle, .time_ns = 1100, .handle = HANDLE, .context = CONTEXT,
	              .stream = OTHER_STREAM);
}

static void drop(void)
{
	recording_release(&recording);
}

TestSuite(waits, .init = make, .fini = drop);

static struct gt_trace collected(void)
{
	recording_end(&recording, true);
	return collect(&recording);
}

/* A launch at a time, its kernel 20 ns later on a stream, 10 ns long. */
static void add_work(uint32_t stream, uint64_t at, uint32_t correlation)
{
	recording_add_call(&recording, at, correlation);
	recording_add(&recording, kernel, .start_ns = at + 20, .end_ns = at + 30,
	              .correlation = correlation, .shape = SHAPE, .context = CONTEXT,
	              .stream = stream);
}

static void add_sync(enum gt_sync_kind kind, uint64_t at, uint64_t stream, uint64_t event)
{
	recording_add(&recording, sync_call, .start_ns = at, .end_ns = at + 4, .stream = stream,
	              .event = event, .kind = kind, .context = CONTEXT, .thread = 100);
}

Test(waits, name_the_record_that_they_wait_for)
{
	struct gt_trace trace;
	const struct gt_sync *syncs;

	add_sync(GT_SYNC_EVENT_RECORD, 2000, 0, EVENT);
	add_sync(GT_SYNC_EVENT_RECORD, 3000, 0, EVENT);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2500, HANDLE, EVENT);
	add_sync(GT_SYNC_EVENT_SYNCHRONIZE, 3500, UINT64_MAX, EVENT);
	trace = collected();
	syncs = trace.syncs.rows;
	cr_assert(eq(sz, trace.syncs.count, 4));
	cr_assert(eq(sz, trace.events.count, 1));
	cr_expect(eq(u32, trace.events.rows[0].records, 2));
	cr_expect(eq(u32, trace.events.rows[0].number, 1));
	cr_expect(eq(u32, syncs[0].generation, 1));
	cr_expect(eq(u32, syncs[1].kind, GT_SYNC_STREAM_WAIT_EVENT));
	cr_expect(eq(u32, syncs[1].record, 0));
	cr_expect(eq(u32, syncs[1].generation, 1));
	cr_expect(eq(u32, syncs[2].generation, 2));
	cr_expect(eq(u32, syncs[3].record, 2));
	cr_expect(eq(u32, syncs[3].stream, GT_NONE));
	cr_expect(eq(u32, trace.streams.rows[syncs[0].stream].number, STREAM));
	cr_expect(eq(u32, trace.streams.rows[syncs[1].stream].number, OTHER_STREAM));
	gt_trace_release(&trace);
}

Test(waits, for_an_event_that_was_never_recorded_name_none)
{
	struct gt_trace trace;

	add_sync(GT_SYNC_EVENT_SYNCHRONIZE, 2000, UINT64_MAX, EVENT);
	trace = collected();
	cr_expect(eq(u32, trace.syncs.rows[0].record, GT_NONE));
	cr_expect(eq(u32, trace.syncs.rows[0].generation, 0));
	cr_expect(eq(sz, trace.edges.count, 0));
	gt_trace_release(&trace);
}

Test(waits, tell_events_apart_that_had_one_handle_after_the_other)
{
	struct gt_trace trace;

	add_sync(GT_SYNC_EVENT_RECORD, 2000, 0, EVENT);
	add_sync(GT_SYNC_EVENT_DESTROY, 2100, UINT64_MAX, EVENT);
	add_sync(GT_SYNC_EVENT_CREATE, 2200, UINT64_MAX, EVENT);
	add_sync(GT_SYNC_EVENT_SYNCHRONIZE, 2300, UINT64_MAX, EVENT);
	recording_add(&recording, query, .start_ns = 2050, .end_ns = 2060, .stream = UINT64_MAX,
	              .event = EVENT, .count = 7, .kind = GT_SYNC_EVENT_QUERY, .result = 600,
	              .context = CONTEXT, .thread = 100);
	recording_add(&recording, query, .start_ns = 2250, .end_ns = 2260, .stream = UINT64_MAX,
	              .event = EVENT, .count = 1, .kind = GT_SYNC_EVENT_QUERY, .context = CONTEXT,
	              .thread = 100);
	trace = collected();
	cr_assert(eq(sz, trace.events.count, 2));
	cr_assert(eq(sz, trace.syncs.count, 2)); /* lives order nothing */
	cr_expect(eq(i64, trace.events.rows[0].created_ns, 0));
	cr_expect(ne(i64, trace.events.rows[0].destroyed_ns, 0));
	cr_expect(ne(i64, trace.events.rows[1].created_ns, 0));
	cr_expect(eq(i64, trace.events.rows[1].destroyed_ns, 0));
	cr_expect(eq(u32, trace.syncs.rows[0].event, 0));
	cr_expect(eq(u32, trace.syncs.rows[1].event, 1));
	cr_expect(eq(u32, trace.syncs.rows[1].record, GT_NONE));
	cr_assert(eq(sz, trace.queries.count, 2));
	cr_expect(eq(u32, trace.queries.rows[0].event, 0));
	cr_expect(eq(u64, trace.queries.rows[0].count, 7));
	cr_expect(eq(i32, trace.queries.rows[0].result, 600));
	cr_expect(eq(u32, trace.queries.rows[1].event, 1));
	gt_trace_release(&trace);
}

Test(waits, that_failed_and_records_that_failed_count_for_nothing)
{
	struct gt_trace trace;

	add_work(STREAM, 1500, 1);
	recording_add(&recording, sync_call, .start_ns = 2000, .end_ns = 2004, .event = EVENT,
	              .kind = GT_SYNC_EVENT_RECORD, .result = 400, .context = CONTEXT);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2500, HANDLE, EVENT);
	add_work(OTHER_STREAM, 2600, 2);
	trace = collected();
	cr_expect(eq(u32, trace.syncs.rows[1].record, GT_NONE));
	cr_expect(eq(sz, trace.edges.count, 0));
	gt_trace_release(&trace);
}

Test(waits, of_a_stream_become_an_edge_from_what_was_before_the_record)
{
	struct gt_trace trace;
	const struct gt_edge *edge;

	add_work(STREAM, 1500, 1);
	add_work(STREAM, 1600, 2);
	add_sync(GT_SYNC_EVENT_RECORD, 1700, 0, EVENT);
	add_work(STREAM, 1800, 3);
	add_work(OTHER_STREAM, 1850, 4);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 1900, HANDLE, EVENT);
	add_work(OTHER_STREAM, 2000, 5);
	add_work(OTHER_STREAM, 2100, 6);
	trace = collected();
	cr_assert(eq(sz, trace.edges.count, 1));
	edge = &trace.edges.rows[0];
	cr_expect(eq(u32, edge->kind, GT_EDGE_EVENT));
	cr_expect(eq(u32, edge->from_table, GT_TABLE_kernels));
	cr_expect(eq(u32, trace.kernels.rows[edge->from_row].correlation, 2));
	cr_expect(eq(u32, edge->to_table, GT_TABLE_kernels));
	cr_expect(eq(u32, trace.kernels.rows[edge->to_row].correlation, 5));
	cr_expect(eq(u32, trace.syncs.rows[edge->sync].kind, GT_SYNC_STREAM_WAIT_EVENT));
	gt_trace_release(&trace);
}

Test(waits, on_the_records_own_stream_are_what_its_order_says_already)
{
	struct gt_trace trace;

	add_work(STREAM, 1500, 1);
	add_sync(GT_SYNC_EVENT_RECORD, 1700, 0, EVENT);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 1900, 0, EVENT);
	add_work(STREAM, 2000, 2);
	trace = collected();
	cr_expect(eq(sz, trace.edges.count, 0));
	gt_trace_release(&trace);
}

/* The edge of each host wait, in the order of the waits. */
static uint32_t awaited(const struct gt_trace *trace, size_t edge)
{
	const struct gt_edge *row = &trace->edges.rows[edge];

	cr_assert(lt(sz, edge, trace->edges.count));
	cr_expect(eq(u32, row->kind, GT_EDGE_HOST));
	cr_expect(eq(u32, row->to_table, GT_TABLE_syncs));
	cr_expect(eq(u32, row->to_row, row->sync));
	return trace->kernels.rows[row->from_row].correlation;
}

/* They become part of a graph: nothing ran or waited when they were called. */
Test(waits, while_a_stream_is_captured_are_none)
{
	struct gt_trace trace;

	add_work(STREAM, 1400, 1);
	add_work(OTHER_STREAM, 1450, 2);
	add_sync(GT_SYNC_CAPTURE_BEGIN, 1500, 0, 0);
	add_sync(GT_SYNC_EVENT_RECORD, 1600, 0, EVENT);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 1650, HANDLE, EVENT); /* it joins the capture */
	add_sync(GT_SYNC_HOST_FUNCTION, 1700, HANDLE, 0);
	add_sync(GT_SYNC_EVENT_RECORD, 1750, HANDLE, EVENT + 1);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 1800, 0, EVENT + 1);
	add_sync(GT_SYNC_CAPTURE_END, 1850, 0, 0);
	add_work(STREAM, 1900, 3);
	add_work(OTHER_STREAM, 1950, 4);
	trace = collected();
	cr_expect(eq(sz, trace.syncs.count, 0));
	cr_expect(eq(sz, trace.edges.count, 0));
	gt_trace_release(&trace);
}

Test(waits, after_a_capture_or_beside_it_are_waits)
{
	struct gt_trace trace;

	add_sync(GT_SYNC_CAPTURE_BEGIN, 1300, 0, 0);
	add_sync(GT_SYNC_EVENT_RECORD, 1310, 0, EVENT);
	add_sync(GT_SYNC_EVENT_RECORD, 1320, HANDLE, EVENT + 1); /* of a stream that is in none */
	add_sync(GT_SYNC_CAPTURE_END, 1330, 0, 0);
	add_work(STREAM, 1400, 1);
	add_sync(GT_SYNC_EVENT_RECORD, 1500, 0, EVENT);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 1550, HANDLE, EVENT);
	add_work(OTHER_STREAM, 1600, 2);
	trace = collected();
	cr_assert(eq(sz, trace.syncs.count, 3));
	cr_expect(eq(u32, trace.syncs.rows[1].generation, 1), "the captured record was none");
	cr_expect(eq(sz, trace.edges.count, 1));
	gt_trace_release(&trace);
}

Test(waits, in_a_capture_that_failed_to_begin_are_waits)
{
	struct gt_trace trace;

	add_work(STREAM, 1400, 1);
	recording_add(&recording, sync_call, .start_ns = 1450, .end_ns = 1454, .stream = 0,
	              .kind = GT_SYNC_CAPTURE_BEGIN, .result = 900, .context = CONTEXT);
	add_sync(GT_SYNC_EVENT_RECORD, 1500, 0, EVENT);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 1550, HANDLE, EVENT);
	add_work(OTHER_STREAM, 1600, 2);
	trace = collected();
	cr_expect(eq(sz, trace.syncs.count, 2));
	cr_expect(eq(sz, trace.edges.count, 1));
	gt_trace_release(&trace);
}

Test(waits, of_the_host_become_an_edge_from_the_last_work_it_waited_for)
{
	struct gt_trace trace;

	add_work(STREAM, 1500, 1);
	add_work(OTHER_STREAM, 1600, 2);
	add_sync(GT_SYNC_EVENT_RECORD, 1650, HANDLE, EVENT);
	add_work(OTHER_STREAM, 1700, 3);
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, 1800, 0, 0);
	add_sync(GT_SYNC_EVENT_SYNCHRONIZE, 1900, UINT64_MAX, EVENT);
	add_sync(GT_SYNC_CONTEXT_SYNCHRONIZE, 2000, UINT64_MAX, 0);
	add_work(STREAM, 2100, 4); /* after them all */
	trace = collected();
	cr_assert(eq(sz, trace.edges.count, 3));
	cr_expect(eq(u32, awaited(&trace, 0), 1));
	cr_expect(eq(u32, awaited(&trace, 1), 2));
	cr_expect(eq(u32, awaited(&trace, 2), 3));
	gt_trace_release(&trace);
}

Test(waits, in_a_blocking_copy_are_for_the_copy)
{
	struct gt_trace trace;

	recording_add_call(&recording, 1500, 9);
	recording_add(&recording, copy, .start_ns = 1510, .end_ns = 1590, .correlation = 9,
	              .context = CONTEXT, .stream = STREAM, .kind = 2);
	recording_add(&recording, sync_call, .start_ns = 1500, .end_ns = 1600, .stream = 0,
	              .kind = GT_SYNC_BLOCKING_COPY, .context = CONTEXT, .correlation = 9,
	              .thread = 100);
	trace = collected();
	cr_assert(eq(sz, trace.edges.count, 1));
	cr_expect(eq(u32, trace.edges.rows[0].from_table, GT_TABLE_copies));
	cr_expect(eq(u32, trace.syncs.rows[0].api_call, 0));
	cr_expect(eq(u32, trace.syncs.rows[0].thread, trace.api_calls.rows[0].thread));
	gt_trace_release(&trace);
}

Test(waits, in_calls_that_returned_before_their_work_was_done_were_none)
{
	struct gt_trace trace;

	recording_add_call(&recording, 1500, 9);
	recording_add(&recording, fill, .start_ns = 1700, .end_ns = 1800, .correlation = 9,
	              .context = CONTEXT, .stream = STREAM);
	recording_add(&recording, sync_call, .start_ns = 1500, .end_ns = 1600, .stream = 0,
	              .kind = GT_SYNC_BLOCKING_FILL, .context = CONTEXT, .correlation = 9,
	              .thread = 100);
	trace = collected();
	cr_expect(eq(sz, trace.edges.count, 0));
	gt_trace_release(&trace);
}

static void add_value(enum gt_sync_kind kind, uint64_t at, uint64_t stream, uint64_t value)
{
	recording_add(&recording, sync_call, .start_ns = at, .end_ns = at + 4, .stream = stream,
	              .event = 0, .address = 0xa000, .value = value, .kind = kind,
	              .context = CONTEXT, .thread = 100);
}

Test(waits, for_values_name_the_write_of_the_value)
{
	struct gt_trace trace;
	const struct gt_sync *syncs;

	add_value(GT_SYNC_WRITE_VALUE, 2000, 0, 1);
	add_value(GT_SYNC_WAIT_VALUE, 2100, HANDLE, 1); /* written already */
	add_value(GT_SYNC_WAIT_VALUE, 2200, HANDLE, 2); /* written later */
	add_value(GT_SYNC_WRITE_VALUE, 2300, 0, 2);
	add_work(STREAM, 1500, 1);
	add_work(OTHER_STREAM, 2150, 2);
	trace = collected();
	syncs = trace.syncs.rows;
	cr_expect(eq(u32, syncs[1].record, 0));
	cr_expect(eq(u32, syncs[2].record, 3));
	cr_assert(eq(sz, trace.edges.count, 1));
	cr_expect(eq(u32, trace.edges.rows[0].sync, 1));
	gt_trace_release(&trace);
}

/* Covers STAGE(handles). */
Test(handles, stand_for_one_stream_after_the_other)
{
	struct gt_trace trace;
	const struct gt_sync *syncs;

	make();
	recording_add(&recording, handle, .time_ns = 3000, .handle = HANDLE, .context = CONTEXT,
	              .stream = 12);
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, 1050, HANDLE, 0); /* before its making returned */
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, 2999, HANDLE, 0);
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, 3000, HANDLE, 0);
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, 4000, 1, 0); /* CU_STREAM_LEGACY */
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, 4100, 2, 0); /* the thread's: nobody said which */
	add_sync(GT_SYNC_STREAM_SYNCHRONIZE, 4200, 0x1234, 0);
	trace = collected();
	syncs = trace.syncs.rows;
	cr_assert(eq(sz, trace.syncs.count, 6));
	cr_expect(eq(u32, trace.streams.rows[syncs[0].stream].number, OTHER_STREAM));
	cr_expect(eq(u32, trace.streams.rows[syncs[1].stream].number, OTHER_STREAM));
	cr_expect(eq(u32, trace.streams.rows[syncs[2].stream].number, 12));
	cr_expect(eq(u32, trace.streams.rows[syncs[3].stream].number, STREAM));
	cr_expect(eq(u32, syncs[4].stream, GT_NONE));
	cr_expect(eq(u32, syncs[5].stream, GT_NONE));
	gt_trace_release(&trace);
	drop();
}

/* ---- events of two processes ---- */

enum { HASH = 0x5eed, IMPORTED = 0xa000 };

static void add_handle(enum gt_sync_kind kind, uint64_t at, uint64_t event, uint64_t hash)
{
	recording_add(&recording, sync_call, .start_ns = at, .end_ns = at, .stream = UINT64_MAX,
	              .event = event, .value = hash, .kind = kind, .context = CONTEXT,
	              .thread = 100);
}

/* The process at hand is whole; another one begins. */
static void go_on_in(const char *name, uint32_t pid, const char *host)
{
	recording_end(&recording, true);
	recording_begin(&recording, name);
	recording_add_basics(&recording, pid);
	if (host)
		recording_add_meta(&recording, GT_META_HOST, host);
	recording_add(&recording, handle, .time_ns = 1100, .handle = HANDLE, .context = CONTEXT,
	              .stream = OTHER_STREAM);
}

/* The first gives its event away, works and records it at 2000; the second opens it. */
static void add_both(const char *host)
{
	add_handle(GT_SYNC_EVENT_EXPORT, 1200, EVENT, HASH);
	add_work(STREAM, 1900, 1);
	add_sync(GT_SYNC_EVENT_RECORD, 2000, 0, EVENT);
	go_on_in("node-2-2", 2, host);
	add_handle(GT_SYNC_EVENT_CREATE, 1400, IMPORTED, HASH);
}

static const struct gt_sync *sync_of_kind(const struct gt_trace *trace, enum gt_sync_kind kind)
{
	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		if (sync->kind == kind)
			return sync;
	cr_fatal("no sync of kind %d", (int)kind);
	return NULL;
}

Test(waits, in_one_process_are_for_a_record_in_another_where_both_have_the_event)
{
	struct gt_trace trace;
	const struct gt_edge *edge;

	add_both(NULL);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2500, HANDLE, IMPORTED);
	add_work(OTHER_STREAM, 2600, 2);
	add_sync(GT_SYNC_EVENT_SYNCHRONIZE, 2700, UINT64_MAX, IMPORTED);
	trace = collected();
	cr_assert(eq(sz, trace.events.count, 2));
	cr_expect(eq(u32, trace.events.rows[0].original, GT_NONE));
	cr_expect(eq(u32, trace.events.rows[1].original, 0));
	cr_assert(eq(sz, trace.syncs.count, 3)); /* giving an event away orders nothing */
	cr_expect(eq(u32, sync_of_kind(&trace, GT_SYNC_STREAM_WAIT_EVENT)->record, 0));
	cr_expect(eq(u32, sync_of_kind(&trace, GT_SYNC_STREAM_WAIT_EVENT)->generation, 1));
	cr_assert(eq(sz, trace.edges.count, 2));
	edge = &trace.edges.rows[0];
	cr_expect(eq(u32, edge->kind, GT_EDGE_EVENT));
	cr_expect(eq(u32, trace.kernels.rows[edge->from_row].correlation, 1));
	cr_expect(eq(u32, trace.kernels.rows[edge->to_row].correlation, 2));
	cr_expect(eq(u32, awaited(&trace, 1), 1));
	gt_trace_release(&trace);
}

static void expect_unproven(struct gt_trace trace)
{
	cr_expect(eq(u32, sync_of_kind(&trace, GT_SYNC_STREAM_WAIT_EVENT)->record, GT_NONE));
	cr_expect(eq(sz, trace.edges.count, 0));
	gt_trace_release(&trace);
}

/* In either process: what failed before the wait, or after its record, changes nothing. */
Test(waits, on_a_shared_event_are_for_no_record_that_failed)
{
	struct gt_trace trace;
	const struct gt_sync *wait;

	recording_add(&recording, sync_call, .start_ns = 1950, .end_ns = 1954, .event = EVENT,
	              .kind = GT_SYNC_EVENT_RECORD, .result = 400, .context = CONTEXT);
	recording_add(&recording, sync_call, .start_ns = 2200, .end_ns = 2204, .event = EVENT,
	              .kind = GT_SYNC_EVENT_RECORD, .result = 400, .context = CONTEXT);
	add_both(NULL);
	recording_add(&recording, sync_call, .start_ns = 2450, .end_ns = 2454, .event = IMPORTED,
	              .kind = GT_SYNC_EVENT_RECORD, .result = 400, .context = CONTEXT);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2500, HANDLE, IMPORTED);
	add_work(OTHER_STREAM, 2600, 2);
	trace = collected();
	wait = sync_of_kind(&trace, GT_SYNC_STREAM_WAIT_EVENT);
	cr_assert(ne(u32, wait->record, GT_NONE));
	cr_expect(eq(i32, trace.syncs.rows[wait->record].result, 0));
	cr_expect(eq(u32, trace.syncs.rows[wait->record].generation, 1));
	cr_expect(eq(u32, wait->generation, 1));
	gt_array_each(const struct gt_sync, sync, &trace.syncs)
		if (sync->result != 0)
			cr_expect(eq(u32, sync->generation, 0));
	cr_expect(eq(sz, trace.edges.count, 1));
	gt_trace_release(&trace);
}

Test(waits, on_an_event_that_nobody_gave_away_are_for_nothing)
{
	add_work(STREAM, 1900, 1);
	add_sync(GT_SYNC_EVENT_RECORD, 2000, 0, EVENT);
	go_on_in("node-2-2", 2, NULL);
	add_handle(GT_SYNC_EVENT_CREATE, 1400, EVENT, HASH); /* the same number means nothing */
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2500, HANDLE, EVENT);
	add_work(OTHER_STREAM, 2600, 2);
	expect_unproven(collected());
}

Test(waits, on_an_event_of_another_machine_are_for_nothing)
{
	add_both("elsewhere");
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2500, HANDLE, IMPORTED);
	add_work(OTHER_STREAM, 2600, 2);
	expect_unproven(collected());
}

Test(waits, closer_to_a_record_of_another_process_than_the_clocks_agree_are_for_nothing)
{
	add_both(NULL);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2010, HANDLE, IMPORTED); /* the clocks: 50 ns each */
	add_work(OTHER_STREAM, 2600, 2);
	expect_unproven(collected());
}

Test(waits, during_which_another_process_may_record_the_event_are_for_nothing)
{
	add_handle(GT_SYNC_EVENT_EXPORT, 1200, EVENT, HASH);
	add_work(STREAM, 1500, 1);
	add_sync(GT_SYNC_EVENT_RECORD, 1600, 0, EVENT);
	add_sync(GT_SYNC_EVENT_RECORD, 2510, 0, EVENT);
	go_on_in("node-2-2", 2, NULL);
	add_handle(GT_SYNC_EVENT_CREATE, 1400, IMPORTED, HASH);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2500, HANDLE, IMPORTED);
	add_work(OTHER_STREAM, 2600, 2);
	expect_unproven(collected());
}

Test(waits, on_a_handle_that_two_events_have_are_for_nothing)
{
	add_handle(GT_SYNC_EVENT_EXPORT, 1150, EVENT + 1, HASH);
	add_both(NULL);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2500, HANDLE, IMPORTED);
	add_work(OTHER_STREAM, 2600, 2);
	expect_unproven(collected());
}

Test(waits, on_a_handle_that_another_event_had_before_are_for_the_one_that_has_it)
{
	struct gt_trace trace;

	add_handle(GT_SYNC_EVENT_EXPORT, 1110, EVENT + 1, HASH);
	add_sync(GT_SYNC_EVENT_DESTROY, 1120, UINT64_MAX, EVENT + 1);
	add_both(NULL);
	add_sync(GT_SYNC_STREAM_WAIT_EVENT, 2500, HANDLE, IMPORTED);
	add_work(OTHER_STREAM, 2600, 2);
	trace = collected();
	cr_expect(ne(u32, sync_of_kind(&trace, GT_SYNC_STREAM_WAIT_EVENT)->record, GT_NONE));
	cr_expect(eq(sz, trace.edges.count, 1));
	gt_trace_release(&trace);
}

Test(waits, of_the_process_that_made_an_event_are_for_records_of_one_that_opened_it)
{
	struct gt_trace trace;
	const struct gt_sync *wait;

	add_handle(GT_SYNC_EVENT_EXPORT, 1200, EVENT, HASH);
	add_sync(GT_SYNC_EVENT_SYNCHRONIZE, 2500, UINT64_MAX, EVENT);
	go_on_in("node-2-2", 2, NULL);
	add_handle(GT_SYNC_EVENT_CREATE, 1400, IMPORTED, HASH);
	add_work(STREAM, 1900, 1);
	add_sync(GT_SYNC_EVENT_RECORD, 2000, 0, IMPORTED);
	trace = collected();
	wait = sync_of_kind(&trace, GT_SYNC_EVENT_SYNCHRONIZE);
	cr_assert(ne(u32, wait->record, GT_NONE));
	cr_expect(eq(u32, trace.syncs.rows[wait->record].kind, GT_SYNC_EVENT_RECORD));
	cr_expect(eq(u32, awaited(&trace, 0), 1));
	gt_trace_release(&trace);
}

Test(waits, for_a_value_are_not_for_what_another_process_writes_to_the_same_address)
{
	struct gt_trace trace;

	add_work(STREAM, 1900, 1);
	recording_add(&recording, sync_call, .start_ns = 2000, .end_ns = 2004, .stream = 0,
	              .address = 0x7000, .value = 1, .kind = GT_SYNC_WRITE_VALUE,
	              .context = CONTEXT, .thread = 100);
	go_on_in("node-2-2", 2, NULL);
	recording_add(&recording, sync_call, .start_ns = 2500, .end_ns = 2504, .stream = HANDLE,
	              .address = 0x7000, .value = 1, .kind = GT_SYNC_WAIT_VALUE, .context = CONTEXT,
	              .thread = 100);
	add_work(OTHER_STREAM, 2600, 2);
	trace = collected();
	cr_expect(eq(u32, sync_of_kind(&trace, GT_SYNC_WAIT_VALUE)->record, GT_NONE));
	cr_expect(eq(sz, trace.edges.count, 0));
	gt_trace_release(&trace);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collector/captures.h"
#include "collector/shared_events.h"
#include "collector/stage.h"
#include "collector/waits/event_lives.h"
#include "collector/waits/values.h"
#include "model/path/stream_order.h"
#include "model/trace.h"
#include "model/work/sync.h"

/*
 * Who waited for what: which record of an event a wait is about, and from that and the order of
 * the streams the edges, what could not go on before what was done. The order inside a stream
 * (model/path/stream_order.h) is not written down as edges. Events that several processes have:
 * collector/shared_events.h.
 */

static void number_events(struct gt_trace *trace)
{
	gt_count *counts = calloc(trace->processes.count + 1, sizeof(*counts));

	if (!counts)
		abort();
	gt_array_each(struct gt_event, event, &trace->events)
		if (event->process < trace->processes.count)
			event->number = ++counts[event->process];
	free(counts);
}

/* ---- edges ---- */

static bool is_ok(const struct gt_sync *sync)
{
	return sync->result == 0 && sync->start_ns > 0;
}

static void want(const struct gt_trace *trace, bool *wanted, gt_id stream)
{
	if (stream < trace->streams.count)
		wanted[stream] = true;
}

/* A wait for a whole context is one for each of its streams. */
static void want_contexts(const struct gt_trace *trace, bool *wanted)
{
	bool *waited = gt_allocate_zeroed(trace->contexts.count, sizeof(*waited));

	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		if (sync->kind == GT_SYNC_CONTEXT_SYNCHRONIZE &&
		    sync->context < trace->contexts.count)
			waited[sync->context] = true;
	for (size_t i = 0; i < trace->streams.count; i++)
		if (trace->streams.rows[i].context < trace->contexts.count &&
		    waited[trace->streams.rows[i].context])
			wanted[i] = true;
	gt_array_free(waited);
}

static void find_wanted(const struct gt_trace *trace, bool *wanted)
{
	want_contexts(trace, wanted);
	gt_array_each(const struct gt_sync, sync, &trace->syncs) {
		if (sync->record != GT_NONE || sync->kind == GT_SYNC_STREAM_SYNCHRONIZE)
			want(trace, wanted, sync->stream);
		if (sync->record != GT_NONE)
			want(trace, wanted, trace->syncs.rows[sync->record].stream);
	}
}

/* The last thing that a stream had been given at a time; false when there was none. */
static bool last_before(const struct gt_stream_order *order, gt_id stream, gt_time time_ns,
                        struct gt_step *step)
{
	const size_t place = stream < order->trace->streams.count
	                             ? gt_stream_order_from(order, stream, time_ns)
	                             : 0;

	if (place == 0)
		return false;
	*step = gt_stream_order_at(order, stream, place - 1);
	return true;
}

/*
 * Whether the host waited for the work: it was done when the call returned, as far as the clocks
 * agree. A call that may wait, such as a fill, may also return before.
 */
static bool waited_for(const struct gt_trace *trace, const struct gt_step *from,
                       const struct gt_sync *sync, gt_time bound_ns)
{
	gt_time start_ns;
	gt_time end_ns;

	gt_step_times(trace, *from, &start_ns, &end_ns);
	return end_ns > 0 && (sync->flags & GT_UNFINISHED || end_ns <= sync->end_ns + bound_ns);
}

static void add_edge(struct gt_trace *trace, const struct gt_step *from, const struct gt_step *to,
                     gt_id sync, enum gt_edge_kind kind)
{
	*gt_array_push(&trace->edges) = (struct gt_edge){
		.from_table = (gt_count)from->table,
		.from_row = from->row,
		.to_table = (gt_count)to->table,
		.to_row = to->row,
		.sync = sync,
		.kind = kind,
	};
}

/* Edge from the work before the record or the write to the waiting stream's next work. */
static void add_stream_edge(struct gt_trace *trace, const struct gt_stream_order *order, gt_id row)
{
	const struct gt_sync *wait = &trace->syncs.rows[row];
	const struct gt_sync *record = &trace->syncs.rows[wait->record];
	struct gt_step from;
	struct gt_step to;
	size_t next;

	if (wait->stream == record->stream || wait->stream >= trace->streams.count ||
	    !last_before(order, record->stream, record->start_ns, &from))
		return;
	next = gt_stream_order_from(order, wait->stream, wait->start_ns);
	if (next == gt_stream_order_count(order, wait->stream))
		return;
	to = gt_stream_order_at(order, wait->stream, next);
	add_edge(trace, &from, &to, row, GT_EDGE_EVENT);
}

/*
 * Work given to the contexts up to a moment that only goes on: a heap of streams by when each is
 * given its next work, since there may be many of them and many waits for all.
 */
struct given {
	const struct gt_stream_order *order;
	struct next {
		gt_time given_ns;
		gt_id stream;
		size_t step;
	} * heap;
	size_t count;
	struct gt_step *last; /* by context: of what it was given, that which ended last */
	gt_time *last_end_ns; /* -1: it was given nothing that ended */
};

/* Puts a stream where it belongs, from a place at or above it. */
static void sink(struct given *given, size_t at, struct next next)
{
	for (;;) {
		size_t below = 2 * at + 1;

		if (below + 1 < given->count &&
		    given->heap[below + 1].given_ns < given->heap[below].given_ns)
			below++;
		if (below >= given->count || given->heap[below].given_ns >= next.given_ns)
			break;
		given->heap[at] = given->heap[below];
		at = below;
	}
	given->heap[at] = next;
}

static void given_init(struct given *given, const struct gt_stream_order *order)
{
	const struct gt_trace *trace = order->trace;

	*given = (struct given){
		.order = order,
		.heap = gt_allocate(trace->streams.count * sizeof(*given->heap)),
		.last = gt_allocate(trace->contexts.count * sizeof(*given->last)),
		.last_end_ns = gt_allocate(trace->contexts.count * sizeof(*given->last_end_ns)),
	};
	for (size_t i = 0; i < trace->contexts.count; i++)
		given->last_end_ns[i] = -1;
	for (gt_id i = 0; i < trace->streams.count; i++)
		if (trace->streams.rows[i].context < trace->contexts.count &&
		    gt_stream_order_count(order, i) > 0)
			given->heap[given->count++] =
				(struct next){gt_stream_order_given(order, i, 0), i, 0};
	for (size_t i = given->count; i-- > 0;)
		sink(given, i, given->heap[i]);
}

static void given_release(struct given *given)
{
	gt_array_free(given->heap);
	gt_array_free(given->last);
	gt_array_free(given->last_end_ns);
}

/* The stream at the top was given what is next of it. */
static void give(struct given *given)
{
	const struct gt_trace *trace = given->order->trace;
	struct next next = given->heap[0];
	const struct gt_step step = gt_stream_order_at(given->order, next.stream, next.step);
	const gt_id context = trace->streams.rows[next.stream].context;
	gt_time start_ns;
	gt_time end_ns;

	gt_step_times(trace, step, &start_ns, &end_ns);
	if (end_ns > given->last_end_ns[context]) {
		given->last_end_ns[context] = end_ns;
		given->last[context] = step;
	}
	if (++next.step < gt_stream_order_count(given->order, next.stream))
		next.given_ns = gt_stream_order_given(given->order, next.stream, next.step);
	else
		next = given->heap[--given->count];
	if (given->count > 0)
		sink(given, 0, next);
}

/* The work on the context's streams that ended last: the host waited for it. */
static bool last_of_context(struct given *given, const struct gt_sync *sync, struct gt_step *last)
{
	if (sync->context >= given->order->trace->contexts.count)
		return false;
	while (given->count > 0 && given->heap[0].given_ns < sync->start_ns)
		give(given);
	if (given->last_end_ns[sync->context] < 0)
		return false;
	*last = given->last[sync->context];
	return true;
}

/* Finds the work that the host waited for in a call; false when there was none. */
static bool find_awaited(const struct gt_stream_order *order, struct given *given,
                         const struct gt_sync *sync, struct gt_step *from)
{
	const struct gt_trace *trace = order->trace;

	switch (sync->kind) {
	case GT_SYNC_STREAM_SYNCHRONIZE:
		return last_before(order, sync->stream, sync->start_ns, from);
	case GT_SYNC_CONTEXT_SYNCHRONIZE:
		return last_of_context(given, sync, from);
	case GT_SYNC_EVENT_SYNCHRONIZE:
		return sync->record != GT_NONE &&
		       last_before(order, trace->syncs.rows[sync->record].stream,
		                   trace->syncs.rows[sync->record].start_ns, from);
	default:
		return false;
	}
}

static void add_edges(struct gt_trace *trace, const struct gt_stream_order *order)
{
	const gt_time bound_ns = (gt_time)gt_trace_clock_bound(trace);
	struct given given;

	given_init(&given, order);
	for (gt_id row = 0; row < trace->syncs.count; row++) {
		const struct gt_sync *sync = &trace->syncs.rows[row];
		const struct gt_step host = {GT_TABLE_syncs, row};
		struct gt_step from;

		if (!is_ok(sync))
			continue;
		if ((sync->kind == GT_SYNC_STREAM_WAIT_EVENT || sync->kind == GT_SYNC_WAIT_VALUE) &&
		    sync->record != GT_NONE)
			add_stream_edge(trace, order, row);
		else if (find_awaited(order, &given, sync, &from) &&
		         waited_for(trace, &from, sync, bound_ns))
			add_edge(trace, &from, &host, row, GT_EDGE_HOST);
	}
	given_release(&given);
}

/*
 * Blocking copies and fills waited for what they asked for: the row with their call. Both tables
 * and the calls are sorted by time, but work of one call may stand anywhere: by call, once.
 */
static void add_call_edges(struct gt_trace *trace)
{
	const gt_time bound_ns = (gt_time)gt_trace_clock_bound(trace);
	gt_id *sync_of_call;
	bool any = false;

	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		any |= sync->kind == GT_SYNC_BLOCKING_COPY || sync->kind == GT_SYNC_BLOCKING_FILL;
	if (!any)
		return;
	sync_of_call = gt_allocate(trace->api_calls.count * sizeof(*sync_of_call));
	memset(sync_of_call, 0xff, trace->api_calls.count * sizeof(*sync_of_call));
	for (gt_id row = 0; row < trace->syncs.count; row++) {
		const struct gt_sync *sync = &trace->syncs.rows[row];

		if ((sync->kind == GT_SYNC_BLOCKING_COPY || sync->kind == GT_SYNC_BLOCKING_FILL) &&
		    is_ok(sync) && sync->api_call < trace->api_calls.count)
			sync_of_call[sync->api_call] = row;
	}
#define ADD(T, plural)                                                                             \
	for (gt_id row = 0; row < trace->plural.count; row++) {                                    \
		const gt_id call = trace->plural.rows[row].api_call;                               \
		const struct gt_step from = {GT_TABLE_##plural, row};                              \
                                                                                                   \
		if (call < trace->api_calls.count && sync_of_call[call] != GT_NONE &&              \
		    waited_for(trace, &from, &trace->syncs.rows[sync_of_call[call]], bound_ns))    \
			add_edge(trace, &from,                                                     \
			         &(struct gt_step){GT_TABLE_syncs, sync_of_call[call]},            \
			         sync_of_call[call], GT_EDGE_HOST);                                \
	}
	ADD(copy, copies)
	ADD(fill, fills)
#undef ADD
	gt_array_free(sync_of_call);
}

static void drop(struct gt_trace *trace, const bool *dropped)
{
	const size_t count = trace->syncs.count;
	gt_id *renamed = gt_allocate(count * sizeof(*renamed));
	gt_id kept = 0;

	for (size_t i = 0; i < count; i++) {
		renamed[i] = dropped[i] ? GT_NONE : kept;
		if (!dropped[i])
			trace->syncs.rows[kept++] = trace->syncs.rows[i];
	}
	trace->syncs.count = kept;
	gt_trace_rename(trace, GT_TABLE_syncs, &(struct gt_renamed){renamed, count});
	gt_array_free(renamed);
}

static void drop_captured(struct gt_trace *trace)
{
	bool *captured = gt_allocate(trace->syncs.count * sizeof(*captured));

	gt_captures_find(trace, captured);
	drop(trace, captured);
	gt_array_free(captured);
}

/* Making, giving away and destroying an event order nothing: what they told is in its row. */
static void drop_lives(struct gt_trace *trace)
{
	bool *dropped = gt_allocate(trace->syncs.count * sizeof(*dropped));

	for (size_t i = 0; i < trace->syncs.count; i++)
		dropped[i] = trace->syncs.rows[i].kind == GT_SYNC_EVENT_CREATE ||
		             trace->syncs.rows[i].kind == GT_SYNC_EVENT_DESTROY ||
		             trace->syncs.rows[i].kind == GT_SYNC_EVENT_EXPORT;
	drop(trace, dropped);
	gt_array_free(dropped);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct gt_stream_order order;
	struct gt_event_lives lives;
	bool *wanted;

	(void)err;
	if (trace->syncs.count + trace->queries.count == 0)
		return 0;
	drop_captured(trace);
	gt_event_lives_init(&lives, trace);
	for (gt_id row = 0; row < trace->syncs.count; row++)
		gt_event_lives_follow(trace, &lives, row);
	gt_event_lives_follow_queries(trace, &lives);
	gt_follow_values(trace);
	gt_event_lives_release(&lives);
	number_events(trace);
	gt_shared_events_follow(trace);
	drop_lives(trace);
	wanted = gt_allocate_zeroed(trace->streams.count, sizeof(*wanted));
	find_wanted(trace, wanted);
	gt_stream_order_init(&order, trace, wanted);
	add_edges(trace, &order);
	add_call_edges(trace);
	gt_stream_order_release(&order);
	gt_array_free(wanted);
	return 0;
}

const struct gt_stage gt_stage_waits = {.name = "waits", .run = run};

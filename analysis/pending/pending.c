/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pending/pending.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/pending/work.h"
#include "model/work/sync.h"

/* Of CUPTI by default, where the recording does not say otherwise (format/settings.def). */
#define FLUSH_NS 100000000

/* The process reads its clocks once a second, whatever the program does. */
#define SILENT_NS 10000000000

/* CUpti_ActivityStreamFlag: a stream that default streams wait for, and that waits for them. */
#define STREAM_FLAG_DEFAULT 1u

/* Something that was given to a stream, or an event that was recorded there. */
struct op {
	gt_time given_ns;
	gt_count correlation; /* tells equal times apart */
	gt_id sync;           /* row of syncs; GT_NONE: it is work */
	size_t work;          /* row of works */
};

/* Work or wait that holds a stream up from some moment on: rows of works or waits; GT_PENDING_NONE:
 * nothing. */
struct held {
	size_t work;
	size_t wait;
	size_t latest; /* the last work so far */
};

/* Streams of a context that are held up: its default stream, or one that waits for that. */
struct context {
	bool is_default_held;
	bool is_other_held;
};

struct sorter {
	struct gt_pending *pending;
	const struct gt_trace *trace;
	const gt_time *proven_ns;
	struct held *streams;     /* by row of streams, as far as the ops were seen */
	struct context *contexts; /* by row of contexts */
	struct held *records;     /* by row of syncs: of its stream when the event was recorded */
	gt_time *last_ns;         /* by row of streams: when its last work was given */
	gt_count *settled; /* by row of processes: last correlation id of a call that is not young */
	bool *gave;        /* by row of threads: work that has not ended */
	bool *gave_any;    /* by row of processes: likewise, its thread is not known */
	gt_array(struct op) ops;
};

const char *gt_pending_state_name(enum gt_pending_state state)
{
	static const char *const names[] = {
		[GT_PENDING_UNTOLD] = "no record yet",
		[GT_PENDING_HIDDEN] = "may have ended",
		[GT_PENDING_FIRST] = "runs or is stuck",
		[GT_PENDING_BEHIND] = "behind other work",
		[GT_PENDING_EVENT] = "its stream waits",
		[GT_PENDING_MAYBE] = "its stream may wait",
		[GT_PENDING_DEFAULT] = "behind other streams",
	};

	return names[state];
}

bool gt_pending_is_heard(const struct gt_pending *pending, gt_id process)
{
	const struct gt_process *row = &pending->trace->processes.rows[process];

	return row->ended == GT_END_RUNNING && row->end_ns > 0 &&
	       llabs(pending->now_ns - row->end_ns) <= SILENT_NS;
}

gt_time gt_pending_until(const struct gt_pending *pending, gt_id process)
{
	const gt_time end_ns = pending->trace->processes.rows[process].end_ns;

	return gt_pending_is_heard(pending, process) && pending->now_ns > end_ns ? pending->now_ns
	                                                                         : end_ns;
}

/* ---- order ---- */

static int by_given(const void *a, const void *b)
{
	const struct op *left = a;
	const struct op *right = b;

	if (left->given_ns != right->given_ns)
		return left->given_ns < right->given_ns ? -1 : 1;
	if (left->correlation != right->correlation)
		return left->correlation < right->correlation ? -1 : 1;
	return (left->work > right->work) - (left->work < right->work);
}

static int by_launch(const void *a, const void *b)
{
	const struct gt_pending_work *left = a;
	const struct gt_pending_work *right = b;

	return by_given(&(struct op){left->given_ns, left->correlation, GT_NONE, left->step.row},
	                &(struct op){right->given_ns, right->correlation, GT_NONE,
	                             right->step.row});
}

static bool may_hold(uint32_t kind)
{
	return kind == GT_SYNC_STREAM_WAIT_EVENT || kind == GT_SYNC_WAIT_VALUE ||
	       kind == GT_SYNC_EXTERNAL_WAIT || kind == GT_SYNC_HOST_FUNCTION;
}

/* Records of events, written values, and what may hold a stream up. */
static void list_ops(struct sorter *sorter)
{
	for (size_t i = 0; i < sorter->pending->works.count; i++) {
		const struct gt_pending_work *work = &sorter->pending->works.rows[i];

		*gt_array_push(&sorter->ops) =
			(struct op){work->given_ns, work->correlation, GT_NONE, i};
		if (work->given_ns > sorter->last_ns[work->stream])
			sorter->last_ns[work->stream] = work->given_ns;
	}
	for (gt_id i = 0; i < sorter->trace->syncs.count; i++) {
		const struct gt_sync *sync = &sorter->trace->syncs.rows[i];

		if (sync->result == 0 && sync->stream < sorter->trace->streams.count &&
		    (may_hold(sync->kind) || sync->kind == GT_SYNC_EVENT_RECORD ||
		     sync->kind == GT_SYNC_WRITE_VALUE))
			*gt_array_push(&sorter->ops) =
				(struct op){sync->start_ns, sync->correlation, i, 0};
	}
	if (sorter->ops.count > 0)
		qsort(sorter->ops.rows, sorter->ops.count, sizeof(struct op), by_given);
}

static bool is_held(const struct held *held)
{
	return held->work != GT_PENDING_NONE || held->wait != GT_PENDING_NONE;
}

/* ---- default streams ---- */

static bool is_default(const struct gt_trace *trace, gt_id stream)
{
	const struct gt_stream *row = &trace->streams.rows[stream];

	return row->context < trace->contexts.count &&
	       trace->contexts.rows[row->context].null_stream == row->number;
}

/* Whether it waits for the default stream of its context, and that for it. */
static bool is_blocking(const struct gt_trace *trace, gt_id stream)
{
	return trace->streams.rows[stream].flags == STREAM_FLAG_DEFAULT &&
	       trace->streams.rows[stream].context < trace->contexts.count;
}

/* It is known that a stream is held up from now on. */
static void hold(struct sorter *sorter, gt_id stream)
{
	const gt_id context = sorter->trace->streams.rows[stream].context;

	if (is_default(sorter->trace, stream))
		sorter->contexts[context].is_default_held = true;
	else if (is_blocking(sorter->trace, stream))
		sorter->contexts[context].is_other_held = true;
}

static bool behind_default(const struct sorter *sorter, gt_id stream)
{
	const gt_id context = sorter->trace->streams.rows[stream].context;

	if (is_default(sorter->trace, stream))
		return sorter->contexts[context].is_other_held;
	return is_blocking(sorter->trace, stream) && sorter->contexts[context].is_default_held;
}

/* ---- what holds what up ---- */

/* The work at the end of a chain of waits; GT_PENDING_NONE: it is not known. */
static size_t work_behind(const struct gt_pending *pending, const struct held *held)
{
	if (held->wait != GT_PENDING_NONE)
		return pending->waits.rows[held->wait].held_by;
	return held->work;
}

/*
 * CUPTI numbers calls as they are entered: of a launch whose call is not known, one with a higher
 * number tells that it is older than that.
 */
static void find_settled(struct sorter *sorter)
{
	const struct gt_trace *trace = sorter->trace;

	gt_array_each(const struct gt_api_call, call, &trace->api_calls) {
		const gt_id process = gt_trace_thread_process(trace, call->thread);

		if (process < trace->processes.count &&
		    gt_pending_until(sorter->pending, process) - call->start_ns >=
		            sorter->pending->fresh_ns &&
		    call->correlation > sorter->settled[process])
			sorter->settled[process] = call->correlation;
	}
}

static bool is_young(const struct sorter *sorter, const struct gt_pending_work *work)
{
	if (work->given_ns == 0)
		return work->correlation >= sorter->settled[work->process];
	return gt_pending_until(sorter->pending, work->process) - work->given_ns <
	       sorter->pending->fresh_ns;
}

static bool is_untold(const struct sorter *sorter, const struct gt_pending_work *work)
{
	return is_young(sorter, work) ||
	       (work->step.table == GT_TABLE_graph_launches && work->nodes == 0 &&
	        work->ended == 0 && work->node.table == GT_TABLE_NONE);
}

static gt_id thread_of(const struct gt_trace *trace, const struct gt_pending_work *work)
{
	return work->api_call < trace->api_calls.count
	               ? trace->api_calls.rows[work->api_call].thread
	               : GT_NONE;
}

/* Whether its thread gave work before that has not ended: no record of it comes. */
static bool is_hidden(const struct sorter *sorter, const struct gt_pending_work *work)
{
	const gt_id thread = thread_of(sorter->trace, work);

	return sorter->gave_any[work->process] ||
	       (thread < sorter->trace->threads.count && sorter->gave[thread]);
}

static void note_given(struct sorter *sorter, const struct gt_pending_work *work)
{
	const gt_id thread = thread_of(sorter->trace, work);

	if (thread < sorter->trace->threads.count)
		sorter->gave[thread] = true;
	else
		sorter->gave_any[work->process] = true;
}

/* Whether it has not ended. */
static bool is_open(const struct gt_pending_work *work)
{
	return work->state != GT_PENDING_UNTOLD && work->state != GT_PENDING_HIDDEN;
}

static enum gt_pending_state state_of(const struct sorter *sorter,
                                      const struct gt_pending_work *work)
{
	const struct gt_pending *pending = sorter->pending;
	const struct held *held = &sorter->streams[work->stream];

	if (held->work != GT_PENDING_NONE && is_open(&pending->works.rows[held->work]))
		return GT_PENDING_BEHIND;
	if (held->wait != GT_PENDING_NONE && pending->waits.rows[held->wait].certain)
		return GT_PENDING_EVENT;
	if (behind_default(sorter, work->stream))
		return GT_PENDING_DEFAULT;
	if (is_untold(sorter, work))
		return GT_PENDING_UNTOLD;
	if (is_hidden(sorter, work))
		return GT_PENDING_HIDDEN;
	return held->wait != GT_PENDING_NONE ? GT_PENDING_MAYBE : GT_PENDING_FIRST;
}

static void see_work(struct sorter *sorter, size_t row)
{
	struct gt_pending_work *work = &sorter->pending->works.rows[row];
	struct held *held = &sorter->streams[work->stream];
	struct gt_pending_stream *stream = &sorter->pending->streams[work->stream];

	work->place = ++stream->pending;
	work->state = state_of(sorter, work);
	note_given(sorter, work);
	held->latest = row;
	if (is_open(work))
		hold(sorter, work->stream);
	if (held->work == GT_PENDING_NONE ||
	    (!is_open(&sorter->pending->works.rows[held->work]) && is_open(work)))
		held->work = row;
}

/*
 * Whether it is known that the wait is over without what it waits for: an event that was never
 * recorded holds nobody up, unless another process records it.
 */
static bool holds_nothing(const struct sorter *sorter, const struct gt_sync *sync)
{
	const struct gt_event *event = sync->event < sorter->trace->events.count
	                                       ? &sorter->trace->events.rows[sync->event]
	                                       : NULL;

	return sync->kind == GT_SYNC_STREAM_WAIT_EVENT && sync->record == GT_NONE && event &&
	       event->created_ns > 0 && event->original == GT_NONE;
}

/* Whether what a record is behind is known not to have ended. */
static bool is_certain(const struct gt_pending *pending, const struct held *record)
{
	if (record->wait != GT_PENDING_NONE)
		return pending->waits.rows[record->wait].certain;
	return is_open(&pending->works.rows[record->work]);
}

static void add_wait(struct sorter *sorter, gt_id row, const struct held *record)
{
	struct gt_pending *pending = sorter->pending;
	const struct gt_sync *sync = &sorter->trace->syncs.rows[row];
	struct held *held = &sorter->streams[sync->stream];
	const size_t number = pending->waits.count;

	*gt_array_push(&pending->waits) = (struct gt_pending_wait){
		.sync = row,
		.stream = sync->stream,
		.certain = record && is_certain(pending, record),
		.behind = record ? record->latest : GT_PENDING_NONE,
		.held_by = record ? work_behind(pending, record) : GT_PENDING_NONE,
	};
	if (pending->waits.rows[number].certain)
		hold(sorter, sync->stream);
	if (!is_held(held))
		held->wait = number;
}

static void see_wait(struct sorter *sorter, gt_id row)
{
	const struct gt_sync *sync = &sorter->trace->syncs.rows[row];
	const struct held *held = &sorter->streams[sync->stream];
	const bool known = sync->record < sorter->trace->syncs.count;

	if (sync->start_ns < sorter->proven_ns[sync->stream] || holds_nothing(sorter, sync))
		return;
	if (known && is_held(&sorter->records[sync->record]))
		add_wait(sorter, row, &sorter->records[sync->record]);
	/* Only where work is behind it: else nobody asks. */
	else if (!known && !is_held(held) && sorter->last_ns[sync->stream] > sync->start_ns)
		add_wait(sorter, row, NULL);
}

static void see(struct sorter *sorter, const struct op *op)
{
	const struct gt_sync *sync;

	if (op->sync == GT_NONE) {
		see_work(sorter, op->work);
		return;
	}
	sync = &sorter->trace->syncs.rows[op->sync];
	if (may_hold(sync->kind))
		see_wait(sorter, op->sync);
	else
		sorter->records[op->sync] = sorter->streams[sync->stream];
}

static void order(struct gt_pending *pending, const gt_time *proven_ns)
{
	const struct gt_trace *trace = pending->trace;
	const size_t streams = trace->streams.count;
	struct sorter sorter = {
		.pending = pending,
		.trace = trace,
		.proven_ns = proven_ns,
		.streams = gt_allocate((streams + 1) * sizeof(*sorter.streams)),
		.records = gt_allocate((trace->syncs.count + 1) * sizeof(*sorter.records)),
		.contexts = gt_allocate_zeroed(trace->contexts.count, sizeof(*sorter.contexts)),
		.last_ns = gt_allocate_zeroed(streams, sizeof(*sorter.last_ns)),
		.settled = gt_allocate_zeroed(trace->processes.count, sizeof(*sorter.settled)),
		.gave = gt_allocate_zeroed(trace->threads.count, sizeof(*sorter.gave)),
		.gave_any = gt_allocate_zeroed(trace->processes.count, sizeof(*sorter.gave_any)),
	};

	/* All bits set is GT_PENDING_NONE. */
	memset(sorter.streams, 0xff, (streams + 1) * sizeof(*sorter.streams));
	memset(sorter.records, 0xff, (trace->syncs.count + 1) * sizeof(*sorter.records));
	if (pending->works.count > 0)
		qsort(pending->works.rows, pending->works.count, sizeof(*pending->works.rows),
		      by_launch);
	find_settled(&sorter);
	list_ops(&sorter);
	gt_array_each(const struct op, op, &sorter.ops)
		see(&sorter, op);
	gt_array_free(sorter.streams);
	gt_array_free(sorter.records);
	gt_array_free(sorter.contexts);
	gt_array_free(sorter.last_ns);
	gt_array_free(sorter.settled);
	gt_array_free(sorter.gave);
	gt_array_free(sorter.gave_any);
	gt_array_release(&sorter.ops);
}

/* ---- threads ---- */

/*
 * The calls that have not returned. One behind which its thread has made another call did return:
 * its end was lost.
 */
static void find_calls(struct gt_pending *pending, gt_id *last)
{
	const struct gt_trace *trace = pending->trace;

	for (gt_id i = 0; i < trace->api_calls.count; i++)
		if (!(trace->api_calls.rows[i].flags & GT_NESTED) &&
		    trace->api_calls.rows[i].thread < trace->threads.count)
			last[trace->api_calls.rows[i].thread] = i;
	for (gt_id thread = 0; thread < trace->threads.count; thread++) {
		const struct gt_api_call *call =
			last[thread] == GT_NONE ? NULL : &trace->api_calls.rows[last[thread]];

		/* Whether a call that a pause interrupted has returned nobody knows. */
		if (call && call->flags & GT_UNFINISHED && !(call->flags & GT_INTERRUPTED))
			*gt_array_push(&pending->threads) = (struct gt_pending_thread){
				thread, last[thread], GT_NONE, call->start_ns};
	}
}

/* The waits that these calls are, and those of calls that are not recorded. */
static void find_waits(struct gt_pending *pending, const gt_id *last)
{
	const struct gt_trace *trace = pending->trace;
	size_t *places = gt_allocate_zeroed(trace->threads.count, sizeof(*places)); /* from 1 */

	for (size_t i = 0; i < pending->threads.count; i++)
		places[pending->threads.rows[i].thread] = i + 1;
	for (gt_id i = 0; i < trace->syncs.count; i++) {
		const struct gt_sync *sync = &trace->syncs.rows[i];

		if (!(sync->flags & GT_UNFINISHED) || sync->thread >= trace->threads.count)
			continue;
		if (places[sync->thread] > 0) {
			struct gt_pending_thread *thread =
				&pending->threads.rows[places[sync->thread] - 1];

			if (sync->api_call == thread->api_call)
				thread->sync = i;
		} else if (last[sync->thread] == GT_NONE && gt_sync_waits_host(sync->kind)) {
			*gt_array_push(&pending->threads) = (struct gt_pending_thread){
				sync->thread, GT_NONE, i, sync->start_ns};
			places[sync->thread] = pending->threads.count;
		}
	}
	gt_array_free(places);
}

static void find_threads(struct gt_pending *pending)
{
	const size_t size = (pending->trace->threads.count + 1) * sizeof(gt_id);
	gt_id *last = gt_allocate(size);

	memset(last, 0xff, size);
	find_calls(pending, last);
	find_waits(pending, last);
	gt_array_free(last);
}

gt_time gt_pending_fresh_ns(const struct gt_trace *trace)
{
	const gt_time flush_ns = trace->flush_interval_ns ? trace->flush_interval_ns : FLUSH_NS;

	return flush_ns < INT64_MAX / 2 ? 2 * flush_ns : INT64_MAX;
}

void gt_pending_init(struct gt_pending *pending, const struct gt_trace *trace, gt_time now_ns)
{
	gt_time *proven_ns = gt_allocate_zeroed(trace->streams.count, sizeof(*proven_ns));

	*pending = (struct gt_pending){
		.trace = trace,
		.now_ns = now_ns,
		.fresh_ns = gt_pending_fresh_ns(trace),
		.streams = gt_allocate_zeroed(trace->streams.count, sizeof(*pending->streams)),
	};
	for (size_t i = 0; i < trace->streams.count; i++)
		pending->streams[i].last.table = GT_TABLE_NONE;
	gt_pending_find_work(pending, proven_ns);
	order(pending, proven_ns);
	find_threads(pending);
	gt_array_free(proven_ns);
}

void gt_pending_release(struct gt_pending *pending)
{
	gt_array_release(&pending->works);
	gt_array_release(&pending->waits);
	gt_array_release(&pending->threads);
	gt_array_free(pending->streams);
}

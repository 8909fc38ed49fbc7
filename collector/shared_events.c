/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/shared_events.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "model/index.h"
#include "model/trace.h"
#include "model/work/sync.h"

/* ---- whose event an opened one is ---- */

/* A handle on a machine: other machines may have one with the same hash. */
struct handle_key {
	uint64_t hash;
	uint64_t host; /* string */
};

/* A handle was made of an event. */
struct export
{
	size_t handle; /* number of its key */
	gt_time time_ns;
	gt_id event;
};

struct exports {
	struct gt_index *handles;
	gt_array(struct export) list; /* by handle, then time */
};

static bool find_key(const struct gt_trace *trace, const struct gt_sync *sync,
                     struct handle_key *key)
{
	gt_id process;

	if (sync->result != 0 || sync->value == 0 || sync->event >= trace->events.count)
		return false;
	process = trace->events.rows[sync->event].process;
	if (process >= trace->processes.count)
		return false;
	*key = (struct handle_key){sync->value, trace->processes.rows[process].host};
	return true;
}

static int by_handle(const void *a, const void *b)
{
	const struct export *left = a;
	const struct export *right = b;

	if (left->handle != right->handle)
		return left->handle < right->handle ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->event > right->event) - (left->event < right->event);
}

static void exports_init(struct exports *exports, const struct gt_trace *trace)
{
	*exports = (struct exports){.handles = gt_index_new(sizeof(struct handle_key))};
	gt_array_each(const struct gt_sync, sync, &trace->syncs) {
		struct handle_key key;

		if (sync->kind == GT_SYNC_EVENT_EXPORT && find_key(trace, sync, &key))
			*gt_array_push(&exports->list) = (struct export){
				gt_index_add(exports->handles, &key), sync->start_ns, sync->event};
	}
	if (exports->list.count > 1)
		qsort(exports->list.rows, exports->list.count, sizeof(*exports->list.rows),
		      by_handle);
}

static void exports_release(struct exports *exports)
{
	gt_index_free(exports->handles);
	gt_array_release(&exports->list);
}

/* Whether the event was still there, as far as it is known. */
static bool is_there(const struct gt_trace *trace, gt_id event, gt_time at_ns)
{
	const gt_time destroyed_ns = trace->events.rows[event].destroyed_ns;

	return destroyed_ns == 0 || destroyed_ns > at_ns;
}

/*
 * The event that a handle stands for at a moment: of those that it was made of until then the one
 * that is still there. GT_NONE: none is, or several are.
 */
static gt_id original_of(const struct gt_trace *trace, const struct exports *exports,
                         const struct handle_key *key, gt_time at_ns)
{
	const size_t known = gt_index_count(exports->handles);
	const struct export wanted = {gt_index_add(exports->handles, key), at_ns, GT_NONE};
	gt_id found = GT_NONE;

	if (wanted.handle >= known)
		return GT_NONE;
	for (size_t i = gt_count_up_to(&exports->list, &wanted, by_handle);
	     i > 0 && exports->list.rows[i - 1].handle == wanted.handle; i--) {
		const gt_id event = exports->list.rows[i - 1].event;

		if (event == found || !is_there(trace, event, at_ns))
			continue;
		if (found != GT_NONE)
			return GT_NONE;
		found = event;
	}
	return found;
}

/* True: there are such events. */
static bool find_originals(struct gt_trace *trace, gt_time bound_ns)
{
	struct exports exports;
	bool any = false;

	exports_init(&exports, trace);
	for (size_t i = 0; exports.list.count > 0 && i < trace->syncs.count; i++) {
		const struct gt_sync *sync = &trace->syncs.rows[i];
		struct handle_key key;
		struct gt_event *event;
		gt_id original;

		if (sync->kind != GT_SYNC_EVENT_CREATE || !find_key(trace, sync, &key))
			continue;
		event = &trace->events.rows[sync->event];
		original = original_of(trace, &exports, &key, sync->start_ns + bound_ns);
		if (original == GT_NONE || trace->events.rows[original].process == event->process)
			continue;
		event->original = original;
		any = true;
	}
	exports_release(&exports);
	return any;
}

/* ---- which record a wait is for ---- */

/* A record of a shared event, in order of the event and then of time. */
struct record {
	gt_id event; /* the original */
	gt_id row;   /* of syncs */
};

struct shared {
	struct gt_trace *trace;
	bool *is_shared; /* by row of events: it, or what it is, is known to another process */
	gt_array(struct record) records;
	gt_time bound_ns;
};

/* An event that was opened has no handle of its own: its original is nobody else's. */
static gt_id root_of(const struct gt_trace *trace, gt_id event)
{
	const gt_id original = trace->events.rows[event].original;

	return original < trace->events.count ? original : event;
}

static int by_event(const void *a, const void *b)
{
	const struct record *left = a;
	const struct record *right = b;

	if (left->event != right->event)
		return left->event < right->event ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

static void shared_init(struct shared *shared, struct gt_trace *trace, gt_time bound_ns)
{
	const size_t count = trace->events.count;

	*shared = (struct shared){
		.trace = trace,
		.is_shared = gt_allocate((count + 1) * sizeof(*shared->is_shared)),
		.bound_ns = bound_ns,
	};
	memset(shared->is_shared, 0, (count + 1) * sizeof(*shared->is_shared));
	for (gt_id event = 0; event < count; event++)
		if (root_of(trace, event) != event)
			shared->is_shared[event] = shared->is_shared[root_of(trace, event)] = true;
	for (gt_id row = 0; row < trace->syncs.count; row++) {
		const struct gt_sync *sync = &trace->syncs.rows[row];

		if (sync->kind == GT_SYNC_EVENT_RECORD && sync->result == 0 &&
		    sync->event < count && shared->is_shared[sync->event])
			*gt_array_push(&shared->records) =
				(struct record){root_of(trace, sync->event), row};
	}
	if (shared->records.count > 1)
		qsort(shared->records.rows, shared->records.count, sizeof(*shared->records.rows),
		      by_event);
}

static void shared_release(struct shared *shared)
{
	gt_array_free(shared->is_shared);
	gt_array_release(&shared->records);
}

static gt_id process_of(const struct shared *shared, const struct gt_sync *sync)
{
	return shared->trace->events.rows[sync->event].process;
}

/* By the clocks of both, the one call had returned before the other was entered. */
static bool is_before(const struct shared *shared, const struct gt_sync *earlier,
                      const struct gt_sync *later)
{
	if (process_of(shared, earlier) == process_of(shared, later))
		return true;
	return earlier->end_ns > 0 && earlier->end_ns + shared->bound_ns <= later->start_ns;
}

/*
 * An event's contents are read while a stream is made to wait for it; a wait of the host is for its
 * contents when the wait began.
 */
static gt_time read_until(const struct gt_sync *wait)
{
	return wait->kind == GT_SYNC_STREAM_WAIT_EVENT && wait->end_ns > wait->start_ns
	               ? wait->end_ns
	               : wait->start_ns;
}

/*
 * Whether another process may have recorded the event after a wait was entered, and before it read
 * the event. A call in which it was recorded very often is not looked at to its end.
 */
static bool may_be_later(const struct shared *shared, const struct gt_sync *wait, gt_id event,
                         size_t next)
{
	enum { RECORDS_MOST = 1024 };
	const gt_time until_ns = read_until(wait) + shared->bound_ns;
	const size_t end = next + RECORDS_MOST;

	for (; next < shared->records.count && shared->records.rows[next].event == event; next++) {
		const struct gt_sync *record =
			&shared->trace->syncs.rows[shared->records.rows[next].row];

		if (record->start_ns > until_ns)
			return false;
		if (next == end)
			return true;
		if (process_of(shared, record) != process_of(shared, wait))
			return true;
	}
	return false;
}

static void follow(struct shared *shared, gt_id row)
{
	struct gt_sync *wait = &shared->trace->syncs.rows[row];
	const struct record wanted = {root_of(shared->trace, wait->event), row};
	const size_t before = gt_count_before(&shared->records, &wanted, by_event);
	const struct record *last = before ? &shared->records.rows[before - 1] : NULL;
	const struct gt_sync *record;

	wait->record = GT_NONE;
	wait->generation = 0;
	if (!last || last->event != wanted.event ||
	    may_be_later(shared, wait, wanted.event, before))
		return;
	record = &shared->trace->syncs.rows[last->row];
	if (!is_before(shared, record, wait))
		return;
	if (before > 1 && last[-1].event == wanted.event &&
	    !is_before(shared, &shared->trace->syncs.rows[last[-1].row], record))
		return;
	wait->record = last->row;
	wait->generation = record->generation;
}

/* Records are counted of all processes together. */
static void number_records(const struct shared *shared)
{
	gt_count number = 0;

	for (size_t i = 0; i < shared->records.count; i++) {
		const struct record *record = &shared->records.rows[i];

		number = i > 0 && record[-1].event == record->event ? number + 1 : 1;
		shared->trace->syncs.rows[record->row].generation = number;
	}
}

static bool is_wait(const struct gt_sync *sync)
{
	return sync->kind == GT_SYNC_STREAM_WAIT_EVENT || sync->kind == GT_SYNC_EVENT_SYNCHRONIZE;
}

void gt_shared_events_follow(struct gt_trace *trace)
{
	const gt_time bound_ns = (gt_time)gt_trace_clock_bound(trace);
	struct shared shared;

	if (!find_originals(trace, bound_ns))
		return;
	shared_init(&shared, trace, bound_ns);
	number_records(&shared);
	for (gt_id row = 0; row < trace->syncs.count; row++)
		if (is_wait(&trace->syncs.rows[row]) &&
		    trace->syncs.rows[row].event < trace->events.count &&
		    shared.is_shared[trace->syncs.rows[row].event])
			follow(&shared, row);
	shared_release(&shared);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/hazards/stream_clocks.h"

#include <stdlib.h>
#include <string.h>

#include "model/names.h"
#include "model/work/sync.h"

#define NO_SLOT UINT32_MAX

/* CUpti_ActivityStreamFlag. */
enum { STREAM_NON_BLOCKING = 2 };

static gt_id process_of_context(const struct gt_trace *trace, gt_id context)
{
	return context < trace->contexts.count ? trace->contexts.rows[context].process : GT_NONE;
}

static void add_stream(struct gt_clocks *clocks, gt_id stream)
{
	const struct gt_trace *trace = clocks->trace;
	const struct gt_stream *row = &trace->streams.rows[stream];
	const gt_id process = process_of_context(trace, row->context);
	bool is_legacy;

	if (process >= trace->processes.count)
		return;
	if (clocks->count == GT_CLOCKS_MOST) {
		clocks->has_unclocked = true;
		return;
	}
	is_legacy = row->number == trace->contexts.rows[row->context].null_stream;
	clocks->slot_of[stream] = (uint32_t)clocks->count;
	clocks->streams[clocks->count++] = (struct gt_clock_stream){
		.stream = stream,
		.process = process,
		.context = row->context,
		.is_legacy = is_legacy,
		.is_blocking = !is_legacy && row->flags != STREAM_NON_BLOCKING,
	};
}

void gt_clocks_init(struct gt_clocks *clocks, const struct gt_trace *trace, const bool *wanted)
{
	*clocks = (struct gt_clocks){
		.trace = trace,
		.slot_of = gt_allocate_zeroed(trace->streams.count, sizeof(*clocks->slot_of)),
		.streams = gt_allocate_zeroed(GT_CLOCKS_MOST, sizeof(*clocks->streams)),
		.versions = gt_allocate_zeroed(trace->processes.count, sizeof(*clocks->versions)),
		.legacy = gt_allocate_zeroed(trace->contexts.count, sizeof(*clocks->legacy)),
		.changed = gt_allocate_zeroed(trace->contexts.count, sizeof(*clocks->changed)),
		.recorded = gt_allocate_zeroed(trace->events.count, sizeof(*clocks->recorded)),
		.asked_event =
			gt_allocate_zeroed(trace->events.count, sizeof(*clocks->asked_event)),
		.lost = gt_allocate_zeroed(trace->processes.count, sizeof(*clocks->lost)),
	};
	for (gt_id i = 0; i < trace->streams.count; i++) {
		clocks->slot_of[i] = NO_SLOT;
		if (wanted[i])
			add_stream(clocks, i);
	}
	clocks->clocks = gt_allocate_zeroed(clocks->count * clocks->count, sizeof(*clocks->clocks));
	clocks->hosts =
		gt_allocate_zeroed(trace->processes.count * clocks->count, sizeof(*clocks->hosts));
}

void gt_clocks_release(struct gt_clocks *clocks)
{
	for (size_t i = 0; i < clocks->trace->events.count; i++)
		free(clocks->recorded[i]);
	for (size_t i = 0; i < clocks->values.count; i++)
		free(clocks->values.rows[i]);
	gt_array_release(&clocks->values);
	gt_known_release(&clocks->cells);
	gt_array_free(clocks->slot_of);
	gt_array_free(clocks->streams);
	gt_array_free(clocks->clocks);
	gt_array_free(clocks->hosts);
	gt_array_free(clocks->versions);
	gt_array_free(clocks->legacy);
	gt_array_free(clocks->changed);
	gt_array_free(clocks->recorded);
	gt_array_free(clocks->asked_event);
	gt_array_free(clocks->lost);
	*clocks = (struct gt_clocks){0};
}

/* ---- clocks ---- */

static uint32_t *clock_of(const struct gt_clocks *clocks, uint32_t slot)
{
	return clocks->clocks + slot * clocks->count;
}

static void merge(const struct gt_clocks *clocks, uint32_t *into, const uint32_t *from)
{
	for (size_t i = 0; i < clocks->count; i++)
		if (from[i] > into[i])
			into[i] = from[i];
}

/* The stream's clock is another one from now on, which its context's default stream has to see. */
static void change(struct gt_clocks *clocks, uint32_t slot)
{
	struct gt_clock_stream *stream = &clocks->streams[slot];

	if (stream->is_legacy)
		clocks->legacy[stream->context]++;
	if (stream->is_blocking && !stream->is_changed) {
		stream->is_changed = true;
		clocks->changed[stream->context]++;
	}
}

static uint32_t legacy_slot(const struct gt_clocks *clocks, gt_id context)
{
	for (uint32_t i = 0; i < clocks->count; i++)
		if (clocks->streams[i].is_legacy && clocks->streams[i].context == context)
			return i;
	return NO_SLOT;
}

/* The default stream runs what it is given after all that blocking streams were given before. */
static void wait_for_blocking(struct gt_clocks *clocks, uint32_t slot)
{
	const gt_id context = clocks->streams[slot].context;

	if (clocks->changed[context] == 0)
		return;
	for (uint32_t i = 0; i < clocks->count; i++) {
		struct gt_clock_stream *other = &clocks->streams[i];

		if (!other->is_changed || other->context != context)
			continue;
		merge(clocks, clock_of(clocks, slot), clock_of(clocks, i));
		other->is_changed = false;
	}
	clocks->changed[context] = 0;
	change(clocks, slot);
}

/* Makes a stream's clock that of what it is given next. */
static void bring_up(struct gt_clocks *clocks, uint32_t slot)
{
	struct gt_clock_stream *stream = &clocks->streams[slot];
	uint32_t legacy;

	if (stream->host_seen != clocks->versions[stream->process]) {
		stream->host_seen = clocks->versions[stream->process];
		merge(clocks, clock_of(clocks, slot),
		      clocks->hosts + stream->process * clocks->count);
		change(clocks, slot);
	}
	if (stream->is_legacy)
		wait_for_blocking(clocks, slot);
	if (!stream->is_blocking || stream->legacy_seen == clocks->legacy[stream->context])
		return;
	stream->legacy_seen = clocks->legacy[stream->context];
	legacy = legacy_slot(clocks, stream->context);
	if (legacy != NO_SLOT) {
		merge(clocks, clock_of(clocks, slot), clock_of(clocks, legacy));
		change(clocks, slot);
	}
}

static uint32_t slot_of(const struct gt_clocks *clocks, gt_id stream)
{
	return stream < clocks->trace->streams.count ? clocks->slot_of[stream] : NO_SLOT;
}

/* The host knows that so much is done. */
static void tell_host(struct gt_clocks *clocks, gt_id process, const uint32_t *clock)
{
	if (process >= clocks->trace->processes.count)
		return;
	merge(clocks, clocks->hosts + process * clocks->count, clock);
	clocks->versions[process]++;
}

/* Work that each stream of a process was given so far: no clock of its streams knows of more. */
static void merge_all(const struct gt_clocks *clocks, uint32_t *into, gt_id process)
{
	for (uint32_t i = 0; i < clocks->count; i++)
		if (clocks->streams[i].process == process && clock_of(clocks, i)[i] > into[i])
			into[i] = clock_of(clocks, i)[i];
}

static bool has_other_contexts(const struct gt_clocks *clocks, gt_id process, gt_id context)
{
	for (uint32_t i = 0; i < clocks->count; i++)
		if (clocks->streams[i].process == process && clocks->streams[i].context != context)
			return true;
	return false;
}

/* The same of all that its streams were given, or those of one context. */
static void tell_host_all(struct gt_clocks *clocks, gt_id process, gt_id context)
{
	uint32_t *host;

	if (process >= clocks->trace->processes.count)
		return;
	host = clocks->hosts + process * clocks->count;
	clocks->versions[process]++;
	if (context == GT_NONE || !has_other_contexts(clocks, process, context)) {
		merge_all(clocks, host, process);
		return;
	}
	for (uint32_t i = 0; i < clocks->count; i++)
		if (clocks->streams[i].context == context)
			merge(clocks, host, clock_of(clocks, i));
}

struct gt_clock_point gt_clocks_give(struct gt_clocks *clocks, gt_id stream)
{
	const uint32_t slot = slot_of(clocks, stream);
	struct gt_clock_point point = {slot, 0};

	if (slot == NO_SLOT)
		return point;
	bring_up(clocks, slot);
	point.place = ++clock_of(clocks, slot)[slot];
	change(clocks, slot);
	if (clocks->streams[slot].asked > 0)
		tell_host(clocks, clocks->streams[slot].process, clock_of(clocks, slot));
	return point;
}

bool gt_clocks_is_after(const struct gt_clocks *clocks, uint32_t slot, struct gt_clock_point point)
{
	return slot >= clocks->count || point.slot >= clocks->count ||
	       clock_of(clocks, slot)[point.slot] >= point.place;
}

void gt_clocks_order(struct gt_clocks *clocks, uint32_t slot, uint32_t after_slot)
{
	if (slot >= clocks->count || after_slot >= clocks->count)
		return;
	merge(clocks, clock_of(clocks, slot), clock_of(clocks, after_slot));
	change(clocks, slot);
}

/* ---- calls ---- */

static gt_id process_of(const struct gt_clocks *clocks, const struct gt_sync *sync)
{
	const struct gt_trace *trace = clocks->trace;

	return sync->thread < trace->threads.count ? trace->threads.rows[sync->thread].process
	                                           : process_of_context(trace, sync->context);
}

/* A copy of a stream's clock as it is now; of no stream, of all that the process's were given. */
static void keep(struct gt_clocks *clocks, uint32_t **kept, uint32_t slot, gt_id process)
{
	if (!*kept)
		*kept = gt_allocate_zeroed(clocks->count, sizeof(**kept));
	if (slot != NO_SLOT) {
		bring_up(clocks, slot);
		memcpy(*kept, clock_of(clocks, slot), clocks->count * sizeof(**kept));
		return;
	}
	merge_all(clocks, *kept, process);
}

static void record(struct gt_clocks *clocks, const struct gt_sync *sync)
{
	const gt_id process = process_of(clocks, sync);

	if (sync->event >= clocks->trace->events.count)
		return;
	keep(clocks, &clocks->recorded[sync->event], slot_of(clocks, sync->stream), process);
	if (clocks->asked_event[sync->event] > 0)
		tell_host(clocks, process, clocks->recorded[sync->event]);
}

void gt_clocks_forget(struct gt_clocks *clocks, gt_id event)
{
	if (event >= clocks->trace->events.count)
		return;
	free(clocks->recorded[event]);
	clocks->recorded[event] = NULL;
}

/* NULL: nothing is known of a record. */
static const uint32_t *recorded_of(const struct gt_clocks *clocks, gt_id event)
{
	return event < clocks->trace->events.count ? clocks->recorded[event] : NULL;
}

/* CUDA does not wait for an event that was made and never recorded. */
static bool is_never_recorded(const struct gt_clocks *clocks, gt_id event)
{
	return event < clocks->trace->events.count &&
	       clocks->trace->events.rows[event].created_ns != 0 && !clocks->recorded[event];
}

/* If the stream has no clock, all others are thought to wait too. */
static void wait_on_stream(struct gt_clocks *clocks, const struct gt_sync *sync,
                           const uint32_t *clock)
{
	const uint32_t slot = slot_of(clocks, sync->stream);
	const gt_id process = process_of(clocks, sync);

	if (!clock) {
		tell_host_all(clocks, process, GT_NONE);
	} else if (slot == NO_SLOT) {
		tell_host(clocks, process, clock);
	} else {
		bring_up(clocks, slot);
		merge(clocks, clock_of(clocks, slot), clock);
		change(clocks, slot);
	}
}

static void wait_for_event(struct gt_clocks *clocks, const struct gt_sync *sync)
{
	const uint32_t *clock = recorded_of(clocks, sync->event);
	const gt_id process = process_of(clocks, sync);

	if (is_never_recorded(clocks, sync->event))
		return;
	if (sync->kind == GT_SYNC_STREAM_WAIT_EVENT)
		wait_on_stream(clocks, sync, clock);
	else if (clock)
		tell_host(clocks, process, clock);
	else
		tell_host_all(clocks, process, GT_NONE);
}

static void wait_for_stream(struct gt_clocks *clocks, const struct gt_sync *sync)
{
	const uint32_t slot = slot_of(clocks, sync->stream);
	const gt_id process = process_of(clocks, sync);

	if (slot == NO_SLOT) {
		tell_host_all(clocks, process, GT_NONE);
		return;
	}
	bring_up(clocks, slot);
	tell_host(clocks, process, clock_of(clocks, slot));
}

static uint64_t key_of(gt_id process, uint64_t address)
{
	return address ^ (uint64_t)process << 48;
}

static void write_value(struct gt_clocks *clocks, const struct gt_sync *sync)
{
	const gt_id process = process_of(clocks, sync);
	const uint64_t key = key_of(process, sync->address);
	gt_id place;

	if (gt_known_is_new(&clocks->cells, key, clocks->values.count, &place))
		*gt_array_push(&clocks->values) = NULL;
	keep(clocks, &clocks->values.rows[place], slot_of(clocks, sync->stream), process);
}

/* A value that is written later, or by nobody who is known, could order anything. */
static void wait_for_value(struct gt_clocks *clocks, const struct gt_sync *sync)
{
	const gt_id process = process_of(clocks, sync);
	const gt_id place = gt_known_find(&clocks->cells, key_of(process, sync->address));
	const gt_id row = (gt_id)(sync - clocks->trace->syncs.rows);

	if (place != GT_NONE && sync->record < row)
		wait_on_stream(clocks, sync, clocks->values.rows[place]);
	else if (process < clocks->trace->processes.count)
		clocks->lost[process] = true;
}

static void lose(struct gt_clocks *clocks, const struct gt_sync *sync)
{
	const gt_id process = process_of(clocks, sync);

	if (process < clocks->trace->processes.count)
		clocks->lost[process] = true;
}

void gt_clocks_sync(struct gt_clocks *clocks, gt_id row)
{
	const struct gt_sync *sync = &clocks->trace->syncs.rows[row];

	if (sync->result != 0 || clocks->count == 0)
		return;
	switch (sync->kind) {
	case GT_SYNC_EVENT_RECORD:
		record(clocks, sync);
		return;
	case GT_SYNC_STREAM_WAIT_EVENT:
	case GT_SYNC_EVENT_SYNCHRONIZE:
		wait_for_event(clocks, sync);
		return;
	case GT_SYNC_STREAM_SYNCHRONIZE:
	case GT_SYNC_BLOCKING_COPY:
	case GT_SYNC_BLOCKING_FILL:
	case GT_SYNC_HOST_FUNCTION:
		wait_for_stream(clocks, sync);
		return;
	case GT_SYNC_CONTEXT_SYNCHRONIZE:
		tell_host_all(clocks, process_of(clocks, sync), sync->context);
		return;
	case GT_SYNC_BLOCKING_FREE:
		tell_host_all(clocks, process_of(clocks, sync), GT_NONE);
		return;
	case GT_SYNC_WRITE_VALUE:
		write_value(clocks, sync);
		return;
	case GT_SYNC_WAIT_VALUE:
		wait_for_value(clocks, sync);
		return;
	case GT_SYNC_EXTERNAL_WAIT:
		lose(clocks, sync);
		return;
	default: /* orders nothing */
		return;
	}
}

void gt_clocks_ask(struct gt_clocks *clocks, const struct gt_query *query, bool begins)
{
	const struct gt_trace *trace = clocks->trace;
	const uint32_t slot = slot_of(clocks, query->stream);
	const gt_id process = query->thread < trace->threads.count
	                              ? trace->threads.rows[query->thread].process
	                              : process_of_context(trace, query->context);
	const uint32_t *clock = recorded_of(clocks, query->event);

	if (clocks->count == 0)
		return;
	if (query->event < trace->events.count)
		clocks->asked_event[query->event] += begins ? 1 : UINT32_MAX;
	else if (slot != NO_SLOT)
		clocks->streams[slot].asked += begins ? 1 : UINT32_MAX;
	if (!begins)
		return;
	if (clock) {
		tell_host(clocks, process, clock);
	} else if (query->event < trace->events.count) {
		if (!is_never_recorded(clocks, query->event))
			tell_host_all(clocks, process, GT_NONE);
	} else if (slot != NO_SLOT) {
		bring_up(clocks, slot);
		tell_host(clocks, process, clock_of(clocks, slot));
	} else {
		tell_host_all(clocks, process, GT_NONE);
	}
}

bool gt_clocks_lost(const struct gt_clocks *clocks, gt_id process)
{
	return process >= clocks->trace->processes.count || clocks->lost[process];
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/names.h"
#include "model/path_edges.h"
#include "model/sync.h"

struct waits {
	struct gt_path *path;
	const struct gt_trace *trace;
	struct gt_stream_order order;
	size_t *given;   /* by stream: steps that were given before the wait at hand */
	size_t *awaited; /* by stream: steps of them that an earlier wait was for */
};

static bool is_call(const struct gt_trace *trace, gt_id api_call)
{
	return api_call < trace->api_calls.count;
}

/* Whoever waits for the work of a graph waits for all of it. */
static gt_id awaited_item(const struct waits *waits, struct gt_step step)
{
	const gt_id item = gt_path_item(waits->path, step);
	const gt_id last = gt_path_last_of_launch(waits->path, gt_path_call_of(waits->path, item));

	return last == GT_NONE ? item : last;
}

/* The point at which the host went on after a wait; GT_POINT_NONE: its call is not there. */
static gt_point return_of(const struct waits *waits, gt_id row)
{
	const gt_id call =
		row < waits->trace->syncs.count ? waits->trace->syncs.rows[row].api_call : GT_NONE;

	if (!is_call(waits->trace, call))
		return GT_POINT_NONE;
	return 2 * (waits->path->outer && waits->path->outer[call] != GT_NONE
	                    ? waits->path->outer[call]
	                    : call) +
	       1;
}

/* Filters take rows away. */
static bool is_there(const struct waits *waits, struct gt_step step)
{
	return step.table < GT_TABLE_COUNT &&
	       step.row < gt_trace_table(waits->trace, step.table).row_count &&
	       gt_path_item(waits->path, step) != GT_NONE;
}

static void add_linked(struct waits *waits, const struct gt_edge *edge)
{
	const struct gt_step from = {edge->from_table, edge->from_row};
	gt_point to;

	if (!is_there(waits, from))
		return;
	if (edge->to_table == GT_TABLE_syncs) {
		to = return_of(waits, edge->to_row);
		if (to != GT_POINT_NONE)
			gt_path_add_edge(waits->path, awaited_item(waits, from), to, GT_PATH_WAIT,
			                 false);
		return;
	}
	if (!is_there(waits, (struct gt_step){edge->to_table, edge->to_row}))
		return;
	to = 2 * gt_path_item(waits->path, (struct gt_step){edge->to_table, edge->to_row});
	gt_path_add_edge(waits->path, awaited_item(waits, from), to, GT_PATH_EVENT, false);
}

/*
 * A wait for a whole context is one for the last work of each of its streams: of those that were
 * given something since the last such wait. A free may wait likewise, which is assumed where it
 * returned after work that had not ended when it was entered.
 */
static void add_for_context(struct waits *waits, gt_id row)
{
	const struct gt_sync *sync = &waits->trace->syncs.rows[row];
	const bool assumed = sync->kind == GT_SYNC_BLOCKING_FREE;
	const gt_point to = return_of(waits, row);

	for (gt_id i = 0; i < waits->trace->streams.count && to != GT_POINT_NONE; i++) {
		const size_t count = gt_stream_order_count(&waits->order, i);
		gt_id item;

		if (waits->trace->streams.rows[i].context != sync->context)
			continue;
		while (waits->given[i] < count &&
		       gt_stream_order_given(&waits->order, i, waits->given[i]) < sync->start_ns)
			waits->given[i]++;
		if (waits->given[i] == waits->awaited[i])
			continue;
		item = awaited_item(waits,
		                    gt_stream_order_at(&waits->order, i, waits->given[i] - 1));
		if (assumed && (gt_path_time(waits->path, 2 * item + 1) <= sync->start_ns ||
		                gt_path_time(waits->path, 2 * item + 1) > sync->end_ns))
			continue;
		gt_path_add_edge(waits->path, item, to, GT_PATH_WAIT, assumed);
		waits->awaited[i] = waits->given[i];
	}
}

/* A copy that was over when the call that asked for it returned may have been waited for in it. */
static void add_own_copies(struct waits *waits)
{
	for (gt_id i = 0; i < waits->trace->copies.count; i++) {
		const struct gt_copy *copy = &waits->trace->copies.rows[i];
		gt_id call = copy->api_call;

		if (!is_call(waits->trace, call) ||
		    waits->trace->api_calls.rows[call].kind != GT_API_COPY)
			continue;
		if (waits->path->outer && waits->path->outer[call] != GT_NONE)
			call = waits->path->outer[call];
		if (copy->end_ns <= gt_path_time(waits->path, 2 * call + 1) &&
		    gt_copy_host_memory(copy) == GT_MEMORY_PAGEABLE)
			gt_path_add_edge(waits->path,
			                 gt_path_item(waits->path,
			                              (struct gt_step){GT_TABLE_copies, i}),
			                 2 * call + 1, GT_PATH_WAIT, true);
	}
}

static void waits_init(struct waits *waits, struct gt_path *path)
{
	const size_t streams = path->trace->streams.count + 1;

	*waits = (struct waits){
		.path = path,
		.trace = path->trace,
		.given = gt_allocate(streams * sizeof(*waits->given)),
		.awaited = gt_allocate(streams * sizeof(*waits->awaited)),
	};
	memset(waits->given, 0, streams * sizeof(*waits->given));
	memset(waits->awaited, 0, streams * sizeof(*waits->awaited));
	gt_stream_order_init_whole(&waits->order, path->trace);
}

static void waits_release(struct waits *waits)
{
	gt_stream_order_release(&waits->order);
	gt_array_free(waits->given);
	gt_array_free(waits->awaited);
}

void gt_path_add_waits(struct gt_path *path)
{
	struct waits waits;

	waits_init(&waits, path);
	gt_array_each(const struct gt_edge, edge, &path->trace->edges)
		add_linked(&waits, edge);
	for (gt_id row = 0; row < path->trace->syncs.count; row++) {
		const struct gt_sync *sync = &path->trace->syncs.rows[row];

		if (sync->kind == GT_SYNC_CONTEXT_SYNCHRONIZE ||
		    (sync->kind == GT_SYNC_BLOCKING_FREE && path->assumes))
			add_for_context(&waits, row);
	}
	if (path->assumes)
		add_own_copies(&waits);
	waits_release(&waits);
}

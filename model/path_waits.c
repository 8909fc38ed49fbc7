/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "base/minima.h"
#include "model/names.h"
#include "model/path_edges.h"
#include "model/sync.h"

struct waits {
	struct gt_path *path;
	const struct gt_trace *trace;
	struct gt_stream_order order;
	/* By stream: */
	size_t *given;          /* steps that were given before the wait at hand */
	struct gt_minima nexts; /* when the step after these was given; INT64_MAX: there is none */
	bool *is_new;           /* it is in the list of its context */
	gt_id *next_new;        /* in that list */
	/* By context: */
	gt_id *first_new; /* a stream that was given something since a wait for it; GT_NONE */
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

/* Between two processes; one that is not known is no other one. */
static bool is_shared(const struct waits *waits, gt_id from, gt_id to)
{
	const gt_id one = gt_path_process(waits->path, from);
	const gt_id other = gt_path_process(waits->path, to);

	return one != other && one != GT_NONE && other != GT_NONE;
}

static void add_linked(struct waits *waits, const struct gt_edge *edge)
{
	const struct gt_step from = {edge->from_table, edge->from_row};
	const struct gt_step to = {edge->to_table, edge->to_row};
	const size_t known = waits->path->extras.count;
	enum gt_path_edge_kind kind = GT_PATH_WAIT;
	bool shared;
	gt_point point;
	gt_id item;

	if (!is_there(waits, from))
		return;
	item = awaited_item(waits, from);
	if (to.table == GT_TABLE_syncs)
		point = return_of(waits, to.row);
	else
		point = is_there(waits, to) ? 2 * gt_path_item(waits->path, to) : GT_POINT_NONE;
	if (point == GT_POINT_NONE)
		return;
	shared = is_shared(waits, item, point / 2);
	if (to.table != GT_TABLE_syncs)
		kind = shared ? GT_PATH_SHARED : GT_PATH_EVENT;
	gt_path_add_edge(waits->path, item, point, kind, false);
	if (shared)
		waits->path->shared += waits->path->extras.count - known;
}

static void find_next(struct waits *waits, gt_id stream)
{
	const size_t step = waits->given[stream];
	const bool has_one = step < gt_stream_order_count(&waits->order, stream);

	gt_minima_set(&waits->nexts, stream,
	              has_one ? gt_stream_order_given(&waits->order, stream, step) : INT64_MAX);
}

/* Waits come in the order of time. */
static void see_given(struct waits *waits, gt_time until_ns)
{
	size_t stream;

	while ((stream = gt_minima_find(&waits->nexts, until_ns - 1)) < waits->nexts.count) {
		const gt_id context = waits->trace->streams.rows[stream].context;

		waits->given[stream]++;
		find_next(waits, (gt_id)stream);
		if (waits->is_new[stream] || context >= waits->trace->contexts.count)
			continue;
		waits->is_new[stream] = true;
		waits->next_new[stream] = waits->first_new[context];
		waits->first_new[context] = (gt_id)stream;
	}
}

/* The last that a stream was given. */
static void add_for_stream(struct waits *waits, gt_id stream, gt_point to,
                           const struct gt_sync *sync, bool assumed)
{
	const gt_id item = awaited_item(waits, gt_stream_order_at(&waits->order, stream,
	                                                          waits->given[stream] - 1));
	const gt_time end_ns = gt_path_time(waits->path, 2 * item + 1);

	if (!assumed || (end_ns > sync->start_ns && end_ns <= sync->end_ns))
		gt_path_add_edge(waits->path, item, to, GT_PATH_WAIT, assumed);
}

/*
 * A wait for a whole context is one for the last work of each of its streams: of those that were
 * given something since the last such wait. A free may wait likewise, which is assumed where it
 * returned after work that had not ended when it was entered.
 */
static void add_for_context(struct waits *waits, gt_id row)
{
	const struct gt_sync *sync = &waits->trace->syncs.rows[row];
	const gt_point to = return_of(waits, row);
	gt_id stream;

	if (to == GT_POINT_NONE || sync->context >= waits->trace->contexts.count)
		return;
	see_given(waits, sync->start_ns);
	stream = waits->first_new[sync->context];
	waits->first_new[sync->context] = GT_NONE;
	for (; stream != GT_NONE; stream = waits->next_new[stream]) {
		waits->is_new[stream] = false;
		add_for_stream(waits, stream, to, sync, sync->kind == GT_SYNC_BLOCKING_FREE);
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
	const size_t streams = path->trace->streams.count;
	const size_t contexts = path->trace->contexts.count;

	*waits = (struct waits){
		.path = path,
		.trace = path->trace,
		.given = gt_allocate((streams + 1) * sizeof(*waits->given)),
		.is_new = gt_allocate((streams + 1) * sizeof(*waits->is_new)),
		.next_new = gt_allocate((streams + 1) * sizeof(*waits->next_new)),
		.first_new = gt_allocate((contexts + 1) * sizeof(*waits->first_new)),
	};
	memset(waits->given, 0, (streams + 1) * sizeof(*waits->given));
	memset(waits->is_new, 0, (streams + 1) * sizeof(*waits->is_new));
	memset(waits->first_new, 0xff, (contexts + 1) * sizeof(*waits->first_new));
	gt_stream_order_init_whole(&waits->order, path->trace);
	for (gt_id i = 0; i < streams; i++)
		find_next(waits, i);
}

static void waits_release(struct waits *waits)
{
	gt_stream_order_release(&waits->order);
	gt_minima_release(&waits->nexts);
	gt_array_free(waits->given);
	gt_array_free(waits->is_new);
	gt_array_free(waits->next_new);
	gt_array_free(waits->first_new);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "base/minima.h"
#include "model/index.h"
#include "model/names.h"
#include "model/path/edges.h"
#include "model/work/sync.h"

/* Who waits for whole contexts, and in calls of what kind. */
enum { THREADS = 64 }; /* that are told apart: more of them share a waiter */

struct waiter {
	gt_id context;
	gt_id thread; /* modulo THREADS */
	gt_count kind;
};

/*
 * Streams that a waiter waits for next: those given something since one of its waits found all of
 * it done. Each waiter has its own list: what one of them waited for another one waits for, too.
 */
struct waiter_list {
	gt_id first;  /* stream; GT_NONE: none */
	gt_id *next;  /* by stream */
	bool *is_new; /* by stream: it is in the list */
	gt_id other;  /* waiter of the same context; GT_NONE: none */
};

struct waits {
	struct gt_path *path;
	const struct gt_trace *trace;
	struct gt_stream_order order;
	size_t *given;          /* by stream: steps that were given before the wait at hand */
	struct gt_minima nexts; /* when the step after these was given; INT64_MAX: there is none */
	struct gt_index *waiters;
	gt_array(struct waiter_list) lists; /* by waiter */
	gt_id *first_waiter;                /* by context; GT_NONE: none */
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

/* The step that a stream waited for, and the next step it was given; false: one is missing. */
static bool find_pair(const struct waits *waits, const struct gt_sync *sync,
                      const struct gt_sync *record, struct gt_step *from, struct gt_step *to)
{
	size_t next;

	if (sync->stream >= waits->trace->streams.count || sync->stream == record->stream ||
	    !gt_stream_order_before(&waits->order, record->stream, record->start_ns, from))
		return false;
	next = gt_stream_order_from(&waits->order, sync->stream, sync->start_ns);
	if (next == gt_stream_order_count(&waits->order, sync->stream))
		return false;
	*to = gt_stream_order_at(&waits->order, sync->stream, next);
	return true;
}

/* The step that a wait is for, in the order of streams; false: it is for no step of a stream. */
static bool find_awaited(const struct waits *waits, const struct gt_sync *sync,
                         struct gt_step *from, struct gt_step *to)
{
	const bool recorded = sync->record < waits->trace->syncs.count;
	const struct gt_sync *record = recorded ? &waits->trace->syncs.rows[sync->record] : NULL;

	switch (sync->kind) {
	case GT_SYNC_STREAM_SYNCHRONIZE:
		return gt_stream_order_before(&waits->order, sync->stream, sync->start_ns, from);
	case GT_SYNC_EVENT_SYNCHRONIZE:
		return record && gt_stream_order_before(&waits->order, record->stream,
		                                        record->start_ns, from);
	case GT_SYNC_STREAM_WAIT_EVENT:
	case GT_SYNC_WAIT_VALUE:
		return record && find_pair(waits, sync, record, from, to);
	default:
		return false;
	}
}

/* The table of edges has none of graphs that were recorded as a whole. */
static void add_whole_graphs(struct waits *waits, gt_id row)
{
	const struct gt_sync *sync = &waits->trace->syncs.rows[row];
	struct gt_step from;
	struct gt_step to = {GT_TABLE_syncs, row};

	if (sync->result != 0 || !find_awaited(waits, sync, &from, &to) ||
	    (from.table != GT_TABLE_graph_traces && to.table != GT_TABLE_graph_traces))
		return;
	add_linked(waits, &(struct gt_edge){
				  .from_table = (gt_count)from.table,
				  .from_row = from.row,
				  .to_table = (gt_count)to.table,
				  .to_row = to.row,
			  });
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
		gt_id waiter = context < waits->trace->contexts.count ? waits->first_waiter[context]
		                                                      : GT_NONE;

		waits->given[stream]++;
		find_next(waits, (gt_id)stream);
		while (waiter != GT_NONE) {
			struct waiter_list *list = &waits->lists.rows[waiter];

			waiter = list->other;
			if (list->is_new[stream])
				continue;
			list->is_new[stream] = true;
			list->next[stream] = list->first;
			list->first = (gt_id)stream;
		}
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

/* Whether all that a stream was given before a wait had ended when that was entered. */
static bool was_done(const struct waits *waits, gt_id stream, const struct gt_sync *sync)
{
	const gt_id item = awaited_item(waits, gt_stream_order_at(&waits->order, stream,
	                                                          waits->given[stream] - 1));

	return gt_path_has(waits->path, item) &&
	       gt_path_time(waits->path, 2 * item + 1) <= sync->start_ns;
}

static struct waiter waiter_of(const struct gt_sync *sync)
{
	return (struct waiter){
		.context = sync->context, .thread = sync->thread % THREADS, .kind = sync->kind};
}

static bool is_for_context(const struct waits *waits, const struct gt_sync *sync)
{
	return sync->context < waits->trace->contexts.count &&
	       (sync->kind == GT_SYNC_CONTEXT_SYNCHRONIZE ||
	        (sync->kind == GT_SYNC_BLOCKING_FREE && waits->path->assumes));
}

/*
 * A wait for a whole context is one for the last work of each of its streams. A free may wait
 * likewise, which is assumed where it returned after work that had not ended when it was entered.
 */
static void add_for_context(struct waits *waits, gt_id row)
{
	const struct gt_sync *sync = &waits->trace->syncs.rows[row];
	const struct waiter waiter = waiter_of(sync);
	const gt_point to = return_of(waits, row);
	struct waiter_list *list = &waits->lists.rows[gt_index_add(waits->waiters, &waiter)];
	gt_id *link = &list->first;

	if (to == GT_POINT_NONE)
		return;
	see_given(waits, sync->start_ns);
	while (*link != GT_NONE) {
		const gt_id stream = *link;

		add_for_stream(waits, stream, to, sync, sync->kind == GT_SYNC_BLOCKING_FREE);
		if (!was_done(waits, stream, sync)) {
			link = &list->next[stream];
			continue;
		}
		*link = list->next[stream];
		list->is_new[stream] = false;
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

static void add_waiter(struct waits *waits, const struct gt_sync *sync)
{
	const size_t streams = waits->trace->streams.count;
	const struct waiter waiter = waiter_of(sync);
	const size_t number = gt_index_add(waits->waiters, &waiter);
	struct waiter_list *list;

	if (number < waits->lists.count)
		return;
	list = gt_array_push(&waits->lists);
	*list = (struct waiter_list){
		.first = GT_NONE,
		.next = gt_allocate((streams + 1) * sizeof(*list->next)),
		.is_new = gt_allocate((streams + 1) * sizeof(*list->is_new)),
		.other = waits->first_waiter[sync->context],
	};
	memset(list->is_new, 0, (streams + 1) * sizeof(*list->is_new));
	waits->first_waiter[sync->context] = (gt_id)number;
}

static void waits_init(struct waits *waits, struct gt_path *path)
{
	const size_t streams = path->trace->streams.count;
	const size_t contexts = path->trace->contexts.count;

	*waits = (struct waits){
		.path = path,
		.trace = path->trace,
		.given = gt_allocate((streams + 1) * sizeof(*waits->given)),
		.waiters = gt_index_new(sizeof(struct waiter)),
		.first_waiter = gt_allocate((contexts + 1) * sizeof(*waits->first_waiter)),
	};
	memset(waits->given, 0, (streams + 1) * sizeof(*waits->given));
	memset(waits->first_waiter, 0xff, (contexts + 1) * sizeof(*waits->first_waiter));
	gt_stream_order_init_whole(&waits->order, path->trace);
	for (gt_id i = 0; i < streams; i++)
		find_next(waits, i);
	gt_array_each(const struct gt_sync, sync, &path->trace->syncs)
		if (is_for_context(waits, sync))
			add_waiter(waits, sync);
}

static void waits_release(struct waits *waits)
{
	gt_stream_order_release(&waits->order);
	gt_minima_release(&waits->nexts);
	gt_array_each(const struct waiter_list, list, &waits->lists) {
		gt_array_free(list->next);
		gt_array_free(list->is_new);
	}
	gt_array_release(&waits->lists);
	gt_index_free(waits->waiters);
	gt_array_free(waits->given);
	gt_array_free(waits->first_waiter);
}

void gt_path_add_waits(struct gt_path *path)
{
	struct waits waits;

	waits_init(&waits, path);
	gt_array_each(const struct gt_edge, edge, &path->trace->edges)
		add_linked(&waits, edge);
	for (gt_id row = 0; row < path->trace->syncs.count; row++) {
		if (is_for_context(&waits, &path->trace->syncs.rows[row]))
			add_for_context(&waits, row);
		else if (path->trace->graph_traces.count > 0)
			add_whole_graphs(&waits, row);
	}
	if (path->assumes)
		add_own_copies(&waits);
	waits_release(&waits);
}

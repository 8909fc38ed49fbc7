/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "model/path/edges.h"
#include "model/work/timed.h"

static const size_t tables[GT_PATH_TABLES] = {GT_TABLE_api_calls, GT_TABLE_kernels, GT_TABLE_copies,
                                              GT_TABLE_fills, GT_TABLE_graph_traces};

enum { CALLS }; /* number of the table of calls among them */

/* ---- items ---- */

size_t gt_path_points(const struct gt_path *path)
{
	return 2 * path->first[GT_PATH_TABLES];
}

static size_t table_of(const struct gt_path *path, gt_id item)
{
	size_t table = 0;

	while (table + 1 < GT_PATH_TABLES && item >= path->first[table + 1])
		table++;
	return table;
}

gt_id gt_path_item(const struct gt_path *path, struct gt_step step)
{
	for (size_t i = 0; i < GT_PATH_TABLES; i++)
		if (tables[i] == step.table)
			return (gt_id)(path->first[i] + step.row);
	return GT_NONE;
}

struct gt_step gt_path_step(const struct gt_path *path, gt_id item)
{
	const size_t table = table_of(path, item);

	return (struct gt_step){tables[table], (gt_id)(item - path->first[table])};
}

/* Common fields of the tables. */
struct item {
	gt_time start_ns;
	gt_time end_ns;
	gt_count flags;
	gt_id api_call;
	gt_id stream;
};

#define WORK_ITEM(row)                                                                             \
	((struct item){(row)->start_ns, (row)->end_ns, (row)->flags, (row)->api_call,              \
	               (row)->stream})

static struct item item_at(const struct gt_path *path, gt_id item)
{
	const struct gt_trace *trace = path->trace;
	const struct gt_step step = gt_path_step(path, item);

	switch (step.table) {
	case GT_TABLE_kernels:
		return WORK_ITEM(&trace->kernels.rows[step.row]);
	case GT_TABLE_copies:
		return WORK_ITEM(&trace->copies.rows[step.row]);
	case GT_TABLE_fills:
		return WORK_ITEM(&trace->fills.rows[step.row]);
	case GT_TABLE_graph_traces:
		return WORK_ITEM(&trace->graph_traces.rows[step.row]);
	default:
		return (struct item){trace->api_calls.rows[step.row].start_ns,
		                     trace->api_calls.rows[step.row].end_ns,
		                     trace->api_calls.rows[step.row].flags, step.row, GT_NONE};
	}
}

gt_id gt_path_call_of(const struct gt_path *path, gt_id item)
{
	const struct gt_trace *trace = path->trace;
	const struct gt_step step = gt_path_step(path, item);

	switch (step.table) {
	case GT_TABLE_kernels:
		return trace->kernels.rows[step.row].api_call;
	case GT_TABLE_copies:
		return trace->copies.rows[step.row].api_call;
	case GT_TABLE_fills:
		return trace->fills.rows[step.row].api_call;
	case GT_TABLE_graph_traces:
		return trace->graph_traces.rows[step.row].api_call;
	default:
		return item;
	}
}

gt_id gt_path_last_of_launch(const struct gt_path *path, gt_id api_call)
{
	return path->last_of_launch && api_call < path->trace->api_calls.count
	               ? path->last_of_launch[api_call]
	               : GT_NONE;
}

bool gt_path_is_call(const struct gt_path *path, gt_id item)
{
	return item < path->first[CALLS + 1];
}

bool gt_path_has(const struct gt_path *path, gt_id item)
{
	const struct item found = item_at(path, item);

	if (found.start_ns <= 0)
		return false;
	if (gt_path_is_call(path, item))
		return (!path->outer || path->outer[item] == GT_NONE) &&
		       (found.flags & GT_UNFINISHED || found.end_ns >= found.start_ns);
	return gt_timed(GT_TIMES_ANY, found.flags, found.start_ns, found.end_ns);
}

bool gt_path_is_held_up(const struct gt_path *path, gt_id item)
{
	return item_at(path, item).flags & GT_PROFILED;
}

gt_id gt_path_process(const struct gt_path *path, gt_id item)
{
	const struct gt_trace *trace = path->trace;
	const struct item found = item_at(path, item);
	const gt_id thread = found.api_call < trace->api_calls.count
	                             ? trace->api_calls.rows[found.api_call].thread
	                             : GT_NONE;

	if (thread < trace->threads.count)
		return trace->threads.rows[thread].process;
	return gt_trace_stream_process(trace, found.stream);
}

/* ---- edges ---- */

static int by_to(const void *row, const void *wanted)
{
	const gt_point *to = wanted;
	const struct gt_path_extra *extra = row;

	return (extra->to > *to) - (extra->to < *to);
}

static bool has_extras(const struct gt_path *path, gt_point point)
{
	return path->has_extras && path->has_extras[point / 64] >> (point % 64) & 1;
}

struct gt_path_edges gt_path_edges_to(const struct gt_path *path, gt_point to)
{
	struct gt_path_edges edges = {
		.path = path, .to = to, .to_ns = gt_path_time(path, to), .extra = SIZE_MAX};

	if (has_extras(path, to))
		edges.extra = gt_count_before(&path->extras, &to, by_to);
	return edges;
}

/* The call that asked for work: the outermost. */
static gt_id asked_by(const struct gt_path *path, gt_id item)
{
	gt_id call = gt_path_call_of(path, item);

	if (call >= path->trace->api_calls.count)
		return GT_NONE;
	if (path->outer && path->outer[call] != GT_NONE)
		call = path->outer[call];
	return path->trace->api_calls.rows[call].start_ns > 0 ? call : GT_NONE;
}

/* The edge that goes without saying; GT_POINT_NONE: there is no such. */
static struct gt_path_edge plain_edge(const struct gt_path *path, gt_point to, unsigned step)
{
	const gt_id item = to / 2;
	const gt_id earlier = path->earlier[item];
	struct gt_path_edge edge = {.from = GT_POINT_NONE};

	if (to % 2) {
		edge.from = step == 0 ? 2 * item : GT_POINT_NONE;
		edge.kind = gt_path_is_call(path, item) ? GT_PATH_CALL : GT_PATH_WORK;
	} else if (step == 0) {
		edge.from = earlier == GT_NONE ? GT_POINT_NONE : 2 * earlier + 1;
		edge.kind = gt_path_is_call(path, item) ? GT_PATH_PROGRAM : GT_PATH_STREAM;
	} else if (!gt_path_is_call(path, item)) {
		const gt_id call = asked_by(path, item);

		edge.from = call == GT_NONE ? GT_POINT_NONE : 2 * call;
		edge.kind = GT_PATH_LAUNCH;
	}
	return edge;
}

/* Calls and work, and two processes, are timed by two clocks, which are allowed to be apart. */
static bool is_in_time(const struct gt_path *path, const struct gt_path_edge *edge, gt_time to_ns)
{
	const bool is_mixed = edge->kind == GT_PATH_LAUNCH || edge->kind == GT_PATH_WAIT ||
	                      edge->kind == GT_PATH_SHARED;

	return edge->from_ns <= to_ns + (is_mixed ? path->bound_ns : 0);
}

bool gt_path_next_edge(struct gt_path_edges *edges, struct gt_path_edge *edge)
{
	const struct gt_path *path = edges->path;

	while (edges->step < 2) {
		*edge = plain_edge(path, edges->to, edges->step++);
		if (edge->from == GT_POINT_NONE)
			continue;
		edge->from_ns = gt_path_time(path, edge->from);
		if (is_in_time(path, edge, edges->to_ns))
			return true;
	}
	while (edges->extra < path->extras.count &&
	       path->extras.rows[edges->extra].to == edges->to) {
		const struct gt_path_extra *extra = &path->extras.rows[edges->extra++];

		*edge = (struct gt_path_edge){extra->from, gt_path_time(path, extra->from),
		                              extra->kind, extra->assumed};
		return true;
	}
	return false;
}

/*
 * The last of all that a point waited for, each with what usually comes after it. A call that waits
 * was held by work that ended in it, however shortly before it returned.
 */
bool gt_path_held_by(const struct gt_path *path, gt_point point, struct gt_path_edge *edge)
{
	struct gt_path_edges edges = gt_path_edges_to(path, point);
	struct gt_path_edge next;
	gt_time latest_ns = INT64_MIN;

	while (gt_path_next_edge(&edges, &next)) {
		const gt_time at_ns = next.from_ns +
		                      (next.kind == GT_PATH_WAIT ? 0 : path->typical_ns[next.kind]);

		if (at_ns <= latest_ns)
			continue;
		latest_ns = at_ns;
		*edge = next;
	}
	return latest_ns != INT64_MIN;
}

void gt_path_add_edge(struct gt_path *path, gt_id from, gt_point to, enum gt_path_edge_kind kind,
                      bool assumed)
{
	struct gt_path_edge edge = {.from = 2 * from + 1, .kind = kind, .assumed = assumed};

	if (from == GT_NONE || from == to / 2 || !gt_path_has(path, from) ||
	    !gt_path_has(path, to / 2))
		return;
	edge.from_ns = gt_path_time(path, edge.from);
	if (!is_in_time(path, &edge, gt_path_time(path, to))) {
		path->against_time++;
		return;
	}
	*gt_array_push(&path->extras) =
		(struct gt_path_extra){to, edge.from, (uint16_t)kind, assumed};
}

static int in_order(const void *a, const void *b)
{
	const struct gt_path_extra *left = a;
	const struct gt_path_extra *right = b;

	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return left->assumed - right->assumed; /* what is recorded comes first */
}

void gt_path_sort_extras(struct gt_path *path)
{
	const size_t words = gt_path_points(path) / 64 + 1;

	if (path->extras.count > 1)
		qsort(path->extras.rows, path->extras.count, sizeof(*path->extras.rows), in_order);
	if (!path->has_extras)
		path->has_extras = gt_allocate_zeroed(words, sizeof(*path->has_extras));
	gt_array_each(const struct gt_path_extra, extra, &path->extras)
		path->has_extras[extra->to / 64] |= (uint64_t)1 << (extra->to % 64);
}

/* ---- threads ---- */

/* Calls of a thread follow each other; what is inside of another one is a part of it. */
static void add_calls(struct gt_path *path)
{
	const struct gt_trace *trace = path->trace;
	gt_id *latest = gt_allocate((trace->threads.count + 1) * sizeof(*latest));
	bool nested = false;

	memset(latest, 0xff, (trace->threads.count + 1) * sizeof(*latest));
	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		nested = nested || call->flags & GT_NESTED;
	if (nested)
		path->outer = gt_allocate(trace->api_calls.count * sizeof(*path->outer));
	for (gt_id i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];
		const gt_id thread = call->thread < trace->threads.count ? call->thread : GT_NONE;
		const gt_id before = thread == GT_NONE ? GT_NONE : latest[thread];
		const bool is_inside = call->flags & GT_NESTED && before != GT_NONE &&
		                       gt_path_time(path, 2 * before + 1) >= call->start_ns;

		if (nested)
			path->outer[i] = is_inside ? before : GT_NONE;
		if (is_inside)
			continue;
		path->earlier[i] = before;
		if (thread != GT_NONE && gt_path_has(path, i))
			latest[thread] = i;
	}
	gt_array_free(latest);
}

/* ---- launches of graphs ---- */

static void find_last_of_launches(struct gt_path *path)
{
	const struct gt_trace *trace = path->trace;
	const size_t count = trace->api_calls.count;
	bool *launches;

	if (trace->graph_launches.count == 0 || count == 0)
		return;
	path->last_of_launch = gt_allocate(count * sizeof(*path->last_of_launch));
	memset(path->last_of_launch, 0xff, count * sizeof(*path->last_of_launch));
	launches = gt_allocate_zeroed(count, sizeof(*launches));
	gt_array_each(const struct gt_graph_launch, launch, &trace->graph_launches)
		if (launch->api_call < count)
			launches[launch->api_call] = true;
	for (gt_id item = (gt_id)path->first[CALLS + 1]; item < path->first[GT_PATH_TABLES];
	     item++) {
		const gt_id call = gt_path_call_of(path, item);
		gt_id *last = call < count && launches[call] && gt_path_has(path, item)
		                      ? &path->last_of_launch[call]
		                      : NULL;

		if (last && (*last == GT_NONE ||
		             gt_path_time(path, 2 * item + 1) > gt_path_time(path, 2 * *last + 1)))
			*last = item;
	}
	gt_array_free(launches);
}

void gt_path_init(struct gt_path *path, const struct gt_trace *trace, bool assume)
{
	size_t count = 0;

	*path = (struct gt_path){.trace = trace,
	                         .assumes = assume,
	                         .bound_ns = (gt_time)gt_trace_clock_bound(trace)};
	for (size_t i = 0; i < GT_PATH_TABLES; i++) {
		const struct gt_table table = gt_trace_table(trace, tables[i]);

		path->first[i] = count;
		path->rows[i] = table.rows;
		path->row_sizes[i] = table.row_size;
		count += table.row_count;
	}
	path->first[GT_PATH_TABLES] = count;
	path->earlier = gt_allocate((count + 1) * sizeof(*path->earlier));
	memset(path->earlier, 0xff, (count + 1) * sizeof(*path->earlier));
	add_calls(path);
	find_last_of_launches(path);
	gt_path_add_streams(path);
	gt_path_add_waits(path);
	if (assume)
		gt_path_add_threads(path);
	gt_path_sort_extras(path);
	gt_path_find_typical(path);
	if (!assume)
		return;
	gt_path_add_room(path);
	gt_path_add_unlinked(path);
	gt_path_sort_extras(path);
}

void gt_path_release(struct gt_path *path)
{
	gt_array_free(path->earlier);
	gt_array_free(path->outer);
	gt_array_free(path->last_of_launch);
	gt_array_free(path->has_extras);
	gt_array_release(&path->extras);
	*path = (struct gt_path){0};
}

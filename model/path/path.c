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

const char *gt_path_kind_name(enum gt_path_kind kind)
{
	static const char *const names[GT_PATH_KINDS] = {
		[GT_PATH_OF_KERNEL] = "kernels",
		[GT_PATH_OF_GRAPH] = "graphs as a whole",
		[GT_PATH_OF_COPY] = "copies and fills",
		[GT_PATH_OF_LAUNCH] = "launch latency",
		[GT_PATH_OF_ORDER] = "between work on the GPU",
		[GT_PATH_OF_CALL] = "API calls",
		[GT_PATH_OF_HOST] = "program's own time",
		[GT_PATH_OF_RETURN] = "return from a wait",
		[GT_PATH_OF_WAIT] = "waits for what is not known",
		[GT_PATH_OF_DELAY] = "delay of work, not explained",
		[GT_PATH_OF_HELD] = "not measured",
	};

	return names[kind];
}

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

static bool is_call(const struct gt_path *path, gt_id item)
{
	return item < path->first[CALLS + 1];
}

bool gt_path_has(const struct gt_path *path, gt_id item)
{
	const struct item found = item_at(path, item);

	if (found.start_ns <= 0)
		return false;
	if (is_call(path, item))
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
		edge.kind = is_call(path, item) ? GT_PATH_CALL : GT_PATH_WORK;
	} else if (step == 0) {
		edge.from = earlier == GT_NONE ? GT_POINT_NONE : 2 * earlier + 1;
		edge.kind = is_call(path, item) ? GT_PATH_PROGRAM : GT_PATH_STREAM;
	} else if (!is_call(path, item)) {
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

/* ---- what edges usually take ---- */

enum { SAMPLES = 4096 }; /* of each kind that the median is taken of */

static int by_value(const void *a, const void *b)
{
	const gt_time left = *(const gt_time *)a;
	const gt_time right = *(const gt_time *)b;

	return (left > right) - (left < right);
}

/* The edge to the begin of work that came last by far, and how long after it the work began. */
static bool is_clear(const struct gt_path *path, gt_point to, struct gt_path_edge *last,
                     gt_time *lag_ns)
{
	enum { CLEAR_NS = 20000 }; /* longer than launches and orders take */
	struct gt_path_edges edges = gt_path_edges_to(path, to);
	struct gt_path_edge edge;
	gt_time latest_ns = INT64_MIN;
	gt_time second_ns = INT64_MIN;

	while (gt_path_next_edge(&edges, &edge)) {
		const gt_time at_ns = edge.from_ns;

		if (at_ns > latest_ns) {
			second_ns = latest_ns;
			latest_ns = at_ns;
			*last = edge;
		} else if (at_ns > second_ns) {
			second_ns = at_ns;
		}
	}
	if (latest_ns == INT64_MIN)
		return false;
	*lag_ns = gt_path_time(path, to) - latest_ns;
	return *lag_ns >= 0 && (second_ns == INT64_MIN || latest_ns - second_ns > CLEAR_NS);
}

/* A longer lag than this is not usual, however often it occurs. */
static gt_time most_of(enum gt_path_edge_kind kind)
{
	enum { LAUNCH_MOST_NS = 20000, OTHER_MOST_NS = 10000 };

	return kind == GT_PATH_LAUNCH ? LAUNCH_MOST_NS : OTHER_MOST_NS;
}

/* Medians of those that are clear, from all over the trace. */
static void find_typical(struct gt_path *path)
{
	const size_t count = gt_path_points(path);
	const size_t stride = count / ((size_t)SAMPLES * 16) + 1;
	struct {
		size_t count;
		gt_time values[SAMPLES];
	} *kinds = gt_allocate(GT_PATH_EDGE_KINDS * sizeof(*kinds));

	for (size_t i = 0; i < GT_PATH_EDGE_KINDS; i++)
		kinds[i].count = 0;
	for (size_t point = 0; point < count; point += stride) {
		struct gt_path_edge last;
		gt_time lag_ns;

		if (!gt_path_has(path, (gt_id)(point / 2)) ||
		    gt_path_is_held_up(path, (gt_id)(point / 2)) ||
		    (point % 2 == 1) != is_call(path, (gt_id)(point / 2)) ||
		    !is_clear(path, (gt_point)point, &last, &lag_ns) || last.kind == GT_PATH_CALL ||
		    kinds[last.kind].count == SAMPLES)
			continue;
		kinds[last.kind].values[kinds[last.kind].count++] = lag_ns;
	}
	for (size_t i = 0; i < GT_PATH_EDGE_KINDS; i++) {
		if (kinds[i].count == 0)
			continue;
		qsort(kinds[i].values, kinds[i].count, sizeof(kinds[i].values[0]), by_value);
		path->typical_ns[i] = kinds[i].values[kinds[i].count / 2];
		if (path->typical_ns[i] > most_of((enum gt_path_edge_kind)i))
			path->typical_ns[i] = most_of((enum gt_path_edge_kind)i);
	}
	gt_array_free(kinds);
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
	find_typical(path);
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

/* ---- the way back ---- */

struct walk {
	const struct gt_path *path;
	struct gt_interval left; /* of the window: what is not told yet */
	gt_path_see *see;
	void *context;
};

/* A call was held up with the latency of the work that it launched. */
static bool is_held_up(const struct gt_path *path, const struct gt_path_member *member)
{
	const gt_id call = gt_path_call_of(path, member->item);
	const bool is_launch =
		member->kind == GT_PATH_OF_LAUNCH || member->kind == GT_PATH_OF_DELAY;

	if (member->kind == GT_PATH_OF_HOST)
		return false;
	return gt_path_is_held_up(path, member->item) ||
	       (is_launch && call < path->trace->api_calls.count && gt_path_is_held_up(path, call));
}

/* From a moment to what was told last. */
static void tell(struct walk *walk, gt_time start_ns, struct gt_path_member member)
{
	if (start_ns < walk->left.start_ns)
		start_ns = walk->left.start_ns;
	if (start_ns >= walk->left.end_ns)
		return;
	member.start_ns = start_ns;
	member.end_ns = walk->left.end_ns;
	walk->left.end_ns = start_ns;
	if (is_held_up(walk->path, &member))
		member.kind = GT_PATH_OF_HELD;
	walk->see(walk->context, &member);
}

static enum gt_path_kind kind_of_work(const struct gt_path *path, gt_id item)
{
	switch (gt_path_step(path, item).table) {
	case GT_TABLE_kernels:
		return GT_PATH_OF_KERNEL;
	case GT_TABLE_graph_traces:
		return GT_PATH_OF_GRAPH;
	default:
		return GT_PATH_OF_COPY;
	}
}

static enum gt_path_kind kind_of_call(const struct gt_path *path, gt_id item)
{
	return path->trace->api_calls.rows[item].kind == GT_API_SYNCHRONIZE ? GT_PATH_OF_WAIT
	                                                                    : GT_PATH_OF_CALL;
}

/* A usual lag goes by its own name; a far longer one is a delay, but for the call's own time. */
static bool is_long(gt_time lag_ns, gt_time typical_ns)
{
	enum { MANY = 4, SOME_NS = 20000 };

	return lag_ns > MANY * typical_ns + SOME_NS;
}

static void tell_launch(struct walk *walk, gt_id item, const struct gt_path_edge *edge)
{
	const struct gt_path *path = walk->path;
	const gt_time typical_ns = path->typical_ns[GT_PATH_LAUNCH];
	const gt_time start_ns = gt_path_time(path, 2 * item);
	const gt_time entered_ns = gt_path_time(path, edge->from);
	const gt_time returned_ns = gt_path_time(path, edge->from + 1);
	gt_time handed_ns = entered_ns; /* when the work went to the GPU */

	if (is_long(start_ns - entered_ns, typical_ns)) {
		handed_ns = (returned_ns < start_ns ? returned_ns : start_ns) - typical_ns;
		if (handed_ns < entered_ns)
			handed_ns = entered_ns;
		if (is_long(start_ns - handed_ns, typical_ns))
			tell(walk, handed_ns + typical_ns,
			     (struct gt_path_member){
				     .kind = GT_PATH_OF_DELAY, .item = item, .freed = GT_NONE});
	}
	tell(walk, handed_ns,
	     (struct gt_path_member){.kind = GT_PATH_OF_LAUNCH, .item = item, .freed = GT_NONE});
	tell(walk, entered_ns,
	     (struct gt_path_member){
		     .kind = GT_PATH_OF_CALL, .item = edge->from / 2, .freed = GT_NONE});
}

static void tell_edge(struct walk *walk, gt_point to, const struct gt_path_edge *edge)
{
	const struct gt_path *path = walk->path;
	const gt_time from_ns = gt_path_time(path, edge->from);
	struct gt_path_member member = {.item = to / 2, .freed = GT_NONE, .assumed = edge->assumed};

	switch (edge->kind) {
	case GT_PATH_LAUNCH:
		tell_launch(walk, to / 2, edge);
		return;
	case GT_PATH_WORK:
		member.kind = kind_of_work(path, to / 2);
		break;
	case GT_PATH_CALL:
		member.kind = kind_of_call(path, to / 2);
		break;
	case GT_PATH_PROGRAM:
	case GT_PATH_THREAD:
		member.kind = GT_PATH_OF_HOST;
		break;
	case GT_PATH_WAIT:
		member.kind = GT_PATH_OF_RETURN;
		member.freed = edge->from / 2;
		break;
	case GT_PATH_STREAM:
	case GT_PATH_EVENT:
	case GT_PATH_SHARED:
	case GT_PATH_NODE:
	case GT_PATH_ROOM:
	case GT_PATH_EDGE_KINDS:
		member.kind =
			is_long(gt_path_time(path, to) - from_ns, path->typical_ns[GT_PATH_STREAM])
				? GT_PATH_OF_DELAY
				: GT_PATH_OF_ORDER;
		member.freed = edge->from / 2;
		break;
	}
	tell(walk, from_ns, member);
}

void gt_path_walk(const struct gt_path *path, gt_point from, bool assumed,
                  struct gt_interval window, gt_path_see *see, void *context)
{
	struct walk walk = {.path = path, .left = window, .see = see, .context = context};
	struct gt_path_edge edge;

	/* After the last call of a thread the program goes on by itself. */
	tell(&walk, gt_path_time(path, from),
	     (struct gt_path_member){.kind = GT_PATH_OF_HOST,
	                             .item = from / 2,
	                             .freed = GT_NONE,
	                             .assumed = assumed,
	                             .is_after = true});
	/* Where clocks are wrong the way may go in circles: it is no longer than all points. */
	for (size_t left = gt_path_points(path); left > 0; left--) {
		if (walk.left.end_ns <= window.start_ns || !gt_path_held_by(path, from, &edge))
			return;
		tell_edge(&walk, from, &edge);
		from = edge.from;
	}
}

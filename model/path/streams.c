/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path/edges.h"

#include <stdlib.h>
#include <string.h>

#include "model/graphs/order.h"

/* Values of CUpti_ActivityStreamFlag. */
enum {
	STREAM_NOT_KNOWN = 0,
	STREAM_BLOCKING = 1, /* it and the default stream wait for each other */
};

/* State of the streams while edges are made. */
struct streams {
	struct gt_path *path;
	const struct gt_trace *trace;
	struct gt_stream_order order;
	/* For graphs: */
	struct gt_graph_order nodes;
	gt_id *item_of_node; /* by row of graph_nodes: in the launch at hand; GT_NONE */
};

static gt_id item_at(const struct streams *streams, gt_id stream, size_t step)
{
	return gt_path_item(streams->path, gt_stream_order_at(&streams->order, stream, step));
}

static gt_time end_of(const struct streams *streams, gt_id item)
{
	return gt_path_time(streams->path, 2 * item + 1);
}

/* ---- graphs ---- */

static void graphs_init(struct streams *streams)
{
	const size_t count = streams->trace->graph_nodes.count;

	if (streams->trace->graph_launches.count == 0)
		return;
	gt_graph_order_init(&streams->nodes, streams->trace);
	streams->item_of_node = gt_allocate((count + 1) * sizeof(*streams->item_of_node));
	memset(streams->item_of_node, 0xff, (count + 1) * sizeof(*streams->item_of_node));
}

static void streams_init(struct streams *streams, struct gt_path *path)
{
	*streams = (struct streams){.path = path, .trace = path->trace};
	gt_stream_order_init_whole(&streams->order, path->trace);
	graphs_init(streams);
}

static void streams_release(struct streams *streams)
{
	gt_stream_order_release(&streams->order);
	gt_graph_order_release(&streams->nodes);
	gt_array_free(streams->item_of_node);
}

static gt_id node_of(const struct gt_trace *trace, struct gt_step step)
{
	gt_id node = GT_NONE;

	if (step.table == GT_TABLE_kernels)
		node = trace->kernels.rows[step.row].node;
	else if (step.table == GT_TABLE_copies)
		node = trace->copies.rows[step.row].node;
	else if (step.table == GT_TABLE_fills)
		node = trace->fills.rows[step.row].node;
	return node < trace->graph_nodes.count ? node : GT_NONE;
}

/* ---- streams ---- */

/* Steps of a stream that one call asked for: one, or what ran of a graph. */
struct group {
	gt_id stream;
	size_t first;
	size_t end;
	gt_id last;                  /* what of those before it ended last; GT_NONE: nothing */
	gt_array(gt_id) before;      /* what of those before it nothing of their own waits for */
	gt_array(gt_id) ends;        /* the same of this one */
	gt_array(uint8_t) has_later; /* by step: something of this group waits for it */
};

/* The call that launched the graph a step is of; GT_NONE: it is of none. */
static gt_id graph_launch_of(const struct streams *streams, gt_id stream, size_t step)
{
	const gt_id call = gt_path_call_of(streams->path, item_at(streams, stream, step));

	return gt_path_last_of_launch(streams->path, call) == GT_NONE ? GT_NONE : call;
}

/* Whether all of it is of nodes that are known, each of which ran once. */
static bool is_known(struct streams *streams, const struct group *group)
{
	bool known = true;

	for (size_t i = group->first; i < group->end; i++) {
		const gt_id node = node_of(streams->trace,
		                           gt_stream_order_at(&streams->order, group->stream, i));

		known = known && node != GT_NONE && streams->item_of_node[node] == GT_NONE;
		if (known)
			streams->item_of_node[node] = (gt_id)(i - group->first);
	}
	return known;
}

static void forget(struct streams *streams, const struct group *group)
{
	for (size_t i = group->first; i < group->end; i++) {
		const gt_id node = node_of(streams->trace,
		                           gt_stream_order_at(&streams->order, group->stream, i));

		if (node != GT_NONE)
			streams->item_of_node[node] = GT_NONE;
	}
}

/* Whatever begins with a stream waits for all that ends what was before it, or the last of that. */
static void add_root(struct streams *streams, const struct group *group, gt_id item)
{
	enum { MOST = 64 };

	streams->path->earlier[item] = group->last;
	if (group->before.count > MOST)
		return;
	gt_array_each(const gt_id, before, &group->before)
		if (*before != group->last)
			gt_path_add_edge(streams->path, *before, 2 * item, GT_PATH_STREAM, false);
}

static void add_nodes(struct streams *streams, struct group *group)
{
	for (size_t i = group->first; i < group->end; i++) {
		const gt_id item = item_at(streams, group->stream, i);
		const gt_id node = node_of(streams->trace, gt_path_step(streams->path, item));
		bool is_root = true;

		for (size_t e = streams->nodes.first[node]; e < streams->nodes.first[node + 1];
		     e++) {
			const gt_id from =
				streams->item_of_node[streams->nodes.edges.list.rows[e].from];

			if (from == GT_NONE)
				continue;
			is_root = false;
			group->has_later.rows[from] = 1;
			gt_path_add_edge(streams->path,
			                 item_at(streams, group->stream, group->first + from),
			                 2 * item, GT_PATH_NODE, false);
		}
		if (is_root)
			add_root(streams, group, item);
	}
}

/* Work without a known dependency ran, it seems, after the work that had ended when it began. */
static void add_unknown(struct streams *streams, struct group *group)
{
	for (size_t i = group->first; i < group->end; i++) {
		const gt_id item = item_at(streams, group->stream, i);
		gt_id latest = GT_NONE;

		for (size_t before = i; before > group->first; before--) {
			const gt_id other = item_at(streams, group->stream, before - 1);

			if (end_of(streams, other) > gt_path_time(streams->path, 2 * item))
				continue;
			if (latest == GT_NONE || end_of(streams, other) > end_of(streams, latest))
				latest = other;
			if (i - before >= 16)
				break;
		}
		if (latest == GT_NONE) {
			add_root(streams, group, item);
			continue;
		}
		gt_path_add_edge(streams->path, latest, 2 * item, GT_PATH_NODE, true);
	}
	for (size_t i = 0; i + 1 < group->end - group->first; i++)
		group->has_later.rows[i] =
			end_of(streams, item_at(streams, group->stream, group->first + i)) <=
			gt_path_time(streams->path,
		                     2 * item_at(streams, group->stream, group->end - 1));
}

static void note_ends(struct streams *streams, struct group *group)
{
	gt_id last = GT_NONE;

	group->ends.count = 0;
	for (size_t i = group->first; i < group->end; i++) {
		const gt_id item = item_at(streams, group->stream, i);

		if (!gt_path_has(streams->path, item))
			continue;
		if (!group->has_later.rows[i - group->first])
			*gt_array_push(&group->ends) = item;
		if (last == GT_NONE || end_of(streams, item) > end_of(streams, last))
			last = item;
	}
	if (last != GT_NONE)
		group->last = last;
}

static void add_group(struct streams *streams, struct group *group)
{
	const gt_id first = item_at(streams, group->stream, group->first);

	if (group->end - group->first == 1) {
		add_root(streams, group, first);
		group->before.count = 0;
		if (gt_path_has(streams->path, first))
			group->last = first;
		return;
	}
	group->has_later.count = 0;
	for (size_t i = group->first; i < group->end; i++)
		*gt_array_push(&group->has_later) = 0;
	if (is_known(streams, group))
		add_nodes(streams, group);
	else
		add_unknown(streams, group);
	forget(streams, group);
	note_ends(streams, group);
	group->before.count = 0;
	gt_array_each(const gt_id, end, &group->ends)
		*gt_array_push(&group->before) = *end;
}

static void add_stream(struct streams *streams, gt_id stream)
{
	const size_t count = gt_stream_order_count(&streams->order, stream);
	struct group group = {.stream = stream, .last = GT_NONE};

	while (group.first < count) {
		const gt_id call = graph_launch_of(streams, stream, group.first);

		group.end = group.first + 1;
		while (group.end < count && call != GT_NONE &&
		       graph_launch_of(streams, stream, group.end) == call)
			group.end++;
		add_group(streams, &group);
		group.first = group.end;
	}
	gt_array_release(&group.before);
	gt_array_release(&group.ends);
	gt_array_release(&group.has_later);
}

/* ---- the default stream's rules ---- */

/* A step of a stream of one context, in the order in which these were given. */
struct given {
	gt_time given_ns;
	gt_id stream;
	gt_id item;
};

static int by_given(const void *a, const void *b)
{
	const struct given *left = a;
	const struct given *right = b;

	if (left->given_ns != right->given_ns)
		return left->given_ns < right->given_ns ? -1 : 1;
	return (left->item > right->item) - (left->item < right->item);
}

static bool is_default(const struct gt_trace *trace, gt_id stream)
{
	const struct gt_stream *row = &trace->streams.rows[stream];

	return row->context < trace->contexts.count &&
	       trace->contexts.rows[row->context].null_stream == row->number;
}

/* Work on the default stream comes after all that was given to blocking streams, and before the
 * rest. */
static void order_by_default(struct streams *streams, const struct given *list, size_t count,
                             gt_id *last)
{
	gt_array(gt_id) touched = {0}; /* streams with work since the last of the default stream */
	gt_id latest = GT_NONE;

	for (size_t i = 0; i < count; i++) {
		const gt_id stream = list[i].stream;
		const gt_point begin = 2 * list[i].item;

		if (!is_default(streams->trace, stream)) {
			const bool assumed =
				streams->trace->streams.rows[stream].flags == STREAM_NOT_KNOWN;

			if (last[stream] == GT_NONE) {
				*gt_array_push(&touched) = stream;
				gt_path_add_edge(streams->path, latest, begin, GT_PATH_STREAM,
				                 assumed);
			}
			last[stream] = list[i].item;
			continue;
		}
		gt_array_each(const gt_id, other, &touched) {
			gt_path_add_edge(streams->path, last[*other], begin, GT_PATH_STREAM,
			                 streams->trace->streams.rows[*other].flags ==
			                         STREAM_NOT_KNOWN);
			last[*other] = GT_NONE;
		}
		touched.count = 0;
		latest = list[i].item;
	}
	gt_array_each(const gt_id, other, &touched)
		last[*other] = GT_NONE;
	gt_array_free(touched.rows);
}

static bool follows_default(const struct streams *streams, gt_id stream)
{
	const gt_count flags = streams->trace->streams.rows[stream].flags;

	return is_default(streams->trace, stream) || flags == STREAM_BLOCKING ||
	       (flags == STREAM_NOT_KNOWN && streams->path->assumes);
}

/* A stream that waits for the default stream of its context, and that one for it; or that one. */
struct follower {
	gt_id context;
	gt_id stream;
};

static int by_context(const void *a, const void *b)
{
	const struct follower *left = a;
	const struct follower *right = b;

	if (left->context != right->context)
		return left->context < right->context ? -1 : 1;
	return (left->stream > right->stream) - (left->stream < right->stream);
}

/* Adds the default stream's rules in one context. */
static void add_default_of(struct streams *streams, const struct follower *followers, size_t count,
                           gt_id *last)
{
	gt_array(struct given) list = {0};
	bool has_default = false;

	for (size_t i = 0; i < count; i++)
		has_default = has_default || is_default(streams->trace, followers[i].stream);
	if (count < 2 || !has_default)
		return;
	for (size_t i = 0; i < count; i++) {
		const gt_id stream = followers[i].stream;
		const size_t steps = gt_stream_order_count(&streams->order, stream);

		for (size_t step = 0; step < steps; step++)
			*gt_array_push(&list) =
				(struct given){gt_stream_order_given(&streams->order, stream, step),
			                       stream, item_at(streams, stream, step)};
	}
	if (list.count > 1)
		qsort(list.rows, list.count, sizeof(*list.rows), by_given);
	order_by_default(streams, list.rows, list.count, last);
	gt_array_free(list.rows);
}

static void add_default(struct streams *streams)
{
	const struct gt_trace *trace = streams->trace;
	const size_t count = trace->streams.count;
	gt_id *last = gt_allocate((count + 1) * sizeof(*last));
	gt_array(struct follower) followers = {0};
	size_t next;

	memset(last, 0xff, (count + 1) * sizeof(*last));
	for (gt_id i = 0; i < count; i++)
		if (trace->streams.rows[i].context < trace->contexts.count &&
		    gt_stream_order_count(&streams->order, i) > 0 && follows_default(streams, i))
			*gt_array_push(&followers) =
				(struct follower){trace->streams.rows[i].context, i};
	if (followers.count > 1)
		qsort(followers.rows, followers.count, sizeof(*followers.rows), by_context);
	for (size_t first = 0; first < followers.count; first = next) {
		next = first + 1;
		while (next < followers.count &&
		       followers.rows[next].context == followers.rows[first].context)
			next++;
		add_default_of(streams, &followers.rows[first], next - first, last);
	}
	gt_array_free(followers.rows);
	gt_array_free(last);
}

void gt_path_add_streams(struct gt_path *path)
{
	struct streams streams;

	streams_init(&streams, path);
	for (gt_id i = 0; i < path->trace->streams.count; i++)
		add_stream(&streams, i);
	add_default(&streams);
	streams_release(&streams);
}

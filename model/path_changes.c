/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path_changes.h"

#include <string.h>

#include "base/array.h"

/* ---- an order in which each point comes behind all that it waits for ---- */

enum { NEW, OPEN, DONE };

struct ordering {
	const struct gt_path *path;
	uint8_t *states; /* by point */
	gt_array(gt_point) open;
	gt_point *order;
	size_t count;
	bool circles; /* see struct gt_path_changes */
};

/* What is open already waits for this point, as clocks have it: that edge goes nowhere. */
static void open_earlier(struct ordering *ordering, gt_point point)
{
	struct gt_path_edges edges = gt_path_edges_to(ordering->path, point);
	struct gt_path_edge edge;

	ordering->states[point] = OPEN;
	while (gt_path_next_edge(&edges, &edge))
		if (ordering->states[edge.from] == NEW)
			*gt_array_push(&ordering->open) = edge.from;
		else if (ordering->states[edge.from] == OPEN)
			ordering->circles = true;
}

static void order_to(struct ordering *ordering, gt_point point)
{
	*gt_array_push(&ordering->open) = point;
	while (ordering->open.count > 0) {
		const gt_point at = ordering->open.rows[ordering->open.count - 1];

		if (ordering->states[at] == NEW) {
			open_earlier(ordering, at);
			continue;
		}
		ordering->open.count--;
		if (ordering->states[at] == DONE)
			continue;
		ordering->states[at] = DONE;
		ordering->order[ordering->count++] = at;
	}
}

/*
 * Which of the edges to a point, counted from 0, held it: found once, as it takes all of them.
 * Those of joins with very many edges are looked for each time.
 */
enum { HELD_BY_NONE = 0xff, HELD_BY_LATER = 0xfe };

static bool is_same(const struct gt_path_edge *left, const struct gt_path_edge *right)
{
	return left->from == right->from && left->kind == right->kind;
}

static uint8_t hold_of(const struct gt_path *path, gt_point point)
{
	struct gt_path_edges edges;
	struct gt_path_edge held;
	struct gt_path_edge edge;
	unsigned number = 0;

	if (!gt_path_has(path, point / 2) || !gt_path_held_by(path, point, &held))
		return HELD_BY_NONE;
	edges = gt_path_edges_to(path, point);
	while (gt_path_next_edge(&edges, &edge) && !is_same(&edge, &held))
		number++;
	return number < HELD_BY_LATER ? (uint8_t)number : HELD_BY_LATER;
}

void gt_path_changes_init(struct gt_path_changes *changes, const struct gt_path *path)
{
	const size_t points = gt_path_points(path);
	struct ordering ordering = {
		.path = path,
		.states = gt_allocate(points + 1),
		.order = gt_allocate((points + 1) * sizeof(*ordering.order)),
	};

	memset(ordering.states, NEW, points + 1);
	for (gt_point point = 0; point < points; point++)
		if (ordering.states[point] == NEW && gt_path_has(path, point / 2))
			order_to(&ordering, point);
	for (gt_point point = 0; point < points; point++)
		ordering.states[point] = hold_of(path, point);
	gt_array_release(&ordering.open);
	*changes = (struct gt_path_changes){
		.path = path,
		.order = ordering.order,
		.circles = ordering.circles,
		.holds = ordering.states,
		.count = ordering.count,
		.times_ns = gt_allocate((points + 1) * sizeof(*changes->times_ns)),
	};
}

void gt_path_changes_release(struct gt_path_changes *changes)
{
	gt_array_free(changes->order);
	gt_array_free(changes->holds);
	gt_array_free(changes->times_ns);
	*changes = (struct gt_path_changes){0};
}

/* ---- what edges take ---- */

/* The edges to a point with what they take, or the next few of them where there are many. */
enum { AT_ONCE = 16 };

struct taking {
	struct gt_path_edges edges;
	struct gt_path_edge rows[AT_ONCE];
	size_t count;
	struct gt_path_edge held; /* the one that held the point */
	gt_time lag_ns;           /* how long after it that was */
};

static void take_more(struct taking *taking)
{
	taking->count = 0;
	while (taking->count < AT_ONCE &&
	       gt_path_next_edge(&taking->edges, &taking->rows[taking->count]))
		taking->count++;
}

/* False: it waits for nothing. */
static bool take(const struct gt_path_changes *changes, gt_point to, struct taking *taking)
{
	const uint8_t number = changes->holds[to];

	if (number == HELD_BY_NONE)
		return false;
	taking->edges = gt_path_edges_to(changes->path, to);
	take_more(taking);
	if (number < AT_ONCE)
		taking->held = taking->rows[number];
	else
		(void)gt_path_held_by(changes->path, to, &taking->held);
	taking->lag_ns = taking->edges.to_ns - taking->held.from_ns;
	return true;
}

static gt_time weight_of(const struct taking *taking, const struct gt_path_edge *edge)
{
	const gt_time lag_ns = taking->edges.to_ns - edge->from_ns;
	/* A call that waited: what it takes itself is what it took once it had waited. */
	const gt_time usual_ns = edge->kind == GT_PATH_CALL
	                                 ? taking->lag_ns
	                                 : taking->edges.path->typical_ns[edge->kind];

	if (is_same(edge, &taking->held))
		return lag_ns;
	return lag_ns < usual_ns ? lag_ns : usual_ns;
}

static bool is_free_call(const struct gt_path *path, gt_point point)
{
	const gt_count kind = path->trace->api_calls.rows[point / 2].kind;

	return kind == GT_API_LAUNCH || kind == GT_API_GRAPH_LAUNCH;
}

static bool is_free_work(const struct gt_path *path, gt_point point,
                         const struct gt_path_change *change)
{
	const struct gt_step step = gt_path_step(path, point / 2);
	gt_id shape;

	if (step.table == GT_TABLE_copies || step.table == GT_TABLE_fills)
		return change->copies;
	if (step.table != GT_TABLE_kernels || !change->shapes)
		return false;
	shape = path->trace->kernels.rows[step.row].shape;
	return shape < path->trace->launch_shapes.count && change->shapes[shape];
}

static bool takes_no_time(const struct gt_path *path, gt_point to, const struct gt_path_edge *edge,
                          const struct gt_path_change *change)
{
	if (edge->kind == GT_PATH_WORK)
		return is_free_work(path, to, change);
	if (edge->kind == GT_PATH_CALL)
		return change->launches && is_free_call(path, to);
	return edge->kind == GT_PATH_LAUNCH && change->launches;
}

static bool is_gone(const struct gt_path *path, gt_point to, const struct gt_path_edge *edge,
                    const struct gt_path_change *change)
{
	return edge->kind == GT_PATH_WAIT && change->wait_in != 0 &&
	       path->trace->api_calls.rows[to / 2].function == change->wait_in;
}

static gt_time new_time(const struct gt_path_changes *changes, gt_point to,
                        const struct gt_path_change *change)
{
	const struct gt_path *path = changes->path;
	struct taking taking;
	gt_time latest_ns = INT64_MIN;

	/* Nothing but its begin comes before the end of work. */
	if (to % 2 && to / 2 >= path->first[1])
		return changes->times_ns[to - 1] +
		       (is_free_work(path, to, change)
		                ? 0
		                : gt_path_time(path, to) - gt_path_time(path, to - 1));
	if (!take(changes, to, &taking))
		return gt_path_time(path, to);
	for (; taking.count > 0; take_more(&taking))
		for (size_t i = 0; i < taking.count; i++) {
			const struct gt_path_edge *edge = &taking.rows[i];
			gt_time at_ns = changes->times_ns[edge->from];

			if (is_gone(path, to, edge, change))
				continue;
			if (!takes_no_time(path, to, edge, change))
				at_ns += weight_of(&taking, edge);
			if (at_ns > latest_ns)
				latest_ns = at_ns;
		}
	return latest_ns;
}

void gt_path_changes_run(struct gt_path_changes *changes, const struct gt_path_change *change)
{
	static const struct gt_path_change none = {.shapes = NULL};
	const size_t points = gt_path_points(changes->path);

	for (gt_point point = 0; point < points && changes->circles; point++)
		changes->times_ns[point] = gt_path_time(changes->path, point);
	for (size_t i = 0; i < changes->count; i++)
		changes->times_ns[changes->order[i]] =
			new_time(changes, changes->order[i], change ? change : &none);
}

/* ---- slack ---- */

static void push_back(struct gt_path_changes *changes, gt_point to)
{
	struct taking taking;

	if (changes->times_ns[to] == INT64_MAX || !take(changes, to, &taking))
		return;
	for (; taking.count > 0; take_more(&taking))
		for (size_t i = 0; i < taking.count; i++) {
			gt_time *earlier_ns = &changes->times_ns[taking.rows[i].from];
			const gt_time latest_ns =
				changes->times_ns[to] - weight_of(&taking, &taking.rows[i]);

			if (latest_ns < *earlier_ns)
				*earlier_ns = latest_ns;
		}
}

void gt_path_changes_slack(struct gt_path_changes *changes)
{
	const size_t points = gt_path_points(changes->path);

	for (size_t i = changes->count; i > 0; i--)
		push_back(changes, changes->order[i - 1]);
	for (gt_point point = 0; point < points; point++)
		if (changes->times_ns[point] != INT64_MAX)
			changes->times_ns[point] -= gt_path_time(changes->path, point);
}

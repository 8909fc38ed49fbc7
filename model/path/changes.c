/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path/changes.h"

#include <string.h>

#include "base/array.h"

/* ---- an order in which each point comes behind all that it waits for ---- */

/* Points that are open already wait for this one, as clocks have it: that edge goes nowhere. */
static void open_earlier(struct gt_path_changes *changes, gt_point point)
{
	struct gt_path_edges edges = gt_path_edges_to(changes->path, point);
	struct gt_path_edge edge;

	changes->states[point] = changes->turn;
	while (gt_path_next_edge(&edges, &edge)) {
		if (edge.from_ns <= changes->begin_ns)
			continue;
		if (changes->states[edge.from] < changes->turn)
			*gt_array_push(&changes->open) = edge.from;
		else if (changes->states[edge.from] == changes->turn)
			changes->circles = true;
	}
}

/* A point is new in this turn while its state is below the turn, then open, then done. */
static void order_to(struct gt_path_changes *changes, gt_point point)
{
	const uint32_t done = changes->turn + 1;

	*gt_array_push(&changes->open) = point;
	while (changes->open.count > 0) {
		const gt_point at = changes->open.rows[changes->open.count - 1];

		if (changes->states[at] < changes->turn) {
			open_earlier(changes, at);
			continue;
		}
		changes->open.count--;
		if (changes->states[at] == done)
			continue;
		changes->states[at] = done;
		changes->order[changes->count++] = at;
	}
}

/* Nothing is in the order after this. Points at begin_ns, or before, stay as they were recorded. */
static void begin_order(struct gt_path_changes *changes, gt_time begin_ns)
{
	changes->turn += 2;
	changes->begin_ns = begin_ns;
	changes->count = 0;
	changes->circles = false;
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

	*changes = (struct gt_path_changes){
		.path = path,
		.order = gt_allocate((points + 1) * sizeof(*changes->order)),
		.states = gt_allocate((points + 1) * sizeof(*changes->states)),
		.holds = gt_allocate(points + 1),
		.times_ns = gt_allocate((points + 1) * sizeof(*changes->times_ns)),
	};
	memset(changes->states, 0, (points + 1) * sizeof(*changes->states));
	for (gt_point point = 0; point < points; point++)
		changes->holds[point] = hold_of(path, point);
}

void gt_path_changes_release(struct gt_path_changes *changes)
{
	gt_array_release(&changes->open);
	gt_array_free(changes->order);
	gt_array_free(changes->states);
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

	return !gt_path_is_held_up(path, point / 2) &&
	       (kind == GT_API_LAUNCH || kind == GT_API_GRAPH_LAUNCH);
}

static bool is_free_work(const struct gt_path *path, gt_point point,
                         const struct gt_path_change *change)
{
	const struct gt_step step = gt_path_step(path, point / 2);
	gt_id shape;

	if (step.table == GT_TABLE_copies || step.table == GT_TABLE_fills)
		return change->copies;
	if (step.table != GT_TABLE_kernels || !change->shapes ||
	    gt_path_is_held_up(path, point / 2))
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
	return edge->kind == GT_PATH_LAUNCH && change->launches &&
	       !gt_path_is_held_up(path, edge->from / 2);
}

static bool is_gone(const struct gt_path *path, gt_point to, const struct gt_path_edge *edge,
                    const struct gt_path_change *change)
{
	return edge->kind == GT_PATH_WAIT && change->wait_in != 0 &&
	       path->trace->api_calls.rows[to / 2].function == change->wait_in;
}

/* When a point is in the changed run. */
static gt_time time_of(const struct gt_path_changes *changes, gt_point point)
{
	const gt_time recorded_ns = gt_path_time(changes->path, point);

	return recorded_ns <= changes->begin_ns ? recorded_ns : changes->times_ns[point];
}

/* When an edge lets a point go; INT64_MIN: it is not there in the changed run. */
static gt_time let_go_by(const struct gt_path_changes *changes, const struct taking *taking,
                         const struct gt_path_edge *edge, const struct gt_path_change *change)
{
	const gt_point to = taking->edges.to;
	gt_time takes_ns = weight_of(taking, edge);

	if (is_gone(changes->path, to, edge, change))
		return INT64_MIN;
	/* By the clocks it may take less than no time. */
	if (takes_ns > 0 && takes_no_time(changes->path, to, edge, change))
		takes_ns = 0;
	return takes_ns +
	       (edge->from_ns <= changes->begin_ns ? edge->from_ns : changes->times_ns[edge->from]);
}

static gt_time latest_of(const struct gt_path_changes *changes, gt_point to,
                         const struct gt_path_change *change)
{
	const struct gt_path *path = changes->path;
	struct taking taking;
	gt_time latest_ns = INT64_MIN;

	/* Nothing but its begin comes before the end of work. */
	if (to % 2 && to / 2 >= path->first[1])
		return time_of(changes, to - 1) +
		       (is_free_work(path, to, change)
		                ? 0
		                : gt_path_time(path, to) - gt_path_time(path, to - 1));
	if (!take(changes, to, &taking))
		return gt_path_time(path, to);
	for (; taking.count > 0; take_more(&taking))
		for (size_t i = 0; i < taking.count; i++) {
			const gt_time at_ns = let_go_by(changes, &taking, &taking.rows[i], change);

			if (at_ns > latest_ns)
				latest_ns = at_ns;
		}
	return latest_ns;
}

/*
 * Each edge takes at most what it took, and none is added: no point is later than it was, nor is it
 * before the begin of the run.
 */
static void run_again(struct gt_path_changes *changes, const struct gt_path_change *change)
{
	for (size_t i = 0; i < changes->count && changes->circles; i++)
		changes->times_ns[changes->order[i]] =
			gt_path_time(changes->path, changes->order[i]);
	for (size_t i = 0; i < changes->count; i++) {
		const gt_point point = changes->order[i];
		const gt_time latest_ns = latest_of(changes, point, change);

		changes->times_ns[point] =
			latest_ns > changes->begin_ns ? latest_ns : changes->begin_ns;
	}
}

/* ---- spans ---- */

/* Items by the span that they are in: those of a span from first[its number] on. */
struct members {
	gt_id *items;
	size_t *first;
};

/* Calls of a range, but for the last one on its thread, do not say when it was done. */
static gt_id ends_span(const struct gt_path_spans *spans, const struct gt_path *path, gt_id item)
{
	if (!gt_path_has(path, item) || (spans->of_range && item < path->first[1]))
		return GT_NONE;
	return gt_path_span_of(spans, path, item);
}

static void find_members(struct members *members, const struct gt_path_spans *spans,
                         const struct gt_path *path)
{
	const gt_id items = (gt_id)(gt_path_points(path) / 2);
	const size_t count = spans->list.count;

	members->first = gt_allocate_zeroed(count + 2, sizeof(*members->first));
	for (gt_id item = 0; item < items; item++) {
		const gt_id span = ends_span(spans, path, item);

		if (span != GT_NONE)
			members->first[span + 2]++;
	}
	for (size_t i = 0; i < count; i++)
		members->first[i + 2] += members->first[i + 1];
	members->items = gt_allocate((members->first[count + 1] + 1) * sizeof(*members->items));
	for (gt_id item = 0; item < items; item++) {
		const gt_id span = ends_span(spans, path, item);

		if (span != GT_NONE)
			members->items[members->first[span + 1]++] = item;
	}
}

static void members_release(struct members *members)
{
	gt_array_free(members->items);
	gt_array_free(members->first);
}

static void order_span(struct gt_path_changes *changes, const struct gt_path_span *span,
                       const gt_id *items, size_t count)
{
	begin_order(changes, span->window.start_ns);
	for (size_t i = 0; i < count; i++)
		if (gt_path_time(changes->path, 2 * items[i] + 1) > changes->begin_ns)
			order_to(changes, 2 * items[i] + 1);
	if (span->host != GT_POINT_NONE &&
	    gt_path_time(changes->path, span->host) > changes->begin_ns)
		order_to(changes, span->host);
}

static gt_time span_lasts(const struct gt_path_changes *changes, const struct gt_path_span *span,
                          const gt_id *items, size_t count)
{
	gt_time end_ns = span->window.start_ns;

	if (span->range != GT_NONE)
		end_ns = span->host == GT_POINT_NONE
		                 ? span->ended_ns
		                 : span->ended_ns + time_of(changes, span->host) -
		                           gt_path_time(changes->path, span->host);
	for (size_t i = 0; i < count; i++) {
		const gt_time at_ns = time_of(changes, 2 * items[i] + 1);

		if (at_ns > end_ns)
			end_ns = at_ns;
	}
	return end_ns > span->window.start_ns ? end_ns - span->window.start_ns : 0;
}

void gt_path_changes_last(struct gt_path_changes *changes, const struct gt_path_spans *spans,
                          const struct gt_path_change *list, size_t count, gt_time *lasts_ns)
{
	struct members members;

	find_members(&members, spans, changes->path);
	for (size_t i = 0; i < spans->list.count; i++) {
		const struct gt_path_span *span = &spans->list.rows[i];
		const gt_id *items = &members.items[members.first[i]];
		const size_t item_count = members.first[i + 1] - members.first[i];

		order_span(changes, span, items, item_count);
		for (size_t change = 0; change < count; change++) {
			run_again(changes, &list[change]);
			lasts_ns[change * spans->list.count + i] =
				span_lasts(changes, span, items, item_count);
		}
	}
	members_release(&members);
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

/* Each point as late as the end of its span, and those that are in none as late as one likes. */
static void set_latest(struct gt_path_changes *changes, const struct gt_path_spans *spans)
{
	const struct gt_path *path = changes->path;

	for (gt_id item = 0; item < gt_path_points(path) / 2; item++) {
		const gt_id span = ends_span(spans, path, item);
		const gt_point begin = 2 * item;

		changes->times_ns[begin] = INT64_MAX;
		changes->times_ns[begin + 1] =
			span == GT_NONE ? INT64_MAX : spans->list.rows[span].window.end_ns;
	}
	gt_array_each(const struct gt_path_span, span, &spans->list)
		if (span->host != GT_POINT_NONE)
			changes->times_ns[span->host] = span->window.end_ns - span->ended_ns +
			                                gt_path_time(path, span->host);
}

void gt_path_changes_slack(struct gt_path_changes *changes, const struct gt_path_spans *spans)
{
	const struct gt_path *path = changes->path;
	const size_t points = gt_path_points(path);

	begin_order(changes, INT64_MIN);
	for (gt_point point = 0; point < points; point++)
		if (gt_path_has(path, point / 2) && changes->states[point] < changes->turn)
			order_to(changes, point);
	set_latest(changes, spans);
	for (size_t i = changes->count; i > 0; i--)
		push_back(changes, changes->order[i - 1]);
	for (gt_point point = 0; point < points; point++)
		if (changes->times_ns[point] != INT64_MAX)
			changes->times_ns[point] -= gt_path_time(path, point);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path/path.h"

#include "model/work/pauses.h"

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

/*
 * The program may have done anything while recording was paused in its process, the last part
 * first. Returns how far the stretch goes before all that.
 */
static gt_time tell_pauses(struct walk *walk, struct gt_path_member member)
{
	const struct gt_trace *trace = walk->path->trace;
	const gt_id process =
		trace->pauses.count > 0 ? gt_path_process(walk->path, member.item) : GT_NONE;
	const gt_time start_ns = member.start_ns;
	gt_time left_ns = member.end_ns;

	for (size_t i = gt_pauses_before(trace, left_ns); i > 0 && left_ns > start_ns; i--) {
		const struct gt_pause *pause = &trace->pauses.rows[i - 1];
		struct gt_path_member held = member;

		if (pause->process != process)
			continue;
		if (pause->end_ns <= start_ns)
			break;
		member.start_ns = pause->end_ns;
		member.end_ns = left_ns;
		if (member.end_ns > member.start_ns)
			walk->see(walk->context, &member);
		held.kind = GT_PATH_OF_HELD;
		held.start_ns = pause->start_ns > start_ns ? pause->start_ns : start_ns;
		held.end_ns = pause->end_ns < left_ns ? pause->end_ns : left_ns;
		walk->see(walk->context, &held);
		left_ns = held.start_ns;
	}
	return left_ns;
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
	if (member.kind == GT_PATH_OF_HOST || member.kind == GT_PATH_OF_ORDER ||
	    member.kind == GT_PATH_OF_DELAY)
		member.end_ns = tell_pauses(walk, member);
	if (member.end_ns > member.start_ns)
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

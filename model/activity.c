/* SPDX-License-Identifier: Apache-2.0 */
#include "model/activity.h"

#include "model/timed.h"

/* Finds the first row of a table from row on that has times; false at the table's end. */
#define FIND(name, plural, activity_type)                                                          \
	static bool find_##name(const struct gt_trace *trace, size_t row,                          \
	                        struct gt_activity *activity)                                      \
	{                                                                                          \
		for (; row < trace->plural.count; row++) {                                         \
			const struct gt_##name *found = &trace->plural.rows[row];                  \
                                                                                                   \
			if (!gt_timed(found->flags, found->start_ns, found->end_ns))               \
				continue;                                                          \
			*activity = (struct gt_activity){                                          \
				found->start_ns, found->end_ns, activity_type,                     \
				(gt_id)row,      found->device, found->api_call,                   \
			};                                                                         \
			return true;                                                               \
		}                                                                                  \
		return false;                                                                      \
	}

FIND(kernel, kernels, GT_ACTIVITY_KERNEL)
FIND(copy, copies, GT_ACTIVITY_COPY)
FIND(fill, fills, GT_ACTIVITY_FILL)
FIND(graph_trace, graph_traces, GT_ACTIVITY_GRAPH)

static void move_head(struct gt_activity_walk *walk, enum gt_activity_type type, size_t row)
{
	struct gt_activity *head = &walk->heads[type];

	switch (type) {
	case GT_ACTIVITY_KERNEL:
		walk->ended[type] = !find_kernel(walk->trace, row, head);
		break;
	case GT_ACTIVITY_COPY:
		walk->ended[type] = !find_copy(walk->trace, row, head);
		break;
	case GT_ACTIVITY_FILL:
		walk->ended[type] = !find_fill(walk->trace, row, head);
		break;
	case GT_ACTIVITY_GRAPH:
		walk->ended[type] = !find_graph_trace(walk->trace, row, head);
		break;
	}
}

void gt_activity_walk_init(struct gt_activity_walk *walk, const struct gt_trace *trace)
{
	*walk = (struct gt_activity_walk){.trace = trace};
	move_head(walk, GT_ACTIVITY_KERNEL, 0);
	move_head(walk, GT_ACTIVITY_COPY, 0);
	move_head(walk, GT_ACTIVITY_FILL, 0);
	walk->ended[GT_ACTIVITY_GRAPH] = true;
}

void gt_activity_walk_init_whole(struct gt_activity_walk *walk, const struct gt_trace *trace)
{
	gt_activity_walk_init(walk, trace);
	move_head(walk, GT_ACTIVITY_GRAPH, 0);
}

int gt_activity_next(struct gt_activity_walk *walk, struct gt_activity *activity)
{
	const struct gt_activity *earliest = NULL;

	for (size_t i = 0; i < sizeof(walk->heads) / sizeof(walk->heads[0]); i++)
		if (!walk->ended[i] && (!earliest || walk->heads[i].start_ns < earliest->start_ns))
			earliest = &walk->heads[i];
	if (!earliest)
		return 0;
	*activity = *earliest;
	move_head(walk, activity->type, (size_t)activity->row + 1);
	return 1;
}

void gt_work_walk_init(struct gt_work_walk *walk, const struct gt_trace *trace)
{
	*walk = (struct gt_work_walk){0};
	gt_activity_walk_init(&walk->activities, trace);
}

int gt_work_next(struct gt_work_walk *walk, struct gt_stretch *stretch)
{
	const struct gt_whole *whole = &walk->activities.trace->whole;
	struct gt_activity activity;

	if (whole->cut) {
		if (walk->next == whole->work.count)
			return 0;
		*stretch = whole->work.rows[walk->next++];
		return 1;
	}
	if (!gt_activity_next(&walk->activities, &activity))
		return 0;
	*stretch = (struct gt_stretch){activity.start_ns, activity.end_ns, activity.device};
	return 1;
}

gt_id gt_activity_stream(const struct gt_trace *trace, const struct gt_activity *activity)
{
	switch (activity->type) {
	case GT_ACTIVITY_KERNEL:
		return trace->kernels.rows[activity->row].stream;
	case GT_ACTIVITY_COPY:
		return trace->copies.rows[activity->row].stream;
	case GT_ACTIVITY_FILL:
		return trace->fills.rows[activity->row].stream;
	case GT_ACTIVITY_GRAPH:
		return trace->graph_traces.rows[activity->row].stream;
	}
	return GT_NONE;
}

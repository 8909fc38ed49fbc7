/* SPDX-License-Identifier: Apache-2.0 */
#include "model/work/activity.h"

#include "model/work/timed.h"

const int gt_activity_tables[GT_ACTIVITY_TYPES] = {
	[GT_ACTIVITY_KERNEL] = GT_TABLE_kernels,
	[GT_ACTIVITY_COPY] = GT_TABLE_copies,
	[GT_ACTIVITY_FILL] = GT_TABLE_fills,
	[GT_ACTIVITY_GRAPH] = GT_TABLE_graph_traces,
};

/* Finds the first row of a table from row on that has times; false at the table's end. */
#define FIND(name, plural, activity_type)                                                          \
	static bool find_##name(const struct gt_activity_walk *walk, size_t row,                   \
	                        struct gt_activity *activity)                                      \
	{                                                                                          \
		const enum gt_times times =                                                        \
			walk->work & GT_WORK_PROFILED ? GT_TIMES_ANY : GT_TIMES_FIGURES;           \
                                                                                                   \
		for (; row < walk->trace->plural.count; row++) {                                   \
			const struct gt_##name *found = &walk->trace->plural.rows[row];            \
                                                                                                   \
			if (!gt_timed(times, found->flags, found->start_ns, found->end_ns))        \
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
		walk->ended[type] = !find_kernel(walk, row, head);
		break;
	case GT_ACTIVITY_COPY:
		walk->ended[type] = !find_copy(walk, row, head);
		break;
	case GT_ACTIVITY_FILL:
		walk->ended[type] = !find_fill(walk, row, head);
		break;
	case GT_ACTIVITY_GRAPH:
		walk->ended[type] = !find_graph_trace(walk, row, head);
		break;
	}
}

void gt_activity_walk_init(struct gt_activity_walk *walk, const struct gt_trace *trace,
                           enum gt_work work)
{
	static const enum gt_work of_type[] = {
		[GT_ACTIVITY_KERNEL] = GT_WORK_KERNELS,
		[GT_ACTIVITY_COPY] = GT_WORK_COPIES,
		[GT_ACTIVITY_FILL] = GT_WORK_FILLS,
		[GT_ACTIVITY_GRAPH] = GT_WORK_GRAPHS,
	};

	*walk = (struct gt_activity_walk){.trace = trace, .work = work};
	for (int type = 0; type < GT_ACTIVITY_TYPES; type++) {
		if (work & of_type[type])
			move_head(walk, (enum gt_activity_type)type, 0);
		else
			walk->ended[type] = true;
	}
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

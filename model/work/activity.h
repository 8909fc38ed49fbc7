/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_WORK_ACTIVITY_H
#define GT_MODEL_WORK_ACTIVITY_H

#include <stdbool.h>

#include "model/trace.h"

/*
 * Work: what GPUs did, kernels, copies, fills and whole graphs alike, one after the other in order
 * of their start (docs/terms.md). The tables of a trace are sorted already, so walking them
 * together needs no memory.
 */

/*
 * Which work a question is about. There is no default: whoever walks chooses. Unfinished work has
 * no times and is in none of them.
 */
enum gt_work {
	GT_WORK_KERNELS = 1,
	GT_WORK_COPIES = 2,
	GT_WORK_FILLS = 4,
	GT_WORK_GRAPHS = 8,    /* executions of graphs that were recorded as a whole */
	GT_WORK_PROFILED = 16, /* of kernels also those that ran several times for their counters */

	/* How long work takes: sums, means, shares of GPU time. */
	GT_WORK_FIGURES = GT_WORK_KERNELS | GT_WORK_COPIES | GT_WORK_FILLS,
	/* When a GPU had something to do; profiled stretches are not in the window at all. */
	GT_WORK_BUSY = GT_WORK_FIGURES | GT_WORK_GRAPHS,
	/* All that happened, and in which order. */
	GT_WORK_ALL = GT_WORK_BUSY | GT_WORK_PROFILED,
};

enum gt_activity_type {
	GT_ACTIVITY_KERNEL,
	GT_ACTIVITY_COPY,
	GT_ACTIVITY_FILL,
	GT_ACTIVITY_GRAPH, /* an execution of a graph of which only the whole was recorded */
};

enum { GT_ACTIVITY_TYPES = GT_ACTIVITY_GRAPH + 1 };

/* The table of each type, GT_TABLE_... */
extern const int gt_activity_tables[GT_ACTIVITY_TYPES];

/* A kernel, or a graph in which kernels may have run: what a GPU is busy with. */
static inline bool gt_activity_is_work(enum gt_activity_type type)
{
	return type == GT_ACTIVITY_KERNEL || type == GT_ACTIVITY_GRAPH;
}

struct gt_activity {
	gt_time start_ns;
	gt_time end_ns;
	enum gt_activity_type type;
	gt_id row; /* of the table of its type */
	gt_id device;
	gt_id api_call;
};

struct gt_activity_walk {
	const struct gt_trace *trace;
	enum gt_work work;
	struct gt_activity heads[GT_ACTIVITY_TYPES]; /* the next one of each type */
	bool ended[GT_ACTIVITY_TYPES];
};

/*
 * All that happened is in gt_whole_of(trace) (model/whole.h), what a filter left to be shown in the
 * trace itself.
 */
void gt_activity_walk_init(struct gt_activity_walk *walk, const struct gt_trace *trace,
                           enum gt_work work);

/* Returns 1 with the next activity, or 0 at the end. */
int gt_activity_next(struct gt_activity_walk *walk, struct gt_activity *activity);

/* The stream of an activity; GT_NONE where it is not known. */
gt_id gt_activity_stream(const struct gt_trace *trace, const struct gt_activity *activity);

#endif

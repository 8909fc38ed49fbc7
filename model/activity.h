/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_ACTIVITY_H
#define GT_MODEL_ACTIVITY_H

#include <stdbool.h>

#include "model/trace.h"

/*
 * What GPUs did, kernels, copies and fills alike, one after the other in order of their start.
 * Their tables of a trace are sorted already, so walking them together needs no memory.
 */

enum gt_activity_type {
	GT_ACTIVITY_KERNEL,
	GT_ACTIVITY_COPY,
	GT_ACTIVITY_FILL,
	GT_ACTIVITY_GRAPH, /* an execution of a graph of which only the whole was recorded */
};

enum { GT_ACTIVITY_TYPES = GT_ACTIVITY_GRAPH + 1 };

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
	struct gt_activity heads[GT_ACTIVITY_TYPES]; /* the next one of each type */
	bool ended[GT_ACTIVITY_TYPES];
};

/* Kernels, copies and fills. */
void gt_activity_walk_init(struct gt_activity_walk *walk, const struct gt_trace *trace);

/*
 * Graphs that were recorded as a whole too: for what asks when a GPU had something to do, not what
 * that was.
 */
void gt_activity_walk_init_whole(struct gt_activity_walk *walk, const struct gt_trace *trace);

/* Returns 1 with the next activity that has times, or 0 at the end. */
int gt_activity_next(struct gt_activity_walk *walk, struct gt_activity *activity);

/*
 * When GPUs ran anything, in order of its start, whoever asked for it: also where a filter chose
 * ranges, and left of kernels, copies and fills only what was asked for inside.
 */
struct gt_work_walk {
	struct gt_activity_walk activities;
	size_t next; /* of trace->whole.work */
};

void gt_work_walk_init(struct gt_work_walk *walk, const struct gt_trace *trace);

/* Returns 1 with the next stretch, which others may overlap, or 0 at the end. */
int gt_work_next(struct gt_work_walk *walk, struct gt_stretch *stretch);

/* The stream of an activity; GT_NONE where it is not known. */
gt_id gt_activity_stream(const struct gt_trace *trace, const struct gt_activity *activity);

#endif

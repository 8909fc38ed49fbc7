/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_GRAPHS_LINKER_H
#define GT_COLLECTOR_GRAPHS_LINKER_H

#include "base/array.h"
#include "model/known.h"
#include "model/trace.h"

struct gt_graph_insides;

/* Shared by the parts of stage graphs; nobody else includes it. */

/* The rows that the ids of one process stand for. */
struct gt_graph_ids {
	struct gt_known graphs;
	struct gt_known nodes;
	struct gt_known execs;
	struct gt_known execs_of_calls;   /* by correlation id of the call that made them */
	struct gt_known parents_of_calls; /* nodes with graphs inside, likewise */
	struct gt_known clones;  /* nodes, by original and correlation id of the call that cloned */
	struct gt_known unknown; /* execs that nobody saw being made, by handle */
	struct gt_known wholes;  /* launches as a whole, by graph and correlation id */
};

/* Who has a handle from some moment on. */
struct gt_graph_holder {
	uint64_t handle;
	gt_time made_ns;
	gt_id process;
	gt_id exec;
};

struct gt_graph_linker {
	struct gt_trace *trace;
	struct gt_graph_ids *ids; /* by process */
	gt_array(struct gt_graph_holder) holders;
	struct gt_graph_insides *insides;
};

/* NULL for what is of no process. */
static inline struct gt_graph_ids *gt_graph_ids_of(const struct gt_graph_linker *linker,
                                                   gt_id process)
{
	return process < linker->trace->processes.count ? &linker->ids[process] : NULL;
}

/* 0 stands for none. */
static inline gt_id gt_graph_find(struct gt_known *known, uint64_t number)
{
	return number ? gt_known_find(known, number) : GT_NONE;
}

/* The first holds; an id that is 0 is none. */
static inline void gt_graph_learn(struct gt_known *known, uint64_t number, gt_id row)
{
	if (number && gt_known_find(known, number) == GT_NONE)
		gt_known_add(known, number, row);
}

/* ---- graph_execs.c: executable graphs, their handles, calls and launches ---- */

/* One row for each that was told of. */
void gt_graph_execs_merge(struct gt_graph_linker *linker);

/* Takes the facts from the calls that made them; the holder of a handle is known from then on. */
void gt_graph_execs_instantiate(struct gt_graph_linker *linker);

/* From the call's parameters, from CUPTI's words for it, or from what its nodes are clones of. */
void gt_graph_execs_link(struct gt_graph_linker *linker);

void gt_graph_execs_link_calls(struct gt_graph_linker *linker);
void gt_graph_execs_link_launches(struct gt_graph_linker *linker);

/* Kernels tell the ids of executable graphs that nobody saw being made. */
void gt_graph_execs_number(struct gt_trace *trace);

/* In recordings made before graphs were: the API calls tell of launches. */
void gt_graph_execs_add_of_calls(struct gt_graph_linker *linker);

/* ---- graph_dependencies.c ---- */

/* One row for each that was not taken away again, between nodes that are known. */
void gt_graph_dependencies_link(struct gt_graph_linker *linker);

#endif

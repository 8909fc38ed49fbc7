/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GRAPHS_RUNS_H
#define GT_MODEL_GRAPHS_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"
#include "model/work/intervals.h"

/*
 * GPU work of CUDA graph launches: kernels, copies and fills with times that belong to
 * the launch's API call, or the launch as a whole where that is all that was recorded.
 */
struct gt_graph_run {
	struct gt_cover cover; /* of all of it; as a whole it counts as covered */
	uint64_t work_ns;      /* the sum */
	uint32_t kernels;
	uint32_t activities;
};

/* The same of one node, in all launches. */
struct gt_node_runs {
	uint64_t runs;
	uint64_t total_ns;
	uint64_t launched_ns; /* of it, in launches that are rows of graph_launches: a window may
	                         cut */
};

struct gt_graph_runs {
	struct gt_graph_run *of_launch; /* by row of graph_launches */
	struct gt_node_runs *of_node;   /* by row of graph_nodes */
	gt_id *launch_of_call;          /* by row of api_calls; GT_NONE: it launches no graph */
};

void gt_graph_runs_init(struct gt_graph_runs *runs, const struct gt_trace *trace);
void gt_graph_runs_release(struct gt_graph_runs *runs);

/* The launch that an activity belongs to, by the API call that it names; GT_NONE: none. */
gt_id gt_graph_launch_of(const struct gt_graph_runs *runs, const struct gt_trace *trace,
                         gt_id api_call);

/* The launches of one executable graph. */
struct gt_exec_runs {
	uint64_t launches; /* that succeeded */
	uint64_t spanned;  /* of them, those that are known to have run */
	uint64_t ran;      /* of these, those with anything that has times */
	uint64_t called;   /* of the launches, those whose call is known with its times */
	uint64_t call_ns;  /* of these, the sum */
	uint64_t activities;
	uint64_t span_ns; /* of those spanned: from the first start to the last end, summed */
	uint64_t gap_ns;  /* of those that ran: in it, when nothing of it ran */
	uint64_t busy_ns; /* when anything of it ran */
	uint64_t work_ns; /* each for itself */
};

/* By row of graph_execs; the caller frees it with gt_array_free. */
struct gt_exec_runs *gt_exec_runs_of(const struct gt_graph_runs *runs,
                                     const struct gt_trace *trace);

#endif

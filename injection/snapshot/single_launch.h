/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_SINGLE_LAUNCH_H
#define GT_INJECTION_SNAPSHOT_SINGLE_LAUNCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "injection/calls/launch.h"
#include "injection/calls/parameters.h"
#include "injection/snapshot/graphs/kept.h"
#include "injection/snapshot/thread.h"

/*
 * A single launch, of a kernel or of a graph, on its way into a bundle. choose_launch.c says which
 * launch.
 */

struct gt_single_launch {
	struct gt_capture_thread thread;
	_Atomic bool
		unknown; /* graphs were launched whose nodes are not known, and a note says so */
	/* With the turn: */
	uint64_t number;   /* of the launch that is being captured */
	uint64_t began_ns; /* gt_stamp */
	uint64_t began_at_ns;
	char node[4096]; /* as the record has it */
};

/* The work that is captured in a call. */
struct gt_chosen_launch {
	const struct gt_launch *launch;
	uint64_t number;
	const char *node;            /* as the record has it; empty: it is no launch of a graph */
	struct gt_kept_graph *graph; /* of a node: what is launched, */
	uint32_t nth;                /* and of its nodes of the name so many come before it */
};

static inline CUstream gt_single_launch_stream(const struct gt_launch *launch)
{
	return !launch->stream && launch->per_thread ? CU_STREAM_PER_THREAD : launch->stream;
}

/*
 * Whether the node is a kernel whose name is chosen. For a graph that is taken: its nodes keep the
 * answer, as it is launched again and again.
 */
static inline bool gt_single_launch_is_wanted(const struct gt_single_launch *kernels,
                                              const struct gt_graph_nodes *nodes, uint32_t number)
{
	struct gt_graph_node *node = &nodes->nodes[number];

	if (node->kind != GT_GRAPH_NODE_KERNEL || node->disabled)
		return false;
	if (node->named == GT_GRAPH_NODE_UNASKED)
		node->named = gt_launch_choice_has_name(&kernels->thread.choice,
		                                        gt_graph_node_name(nodes, number))
		                      ? GT_GRAPH_NODE_WANTED
		                      : GT_GRAPH_NODE_UNWANTED;
	return node->named == GT_GRAPH_NODE_WANTED;
}

/* What a record says of the launch that the call is. */
struct gt_record_captured_launch gt_single_launch_told(struct gt_call call, uint64_t number);

/* True: the launch is captured, and has the turn until it returns (gt_single_launch_end). */
bool gt_single_launch_begin(struct gt_session *session, struct gt_single_launch *kernels,
                            const struct gt_chosen_launch *chosen, struct gt_call call);
void gt_single_launch_end(struct gt_session *session, struct gt_single_launch *kernels,
                          struct gt_call call);

#endif

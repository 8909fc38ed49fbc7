/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_GRAPHS_KEPT_H
#define GT_INJECTION_SNAPSHOT_GRAPHS_KEPT_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#include "injection/driver/capture_driver.h"
#include "injection/session/services.h"
#include "injection/snapshot/graphs/nodes.h"

struct gt_error;

/*
 * The work of the executable CUDA graphs of the process, while launches are captured: the nodes of
 * the graph that each was made from, which the program may have destroyed since, with what was
 * changed in the executable one. Anything that is not followed is a reason not to capture its
 * launches.
 */

enum { GT_KEPT_GRAPHS = 16384 };

#define GT_KEPT_GRAPHS_BYTES ((size_t)256 << 20) /* of all of them */

struct gt_kept_graph {
	CUgraphExec exec; /* NULL: the place is free */
	bool was_taken;   /* others that belong here may be behind it */
	bool used;        /* somebody reads its nodes: they stay as they are */
	bool priorities;  /* its kernels have priorities of their own, not that of the stream */
	char reason[192]; /* why it cannot be captured; empty: it can */
	void *memory;     /* of its nodes; NULL: none */
	size_t size;
	uint32_t found; /* node that was looked for last */
	struct gt_graph_nodes nodes;
	/* For whoever uses it: its last launch in a sequence. */
	uint64_t sequence;
	uint32_t stream;
};

struct gt_kept_graphs {
	struct gt_capture_driver driver;
	bool driver_open;
	sem_t turn; /* whoever has it, has all but what is atomic */
	size_t bytes;
	bool left_out;                  /* there was no place for one */
	_Atomic bool lost;              /* what became of one could not be followed */
	struct gt_graph_reader *reader; /* memory of our own; NULL: nothing is kept */
	struct gt_kept_graph *graphs;
};

/* ---- what the program does with them, each after a call that succeeded; any thread ---- */

/* It was made from the graph; flags: CUgraphInstantiate_flags. */
void gt_kept_graphs_add(struct gt_kept_graphs *kept, CUgraphExec exec, CUgraph graph,
                        uint64_t flags);

/* It is as the graph now. */
void gt_kept_graphs_update(struct gt_kept_graphs *kept, CUgraphExec exec, CUgraph graph);

/* Exactly one is not NULL: what a node of it does from now on. */
struct gt_node_change {
	const CUDA_KERNEL_NODE_PARAMS *kernel;
	const CUDA_MEMCPY3D *copy;
	const CUDA_MEMSET_NODE_PARAMS *fill;
	const unsigned *enabled;
	const CUgraph *inside; /* of a node with a graph inside: it is as this one */
	const char *reason;    /* of what is not followed */
};
void gt_kept_graphs_change(struct gt_kept_graphs *kept, CUgraphExec exec, CUgraphNode node,
                           const struct gt_node_change *change);

/* It is going to be destroyed. */
void gt_kept_graphs_remove(struct gt_kept_graphs *kept, CUgraphExec exec);

/* From here on nobody hears of changes: those that are there are not captured any more. */
void gt_kept_graphs_lose(struct gt_kept_graphs *kept);

/* ---- whoever captures a launch ---- */

/* 0 and the graph, whose nodes stay as they are until it is given back; or a sentence. */
int gt_kept_graphs_take(struct gt_kept_graphs *kept, CUgraphExec exec, struct gt_kept_graph **graph,
                        struct gt_error *err);
void gt_kept_graphs_give(struct gt_kept_graphs *kept, struct gt_kept_graph *graph);

/* In a source's start; -ENOMEM with a sentence. */
int gt_kept_graphs_init(struct gt_kept_graphs *kept, struct gt_error *err);

/* Those of the process, while launches are captured. */
static inline struct gt_kept_graphs *gt_kept_graphs_of(struct gt_session *session)
{
	return gt_shared(session, GT_SHARED_KEPT_GRAPHS);
}

#endif

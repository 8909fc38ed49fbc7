/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_KINDS_GRAPH_H
#define GT_MODEL_KINDS_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

/* Values of the columns "kind" and "type" of CUDA graphs, their nodes and calls. */

/* How a graph was made. The values are not in any file. */
enum gt_graph_kind {
	GT_GRAPH_UNKNOWN,
	GT_GRAPH_CAPTURED, /* by launches into a stream that was captured */
	GT_GRAPH_BUILT,    /* node by node */
	GT_GRAPH_CLONED,   /* by a call that clones */
	GT_GRAPH_CHILD,    /* the contents of a node that runs a graph */
	GT_GRAPH_BODY,     /* of a conditional node */
	GT_GRAPH_INSIDE,   /* of an executable graph */
};

/* The numbers are those of captures. */
enum gt_graph_call_kind {
#define GRAPH_KIND(name, number, words) GT_GRAPH_CALL_##name = (number),
#include "format/kinds/graphs.def"
};

/* CUgraphNodeType (cuda.h): those that reports tell apart. */
enum gt_graph_node_type {
	GT_GRAPH_NODE_KERNEL = 0,
	GT_GRAPH_NODE_MEMCPY = 1,
	GT_GRAPH_NODE_MEMSET = 2,
	GT_GRAPH_NODE_HOST = 3,
	GT_GRAPH_NODE_GRAPH = 4,
	GT_GRAPH_NODE_EMPTY = 5,
	GT_GRAPH_NODE_WAIT_EVENT = 6,
	GT_GRAPH_NODE_EVENT_RECORD = 7,
	GT_GRAPH_NODE_SEMAPHORES_SIGNAL = 8,
	GT_GRAPH_NODE_SEMAPHORES_WAIT = 9,
	GT_GRAPH_NODE_MEM_ALLOC = 10,
	GT_GRAPH_NODE_MEM_FREE = 11,
	GT_GRAPH_NODE_BATCH_MEM_OP = 12,
	GT_GRAPH_NODE_CONDITIONAL = 13,
	GT_GRAPH_NODE_TYPES, /* how many there are */
};

/* Whether a node of a type runs on the GPU by itself, and so has times. */
static inline bool gt_graph_node_runs(uint32_t type)
{
	return type == GT_GRAPH_NODE_KERNEL || type == GT_GRAPH_NODE_MEMCPY ||
	       type == GT_GRAPH_NODE_MEMSET;
}

/* The end of what: column "kind" of the records graph_end. */
enum gt_graph_end { GT_GRAPH_END_GRAPH, GT_GRAPH_END_EXEC, GT_GRAPH_END_NODE };

#endif

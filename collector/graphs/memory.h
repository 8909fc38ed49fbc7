/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_GRAPHS_MEMORY_H
#define GT_COLLECTOR_GRAPHS_MEMORY_H

#include "base/array.h"
#include "model/trace.h"

/*
 * Memory of graphs: nodes that allocate and free it, and what a launch therefore does. A node has
 * one address, which all launches of its clones use.
 */
struct gt_graph_memory {
	gt_id launch;
	gt_id made_by;    /* row of memory_calls, of the node that allocates; GT_NONE: none does */
	gt_id ended_by;   /* of the node that frees it; GT_NONE: none of this graph does */
	gt_time start_ns; /* of the launch; of its first work where the graph frees it as well */
	gt_time end_ns;   /* of its last work, 0: not known, or the graph does not free it */
};

/* More than so much is left out. */
#define GT_MOST_GRAPH_MEMORY ((size_t)1 << 22)

struct gt_graph_memories {
	gt_array(struct gt_graph_memory) list;
	bool cut; /* there was more than GT_MOST_GRAPH_MEMORY */
};

/* Tells the nodes of a trace what memory they are about, and adds what launches do with it. */
void gt_graph_memory_find(struct gt_trace *trace, struct gt_graph_memories *memories);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GRAPHS_ORDER_H
#define GT_MODEL_GRAPHS_ORDER_H

#include <stddef.h>

#include "model/graphs/path.h"
#include "model/trace.h"

/*
 * Which nodes of executable graphs wait for which, of all of them at once: the edges of
 * gt_graph_edges_add by rows of graph_nodes, in order of the node that waits.
 */
struct gt_graph_order {
	struct gt_graph_edges edges;
	size_t *first; /* by row of graph_nodes, and one more: edges to it */
};

/* The trace is not needed any longer. */
void gt_graph_order_init(struct gt_graph_order *order, const struct gt_trace *trace);
void gt_graph_order_release(struct gt_graph_order *order);

#endif

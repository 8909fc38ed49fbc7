/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_GRAPHS_NODE_TYPES_H
#define GT_COLLECTOR_GRAPHS_NODE_TYPES_H

#include "model/trace.h"

/*
 * The type of a CUDA graph's node, by the API call that made it: one that adds a node by hand, or
 * one that was captured. Calls that say nothing of it make kernels, as launches do.
 */
gt_count gt_graph_node_type_of(const char *call);

#endif

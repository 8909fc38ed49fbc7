/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_GRAPHS_CHANGES_H
#define GT_INJECTION_SNAPSHOT_GRAPHS_CHANGES_H

#include "injection/snapshot/graphs/kept.h"

/* Changes of single nodes of an executable graph, in what is kept of it. */

/* With the turn; what cannot be followed becomes the graph's reason. */
void gt_kept_graph_change_node(struct gt_kept_graphs *kept, struct gt_kept_graph *graph,
                               CUgraphNode handle, const struct gt_node_change *change);

#endif

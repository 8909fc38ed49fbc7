/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_NODES_H
#define GT_EXPORTERS_PERFETTO_NODES_H

#include "exporters/perfetto/wire/args.h"
#include "model/trace.h"

/*
 * Arguments of a GPU slice about the CUDA graph it came from: "graph" and "graph_node", CUPTI's
 * numbers, and of the node's origin "made_by", the API call that was captured or that added the
 * node, and "made_on_thread". Unknown ones are left out.
 */
struct gt_node_of {
	gt_count graph; /* CUPTI's number, 0: none */
	gt_wide number; /* of the node */
	gt_id node;     /* row of graph_nodes, or GT_NONE */
};

enum {
	GT_MADE_BY_SIZE = 64,
	GT_NODE_ARGS_MAX = 192, /* bytes of the arguments, packed */
};

/* made_by: room for a text that lives as long as the arguments. */
void gt_nodes_add_args(struct gt_args *args, const struct gt_trace *trace, struct gt_node_of work,
                       char made_by[GT_MADE_BY_SIZE]);

#endif

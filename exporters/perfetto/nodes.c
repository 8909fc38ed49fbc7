/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/nodes.h"

#include <stdio.h>

/* NULL where it is not known. */
static const struct gt_graph_node *origin_of(const struct gt_trace *trace, gt_id node)
{
	const gt_id origin =
		node < trace->graph_nodes.count ? trace->graph_nodes.rows[node].origin : GT_NONE;

	return origin < trace->graph_nodes.count ? &trace->graph_nodes.rows[origin] : NULL;
}

void gt_nodes_add_args(struct gt_args *args, const struct gt_trace *trace, struct gt_node_of work,
                       char made_by[GT_MADE_BY_SIZE])
{
	const struct gt_graph_node *origin = origin_of(trace, work.node);

	if (work.graph)
		gt_args_add_int(args, GT_ARG_GRAPH, work.graph);
	if (work.number)
		gt_args_add_int(args, GT_ARG_GRAPH_NODE, (int64_t)work.number);
	if (!origin)
		return;
	snprintf(made_by, GT_MADE_BY_SIZE, "%s", gt_trace_text(trace, origin->made_by));
	if (*made_by)
		gt_args_add_text(args, GT_ARG_MADE_BY, made_by);
	if (origin->thread < trace->threads.count)
		gt_args_add_int(args, GT_ARG_MADE_ON, trace->threads.rows[origin->thread].tid);
}

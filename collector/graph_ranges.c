/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/graph_ranges.h"

#include "model/graph.h"
#include "model/open_ranges.h"

/* For a node that a thread made which has no range open. */
static gt_id range_of_capture(const struct gt_trace *trace, const struct gt_open_ranges *open,
                              const struct gt_graph_node *node)
{
	const struct gt_graph *graph =
		node->graph < trace->graphs.count ? &trace->graphs.rows[node->graph] : NULL;

	if (!graph || graph->kind != GT_GRAPH_CAPTURED)
		return GT_NONE;
	return gt_open_range(open, graph->thread, node->made_ns);
}

void gt_graph_ranges_link(struct gt_trace *trace)
{
	struct gt_open_ranges open;

	gt_open_ranges_init(&open, trace);
	gt_array_each(struct gt_graph_node, node, &trace->graph_nodes) {
		const struct gt_graph_node *origin = &trace->graph_nodes.rows[node->origin];
		const gt_id range = origin->api_call < trace->api_calls.count
		                            ? trace->api_calls.rows[origin->api_call].range
		                            : GT_NONE;

		node->range = range < trace->ranges.count ? range
		                                          : range_of_capture(trace, &open, origin);
	}
	gt_open_ranges_release(&open);
}

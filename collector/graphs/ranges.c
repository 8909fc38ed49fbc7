/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/graphs/ranges.h"

#include "model/kinds/graph.h"
#include "model/ranges/open.h"

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

/*
 * A range on its own thread comes first. A range known by the number of another thread's operation
 * comes before the range of the capture, and one known by time alone after it.
 */
static void link_node(struct gt_trace *trace, const struct gt_open_ranges *open,
                      struct gt_graph_node *node)
{
	const struct gt_graph_node *origin = &trace->graph_nodes.rows[node->origin];
	const struct gt_api_call *call = origin->api_call < trace->api_calls.count
	                                         ? &trace->api_calls.rows[origin->api_call]
	                                         : NULL;
	const bool is_for = call && call->for_range < trace->ranges.count;
	const uint32_t by_time = is_for ? call->flags & GT_BY_TIME : 0;

	node->range = call && call->range < trace->ranges.count ? call->range : GT_NONE;
	node->for_range = GT_NONE;
	if (node->range == GT_NONE && (!is_for || by_time))
		node->range = range_of_capture(trace, open, origin);
	if (node->range != GT_NONE || !is_for)
		return;
	node->for_range = call->for_range;
	node->flags |= by_time;
}

void gt_graph_ranges_link(struct gt_trace *trace)
{
	struct gt_open_ranges open;

	gt_open_ranges_init(&open, trace);
	gt_array_each(struct gt_graph_node, node, &trace->graph_nodes)
		link_node(trace, &open, node);
	gt_open_ranges_release(&open);
}

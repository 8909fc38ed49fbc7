/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/owners.h"

#include "model/whole.h"

struct gt_owner gt_owner_of_call(const struct gt_trace *trace, gt_id api_call)
{
	struct gt_owner owner = {.range = GT_NONE};
	const struct gt_api_call *call;

	if (api_call >= trace->api_calls.count)
		return owner;
	call = &trace->api_calls.rows[api_call];
	owner.at_ns = call->start_ns;
	if (call->range < trace->ranges.count) {
		owner.range = call->range;
	} else if (call->for_range < trace->ranges.count) {
		owner.range = call->for_range;
		owner.by_time = (call->flags & GT_BY_TIME) != 0;
	}
	return owner;
}

struct gt_owner gt_owner_sure(struct gt_owner owner)
{
	if (owner.by_time)
		owner.range = GT_NONE;
	return owner;
}

/* Owner of a node of a graph, and of all its clones. */
static struct gt_owner owner_of_node(const struct gt_trace *trace, gt_id node)
{
	const struct gt_graph_node *nodes = trace->graph_nodes.rows;
	struct gt_owner owner = {.range = GT_NONE};
	gt_id origin;

	if (node >= trace->graph_nodes.count)
		return owner;
	if (nodes[node].range < trace->ranges.count) {
		owner.range = nodes[node].range;
	} else if (nodes[node].for_range < trace->ranges.count) {
		owner.range = nodes[node].for_range;
		owner.by_time = (nodes[node].flags & GT_BY_TIME) != 0;
	}
	origin = nodes[node].origin;
	owner.at_ns = nodes[origin < trace->graph_nodes.count ? origin : node].made_ns;
	return owner;
}

static struct gt_owners owners_of(const struct gt_trace *trace, enum gt_activity_type type,
                                  gt_id row)
{
	gt_id launch = GT_NONE;
	gt_id node = GT_NONE;

	switch (type) {
	case GT_ACTIVITY_KERNEL:
		launch = trace->kernels.rows[row].api_call;
		node = trace->kernels.rows[row].node;
		break;
	case GT_ACTIVITY_COPY:
		launch = trace->copies.rows[row].api_call;
		node = trace->copies.rows[row].node;
		break;
	case GT_ACTIVITY_FILL:
		launch = trace->fills.rows[row].api_call;
		node = trace->fills.rows[row].node;
		break;
	case GT_ACTIVITY_GRAPH:
		launch = trace->graph_traces.rows[row].api_call;
		break;
	}
	return (struct gt_owners){
		.launched = gt_owner_of_call(trace, launch),
		.captured = owner_of_node(trace, node),
	};
}

/* A call from before a window is not in what is left of the trace; the ranges around it are. */
struct gt_owners gt_owners_of(const struct gt_trace *trace, enum gt_activity_type type, gt_id row)
{
	struct gt_owners owners = owners_of(gt_whole_of(trace), type,
	                                    gt_whole_origin(trace, gt_activity_tables[type], row));

	owners.launched.range = gt_whole_shown(trace, GT_TABLE_ranges, owners.launched.range);
	owners.captured.range = gt_whole_shown(trace, GT_TABLE_ranges, owners.captured.range);
	return owners;
}

struct gt_owner gt_owner_of(const struct gt_trace *trace, enum gt_activity_type type, gt_id row)
{
	const struct gt_owners owners = gt_owners_of(trace, type, row);

	return owners.captured.range != GT_NONE ? owners.captured : owners.launched;
}

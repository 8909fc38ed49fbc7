/* SPDX-License-Identifier: Apache-2.0 */
#include "model/graphs/order.h"

#include <stdlib.h>

#include "base/array.h"

/* Edges of one executable graph, from places in a list to rows of graph_nodes. */
static void add_exec(struct gt_graph_order *order, struct gt_critical_paths *paths,
                     const gt_id *nodes, size_t count)
{
	const size_t first = order->edges.list.count;

	gt_graph_edges_add(paths, nodes, count, &order->edges);
	for (size_t i = first; i < order->edges.list.count; i++) {
		struct gt_graph_edge *edge = &order->edges.list.rows[i];

		*edge = (struct gt_graph_edge){nodes[edge->from], nodes[edge->to]};
	}
}

/* The nodes of each executable graph stand together once they are sorted by it. */
struct member {
	gt_id exec;
	gt_id node;
};

static int by_exec(const void *a, const void *b)
{
	const struct member *left = a;
	const struct member *right = b;

	if (left->exec != right->exec)
		return left->exec < right->exec ? -1 : 1;
	return (left->node > right->node) - (left->node < right->node);
}

static void add_execs(struct gt_graph_order *order, const struct gt_trace *trace)
{
	const size_t count = trace->graph_nodes.count;
	struct gt_critical_paths *paths = gt_critical_paths_new(trace);
	struct member *members = gt_allocate((count + 1) * sizeof(*members));
	gt_id *nodes = gt_allocate((count + 1) * sizeof(*nodes));
	size_t used = 0;

	for (gt_id i = 0; i < count; i++)
		if (trace->graph_nodes.rows[i].exec < trace->graph_execs.count)
			members[used++] = (struct member){trace->graph_nodes.rows[i].exec, i};
	if (used > 1)
		qsort(members, used, sizeof(*members), by_exec);
	for (size_t i = 0; i < used; i++)
		nodes[i] = members[i].node;
	for (size_t first = 0, end; first < used; first = end) {
		for (end = first; end < used && members[end].exec == members[first].exec; end++)
			;
		add_exec(order, paths, nodes + first, end - first);
	}
	gt_array_free(members);
	gt_array_free(nodes);
	gt_critical_paths_free(paths);
}

void gt_graph_order_init(struct gt_graph_order *order, const struct gt_trace *trace)
{
	const size_t count = trace->graph_nodes.count;
	size_t at = 0;

	*order = (struct gt_graph_order){.first = NULL};
	add_execs(order, trace);
	if (order->edges.list.count > 1)
		qsort(order->edges.list.rows, order->edges.list.count,
		      sizeof(*order->edges.list.rows), gt_graph_edge_by_to);
	order->first = gt_allocate((count + 1) * sizeof(*order->first));
	for (gt_id node = 0; node <= count; node++) {
		while (at < order->edges.list.count && order->edges.list.rows[at].to < node)
			at++;
		order->first[node] = at;
	}
}

void gt_graph_order_release(struct gt_graph_order *order)
{
	gt_array_release(&order->edges.list);
	gt_array_free(order->first);
	*order = (struct gt_graph_order){.first = NULL};
}

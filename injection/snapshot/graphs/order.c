/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graphs/order.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#define NONE UINT32_MAX

/* ---- an order in which each comes after all that it waits for ---- */

enum { NEW, BEGUN, LISTED };

/*
 * All that the node on top of the stack waits for goes on top of it, until there is nothing more.
 */
static int list(struct gt_graph_order *order, const struct gt_graph_nodes *nodes, uint32_t first,
                struct gt_error *err)
{
	uint32_t depth = 0;

	order->stack[depth++] = first;
	while (depth) {
		const uint32_t number = order->stack[depth - 1];
		const struct gt_graph_node *node = &nodes->nodes[number];
		uint32_t from;

		order->state[number] = BEGUN;
		if (order->next_edge[number] == node->edge_count) {
			order->state[number] = LISTED;
			order->order[order->count++] = number;
			depth--;
			continue;
		}
		from = nodes->edges[node->first_edge + order->next_edge[number]++].from;
		if (order->state[from] == BEGUN)
			return gt_fail(err, EINVAL, "nodes of the CUDA graph wait for each other");
		if (order->state[from] == NEW)
			order->stack[depth++] = from;
	}
	return 0;
}

static int list_all(struct gt_graph_order *order, const struct gt_graph_nodes *nodes,
                    struct gt_error *err)
{
	int result = 0;

	for (uint32_t i = 0; i < nodes->node_count && result == 0; i++)
		if (order->state[i] == NEW)
			result = list(order, nodes, i, err);
	return result;
}

/* ---- which stream ---- */

static const struct gt_graph_edge *edges_of(const struct gt_graph_nodes *nodes, uint32_t number)
{
	return &nodes->edges[nodes->nodes[number].first_edge];
}

static void join(uint32_t known[GT_GRAPH_STREAMS], const uint32_t other[GT_GRAPH_STREAMS])
{
	for (uint32_t i = 0; i < GT_GRAPH_STREAMS; i++)
		known[i] = other[i] > known[i] ? other[i] : known[i];
}

/* The stream of a node that it waits for and that nothing has come behind yet: it goes on there. */
static uint32_t find_chain(const struct gt_graph_order *order, const struct gt_graph_nodes *nodes,
                           uint32_t number)
{
	const struct gt_graph_edge *edges = edges_of(nodes, number);
	uint32_t found = NONE;

	for (uint32_t i = 0; i < nodes->nodes[number].edge_count; i++) {
		const uint32_t stream = order->stream[edges[i].from];

		if (order->last[stream] != edges[i].from)
			continue;
		if (edges[i].programmatic)
			return stream;
		if (found == NONE || stream == 0)
			found = stream;
	}
	return found;
}

/* One of which the node waits for all that is on it, as for stream 0 the first node does. */
static uint32_t find_done(const struct gt_graph_order *order, const struct gt_graph_nodes *nodes,
                          uint32_t number)
{
	const struct gt_graph_edge *edges = edges_of(nodes, number);
	uint32_t known[GT_GRAPH_STREAMS] = {1};

	for (uint32_t i = 0; i < nodes->nodes[number].edge_count; i++)
		join(known, order->known[edges[i].from]);
	for (uint32_t i = 0; i < order->stream_count; i++)
		if (known[i] >= order->placed[i])
			return i;
	return NONE;
}

static uint32_t choose(struct gt_graph_order *order, const struct gt_graph_nodes *nodes,
                       uint32_t number)
{
	uint32_t stream = find_chain(order, nodes, number);

	if (stream == NONE)
		stream = find_done(order, nodes, number);
	if (stream == NONE && order->stream_count < GT_GRAPH_STREAMS)
		stream = order->stream_count++;
	/* One that it does not have to come behind: that orders more than the graph does. */
	return stream == NONE ? 1 + order->turn++ % (GT_GRAPH_STREAMS - 1) : stream;
}

/* ---- what waits for what ---- */

static bool is_kernel(const struct gt_graph_node *node)
{
	return node->kind == GT_GRAPH_NODE_KERNEL && !node->disabled;
}

/* The number of waits that it takes. */
static uint32_t wait_for(struct gt_graph_order *order, const struct gt_graph_nodes *nodes,
                         uint32_t number, uint32_t known[GT_GRAPH_STREAMS])
{
	const struct gt_graph_node *node = &nodes->nodes[number];
	uint32_t waits = 0;

	for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
		const uint32_t from = nodes->edges[i].from;

		order->leads_on[from] = true;
		order->waits[i] = known[order->stream[from]] < order->place[from];
		if (!order->waits[i])
			continue;
		order->waiters[from]++;
		join(known, order->known[from]);
		waits++;
	}
	order->waits_begin[number] = known[0] == 0;
	if (known[0] == 0) {
		order->records_begin = true;
		known[0] = 1;
		waits++;
	}
	return waits;
}

static void place(struct gt_graph_order *order, const struct gt_graph_nodes *nodes, uint32_t number)
{
	const struct gt_graph_node *node = &nodes->nodes[number];
	const uint32_t stream = choose(order, nodes, number);
	const uint32_t last = order->last[stream];
	uint32_t *known = order->known[number];
	uint32_t waits;

	memset(known, 0, sizeof(order->known[number]));
	if (last != NONE)
		memcpy(known, order->known[last], sizeof(order->known[number]));
	else
		known[0] = stream == 0;
	waits = wait_for(order, nodes, number, known);
	order->programmatic[number] = waits == 0 && node->edge_count == 1 &&
	                              edges_of(nodes, number)->programmatic &&
	                              edges_of(nodes, number)->from == last && is_kernel(node) &&
	                              is_kernel(&nodes->nodes[last]);
	order->stream[number] = (uint8_t)stream;
	order->place[number] = ++order->placed[stream];
	known[stream] = order->place[number];
	order->last[stream] = number;
}

/* Ends first, whose waits make others needless. */
static void wait_for_ends(struct gt_graph_order *order)
{
	uint32_t known[GT_GRAPH_STREAMS] = {1};

	if (order->last[0] != NONE)
		memcpy(known, order->known[order->last[0]], sizeof(known));
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 1; i < order->stream_count; i++) {
			const uint32_t last = order->last[i];

			if (known[i] >= order->placed[i] || (pass == 0 && order->leads_on[last]))
				continue;
			order->waiters[last]++;
			order->ends[order->end_count++] = last;
			join(known, order->known[last]);
		}
	}
}

int gt_graph_order(struct gt_graph_order *order, const struct gt_graph_nodes *nodes,
                   struct gt_error *err)
{
	const uint32_t count = nodes->node_count;
	int result;

	order->count = 0;
	order->stream_count = 1;
	order->records_begin = false;
	order->end_count = 0;
	order->turn = 0;
	memset(order->waiters, 0, count * sizeof(*order->waiters));
	memset(order->state, NEW, count * sizeof(*order->state));
	memset(order->next_edge, 0, count * sizeof(*order->next_edge));
	memset(order->leads_on, 0, count * sizeof(*order->leads_on));
	memset(order->last, 0xff, sizeof(order->last));
	memset(order->placed, 0, sizeof(order->placed));
	order->placed[0] = 1; /* what comes before the graph */
	result = list_all(order, nodes, err);
	for (uint32_t i = 0; i < count && result == 0; i++)
		place(order, nodes, order->order[i]);
	if (result == 0)
		wait_for_ends(order);
	return result;
}

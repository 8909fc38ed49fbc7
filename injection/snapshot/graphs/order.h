/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_GRAPHS_ORDER_H
#define GT_INJECTION_SNAPSHOT_GRAPHS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "injection/snapshot/graphs/nodes.h"

struct gt_error;

/*
 * The nodes of a CUDA graph on streams: a chain of them stays on one, branches go to others, and
 * events order them as their dependencies do, and no more as long as there are streams left. Stream
 * 0 is that of the launch, which has what comes before the graph and waits for all of it.
 */

enum { GT_GRAPH_STREAMS = 33 };

struct gt_graph_order {
	uint32_t count; /* of nodes */
	uint32_t stream_count;
	bool records_begin; /* an event on stream 0, before anything: some nodes wait for it */
	uint32_t end_count; /* nodes that stream 0 waits for at the end: */
	uint32_t ends[GT_GRAPH_STREAMS];
	/* In the order in which they go to the streams: numbers of nodes. */
	uint32_t order[GT_GRAPH_NODES];
	/* For each node, by its number: */
	uint8_t stream[GT_GRAPH_NODES];
	bool waits_begin[GT_GRAPH_NODES];
	bool programmatic[GT_GRAPH_NODES]; /* it may begin before the one before it has ended */
	uint32_t waiters[GT_GRAPH_NODES];  /* that wait for its event; 0: it records none */
	/* For each edge: its node waits for the event of the other one. */
	bool waits[GT_GRAPH_EDGES];
	/* While it is made: */
	uint8_t state[GT_GRAPH_NODES];
	uint32_t stack[GT_GRAPH_NODES];
	uint32_t next_edge[GT_GRAPH_NODES];
	bool leads_on[GT_GRAPH_NODES];
	uint32_t place[GT_GRAPH_NODES]; /* on its stream, from 1 */
	uint32_t last[GT_GRAPH_STREAMS];
	uint32_t placed[GT_GRAPH_STREAMS];
	uint32_t turn;
	uint32_t known[GT_GRAPH_NODES][GT_GRAPH_STREAMS]; /* what has ended before it does */
};

/* -EINVAL with a sentence: the nodes wait for each other in a circle. */
int gt_graph_order(struct gt_graph_order *order, const struct gt_graph_nodes *nodes,
                   struct gt_error *err);

#endif

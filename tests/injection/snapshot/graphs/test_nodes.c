/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graphs/nodes.h"

#include <stdlib.h>

#include "base/error.h"
#include "injection/driver/capture_driver.h"
#include "support/check.h"

/*
 * On a driver that is made up: a graph of empty nodes, the last of which waits for all others, for
 * some only until they let others begin.
 */

enum { MOST = 200 };

struct CUgraph_st {
	size_t count;
	struct CUgraphNode_st {
		CUgraph graph;
	} nodes[MOST];
};

static struct CUgraph_st graph;
static bool first_is_programmatic;

/* Edges of both types, in turns that are none of two or three. */
static bool is_programmatic(size_t number)
{
	return (number * number % 7 < 3) == first_is_programmatic;
}

static CUresult tell_nodes(CUgraph of, CUgraphNode *nodes, size_t *count)
{
	for (size_t i = 0; nodes && i < of->count; i++)
		nodes[i] = &of->nodes[i];
	*count = of->count;
	return CUDA_SUCCESS;
}

static CUresult tell_type(CUgraphNode node, CUgraphNodeType *type)
{
	(void)node;
	*type = CU_GRAPH_NODE_TYPE_EMPTY;
	return CUDA_SUCCESS;
}

/* As many as there is room for. */
static CUresult tell_before(CUgraphNode node, CUgraphNode *before, CUgraphEdgeData *edges,
                            size_t *count)
{
	const size_t last = node->graph->count - 1;
	const size_t all = node == &node->graph->nodes[last] ? last : 0;

	if (*count > all)
		*count = all;
	for (size_t i = 0; i < *count; i++) {
		before[i] = &node->graph->nodes[i];
		edges[i] = (CUgraphEdgeData){.type = is_programmatic(i)
		                                             ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
		                                             : CU_GRAPH_DEPENDENCY_TYPE_DEFAULT};
	}
	return CUDA_SUCCESS;
}

static const struct gt_capture_driver driver = {
	.graph_nodes = tell_nodes,
	.node_type = tell_type,
	.node_before = tell_before,
};

static void expect_all_are_waited_for(size_t count)
{
	struct gt_graph_reader *reader = calloc(1, sizeof(*reader));
	const struct gt_graph_node *last = &reader->nodes[count];
	struct gt_error err = {0};

	reader->driver = &driver;
	graph.count = count + 1;
	for (size_t i = 0; i <= count; i++)
		graph.nodes[i].graph = &graph;
	cr_assert(eq(int, gt_graph_read(reader, &graph, &err), 0), "%s", err.text);
	cr_assert(eq(u32, reader->read.node_count, count + 1));
	cr_assert(eq(u32, last->edge_count, count));
	for (uint32_t i = 0; i < count; i++) {
		const struct gt_graph_edge *edge = &reader->read.edges[last->first_edge + i];

		cr_expect(eq(u32, edge->from, i));
		cr_expect(eq(int, edge->programmatic, is_programmatic(i)), "edge %u", i);
	}
	free(reader);
}

Test(graph_nodes, wait_for_each_of_those_before_them)
{
	static const size_t counts[] = {0, 1, 31, 32, 33, MOST - 1};

	for (size_t i = 0; i < 2 * sizeof(counts) / sizeof(counts[0]); i++) {
		first_is_programmatic = i % 2;
		expect_all_are_waited_for(counts[i / 2]);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graphs/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/check.h"

enum { MOST = 256 };

/* A graph that is made node by node, each kernel after those that it waits for. */
static struct gt_graph_node nodes[MOST];
static struct gt_graph_edge edges[MOST];
static struct gt_graph_nodes graph;
static struct gt_graph_order *order;

static void begin(void)
{
	memset(nodes, 0, sizeof(nodes));
	graph = (struct gt_graph_nodes){.nodes = nodes, .edges = edges};
	order = malloc(sizeof(*order));
}

static uint32_t add(uint32_t count, const uint32_t *before)
{
	nodes[graph.node_count] = (struct gt_graph_node){
		.kind = GT_GRAPH_NODE_KERNEL, .first_edge = graph.edge_count, .edge_count = count};
	for (uint32_t i = 0; i < count; i++)
		edges[graph.edge_count++] = (struct gt_graph_edge){.from = before[i]};
	return graph.node_count++;
}

#define AFTER(...)                                                                                 \
	add(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

static void put_in_order(void)
{
	struct gt_error err = {0};

	cr_assert(eq(int, gt_graph_order(order, &graph, &err), 0), "%s", err.text);
	cr_assert(eq(u32, order->count, graph.node_count));
}

static uint32_t count_waits(void)
{
	uint32_t count = order->end_count;

	for (uint32_t i = 0; i < graph.edge_count; i++)
		count += order->waits[i];
	for (uint32_t i = 0; i < graph.node_count; i++)
		count += order->waits_begin[i];
	return count;
}

/* Where a node stands in the order. */
static uint32_t place_of(uint32_t node)
{
	uint32_t place = 0;

	while (order->order[place] != node)
		place++;
	return place;
}

/*
 * Whether streams and events alone have the one end before the other begins: by all ways back from
 * it, in the order of the steps.
 */
static bool comes_before(uint32_t before, uint32_t after)
{
	bool reached[MOST] = {false};

	reached[after] = true;
	for (uint32_t i = place_of(after) + 1; i > 0; i--) {
		const uint32_t node = order->order[i - 1];

		if (!reached[node])
			continue;
		for (uint32_t j = i - 1; j > 0; j--)
			if (order->stream[order->order[j - 1]] == order->stream[node]) {
				reached[order->order[j - 1]] = true;
				break;
			}
		for (uint32_t j = 0; j < nodes[node].edge_count; j++)
			if (order->waits[nodes[node].first_edge + j])
				reached[edges[nodes[node].first_edge + j].from] = true;
	}
	return reached[before];
}

static void expect_dependencies(void)
{
	for (uint32_t i = 0; i < graph.node_count; i++)
		for (uint32_t j = 0; j < nodes[i].edge_count; j++)
			cr_expect(comes_before(edges[nodes[i].first_edge + j].from, i), "%u", i);
}

Test(graph_order, keeps_a_chain_on_one_stream, .init = begin)
{
	(void)add(0, NULL);
	(void)AFTER(0);
	(void)AFTER(1);
	put_in_order();
	cr_expect(eq(u32, order->stream_count, 1));
	cr_expect(eq(u32, count_waits(), 0));
	cr_expect(not(order->records_begin));
	cr_expect(eq(u32, order->order[2], 2));
	free(order);
}

Test(graph_order, gives_a_branch_a_stream_and_waits_for_it, .init = begin)
{
	(void)add(0, NULL);
	(void)AFTER(0);
	(void)AFTER(0);
	(void)AFTER(1, 2);
	put_in_order();
	expect_dependencies();
	cr_expect(eq(u32, order->stream_count, 2));
	cr_expect(eq(u32, count_waits(), 2));
	cr_expect(eq(u32, order->waiters[0], 1));
	cr_expect(eq(u32, order->stream[3], 0));
	cr_expect(not(comes_before(1, 2)));
	free(order);
}

Test(graph_order, has_roots_wait_for_what_was_before_and_the_stream_for_all_ends, .init = begin)
{
	(void)add(0, NULL);
	(void)add(0, NULL);
	(void)add(0, NULL);
	put_in_order();
	cr_expect(eq(u32, order->stream_count, 3));
	cr_expect(order->records_begin);
	cr_expect(not(order->waits_begin[0]));
	cr_expect(order->waits_begin[1]);
	cr_expect(order->waits_begin[2]);
	cr_expect(eq(u32, order->end_count, 2));
	cr_expect(eq(u32, order->waiters[1], 1));
	free(order);
}

Test(graph_order, takes_a_stream_again_whose_work_has_ended, .init = begin)
{
	uint32_t last = add(0, NULL);

	for (int i = 0; i < 20; i++) {
		const uint32_t left = AFTER(last);
		const uint32_t right = AFTER(last);

		last = AFTER(left, right);
	}
	put_in_order();
	expect_dependencies();
	cr_expect(eq(u32, order->stream_count, 2));
	cr_expect(eq(u32, count_waits(), 40));
	free(order);
}

Test(graph_order, puts_more_branches_than_streams_behind_others, .init = begin)
{
	uint32_t branches[50];

	(void)add(0, NULL);
	for (uint32_t i = 0; i < 50; i++)
		branches[i] = AFTER(0);
	(void)add(50, branches);
	put_in_order();
	expect_dependencies();
	cr_expect(eq(u32, order->stream_count, GT_GRAPH_STREAMS));
	free(order);
}

/* Made before what it waits for, as a node of a graph inside of a node may be. */
Test(graph_order, comes_after_what_was_made_later, .init = begin)
{
	(void)AFTER(2);
	(void)AFTER(0);
	(void)add(0, NULL);
	put_in_order();
	expect_dependencies();
	cr_expect(eq(u32, order->order[0], 2));
	cr_expect(eq(u32, order->order[2], 1));
	free(order);
}

Test(graph_order, knows_that_nothing_waits_twice, .init = begin)
{
	(void)add(0, NULL);
	(void)AFTER(0);
	(void)AFTER(0);
	(void)AFTER(2);
	(void)AFTER(1, 2, 3, 0); /* of what its stream has and the branch's end, only that end */
	put_in_order();
	expect_dependencies();
	cr_expect(eq(u32, order->waiters[0], 1));
	cr_expect(eq(u32, order->waiters[2] + order->waiters[3] <= 2, 1));
	free(order);
}

Test(graph_order, lets_a_kernel_begin_early_right_behind_the_one_that_lets_it, .init = begin)
{
	(void)add(0, NULL);
	edges[graph.edge_count].programmatic = true;
	(void)AFTER(0);
	(void)AFTER(0);
	(void)AFTER(1);
	edges[nodes[1].first_edge].programmatic = true;
	edges[nodes[2].first_edge].programmatic = true;
	put_in_order();
	cr_expect(order->programmatic[1]);
	cr_expect(not(order->programmatic[2]), "it is on another stream");
	cr_expect(not(order->programmatic[3]));
	nodes[0].disabled = true;
	put_in_order();
	cr_expect(not(order->programmatic[1]), "the one before does not run");
	free(order);
}

Test(graph_order, refuses_a_circle, .init = begin)
{
	struct gt_error err = {0};

	(void)AFTER(1);
	(void)AFTER(0);
	cr_expect(lt(int, gt_graph_order(order, &graph, &err), 0));
	cr_expect(ne(ptr, strstr(err.text, "wait for each other"), NULL));
	free(order);
}

Test(graph_order, has_nothing_of_an_empty_graph, .init = begin)
{
	put_in_order();
	cr_expect(eq(u32, count_waits(), 0));
	cr_expect(eq(u32, order->stream_count, 1));
	free(order);
}

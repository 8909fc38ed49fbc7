/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/graphs/kept.h"

#include <string.h>

#include "base/error.h"
#include "support/check.h"

/*
 * Covers SOURCE(kept_graphs), on a driver that is made up: graphs of kernels in a row, each of
 * which has two parameters, an address and a number of four bytes.
 */

enum { MOST = 64 };

struct CUgraph_st {
	size_t count;
	struct CUgraphNode_st {
		CUgraph graph;
		CUgraphNodeType type;
		uint64_t address;
		int number;
		void *parameters[2];
		CUgraph inside;
	} nodes[MOST];
};

static struct CUgraph_st first;
static struct CUgraph_st second;
static const CUgraphExec exec = (CUgraphExec)0x6000;
static struct gt_kept_graphs kept;

static CUresult tell_function_module(CUmodule *module, CUfunction function)
{
	*module = (CUmodule)0x100;
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult tell_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	(void)attribute;
	(void)function;
	*value = 0;
	return CUDA_SUCCESS;
}

static CUresult tell_parameter(CUfunction function, size_t parameter, size_t *offset, size_t *size)
{
	*offset = parameter * 8;
	*size = parameter == 0 ? 8 : 4;
	return parameter < (function == (CUfunction)0x300 ? 3u : 2u) ? CUDA_SUCCESS
	                                                             : CUDA_ERROR_INVALID_VALUE;
}

static CUresult tell_name(const char **name, CUfunction function)
{
	*name = function == (CUfunction)0x300 ? "_Z9it_is_longPfii" : "_Z5shortPfi";
	return CUDA_SUCCESS;
}

static CUresult tell_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	for (size_t i = 0; nodes && i < graph->count; i++)
		nodes[i] = &graph->nodes[i];
	*count = graph->count;
	return CUDA_SUCCESS;
}

static CUresult tell_type(CUgraphNode node, CUgraphNodeType *type)
{
	*type = node->type;
	return CUDA_SUCCESS;
}

static CUresult tell_before(CUgraphNode node, CUgraphNode *before, CUgraphEdgeData *edges,
                            size_t *count)
{
	*count = node > node->graph->nodes;
	before[0] = node - 1;
	memset(edges, 0, sizeof(*edges));
	return CUDA_SUCCESS;
}

static CUresult tell_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *kernel)
{
	node->parameters[0] = &node->address;
	node->parameters[1] = &node->number;
	*kernel = (CUDA_KERNEL_NODE_PARAMS){
		.func = (CUfunction)0x200, .gridDimX = 4, .kernelParams = node->parameters};
	return CUDA_SUCCESS;
}

static CUresult tell_node_attribute(CUgraphNode node, CUlaunchAttributeID attribute,
                                    CUlaunchAttributeValue *value)
{
	(void)node;
	(void)attribute;
	(void)value;
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult tell_graph(CUgraphNode node, CUgraph *graph)
{
	*graph = node->inside;
	return CUDA_SUCCESS;
}

static CUresult exchange(CUstreamCaptureMode *mode)
{
	(void)mode;
	return CUDA_SUCCESS;
}

static CUresult error_name(CUresult code, const char **text)
{
	(void)code;
	*text = "CUDA_ERROR";
	return CUDA_SUCCESS;
}

static void fill(CUgraph graph, size_t count, uint64_t address)
{
	graph->count = count;
	for (size_t i = 0; i < count; i++)
		graph->nodes[i] = (struct CUgraphNode_st){
			.graph = graph, .address = address + i, .number = (int)i};
}

static void begin(void)
{
	struct gt_error err = {0};

	memset(&kept, 0, sizeof(kept));
	cr_assert(eq(int, gt_kept_graphs_init(&kept, &err), 0), "%s", err.text);
	kept.driver = (struct gt_capture_driver){
		.error_name = error_name,
		.exchange_capture = exchange,
		.function_module = tell_function_module,
		.function_attribute = tell_attribute,
		.function_parameter = tell_parameter,
		.function_name = tell_name,
		.graph_nodes = tell_nodes,
		.node_type = tell_type,
		.node_before = tell_before,
		.node_kernel = tell_kernel,
		.node_attribute = tell_node_attribute,
		.node_graph = tell_graph,
	};
	kept.driver_open = true;
	fill(&first, 3, 1000);
	fill(&second, 3, 2000);
}

static struct gt_kept_graph *take(void)
{
	struct gt_kept_graph *graph = NULL;
	struct gt_error err = {0};

	cr_assert(eq(int, gt_kept_graphs_take(&kept, exec, &graph, &err), 0), "%s", err.text);
	return graph;
}

static void expect_refused(const char *words)
{
	struct gt_kept_graph *graph = NULL;
	struct gt_error err = {0};

	cr_expect(lt(int, gt_kept_graphs_take(&kept, exec, &graph, &err), 0));
	cr_expect(ne(ptr, strstr(err.text, words), NULL), "%s", err.text);
}

static uint64_t address_of(const struct gt_kept_graph *graph, uint32_t number)
{
	uint64_t address;

	memcpy(&address, graph->nodes.bytes + graph->nodes.nodes[number].block, sizeof(address));
	return address;
}

static const char *name_of(const struct gt_kept_graph *graph, uint32_t number)
{
	return (const char *)graph->nodes.bytes + graph->nodes.nodes[number].name;
}

Test(kept_graphs, outlive_what_they_were_made_from, .init = begin)
{
	const struct gt_kept_graph *graph;

	gt_kept_graphs_add(&kept, exec, &first, 0);
	memset(&first, 0, sizeof(first));
	graph = take();
	cr_assert(eq(u32, graph->nodes.node_count, 3));
	cr_expect(eq(u64, address_of(graph, 2), 1002));
	cr_expect(eq(u32, graph->nodes.nodes[1].launch.grid[0], 4));
	cr_expect(eq(u32, graph->nodes.edges[graph->nodes.nodes[2].first_edge].from, 1));
	cr_expect(eq(str, (char *)name_of(graph, 0), "_Z5shortPfi"));
	cr_expect(gt(sz, kept.bytes, 0));
}

Test(kept_graphs, are_none_of_what_was_not_seen_or_is_gone, .init = begin)
{
	expect_refused("before recording began");
	gt_kept_graphs_add(&kept, exec, &first, 0);
	gt_kept_graphs_remove(&kept, exec);
	expect_refused("before recording began");
	cr_expect(eq(sz, kept.bytes, 0));
}

Test(kept_graphs, say_what_they_cannot_have, .init = begin)
{
	first.nodes[1].type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
	gt_kept_graphs_add(&kept, exec, &first, 0);
	expect_refused("has a conditional node");
	first.nodes[1].type = CU_GRAPH_NODE_TYPE_KERNEL;
	gt_kept_graphs_add(&kept, exec, &first, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
	expect_refused("kernels may launch");
	gt_kept_graphs_add(&kept, exec, &first, 0);
	gt_kept_graphs_give(&kept, take());
}

/* Later changes name the nodes of the graph that it was made from. */
Test(kept_graphs, are_as_the_graph_that_they_were_updated_to, .init = begin)
{
	const unsigned off = 0;
	const struct gt_node_change change = {.enabled = &off};
	struct gt_kept_graph *graph;
	const size_t *bytes = &kept.bytes;
	size_t before;

	gt_kept_graphs_add(&kept, exec, &first, 0);
	before = *bytes;
	gt_kept_graphs_update(&kept, exec, &second);
	cr_expect(eq(sz, *bytes, before));
	graph = take();
	cr_expect(eq(u64, address_of(graph, 1), 2001));
	gt_kept_graphs_give(&kept, graph);
	gt_kept_graphs_change(&kept, exec, &first.nodes[1], &change);
	graph = take();
	cr_expect(graph->nodes.nodes[1].disabled);
	gt_kept_graphs_give(&kept, graph);
	gt_kept_graphs_update(&kept, exec, &second);
	expect_refused("switched off");
}

Test(kept_graphs, have_what_a_node_was_changed_to, .init = begin)
{
	uint64_t address = 5000;
	int number = 1;
	int more = 2;
	void *parameters[] = {&address, &number, &more};
	const CUDA_KERNEL_NODE_PARAMS kernel = {
		.func = (CUfunction)0x300, .gridDimX = 9, .kernelParams = parameters};
	const struct gt_node_change change = {.kernel = &kernel};
	struct gt_kept_graph *graph;
	int last;

	gt_kept_graphs_add(&kept, exec, &first, 0);
	for (int i = 0; i < 3; i++, address++)
		gt_kept_graphs_change(&kept, exec, &first.nodes[1], &change);
	graph = take();
	cr_expect(eq(u64, address_of(graph, 1), 5002));
	cr_expect(eq(str, (char *)name_of(graph, 1), "_Z9it_is_longPfii"));
	cr_expect(eq(u32, graph->nodes.nodes[1].launch.grid[0], 9));
	cr_assert(eq(u32, graph->nodes.nodes[1].block_bytes, 20));
	memcpy(&last, graph->nodes.bytes + graph->nodes.nodes[1].block + 16, sizeof(last));
	cr_expect(eq(int, last, 2));
	cr_expect(eq(u64, address_of(graph, 0), 1000));
	cr_expect(eq(u64, address_of(graph, 2), 1002));
	cr_expect(eq(str, (char *)name_of(graph, 2), "_Z5shortPfi"));
}

/* Whether a name is looked for is known of it as long as the node has it. */
Test(kept_graphs, forget_what_was_found_of_a_name_that_is_another_one, .init = begin)
{
	uint64_t address = 5000;
	int number = 1;
	int more = 2;
	void *parameters[] = {&address, &number, &more};
	CUDA_KERNEL_NODE_PARAMS kernel = {
		.func = (CUfunction)0x200, .gridDimX = 9, .kernelParams = parameters};
	const struct gt_node_change change = {.kernel = &kernel};
	struct gt_kept_graph *graph;

	gt_kept_graphs_add(&kept, exec, &first, 0);
	graph = take();
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect(eq(int, (int)graph->nodes.nodes[i].named, GT_GRAPH_NODE_UNASKED));
		graph->nodes.nodes[i].named = GT_GRAPH_NODE_WANTED;
	}
	gt_kept_graphs_give(&kept, graph);
	gt_kept_graphs_change(&kept, exec, &first.nodes[1], &change); /* the same function */
	cr_expect(eq(int, (int)graph->nodes.nodes[1].named, GT_GRAPH_NODE_WANTED));
	kernel.func = (CUfunction)0x300;
	gt_kept_graphs_change(&kept, exec, &first.nodes[1], &change);
	cr_expect(eq(int, (int)graph->nodes.nodes[1].named, GT_GRAPH_NODE_UNASKED));
	cr_expect(eq(int, (int)graph->nodes.nodes[2].named, GT_GRAPH_NODE_WANTED));
	gt_kept_graphs_update(&kept, exec, &second);
	cr_expect(eq(int, (int)graph->nodes.nodes[2].named, GT_GRAPH_NODE_UNASKED));
}

/* However often: it takes no more room than it did at first. */
Test(kept_graphs, have_what_a_graph_inside_of_a_node_was_changed_to, .init = begin)
{
	static struct CUgraph_st third;
	const CUgraph graphs[] = {&second, &third};
	const uint32_t first_inside = 4; /* after those of the graph and what all of it waits for */
	struct gt_node_change change = {.inside = &graphs[1]};
	struct gt_kept_graph *graph;
	size_t bytes;

	fill(&third, 3, 3000);
	first.nodes[1].type = CU_GRAPH_NODE_TYPE_GRAPH;
	first.nodes[1].inside = &second;
	gt_kept_graphs_add(&kept, exec, &first, 0);
	graph = take();
	cr_assert(eq(u32, graph->nodes.node_count, 7));
	cr_expect(eq(u64, address_of(graph, first_inside + 1), 2001));
	cr_expect(eq(u32, graph->nodes.edges[graph->nodes.nodes[2].first_edge].from, 1));
	cr_expect(eq(u32, graph->nodes.edges[graph->nodes.nodes[1].first_edge].from, 6));
	graph->nodes.nodes[first_inside + 2].named = GT_GRAPH_NODE_WANTED;
	gt_kept_graphs_give(&kept, graph);
	gt_kept_graphs_change(&kept, exec, &first.nodes[1], &change);
	bytes = kept.bytes;
	for (int i = 0; i < 100; i++) {
		change.inside = &graphs[i % 2];
		gt_kept_graphs_change(&kept, exec, &first.nodes[1], &change);
	}
	cr_expect(eq(sz, kept.bytes, bytes));
	graph = take();
	cr_expect(eq(u64, address_of(graph, first_inside + 2), 3002));
	cr_expect(eq(str, (char *)name_of(graph, first_inside + 2), "_Z5shortPfi"));
	cr_expect(eq(int, (int)graph->nodes.nodes[first_inside + 2].named, GT_GRAPH_NODE_UNASKED));
	cr_expect(eq(u32, graph->nodes.edges[graph->nodes.nodes[6].first_edge].from, 5));
	cr_expect(eq(u64, address_of(graph, 2), 1002));
	gt_kept_graphs_give(&kept, graph);
	third.count = 2;
	gt_kept_graphs_change(&kept, exec, &first.nodes[1],
	                      &(struct gt_node_change){.inside = &graphs[1]});
	expect_refused("was changed in a way");
}

Test(kept_graphs, are_given_up_where_a_change_is_not_followed, .init = begin)
{
	const struct gt_node_change change = {.reason = "it was changed somehow"};
	const CUDA_MEMCPY3D copy = {.Height = 1};
	const struct gt_node_change to_copy = {.copy = &copy};

	gt_kept_graphs_add(&kept, exec, &first, 0);
	gt_kept_graphs_change(&kept, exec, &second.nodes[0], &to_copy);
	expect_refused("that is not known");
	gt_kept_graphs_add(&kept, exec, &first, 0);
	gt_kept_graphs_change(&kept, exec, &first.nodes[0], &to_copy);
	expect_refused("of another type");
	gt_kept_graphs_add(&kept, exec, &first, 0);
	gt_kept_graphs_change(&kept, exec, &first.nodes[0], &change);
	expect_refused("somehow");
}

Test(kept_graphs, are_given_up_when_nobody_hears_of_changes_any_more, .init = begin)
{
	gt_kept_graphs_add(&kept, exec, &first, 0);
	gt_kept_graphs_lose(&kept);
	expect_refused("switched off for a while");
	gt_kept_graphs_add(&kept, exec, &first, 0);
	gt_kept_graphs_give(&kept, take());
}

/* A program that does what it may not: nothing is read that is not there any more. */
Test(kept_graphs, stay_while_they_are_used, .init = begin)
{
	struct gt_kept_graph *graph;

	gt_kept_graphs_add(&kept, exec, &first, 0);
	graph = take();
	expect_refused("another thread launches");
	gt_kept_graphs_remove(&kept, exec);
	cr_expect(eq(u64, address_of(graph, 2), 1002));
	gt_kept_graphs_give(&kept, graph);
	cr_expect(eq(sz, kept.bytes, 0));
	gt_kept_graphs_add(&kept, exec, &first, 0);
	graph = take();
	gt_kept_graphs_update(&kept, exec, &second);
	cr_expect(eq(u64, address_of(graph, 1), 1001));
	gt_kept_graphs_give(&kept, graph);
	expect_refused("while it was captured");
}

/* Handles that fall on one place: each is found, whichever of the others is gone. */
Test(kept_graphs, are_found_behind_others, .init = begin)
{
	enum { COUNT = 3000 };
	struct gt_kept_graph *graph = NULL;
	struct gt_error err = {0};

	for (uintptr_t i = 1; i <= COUNT; i++)
		gt_kept_graphs_add(&kept, (CUgraphExec)(i * 64), &first, 0);
	for (uintptr_t i = 1; i <= COUNT; i += 2)
		gt_kept_graphs_remove(&kept, (CUgraphExec)(i * 64));
	for (uintptr_t i = 1; i <= COUNT; i++) {
		const int result = gt_kept_graphs_take(&kept, (CUgraphExec)(i * 64), &graph, &err);

		cr_expect(eq(int, result == 0, i % 2 == 0));
		if (result == 0)
			gt_kept_graphs_give(&kept, graph);
	}
	for (uintptr_t i = 2; i <= COUNT; i += 2)
		gt_kept_graphs_remove(&kept, (CUgraphExec)(i * 64));
	cr_expect(eq(sz, kept.bytes, 0));
	for (uint32_t i = 0; i < GT_KEPT_GRAPHS; i++)
		cr_expect(not(kept.graphs[i].was_taken));
}

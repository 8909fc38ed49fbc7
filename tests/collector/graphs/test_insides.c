/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/graphs/node_types.h"
#include "collector/recorded.h"
#include "model/kinds/graph.h"
#include "support/check.h"
#include "support/recording.h"

/*
 * Graphs inside of nodes, as CUPTI 13.0 tells of them: no types, other numbers in activity than in
 * callbacks, and no correlation ids in the bodies of conditional nodes.
 */

enum {
	THREAD = 100,
	CHILD = 4, /* CUPTI's ids of graphs: what is inside of a node of GRAPH */
	GRAPH = 5, /* a kernel, the node with CHILD inside, a kernel */
	EXEC = 9,  /* what becomes of GRAPH, and INSIDE of CHILD */
	INSIDE = 10,
	HANDLE = 0xec00,
	INSTANTIATION = 10, /* correlation ids */
	LAUNCH = 20,
};

static uint32_t next_string;

static void prepare(void)
{
	make();
	next_string = STRING_NEXT;
}

TestSuite(graph_insides, .init = prepare, .fini = drop);

static uint64_t node(uint32_t graph, uint32_t index)
{
	return (uint64_t)graph << 32 | index;
}

static void call_at(const char *function, uint64_t at, uint32_t correlation)
{
	recording_add_string(&recording, next_string, function);
	recording_add(&recording, api_call, .start_ns = at, .end_ns = at + 50,
	              .correlation = correlation, .function = next_string++, .thread = THREAD);
}

static void add_graph(uint32_t number, uint64_t at, uint32_t correlation)
{
	recording_add(&recording, graph, .made_ns = at, .number = number,
	              .correlation = correlation, .thread = THREAD);
}

static void add_node(uint64_t number, uint64_t original, uint64_t at, uint32_t correlation,
                     uint32_t type)
{
	recording_add(&recording, graph_node, .made_ns = at, .number = number,
	              .original_number = original, .graph_number = (uint32_t)(number >> 32),
	              .correlation = correlation, .thread = THREAD, .type = type);
}

/* GRAPH: a kernel, a node made by that call with two nodes inside, a kernel. */
static void build(const char *call, uint32_t type, const char *second_inside)
{
	call_at("cuGraphCreate", 2000, 1);
	add_graph(GRAPH, 2010, 1);
	call_at("cuGraphAddKernelNode_v2", 2100, 2);
	add_node(node(GRAPH, 0), 0, 2110, 2, 0);
	call_at(call, 2200, 3);
	add_graph(CHILD, 2210, 3);
	add_node(node(GRAPH, 1), 0, 2220, 3, type);
	call_at("cuGraphAddKernelNode_v2", 2300, 4);
	add_node(node(CHILD, 0), 0, 2310, 4, 0);
	call_at(second_inside, 2400, 5);
	add_node(node(CHILD, 1), 0, 2410, 5, 0);
	call_at("cuGraphAddKernelNode_v2", 2500, 6);
	add_node(node(GRAPH, 2), 0, 2510, 6, 0);
}

static void instantiate(void)
{
	call_at("cuGraphInstantiateWithFlags", 3000, INSTANTIATION);
	add_graph(EXEC, 3005, INSTANTIATION);
	add_node(node(EXEC, 0), node(GRAPH, 0), 3010, INSTANTIATION, 0);
	add_graph(INSIDE, 3015, INSTANTIATION);
	add_node(node(INSIDE, 0), node(CHILD, 0), 3020, INSTANTIATION, 0);
	add_node(node(INSIDE, 1), node(CHILD, 1), 3021, INSTANTIATION, 0);
	add_node(node(EXEC, 1), node(GRAPH, 1), 3022, INSTANTIATION, 0);
	add_node(node(EXEC, 2), node(GRAPH, 2), 3023, INSTANTIATION, 0);
	add_node(node(EXEC, 5), 0, 3030, INSTANTIATION, 0); /* the driver's own */
	recording_add(&recording, graph_exec, .made_ns = 3040, .handle = HANDLE, .number = EXEC,
	              .graph_number = GRAPH, .correlation = INSTANTIATION, .thread = THREAD);
}

static void launch(uint64_t at, uint32_t correlation)
{
	call_at("cuGraphLaunch", at, correlation);
	recording_add(&recording, graph_launch, .start_ns = at + 5, .handle = HANDLE,
	              .context = CONTEXT, .correlation = correlation, .thread = THREAD);
}

static void run_node(uint32_t index, uint64_t at, uint32_t correlation)
{
	recording_add(&recording, kernel, .start_ns = at, .end_ns = at + 5, .graph = EXEC,
	              .graph_node = node(EXEC, index), .correlation = correlation, .shape = SHAPE,
	              .context = CONTEXT, .stream = STREAM);
}

/* The kernel that starts then. */
static const struct gt_kernel *kernel_at(gt_time start_ns)
{
	gt_array_each(const struct gt_kernel, kernel, &trace.kernels)
		if (kernel->start_ns - trace.kernels.rows[0].start_ns == start_ns - 4000)
			return kernel;
	cr_fatal("no kernel starts at %lld", (long long)start_ns);
	return NULL;
}

static uint64_t node_at(gt_time start_ns)
{
	const gt_id row = kernel_at(start_ns)->node;

	return row < trace.graph_nodes.count ? trace.graph_nodes.rows[row].number : 0;
}

static uint32_t call_of(gt_time start_ns)
{
	const gt_id row = kernel_at(start_ns)->api_call;

	return row < trace.api_calls.count ? trace.api_calls.rows[row].correlation : 0;
}

Test(graph_insides, are_found_by_the_numbers_that_activity_has_for_them)
{
	build("cuGraphAddChildGraphNode", 0, "cuGraphAddMemsetNode");
	instantiate();
	launch(3900, LAUNCH);
	for (uint32_t i = 0; i < 5; i++)
		if (i != 1)
			run_node(i, 4000 + 10 * i, LAUNCH);
	finish();
	cr_expect(eq(u64, node_at(4000), node(EXEC, 0)));
	cr_expect(eq(u64, node_at(4020), node(EXEC, 2)));
	cr_expect(eq(u64, node_at(4030), node(INSIDE, 0)));
	cr_expect(eq(u64, node_at(4040), node(INSIDE, 1)));
}

Test(graph_insides, are_not_known_where_an_activity_ran_on_what_cannot_run)
{
	build("cuGraphAddChildGraphNode", 0, "cuGraphAddHostNode");
	instantiate();
	launch(3900, LAUNCH);
	run_node(0, 4000, LAUNCH);
	run_node(3, 4030, LAUNCH);
	run_node(4, 4040, LAUNCH); /* by the rule a function of the host */
	finish();
	cr_expect(eq(u64, node_at(4000), node(EXEC, 0)));
	cr_expect(eq(u64, node_at(4030), 0));
	cr_expect(eq(u64, node_at(4040), 0));
}

Test(graph_insides, have_types_by_the_calls_that_made_them)
{
	build("cuGraphAddNode_v2", GT_GRAPH_NODE_CONDITIONAL, "cuGraphAddMemsetNode");
	instantiate();
	finish();
	gt_array_each(const struct gt_graph_node, row, &trace.graph_nodes) {
		gt_count expected = GT_GRAPH_NODE_KERNEL;

		if (row->number == node(GRAPH, 1) || row->number == node(EXEC, 1))
			expected = GT_GRAPH_NODE_CONDITIONAL;
		else if (row->number == node(CHILD, 1) || row->number == node(INSIDE, 1))
			expected = GT_GRAPH_NODE_MEMSET;
		else if (row->number == node(EXEC, 5))
			expected = GT_GRAPH_NODE_EMPTY;
		cr_expect(eq(u32, row->type, expected), "%llx", (unsigned long long)row->number);
	}
	cr_expect(eq(u32, gt_graph_node_type_of("cudaLaunchKernel"), GT_GRAPH_NODE_KERNEL));
	cr_expect(eq(u32, gt_graph_node_type_of("cudaLaunchHostFunc"), GT_GRAPH_NODE_HOST));
	cr_expect(
		eq(u32, gt_graph_node_type_of("cudaMallocFromPoolAsync"), GT_GRAPH_NODE_MEM_ALLOC));
	cr_expect(eq(u32, gt_graph_node_type_of("cuStreamWaitValue32_v2"),
	             GT_GRAPH_NODE_BATCH_MEM_OP));
	cr_expect(eq(u32, gt_graph_node_type_of("cuGraphAddExternalSemaphoresWaitNode"),
	             GT_GRAPH_NODE_SEMAPHORES_WAIT));
}

Test(graph_insides, keep_the_drivers_own_nodes_out_of_all_figures)
{
	build("cuGraphAddChildGraphNode", 0, "cuGraphAddMemsetNode");
	instantiate();
	finish();
	cr_assert(eq(sz, trace.graph_execs.count, 1));
	cr_expect(eq(u32, trace.graph_execs.rows[0].added_nodes, 1));
	gt_array_each(const struct gt_graph_node, row, &trace.graph_nodes)
		if (row->number == node(EXEC, 5))
			cr_expect(eq(u32, row->exec, GT_NONE));
}

/* Two launches of a loop of two rounds, whose kernels name no call. */
static void run_loops(bool first, bool last)
{
	build("cuGraphAddNode_v2", GT_GRAPH_NODE_CONDITIONAL, "cuGraphAddMemsetNode");
	instantiate();
	launch(3800, LAUNCH);
	launch(3900, LAUNCH + 1);
	for (uint32_t i = 0; i < 2; i++) {
		const uint64_t at = 4000 + 100 * i;

		run_node(first ? 0 : 3, at, first ? LAUNCH + i : 0);
		run_node(3, at + 10, 0);
		run_node(3, at + 20, 0);
		run_node(last ? 2 : 3, at + 30, last ? LAUNCH + i : 0);
	}
	finish();
}

Test(graph_insides, of_a_body_belong_to_the_launch_that_began_before_them)
{
	run_loops(true, false);
	for (uint32_t i = 0; i < 2; i++) {
		cr_expect(eq(u32, call_of(4010 + 100 * i), LAUNCH + i));
		cr_expect(eq(u32, call_of(4030 + 100 * i), LAUNCH + i));
	}
}

Test(graph_insides, of_a_body_at_the_start_belong_to_the_launch_that_ends_after_them)
{
	run_loops(false, true);
	for (uint32_t i = 0; i < 2; i++) {
		cr_expect(eq(u32, call_of(4000 + 100 * i), LAUNCH + i));
		cr_expect(eq(u32, call_of(4020 + 100 * i), LAUNCH + i));
	}
}

Test(graph_insides, of_bodies_alone_name_no_launch)
{
	run_loops(false, false);
	for (uint32_t i = 0; i < 2; i++)
		cr_expect(eq(u32, call_of(4010 + 100 * i), 0));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "collector/recorded.h"
#include "format/ranges.h"
#include "model/kinds/graph.h"
#include "model/ranges/owners.h"
#include "support/check.h"
#include "support/recording.h"

/* Covers STAGE(graphs): graphs, nodes and executable graphs from the ids of their records. */

enum {
	THREAD = 100,
	OTHER_THREAD = 101,
	GRAPH = 5, /* CUPTI's ids */
	EXEC = 9,
	NODE = 0x5000, /* of GRAPH; those of EXEC are EXEC_NODE and so on */
	EXEC_NODE = 0x9000,
	HANDLE = 0xec00,
};

TestSuite(graphs, .init = make, .fini = drop);

static uint32_t next_string = STRING_NEXT;

static void call_at(const char *function, uint64_t at, uint32_t correlation, uint32_t thread)
{
	recording_add_string(&recording, next_string, function);
	recording_add(&recording, api_call, .start_ns = at, .end_ns = at + 50,
	              .correlation = correlation, .function = next_string++, .thread = thread);
}

static void add_graph(uint32_t number, uint32_t original, uint64_t at, uint32_t correlation)
{
	recording_add(&recording, graph, .made_ns = at, .number = number,
	              .original_number = original, .correlation = correlation, .thread = THREAD);
}

static void add_node(uint64_t number, uint32_t graph, uint64_t at, uint32_t correlation)
{
	recording_add(&recording, graph_node, .made_ns = at, .number = number,
	              .graph_number = graph, .correlation = correlation, .thread = THREAD);
}

/* As CUPTI tells of clones: made first, cloned then. */
static void add_clone(uint64_t number, uint64_t original, uint32_t graph, uint64_t at,
                      uint32_t correlation)
{
	add_node(number, graph, at, correlation);
	recording_add(&recording, graph_node, .made_ns = at + 1, .number = number,
	              .original_number = original, .graph_number = graph,
	              .correlation = correlation, .thread = THREAD);
}

static void add_dependency(uint64_t from, uint64_t to, uint32_t correlation)
{
	recording_add(&recording, graph_dependency, .from_number = from, .to_number = to,
	              .correlation = correlation);
}

static void make_graph_inside(uint32_t graph)
{
	recording_add(&recording, graph_node, .made_ns = 2110, .number = NODE,
	              .graph_number = GRAPH, .correlation = 2, .thread = THREAD,
	              .type = GT_GRAPH_NODE_GRAPH);
	add_graph(graph, 0, 2120, 2);
	add_graph(graph, 99, 2121, 2);
}

/* Three launches that are captured, by two threads, from time 2000 on: calls 1 to 4. */
static void add_capture(void)
{
	call_at("cuStreamBeginCapture_v2", 2000, 1, THREAD);
	add_graph(GRAPH, 0, 2010, 1);
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t at = 2100 + 100 * i;

		call_at("cuLaunchKernel", at, 2 + i, i == 2 ? OTHER_THREAD : THREAD);
		add_node(NODE + i, GRAPH, at + 10, 2 + i);
		if (i > 0)
			add_dependency(NODE + i - 1, NODE + i, 2 + i);
	}
}

/* The graph of add_capture becomes executable at a time. */
static void instantiate(uint32_t exec, uint64_t handle, uint64_t first_node, uint64_t at,
                        uint32_t correlation)
{
	call_at("cuGraphInstantiateWithFlags", at, correlation, THREAD);
	recording_add(&recording, graph_call, .start_ns = at + 5, .end_ns = at + 45,
	              .handle = handle, .graph_number = GRAPH, .kind = GT_GRAPH_CALL_INSTANTIATE,
	              .options = 2, .outcome = -1, .correlation = correlation, .thread = THREAD);
	for (uint32_t i = 0; i < 3; i++)
		add_clone(first_node + i, NODE + i, exec, at + 10, correlation);
	recording_add(&recording, graph_exec, .made_ns = at + 30, .handle = handle, .number = exec,
	              .graph_number = GRAPH, .correlation = correlation, .thread = THREAD);
}

/* A launch at a time, and its kernels 100 ns later. */
static void launch(uint64_t handle, uint32_t graph, uint64_t first_node, uint64_t at,
                   uint32_t correlation)
{
	call_at("cuGraphLaunch", at, correlation, THREAD);
	recording_add(&recording, graph_launch, .start_ns = at + 5, .handle = handle,
	              .context = CONTEXT, .correlation = correlation, .thread = THREAD);
	for (uint32_t i = 0; i < 3; i++)
		recording_add(&recording, kernel, .start_ns = at + 100 + 10 * i,
		              .end_ns = at + 109 + 10 * i, .graph = graph,
		              .graph_node = first_node + i, .correlation = correlation,
		              .shape = SHAPE, .context = CONTEXT, .stream = STREAM);
}

static const struct gt_graph_node *node_with(uint64_t number)
{
	gt_array_each(const struct gt_graph_node, node, &trace.graph_nodes)
		if (node->number == number)
			return node;
	cr_fatal("there is no node %llx", (unsigned long long)number);
	return NULL;
}

static const char *call_of(gt_id row)
{
	return row < trace.api_calls.count
	               ? gt_trace_text(&trace, trace.api_calls.rows[row].function)
	               : "";
}

Test(graphs, lead_from_a_kernel_to_the_launch_that_was_captured)
{
	const struct gt_graph_node *node;
	const struct gt_graph_node *origin;

	add_capture();
	instantiate(EXEC, HANDLE, EXEC_NODE, 3000, 10);
	launch(HANDLE, EXEC, EXEC_NODE, 4000, 11);
	finish();
	cr_assert(eq(sz, trace.kernels.count, 3));
	cr_assert(eq(sz, trace.graph_nodes.count, 6));
	cr_assert(lt(u32, trace.kernels.rows[2].node, 6));
	node = &trace.graph_nodes.rows[trace.kernels.rows[2].node];
	cr_expect(eq(u64, node->number, EXEC_NODE + 2));
	cr_expect(eq(u32, node->exec, 0));
	cr_expect(eq(u64, trace.graph_nodes.rows[node->original].number, NODE + 2));
	origin = &trace.graph_nodes.rows[node->origin];
	cr_expect(eq(u64, origin->number, NODE + 2));
	cr_expect(eq(u32, origin->origin, node->origin));
	expect_text(call_of(origin->api_call), "cuLaunchKernel");
	expect_text(gt_trace_text(&trace, origin->made_by), "cuLaunchKernel");
	cr_expect(eq(u64, trace.api_calls.rows[origin->api_call].correlation, 4));
	cr_expect(eq(u32, trace.threads.rows[trace.api_calls.rows[origin->api_call].thread].tid,
	             OTHER_THREAD));
	cr_expect(eq(u32, node->shape, trace.kernels.rows[2].shape));
	cr_expect(eq(u32, origin->shape, trace.kernels.rows[2].shape));
}

Test(graphs, say_how_they_were_made_and_what_was_made_of_them)
{
	add_capture();
	instantiate(EXEC, HANDLE, EXEC_NODE, 3000, 10);
	finish();
	cr_assert(eq(sz, trace.graphs.count, 1));
	cr_expect(eq(u32, trace.graphs.rows[0].kind, GT_GRAPH_CAPTURED));
	cr_expect(eq(u32, trace.graphs.rows[0].number, GRAPH));
	cr_assert(eq(sz, trace.graph_execs.count, 1));
	cr_expect(eq(u32, trace.graph_execs.rows[0].graph, 0));
	cr_expect(eq(u32, trace.graph_execs.rows[0].number, EXEC));
	cr_assert(eq(u32, trace.graph_execs.rows[0].instantiation, 0));
	cr_expect(eq(u32, trace.graph_calls.rows[0].options, 2));
	cr_expect(eq(u32, trace.graph_calls.rows[0].exec, 0));
	cr_expect(eq(u32, trace.graph_calls.rows[0].graph, 0));
	expect_text(call_of(trace.graph_calls.rows[0].api_call), "cuGraphInstantiateWithFlags");
}

Test(graphs, of_one_handle_after_the_other_are_told_apart_by_time)
{
	add_capture();
	instantiate(EXEC, HANDLE, EXEC_NODE, 3000, 10);
	launch(HANDLE, EXEC, EXEC_NODE, 4000, 11);
	recording_add(&recording, graph_end, .time_ns = 5000, .number = EXEC,
	              .kind = GT_GRAPH_END_EXEC);
	instantiate(EXEC + 1, HANDLE, EXEC_NODE + 0x100, 6000, 12);
	launch(HANDLE, EXEC + 1, EXEC_NODE + 0x100, 7000, 13);
	finish();
	cr_assert(eq(sz, trace.graph_launches.count, 2));
	cr_assert(eq(sz, trace.graph_execs.count, 2));
	cr_expect(eq(u32, trace.graph_launches.rows[0].exec, 0));
	cr_expect(eq(u32, trace.graph_launches.rows[1].exec, 1));
	cr_expect(gt(i64, trace.graph_execs.rows[0].end_ns, 0));
	cr_expect(eq(i64, trace.graph_execs.rows[1].end_ns, 0));
	cr_expect(eq(i64, trace.graph_launches.rows[0].end_ns,
	             trace.graph_launches.rows[0].start_ns + 45));
}

Test(graphs, that_nobody_saw_being_made_are_one_unknown_row_each)
{
	uint64_t unknown = 0;

	for (uint32_t i = 0; i < 20; i++)
		launch(HANDLE + i % 2, 77 + i % 2, 0x7700, 4000 + 1000 * i, 11 + i);
	finish();
	cr_assert(eq(sz, trace.graph_execs.count, 2));
	cr_expect(eq(u32, trace.graph_execs.rows[0].is_unknown, 1));
	cr_expect(eq(u32, trace.graph_execs.rows[0].number, 77));
	cr_expect(eq(u32, trace.graph_execs.rows[1].number, 78));
	cr_expect(eq(u32, trace.graph_execs.rows[0].graph, GT_NONE));
	cr_expect(eq(u32, trace.graph_launches.rows[19].exec, 1));
	cr_expect(eq(u32, trace.kernels.rows[0].node, GT_NONE));
	cr_expect(eq(int, gt_trace_ledger(&trace, "graphs_unknown", &unknown), 0));
	cr_expect(eq(u64, unknown, 2));
}

Test(graphs, launched_after_their_end_are_unknown)
{
	add_capture();
	instantiate(EXEC, HANDLE, EXEC_NODE, 3000, 10);
	recording_add(&recording, graph_end, .time_ns = 3500, .number = EXEC,
	              .kind = GT_GRAPH_END_EXEC);
	launch(HANDLE, 77, 0x7700, 4000, 11); /* of the same handle, made where nobody looked */
	finish();
	cr_assert(eq(sz, trace.graph_execs.count, 2));
	cr_expect(eq(u32, trace.graph_launches.rows[0].exec, 1));
	cr_expect(eq(u32, trace.graph_execs.rows[1].is_unknown, 1));
}

Test(graphs, are_made_executable_by_the_call_where_nothing_else_says_so)
{
	add_capture();
	call_at("cuGraphInstantiateWithFlags", 3000, 10, THREAD);
	recording_add(&recording, graph_call, .start_ns = 3005, .end_ns = 3045, .handle = HANDLE,
	              .graph_number = GRAPH, .kind = GT_GRAPH_CALL_INSTANTIATE, .correlation = 10,
	              .thread = THREAD);
	launch(HANDLE, EXEC, EXEC_NODE, 4000, 11);
	finish();
	cr_assert(eq(sz, trace.graph_execs.count, 1));
	cr_expect(eq(u32, trace.graph_execs.rows[0].is_unknown, 0));
	cr_expect(eq(u32, trace.graph_execs.rows[0].graph, 0));
	cr_expect(eq(u32, trace.graph_launches.rows[0].exec, 0));
}

static void expect_dependency(size_t row, uint64_t before, uint64_t after)
{
	const struct gt_graph_dependency *dependency = &trace.graph_dependencies.rows[row];

	cr_expect(eq(u64, trace.graph_nodes.rows[dependency->before].number, before));
	cr_expect(eq(u64, trace.graph_nodes.rows[dependency->after].number, after));
	cr_expect(eq(u64, dependency->from_number, before));
	cr_expect(eq(u64, dependency->to_number, after));
}

Test(graphs, have_dependencies_between_nodes)
{
	add_capture();
	add_dependency(NODE, 0x123456, 4); /* on a node that nobody told of */
	add_dependency(NODE + 1, NODE + 2, 4);
	finish();
	cr_assert(eq(sz, trace.graph_dependencies.count, 2));
	expect_dependency(0, NODE, NODE + 1);
	expect_dependency(1, NODE + 1, NODE + 2);
}

/* The header can be read either way: the node that is made with a dependency is the one that waits.
 */
Test(graphs, have_dependencies_in_the_order_in_which_nodes_are_made)
{
	add_node(NODE, GRAPH, 2000, 1);
	add_node(NODE + 1, GRAPH, 2100, 2);
	add_dependency(NODE + 1, NODE, 2);
	add_node(NODE + 2, GRAPH, 2200, 3);
	add_dependency(NODE + 2, NODE, 3);
	add_dependency(NODE + 2, NODE + 1, 9); /* by a call of its own */
	finish();
	cr_assert(eq(sz, trace.graph_dependencies.count, 3));
	expect_dependency(0, NODE, NODE + 1);
	expect_dependency(1, NODE, NODE + 2);
	expect_dependency(2, NODE + 1, NODE + 2);
}

Test(graphs, lose_dependencies_and_nodes_that_are_taken_away)
{
	add_capture();
	recording_add(&recording, graph_dependency, .from_number = NODE, .to_number = NODE + 1,
	              .correlation = 20, .removed = 1);
	recording_add(&recording, graph_end, .time_ns = 5000, .number = NODE,
	              .kind = GT_GRAPH_END_NODE);
	finish();
	cr_assert(eq(sz, trace.graph_dependencies.count, 1));
	expect_dependency(0, NODE + 1, NODE + 2);
	cr_expect(gt(i64, node_with(NODE)->end_ns, 0));
	cr_expect(eq(i64, node_with(NODE + 1)->end_ns, 0));
}

Test(graphs, inside_of_nodes_name_the_node)
{
	call_at("cuGraphCreate", 2000, 1, THREAD);
	add_graph(GRAPH, 0, 2010, 1);
	call_at("cuGraphAddChildGraphNode", 2100, 2, THREAD);
	make_graph_inside(GRAPH + 1);
	call_at("cuGraphAddNode_v2", 2200, 3, THREAD);
	recording_add(&recording, graph_node, .made_ns = 2210, .number = NODE + 1,
	              .graph_number = GRAPH, .correlation = 3, .thread = THREAD,
	              .type = GT_GRAPH_NODE_CONDITIONAL);
	add_graph(GRAPH + 2, 0, 2220, 3);
	finish();
	cr_assert(eq(sz, trace.graphs.count, 3));
	cr_expect(eq(u32, trace.graphs.rows[0].kind, GT_GRAPH_BUILT));
	cr_expect(eq(u32, trace.graphs.rows[0].parent, GT_NONE));
	cr_expect(eq(u32, trace.graphs.rows[1].kind, GT_GRAPH_CHILD));
	cr_expect(eq(u32, trace.graphs.rows[1].parent, 0));
	cr_expect(eq(u32, trace.graphs.rows[1].original_number, 99));
	cr_expect(eq(u32, trace.graphs.rows[2].kind, GT_GRAPH_BODY));
	cr_expect(eq(u32, trace.graphs.rows[2].parent, 1));
}

Test(graphs, inside_of_nodes_that_are_cloned_name_the_clone_of_the_node)
{
	call_at("cuGraphAddChildGraphNode", 2100, 2, THREAD);
	make_graph_inside(GRAPH + 1);
	call_at("cuGraphClone", 2200, 3, THREAD);
	add_graph(GRAPH + 3, GRAPH + 1, 2220, 3);
	recording_add(&recording, graph_node, .made_ns = 2230, .number = NODE + 5,
	              .original_number = NODE, .graph_number = GRAPH + 2, .correlation = 3,
	              .thread = THREAD, .type = GT_GRAPH_NODE_GRAPH);
	finish();
	cr_assert(eq(u32, trace.graphs.rows[1].number, GRAPH + 3));
	cr_assert(lt(u32, trace.graphs.rows[1].parent, trace.graph_nodes.count));
	cr_expect(eq(u64, trace.graph_nodes.rows[trace.graphs.rows[1].parent].number, NODE + 5));
}

Test(graphs, inside_of_executable_ones_are_theirs)
{
	add_capture();
	instantiate(EXEC, HANDLE, EXEC_NODE, 3000, 10);
	add_graph(EXEC, GRAPH, 3008, 10);
	add_graph(50, GRAPH, 3009, 10);
	add_clone(0xa000, NODE, 50, 3020, 10);
	finish();
	cr_assert(eq(sz, trace.graphs.count, 3));
	cr_expect(eq(u32, trace.graphs.rows[1].kind, GT_GRAPH_INSIDE));
	cr_expect(eq(u32, trace.graphs.rows[1].exec, 0));
	cr_expect(eq(u32, trace.graphs.rows[1].original, 0));
	cr_expect(eq(u32, trace.graphs.rows[2].kind, GT_GRAPH_INSIDE));
	cr_expect(eq(u32, node_with(0xa000)->exec, 0));
	cr_expect(eq(u32, trace.graph_execs.rows[0].graph, 0));
}

Test(graphs, count_changes_of_their_nodes)
{
	add_capture();
	instantiate(EXEC, HANDLE, EXEC_NODE, 3000, 10);
	for (uint32_t i = 0; i < 3; i++)
		recording_add(&recording, graph_call, .start_ns = 5000 + i, .end_ns = 5001 + i,
		              .handle = HANDLE, .node_number = NODE + 1,
		              .kind = GT_GRAPH_CALL_SET_NODE, .result = i == 2,
		              .correlation = 20 + i, .thread = THREAD);
	recording_add(&recording, graph_call, .start_ns = 6000, .end_ns = 6001, .handle = HANDLE,
	              .graph_number = GRAPH, .kind = GT_GRAPH_CALL_UPDATE, .result = 910,
	              .outcome = 2, .correlation = 30, .thread = THREAD);
	finish();
	cr_expect(eq(u32, node_with(NODE + 1)->changes, 2)); /* that succeeded */
	cr_expect(eq(u32, trace.graph_calls.rows[1].exec, 0));
	cr_expect(eq(u64, trace.graph_nodes.rows[trace.graph_calls.rows[1].node].number, NODE + 1));
	cr_expect(eq(u32, trace.graph_calls.rows[4].graph, 0));
	cr_expect(eq(i32, trace.graph_calls.rows[4].outcome, 2));
}

/* Whose making nobody told of: the nodes do. */
Test(graphs, are_known_by_their_nodes_alone)
{
	call_at("cuLaunchKernel", 2100, 2, THREAD);
	add_node(NODE, GRAPH, 2110, 2);
	finish();
	cr_assert(eq(sz, trace.graphs.count, 1));
	cr_expect(eq(u32, trace.graphs.rows[0].number, GRAPH));
	cr_expect(eq(u32, trace.graphs.rows[0].kind, GT_GRAPH_CAPTURED));
	cr_expect(eq(u32, trace.graph_nodes.rows[0].graph, 0));
}

/* As recordings are that were made before graphs were recorded. */
Test(graphs, of_older_recordings_are_known_by_their_calls_and_kernels)
{
	call_at("cuGraphLaunch", 4000, 11, THREAD);
	call_at("cuGraphLaunch", 5000, 12, THREAD);
	call_at("cuGraphLaunch", 6000, 13, THREAD);
	for (uint32_t i = 0; i < 2; i++)
		recording_add(&recording, kernel, .start_ns = 4100 + 1000 * i,
		              .end_ns = 4110 + 1000 * i, .graph = EXEC, .graph_node = EXEC_NODE,
		              .correlation = 11 + i, .shape = SHAPE, .context = CONTEXT,
		              .stream = STREAM);
	finish();
	cr_assert(eq(sz, trace.graph_execs.count, 1));
	cr_expect(eq(u32, trace.graph_execs.rows[0].number, EXEC));
	cr_expect(eq(u32, trace.graph_execs.rows[0].is_unknown, 1));
	cr_assert(eq(sz, trace.graph_launches.count, 3));
	cr_expect(eq(u32, trace.graph_launches.rows[0].exec, 0));
	cr_expect(eq(u32, trace.graph_launches.rows[1].exec, 0));
	cr_expect(eq(u32, trace.graph_launches.rows[2].exec, GT_NONE)); /* it ran nothing */
	cr_expect(eq(u64, ledger_of(&trace, "graphs_unknown"), UINT64_MAX));
}

/* Chains of originals that bite their tails, as damage makes them. */
Test(graphs, end_where_chains_of_clones_go_in_circles)
{
	add_clone(NODE, NODE + 1, GRAPH, 2000, 1);
	add_clone(NODE + 1, NODE + 2, GRAPH, 2100, 1);
	add_clone(NODE + 2, NODE, GRAPH, 2200, 1);
	add_clone(NODE + 3, NODE + 3, GRAPH, 2300, 1);
	finish();
	cr_assert(eq(sz, trace.graph_nodes.count, 4));
	for (size_t i = 0; i < 4; i++)
		cr_expect(lt(u32, trace.graph_nodes.rows[i].origin, 4));
}

Test(graphs, of_two_processes_share_no_ids)
{
	add_capture();
	recording_end(&recording, true);
	recording_begin(&recording, "node-1-2");
	recording_add_basics(&recording, 2);
	add_capture();
	instantiate(EXEC, HANDLE, EXEC_NODE, 3000, 10);
	finish();
	cr_assert(eq(sz, trace.graphs.count, 2));
	cr_assert(eq(sz, trace.graph_nodes.count, 9));
	cr_expect(eq(u32, trace.graph_execs.rows[0].graph, 1));
	cr_expect(eq(sz, trace.graph_dependencies.count, 4));
}

static void push_range(const char *name, uint32_t thread, uint32_t order, uint64_t from,
                       uint64_t to)
{
	recording_add_string(&recording, next_string, name);
	recording_add(&recording, range_begin, .time_ns = from, .order = order,
	              .text = next_string++, .kind = GT_RANGE_STEP_STACK, .thread = thread);
	recording_add(&recording, range_end, .time_ns = to, .order = order + 1,
	              .kind = GT_RANGE_STEP_STACK, .thread = thread);
}

static const char *range_of(gt_id row)
{
	return row < trace.ranges.count ? gt_trace_text(&trace, trace.ranges.rows[row].text) : "";
}

Test(graphs, name_the_ranges_that_were_open_where_their_nodes_were_captured)
{
	struct gt_owners owners;

	push_range("forward", THREAD, 1, 2050, 2280);
	push_range("backward", OTHER_THREAD, 1, 2290, 2390);
	push_range("replay", THREAD, 3, 3900, 4100);
	add_capture();
	instantiate(EXEC, HANDLE, EXEC_NODE, 3000, 10);
	launch(HANDLE, EXEC, EXEC_NODE, 4000, 11);
	finish();
	cr_assert(eq(sz, trace.kernels.count, 3));
	for (gt_id i = 0; i < 3; i++) {
		owners = gt_owners_of(&trace, GT_ACTIVITY_KERNEL, i);
		expect_text(range_of(owners.launched.range), "replay");
		expect_text(range_of(owners.captured.range), i == 2 ? "backward" : "forward");
	}
	expect_text(range_of(node_with(EXEC_NODE)->range), "forward");
	expect_text(range_of(node_with(NODE + 2)->range), "backward");
}

/* As autograd's thread launches while the one that captures waits in backward(). */
Test(graphs, name_the_range_of_the_thread_that_captures_where_another_has_none)
{
	push_range("forward", THREAD, 1, 2050, 2280);
	push_range("backward", THREAD, 3, 2290, 2390);
	push_range("replay", THREAD, 5, 3900, 4100);
	add_capture();
	instantiate(EXEC, HANDLE, EXEC_NODE, 3000, 10);
	launch(HANDLE, EXEC, EXEC_NODE, 4000, 11);
	finish();
	cr_assert(eq(sz, trace.kernels.count, 3));
	for (gt_id i = 0; i < 3; i++)
		expect_text(range_of(gt_owner_of(&trace, GT_ACTIVITY_KERNEL, i).range),
		            i == 2 ? "backward" : "forward");
	expect_text(range_of(node_with(NODE + 2)->range), "backward");
}

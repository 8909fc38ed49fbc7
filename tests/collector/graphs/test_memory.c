/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/recorded.h"
#include "model/kinds/graph.h"
#include "model/kinds/memory.h"
#include "support/check.h"
#include "support/recording.h"

/* Launches of graphs with nodes that allocate and free, through all stages. */

enum {
	THREAD = 100,
	GRAPH = 5,
	EXEC = 9,
	NODE = 0x5000, /* of GRAPH; clones lie behind EXEC_NODE */
	EXEC_NODE = 0x9000,
	HANDLE = 0xec00,
	FIRST = 0x70000, /* addresses */
	SECOND = 0x80000,
};

TestSuite(graph_memory, .init = make, .fini = drop);

static uint32_t next_string = STRING_NEXT;

static void call_at(const char *function, uint64_t at, uint32_t correlation)
{
	recording_add_string(&recording, next_string, function);
	recording_add(&recording, api_call, .start_ns = at, .end_ns = at + 50,
	              .correlation = correlation, .function = next_string++, .thread = THREAD);
}

#define MEMORY(what, at, which, ...)                                                               \
	recording_add(&recording, memory_call, .kind = GT_MEMORY_CALL_##what, .start_ns = (at),    \
	              .end_ns = (at) + 40, .thread = THREAD, .context = CONTEXT,                   \
	              .stream = UINT64_MAX, .correlation = (which), __VA_ARGS__)

static void add_node(uint32_t place, uint64_t at, uint32_t correlation)
{
	recording_add(&recording, graph_node, .made_ns = at, .number = NODE + place,
	              .graph_number = GRAPH, .correlation = correlation, .thread = THREAD);
}

/* Node 0 allocates FIRST, 1 allocates SECOND by hand, 2 frees FIRST. */
static void add_graph(void)
{
	call_at("cuStreamBeginCapture_v2", 1900, 1);
	recording_add(&recording, graph, .made_ns = 1910, .number = GRAPH, .correlation = 1,
	              .thread = THREAD);
	call_at("cuMemAllocAsync", 2000, 2);
	MEMORY(ALLOCATE_ORDERED, 2005, 2, .address = FIRST, .size_bytes = 4096,
	       .flags = GT_RECORD_GRAPH_NODE);
	add_node(0, 2010, 2);
	call_at("cuGraphAddMemAllocNode", 2100, 3);
	MEMORY(ALLOCATE_NODE, 2105, 3, .address = SECOND, .size_bytes = 512,
	       .flags = GT_RECORD_GRAPH_NODE);
	add_node(1, 2110, 3);
	call_at("cuMemFreeAsync", 2200, 4);
	MEMORY(FREE_ORDERED, 2205, 4, .address = FIRST, .flags = GT_RECORD_GRAPH_NODE);
	add_node(2, 2210, 4);
	call_at("cuGraphInstantiateWithFlags", 3000, 5);
	recording_add(&recording, graph_call, .start_ns = 3005, .end_ns = 3045, .handle = HANDLE,
	              .graph_number = GRAPH, .kind = GT_GRAPH_CALL_INSTANTIATE, .outcome = -1,
	              .correlation = 5, .thread = THREAD);
	for (uint32_t i = 0; i < 3; i++) {
		for (uint64_t original = 0; original < 2; original++)
			recording_add(&recording, graph_node, .made_ns = 3010 + original,
			              .number = EXEC_NODE + i,
			              .original_number = original ? NODE + i : 0,
			              .graph_number = EXEC, .correlation = 5, .thread = THREAD);
	}
	recording_add(&recording, graph_exec, .made_ns = 3030, .handle = HANDLE, .number = EXEC,
	              .graph_number = GRAPH, .correlation = 5, .thread = THREAD);
}

static void launch(uint64_t at, uint32_t correlation, bool works)
{
	call_at("cuGraphLaunch", at, correlation);
	recording_add(&recording, graph_launch, .start_ns = at + 5, .handle = HANDLE,
	              .context = CONTEXT, .correlation = correlation, .thread = THREAD);
	if (works)
		recording_add(&recording, kernel, .start_ns = at + 100, .end_ns = at + 180,
		              .graph = EXEC, .graph_node = EXEC_NODE + 1,
		              .correlation = correlation, .shape = SHAPE, .context = CONTEXT,
		              .stream = STREAM);
}

static const struct gt_allocation *collect_rows(size_t count)
{
	finish();
	cr_assert(eq(sz, trace.allocations.count, count));
	return trace.allocations.rows;
}

Test(graph_memory, nodes_know_what_they_allocate)
{
	add_graph();
	(void)collect_rows(0);
	cr_assert(eq(sz, trace.graph_nodes.count, 6));
	for (size_t i = 0; i < 6; i++) {
		const struct gt_graph_node *node = &trace.graph_nodes.rows[i];
		const uint64_t place = node->number & 3;

		cr_expect(eq(u64, node->memory_bytes, place == 0 ? 4096 : place == 1 ? 512 : 0));
		cr_expect(eq(u64, node->memory_address, place == 1 ? SECOND : FIRST));
	}
}

Test(graph_memory, each_launch_allocates)
{
	const struct gt_allocation *rows;

	add_graph();
	launch(4000, 6, true);
	MEMORY(FREE_ORDERED, 4300, 7, .address = SECOND);
	launch(5000, 8, true);
	launch(6000, 9, false); /* frees SECOND first, or could not be launched */
	rows = collect_rows(6);
	for (size_t i = 0; i < 6; i++) {
		cr_expect(eq(u32, rows[i].kind, GT_MEMORY_CALL_ALLOCATE_NODE));
		cr_expect(eq(u32, rows[i].launch, (gt_id)(i / 2)));
		cr_expect(eq(u32, rows[i].device, trace.contexts.rows[0].device));
	}
	cr_expect(eq(u64, rows[0].size_bytes, 512), "of the launch: the program frees it");
	cr_expect(eq(i64, rows[0].start_ns, trace.graph_launches.rows[0].start_ns));
	cr_expect(eq(u32, trace.memory_calls.rows[rows[0].ended_by].kind,
	             GT_MEMORY_CALL_FREE_ORDERED));
	cr_expect(eq(i64, rows[0].end_ns, trace.memory_calls.rows[rows[0].ended_by].start_ns));
	cr_expect(eq(u64, rows[1].size_bytes, 4096), "of the work: the graph frees it");
	cr_expect(eq(i64, rows[1].start_ns, trace.kernels.rows[0].start_ns));
	cr_expect(eq(i64, rows[1].end_ns, trace.kernels.rows[0].end_ns));
	cr_expect(eq(i64, rows[2].end_ns, trace.graph_launches.rows[2].start_ns));
	cr_expect(eq(u32, rows[4].flags & GT_UNFINISHED, 0), "while the call was");
	cr_expect(eq(u64, rows[5].size_bytes, 512));
	cr_expect(eq(u32, rows[5].flags, GT_UNFINISHED));
}

Test(graph_memory, of_launches_that_failed_is_none)
{
	add_graph();
	recording_add_string(&recording, next_string, "cuGraphLaunch");
	recording_add(&recording, api_call, .start_ns = 4000, .end_ns = 4050, .correlation = 6,
	              .function = next_string, .thread = THREAD, .result = 2);
	recording_add(&recording, graph_launch, .start_ns = 4005, .handle = HANDLE,
	              .context = CONTEXT, .correlation = 6, .thread = THREAD);
	(void)collect_rows(0);
}

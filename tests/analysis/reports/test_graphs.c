/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "base/strings.h"
#include "model/graphs/path.h"
#include "model/kinds/graph.h"

enum { HANDLE = 0xec00 };

static void begin(void)
{
	scene_begin(100000);
	gt_result_init(&result);
}

TestSuite(graphs, .init = begin, .fini = scene_end);

static gt_id add_graph(gt_count kind, gt_id parent)
{
	*gt_array_push(&trace.graphs) = (struct gt_graph){
		.process = process,
		.thread = thread,
		.api_call = GT_NONE,
		.original = GT_NONE,
		.parent = parent,
		.exec = GT_NONE,
		.number = (gt_count)trace.graphs.count,
		.kind = kind,
	};
	return (gt_id)trace.graphs.count - 1;
}

static gt_id add_exec(gt_id graph)
{
	*gt_array_push(&trace.graph_execs) = (struct gt_graph_exec){
		.handle = HANDLE,
		.process = process,
		.thread = thread,
		.api_call = GT_NONE,
		.graph = graph,
		.instantiation = GT_NONE,
		.number = 50 + (gt_count)trace.graph_execs.count,
	};
	return (gt_id)trace.graph_execs.count - 1;
}

static gt_id add_node(gt_id graph, gt_id exec, gt_id original, gt_count type)
{
	const gt_id row = (gt_id)trace.graph_nodes.count;

	*gt_array_push(&trace.graph_nodes) = (struct gt_graph_node){
		.number = 7000 + row,
		.process = process,
		.thread = thread,
		.api_call = GT_NONE,
		.graph = graph,
		.exec = exec,
		.original = original,
		.origin = original == GT_NONE ? row : trace.graph_nodes.rows[original].origin,
		.shape = type == GT_GRAPH_NODE_KERNEL ? shape : GT_NONE,
		.type = type,
	};
	return row;
}

static void depend(gt_id before, gt_id after)
{
	*gt_array_push(&trace.graph_dependencies) =
		(struct gt_graph_dependency){.process = process, .before = before, .after = after};
}

/* The diamond 0 -> 1, 2 -> 3, and an executable graph of it: nodes 4 to 7. */
static gt_id add_diamond(void)
{
	const gt_id graph = add_graph(GT_GRAPH_CAPTURED, GT_NONE);
	const gt_id exec = add_exec(graph);

	for (int i = 0; i < 4; i++)
		(void)add_node(graph, GT_NONE, GT_NONE, GT_GRAPH_NODE_KERNEL);
	depend(0, 1);
	depend(0, 2);
	depend(1, 3);
	depend(2, 3);
	for (gt_id i = 0; i < 4; i++)
		(void)add_node(GT_NONE, exec, i, GT_GRAPH_NODE_KERNEL);
	return exec;
}

static struct gt_critical_path path_of(gt_id first, size_t count, const double *times_ns,
                                       bool *on_path)
{
	struct gt_critical_paths *paths = gt_critical_paths_new(&trace);
	struct gt_critical_path path;
	gt_id nodes[16];

	for (gt_id i = 0; i < count; i++)
		nodes[i] = first + i;
	path = gt_critical_path_of(paths, nodes, count, times_ns, on_path);
	gt_critical_paths_free(paths);
	return path;
}

Test(graphs, take_as_long_as_the_longest_way_through_them)
{
	const double times_ns[8] = {[4] = 10, [5] = 20, [6] = 70, [7] = 5};
	bool on_path[8] = {false};
	struct gt_critical_path path;

	(void)add_diamond();
	path = path_of(4, 4, times_ns, on_path);
	cr_expect(eq(dbl, path.length_ns, 85));
	cr_expect(eq(u64, path.width, 2));
	cr_expect(eq(u64, path.dependencies, 4));
	cr_expect(eq(int, on_path[5], false));
	cr_expect(on_path[4] && on_path[6] && on_path[7]);
}

Test(graphs, without_dependencies_take_as_long_as_their_longest_node)
{
	const double times_ns[3] = {10, 30, 20};
	bool on_path[3] = {false};
	struct gt_critical_path path;

	for (int i = 0; i < 3; i++)
		(void)add_node(GT_NONE, 0, GT_NONE, GT_GRAPH_NODE_KERNEL);
	path = path_of(0, 3, times_ns, on_path);
	cr_expect(eq(dbl, path.length_ns, 30));
	cr_expect(eq(u64, path.width, 3));
	cr_expect(eq(int, on_path[0] || on_path[2], false));
	cr_expect(on_path[1]);
}

/* A chain of two is the contents of node 1, between 0 and 2. */
Test(graphs, inside_of_nodes_are_part_of_the_way)
{
	const gt_id outer = add_graph(GT_GRAPH_BUILT, GT_NONE);
	const gt_id exec = add_exec(outer);
	const double times_ns[10] = {[5] = 1, [7] = 1, [8] = 100, [9] = 200};
	bool on_path[10] = {false};
	struct gt_critical_path path;
	gt_id inner;

	(void)add_node(outer, GT_NONE, GT_NONE, GT_GRAPH_NODE_KERNEL);
	(void)add_node(outer, GT_NONE, GT_NONE, GT_GRAPH_NODE_GRAPH);
	(void)add_node(outer, GT_NONE, GT_NONE, GT_GRAPH_NODE_KERNEL);
	inner = add_graph(GT_GRAPH_CHILD, 1);
	(void)add_node(inner, GT_NONE, GT_NONE, GT_GRAPH_NODE_KERNEL);
	(void)add_node(inner, GT_NONE, GT_NONE, GT_GRAPH_NODE_KERNEL);
	depend(0, 1);
	depend(1, 2);
	depend(3, 4);
	for (gt_id i = 0; i < 5; i++)
		(void)add_node(GT_NONE, exec, i, trace.graph_nodes.rows[i].type);
	path = path_of(5, 5, times_ns, on_path);
	cr_expect(eq(dbl, path.length_ns, 302));
	cr_expect(eq(u64, path.width, 1));
	for (int i = 5; i < 10; i++)
		cr_expect(on_path[i], "node %d", i);
}

Test(graphs, that_are_damaged_have_an_end)
{
	const gt_id graph = add_graph(GT_GRAPH_BUILT, 0); /* inside of one of its own nodes */
	const double times_ns[4] = {1, 2, 3, 4};
	bool on_path[4] = {false};
	struct gt_critical_path path;

	for (int i = 0; i < 4; i++)
		(void)add_node(graph, GT_NONE, GT_NONE, GT_GRAPH_NODE_KERNEL);
	depend(0, 1);
	depend(1, 2);
	depend(2, 0);
	depend(3, 3);
	depend(GT_NONE, 99);
	path = path_of(0, 4, times_ns, on_path);
	cr_expect(le(dbl, path.length_ns, 10 * 33));
}

static gt_id add_launch(gt_id exec, gt_time start_ns, gt_time end_ns)
{
	const gt_id call = trace_call(&trace, thread, "cuGraphLaunch", start_ns, end_ns);

	*gt_array_push(&trace.graph_launches) = (struct gt_graph_launch){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.handle = HANDLE,
		.thread = thread,
		.context = GT_NONE,
		.stream = stream,
		.api_call = call,
		.exec = exec,
	};
	return call;
}

static void add_kernel(gt_id call, gt_id node, gt_time start_ns, gt_time end_ns)
{
	struct gt_kernel *kernel = trace_kernel(&trace, stream, shape, start_ns, end_ns);

	kernel->api_call = call;
	kernel->node = node;
	kernel->graph_node = node == GT_NONE ? 0 : trace.graph_nodes.rows[node].number;
}

/* Two launches of the diamond: 100 ns with 10 ns of gap, and the middle both at once for 20 ns. */
static void add_two_launches(gt_id exec)
{
	for (gt_time at = 0; at < 2000; at += 1000) {
		const gt_id call = add_launch(exec, at + 100, at + 140);

		add_kernel(call, 4, at + 200, at + 220);
		add_kernel(call, 5, at + 230, at + 260);
		add_kernel(call, 6, at + 240, at + 280);
		add_kernel(call, 7, at + 280, at + 300);
	}
}

Test(graphs, say_how_long_launches_ran_and_what_is_lost)
{
	add_two_launches(add_diamond());
	run_report(&result, "graphs", &trace);
	cr_assert(eq(sz, row_count(&result, "runs"), 1));
	expect_words(&result, "runs", 0, "exec", "51");
	expect_words(&result, "runs", 0, "graph", "1");
	expect_count(&result, "runs", 0, "launches", 2);
	expect_count(&result, "runs", 0, "launch_ns", 40);
	expect_count(&result, "runs", 0, "span_ns", 100);
	expect_count(&result, "runs", 0, "busy_ns", 90);
	expect_count(&result, "runs", 0, "gap_ns", 10);
	expect_count(&result, "runs", 0, "critical_ns", 80);
	expect_count(&result, "runs", 0, "lost_ns", 20);
	expect_real(&result, "runs", 0, "lost_percent", 20.0);
	expect_real(&result, "runs", 0, "at_once", 110.0 / 90);
	expect_count(&result, "runs", 0, "width", 2);
	expect_real(&result, "runs", 0, "activities", 4.0);
	expect_count(&result, "runs", 0, "total_ns", 180);
}

/* The loss is of the launches whose path is known, however long the others take. */
Test(graphs, that_were_recorded_as_a_whole_now_and_then_lose_what_the_others_do)
{
	const gt_id exec = add_diamond();

	add_two_launches(exec);
	*gt_array_push(&trace.graph_traces) = (struct gt_graph_trace){
		.start_ns = TRACE_START_NS + 2200,
		.end_ns = TRACE_START_NS + 3200,
		.stream = stream,
		.device = 0,
		.api_call = add_launch(exec, 2100, 2140),
		.exec = exec,
	};
	run_report(&result, "graphs", &trace);
	expect_count(&result, "runs", 0, "launches", 3);
	expect_count(&result, "runs", 0, "span_ns", 400);
	expect_count(&result, "runs", 0, "busy_ns", 90);
	expect_count(&result, "runs", 0, "critical_ns", 80);
	expect_count(&result, "runs", 0, "lost_ns", 20);
	expect_real(&result, "runs", 0, "lost_percent", 20.0);
	expect_unknown(&result, "runs", 0, "total_ns");
}

Test(graphs, that_were_recorded_as_a_whole_have_a_span_and_no_more)
{
	const gt_id exec = add_diamond();

	for (gt_time at = 0; at < 2000; at += 1000)
		*gt_array_push(&trace.graph_traces) = (struct gt_graph_trace){
			.start_ns = TRACE_START_NS + at + 200,
			.end_ns = TRACE_START_NS + at + 260 + at / 100,
			.stream = stream,
			.device = 0,
			.api_call = add_launch(exec, at + 100, at + 140),
			.exec = exec,
		};
	run_report(&result, "graphs", &trace);
	expect_count(&result, "runs", 0, "launches", 2);
	expect_count(&result, "runs", 0, "span_ns", 65);
	expect_unknown(&result, "runs", 0, "busy_ns");
	expect_unknown(&result, "runs", 0, "gap_ns");
	expect_unknown(&result, "runs", 0, "critical_ns");
	expect_unknown(&result, "runs", 0, "activities");
	cr_expect(has_remark(&result, "2 launches were recorded as a whole"));
}

Test(graphs, name_the_nodes_that_ran_longest)
{
	const gt_id exec = add_diamond();

	trace.graph_nodes.rows[2].made_by = gt_strings_add(trace.strings, "cuLaunchKernel");
	add_two_launches(exec);
	run_report(&result, "graphs", &trace);
	cr_assert(eq(sz, row_count(&result, "nodes"), 4));
	expect_words(&result, "nodes", 0, "node", "7006");
	expect_words(&result, "nodes", 0, "kernel", "gemm");
	expect_words(&result, "nodes", 0, "made_by", "cuLaunchKernel");
	expect_words(&result, "nodes", 0, "thread", "7");
	expect_words(&result, "nodes", 0, "critical", "yes");
	expect_count(&result, "nodes", 0, "runs", 2);
	expect_real(&result, "nodes", 0, "per_launch", 1.0);
	expect_count(&result, "nodes", 0, "mean_ns", 40);
	expect_words(&result, "nodes", 1, "node", "7005");
	expect_unknown(&result, "nodes", 1, "critical");
}

Test(graphs, list_what_they_consist_of)
{
	const gt_id graph = add_graph(GT_GRAPH_CAPTURED, GT_NONE);
	const gt_id other = trace_thread(&trace, process, 101);
	static const gt_count types[] = {GT_GRAPH_NODE_KERNEL,
	                                 GT_GRAPH_NODE_KERNEL,
	                                 GT_GRAPH_NODE_MEMCPY,
	                                 GT_GRAPH_NODE_MEMSET,
	                                 GT_GRAPH_NODE_HOST,
	                                 GT_GRAPH_NODE_GRAPH,
	                                 GT_GRAPH_NODE_EMPTY,
	                                 GT_GRAPH_NODE_CONDITIONAL,
	                                 GT_GRAPH_NODE_MEM_ALLOC,
	                                 GT_GRAPH_NODE_MEM_FREE,
	                                 1234};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		(void)add_node(graph, GT_NONE, GT_NONE, types[i]);
	trace.graph_nodes.rows[3].thread = other;
	trace.graph_nodes.rows[0].api_call = trace_call(&trace, thread, "cuLaunchKernel", 10, 25);
	trace.graph_nodes.rows[1].api_call = trace.graph_nodes.rows[0].api_call;
	trace.graph_nodes.rows[4].end_ns = TRACE_START_NS; /* destroyed */
	depend(0, 1);
	(void)add_graph(GT_GRAPH_INSIDE, GT_NONE);
	run_report(&result, "graphs", &trace);
	cr_assert(eq(sz, row_count(&result, "graphs"), 1));
	expect_words(&result, "graphs", 0, "made", "captured");
	expect_count(&result, "graphs", 0, "nodes", 10);
	expect_count(&result, "graphs", 0, "kernels", 2);
	expect_count(&result, "graphs", 0, "copies", 1);
	expect_count(&result, "graphs", 0, "fills", 1);
	expect_count(&result, "graphs", 0, "host", 0);
	expect_count(&result, "graphs", 0, "memory", 2);
	expect_count(&result, "graphs", 0, "children", 1);
	expect_count(&result, "graphs", 0, "conditional", 1);
	expect_count(&result, "graphs", 0, "other", 2);
	expect_count(&result, "graphs", 0, "dependencies", 1);
	expect_count(&result, "graphs", 0, "threads", 2);
	expect_count(&result, "graphs", 0, "create_ns", 15); /* the call once */
}

static void add_call(gt_id exec, enum gt_graph_call_kind kind, gt_time start_ns, gt_time end_ns,
                     gt_code code)
{
	*gt_array_push(&trace.graph_calls) = (struct gt_graph_call){
		.start_ns = TRACE_START_NS + start_ns,
		.end_ns = TRACE_START_NS + end_ns,
		.thread = thread,
		.api_call = GT_NONE,
		.exec = exec,
		.graph = GT_NONE,
		.node = GT_NONE,
		.kind = kind,
		.nodes = 4,
		.outcome = code ? 2 : 0,
		.result = code,
	};
}

Test(graphs, cost_what_the_calls_about_them_take)
{
	const gt_id exec = add_diamond();

	add_call(exec, GT_GRAPH_CALL_INSTANTIATE, 100, 600, 0);
	add_call(exec, GT_GRAPH_CALL_UPDATE, 700, 750, 0);
	add_call(exec, GT_GRAPH_CALL_UPDATE, 800, 810, 910);
	add_call(exec, GT_GRAPH_CALL_SET_NODE, 900, 903, 0);
	add_call(GT_NONE, GT_GRAPH_CALL_UPLOAD, 1000, 2000, 0);
	run_report(&result, "graphs", &trace);
	cr_assert(eq(sz, row_count(&result, "execs"), 1));
	expect_count(&result, "execs", 0, "nodes", 4);
	expect_count(&result, "execs", 0, "instantiate_ns", 500);
	expect_count(&result, "execs", 0, "uploads", 0);
	expect_unknown(&result, "execs", 0, "upload_ns");
	expect_count(&result, "execs", 0, "updates", 2);
	expect_count(&result, "execs", 0, "updates_failed", 1);
	expect_count(&result, "execs", 0, "update_ns", 60);
	expect_words(&result, "execs", 0, "outcome", "topology changed");
	expect_count(&result, "execs", 0, "sets", 1);
	expect_count(&result, "execs", 0, "set_ns", 3);
	expect_count(&result, "execs", 0, "nodes_changed", 16);
	/* It was never launched. */
	expect_count(&result, "runs", 0, "launches", 0);
	expect_unknown(&result, "runs", 0, "span_ns");
	expect_unknown(&result, "runs", 0, "critical_ns");
}

Test(graphs, are_compared_with_the_same_kernels_alone)
{
	gt_id call;

	add_two_launches(add_diamond());
	call = trace_call(&trace, thread, "cuLaunchKernel", 3000, 3025);
	add_kernel(call, GT_NONE, 3100, 3155);
	run_report(&result, "graphs", &trace);
	cr_assert(eq(sz, row_count(&result, "compared"), 1));
	expect_count(&result, "compared", 0, "in_graph_calls", 8);
	expect_count(&result, "compared", 0, "alone_calls", 1);
	expect_count(&result, "compared", 0, "in_graph_ns", 28); /* 220 / 8 */
	expect_count(&result, "compared", 0, "alone_ns", 55);
	expect_real(&result, "compared", 0, "difference_percent", -50.0);
	expect_count(&result, "compared", 0, "in_graph_launch_ns", 10);
	expect_count(&result, "compared", 0, "alone_launch_ns", 25);
	expect_count(&result, "share", 0, "kernels", 8);
	expect_words(&result, "share", 0, "asked_for", "in graphs");
	expect_real(&result, "share", 0, "kernels_percent", 800.0 / 9);
	expect_real(&result, "share", 0, "kernel_ns_percent", 80.0);
	expect_count(&result, "share", 1, "kernels", 1);
}

/* Its time is that of several runs. */
Test(graphs, are_not_compared_with_kernels_that_were_profiled)
{
	gt_id call;

	add_two_launches(add_diamond());
	call = trace_call(&trace, thread, "cuLaunchKernel", 3000, 3025);
	add_kernel(call, GT_NONE, 3100, 3155);
	trace.kernels.rows[trace.kernels.count - 1].flags |= GT_PROFILED;
	run_report(&result, "graphs", &trace);
	cr_expect(eq(sz, row_count(&result, "compared"), 0));
	expect_count(&result, "share", 1, "kernels", 0);
	expect_real(&result, "share", 0, "kernel_ns_percent", 100.0);
}

/* As a window leaves it: the work of a launch that was made before. */
Test(graphs, are_as_long_as_in_their_launches_that_are_there)
{
	const gt_id exec = add_diamond();
	const gt_id call = trace_call(&trace, thread, "cuGraphLaunch", 10, 20);

	for (gt_id i = 0; i < 4; i++)
		add_kernel(call, 4 + i, 30 + 40 * i, 70 + 40 * i);
	add_two_launches(exec);
	run_report(&result, "graphs", &trace);
	expect_count(&result, "runs", 0, "critical_ns", 80);
	expect_count(&result, "runs", 0, "lost_ns", 20);
}

Test(graphs, have_calls_between_their_launches)
{
	const gt_id exec = add_diamond();
	const gt_id other = trace_thread(&trace, process, 101);

	(void)trace_call(&trace, thread, "cudaMalloc", 10, 20); /* before the first */
	(void)add_launch(exec, 100, 140);
	(void)trace_call(&trace, thread, "cudaMemcpyAsync", 200, 230);
	trace.api_calls.rows[trace_call(&trace, thread, "cuMemcpyAsync", 205, 225)].flags |=
		GT_NESTED;
	(void)trace_call(&trace, other, "cudaFree", 240, 250);
	(void)trace_call(&trace, thread, "cudaMemcpyAsync", 300, 310);
	(void)add_launch(exec, 400, 440);
	(void)add_launch(exec, 500, 540);
	(void)trace_call(&trace, thread, "cudaDeviceSynchronize", 600, 700); /* after the last */
	run_report(&result, "graphs", &trace);
	cr_assert(eq(sz, row_count(&result, "between"), 1));
	expect_words(&result, "between", 0, "function", "cudaMemcpyAsync");
	expect_count(&result, "between", 0, "calls", 2);
	expect_real(&result, "between", 0, "per_launch", 1.0);
	expect_count(&result, "between", 0, "total_ns", 40);
	expect_count(&result, "between", 0, "mean_ns", 20);
}

Test(graphs, that_nobody_saw_being_made_are_named_by_their_handle)
{
	const gt_id exec = add_exec(GT_NONE);

	trace.graph_execs.rows[exec].number = 0;
	trace.graph_execs.rows[exec].is_unknown = 1;
	(void)add_launch(exec, 100, 140);
	run_report(&result, "graphs", &trace);
	expect_words(&result, "runs", 0, "exec", "0xec00");
	expect_unknown(&result, "runs", 0, "graph");
	expect_count(&result, "runs", 0, "launches", 1);
	expect_unknown(&result, "runs", 0, "span_ns");
	expect_unknown(&result, "execs", 0, "nodes");
	cr_expect(has_remark(&result, "consists of is not known"));
}

Test(graphs, whose_dependencies_nobody_told_of_have_no_critical_path)
{
	const gt_id exec = add_diamond();

	trace.graph_dependencies.count = 0;
	add_two_launches(exec);
	run_report(&result, "graphs", &trace);
	expect_unknown(&result, "runs", 0, "critical_ns");
	expect_unknown(&result, "runs", 0, "lost_ns");
	expect_unknown(&result, "runs", 0, "width");
	expect_count(&result, "runs", 0, "span_ns", 100);
	cr_expect(has_remark(&result, "Dependencies of nodes are not in the recording"));
}

Test(graphs, that_are_not_there_are_said_to_be_none)
{
	run_report(&result, "graphs", &trace);
	cr_expect(has_remark(&result, "No CUDA graph was recorded."));
	cr_expect(eq(sz, row_count(&result, "runs"), 0));
}

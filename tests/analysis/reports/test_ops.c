/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "base/strings.h"
#include "model/naming/kernel_names.h"
#include "model/view/filter.h"

static void begin(void)
{
	scene_begin(10000);
}

TestSuite(ops, .init = begin, .fini = scene_end);

/* A kernel that ran so long, asked for inside a range. */
static struct gt_kernel *launch(gt_id range, gt_time call_ns, gt_time start_ns, gt_time duration_ns)
{
	return scene_launch(range, call_ns, start_ns, start_ns + duration_ns);
}

/* The row of a table whose first two cells are these, "-" for one that is not known. */
static int row_of(const char *title, const char *name_heading, const char *name,
                  const char *other_heading, const char *other)
{
	for (size_t i = 0; i < row_count(&result, title); i++) {
		const struct gt_cell *first = cell(&result, title, (int)i, name_heading);
		const struct gt_cell *second = cell(&result, title, (int)i, other_heading);

		if (strcmp(first->unknown ? "-" : first->text, name) == 0 &&
		    strcmp(second->unknown ? "-" : second->text, other) == 0)
			return (int)i;
	}
	cr_assert(false, "no row %s, %s in %s", name, other, title);
	return 0;
}

static int module(const char *path, const char *direction)
{
	return row_of("nn_modules", "module", path, "direction", direction);
}

/* Net calls layer, which calls layer.proj, twice; backward has a part of proj and one of layer. */
static void train(void)
{
	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 4000);
	gt_id at;

	for (gt_time i = 0; i < 2; i++) {
		const gt_time start_ns = 100 + 1000 * i;
		const gt_id net = trace_range(&trace, thread, step, "nn.Module: Net", start_ns,
		                              start_ns + 500);
		const gt_id layer = trace_range(&trace, thread, net, "nn.Module: layer",
		                                start_ns + 10, start_ns + 400);
		const gt_id proj = trace_range(&trace, thread, layer, "nn.Module: layer.proj",
		                               start_ns + 20, start_ns + 300);

		launch(proj, start_ns + 30, start_ns + 1000, 10);
		launch(proj, start_ns + 40, start_ns + 1030, 20);
		launch(layer, start_ns + 310, start_ns + 1100, 5 + i);
	}
	at = trace_range(&trace, other, GT_NONE, "nn.Module: layer.proj backward", 3000, 3100);
	launch(at, 3010, 5000, 100);
	at = trace_range(&trace, other, GT_NONE, "nn.Module: layer backward", 3100, 3200);
	launch(at, 3110, 5200, 40);
	at = trace_range(&trace, thread, step, "Optimizer: AdamW.step", 3500, 3600);
	launch(at, 3510, 6000, 7);
	launch(step, 3700, 7000, 42);
}

Test(ops, of_modules_have_their_own_time_and_that_of_what_is_inside)
{
	int row;

	train();
	run_report(&result, "ops", &trace);
	cr_assert(eq(sz, row_count(&result, "nn_modules"), 7));
	row = module("layer.proj", "forward");
	expect_count(&result, "nn_modules", row, "calls", 2);
	expect_count(&result, "nn_modules", row, "own_ns", 60);
	expect_count(&result, "nn_modules", row, "inclusive_ns", 60);
	expect_count(&result, "nn_modules", row, "median_ns", 30);
	expect_count(&result, "nn_modules", row, "launches", 4);
	expect_real(&result, "nn_modules", row, "launches_each", 2);
	/* Between its two kernels; 30 ns each time. */
	expect_count(&result, "nn_modules", row, "idle_ns", 40);
	row = module("layer", "forward");
	expect_count(&result, "nn_modules", row, "own_ns", 11);
	expect_count(&result, "nn_modules", row, "inclusive_ns", 71);
	expect_count(&result, "nn_modules", row, "min_ns", 35);
	expect_count(&result, "nn_modules", row, "max_ns", 36);
	row = module("Net", "forward");
	expect_count(&result, "nn_modules", row, "own_ns", 0);
	expect_count(&result, "nn_modules", row, "inclusive_ns", 71);
	expect_count(&result, "nn_modules", module("AdamW.step", "-"), "own_ns", 7);
	expect_real(&result, "nn_modules", row, "share_percent", 0);
}

Test(ops, of_backward_include_what_their_paths_do)
{
	train();
	run_report(&result, "ops", &trace);
	expect_count(&result, "nn_modules", module("layer.proj", "backward"), "own_ns", 100);
	expect_count(&result, "nn_modules", module("layer", "backward"), "own_ns", 40);
	expect_count(&result, "nn_modules", module("layer", "backward"), "inclusive_ns", 140);
	expect_count(&result, "nn_modules", module("Net", "backward"), "own_ns", 0);
	expect_count(&result, "nn_modules", module("Net", "backward"), "inclusive_ns", 140);
	cr_expect(has_remark(&result, "83.8 % of the GPU time belongs to modules"));
}

/* Two steps of layer.proj and layer: one call of each a step, and one of the model around them. */
static void train_backward(gt_time at_ns)
{
	static const char *const names[] = {"nn.Module: layer backward",
	                                    "nn.Module: layer.proj backward",
	                                    "nn.Module: layer backward",
	                                    "nn.Module: head backward"};
	static gt_id other;

	if (at_ns == 0)
		other = trace_thread(&trace, process, 8);
	trace_range(&trace, thread,
	            trace_range(&trace, thread,
	                        trace_range(&trace, thread, GT_NONE, "nn.Module: Net", at_ns,
	                                    at_ns + 100),
	                        "nn.Module: layer", at_ns + 10, at_ns + 80),
	            "nn.Module: layer.proj", at_ns + 20, at_ns + 70);
	for (gt_time i = 0; i < 4; i++) {
		const gt_time start_ns = at_ns + 200 + 100 * i;

		launch(trace_range(&trace, other, GT_NONE, names[i], start_ns, start_ns + 100),
		       start_ns + 10, start_ns + 1000, i == 1 ? 100 : 10);
	}
}

Test(ops, of_backward_take_in_a_call_what_is_inside_as_well)
{
	int row;

	train_backward(0);
	train_backward(2000);
	run_report(&result, "ops", &trace);
	row = module("layer", "backward");
	expect_count(&result, "nn_modules", row, "calls", 2);
	expect_count(&result, "nn_modules", row, "own_ns", 40);
	expect_count(&result, "nn_modules", row, "inclusive_ns", 240);
	expect_count(&result, "nn_modules", row, "mean_ns", 120);
	expect_count(&result, "nn_modules", row, "median_ns", 120);
	expect_unknown(&result, "nn_modules", row, "idle_ns");
	row = module("layer.proj", "backward");
	expect_count(&result, "nn_modules", row, "calls", 2);
	expect_count(&result, "nn_modules", row, "mean_ns", 100);
	expect_count(&result, "nn_modules", row, "idle_ns", 0);
	row = module("Net", "backward");
	expect_count(&result, "nn_modules", row, "own_ns", 0);
	expect_count(&result, "nn_modules", row, "calls", 2);
	expect_count(&result, "nn_modules", row, "mean_ns", 120);
	expect_count(&result, "nn_modules", row, "max_ns", 120);
}

/* A checkpoint calls a module again in the part that it was called in. */
Test(ops, of_backward_go_on_when_a_module_is_called_inside_of_a_part)
{
	gt_id other;
	gt_id part;
	int row;

	train_backward(0);
	other = trace.ranges.rows[trace.ranges.count - 1].thread;
	part = trace_range(&trace, other, GT_NONE, "nn.Module: layer backward", 1000, 1100);
	launch(trace_range(&trace, other, part, "nn.Module: layer.proj", 1010, 1050), 1020, 3000,
	       5);
	launch(trace_range(&trace, other, GT_NONE, "nn.Module: layer.proj backward", 1100, 1200),
	       1110, 4000, 7);
	run_report(&result, "ops", &trace);
	row = module("layer", "backward");
	expect_count(&result, "nn_modules", row, "calls", 2);
	expect_count(&result, "nn_modules", row, "min_ns", 12);
}

/* Another process has passes of its own, whenever it calls its model. */
Test(ops, of_backward_go_on_when_another_process_calls_a_model)
{
	const gt_id other = trace_thread(&trace, trace_process(&trace, "other", 101), 9);
	int row;

	trace_range(&trace, other, GT_NONE, "nn.Module: Theirs", 0, 50);
	train_backward(0);
	run_report(&result, "ops", &trace);
	row = module("layer", "backward");
	expect_count(&result, "nn_modules", row, "calls", 1);
	expect_count(&result, "nn_modules", row, "mean_ns", 120);
	row = module("Net", "backward");
	expect_count(&result, "nn_modules", row, "calls", 1);
}

/* Each launch of the graph is a call of the module, with what was captured inside it. */
Test(ops, of_backward_in_graphs_are_called_as_often_as_these_are_launched)
{
	const gt_id other = trace_thread(&trace, process, 8);
	gt_id parts[2];
	gt_id nodes[2];
	int row;

	trace_range(&trace, thread, GT_NONE, "nn.Module: layer", 10, 100);
	parts[0] = trace_range(&trace, other, GT_NONE, "nn.Module: layer backward", 300, 400);
	parts[1] = trace_range(&trace, other, GT_NONE, "nn.Module: layer.proj backward", 400, 500);
	for (int i = 0; i < 2; i++)
		nodes[i] = trace_node(&trace, process,
		                      trace_call_in(&trace, parts[i], "cudaLaunchKernel",
		                                    310 + 100 * i, 315 + 100 * i));
	for (gt_time i = 0; i < 3; i++) {
		const gt_id run =
			trace_range(&trace, thread, GT_NONE, "run", 4000 + 100 * i, 4050 + 100 * i);
		struct gt_kernel *first = launch(run, 4010 + 100 * i, 5000 + 100 * i, 10);
		const gt_id call = first->api_call;

		first->node = nodes[0];
		first = trace_kernel(&trace, stream, shape, 5020 + 100 * i, 5050 + 100 * i);
		first->api_call = call;
		first->node = nodes[1];
	}
	run_report(&result, "ops", &trace);
	row = module("layer", "backward");
	expect_count(&result, "nn_modules", row, "calls", 3);
	expect_count(&result, "nn_modules", row, "own_ns", 30);
	expect_count(&result, "nn_modules", row, "inclusive_ns", 120);
	expect_count(&result, "nn_modules", row, "mean_ns", 40);
	expect_count(&result, "nn_modules", module("layer.proj", "backward"), "mean_ns", 30);
}

Test(ops, of_backward_name_the_operation_that_their_number_ties_them_to)
{
	const gt_id linear =
		trace_range(&trace, thread, GT_NONE, "aten::linear, seq = 4, op_id = 1", 0, 100);
	const gt_id mm =
		trace_range(&trace, thread, linear, "aten::mm, seq = 4, op_id = 2", 10, 50);
	gt_id node;
	gt_id inner;
	int row;

	launch(mm, 20, 1000, 30);
	node = trace_range(&trace, thread, GT_NONE,
	                   "autograd::engine::evaluate_function: MmBackward0, op_id = 3", 200, 300);
	inner = trace_range(&trace, thread, node, "MmBackward0, seq = 4, op_id = 4", 210, 290);
	inner = trace_range(&trace, thread, inner, "aten::mm, op_id = 5", 212, 280);
	launch(inner, 220, 1100, 50);
	inner = trace_range(&trace, thread, node, "aten::sum, op_id = 6", 291, 299);
	launch(inner, 292, 1200, 7);
	run_report(&result, "ops", &trace);
	cr_assert(eq(sz, row_count(&result, "ops"), 5));
	row = row_of("ops", "op", "MmBackward0", "direction", "backward");
	expect_words(&result, "ops", row, "forward_op", "aten::mm");
	expect_count(&result, "ops", row, "calls", 1);
	expect_count(&result, "ops", row, "own_ns", 0);
	expect_count(&result, "ops", row, "inclusive_ns", 57);
	expect_count(&result, "ops", row, "median_ns", 57);
	row = row_of("ops", "op", "aten::mm", "direction", "backward");
	expect_words(&result, "ops", row, "forward_op", "aten::mm");
	expect_count(&result, "ops", row, "own_ns", 50);
	row = row_of("ops", "op", "aten::sum", "direction", "backward");
	expect_words(&result, "ops", row, "forward_op", "aten::mm");
	row = row_of("ops", "op", "aten::linear", "direction", "forward");
	expect_count(&result, "ops", row, "own_ns", 0);
	expect_count(&result, "ops", row, "inclusive_ns", 30);
	expect_unknown(&result, "ops", row, "forward_op");
}

Test(ops, that_an_optimizer_calls_are_neither_forward_nor_backward)
{
	const gt_id step = trace_range(&trace, thread, GT_NONE,
	                               "Optimizer.step#AdamW.step, op_id = 1", 0, 100);
	const gt_id add =
		trace_range(&trace, thread, step, "aten::_foreach_add_, op_id = 2", 10, 50);

	launch(add, 20, 1000, 30);
	launch(trace_range(&trace, thread, GT_NONE, "aten::mul, op_id = 3", 200, 300), 210, 2000,
	       4);
	run_report(&result, "ops", &trace);
	expect_count(&result, "ops", row_of("ops", "op", "aten::_foreach_add_", "direction", "-"),
	             "own_ns", 30);
	expect_count(&result, "ops", row_of("ops", "op", "aten::mul", "direction", "forward"),
	             "own_ns", 4);
}

/* The range of a module begins in the engine's range of its first node, and stays open for others. */
Test(ops, of_backward_are_told_apart_when_ranges_of_modules_lie_across_them)
{
	gt_id node;
	gt_id net;
	gt_id inner;
	int row;

	trace_range(&trace, thread, GT_NONE, "aten::mm, seq = 4, op_id = 1", 0, 10);
	node = trace_range(&trace, thread, GT_NONE,
	                   "autograd::engine::evaluate_function: MmBackward0, op_id = 2", 100, 200);
	net = trace_range(&trace, thread, node, "nn.Module: net backward", 110, 400);
	inner = trace_range(&trace, thread, net, "MmBackward0, seq = 4, op_id = 3", 120, 180);
	launch(inner, 130, 1000, 10);
	node = trace_range(&trace, thread, net,
	                   "autograd::engine::evaluate_function: AccumulateGrad, op_id = 4", 210,
	                   300);
	inner = trace_range(&trace, thread, node, "AccumulateGrad, op_id = 5", 220, 290);
	launch(inner, 230, 2000, 20);
	run_report(&result, "ops", &trace);
	row = row_of("ops", "op", "MmBackward0", "direction", "backward");
	expect_words(&result, "ops", row, "forward_op", "aten::mm");
	expect_count(&result, "ops", row, "calls", 1);
	expect_count(&result, "ops", row, "inclusive_ns", 10);
	row = row_of("ops", "op", "AccumulateGrad", "direction", "backward");
	expect_unknown(&result, "ops", row, "forward_op");
	expect_count(&result, "ops", row, "calls", 1);
	expect_count(&result, "ops", row, "own_ns", 20);
}

/* Each forward has the number 4: what another process calls so is another operation. */
Test(ops, of_several_processes_have_numbers_of_their_own)
{
	const gt_id other = trace_thread(&trace, trace_process(&trace, "other", 101), 9);

	trace_range(&trace, thread, GT_NONE, "aten::mm, seq = 4, op_id = 1", 0, 100);
	trace_range(&trace, other, GT_NONE, "aten::relu, seq = 4, op_id = 1", 50, 100);
	trace_range(&trace, thread, GT_NONE, "MmBackward0, seq = 4, op_id = 2", 200, 300);
	run_report(&result, "ops", &trace);
	expect_words(&result, "ops", row_of("ops", "op", "MmBackward0", "direction", "backward"),
	             "forward_op", "aten::mm");
}

/* A checkpoint calls forward anew on the thread of backward, which has numbers of its own. */
Test(ops, of_backward_are_of_the_thread_that_ran_forward)
{
	const gt_id other = trace_thread(&trace, process, 9);
	gt_id checkpoint;

	trace_range(&trace, thread, GT_NONE, "aten::mm, seq = 4, op_id = 1", 0, 100);
	checkpoint = trace_range(&trace, other, GT_NONE,
	                         "CheckpointFunctionBackward, seq = 9, op_id = 2", 200, 300);
	trace_range(&trace, other, checkpoint, "aten::relu, seq = 4, op_id = 3", 210, 220);
	trace_range(&trace, other, checkpoint, "ReluBackward0, seq = 4, op_id = 4", 230, 240);
	trace_range(&trace, other, GT_NONE, "MmBackward0, seq = 4, op_id = 5", 400, 500);
	run_report(&result, "ops", &trace);
	expect_words(&result, "ops", row_of("ops", "op", "ReluBackward0", "direction", "backward"),
	             "forward_op", "aten::relu");
	expect_words(&result, "ops", row_of("ops", "op", "MmBackward0", "direction", "backward"),
	             "forward_op", "aten::mm");
}

static gt_id xla_range(gt_id parent, const char *text, gt_time start_ns, gt_time end_ns)
{
	const gt_id range = trace_range(&trace, thread, parent, text, start_ns, end_ns);

	trace.ranges.rows[range].domain = 0;
	return range;
}

Test(ops, of_hlo_are_instructions_in_their_module)
{
	gt_id set;
	gt_id thunk;
	int row;

	trace_domain(&trace, process, "TSL");
	set = xla_range(GT_NONE, "XlaModule:#hlo_module=jit_step,program_id=3#", 0, 500);
	thunk = xla_range(set, "Thunk:#hlo_op=custom-call.2#", 10, 100);
	trace.ranges.rows[thunk].data =
		gt_strings_add(trace.strings, "custom_call_target=\\\"__cublas$gemm\\\"");
	launch(thunk, 20, 1000, 30);
	launch(xla_range(set, "Thunk:#name=add,hlo_op=fusion.6#", 110, 200), 120, 1100, 10);
	run_report(&result, "ops", &trace);
	cr_assert(eq(sz, row_count(&result, "hlo"), 2));
	row = row_of("hlo", "instruction", "custom-call.2", "category", "gemm call");
	expect_words(&result, "hlo", row, "hlo_module", "jit_step");
	expect_count(&result, "hlo", row, "own_ns", 30);
	row = row_of("hlo", "instruction", "fusion.6", "category", "fusion");
	expect_real(&result, "hlo", row, "share_percent", 25);
}

/* XLA's text of a call of a library may be empty, and its name says nothing. */
Test(ops, of_hlo_that_call_libraries_are_what_their_kernels_are)
{
	const gt_id small = trace_shape(&trace, "elementwise", 1, 32);
	gt_id thunk;
	int row;

	trace_domain(&trace, process, "TSL");
	trace.launch_shapes.rows[shape].origin = GT_ORIGIN_cublas;
	thunk = xla_range(GT_NONE, "Thunk:#hlo_op=custom-call.2#", 10, 100);
	launch(thunk, 20, 1000, 30);
	launch(thunk, 30, 1100, 10)->shape = small;
	launch(thunk, 40, 1200, 10)->shape = small;
	run_report(&result, "ops", &trace);
	row = row_of("hlo", "instruction", "custom-call.2", "category", "gemm call");
	expect_words(&result, "hlo", row, "kernel", "gemm");
}

/* A node that a call in a range made, and the kernels of so many launches of its graph. */
static void launch_graph(gt_id range, gt_time made_ns, size_t launches, gt_time duration_ns)
{
	const gt_id made = trace_call_in(&trace, range, "cudaLaunchKernel", made_ns, made_ns + 5);
	const gt_id node = trace_node(&trace, process, made);
	const gt_id run = trace_range(&trace, thread, GT_NONE, "run", 4000, 4900);

	for (size_t i = 0; i < launches; i++)
		launch(run, 4010 + 10 * (gt_time)i, 5000 + 100 * (gt_time)i, duration_ns)->node =
			node;
}

Test(ops, are_called_as_often_as_their_graph_is_launched)
{
	const gt_id warm = trace_range(&trace, thread, GT_NONE, "nn.Module: net", 100, 200);
	const gt_id captured = trace_range(&trace, thread, GT_NONE, "nn.Module: net", 300, 400);
	int row;

	launch(warm, 110, 1000, 40);
	launch_graph(captured, 310, 3, 10);
	run_report(&result, "ops", &trace);
	row = module("net", "forward");
	expect_count(&result, "nn_modules", row, "calls", 4);
	expect_count(&result, "nn_modules", row, "own_ns", 70);
	expect_count(&result, "nn_modules", row, "median_ns", 10);
	expect_count(&result, "nn_modules", row, "max_ns", 40);
	expect_unknown(&result, "nn_modules", row, "idle_ns");
}

/* As with a CUPTI that does not tell of nodes: the launch is in the range of the command buffer. */
Test(ops, of_hlo_in_command_buffers_are_told_by_kernels_where_nodes_are_not_known)
{
	const gt_id fusion = trace_shape(&trace, "loop_add_fusion_1", 1, 32);
	gt_id set;
	gt_id buffer;
	int row;

	trace_domain(&trace, process, "TSL");
	trace.launch_shapes.rows[fusion].origin = GT_ORIGIN_xla;
	trace.launch_shapes.rows[shape].origin = GT_ORIGIN_cublas;
	set = xla_range(GT_NONE, "XlaModule:#hlo_module=jit_step,program_id=3#", 0, 500);
	xla_range(set, "Thunk:#hlo_op=loop_add_fusion.1#", 10, 20);
	buffer = xla_range(set, "Thunk:#hlo_op=command_buffer#", 30, 100);
	launch(buffer, 40, 1000, 30)->shape = fusion;
	launch(buffer, 50, 1100, 70);
	run_report(&result, "ops", &trace);
	cr_assert(eq(sz, row_count(&result, "hlo"), 2));
	row = row_of("hlo", "instruction", "loop_add_fusion.1", "category", "fusion");
	expect_words(&result, "hlo", row, "hlo_module", "jit_step");
	expect_words(&result, "hlo", row, "kernel", "loop_add_fusion_1");
	expect_count(&result, "hlo", row, "own_ns", 30);
	row = row_of("hlo", "instruction", "command_buffer", "category", "command buffer");
	expect_count(&result, "hlo", row, "own_ns", 70);
	cr_expect(has_remark(&result, "30.0 % of the GPU time belongs to instructions"));
	cr_expect(has_remark(&result, "70.0 % is of command buffers"));
}

Test(ops, say_what_shares_are_of)
{
	const gt_id step = trace_range(&trace, thread, GT_NONE, "nn.Module: net", 0, 100);

	launch(step, 10, 1000, 30);
	trace_fill(&trace, stream, 4096, 2000, 2010)->api_call =
		trace_call_in(&trace, step, "cudaMemsetAsync", 50, 55);
	run_report(&result, "ops", &trace);
	expect_real(&result, "nn_modules", module("net", "forward"), "share_percent", 100);
	cr_expect(has_remark(&result, "Shares are of 40 ns: kernels, of which the report kernels "
	                              "tells, took 30 ns, copies and fills 10 ns."));
}

Test(ops, of_hlo_are_told_by_kernels_where_there_are_no_ranges)
{
	const gt_id fusion = trace_shape(&trace, "loop_add_fusion", 1, 32);
	const gt_id gemm = shape;
	int row;

	trace.launch_shapes.rows[fusion].origin = GT_ORIGIN_xla;
	trace.launch_shapes.rows[gemm].origin = GT_ORIGIN_cublas;
	trace_kernel(&trace, stream, fusion, 100, 110);
	trace_kernel(&trace, stream, gemm, 200, 230);
	run_report(&result, "ops", &trace);
	cr_assert(eq(sz, row_count(&result, "hlo"), 2));
	row = row_of("hlo", "instruction", "loop_add_fusion", "category", "fusion");
	expect_count(&result, "hlo", row, "own_ns", 10);
	expect_unknown(&result, "hlo", row, "calls");
	row = row_of("hlo", "instruction", "-", "category", "gemm call");
	expect_words(&result, "hlo", row, "kernel", "gemm");
	expect_count(&result, "hlo", row, "own_ns", 30);
	cr_expect(has_remark(&result, "25.0 % of the GPU time belongs to instructions"));
	cr_expect(has_remark(&result, "XLA's ranges are missing"));
}

/* A step of the main thread, whose backward pass autograd's thread runs. */
static void train_with_autograd(void)
{
	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id step = trace_range(&trace, thread, GT_NONE, "step", 0, 4000);
	const gt_id forward =
		trace_range(&trace, thread, step, "aten::mm, seq = 5, op_id = 1", 100, 200);
	const gt_id backward =
		trace_range(&trace, other, GT_NONE, "MmBackward0, seq = 5, op_id = 2", 300, 400);
	gt_id call;

	trace.ranges.rows[backward].for_range = step;
	launch(forward, 110, 1000, 10);
	launch(backward, 310, 1100, 20);
	call = trace_call(&trace, other, "cudaLaunchKernel", 500, 505);
	trace.api_calls.rows[call].for_range = step;
	trace.api_calls.rows[call].flags = GT_BY_TIME;
	trace_kernel(&trace, stream, shape, 1200, 1210)->api_call = call;
	launch(trace_range(&trace, thread, GT_NONE, "other step", 5000, 6000), 5100, 7000, 500);
}

Test(ops, of_a_chosen_range_have_its_backward_pass)
{
	struct gt_filter filter;
	struct gt_view view;
	int row;

	train_with_autograd();
	gt_filter_init(&filter);
	cr_assert(eq(int, gt_filter_add(&filter, GT_FILTER_RANGE, "step", NULL), 0));
	cr_assert(eq(int, gt_view_cut(&view, &trace, &filter, NULL), 0));
	run_report_on(&result, "ops", &view);
	cr_assert(eq(sz, row_count(&result, "ops"), 2));
	row = row_of("ops", "op", "MmBackward0", "direction", "backward");
	expect_count(&result, "ops", row, "own_ns", 20);
	expect_words(&result, "ops", row, "forward_op", "aten::mm");
	expect_real(&result, "ops", row, "share_percent", 50);
	cr_expect(has_remark(&result, "75.0 % of the GPU time belongs to operations."));
	cr_expect(has_remark(&result, "10 ns of the 40 ns of GPU time belong to the ranges by time "
	                              "alone"));
	gt_filter_release(&filter);
}

/* A module does not own work of another thread by time alone. */
Test(ops, have_nothing_by_time_alone)
{
	const gt_id other = trace_thread(&trace, process, 8);
	const gt_id module_range = trace_range(&trace, thread, GT_NONE, "nn.Module: Net", 0, 1000);
	const gt_id mine = trace_range(&trace, thread, module_range, "mine", 100, 900);
	gt_id call;

	launch(mine, 110, 1000, 10);
	call = trace_call(&trace, other, "cudaLaunchKernel", 500, 505);
	trace.api_calls.rows[call].for_range = mine;
	trace.api_calls.rows[call].flags = GT_BY_TIME;
	trace_kernel(&trace, stream, shape, 1200, 1230)->api_call = call;
	run_report(&result, "ops", &trace);
	expect_count(&result, "nn_modules", module("Net", "forward"), "inclusive_ns", 10);
	cr_expect(has_remark(&result, "25.0 % of the GPU time belongs to modules"));
}

static void expect_host(const char *title, int row, int64_t own_wall_ns, int64_t own_api_ns,
                        int64_t wall_ns)
{
	expect_count(&result, title, row, "own_wall_ns", own_wall_ns);
	expect_count(&result, title, row, "own_api_ns", own_api_ns);
	expect_count(&result, title, row, "wall_ns", wall_ns);
}

Test(ops, of_modules_have_the_time_of_their_threads)
{
	const gt_id net = trace_range(&trace, thread, GT_NONE, "nn.Module: Net", 100, 600);
	const gt_id layer = trace_range(&trace, thread, net, "nn.Module: layer", 110, 500);
	const gt_id other = trace_thread(&trace, process, 8);

	trace_range(&trace, thread, layer, "nn.Module: layer.proj", 120, 400);
	trace_range(&trace, other, GT_NONE, "nn.Module: layer.proj backward", 700, 800);
	trace_range(&trace, other, GT_NONE, "nn.Module: layer backward", 800, 900);
	trace_call(&trace, thread, "cudaMalloc", 105, 125); /* in all three */
	trace_call(&trace, thread, "cudaMalloc", 590, 700); /* and behind them */
	run_report(&result, "ops", &trace);
	expect_host("nn_modules", module("layer.proj", "forward"), 280, 5, 280);
	expect_host("nn_modules", module("layer", "forward"), 110, 10, 390);
	expect_host("nn_modules", module("Net", "forward"), 110, 15, 500);
	expect_host("nn_modules", module("layer", "backward"), 100, 0, 200);
	expect_unknown(&result, "nn_modules", module("Net", "backward"), "own_wall_ns");
	expect_count(&result, "nn_modules", module("Net", "backward"), "wall_ns", 200);
}

/* aten::add inside aten::add, as out-variants are, and a range that never ended. */
Test(ops, inside_of_their_like_count_once)
{
	const gt_id outer = trace_range(&trace, thread, GT_NONE, "aten::add, op_id = 1", 100, 200);
	const gt_id middle = trace_range(&trace, thread, outer, "aten::to, op_id = 2", 110, 180);
	gt_id open;

	trace_range(&trace, thread, middle, "aten::add, op_id = 3", 120, 150);
	open = trace_range(&trace, thread, GT_NONE, "aten::add, op_id = 4", 300, 400);
	trace_call(&trace, thread, "cudaMalloc", 145, 155);
	trace.ranges.rows[open].flags |= GT_UNFINISHED;
	run_report(&result, "ops", &trace);
	expect_host("ops", row_of("ops", "op", "aten::add", "direction", "forward"), 60, 5, 100);
	expect_host("ops", row_of("ops", "op", "aten::to", "direction", "forward"), 40, 5, 70);
}

/* Backward of layer runs backward of layer.proj anew, on its own thread. */
Test(ops, of_backward_in_backward_count_once)
{
	gt_id outer;
	gt_id inner;

	trace_range(&trace, thread, trace_range(&trace, thread, GT_NONE, "nn.Module: layer", 0, 90),
	            "nn.Module: layer.proj", 10, 80);
	outer = trace_range(&trace, thread, GT_NONE, "nn.Module: layer backward", 100, 200);
	inner = trace_range(&trace, thread, outer, "nn.Module: layer.proj backward", 120, 150);
	launch(outer, 110, 1000, 10);
	launch(inner, 130, 1100, 5);
	run_report(&result, "ops", &trace);
	expect_count(&result, "nn_modules", module("layer", "backward"), "inclusive_ns", 15);
	expect_count(&result, "nn_modules", module("layer", "backward"), "wall_ns", 100);
	expect_count(&result, "nn_modules", module("layer", "backward"), "own_wall_ns", 70);
	expect_count(&result, "nn_modules", module("layer.proj", "backward"), "inclusive_ns", 5);
	expect_count(&result, "nn_modules", module("layer.proj", "backward"), "wall_ns", 30);
}

Test(ops, are_told_apart_by_the_shapes_of_their_operands)
{
	launch(trace_range(&trace, thread, GT_NONE,
	                   "aten::mm, seq = 1, op_id = 2, sizes = [[2, 3], [3, 4]]", 0, 10),
	       1, 100, 10);
	launch(trace_range(&trace, thread, GT_NONE,
	                   "aten::mm, seq = 2, op_id = 3, sizes = [[2, 3], [3, 5]]", 20, 30),
	       21, 200, 20);
	launch(trace_range(&trace, thread, GT_NONE,
	                   "aten::mm, op_id = 4, sizes = [[2, 3], [3, 5]], input_op_ids = [[1]]",
	                   40, 50),
	       41, 300, 20);
	run_report_with(&result, "ops", &trace, "by=shape");
	cr_assert(eq(sz, row_count(&result, "ops"), 2));
	expect_words(&result, "ops", 0, "shapes", "[[2, 3], [3, 5]]");
	expect_count(&result, "ops", 0, "calls", 2);
	expect_count(&result, "ops", 0, "own_ns", 40);
	expect_words(&result, "ops", 1, "shapes", "[[2, 3], [3, 4]]");
	gt_result_release(&result);
	run_report(&result, "ops", &trace);
	cr_assert(eq(sz, row_count(&result, "ops"), 1));
	expect_unknown(&result, "ops", 0, "shapes");
}

Test(ops, say_where_they_come_from_when_there_are_none)
{
	launch(trace_range(&trace, thread, GT_NONE, "step", 0, 100), 10, 20, 30);
	run_report(&result, "ops", &trace);
	cr_expect(has_remark(&result, "No operations of frameworks were recorded"));
}

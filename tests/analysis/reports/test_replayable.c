/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/check_scene.h"
#include "base/strings.h"

static void make(void)
{
	scene_begin(1000000);
}

TestSuite(replayable, .init = make, .fini = scene_end);

static gt_string text(const char *words)
{
	return gt_strings_add(trace.strings, words);
}

static void add_captured(gt_id kernel, gt_wide number, const char *bundle, const char *reason)
{
	*gt_array_push(&trace.captured_launches) = (struct gt_captured_launch){
		.start_ns = 100,
		.end_ns = 400,
		.process = process,
		.context = GT_NONE,
		.api_call = GT_NONE,
		.kernel = kernel,
		.number = number,
		.bytes = *bundle ? 4096 : 0,
		.bundle = text(bundle),
		.reason = text(reason),
	};
}

Test(replayable, says_how_a_kernel_would_be_captured)
{
	(void)trace_kernel(&trace, stream, shape, 10, 20);
	run_report(&result, "replayable", &trace);
	cr_assert(eq(sz, row_count(&result, "kernels"), 1));
	cr_expect(eq(sz, row_count(&result, "captured"), 0));
	expect_count(&result, "kernels", 0, "launches", 1);
	expect_count(&result, "kernels", 0, "captured", 0);
	expect_words(&result, "kernels", 0, "code", "not kept");
	expect_words(&result, "kernels", 0, "replay", "if it is captured");
	cr_expect(has_remark(&result, "run --capture-kernels REGEX"));
	cr_expect(has_remark(&result, "No launch was captured"));
}

Test(replayable, lists_what_was_captured_and_why_the_others_were_not)
{
	const gt_id other = trace_shape(&trace, "softmax", 1, 32);

	(void)trace_kernel(&trace, stream, shape, 10, 20);
	(void)trace_kernel(&trace, stream, shape, 40, 55);
	(void)trace_kernel(&trace, stream, other, 60, 70);
	add_captured(1, 2, "100-2-gemm", "");
	add_captured(2, 3, "", "it uses memory of another GPU, 1");
	add_captured(GT_NONE, 0, "", "a stream was being captured");
	run_report(&result, "replayable", &trace);
	cr_assert(eq(sz, row_count(&result, "captured"), 3));
	expect_words(&result, "captured", 0, "bundle", "100-2-gemm");
	expect_count(&result, "captured", 0, "number", 2);
	expect_count(&result, "captured", 0, "duration_ns", 15);
	expect_count(&result, "captured", 0, "held_ns", 300);
	expect_count(&result, "captured", 0, "bytes", 4096);
	expect_words(&result, "captured", 1, "reason", "it uses memory of another GPU, 1");
	cr_expect(cell(&result, "captured", 1, "bytes")->unknown);
	cr_expect(cell(&result, "captured", 2, "number")->unknown);
	cr_expect(cell(&result, "captured", 2, "duration_ns")->unknown);
	expect_count(&result, "kernels", 0, "captured", 1);
	expect_words(&result, "kernels", 0, "replay", "captured: gputrace replay runs it again");
	expect_count(&result, "kernels", 1, "refused", 1);
	expect_words(&result, "kernels", 1, "replay", "refused: it uses memory of another GPU, 1");
	cr_expect(not(has_remark(&result, "No launch was captured")));
}

Test(replayable, says_how_nodes_of_graphs_are_captured)
{
	struct gt_kernel *kernel = trace_kernel(&trace, stream, shape, 10, 20);

	kernel->graph = 3;
	kernel->graph_node = 17;
	run_report(&result, "replayable", &trace);
	expect_count(&result, "kernels", 0, "nodes", 1);
	expect_words(&result, "kernels", 0, "replay", "if it is captured");
}

Test(replayable, lists_launches_of_graphs_with_their_steps)
{
	struct gt_captured_launch *whole = gt_array_push(&trace.captured_launches);
	struct gt_captured_launch *node;

	*whole = (struct gt_captured_launch){
		.kernel = GT_NONE, .node = text("*"), .number = 1, .steps = 12};
	node = gt_array_push(&trace.captured_launches);
	*node = (struct gt_captured_launch){
		.kernel = GT_NONE, .node = text("_Z4gemmv"), .steps = 5};
	run_report(&result, "replayable", &trace);
	expect_words(&result, "captured", 0, "kernel", "CUDA graph");
	expect_count(&result, "captured", 0, "steps", 12);
	expect_words(&result, "captured", 1, "kernel", "_Z4gemmv");
	expect_count(&result, "captured", 1, "steps", 5);
}

Test(replayable, counts_clusters_and_calls_for_cooperative_kernels)
{
	struct gt_kernel *kernel = trace_kernel(&trace, stream, shape, 10, 20);

	kernel->api_call = trace_call(&trace, thread, "cuLaunchCooperativeKernel", 0, 5);
	trace.launch_shapes.rows[shape].cluster_x = 2;
	run_report(&result, "replayable", &trace);
	expect_count(&result, "kernels", 0, "clusters", 1);
	expect_count(&result, "kernels", 0, "cooperative", 1);
}

Test(replayable, knows_which_code_is_kept)
{
	(void)trace_kernel(&trace, stream, shape, 10, 20);
	*gt_array_push(&trace.modules) = (struct gt_module){.file = text("modules/1.cubin")};
	*gt_array_push(&trace.functions) =
		(struct gt_function){.module = 0, .name = trace.launch_shapes.rows[shape].name};
	run_report(&result, "replayable", &trace);
	expect_words(&result, "kernels", 0, "code", "kept");
}

Test(replayable, names_the_range_of_a_sequence)
{
	add_captured(GT_NONE, 2, "1-2-step", "");
	trace.captured_launches.rows[0].range = text("step");
	trace.captured_launches.rows[0].steps = 9;
	add_captured(0, 1, "1-1-gemm", "");
	(void)trace_kernel(&trace, stream, shape, 10, 20);
	run_report(&result, "replayable", &trace);
	cr_assert(eq(sz, row_count(&result, "captured"), 2));
	expect_words(&result, "captured", 0, "kernel", "range step");
	expect_count(&result, "captured", 0, "steps", 9);
	expect_unknown(&result, "captured", 1, "steps");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"
#include "model/gpu/module_index.h"
#include "support/check.h"
#include "support/trace.h"

/* Which function of which module a kernel is an execution of. */

static struct gt_trace trace;
static struct gt_module_index index_;

static void make(void)
{
	gt_trace_init(&trace);
	*gt_array_push(&trace.contexts) = (struct gt_context){0};
	*gt_array_push(&trace.streams) = (struct gt_stream){.context = 0};
	*gt_array_push(&trace.streams) = (struct gt_stream){.context = 1};
	*gt_array_push(&trace.launch_shapes) =
		(struct gt_launch_shape){.name = gt_strings_add(trace.strings, "kernel")};
}

static void release(void)
{
	gt_module_index_release(&index_);
	gt_trace_release(&trace);
}

TestSuite(module_index, .init = make, .fini = release);

/* With a function "kernel" in context 0. */
static void add_module(uint64_t hash, gt_time loaded_ns, gt_time unloaded_ns)
{
	*gt_array_push(&trace.functions) = (struct gt_function){
		.module = (gt_id)trace.modules.count,
		.name = gt_strings_add(trace.strings, "kernel"),
	};
	*gt_array_push(&trace.modules) = (struct gt_module){
		.hash = hash, .loaded_ns = loaded_ns, .unloaded_ns = unloaded_ns};
}

static gt_id find(gt_id stream, gt_time start_ns)
{
	const struct gt_kernel kernel = {.start_ns = start_ns, .stream = stream};

	gt_module_index_release(&index_);
	gt_module_index_init(&index_, &trace);
	return gt_module_index_find(&index_, &kernel);
}

Test(module_index, finds_the_function_of_the_kernels_name_and_context)
{
	add_module(1, 100, 0);
	cr_expect(eq(u32, find(0, 200), 0));
	cr_expect(eq(u32, find(0, 0), 0)); /* it has no time yet */
	cr_expect(eq(u32, find(1, 200), GT_NONE));
	cr_expect(eq(u32, find(0, 50), GT_NONE));
	cr_expect(eq(u32, find(7, 200), GT_NONE));
}

Test(module_index, does_not_choose_between_two_that_are_there)
{
	add_module(1, 100, 0);
	add_module(2, 150, 0);
	cr_expect(eq(u32, find(0, 120), 0));
	cr_expect(eq(u32, find(0, 200), GT_NONE));
}

Test(module_index, takes_equal_ones_for_one)
{
	add_module(1, 100, 0);
	add_module(1, 150, 0);
	cr_expect(eq(u32, find(0, 200), 1));
}

Test(module_index, knows_what_was_unloaded_before)
{
	add_module(1, 100, 140);
	add_module(2, 150, 0);
	cr_expect(eq(u32, find(0, 130), 0));
	cr_expect(eq(u32, find(0, 200), 1));
}

/* As Triton does it when it tunes: one kernel compiled in several ways. */
Test(module_index, chooses_between_two_by_what_the_kernel_took)
{
	add_module(1, 100, 0);
	add_module(2, 150, 0);
	for (int i = 0; i < 2; i++) {
		trace.functions.rows[i].known = GT_FUNCTION_READ;
		trace.functions.rows[i].registers = 32 + 32 * (gt_count)i;
	}
	trace.launch_shapes.rows[0].registers = 64;
	cr_expect(eq(u32, find(0, 200), 1));
	trace.launch_shapes.rows[0].registers = 40;
	cr_expect(eq(u32, find(0, 200), GT_NONE));
	trace.functions.rows[0].registers = trace.functions.rows[1].registers = 40;
	cr_expect(eq(u32, find(0, 200), GT_NONE));
}

/* CUPTI shows 16 registers for launches of code that needs fewer. */
Test(module_index, knows_that_launches_take_16_registers_at_least)
{
	add_module(1, 100, 0);
	add_module(2, 150, 0);
	for (int i = 0; i < 2; i++) {
		trace.functions.rows[i].known = GT_FUNCTION_READ;
		trace.functions.rows[i].registers = i == 0 ? 10 : 40;
	}
	trace.launch_shapes.rows[0].registers = 16;
	cr_expect(eq(u32, find(0, 200), 0));
	trace.launch_shapes.rows[0].registers = 10;
	cr_expect(eq(u32, find(0, 200), GT_NONE));
}

Test(module_index, knows_where_a_kernel_was_written_that_all_say_the_same_of)
{
	const gt_string name = gt_strings_add(trace.strings, "kernel");

	for (int i = 0; i < 3; i++)
		add_module((gt_wide)i, 100, 0);
	(void)find(0, 200);
	cr_expect(eq(u32, gt_module_index_source(&index_, 0, name), GT_NONE));
	trace.functions.rows[0].source_line = trace.functions.rows[2].source_line = 7;
	cr_expect(eq(u32,
	             trace.functions.rows[gt_module_index_source(&index_, 0, name)].source_line,
	             7));
	trace.functions.rows[1].source_line = 8;
	cr_expect(eq(u32, gt_module_index_source(&index_, 0, name), GT_NONE));
	cr_expect(eq(u32, gt_module_index_source(&index_, 1, name), GT_NONE));
}

Test(module_index, names_the_architecture_of_a_module)
{
	struct gt_module module = {.arch = 90};
	char text[GT_MODULE_ARCH_SIZE];

	expect_text(gt_module_arch(&module, text), "sm_90");
	module.traits = GT_MODULE_ONE_ARCH;
	expect_text(gt_module_arch(&module, text), "sm_90a");
	module.arch = 0;
	expect_text(gt_module_arch(&module, text), "");
}

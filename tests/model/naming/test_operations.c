/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/operations.h"

#include <stdio.h>
#include <string.h>

#include "model/naming/kernel_names.h"
#include "support/check.h"

static void expect_read(const char *domain, const char *text, enum gt_operation_kind kind,
                        enum gt_direction direction, const char *name)
{
	const struct gt_operation operation = gt_operation_of(domain, text);

	cr_expect(eq(int, operation.kind, kind), "%s", text);
	cr_expect(eq(int, operation.direction, direction), "%s", text);
	cr_expect(eq(str, (char *)operation.name, (char *)name), "%s", text);
}

Test(operations, of_pytorch_are_read_from_their_ranges)
{
	expect_read("", "nn.Module: layers.3.mlp", GT_OPERATION_MODULE, GT_DIRECTION_FORWARD,
	            "layers.3.mlp");
	expect_read("", "nn.Module: layers.3.mlp backward", GT_OPERATION_MODULE,
	            GT_DIRECTION_BACKWARD, "layers.3.mlp");
	expect_read("", "Optimizer: AdamW.step", GT_OPERATION_MODULE, GT_DIRECTION_NONE,
	            "AdamW.step");
	expect_read("", "aten::mm, seq = 12, op_id = 34", GT_OPERATION_OP, GT_DIRECTION_FORWARD,
	            "aten::mm");
	expect_read("", "aten::empty, op_id = 3, sizes = [[2, 4]]", GT_OPERATION_OP,
	            GT_DIRECTION_FORWARD, "aten::empty");
	expect_read("", "autograd::engine::evaluate_function: MmBackward0, op_id = 35",
	            GT_OPERATION_OP, GT_DIRECTION_BACKWARD, "MmBackward0");
	expect_read("", "Optimizer.step#AdamW.step, op_id = 37", GT_OPERATION_OP, GT_DIRECTION_NONE,
	            "Optimizer.step#AdamW.step");
	expect_read("", "MmBackward0, seq = 12, op_id = 36", GT_OPERATION_OP, GT_DIRECTION_BACKWARD,
	            "MmBackward0");
	cr_expect(eq(u64, gt_operation_of("", "aten::mm, seq = 12, op_id = 34").sequence, 12));
	cr_expect(not(gt_operation_of("", "aten::empty, op_id = 3").numbered));
}

Test(operations, of_xla_are_read_from_the_ranges_of_its_domain)
{
	expect_read("TSL",
	            "XlaModule:#prefix=jit(step)/jit(main),hlo_module=jit_step,program_id=3#",
	            GT_OPERATION_HLO_MODULE, GT_DIRECTION_NONE, "jit_step");
	expect_read("TSL", "Thunk:#hlo_op=fusion.6#", GT_OPERATION_HLO, GT_DIRECTION_NONE,
	            "fusion.6");
	expect_read("TSL", "Thunk:#name=dot_general,hlo_op=custom-call.2,unique_hlo_op_id=7#",
	            GT_OPERATION_HLO, GT_DIRECTION_NONE, "custom-call.2");
	expect_read("", "Thunk:#hlo_op=fusion.6#", GT_OPERATION_NONE, GT_DIRECTION_NONE, "");
}

Test(operations, are_none_where_the_text_is_another_one)
{
	static const char *const texts[] = {"",           "train",      "nn.Module",
	                                    ", seq = 12", "Thunk:#=#",  "backward",
	                                    "step, seq",  "XlaModule:", "aten::mm"};
	char longest[4096];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		expect_read("", texts[i], GT_OPERATION_NONE, GT_DIRECTION_NONE, "");
		expect_read("TSL", texts[i], GT_OPERATION_NONE, GT_DIRECTION_NONE, "");
	}
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "nn.Module: ", 11);
	longest[sizeof(longest) - 1] = '\0';
	cr_expect(eq(sz, strlen(gt_operation_of("", longest).name),
	             sizeof(((struct gt_operation *)0)->name) - 1));
}

static void expect_category(const char *instruction, const char *text, const char *category)
{
	cr_expect(eq(str, (char *)gt_hlo_category_name(gt_hlo_category_of(instruction, text)),
	             (char *)category),
	          "%s", instruction);
}

Test(operations, of_hlo_are_of_the_category_that_their_target_or_name_says)
{
	expect_category("custom-call.2", "{\"HLO\":\"custom_call_target=\\\"__cublas$gemm\\\"\"}",
	                "gemm call");
	expect_category("custom-call.2", "{\"HLO\":\"custom_call_target=\\\"triton\\\"\"}",
	                "custom call");
	expect_category("custom-call.2", "", "custom call");
	expect_category("cublas-lt-matmul.2.0", "", "gemm call");
	expect_category("loop_add_fusion.3", "", "fusion");
	expect_category("wrapped_tanh", "", "fusion");
	expect_category("all-reduce-start.1", "", "collective");
	expect_category("copy-start.4", "", "copy");
	expect_category("while.1", "", "other");
	cr_expect(eq(int, gt_hlo_category_of_kernel(GT_FAMILY_gemm, GT_ORIGIN_cutlass),
	             GT_HLO_gemm_call));
	cr_expect(eq(int, gt_hlo_category_of_kernel(GT_FAMILY_gemm, GT_ORIGIN_xla), GT_HLO_fusion));
}

static void expect_stripped(const char *path, const char *stripped)
{
	char text[128];

	snprintf(text, sizeof(text), "%s", path);
	cr_expect(eq(sz, gt_operations_strip(text), strlen(stripped)), "%s", path);
	cr_expect(eq(str, text, (char *)stripped));
}

Test(operations, lose_their_numbers_and_sizes_in_a_path)
{
	expect_stripped("step/aten::mm, seq = 12, op_id = 34, sizes = [[2, 3], []]/x",
	                "step/aten::mm/x");
	expect_stripped("aten::add_, op_id = 4470", "aten::add_");
	expect_stripped("a, sizes = [1]/b, op_id = 2/c, seq = 3", "a/b/c");
	expect_stripped("load, then, go/step 3", "load, then, go/step 3");
	expect_stripped("", "");
	expect_stripped("//", "//");
}

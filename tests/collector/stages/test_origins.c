/* SPDX-License-Identifier: Apache-2.0 */
/* Covers STAGE(origins). */
#include "base/array.h"
#include "base/strings.h"
#include "collector/collect.h"
#include "collector/stage.h"
#include "model/naming/kernel_names.h"
#include "support/trace.h"

extern const struct gt_stage gt_stage_origins;

static struct gt_trace trace;

/* A kernel of an origin, and its function as written in a file. */
static gt_id kernel(const char *name, enum gt_kernel_origin origin, const char *file)
{
	const gt_id shape = trace_shape(&trace, name, 1, 32);

	trace.launch_shapes.rows[shape].name = gt_strings_add(trace.strings, name);
	trace.launch_shapes.rows[shape].origin = origin;
	*gt_array_push(&trace.functions) = (struct gt_function){
		.name = gt_strings_add(trace.strings, name),
		.source_file = gt_strings_add(trace.strings, file),
	};
	return shape;
}

static enum gt_kernel_origin origin_of(gt_id shape)
{
	return (enum gt_kernel_origin)trace.launch_shapes.rows[shape].origin;
}

Test(origins, of_kernels_that_were_written_in_python_are_triton)
{
	struct gt_collection collection = {.trace = &trace};

	trace_init(&trace, 1000);

	const gt_id by_hand = kernel("matmul_kernel", GT_ORIGIN_unknown, "src/matmul.py");
	const gt_id plain = kernel("plain", GT_ORIGIN_unknown, "src/plain.cu");
	const gt_id untold = kernel("untold", GT_ORIGIN_unknown, "");
	const gt_id fusion = kernel("loop_add_fusion", GT_ORIGIN_xla, "step.py");

	trace.launch_shapes.rows[trace_shape(&trace, "", 1, 32)].name = 0;
	cr_assert(eq(int, gt_stage_origins.run(&collection, NULL), 0));
	cr_expect(eq(int, origin_of(by_hand), GT_ORIGIN_triton));
	cr_expect(eq(int, origin_of(plain), GT_ORIGIN_unknown));
	cr_expect(eq(int, origin_of(untold), GT_ORIGIN_unknown));
	cr_expect(eq(int, origin_of(fusion), GT_ORIGIN_xla));
	gt_trace_release(&trace);
}

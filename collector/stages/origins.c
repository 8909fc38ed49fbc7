/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "base/array.h"
#include "base/path.h"
#include "base/strings.h"
#include "collector/stage.h"
#include "model/naming/kernel_names.h"

/*
 * A kernel whose name does not tell its origin, and whose module says that it was written in a
 * file of Python's, was written for Triton.
 */

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	/* By name of a function. */
	bool *is_python = gt_allocate_zeroed(gt_strings_count(trace->strings), sizeof(*is_python));

	(void)err;
	gt_array_each(const struct gt_function, function, &trace->functions)
		is_python[function->name] =
			is_python[function->name] ||
			gt_has_suffix(gt_trace_text(trace, function->source_file), ".py");
	gt_array_each(struct gt_launch_shape, shape, &trace->launch_shapes)
		if (shape->origin == GT_ORIGIN_unknown && shape->name && is_python[shape->name])
			shape->origin = GT_ORIGIN_triton;
	gt_array_free(is_python);
	return 0;
}

const struct gt_stage gt_stage_origins = {.name = "origins", .run = run};

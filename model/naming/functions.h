/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_FUNCTIONS_H
#define GT_MODEL_NAMING_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * The kernel functions of a trace: launch shapes whose full names read alike are one function. The
 * last one stands for kernels whose shape is not known.
 */
struct gt_functions {
	size_t count;
	const char **names; /* owned array of texts that the trace owns */
	uint32_t *of_shape; /* row of launch_shapes -> function */
	size_t shape_count;
};

void gt_functions_init(struct gt_functions *functions, const struct gt_trace *trace);
void gt_functions_release(struct gt_functions *functions);

/* The function of a row of launch_shapes, which may be GT_NONE. */
static inline size_t gt_function_of(const struct gt_functions *functions, gt_id shape)
{
	return shape < functions->shape_count ? functions->of_shape[shape] : functions->count - 1;
}

#endif

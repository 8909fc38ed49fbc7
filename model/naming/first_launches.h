/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_FIRST_LAUNCHES_H
#define GT_MODEL_NAMING_FIRST_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/trace.h"

struct gt_functions;

/*
 * Which executions are the first of their function on a GPU by a process: code is loaded or
 * compiled for them, and caches are cold.
 */
struct gt_first_launches {
	bool *is_first; /* by row of kernels; owned */
	size_t count;   /* rows */
};

void gt_first_launches_init(struct gt_first_launches *first, const struct gt_trace *trace,
                            const struct gt_functions *functions);
void gt_first_launches_release(struct gt_first_launches *first);

#endif

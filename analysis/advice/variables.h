/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ADVICE_VARIABLES_H
#define GT_ANALYSIS_ADVICE_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

struct gt_trace;

/* A variable of the programs' environment that changes how fast they run, with one value. */
struct gt_variable {
	const char *text; /* NAME=value, not terminated; the trace's */
	size_t length;
	size_t processes; /* that had it */
};

/* All that the processes of a trace had, by name. */
struct gt_variables {
	gt_array(struct gt_variable) list;
};

void gt_variables_init(struct gt_variables *variables, const struct gt_trace *trace);
void gt_variables_release(struct gt_variables *variables);

/* Whether some process had this variable with that value: "CUDA_LAUNCH_BLOCKING=1". */
bool gt_variables_have(const struct gt_variables *variables, const char *text);

#endif

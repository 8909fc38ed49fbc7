/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_MEASURE_H
#define GT_CLI_MEASURE_H

#include <stdbool.h>

#include "cli/command_line/option.h"
#include "model/gpu/calibration.h"

struct gt_error;

/* Devices and ceilings to be measured. */
struct gt_measure_plan {
	const struct gt_option_list *devices; /* numbers or UUIDs of GPUs; empty: all */
	const bool *wanted;                   /* by ceiling */
};

/*
 * Measures the GPUs, one after the other, and adds what was found; a GPU that cannot be measured
 * ends it. -ENODEV no GPU or driver, -EINVAL no such GPU, -ENOTSUP this build cannot measure.
 */
int gt_measure(const struct gt_measure_plan *plan, struct gt_calibrations *calibrations,
               struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ENERGY_STEP_ENERGY_H
#define GT_ANALYSIS_ENERGY_STEP_ENERGY_H

#include "analysis/energy/boards.h"

struct gt_range;
struct gt_steps;

/*
 * Joules of each step by its row: all that the boards of the GPUs that its process used drew from
 * its begin to its end. NAN: a GPU is not sampled all that time, another process used it meanwhile,
 * or the process used none. The caller frees them with gt_array_free.
 */
double *gt_energy_of_steps(const struct gt_boards *boards, const struct gt_steps *steps);

/* Units of work that a range says it did: the number of its payload; NAN: it says none. */
double gt_units_of_range(const struct gt_range *range);

#endif

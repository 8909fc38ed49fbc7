/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGES_STEPS_DIFFERENCE_H
#define GT_ANALYSIS_RANGES_STEPS_DIFFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/ranges/steps/steps.h"
#include "base/array.h"

/*
 * Two steps of each process with three steps or more, the slowest and the one of median length, by
 * their parts: kernels of each function on GPUs, and calls of each function of CUDA on the step's
 * thread.
 */
enum gt_step_part { GT_STEP_KERNEL, GT_STEP_CALL };

struct gt_step_pair {
	const struct gt_step *slowest;
	const struct gt_step *median;
};

struct gt_step_difference {
	size_t pair; /* row of pairs */
	enum gt_step_part part;
	const char *name; /* of the function; the trace's */
	uint64_t slowest_count;
	uint64_t median_count;
	int64_t slowest_ns;
	int64_t median_ns;
};

struct gt_step_differences {
	gt_array(struct gt_step_pair) pairs;
	gt_array(struct gt_step_difference) rows; /* pair after pair, what differs most first */
};

/* The steps and their trace must outlive it. */
void gt_step_differences_init(struct gt_step_differences *differences,
                              const struct gt_steps *steps);
void gt_step_differences_release(struct gt_step_differences *differences);

#endif

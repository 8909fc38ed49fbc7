/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGES_STEPS_STEPS_H
#define GT_ANALYSIS_RANGES_STEPS_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/ranges/figures.h"
#include "base/array.h"
#include "model/ranges/folds.h"
#include "model/ranges/ranges.h"
#include "model/view/view.h"

/*
 * Steps of a program: the ranges of a path that repeats, as a training step or a request. Where
 * --range chooses ranges, it is a path of these. Else it is one with at least GT_STEPS_LEAST ranges
 * that ended, of which one had work of GPUs where that is known, but no part of a model, operation
 * of PyTorch or range of a library, as XLA. The path whose ranges took most time together is taken.
 * Ranges without an end are no steps. Names that differ in numbers alone, as "step 1" and "step 2",
 * are one name where else nothing repeats.
 *
 * Where no such range repeats, steps are guessed by the period of the program's launches
 * (period.h). A step then has the work that its process launched in it, on whatever thread, and its
 * thread is the one that launched what it begins with.
 *
 * Busy and quiet time are parts of the step's own time; gpu_ns is summed over GPUs.
 */
enum { GT_STEPS_LEAST = 5 };

struct gt_step {
	gt_id range;     /* row of ranges; GT_NONE: it is guessed */
	gt_id thread;    /* row of threads; GT_NONE: not known */
	gt_id process;   /* GT_NONE: not known */
	uint64_t number; /* of the steps of its process, in order of their start, from 1 */
	gt_time start_ns;
	gt_time end_ns;
	uint64_t shown_ns; /* its time, up to the end of the window */
	uint64_t busy_ns;  /* of that: its work ran on any GPU */
	uint64_t quiet_ns; /* of that: no recorded GPU ran anything */
	uint64_t host_ns;  /* of that: its thread was in no CUDA call */
	uint64_t gpu_ns;   /* its work ran, whenever that was */
	uint64_t kernels;  /* with times, as are copies */
	uint64_t copies;
	uint64_t copied_bytes;
	uint64_t peak_bytes; /* most memory of GPUs that its process had meanwhile */
};

/* The steps of one process: rows from the first on. */
struct gt_step_group {
	size_t first;
	size_t count;
	struct gt_range_spread wall;
};

struct gt_steps {
	struct gt_range_folds folds;
	struct gt_ranges ranges;
	gt_id path;         /* GT_NONE: none repeats */
	const char *anchor; /* kernel that guessed steps begin with; NULL: there are none */
	uint64_t others;    /* stretches between guessed steps that are none */
	bool was_chosen;    /* by --range */
	bool knows_memory;  /* calls that allocate were recorded */
	uint64_t open;      /* ranges of the path without an end */
	gt_array(struct gt_step) rows; /* process after process, in order of their start */
	gt_array(struct gt_step_group) groups;
};

/* The view's trace must outlive it. */
void gt_steps_init(struct gt_steps *steps, const struct gt_view *view);
void gt_steps_release(struct gt_steps *steps);

/* Name of the steps, as "train/step" or "guessed: gemm" by the kernel that they begin with. */
void gt_steps_name(const struct gt_steps *steps, char text[GT_RANGE_PATH_BYTES]);

static inline int64_t gt_step_wall(const struct gt_step *step)
{
	return step->end_ns - step->start_ns;
}

/*
 * How many steps of a group are warm-up: those before the first that took at most a fifth more than
 * the median of the group. That one, and all behind it, are steady.
 */
size_t gt_steps_warm_up(const struct gt_steps *steps, const struct gt_step_group *group);

#endif

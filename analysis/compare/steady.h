/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_STEADY_H
#define GT_ANALYSIS_COMPARE_STEADY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_steps;

/* The times of steady steps, process by process, in which they do not overlap. */
struct gt_steady {
	bool *rows;                          /* by row of the steps: whether it is steady */
	size_t count;                        /* steady steps */
	struct gt_steady_process *processes; /* by row of processes */
	size_t process_count;
};

/* The first steps of a process up to the first that took at most a fifth more than their median are
 * warm-up. The steps must outlive it. */
void gt_steady_init(struct gt_steady *steady, const struct gt_steps *steps);
void gt_steady_release(struct gt_steady *steady);

/* Whether one of the steady steps of a process was open at a moment; place is then how much of it
 * had gone by, 0 to 1. */
bool gt_steady_at(const struct gt_steady *steady, gt_id process, gt_time time_ns, double *place);

#endif

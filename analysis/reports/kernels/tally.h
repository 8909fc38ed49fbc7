/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_KERNELS_TALLY_H
#define GT_ANALYSIS_REPORTS_KERNELS_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/kernels/groups.h"
#include "analysis/kernels/launch_uses.h"
#include "analysis/statistics/groups.h"
#include "analysis/time/throttles.h"
#include "model/naming/first_launches.h"
#include "model/trace.h"

/*
 * Executions of kernels counted by group: all that the tables of the report kernels are made of.
 */

/* Executions of a function that began while the clocks were held down. */
struct gt_slowed_calls {
	uint64_t calls;
	bool known; /* some ran where that was sampled */
};

struct gt_kernel_tally {
	const struct gt_trace *trace;
	struct gt_kernel_groups groups;
	struct gt_first_launches first;
	struct gt_groups durations; /* by group; those of first launches not in later */
	struct gt_groups later;
	uint64_t *unfinished_of;           /* by group */
	uint64_t *profiled_of;             /* by group */
	struct gt_slowed_calls *slowed_of; /* by group */
	uint64_t *first_of;                /* by group */
	struct gt_throttles throttles;
	uint64_t slowing; /* reasons that held when some kernel began */
	struct gt_launch_uses uses;
	uint64_t total_ns;
	uint64_t unfinished;
	uint64_t profiled;
};

/* The trace must outlive it. */
void gt_kernel_tally_init(struct gt_kernel_tally *tally, const struct gt_trace *trace,
                          enum gt_group_by by);
void gt_kernel_tally_release(struct gt_kernel_tally *tally);

#endif

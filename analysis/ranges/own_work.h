/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGES_OWN_WORK_H
#define GT_ANALYSIS_RANGES_OWN_WORK_H

#include "analysis/time/covered.h"
#include "base/array.h"
#include "model/trace.h"

/*
 * When kernels, or graphs that were recorded as a whole, of each process ran on each GPU: what
 * calls of that process wait for, also where a filter does not show it. Work of other processes on
 * the same GPU is not in it.
 */
struct gt_own_work {
	gt_id *of_context; /* row of list by row of contexts */
	gt_array(struct gt_own_place {
		gt_id process; /* GT_NONE: it is not shown */
		struct gt_covered covered;
	}) list;
};

void gt_own_work_init(struct gt_own_work *work, const struct gt_trace *trace);
void gt_own_work_release(struct gt_own_work *work);

/*
 * The work that a call in a context waits for. Where the context is not known, of the GPUs of the
 * process the one that ran least meanwhile; NULL: none is known.
 */
const struct gt_covered *gt_own_work_at(const struct gt_own_work *work, gt_id context,
                                        gt_id process, struct gt_interval when);

#endif

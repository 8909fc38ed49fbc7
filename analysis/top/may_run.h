/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TOP_MAY_RUN_H
#define GT_ANALYSIS_TOP_MAY_RUN_H

#include "model/trace.h"

/*
 * Work of a GPU that has not ended and may run: it has no record yet, so that from some moment on
 * nobody knows what the GPU did. It begins when it was given, or when what was before it in its
 * stream ended.
 */
struct gt_may_run {
	gt_time since_ns; /* the earliest of all such work on the GPU; INT64_MAX: there is none */
	const char *name; /* of that work, the trace's or constant */
};

/*
 * For each device of a trace that a look gave; the rows are to be freed with gt_array_free. now_ns:
 * of the boot-time clock, before the trace was read.
 */
struct gt_may_run *gt_may_run_of_devices(const struct gt_trace *trace, gt_time now_ns);

/*
 * The record of work that ended at this moment or later may not have been fetched: as
 * gt_pending_fresh_ns before now.
 */
gt_time gt_fetched_until(const struct gt_trace *trace, gt_time now_ns);

#endif

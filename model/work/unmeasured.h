/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_WORK_UNMEASURED_H
#define GT_MODEL_WORK_UNMEASURED_H

#include "base/array.h"
#include "model/trace.h"

/*
 * The stretches that are not measured (docs/terms.md): gputrace held the program up for a launch,
 * for its counters or to capture it, or recording was paused in a process that uses GPUs. GPU work
 * meanwhile says nothing of the program, or is not known: GPUs were neither busy nor idle. A pause
 * lasts here until the first kernel after it that is recorded: one that was launched in the pause
 * may still run.
 */
struct gt_unmeasured {
	gt_array(struct gt_interval) list; /* in order of time and apart */
};

/* Stretches of all that happened, whatever a filter left of the trace. */
void gt_unmeasured_init(struct gt_unmeasured *unmeasured, const struct gt_trace *trace);
void gt_unmeasured_release(struct gt_unmeasured *unmeasured);

/*
 * For walks along work in order of its start: returns the next one that begins at that moment or
 * before, and moves on; NULL when there is none.
 */
const struct gt_interval *gt_unmeasured_next(const struct gt_unmeasured *unmeasured, size_t *next,
                                             gt_time until_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_RANGES_QUIET_H
#define GT_MODEL_RANGES_QUIET_H

#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * When no GPU ran any work that was recorded, whatever a filter left to be shown of that work, or
 * none of those that --device chooses: how much of a stretch of time that is. Time that is not
 * measured (model/work/unmeasured.h) is not quiet.
 */
struct gt_quiet_gap {
	gt_time start_ns;
	gt_time end_ns;
	uint64_t before_ns; /* quiet time in gaps before this one */
};

struct gt_quiet {
	gt_array(struct gt_quiet_gap) gaps; /* in order, the first and the last without bounds */
};

void gt_quiet_init(struct gt_quiet *quiet, const struct gt_trace *trace);
void gt_quiet_release(struct gt_quiet *quiet);

/* Quiet time between two moments. */
uint64_t gt_quiet_between(const struct gt_quiet *quiet, gt_time start_ns, gt_time end_ns);

#endif

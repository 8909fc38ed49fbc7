/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_RANGES_OPEN_H
#define GT_MODEL_RANGES_OPEN_H

#include "base/array.h"
#include "model/trace.h"

/*
 * Which range of NVTX was open on a thread at a moment, whether or not the thread called anything
 * then: of what calls, api_calls.range says it already.
 */
struct gt_open_ranges {
	const struct gt_trace *trace;
	gt_array(gt_id) order; /* rows of ranges, by thread and then by begin */
};

/* The trace must outlive it, and its ranges must not change. */
void gt_open_ranges_init(struct gt_open_ranges *open, const struct gt_trace *trace);
void gt_open_ranges_release(struct gt_open_ranges *open);

/* The innermost, GT_NONE: none was open. */
gt_id gt_open_range(const struct gt_open_ranges *open, gt_id thread, gt_time at_ns);

#endif

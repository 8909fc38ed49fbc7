/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_TIMED_H
#define GT_MODEL_TIMED_H

#include <stdbool.h>

#include "model/trace.h"

/*
 * Whether a row has times to count with: it ended, and not before it started. The boot-time
 * clock is never negative, so the difference of two such times always fits.
 */
static inline bool gt_timed(gt_count flags, gt_time start_ns, gt_time end_ns)
{
	return !(flags & GT_UNFINISHED) && start_ns >= 0 && end_ns >= start_ns;
}

/*
 * Whether these times are a figure: not of a launch that was run several times for its counters,
 * which says nothing about how long it takes otherwise.
 */
static inline bool gt_is_figure(gt_count flags, gt_time start_ns, gt_time end_ns)
{
	return gt_timed(flags, start_ns, end_ns) && !(flags & GT_PROFILED);
}

#endif

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

#endif

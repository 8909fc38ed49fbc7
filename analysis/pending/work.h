/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_PENDING_WORK_H
#define GT_ANALYSIS_PENDING_WORK_H

#include "analysis/pending/pending.h"

/*
 * Fills works, without place and state and in any order, and of streams what ended last. proven_ns,
 * by row of streams: work that was given before has ended.
 */
void gt_pending_find_work(struct gt_pending *pending, gt_time *proven_ns);

#endif

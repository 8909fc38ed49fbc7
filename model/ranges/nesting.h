/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_RANGES_NESTING_H
#define GT_MODEL_RANGES_NESTING_H

#include <stdbool.h>

#include "model/trace.h"

/*
 * Which ranges of NVTX lie in one another on their thread, so that they can be drawn in one place
 * with its API calls: those that were pushed, as long as none ends after another one that was begun
 * before it. Ranges of two domains need not, nor those that are started and ended by a number.
 * By row of ranges; the caller frees it with gt_array_free.
 */
bool *gt_ranges_nest(const struct gt_trace *trace);

#endif

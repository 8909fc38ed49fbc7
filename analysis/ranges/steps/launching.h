/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGES_STEPS_LAUNCHING_H
#define GT_ANALYSIS_RANGES_STEPS_LAUNCHING_H

#include <stdbool.h>

#include "model/ranges/ranges.h"

/*
 * Which ranges any work of GPUs belongs to (docs/terms.md), whatever a filter shows of that work:
 * by row of ranges. NULL: of no work it is known which call asked for it, as where no work or no
 * calls were recorded. The caller frees it with gt_array_free.
 */
bool *gt_ranges_with_work(const struct gt_ranges *ranges);

#endif

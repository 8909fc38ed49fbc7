/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGE_LOSSES_H
#define GT_ANALYSIS_RANGE_LOSSES_H

#include <stdint.h>

#include "model/trace.h"

struct gt_facts;
struct gt_range_figures;

/* A part of the time of the ranges of a path, of which there should be little. */
struct gt_range_loss {
	uint64_t lost_ns;
	uint64_t whole_ns;
};

/* Of their wall time, when no GPU ran anything. */
struct gt_range_loss gt_range_quiet(const struct gt_range_figures *figures);

/* Of the time between their first and last work, when the GPU was idle. */
struct gt_range_loss gt_range_gaps(const struct gt_range_figures *figures);

/*
 * The path that loses most, if it is half of its time and a tenth of the recording; GT_NONE if
 * there is none. Where nearly all of it is lost in a path inside, that one says more.
 */
gt_id gt_range_worst(const struct gt_facts *facts,
                     struct gt_range_loss (*loss_of)(const struct gt_range_figures *figures));

#endif

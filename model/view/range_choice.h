/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_VIEW_RANGE_CHOICE_H
#define GT_MODEL_VIEW_RANGE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"

struct gt_filter;

/*
 * Which NVTX ranges of a whole trace a filter chooses: those that it names, but for the first ones
 * of each path and thread that it skips, and those behind the ones that it takes, and all that is
 * inside them. A range that is named and lies in another one that is named is a part of that.
 */
struct gt_range_choice {
	struct gt_ranges ranges;
	bool given;     /* false: the filter names no ranges, nothing else is filled in */
	bool *named;    /* by row of ranges: named, and in no other one that is */
	bool *skipped;  /* by row of ranges: of these */
	uint64_t most;  /* named ones of a path and thread, where they are counted; else 0 */
	uint64_t left;  /* of those that were counted, not skipped */
	gt_id *nearest; /* by row of ranges: the next around it, or itself, that is named */
};

void gt_range_choice_init(struct gt_range_choice *choice, const struct gt_trace *trace,
                          const struct gt_filter *filter);
void gt_range_choice_release(struct gt_range_choice *choice);

/*
 * The chosen range that something belongs to; GT_NONE when it belongs to none: to be asked only
 * where ranges are given.
 */
gt_id gt_range_choice_of(const struct gt_range_choice *choice, struct gt_owner owner);

#endif

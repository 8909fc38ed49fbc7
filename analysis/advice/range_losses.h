/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ADVICE_RANGE_LOSSES_H
#define GT_ANALYSIS_ADVICE_RANGE_LOSSES_H

#include <stdint.h>

#include "analysis/ranges/figures.h"
#include "analysis/statistics/shares.h"
#include "model/trace.h"

struct gt_facts;

/*
 * Parts of the time of the ranges of a path of which there should be little. Ranges of several
 * threads and work on several GPUs go on at the same time: what that costs the recording is united.
 */
enum gt_range_loss_kind {
	GT_RANGE_QUIET, /* of their wall time: no GPU ran anything */
	GT_RANGE_GAPS,  /* of the time between their first and last work on a GPU: it was idle */
	GT_RANGE_LOSSES,
};

struct gt_range_loss {
	uint64_t lost_ns; /* the sum over ranges, and over GPUs of gaps */
	uint64_t whole_ns;
	struct gt_share united; /* when any of them lost any of it */
};

struct gt_range_losses {
	struct gt_range_loss *of[GT_RANGE_LOSSES]; /* by path */
};

/* Losses of totals by path. */
void gt_range_losses_init(struct gt_range_losses *losses, const struct gt_range_totals *totals,
                          const struct gt_wall *wall);
void gt_range_losses_release(struct gt_range_losses *losses);

/*
 * The path that loses most, if it is half of its time and a tenth of the recording; GT_NONE if
 * there is none. Where nearly all of it is lost in a path inside, that one says more.
 */
gt_id gt_range_worst(const struct gt_facts *facts, enum gt_range_loss_kind kind);

/* From the begin of the first range of a path to the latest end of one. */
struct gt_interval gt_range_extent(const struct gt_facts *facts, gt_id path);

#endif

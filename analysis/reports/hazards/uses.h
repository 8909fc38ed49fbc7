/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_HAZARDS_USES_H
#define GT_ANALYSIS_REPORTS_HAZARDS_USES_H

#include "analysis/reports/hazards/graph_hazards.h"
#include "analysis/reports/hazards/hazards.h"
#include "analysis/reports/hazards/stream_clocks.h"

/*
 * All uses of memory that may be compared, by kernels, copies, fills, allocations and frees, and
 * the steps of the host that give them or put them in order.
 */

struct gt_use {
	struct gt_hazard_use shown;
	gt_id process;
	struct gt_clock_point point; /* once it was given */
	size_t first;                /* of touches */
	size_t count;
};

enum gt_use_step_kind {
	GT_USE_STEP_SYNC,
	GT_USE_STEP_ASK,
	GT_USE_STEP_ASKED,
	GT_USE_STEP_FORGET,
	GT_USE_STEP_MAKE,
	GT_USE_STEP_USE,
	GT_USE_STEP_FREE
};

/* A step of the host, in its order. row: of syncs, queries, uses; of uses for MAKE and FREE too. */
struct gt_use_step {
	gt_time time_ns;
	enum gt_use_step_kind kind;
	gt_id row;
};

struct gt_uses {
	gt_array(struct gt_use) list;
	gt_array(struct gt_touch) touches;
	gt_array(struct gt_use_step) steps; /* not sorted */
	struct gt_hazard_cover cover;
};

void gt_uses_init(struct gt_uses *uses, const struct gt_trace *trace);
void gt_uses_release(struct gt_uses *uses);

#endif

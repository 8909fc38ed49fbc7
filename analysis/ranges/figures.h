/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGES_FIGURES_H
#define GT_ANALYSIS_RANGES_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/statistics/spread.h"
#include "model/ranges/folds.h"
#include "model/ranges/ranges.h"
#include "model/view/view.h"

/*
 * What NVTX ranges took, on the host and on GPUs, those of one path, of one name or of one domain
 * together. Ranges that are there for the paths of others alone (GT_AROUND) do not count.
 */
enum gt_ranges_by { GT_RANGES_BY_PATH, GT_RANGES_BY_NAME, GT_RANGES_BY_DOMAIN };

/* The words for these, in their order, with NULL behind them. */
extern const char *const gt_ranges_words[];

/* The enum's value for one of the words. */
enum gt_ranges_by gt_ranges_by(const char *word);

/* How something is distributed over the ranges of a group. */
struct gt_range_spread {
	struct gt_spread spread;
	int64_t p95; /* 0 when there are no values */
};

/* Reorders the values. */
struct gt_range_spread gt_range_spread_of(int64_t *values, size_t count);

/*
 * Figures of one group. Times on GPUs are summed over the GPUs. A range's span is from the first
 * start to the last end of what was launched inside it.
 */
struct gt_range_figures {
	uint64_t ranges;
	uint64_t open;               /* of these, without an end */
	struct gt_range_spread wall; /* of those that ended, ns */
	uint64_t shown_ns;           /* of wall, inside the window */
	uint64_t quiet_ns;           /* of that, in which no GPU ran anything */
	uint64_t busy_ns;            /* of that, in which any of its work ran on any GPU */
	uint64_t gpu_ns;             /* in which something ran that was asked for inside */
	uint64_t by_time_ns; /* of that, in which only what belongs to it by time alone ran */
	struct gt_range_spread gpu;  /* of each range: the same, ns */
	uint64_t span_ns;            /* of all spans */
	uint64_t span_busy_ns;       /* of them, in which something of the range ran */
	struct gt_range_spread idle; /* of each range: time of its span in which the GPU was idle */
	uint64_t kernels;
	uint64_t kernels_each; /* summed over the ranges: those of several count for each */
	uint64_t captured;     /* kernels that were captured inside and launched with their graph */
	uint64_t copies;
	uint64_t copied_bytes;
	uint64_t fills;
};

struct gt_range_totals {
	struct gt_ranges ranges;
	struct gt_range_folds folds;
	enum gt_ranges_by by;
	size_t count;                  /* groups */
	gt_id *group_of;               /* by row of ranges */
	gt_string *domains;            /* by group, of those by domain */
	struct gt_range_figures *rows; /* by group */
	gt_id *order; /* groups: those by path inner behind outer, what took longest first */
};

/* The view's trace must outlive it. */
void gt_range_totals_init(struct gt_range_totals *totals, const struct gt_view *view,
                          enum gt_ranges_by by, enum gt_fold fold);
void gt_range_totals_release(struct gt_range_totals *totals);

/* Name of a group. */
void gt_range_totals_text(const struct gt_range_totals *totals, gt_id group,
                          char text[GT_RANGE_PATH_BYTES]);

/*
 * A path for a place with little room: where the innermost range is a framework's, what that calls
 * it ("blocks.0", "blocks.0 backward", "loop_add_fusion"), else the end of the path.
 */
void gt_range_brief_text(const struct gt_ranges *ranges, gt_id path,
                         char text[GT_RANGE_PATH_BYTES]);

#endif

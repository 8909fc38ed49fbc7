/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_POOLS_H
#define GT_ANALYSIS_MEMORY_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

struct gt_memory_totals;
struct gt_view;

/*
 * Known figures of a pool, from the statistics that its owner told of, or where it told of none
 * from its blocks and from the allocations that carry these. Bytes and counts; NAN: not known.
 */
struct gt_pool_figures {
	bool has_statistics;
	bool has_blocks;
	double in_use;      /* at the end of the window */
	double peak_in_use; /* in the window */
	double requested;   /* of what is in use, as it was asked for */
	double reserved;
	double peak_reserved;
	double cached;
	double largest_free;
	double fragmentation_percent;       /* 100 (1 - largest free piece / all that is free) */
	double worst_fragmentation_percent; /* in the window */
	gt_time worst_ns;                   /* when that was */
	double limit;
	double segments;
	/* In the window. */
	double allocs;
	double reserve_calls;
	double splits;
	double trims;
	double failed;
};

/* By row of pools; the caller frees it with gt_array_free. carriers: gt_memory_carriers. */
struct gt_pool_figures *gt_pool_figures(const struct gt_view *view,
                                        const struct gt_memory_totals *totals,
                                        const gt_id *carriers);

/*
 * A figure of a pool as its owner told of it: the last sample up to a moment; NAN: none. name: a
 * field of struct gputrace_pool_stats.
 */
double gt_pool_told(const struct gt_trace *trace, gt_id pool, const char *name, gt_time at_ns);

#endif

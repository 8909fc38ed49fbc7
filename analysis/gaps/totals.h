/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_GAPS_TOTALS_H
#define GT_ANALYSIS_GAPS_TOTALS_H

#include <stdint.h>

#include "analysis/gaps/cause.h"
#include "base/array.h"
#include "model/trace.h"

/*
 * All gaps of all GPUs together, moment by moment: what the thread that asked for the work after a
 * gap did in it. Each nanosecond of a gap counts once, so the totals add up to the gaps.
 */

struct gt_gap_total {
	gt_id device;
	enum gt_gap_cause_kind kind; /* never CALLS or SEVERAL: each moment has one call at most */
	gt_string function;          /* of CALL and WAIT */
	uint64_t gaps;               /* with some of it */
	uint64_t total_ns;
	uint64_t latest; /* number of the gap that it was in last */
};

/* Gaps that ended with work that was asked for by itself: not those within a launch of a graph. */
struct gt_gap_sum {
	uint64_t gaps;
	uint64_t short_gaps; /* of these: shorter than GT_GAP_SHORT_NS */
	uint64_t total_ns;
	uint64_t small_ns;    /* of this: in gaps under a millisecond */
	uint64_t unwaited_ns; /* of this: less what the thread that asked for what came next waited */
};

struct gt_gap_totals {
	const struct gt_thread_calls *calls;
	struct gt_index *index; /* of what tells rows of all apart */
	gt_array(struct gt_gap_total) all;
	struct gt_gap_sum *between_launches; /* by device */
	uint64_t seen;
};

/* The calls, and their trace, must outlive the totals. */
void gt_gap_totals_init(struct gt_gap_totals *totals, const struct gt_thread_calls *calls);
void gt_gap_totals_release(struct gt_gap_totals *totals);

/* A gt_hear_gap, whose hearer is a struct gt_gap_totals. */
void gt_gap_totals_hear(void *hearer, gt_id device, const struct gt_gap *gap);

/* Those that took most first, once all are seen. */
void gt_gap_totals_sort(struct gt_gap_totals *totals);

/* "cudaMalloc", "waiting in cudaStreamSynchronize", ...: as gt_gap_cause_text has it. */
void gt_gap_total_text(const struct gt_gap_total *total, const struct gt_trace *trace, char *text,
                       size_t size);

/*
 * " Meanwhile: cudaMalloc (71.2%), no CUDA call (20.1%).": what took a fifth or more of the gaps of
 * a GPU that ended with launches, of totals that are sorted; "" if nothing is known.
 */
struct gt_meanwhile {
	char text[240];
};
struct gt_meanwhile gt_meanwhile_of(const struct gt_gap_totals *totals, gt_id device);

#endif

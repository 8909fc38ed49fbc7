/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_GAPS_CAUSE_H
#define GT_ANALYSIS_GAPS_CAUSE_H

#include <stddef.h>

#include "analysis/time/host_calls.h"

struct gt_gap;

enum gt_gap_cause_kind {
	GT_GAP_CAUSE_UNKNOWN,  /* who asked for what came after is not known */
	GT_GAP_CAUSE_GRAPH,    /* what ran before and after came from one launch of a graph */
	GT_GAP_CAUSE_LAUNCHED, /* the call that asked for what came after had returned */
	GT_GAP_CAUSE_CALL,     /* one call */
	GT_GAP_CAUSE_WAIT,     /* the same, and that call only waits */
	GT_GAP_CAUSE_CALLS,    /* several calls of one function together */
	GT_GAP_CAUSE_SEVERAL,  /* all its calls together */
	GT_GAP_CAUSE_NONE,     /* not even those */
};

/* CALL or WAIT. */
enum gt_gap_cause_kind gt_gap_cause_of_call(const struct gt_api_call *call);

/* Whose doing a gap is, before it is asked what that was. */
struct gt_gap_host {
	enum gt_gap_cause_kind kind; /* UNKNOWN or GRAPH: nobody's; NONE: the thread's */
	gt_id thread;                /* that asked for what came after */
	/* The gap up to the return of that call: what is left of it the work was on its way. */
	struct gt_interval asking;
};
struct gt_gap_host gt_gap_host_of(const struct gt_trace *trace, const struct gt_gap *gap);

/*
 * Cause of a gap: the activity of the host while a GPU was idle, on the thread that asked for the
 * work after the gap, if it explains half of the gap or more.
 */
struct gt_gap_cause {
	enum gt_gap_cause_kind kind;
	gt_string function; /* of CALL, WAIT and CALLS */
	size_t calls;       /* of CALLS: how many */
	gt_time host_ns;    /* how much of the gap that took; of NONE: all calls of the thread */
};

struct gt_gap_cause gt_gap_cause_of(const struct gt_thread_calls *calls, const struct gt_gap *gap);

/*
 * "cudaMalloc", "cudaMalloc (8 calls)", "waiting in cudaStreamSynchronize", "no CUDA call", "mostly
 * no CUDA call", "launched but not started", "within one graph launch"; "" where it is not known.
 */
void gt_gap_cause_text(const struct gt_gap_cause *cause, const struct gt_trace *trace, char *text,
                       size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_GAP_CAUSE_H
#define GT_ANALYSIS_GAP_CAUSE_H

#include <stddef.h>

#include "analysis/host_calls.h"

struct gt_gap;

/* What the host did while a GPU had nothing to do: on the thread that asked for what came after. */
struct gt_gap_cause {
	enum gt_gap_cause_kind {
		GT_GAP_CAUSE_UNKNOWN, /* who asked for it is not known */
		GT_GAP_CAUSE_CALL,    /* one call took half of the gap or more */
		GT_GAP_CAUSE_WAIT,    /* the same, and that call only waits */
		GT_GAP_CAUSE_CALLS,   /* several calls of one function together did */
		GT_GAP_CAUSE_SEVERAL, /* all its calls together did */
		GT_GAP_CAUSE_NONE,    /* not even those */
	} kind;
	const struct gt_api_call *call; /* of CALL and WAIT */
	gt_string function;             /* of CALLS */
	size_t calls;                   /* of CALLS: how many */
	gt_time host_ns; /* how much of the gap the call, the calls, or all of them, took */
};

struct gt_gap_cause gt_gap_cause_of(const struct gt_thread_calls *calls, const struct gt_gap *gap);

/*
 * "cudaMalloc", "cudaMalloc (8 calls)", "waiting in cudaStreamSynchronize", "no CUDA call", "mostly
 * no CUDA call"; "" where it is not known.
 */
void gt_gap_cause_text(const struct gt_gap_cause *cause, const struct gt_trace *trace, char *text,
                       size_t size);

#endif

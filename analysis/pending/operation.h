/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_PENDING_OPERATION_H
#define GT_ANALYSIS_PENDING_OPERATION_H

#include "analysis/pending/pending.h"

/*
 * Names of work that was given to a stream, for people: "gemm", "copy HtoD", "fill", "graph 3, 1 of
 * 4 nodes ended: gemm". The text lives as long as the trace and the room; "": not known.
 */
enum { GT_PENDING_NAME_BYTES = 1024 };

const char *gt_pending_step_name(const struct gt_trace *trace, struct gt_step step,
                                 char room[GT_PENDING_NAME_BYTES]);

/* The same; of a launch of a graph with its first node that has not ended. */
const char *gt_pending_work_name(const struct gt_trace *trace, const struct gt_pending_work *work,
                                 char room[GT_PENDING_NAME_BYTES]);

#endif

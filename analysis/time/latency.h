/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_LATENCY_H
#define GT_ANALYSIS_TIME_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/work/activity.h"

/*
 * How long kernels took from the entry of the call that launched them to their start, by what
 * their GPU did when the call was entered. Kernels of graphs have no call of their own and are
 * only counted.
 */

/* Latencies of one process, nanoseconds. */
struct gt_latencies {
	gt_array(int64_t) idle;   /* nothing ran or waited ahead of the kernel */
	gt_array(int64_t) queued; /* something did */
};

struct gt_latency {
	const struct gt_trace *shown;   /* whose kernels and processes count */
	const struct gt_trace *trace;   /* all that happened */
	struct gt_latencies *processes; /* by row of processes that are shown */
	gt_time *busy_until;   /* by device: the latest end of what was seen; -1: nothing */
	uint64_t from_graphs;  /* kernels of graphs, or launched by the GPU */
	uint64_t early;        /* kernels that start before their call was entered */
	uint64_t without_call; /* kernels whose call is not known */
};

void gt_latency_init(struct gt_latency *latency, const struct gt_trace *shown);
void gt_latency_release(struct gt_latency *latency);

/* Sees activities (GT_WORK_BUSY of gt_whole_of), in the order of their start. */
void gt_latency_see(struct gt_latency *latency, const struct gt_activity *activity);

#endif

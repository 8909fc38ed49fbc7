/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_PEAKS_H
#define GT_ANALYSIS_MEMORY_PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

struct gt_view;

/*
 * The most memory of GPUs that a process had in a stretch of time, by its calls that allocate and
 * free. Making it takes time and memory by the number of these calls, asking by its logarithm.
 */
struct gt_memory_peaks {
	struct gt_process_memory *of; /* by row of processes, then of those that are not known */
	size_t count;
};

/* The view must outlive it. */
void gt_memory_peaks_init(struct gt_memory_peaks *peaks, const struct gt_view *view);
void gt_memory_peaks_release(struct gt_memory_peaks *peaks);

/* In bytes; 0: it had none. */
uint64_t gt_memory_peaks_between(const struct gt_memory_peaks *peaks, gt_id process,
                                 gt_time start_ns, gt_time end_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_FAILURES_H
#define GT_ANALYSIS_MEMORY_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

struct gt_view;

/* A call that was to make memory, or what stands for some, and failed. */
struct gt_memory_failure {
	gt_id call;          /* row of memory_calls */
	gt_id device;        /* that it was to be on; GT_NONE: the host, or not known */
	uint64_t live_bytes; /* on that device, by CUDA's calls, when it was entered */
};

struct gt_memory_failures {
	gt_array(struct gt_memory_failure) rows; /* in order of time */
};

bool gt_memory_call_failed(const struct gt_memory_call *call);

void gt_memory_failures_init(struct gt_memory_failures *failures, const struct gt_view *view);
void gt_memory_failures_release(struct gt_memory_failures *failures);

#endif

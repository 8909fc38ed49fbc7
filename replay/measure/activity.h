/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEASURE_ACTIVITY_H
#define GT_REPLAY_MEASURE_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct gt_cuda;

/*
 * CUPTI in this process: when the GPU began and ended each kernel, copy and fill. CUPTI's callbacks
 * carry no pointer of ours, so that there is one of these at a time; all calls come from one thread.
 */
struct gt_activity;

/* A piece of the GPU's work, in nanoseconds of CUPTI's clock. */
struct gt_activity_time {
	uint64_t start_ns;
	uint64_t end_ns;
};

/*
 * Opens libcupti, which fits the driver, and asks for the times. Before the first context is made.
 * NULL and a sentence in reason where that cannot be: events have to do.
 */
struct gt_activity *gt_activity_start(const struct gt_cuda *cuda, char *reason, size_t size);

/* CUPTI's clock now. */
uint64_t gt_activity_now_ns(const struct gt_activity *activity);

/*
 * Waits until CUPTI has given the times of all work that has ended, and forgets what began before
 * since_ns. The rest stands in *times, in no order, until the next call.
 */
void gt_activity_collect(struct gt_activity *activity, uint64_t since_ns,
                         const struct gt_activity_time **times, size_t *count);

/* CUPTI stays loaded, and asked for nothing any more. */
void gt_activity_stop(struct gt_activity *activity);

#endif

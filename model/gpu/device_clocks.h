/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_DEVICE_CLOCKS_H
#define GT_MODEL_GPU_DEVICE_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * The clock that kernels read, of one process and GPU: rows of device_clocks, which follow each
 * other in time. Before the first and after the last its offset stays as it is there.
 */
struct gt_device_clocks {
	const struct gt_device_clock *rows;
	size_t count; /* 0: the clock was not put on the timeline */
};

/* Valid until the table changes. */
struct gt_device_clocks gt_device_clocks_of(const struct gt_trace *trace, gt_id process,
                                            gt_id device);

/* Step of %globaltimer where its steps were not seen: the coarsest that is known of GPUs. */
#define GT_COARSEST_STEP_NS 1024

/* The row that holds at a moment, or the nearest one. There are rows. */
const struct gt_device_clock *gt_device_clock_at(const struct gt_device_clocks *clocks,
                                                 gt_time time_ns);

/* Time of a reading of %globaltimer below 2^62. There are rows. */
gt_time gt_device_time(const struct gt_device_clocks *clocks, uint64_t globaltimer);

/*
 * By how much times of device events at a moment are off at most. Returns 0, or -ENODATA where the
 * clock was not put on the timeline: nobody knows.
 */
int gt_device_bound(const struct gt_device_clocks *clocks, gt_time time_ns, uint64_t *bound_ns);

#endif

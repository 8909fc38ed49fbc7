/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DEVICE_EVENTS_KERNELS_H
#define GT_COLLECTOR_DEVICE_EVENTS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/trace.h"

/*
 * Which kernel wrote the events of a launch. By the number of the grid where CUPTI's is the one
 * that kernels read, which is taken from launches that can be told without it; else by context,
 * launch shape and time, what no other launch has, and the functions that are known to write
 * events.
 */
struct gt_device_launch {
	gt_wide grid_id;
	gt_time start_ns; /* of its first event, 0: it has none that is on the timeline */
	gt_time end_ns;   /* of its last */
	gt_wide bound_ns; /* both are off by so much at most */
	gt_id context;    /* row */
	gt_count blocks;
	gt_count threads;
	gt_id kernel; /* GT_NONE: cannot be told */
	bool by_time; /* and not by the number of the grid */
};

/* launches: all of one process. */
void gt_device_find_kernels(const struct gt_trace *trace, struct gt_device_launch *launches,
                            size_t count);

#endif

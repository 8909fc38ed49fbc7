/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_BESIDE_H
#define GT_ANALYSIS_TIME_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/work/activity.h"
#include "model/work/intervals.h"

/*
 * Work that ran at the same time on each GPU: of every activity, stream and GPU. One walk over all
 * activity; memory for what runs at a time.
 */

enum { GT_BESIDE_PAIRS = 32 }; /* streams that run at a time and are told apart in pairs */

/* Other work that ran on the GPU while an activity did; as far as it is in the window. */
struct gt_beside {
	uint64_t kernels_ns;   /* a kernel, or a graph that was recorded as a whole */
	uint64_t copies_ns;    /* a copy */
	uint64_t streams_ns;   /* anything on another stream */
	uint64_t processes_ns; /* anything of another process */
};

struct gt_stream_beside {
	uint64_t active_ns;  /* anything ran on it */
	uint64_t streams_ns; /* and on another stream of its GPU as well */
};

struct gt_device_beside {
	uint64_t streams_ns;   /* two or more of its streams had something running */
	uint32_t most_streams; /* that ever had at a time */
};

/* Two streams that ran at the same time. */
struct gt_beside_pair {
	gt_id stream; /* the row that comes first */
	gt_id other;
	uint64_t both_ns;
};

struct gt_beside_totals {
	struct gt_stream_beside *streams; /* by row of streams */
	struct gt_device_beside *devices; /* by row of devices */
	struct gt_beside_pair *pairs;
	size_t pair_count;
	bool pairs_left_out; /* more than GT_BESIDE_PAIRS streams ran at a time */
};

/* Called for each activity that is on a device, when it ends. */
typedef void gt_beside_see(void *context, const struct gt_activity *activity,
                           const struct gt_beside *beside);

/*
 * Finds activities beside each other: the trace is gt_whole_of one, and see gets rows of it. Times
 * are those inside the window; NULL: all times. see may be NULL. The totals are to be released.
 */
void gt_beside_walk(struct gt_beside_totals *totals, const struct gt_trace *trace,
                    const struct gt_inside *window, gt_beside_see *see, void *context);
void gt_beside_release(struct gt_beside_totals *totals);

#endif

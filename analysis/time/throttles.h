/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_THROTTLES_H
#define GT_ANALYSIS_TIME_THROTTLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * When which reasons kept the clocks of a GPU low (model/gpu/throttle.h), as far as samples tell:
 * one that is seen holds until the next sample. Times are exact to the interval of samples.
 */

struct gt_throttle_span {
	gt_time start_ns;
	gt_time end_ns; /* not in it */
	uint64_t reasons;
};

struct gt_throttles {
	struct gt_throttled {
		bool measured; /* otherwise nothing is known, which is not that nothing was */
		gt_array(struct gt_throttle_span) spans; /* in order of time */
	} * devices;                                     /* by row of devices */
	size_t device_count;
};

void gt_throttles_init(struct gt_throttles *throttles, const struct gt_trace *trace);
void gt_throttles_release(struct gt_throttles *throttles);

/* Whether reasons were sampled of a device at all. */
bool gt_throttles_measured(const struct gt_throttles *throttles, gt_id device);

/* The reasons that held at a time; 0 also where nobody watched. */
uint64_t gt_throttles_at(const struct gt_throttles *throttles, gt_id device, gt_time time_ns);

/* How often and how long one reason held on a device. */
struct gt_throttle_sum {
	uint64_t times;
	uint64_t total_ns;
	uint64_t longest_ns;
};

struct gt_throttle_sum gt_throttles_sum(const struct gt_throttles *throttles, gt_id device,
                                        uint64_t reason);

/* Every reason that was seen on a device. */
uint64_t gt_throttles_seen(const struct gt_throttles *throttles, gt_id device);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_COVERED_H
#define GT_ANALYSIS_TIME_COVERED_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/view/view.h"
#include "model/work/intervals.h"

/*
 * When a GPU ran something, kept: stretches in order of time that neither overlap nor touch, so
 * that it can be asked again and again how much of a time was covered, and what came after it.
 * Where only the sum is wanted, struct gt_cover does without memory.
 */
enum { GT_NOT_ASKED = -1 };

struct gt_covered_stretch {
	gt_time start_ns;
	gt_time end_ns;
	uint64_t before_ns; /* covered before it */
	gt_time asked_ns;   /* when what began it was asked for; GT_NOT_ASKED: not known */
};

struct gt_covered {
	gt_array(struct gt_covered_stretch) stretches;
};

/* In the order of their start; one that ends before it starts is empty. */
void gt_covered_add(struct gt_covered *covered, struct gt_interval interval, gt_time asked_ns);
void gt_covered_release(struct gt_covered *covered);

/* How much of a time is covered, in nanoseconds. */
uint64_t gt_covered_within(const struct gt_covered *covered, struct gt_interval interval);

/*
 * Cuts the first stretch that is not covered off the beginning of a time. Returns 1 with it, or 0
 * when nothing is left.
 */
int gt_covered_next_gap(const struct gt_covered *covered, struct gt_interval *left,
                        struct gt_interval *gap);

/* How many of the stretches begin at that moment or before. */
size_t gt_covered_begun(const struct gt_covered *covered, gt_time time_ns);

/*
 * Covered time of one GPU. Unmeasured time (model/work/unmeasured.h) covers all three, as if a
 * launch had been asked for when it began.
 */
struct gt_covered_device {
	struct gt_covered unmeasured;
	struct gt_covered kernels; /* and graphs that were recorded as a whole: busy */
	struct gt_covered all;     /* copies and fills too */
};

/*
 * One for each device of the trace, of its own rows: callers that ask what happened give
 * gt_whole_of. The caller gives them to gt_covered_devices_release.
 */
struct gt_covered_device *gt_covered_devices(const struct gt_trace *trace);
void gt_covered_devices_release(struct gt_covered_device *devices, const struct gt_trace *trace);

/*
 * When each thread was in a CUDA call, by row of threads; a call that did not return lasts to the
 * end of the trace. The caller gives them to gt_covered_calls_release.
 */
struct gt_covered *gt_covered_calls(const struct gt_trace *trace);
void gt_covered_calls_release(struct gt_covered *calls, const struct gt_trace *trace);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_GAPS_IDLE_H
#define GT_ANALYSIS_GAPS_IDLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/work/activity.h"
#include "model/work/intervals.h"

/*
 * When a GPU had nothing to do that was recorded: the gaps between its kernels, copies and fills,
 * counted by their length, and the longest of them one by one.
 */

/* Nothing ran from the end of before to the start of after. */
struct gt_gap {
	gt_time start_ns;
	gt_time end_ns;
	struct gt_activity before; /* what ended last */
	struct gt_activity after;
};

enum {
	GT_GAP_DECADES = 20,     /* powers of ten in 64 bits */
	GT_GAP_SHORT_NS = 20000, /* below this a gap is about as long as a launch takes */
};

/* Hears of each gap of a device, in order of time. */
typedef void gt_hear_gap(void *hearer, gt_id device, const struct gt_gap *gap);

/* Gaps of one device; zero-initialise it but for largest_count, window, hear, hearer and device. */
struct gt_idle {
	size_t largest_count;    /* so many gaps are kept one by one */
	struct gt_inside window; /* gaps are cut at its edges */
	gt_hear_gap *hear;       /* NULL: nobody does */
	void *hearer;
	gt_id device;
	uint64_t idle_ns;
	struct gt_cover cover;     /* of all that ran, */
	struct gt_cover active;    /* and of what of it is inside the window */
	struct gt_activity latest; /* what ended last so far */
	uint64_t gap_count;
	uint64_t short_count;                    /* of these: shorter than GT_GAP_SHORT_NS */
	uint64_t gaps_of_decade[GT_GAP_DECADES]; /* of 10^n ns up to 10^(n + 1) */
	uint64_t idle_of_decade[GT_GAP_DECADES]; /* nanoseconds in these */
	gt_array(struct gt_gap) largest;         /* longest first, once gt_idle_end was called */
};

/* Sees the activities of the device (GT_WORK_BUSY), in the order of their start. */
void gt_idle_see(struct gt_idle *idle, const struct gt_activity *activity);
void gt_idle_end(struct gt_idle *idle);
void gt_idle_release(struct gt_idle *idle);

static inline uint64_t gt_gap_ns(const struct gt_gap *gap)
{
	return (uint64_t)(gap->end_ns - gap->start_ns);
}

/* Nanoseconds of the window, from the first start to the latest end, in which nothing ran. */
uint64_t gt_idle_ns(const struct gt_idle *idle);

/* In use: from the first start to the latest end, as far as that is inside the window. */
uint64_t gt_idle_span_ns(const struct gt_idle *idle);

#endif

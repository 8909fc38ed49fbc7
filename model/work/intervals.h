/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_WORK_INTERVALS_H
#define GT_MODEL_WORK_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * How much time a set of intervals covers when what overlaps counts once: busy time is the
 * cover of all that ran, idle time the rest. An interval that ends before it starts is empty.
 */

/*
 * Makes intervals that overlap or touch one, and leaves out the empty ones; the rest is sorted.
 * Returns how many are left.
 */
size_t gt_intervals_merge(struct gt_interval *intervals, size_t count);

/* Time covered by all of them together, in nanoseconds. Sorts them by start, in place. */
uint64_t gt_intervals_union(struct gt_interval *intervals, size_t count);

/* The same for intervals that come one by one in order of their start; zero-initialise it. */
struct gt_cover {
	gt_time start_ns; /* of the first one; 0 before any */
	gt_time end_ns;   /* the latest end so far */
	uint64_t covered_ns;
	bool begun;
};

/* Returns the time between what came before and this one in which nothing was covered, or 0. */
uint64_t gt_cover_add(struct gt_cover *cover, struct gt_interval interval);

/*
 * A window: parts of the time that are in order and apart. Without parts it is all time. It cuts
 * intervals at its edges.
 */
struct gt_inside {
	const struct gt_interval *parts;
	size_t count;
};

/* The pieces of one interval that lie inside, one after the other. */
struct gt_pieces {
	const struct gt_inside *inside;
	struct gt_interval interval;
	size_t next;
};

struct gt_pieces gt_pieces_of(const struct gt_inside *inside, struct gt_interval interval);

/* Returns 1 with the next piece that is not empty, or 0 at the end. */
int gt_pieces_next(struct gt_pieces *pieces, struct gt_interval *piece);

/* Adds the pieces of an interval to a cover that has nothing but such pieces. */
void gt_cover_add_inside(struct gt_cover *cover, const struct gt_inside *inside,
                         struct gt_interval interval);

/* From the first start to the latest end. */
uint64_t gt_cover_span(const struct gt_cover *cover);

#endif

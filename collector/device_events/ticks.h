/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_DEVICE_EVENTS_TICKS_H
#define GT_COLLECTOR_DEVICE_EVENTS_TICKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/*
 * From the clocks of multiprocessors, each of which counts for itself, to %globaltimer, in one
 * launch: a line through pairs of readings of both, of all threads that ran there. %globaltimer
 * goes on in steps: pairs are thinned so that a step says little about the rate between them, and
 * of those that are near each other the one is taken that was read with the least delay.
 */

struct gt_ticks_pair {
	uint64_t clock;
	uint64_t timer;
	uint32_t sm;
};

struct gt_ticks_knot {
	uint64_t clock;
	uint64_t timer;
	double ns_per_cycle; /* until the next one; of the last: as before it */
	double doubt;        /* share by which that may be wrong */
};

struct gt_ticks_sm {
	uint32_t sm;
	uint32_t first; /* of its knots */
	uint32_t count;
};

/* How fast a clock is. */
struct gt_rate {
	double ns_per_cycle;
	double doubt;         /* share by which it may be wrong */
	uint64_t baseline_ns; /* that it was told from; 0: it is guessed */
};

struct gt_ticks {
	gt_array(struct gt_ticks_pair) pairs;
	gt_array(struct gt_ticks_knot) knots;
	gt_array(struct gt_ticks_sm) sms;
	struct gt_rate rate; /* for where there is one knot */
	size_t at;           /* the multiprocessor that was asked for last */
};

/* Zeroed it is empty; empties it for another launch. */
void gt_ticks_clear(struct gt_ticks *ticks);
void gt_ticks_release(struct gt_ticks *ticks);

/* Numbers below 2^62. */
void gt_ticks_add(struct gt_ticks *ticks, uint32_t sm, uint64_t clock, uint64_t timer);

/* When all are there. usual: of the GPU, for a launch that is too short to tell its own rate. */
void gt_ticks_fit(struct gt_ticks *ticks, const struct gt_rate *usual, uint32_t step_ns);

/*
 * The reading of %globaltimer at a clock of a multiprocessor that has pairs; doubt_ns: how far it
 * can be off, besides a step. Never below 1 or beyond 2^62.
 */
uint64_t gt_ticks_timer(struct gt_ticks *ticks, uint32_t sm, uint64_t clock, double *doubt_ns);

#endif

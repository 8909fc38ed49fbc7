/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_TICKS_H
#define GT_FORMAT_ARENA_TICKS_H

#include <stdint.h>

/*
 * The meaning of a reading of the processor's time stamp counter. Records in an arena hold readings
 * as they are; whoever drains them makes nanoseconds of them, which costs the program nothing.
 */
struct gt_ticks {
	uint64_t scale; /* nanoseconds in a tick, times 2 to the 32; 0: readings are nanoseconds */
	uint64_t ticks; /* at the start */
	uint64_t ns;    /* then, CLOCK_MONOTONIC */
};

__extension__ typedef unsigned __int128 gt_wide_product;

/* Nanoseconds of the clock of a capture's own times. */
static inline uint64_t gt_ticks_ns(const struct gt_ticks *counter, uint64_t reading)
{
	if (counter->scale == 0)
		return reading;
	return counter->ns +
	       (uint64_t)((gt_wide_product)(reading - counter->ticks) * counter->scale >> 32);
}

/* The reading at a time of that clock; 0: it was before the start. */
static inline uint64_t gt_ticks_at(const struct gt_ticks *counter, uint64_t ns)
{
	if (counter->scale == 0)
		return ns;
	if (ns < counter->ns)
		return 0;
	return counter->ticks +
	       (uint64_t)(((gt_wide_product)(ns - counter->ns) << 32) / counter->scale);
}

#endif

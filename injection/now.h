/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NOW_H
#define GT_INJECTION_NOW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The clock of everything that the injection library times itself: API calls, telemetry, its own
 * work. It is read twice in each API call of the program, where clock_gettime takes 48 ns and the
 * processor's time stamp counter 19 ns (a PyTorch program, caches cold; H200 machine, Xeon at
 * 2.1 GHz, 2026-11-21).
 *
 * Where the counter ticks evenly and the kernel itself keeps time by it, it is that counter, scaled
 * to nanoseconds once, at the start: it begins where CLOCK_MONOTONIC stood and may run a few
 * hundred millionths faster or slower. Elsewhere it is CLOCK_MONOTONIC. Readings of both for the
 * whole life of a capture (sources/clock.c) tie it to the other clocks.
 */

struct gt_counter {
	uint64_t scale; /* nanoseconds in a tick, times 2 to the 32; 0: the counter is not used */
	uint64_t ticks; /* at the start */
	uint64_t ns;    /* CLOCK_MONOTONIC then */
};

/* Written by gt_now_init alone. */
extern struct gt_counter gt_counter __attribute__((visibility("hidden")));

/* Once, before any other thread reads the time. Takes a tenth of a millisecond. */
void gt_now_init(void);

/* CLOCK_MONOTONIC, nanoseconds. */
uint64_t gt_monotonic(void);

#ifdef __x86_64__
__extension__ typedef unsigned __int128 gt_wide_product;

/* Not in order with the instructions around it: what it is off by is less than a cache miss. */
static inline uint64_t gt_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline uint64_t gt_now(void)
{
	if (__builtin_expect(!gt_counter.scale, 0))
		return gt_monotonic();
	return gt_counter.ns +
	       (uint64_t)((gt_wide_product)(gt_ticks() - gt_counter.ticks) * gt_counter.scale >>
	                  32);
}
#else
static inline uint64_t gt_now(void)
{
	return gt_monotonic();
}
#endif

/* Whether gt_now is the same clock as gt_monotonic. */
static inline bool gt_now_is_monotonic(void)
{
	return gt_counter.scale == 0;
}

#endif

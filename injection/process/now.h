/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_PROCESS_NOW_H
#define GT_INJECTION_PROCESS_NOW_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "format/arena/ticks.h"
#include "injection/process/thread.h"

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

/* Written by gt_now_init alone; the arena has a copy. */
extern struct gt_ticks gt_ticks __attribute__((visibility("hidden")));

/* Once, before any other thread reads the time. Takes a tenth of a millisecond. */
void gt_now_init(void);

/* Nanoseconds of one of the kernel's clocks. */
uint64_t gt_read_clock(clockid_t clock);

static inline uint64_t gt_monotonic(void)
{
	return gt_read_clock(CLOCK_MONOTONIC);
}

/* The same as gt_stamp, for a thread that does not know yet that it is the counter. */
__attribute__((cold)) uint64_t gt_stamp_first(void);

/* The calling thread knows already that gt_stamp reads the counter. */
static inline bool gt_stamp_is_counter(void)
{
	return gt_own.reads_counter;
}

/*
 * A reading for a record: what fields of the role host_time hold in the arena. Not in order with
 * the instructions around it: what it is off by is less than a cache miss.
 */
static inline uint64_t gt_stamp(void)
{
#ifdef __x86_64__
	if (__builtin_expect(gt_own.reads_counter, 1))
		return __builtin_ia32_rdtsc();
#endif
	return gt_stamp_first();
}

/*
 * The same, in order with what the thread did before: of two readings the one that came later by
 * what threads saw of each other is not smaller. Takes some nanoseconds more.
 */
static inline uint64_t gt_stamp_in_order(void)
{
#ifdef __x86_64__
	__builtin_ia32_lfence();
#endif
	return gt_stamp();
}

/* Nanoseconds, for everything else. */
static inline uint64_t gt_now(void)
{
	return gt_ticks_ns(&gt_ticks, gt_stamp());
}

/* Whether gt_now is the same clock as gt_monotonic. */
static inline bool gt_now_is_monotonic(void)
{
	return gt_ticks.scale == 0;
}

#endif

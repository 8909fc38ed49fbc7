/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BENCH_PROGRAMS_LOOP_WORK_H
#define GT_BENCH_PROGRAMS_LOOP_WORK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Work of the loops between two priced calls, and how they time it: nvtx_loop, pool_loop. */

static unsigned char *memory;
static size_t memory_bytes;
static volatile uint64_t sink;

/* Time of this thread on a processor: other programs of the machine do not count. */
static inline int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Steps of arithmetic, and one read of the memory. */
static inline void work(uint64_t steps)
{
	uint64_t value = sink;

	for (uint64_t i = 0; i < steps; i++)
		value = value * 6364136223846793005u + 1442695040888963407u;
	for (size_t i = 0; i < memory_bytes; i += 64)
		value += memory[i];
	sink = value;
}

#endif

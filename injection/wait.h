/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_WAIT_H
#define GT_INJECTION_WAIT_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Time, and waiting that the program does not notice. From any thread. */

/* CLOCK_MONOTONIC, nanoseconds. Inline: it is read twice in each API call of the program. */
static inline uint64_t gt_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Waits for a semaphore at most so long; false when the time is over. Keeps errno, and the
 * calling thread cannot be cancelled in it.
 */
bool gt_wait(sem_t *semaphore, uint64_t limit_ns);

#endif

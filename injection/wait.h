/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_WAIT_H
#define GT_INJECTION_WAIT_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/* Time, and waiting that the program does not notice. From any thread. */

uint64_t gt_now(void); /* CLOCK_MONOTONIC, nanoseconds */

/*
 * Waits for a semaphore at most so long; false when the time is over. Keeps errno, and the
 * calling thread cannot be cancelled in it.
 */
bool gt_wait(sem_t *semaphore, uint64_t limit_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_PROCESS_WAIT_H
#define GT_INJECTION_PROCESS_WAIT_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Waits for a semaphore at most so many nanoseconds; false when the time is over. The program does
 * not notice: errno is kept, and the calling thread cannot be cancelled in it. From any thread.
 */
bool gt_wait(sem_t *semaphore, uint64_t limit_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_THREADS_H
#define GT_INJECTION_THREADS_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_session;

/*
 * gputrace's two threads in a traced program: the writer turns full slots into chunks and
 * watches the flusher, the flusher is the only one that calls cuptiActivityFlushAll, with no
 * lock held. Both block all signals, so that the program's handlers never run on them.
 */

/* Before anything may post a semaphore: CUPTI's callbacks do from their registration on. */
void gt_threads_init(struct gt_session *session);

/* 0, or a positive errno value when a thread cannot be made. */
int gt_threads_start(struct gt_session *session);

/* Waits for a semaphore at most so long; false when the time is over. Keeps errno. */
bool gt_wait(sem_t *semaphore, uint64_t limit_ns);

uint64_t gt_now(void); /* CLOCK_MONOTONIC, nanoseconds */

/* Whether the calling thread is one of the two: what it does with CUDA is not the program's. */
bool gt_thread_is_ours(void);

#endif

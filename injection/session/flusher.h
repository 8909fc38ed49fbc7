/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_FLUSHER_H
#define GT_INJECTION_SESSION_FLUSHER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_session;

/*
 * The thread that fetches from CUPTI what it has finished: the only one that calls
 * cuptiActivityFlushAll, with no lock held, since two at once or one under a lock can hang.
 */
struct gt_flusher {
	pthread_t thread;
	sem_t work;                /* flush now */
	sem_t flushed;             /* once for each that waits, when a flush is done */
	sem_t done;                /* the last flush is done */
	_Atomic uint32_t asked;    /* how many flushes were asked for */
	_Atomic uint32_t answered; /* so many of them are done */
	_Atomic uint32_t waiting;  /* threads that wait for theirs */
	_Atomic uint32_t held; /* threads of ours whose work on GPUs the last flush is to have */
	_Atomic uint64_t began_ns; /* gt_now, 0: no flush is under way */
	_Atomic bool soon;         /* flush, but not right behind the last flush */
	_Atomic bool asleep;       /* it has not seen that that is wanted */
	bool given_up;             /* of the writer thread: the flush that hangs is counted */
};

/* Before anything may post a semaphore. */
void gt_flusher_init(struct gt_flusher *flusher);

/* 0, or a positive errno value when the thread cannot be made. */
int gt_flusher_start(struct gt_session *session);

/* Undoes a start that nothing has been recorded since. */
void gt_flusher_cancel(struct gt_session *session);

/* Writer thread: notes, once, a flush that does not come back. */
void gt_flusher_watch(struct gt_session *session);

/* A flush that is under way had to wait for something else until now. */
void gt_flusher_excuse(struct gt_session *session);

#endif

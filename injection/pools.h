/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_POOLS_H
#define GT_INJECTION_POOLS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

struct gt_pool_entry;
struct gt_session;

/*
 * The program's own pools of memory, as it tells of them: the functions of
 * include/gputrace/gputrace.h, on threads of the program. Blocks become records as they come, and
 * nothing is kept of them. For pools all is kept that statistics, pulls, and the session of a
 * fork's child need.
 */
struct gt_pools {
	struct gt_pool_entry *entries; /* GT_POOLS_KEPT of them; NULL: there was no memory */
	_Atomic uint32_t given;        /* numbers of pools */
	_Atomic uint32_t used;         /* entries that have been in use */
	_Atomic uint32_t noted;        /* what was said once: 1 << enum gt_pools_note */
	/*
	 * Guards what entries say of pulls, and what is below. None of the program's code runs
	 * while it is held, nor is anything waited for.
	 */
	pthread_mutex_t lock;
	uint32_t pulling; /* number of the pool whose pull runs, 0: none does */
	uint32_t waiting; /* threads that wait for its end */
	sem_t pulled;
	/* One moment on two clocks, for times that are told later: gt_now and CLOCK_MONOTONIC. */
	uint64_t seen_ns; /* 0: not yet */
	uint64_t seen_monotonic_ns;
};

#define GT_POOLS_KEPT 1024 /* pools that are there at one time */

/* When a session starts: memory, or in the child of a fork the pools that its parent had. */
void gt_pools_start(struct gt_session *session);

/* In the child of a fork: threads that were at it are not here. */
void gt_pools_forget(struct gt_pools *pools);

/* On gputrace's own thread: asks the pools that are due; returns how long none is, nanoseconds. */
uint64_t gt_pools_pull(struct gt_session *session);

#endif

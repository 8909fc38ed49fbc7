/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_READINGS_H
#define GT_INJECTION_READINGS_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Readings of what is read at intervals that somebody wants before the interval is over: one thread
 * reads, any thread asks, and may wait for the reading that it asked for.
 */

struct gt_readings {
	_Atomic bool asked;
	_Atomic bool reads;        /* somebody does */
	_Atomic bool late;         /* a reading took too long once: nobody waits any more */
	_Atomic uint32_t waiting;  /* for the next reading */
	_Atomic uint32_t awaited;  /* in all */
	_Atomic uint64_t asked_ns; /* when it was last, gt_now */
	sem_t done;
};

/* Once, before any other thread knows them. */
void gt_readings_init(struct gt_readings *readings);

/* Whether the one who reads is to be woken: not within 10 ms of the last time. */
bool gt_readings_ask(struct gt_readings *readings);

/*
 * The same at any time, for a thread that is to wait: false, and nothing is asked, where nobody
 * reads, a reading was late before, or so many have been waited for that a program that goes on in
 * this way would be held up. After true the one who reads is woken, and then waited for.
 */
bool gt_readings_ask_to_wait(struct gt_readings *readings);
void gt_readings_wait(struct gt_readings *readings, uint64_t limit_ns);

/* ---- the one who reads ---- */

/* Whether it does from now on. */
void gt_readings_serve(struct gt_readings *readings, bool reads);

/* Whether one was asked for since the last time, and for how many threads that wait. */
bool gt_readings_take(struct gt_readings *readings, uint32_t *waiting);

/* They are told that it was made. */
void gt_readings_tell(struct gt_readings *readings, uint32_t waiting);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_SEQUENCE_H
#define GT_INJECTION_SNAPSHOT_SEQUENCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "injection/calls/parameters.h"
#include "injection/snapshot/launch/step_calls.h"
#include "injection/snapshot/thread.h"

/*
 * An occurrence of a range on its way into a bundle: the calls in it become steps, until it ends or
 * one comes that no sequence can have. choose_occurrence.c says which occurrence.
 */

struct gt_sequence {
	struct gt_capture_thread thread;
	_Atomic uint32_t open;        /* occurrence that has steps and has not ended; 0: none */
	_Atomic uint32_t refused;     /* the last occurrence that was */
	_Atomic uint32_t broken;      /* the last one of which a step was not captured */
	_Atomic uint32_t occurrences; /* of those that are chosen, that had steps */
	_Atomic pthread_t naming;     /* in a copy by name, with the turn; 0: nobody is */
	/* With the turn: */
	uint32_t named;    /* CUPTI's number of that call */
	bool seen;         /* the driver's copy in it was */
	uint64_t began_ns; /* gt_stamp */
	uint32_t context;  /* CUPTI's number */
	bool blocks;       /* the call that has the turn is a copy that the host waits for */
};

/* Facts that a record tells of the occurrence that is open. Any thread. */
struct gt_record_captured_launch gt_sequence_told(const struct gt_sequence *sequences,
                                                  uint32_t occurrence);

/* ---- with the turn ---- */

/* It has no more steps, and nothing is kept of it. */
void gt_sequence_refuse(struct gt_session *session, struct gt_sequence *sequences,
                        const char *reason);

/* Before its first step, which the call is. */
void gt_sequence_begin(struct gt_session *session, struct gt_sequence *sequences,
                       uint32_t occurrence, struct gt_call call);

/* After the last step of the occurrence that is open. */
void gt_sequence_finish(struct gt_session *session, struct gt_sequence *sequences);

/* True: the call keeps the turn until it returns (gt_sequence_end_step). */
bool gt_sequence_take_step(struct gt_session *session, struct gt_sequence *sequences,
                           struct gt_call call, const struct gt_step_call *asked);
void gt_sequence_end_step(struct gt_session *session, struct gt_sequence *sequences,
                          struct gt_call call);

/* Whether this thread is in a copy by name; of a call in that: what it copies, by address. */
static inline bool gt_sequence_is_naming(const struct gt_sequence *sequences)
{
	return pthread_equal(atomic_load_explicit(&sequences->naming, memory_order_relaxed),
	                     pthread_self());
}

void gt_sequence_take_inside(struct gt_session *session, struct gt_sequence *sequences,
                             struct gt_call call);

#endif

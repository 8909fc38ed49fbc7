/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_THREAD_H
#define GT_INJECTION_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gt_slot;

/*
 * gputrace's own threads in a traced program. They block all signals, so that the program's
 * handlers never run on them, and what they do with CUDA is not the program's.
 */

enum gt_thread_role {
	GT_THREAD_PROGRAM, /* every thread that is not ours */
	GT_THREAD_WRITER,
	GT_THREAD_FLUSHER,
	GT_THREAD_SOURCE,
};

/* 0, or a positive errno value when a thread cannot be made. run begins with gt_thread_enter. */
int gt_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* Says what the calling thread is from now on. */
void gt_thread_enter(enum gt_thread_role role);

#define GT_ROUTER_SOURCES 6 /* sources that hear callbacks */
#define GT_ROUTER_LEVELS  4 /* calls inside calls that one can hear of */
#define GT_HELD_SLOTS     4 /* full slots that a thread keeps for the open records in them */

/* What a thread is in the middle of: injection/cupti/router.c. */
struct gt_frames {
	uint32_t active;                    /* the router's, when this was last looked at */
	uint32_t count;                     /* of calls */
	uint16_t depths[GT_ROUTER_SOURCES]; /* of calls that each source wants */
	uint32_t correlation;               /* of the outermost call that was last entered */
	void *keep[GT_ROUTER_LEVELS][GT_ROUTER_SOURCES];
};

/* What a thread has of the arena: injection/emit.h. */
struct gt_emitter {
	uint8_t *next; /* where the next entry goes; no slot: NULL */
	uint8_t *end;  /* of the slot's memory */
	struct gt_slot *slot;
	uint32_t open; /* records of the slot that are kept open */
	uint16_t held_open[GT_HELD_SLOTS];
	struct gt_slot *held[GT_HELD_SLOTS]; /* NULL: free */
};

/*
 * What is kept of each thread that calls CUDA. Static TLS, so it is small; and what an API call
 * touches of it lies in two cache lines: the program has filled the caches with its own things
 * since the call before, and each line of ours that is fetched again is time it loses.
 */
struct gt_own {
	_Alignas(64) enum gt_thread_role role;
	struct gt_frames frames;
	_Alignas(64) struct gt_emitter emitter;
};

/* initial-exec: no allocation at the first access of a thread, whatever it is in the middle of. */
extern __thread struct gt_own gt_own
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline enum gt_thread_role gt_thread_role(void)
{
	return gt_own.role;
}

static inline bool gt_thread_is_ours(void)
{
	return gt_own.role != GT_THREAD_PROGRAM;
}

#endif

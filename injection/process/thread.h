/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_PROCESS_THREAD_H
#define GT_INJECTION_PROCESS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_slot;

/*
 * Functions that a kernel launch runs through: side by side in the library, and each in as few
 * cache lines of code as it can be in.
 */
#define GT_HOT __attribute__((hot, aligned(64)))

/*
 * gputrace's own threads in a traced program. They block all signals, so that the program's
 * handlers never run on them, and what they do with CUDA is not the program's.
 */

enum gt_thread_role {
	GT_THREAD_PROGRAM, /* every thread that is not ours */
	GT_THREAD_WRITER,
	GT_THREAD_FLUSHER,
	GT_THREAD_SOURCE,
	GT_THREAD_FILES,
	GT_THREAD_ASIDE, /* one of the program's, while what it does is ours: gt_own_set_aside */
};

/* 0, or a positive errno value when a thread cannot be made. run begins with gt_thread_enter. */
int gt_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* Says what the calling thread is from now on, which is in no call. */
void gt_thread_enter(enum gt_thread_role role);

/* Lines of sources.def: each can hear callbacks. */
enum {
	GT_SOURCE_COUNT = 0
#define SOURCE(name) +1
#include "injection/sources.def"
};

#define GT_ROUTER_LEVELS 4 /* calls inside calls that some of them can hear of, */
#define GT_ROUTER_NESTS  2 /* so many */
#define GT_HELD_SLOTS    4 /* full slots that a thread keeps for the open records in them */

/* A thread's calls in progress, of those that one source wants. */
struct gt_heard {
	void *keep;    /* from the outermost of them */
	uint8_t depth; /* how many there are; wraps */
};

/*
 * State of each thread that calls CUDA. A kernel launch touches only this part of it, one cache
 * line in static TLS: the program has filled the caches with its own things since the call before,
 * and each line of ours that is fetched again is time it loses.
 */
struct gt_own {
	/* Its part of the arena: injection/session/emit.h. */
	_Alignas(64) uint8_t *next; /* where the next entry goes; no slot: NULL */
	uint8_t *end;               /* of the slot's memory */
	struct gt_slot *slot;

	/*
	 * Its calls in progress: injection/session/router.c. By places of the router, which those
	 * have first whose calls come most often.
	 */
	uint32_t times;           /* recording began, when this was last looked at; ours: 0 */
	uint32_t correlation;     /* of the outermost call that was last entered */
	uint16_t open;            /* records of the slot that are kept open */
	uint8_t role;             /* enum gt_thread_role */
	uint8_t count;            /* of calls, to measure some of them; wraps */
	bool reads_counter;       /* it knows that gt_stamp reads the processor's */
	struct gt_heard first;    /* of the first of them */
	struct gt_own_rest *rest; /* NULL: it needed none yet */
};

_Static_assert(sizeof(struct gt_own) == 64, "what a launch touches is one cache line");

/* Rare state: in a page of its own, as all libraries that are loaded share static TLS. */
struct gt_own_rest {
	struct gt_heard heard[GT_SOURCE_COUNT - 1]; /* of the other places */
	/* From calls inside calls, of those that hear them. */
	void *nested[GT_ROUTER_NESTS][GT_ROUTER_LEVELS - 1];

	uint16_t held_open[GT_HELD_SLOTS];
	struct gt_slot *held[GT_HELD_SLOTS]; /* NULL: free */
};

/* initial-exec: no allocation at the first access of a thread, whatever it is in the middle of. */
extern __thread struct gt_own gt_own
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Makes the rest of the calling thread, if need be; false: there is no memory for it. */
__attribute__((cold)) bool gt_own_make_rest(void);

/* Whether the thread has one, or could be given one. */
static inline bool gt_own_has_rest(void)
{
	return gt_own.rest || gt_own_make_rest();
}

/* At the end of the thread. */
void gt_own_drop_rest(void);

/* By places of the router. The thread has the rest, but for the first. */
static inline struct gt_heard *gt_heard_of(struct gt_own *own, uint32_t place)
{
	return __builtin_expect(place == 0, 1) ? &own->first : &own->rest->heard[place - 1];
}

/* The calls in progress of a program's thread, while it does work of ours. */
struct gt_set_aside {
	uint32_t times;
	uint32_t correlation;
	uint8_t role;
	struct gt_heard first;
	struct gt_heard heard[GT_SOURCE_COUNT - 1];
	void *nested[GT_ROUTER_NESTS][GT_ROUTER_LEVELS - 1];
};

/*
 * From here on calls of the calling thread are ours and nobody hears of them; and no longer. Their
 * effects are the program's: sources hear of resources, such as a module that is loaded as a
 * function of it was asked for first.
 */
void gt_own_set_aside(struct gt_set_aside *calls);
void gt_own_take_up(const struct gt_set_aside *calls);

/* It is in no call any more; recording has begun so many times. */
void gt_own_leave_calls(uint32_t times);

static inline enum gt_thread_role gt_thread_role(void)
{
	return (enum gt_thread_role)gt_own.role;
}

static inline bool gt_thread_is_ours(void)
{
	return gt_own.role != GT_THREAD_PROGRAM;
}

#endif

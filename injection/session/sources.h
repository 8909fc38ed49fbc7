/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_SOURCES_H
#define GT_INJECTION_SESSION_SOURCES_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/process/thread.h"
#include "injection/session/source.h"

struct gt_session;

/*
 * The sources of a session with what belongs to each. All of it is the starting thread's, then the
 * writer thread's, but for what a source's own thread waits for.
 */

/* A source's own thread waits with this. */
struct gt_waiter {
	struct gt_session *session;
	const struct gt_source *source;
	void *state;
	pthread_t thread;
	_Atomic bool runs; /* the thread was made: it can be woken, from any thread */
	bool tried;        /* or could not be */
	bool hung;         /* and did not come back */
	sem_t wake;        /* the session's phase has changed */
	sem_t ended;       /* the thread is about to end */
};

struct gt_member {
	const struct gt_source *source;
	void *state;
	enum gt_source_phase phase;
	bool tried;             /* to start it */
	struct gt_route *route; /* NULL: it wants no callbacks */
	bool unheard;           /* it does, and there was no route left */
	uint64_t due_ns;        /* of its next tick, gt_now; UINT64_MAX: none */
	struct gt_waiter waiter;
	_Atomic bool wants_thread;
};

struct gt_sources {
	struct gt_member members[GT_SOURCE_COUNT];
	uint32_t count;
	struct gt_member *starting; /* the one whose start runs */
	bool cuda_up;               /* they have been told */
};

/* The sources of sources.def, in its order. */
const struct gt_source *const *gt_sources_all(uint32_t *count);

/* Bytes for the states of these sources, and giving each its own; the memory is zeroed. */
size_t gt_sources_memory(const struct gt_source *const *sources, uint32_t count);
void gt_sources_init(struct gt_sources *sources, const struct gt_source *const *all, uint32_t count,
                     void *memory);

/* Starts those that need no CUPTI; what cannot start is noted and left out. */
void gt_sources_start_alone(struct gt_session *session);

/* Likewise all that have not been started yet; CUPTI is there. */
void gt_sources_start(struct gt_session *session);

/*
 * Arms what is ready, while recording is paused what goes on then; returns the routes that hear
 * callbacks from now on.
 */
uint32_t gt_sources_arm(struct gt_session *session, bool paused);

/* Whether they can be disarmed now, with GT_PAUSED; else they go on. */
bool gt_sources_pause(struct gt_session *session, uint32_t times);

/* Without all: not those that go on while recording is paused. */
void gt_sources_disarm(struct gt_session *session, bool all);

/* The routes of those. */
uint32_t gt_sources_that_go_on(const struct gt_session *session);

/* Writer thread: what is due. Returns when the next is, on the clock of gt_now; UINT64_MAX: never. */
uint64_t gt_sources_tick(struct gt_session *session);

/* Tells all, once, that CUDA is up, and starts the threads of those that have one. */
void gt_sources_cuda_up(struct gt_session *session);

/* Writer thread: starts the threads of those that have asked for theirs. */
void gt_sources_start_threads(struct gt_session *session);

/* In the child of a fork, on its one thread: tells them, whether they were started or not. */
void gt_sources_forget(void);

/* Wakes their threads, which look at the session's phase. */
void gt_sources_wake(struct gt_session *session);

/* At the end: waits for their threads, as long as each may; then the last tick; then stop. */
void gt_sources_end_threads(struct gt_session *session);
void gt_sources_stop(struct gt_session *session);

#endif

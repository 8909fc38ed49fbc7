/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_SOURCE_H
#define GT_INJECTION_SESSION_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/session/router.h"

struct gt_error;
struct gt_session;
struct gt_waiter;

/*
 * Something that produces records while a program runs. To add one: see sources.def. It keeps
 * what it needs in a state of its own and reaches the rest through injection/session/services.h
 * alone.
 *
 * Its life, in phases:   OFF --start--> READY --arm--> RECORDING --stop--> STOPPED
 *                                         ^---disarm------'
 * One that cannot start stays off, one that cannot be armed stays ready; both are noted and
 * counted, and the others go on. arm and disarm may come any number of times.
 */
#define GT_PAUSED UINT32_MAX

enum gt_source_phase {
	GT_SOURCE_OFF,
	GT_SOURCE_READY,
	GT_SOURCE_RECORDING,
	GT_SOURCE_STOPPED,
};

/*
 * All but name may be 0. start and the first arm are called on the thread that initialises CUDA,
 * in the middle of that, with CUPTI subscribed, or that begins the session; everything else but run
 * on the writer thread.
 */
struct gt_source {
	const char *name;
	size_t state_size; /* of its state: zeroed, 64-byte aligned, as long as the session lives */

	/* 0, or a negative errno value with a sentence. Says here which callbacks it wants. */
	int (*start)(struct gt_session *session, void *state, struct gt_error *err);

	/* Switches on what costs the program something; 0, or as start. */
	int (*arm)(struct gt_session *session, void *state, struct gt_error *err);
	void (*disarm)(struct gt_session *session, void *state);

	/*
	 * GT_PAUSED: before it is disarmed, again and again until it returns true: of a call that
	 * it has taken in hand it must hear the return, and it takes no other. Else: it has been
	 * armed, and may take what threads call that have heard so (gt_own.times).
	 */
	bool (*pause)(struct gt_session *session, void *state, uint32_t times);

	/*
	 * While recording is paused it goes on: what it hears is rare, and what is recorded later
	 * is not understood without.
	 */
	bool goes_on;

	/* It needs no CUPTI: it starts with the session, maybe long before CUDA. */
	bool alone;

	/*
	 * For those only: on the thread that initialises CUDA, CUPTI is there from now on. Says
	 * which callbacks it wants.
	 */
	void (*cuda_starts)(struct gt_session *session, void *state);

	/* Once, when CUDA is up: the driver and what needs it can be asked. */
	void (*cuda_up)(struct gt_session *session, void *state);

	/*
	 * While it records: right at the beginning, then each time after so many nanoseconds as it
	 * returned, and once before the end. 0: only before the end.
	 */
	uint64_t (*tick)(struct gt_session *session, void *state);

	/*
	 * A thread of its own, from when CUDA is up: a loop around gt_wait_next(waiter, interval),
	 * which it leaves when that says so. At the end of the program it has end_ns to return.
	 */
	void (*run)(struct gt_session *session, void *state, struct gt_waiter *waiter);
	uint64_t end_ns; /* that the program's end may be held up by run; 0: a second */

	/* run begins when it has asked for that (gt_want_thread), whether CUDA is up or not. */
	bool runs_when_asked;

	/* After the last tick, only if it was started. */
	void (*stop)(struct gt_session *session, void *state);

	/*
	 * In the child of a fork, whether it was started or not: of what it keeps outside of its
	 * state, for the session that may begin there, nothing may wait for a thread of the parent.
	 * Handlers of fork() call it: it takes no lock and no memory.
	 */
	void (*forget)(void);

	/* Hears the callbacks that it wants, on threads of the program. */
	struct gt_handler hears;
};

#endif

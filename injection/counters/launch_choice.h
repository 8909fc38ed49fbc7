/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_COUNTERS_LAUNCH_CHOICE_H
#define GT_INJECTION_COUNTERS_LAUNCH_CHOICE_H

#include <regex.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "injection/calls/launch.h"
#include "injection/session/router.h"

struct gt_error;
struct gt_session;

/*
 * Single launches that something is done with: which ones, by name, range and number, and that no
 * other launch of the process goes to a GPU meanwhile. For sources that want the driver's launch
 * calls (gt_launch_choice_want).
 */
struct gt_launch_choice {
	enum gt_launch_kind wanted; /* launches of these alone */
	bool by_name;
	regex_t names;
	_Atomic uint64_t *known; /* verdicts on names: memory of our own */
	uint64_t first;          /* from 1 on, of those that names and range choose */
	uint64_t end;
	_Atomic uint64_t chosen;   /* launches that were, by name and range */
	_Atomic uint32_t captures; /* of streams into graphs that are under way */
	CUresult (*is_capturing)(CUstream stream, CUstreamCaptureStatus *status);
};

/*
 * From the settings that kernel counters have too: numbers and range; names: the expression, "" for
 * all. -EINVAL with a sentence that begins with without: it is none. In a source's start.
 */
int gt_launch_choice_init(const struct gt_session *session, struct gt_launch_choice *choice,
                          const char *names, const char *without, struct gt_error *err);

/* In start: the driver's calls that launch, and those that capture streams. */
void gt_launch_choice_want(struct gt_session *session);

/* Why a launch is not taken, or GT_LAUNCH_TAKEN. */
enum gt_launch_answer {
	GT_LAUNCH_TAKEN,
	GT_LAUNCH_OTHER,    /* not of the name, range or number; or enough were */
	GT_LAUNCH_CAPTURED, /* would be, but it, or something else, is captured into a graph */
};

/*
 * Whether what goes into the stream is captured into a graph, or anything else is meanwhile:
 * waiting for the GPU would make that fail. NULL: the default stream.
 */
bool gt_launch_choice_is_captured(struct gt_launch_choice *choice, CUstream stream);

/* At the entry of a launch; number: of those that are chosen, from 1, where it is taken. */
enum gt_launch_answer gt_launch_choice_ask(struct gt_session *session,
                                           struct gt_launch_choice *choice,
                                           const struct gt_launch *launch, struct gt_call call,
                                           uint64_t *number);

/*
 * For kernels that are nodes of a graph that is launched: whether any may be chosen now, whether
 * one is by its name, and the number of the first where so many are.
 */
bool gt_launch_choice_is_open(struct gt_session *session, const struct gt_launch_choice *choice);
bool gt_launch_choice_has_name(const struct gt_launch_choice *choice, const char *name);
uint64_t gt_launch_choice_count(struct gt_launch_choice *choice, uint64_t count);

/*
 * At the return of a call that gt_capture_step knows. A capture that fails to begin is none; one
 * that is ended has ended, whatever became of it.
 */
void gt_launch_choice_follow(struct gt_launch_choice *choice, struct gt_call call);

/*
 * One launch at a time: whoever has the turn is alone, others wait. Threads here wait a bounded
 * time.
 */
struct gt_launch_turn {
	_Atomic bool on; /* nobody has given up */
	_Atomic uint32_t
		times;     /* gt_own.times of threads that are heard to their end, or GT_PAUSED */
	_Atomic bool busy; /* a launch has the turn: others wait */
	_Atomic uint32_t inside;   /* launches without the turn that have not returned */
	_Atomic uint64_t alive_ns; /* gt_now: whoever has the turn got on with it, or one ended, 0:
	                              neither */
	uint64_t patience_ns;      /* for the thread whose launch has the turn: half a minute */
	sem_t turn; /* held from the entry of a launch that has the turn to its return */
};

enum gt_launch_taking {
	GT_TURN_TAKEN,
	GT_TURN_LATE,  /* another one had it for too long */
	GT_TURN_NOISY, /* another thread's launch did not return within two seconds */
};

void gt_launch_turn_init(struct gt_launch_turn *turn, uint64_t patience_ns);

/* Whether anything is done with launches of the calling thread now. */
bool gt_launch_turn_is_on(const struct gt_launch_turn *turn);
enum gt_launch_taking gt_launch_turn_take(struct gt_launch_turn *turn);
void gt_launch_turn_end(struct gt_launch_turn *turn);

/*
 * A launch without the turn: it waits while one has it. True: gt_launch_turn_leave at its return.
 * Where one waits for longer than that nothing is done with launches any more: late is called, once.
 */
bool gt_launch_turn_pass(struct gt_launch_turn *turn, void (*late)(void *context), void *context);
void gt_launch_turn_leave(struct gt_launch_turn *turn);

/*
 * A source's pause: true when every launch that has, or waits for, the turn has returned, and no
 * stream is being captured, whose end would not be heard.
 */
bool gt_launch_turn_pause(struct gt_launch_turn *turn, const struct gt_launch_choice *choice,
                          uint32_t times);

/* For others than launches, which also may have to wait for the turn: a bounded time. */
bool gt_launch_turn_hold(struct gt_launch_turn *turn);
bool gt_launch_turn_try(struct gt_launch_turn *turn); /* without waiting */
void gt_launch_turn_give(struct gt_launch_turn *turn);

#endif

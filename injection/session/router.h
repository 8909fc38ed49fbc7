/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_ROUTER_H
#define GT_INJECTION_SESSION_ROUTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cupti.h>

#include "injection/process/thread.h"

struct gt_cupti;
struct gt_error;
struct gt_session;

/*
 * The one subscriber of the process, and who hears of which of CUPTI's callbacks. Several sources
 * may want the same; each hears of calls as if it were alone: how deep it is in calls of its own,
 * and what it kept from the entry of a call to its return.
 *
 * Wants are made while the session starts; callbacks come from any thread of the program, never
 * from ours.
 */

#define GT_ROUTER_IDS         4096 /* callback ids of one domain */
#define GT_ROUTER_TIMES_SHIFT 32   /* of how often recording began in active */

/* Which API call: what the router keeps of it, in one register. */
struct gt_callee {
	uint32_t name;  /* string of the call's name, 0: no source has named it */
	uint16_t id;    /* CUpti_CallbackId */
	uint8_t depth;  /* how many calls of those that this source wants it is inside of */
	uint8_t driver; /* 1: of the driver's API, 0: of the runtime's */
};

/* An API call that is entered or returns. Two registers: it is passed by value. */
struct gt_call {
	const CUpti_CallbackData *data;
	union {
		struct gt_callee callee;
		struct { /* the same */
			uint32_t name;
			uint16_t id;
			uint8_t depth;
			uint8_t driver;
		};
	};
};

/* The call's result, cudaError_t or CUresult; 0 where CUPTI does not say. Once it returns. */
static inline uint32_t gt_call_result(struct gt_call call)
{
	uint32_t result = 0;

	if (call.data->functionReturnValue)
		memcpy(&result, call.data->functionReturnValue, sizeof(result));
	return result;
}

/*
 * The callbacks of a source. A function may be NULL. The program loses the time that is spent in a
 * call: enter and leave keep errno themselves, as everything in injection/session/services.h does.
 */
struct gt_handler {
	/* Returns what the source wants to have at the call's return. */
	void *(*enter)(struct gt_session *session, void *state, struct gt_call call);
	/* Only for calls that were entered while it was recording. */
	void (*leave)(struct gt_session *session, void *state, struct gt_call call, void *kept);
	/*
	 * Callbacks of every other domain; data is CUPTI's struct for it. kept: at the entry of the
	 * outermost call that the thread is in, NULL where it is in none. errno is kept for it.
	 */
	void (*event)(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
	              CUpti_CallbackId id, const void *data, void *kept);
};

/* Half a cache line: what a call needs of the first route, and of the router, is in one. */
struct gt_route {
	void *(*enter)(struct gt_session *session, void *state, struct gt_call call);
	void (*leave)(struct gt_session *session, void *state, struct gt_call call, void *kept);
	void *state;
	uint8_t levels; /* of calls inside calls that it hears of: 1, GT_ROUTER_LEVELS for some */
	uint8_t nest;   /* its number among these */
	bool names; /* it named calls: those that nobody hears are counted where it would hear them */
	uint16_t wanted;  /* callbacks */
	uint16_t enabled; /* of them that CUPTI gives */
};

/* The wants for one callback. */
struct gt_wants {
	struct gt_callee callee; /* of an API call, at depth 0 */
	uint32_t routes;         /* their bits */
	uint32_t padding;        /* so that none is in two cache lines */
};

struct gt_router {
	_Alignas(64) struct gt_session *session;
	struct gt_wants (*wants)[GT_ROUTER_IDS]; /* by domain and id */
	/*
	 * Bit n: route n hears callbacks now. The upper half counts how often recording began, so
	 * that a thread notices that the calls it was in have long returned.
	 */
	_Atomic uint64_t active;
	uint32_t ids; /* GT_ROUTER_IDS; 0 in the child of a clone: forks.h */
	uint32_t count;
	struct gt_route routes[GT_SOURCE_COUNT];
	const struct gt_handler
		*handlers[GT_SOURCE_COUNT]; /* of the routes: who hears of the rest */
	CUpti_SubscriberHandle subscriber;
};

_Static_assert(offsetof(struct gt_router, routes) + sizeof(struct gt_route) <= 64,
               "what a launch touches is in one cache line");

/* Subscribing first keeps other tools from taking CUPTI's buffer callbacks over. */
int gt_router_subscribe(struct gt_router *router, const struct gt_cupti *cupti,
                        struct gt_error *err);

#endif

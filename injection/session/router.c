/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/router.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "injection/cupti/cupti.h"
#include "injection/process/thread.h"
#include "injection/session/emit.h"
#include "injection/session/forks.h"
#include "injection/session/services.h"

/* Code that most calls do without, out of the way of code that every call runs through. */
#define RARE __attribute__((cold, noinline))

uint32_t gt_call_correlation(void)
{
	for (uint32_t i = 0; i < GT_SOURCE_COUNT && (i == 0 || gt_own.rest); i++)
		if (gt_heard_of(&gt_own, i)->depth > 0)
			return gt_own.correlation;
	return 0;
}

uint32_t gt_own_correlation(void)
{
	return gt_own.correlation;
}

void gt_own_correlation_forget(void)
{
	gt_own.correlation = 0;
}

static uint32_t first_of(uint32_t sources)
{
	return (uint32_t)__builtin_ctz(sources);
}

static uint32_t last_of(uint32_t sources)
{
	return 31 - (uint32_t)__builtin_clz(sources);
}

/* A call inside others that the source wants, which it hears of as well. */
static RARE void enter_nested(struct gt_router *router, const struct gt_route *route,
                              uint32_t depth, struct gt_call call)
{
	call.depth = (uint8_t)depth;
	gt_own.rest->nested[route->nest][depth - 1] =
		route->enter(router->session, route->state, call);
}

static RARE void leave_nested(struct gt_router *router, const struct gt_route *route,
                              uint32_t depth, struct gt_call call)
{
	call.depth = (uint8_t)depth;
	route->leave(router->session, route->state, call,
	             gt_own.rest->nested[route->nest][depth - 1]);
}

static inline void enter(struct gt_router *router, uint32_t i, struct gt_call call)
{
	const struct gt_route *route = &router->routes[i];
	struct gt_own *own = &gt_own;
	struct gt_heard *heard = gt_heard_of(own, i);
	const uint32_t depth = heard->depth++;

	if (__builtin_expect(depth > 0, 0)) {
		if (depth < route->levels)
			enter_nested(router, route, depth, call);
		return;
	}
	own->correlation = call.data->correlationId;
	heard->keep = route->enter(router->session, route->state, call);
}

static inline void leave(struct gt_router *router, uint32_t i, struct gt_call call)
{
	const struct gt_route *route = &router->routes[i];
	struct gt_heard *heard = gt_heard_of(&gt_own, i);
	const uint32_t depth = heard->depth;

	if (depth == 0)
		return; /* the call began before recording did */
	heard->depth = (uint8_t)(depth - 1);
	if (__builtin_expect(depth == 1, 1))
		route->leave(router->session, route->state, call, heard->keep);
	else if (depth <= route->levels)
		leave_nested(router, route, depth - 1, call);
}

/* A call that several sources want, as most that are no launches. */
static __attribute__((noinline)) void enter_all(struct gt_router *router, uint32_t sources,
                                                struct gt_call call)
{
	do
		enter(router, last_of(sources), call);
	while (sources &= ~(1u << last_of(sources)));
}

/* The other way round, so that the source that was called last sees the least of the others. */
static __attribute__((noinline)) void leave_all(struct gt_router *router, uint32_t sources,
                                                struct gt_call call)
{
	do
		leave(router, first_of(sources), call);
	while (sources &= sources - 1);
}

static bool are_several(uint32_t sources)
{
	return (sources & (sources - 1)) != 0;
}

/* One call of as many as gt_own.count counts is timed from outside: what a callback itself costs. */
static RARE void enter_measured(struct gt_router *router, uint32_t sources, struct gt_call call)
{
	const uint64_t began_ns = gt_now();

	enter_all(router, sources, call);
	gt_count(router->session, GT_LEDGER_callback_samples, 1);
	gt_count(router->session, GT_LEDGER_callback_ns, gt_now() - began_ns);
}

static RARE void tell_all(struct gt_router *router, uint32_t sources, CUpti_CallbackDomain domain,
                          CUpti_CallbackId id, const void *data)
{
	static const struct gt_heard nothing = {0};
	const int saved = errno;

	for (; sources; sources &= sources - 1) {
		const uint32_t i = first_of(sources);
		const struct gt_route *route = &router->routes[i];
		const struct gt_heard *heard =
			i == 0 || gt_own.rest ? gt_heard_of(&gt_own, i) : &nothing;
		void *kept = heard->depth ? heard->keep : NULL;

		if (router->handlers[i]->event)
			router->handlers[i]->event(router->session, route->state, domain, id, data,
			                           kept);
	}
	errno = saved;
}

/*
 * The calls that the thread was in when recording ended have returned since. False: there is no
 * memory for what it is in the middle of.
 */
static RARE bool begin_anew(const struct gt_router *router, uint32_t times)
{
	const int saved = errno;

	if (!gt_own_has_rest())
		return false;
	gt_emit_watch_end(router->session);
	gt_own_leave_calls(times);
	gt_emit_abandon(router->session);
	errno = saved;
	return true;
}

/* The route whose calls are counted; router->count: no source records calls. */
static uint32_t counted_route(const struct gt_router *router)
{
	uint32_t i = 0;

	while (i < router->count && !router->routes[i].names)
		i++;
	return i;
}

/* A call that the source heard the entry of returns while it hears nothing any more. */
static bool is_recorded(struct gt_router *router, uint32_t i, struct gt_call call)
{
	const struct gt_route *route = &router->routes[i];
	void *kept = gt_heard_of(&gt_own, i)->keep;

	if (!kept || !gt_is_recorded(router->session))
		return false;
	route->leave(router->session, route->state, call, kept);
	return gt_emit_is_kept(router->session, kept);
}

static void pass_enter(struct gt_router *router, uint32_t i, struct gt_call call)
{
	struct gt_heard *heard;

	if (!gt_own_has_rest())
		return;
	heard = gt_heard_of(&gt_own, i);
	if (heard->depth++ > 0)
		return;
	heard->keep = NULL;
	if (gt_thread_is_ours())
		gt_own_call_enter(router->session, call.data->correlationId);
}

static void pass_leave(struct gt_router *router, uint32_t i, struct gt_call call)
{
	uint32_t result;

	if (!gt_own_has_rest() || gt_heard_of(&gt_own, i)->depth == 0 ||
	    --gt_heard_of(&gt_own, i)->depth > 0)
		return;
	result = gt_call_result(call);
	if (gt_thread_is_ours()) {
		if (result == 0)
			gt_own_call_leave(router->session, call.data->functionName);
	} else if (!is_recorded(router, i, call) && result == 0) {
		gt_count_unrecorded(router->session, call.data->functionName);
	}
}

static bool is_of_call(CUpti_CallbackDomain domain)
{
	return domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
}

/*
 * No source hears of the call. It is gputrace's own; or the program ends, or this is the child of a
 * fork: then it is counted when it returns well, unless the record of its entry is in the capture
 * or will be.
 */
static RARE void pass_by(struct gt_router *router, CUpti_CallbackDomain domain, struct gt_call call)
{
	const int saved = errno;
	const uint32_t i = counted_route(router);

	if (gt_thread_is_ours() && is_of_call(domain))
		gt_own.correlation = call.data->correlationId;
	if (call.name == 0 || i == router->count ||
	    (!gt_thread_is_ours() && !gt_is_over(router->session)))
		return;
	if (call.data->callbackSite == CUPTI_API_ENTER)
		pass_enter(router, i, call);
	else
		pass_leave(router, i, call);
	errno = saved;
}

/*
 * A launch is heard by one source by default: what it does without is behind a jump that is not
 * taken.
 */
#define LIKELY(yes) __builtin_expect(!!(yes), 1)

static GT_HOT __attribute__((noinline)) void hear_enter(struct gt_router *router, uint32_t sources,
                                                        struct gt_call call)
{
	if (!LIKELY(++gt_own.count))
		enter_measured(router, sources, call);
	else if (LIKELY(!are_several(sources)))
		enter(router, first_of(sources), call);
	else
		enter_all(router, sources, call);
}

static GT_HOT __attribute__((noinline)) void hear_leave(struct gt_router *router, uint32_t sources,
                                                        struct gt_call call)
{
	if (LIKELY(!are_several(sources)))
		leave(router, first_of(sources), call);
	else
		leave_all(router, sources, call);
}

/* A callback that is none of an API call, or that nobody hears, or the thread's first. */
static RARE void look_closer(struct gt_router *router, CUpti_CallbackDomain domain,
                             CUpti_CallbackId id, const void *data)
{
	/* Pairs with the release in gt_router_activate. */
	const uint64_t active = atomic_load_explicit(&router->active, memory_order_acquire);
	const uint32_t times = (uint32_t)(active >> GT_ROUTER_TIMES_SHIFT);
	struct gt_call call = {.data = data};
	const struct gt_wants *wants;
	uint32_t sources;

	if (!router->wants)
		gt_forks_find_clone(gt_session_get());
	if (domain >= CUPTI_CB_DOMAIN_SIZE || id >= GT_ROUTER_IDS || !router->wants)
		return;
	wants = &router->wants[domain][id];
	sources = wants->routes & (uint32_t)active;
	call.callee = wants->callee;
	if (sources == 0 || gt_thread_is_ours()) {
		if (sources && domain == CUPTI_CB_DOMAIN_RESOURCE &&
		    gt_thread_role() == GT_THREAD_ASIDE)
			tell_all(router, sources, domain, id, data);
		else
			pass_by(router, domain, call);
		return;
	}
	if (gt_own.times != times && !begin_anew(router, times))
		return;
	if (!is_of_call(domain))
		tell_all(router, sources, domain, id, data);
	else if (call.data->callbackSite == CUPTI_API_ENTER)
		hear_enter(router, sources, call);
	else
		hear_leave(router, sources, call);
}

static GT_HOT void CUPTIAPI on_callback(void *context, CUpti_CallbackDomain domain,
                                        CUpti_CallbackId id, const void *data)
{
	struct gt_router *router = context;
	/* Pairs with the release in gt_router_activate. */
	const uint64_t active = atomic_load_explicit(&router->active, memory_order_acquire);
	const struct gt_wants *wants;
	struct gt_call call = {.data = data};
	uint32_t sources;

	if (!LIKELY(is_of_call(domain) && id < router->ids)) {
		look_closer(router, domain, id, data);
		return;
	}
	wants = &router->wants[domain][id];
	sources = wants->routes & (uint32_t)active;
	call.callee = wants->callee;
	/* The times that a thread of ours knows are never that. */
	if (!LIKELY(sources && gt_own.times == (uint32_t)(active >> GT_ROUTER_TIMES_SHIFT)))
		look_closer(router, domain, id, data);
	else if (call.data->callbackSite == CUPTI_API_ENTER)
		hear_enter(router, sources, call);
	else
		hear_leave(router, sources, call);
}

/* The other subscriber's name, where this CUPTI tells it; "" otherwise. */
static void name_other(struct gt_router *router, const struct gt_cupti *cupti, char *name,
                       size_t size)
{
	char other[128] = "";
	CUpti_SubscriberParams params = {
		.structSize = sizeof(params),
		.subscriberName = "gputrace",
		.oldSubscriberName = other,
		.oldSubscriberSize = sizeof(other),
	};
	CUpti_SubscriberHandle handle;

	*name = '\0';
	if (!cupti->cuptiSubscribe_v2)
		return;
	if (cupti->cuptiSubscribe_v2(&handle, on_callback, router, &params) == CUPTI_SUCCESS)
		(void)cupti->cuptiUnsubscribe(handle); /* it has just left */
	else if (other[0])
		snprintf(name, size, " (%s)", other);
}

int gt_router_subscribe(struct gt_router *router, const struct gt_cupti *cupti,
                        struct gt_error *err)
{
	const CUptiResult result = cupti->cuptiSubscribe(&router->subscriber, on_callback, router);
	char other[160];

	if (result == CUPTI_SUCCESS)
		return 0;
	if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		return gt_fail(err, ENOTSUP, "cuptiSubscribe failed: %s",
		               gt_cupti_text(cupti, result));
	name_other(router, cupti, other, sizeof(other));
	return gt_fail(err, EBUSY,
	               "another tool%s uses CUPTI in this process, and CUPTI serves one at a time: "
	               "run without it to record GPU activity",
	               other);
}

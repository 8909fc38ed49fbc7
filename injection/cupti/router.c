/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/router.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "injection/cupti/cupti.h"
#include "injection/emit.h"
#include "injection/services.h"
#include "injection/thread.h"

#define MEASURE_EVERY 256
#define SOURCE_BITS   ((1u << GT_ROUTER_SOURCES) - 1)

/*
 * What a thread of the program is in the middle of. Lives in static TLS: it is kept small. What is
 * touched in an outermost call lies in one cache line: the program has filled the caches with its
 * own things since the call before, and each line of ours that it must fetch again is time it loses.
 */
struct frames {
	uint32_t active; /* the router's, when this was last looked at */
	uint32_t count;  /* of outermost calls */
	uint16_t depth;  /* of calls that any source wants */
	bool measuring;
	uint16_t depths[GT_ROUTER_SOURCES];
	void *keep[GT_ROUTER_LEVELS][GT_ROUTER_SOURCES];
};

/* initial-exec: no allocation at the first access of a thread, whatever it is in the middle of. */
static __thread struct frames frames __attribute__((tls_model("initial-exec"), aligned(64)));

size_t gt_router_memory(void)
{
	return sizeof(uint8_t[CUPTI_CB_DOMAIN_SIZE][GT_ROUTER_IDS]);
}

void gt_router_init(struct gt_router *router, struct gt_session *session, void *zeroed_memory)
{
	router->session = session;
	router->wants = zeroed_memory;
	router->count = 0;
	atomic_store_explicit(&router->active, 0, memory_order_relaxed);
}

static bool has_source(uint32_t sources, uint32_t i)
{
	return sources >> i & 1;
}

static uint32_t first_of(uint32_t sources)
{
	return (uint32_t)__builtin_ctz(sources);
}

static uint32_t last_of(uint32_t sources)
{
	return 31 - (uint32_t)__builtin_clz(sources);
}

static inline void enter(struct gt_router *router, uint32_t i, struct gt_call *call)
{
	const struct gt_route *route = &router->routes[i];
	const uint32_t depth = frames.depths[i]++;

	if (depth >= route->levels || !route->hears.enter)
		return;
	call->depth = depth;
	call->keep = &frames.keep[depth][i];
	*call->keep = NULL;
	route->hears.enter(router->session, route->state, call);
}

static inline void leave(struct gt_router *router, uint32_t i, struct gt_call *call)
{
	const struct gt_route *route = &router->routes[i];

	if (frames.depths[i] == 0)
		return; /* the call began before recording did */
	call->depth = --frames.depths[i];
	if (call->depth >= route->levels || !route->hears.leave)
		return;
	call->keep = &frames.keep[call->depth][i];
	route->hears.leave(router->session, route->state, call);
}

/* One call in MEASURE_EVERY is timed from outside: what a callback itself costs. */
static void measure(const struct gt_router *router, uint64_t began_ns)
{
	gt_count(router->session, GT_LEDGER_callback_samples, 1);
	gt_count(router->session, GT_LEDGER_callback_ns, gt_now() - began_ns);
	frames.measuring = false;
}

static void enter_all(struct gt_router *router, uint32_t sources, struct gt_call *call)
{
	const uint64_t began_ns = frames.measuring ? gt_now() : 0;

	frames.depth++;
	for (; sources; sources &= sources - 1)
		enter(router, first_of(sources), call);
	if (began_ns)
		measure(router, began_ns);
}

/* The other way round, so that the source that was called last sees the least of the others. */
static void leave_all(struct gt_router *router, uint32_t sources, struct gt_call *call)
{
	for (; sources; sources &= ~(1u << last_of(sources)))
		leave(router, last_of(sources), call);
	if (frames.depth && --frames.depth == 0 && ++frames.count % MEASURE_EVERY == 0)
		frames.measuring = true;
}

static void tell_all(struct gt_router *router, uint32_t sources, CUpti_CallbackDomain domain,
                     CUpti_CallbackId id, const void *data)
{
	const int saved = errno;

	for (; sources; sources &= sources - 1) {
		const struct gt_route *route = &router->routes[first_of(sources)];

		if (route->hears.event)
			route->hears.event(router->session, route->state, domain, id, data);
	}
	errno = saved;
}

/* The calls that the thread was in when recording ended have returned since. */
static void begin_anew(const struct gt_router *router, uint32_t active)
{
	const int saved = errno;

	frames = (struct frames){.active = active, .count = frames.count};
	gt_emit_abandon(router->session);
	errno = saved;
}

/* hot: with the other functions of a call, side by side in the library. */
__attribute__((hot)) static void CUPTIAPI on_callback(void *context, CUpti_CallbackDomain domain,
                                                      CUpti_CallbackId id, const void *data)
{
	struct gt_router *router = context;
	/* Pairs with the release in gt_router_activate. */
	const uint32_t active = atomic_load_explicit(&router->active, memory_order_acquire);
	const bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
	struct gt_call call = {.data = data, .driver = driver, .id = id};
	uint32_t sources;

	if (domain >= CUPTI_CB_DOMAIN_SIZE || id >= GT_ROUTER_IDS)
		return;
	sources = router->wants[domain][id] & active & SOURCE_BITS;
	if (sources == 0 || gt_thread_is_ours())
		return;
	if (frames.active != active)
		begin_anew(router, active);
	if (!driver && domain != CUPTI_CB_DOMAIN_RUNTIME_API)
		tell_all(router, sources, domain, id, data);
	else if (call.data->callbackSite == CUPTI_API_ENTER)
		enter_all(router, sources, &call);
	else
		leave_all(router, sources, &call);
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

struct gt_route *gt_router_add(struct gt_router *router, const struct gt_handler *handler,
                               void *state)
{
	struct gt_route *route = &router->routes[router->count];

	if (router->count == GT_ROUTER_SOURCES)
		return NULL;
	router->count++;
	*route = (struct gt_route){.hears = *handler, .state = state, .levels = 1};
	return route;
}

uint32_t gt_route_bit(const struct gt_router *router, const struct gt_route *route)
{
	return 1u << (route - router->routes);
}

void gt_router_want(struct gt_router *router, struct gt_route *route, CUpti_CallbackDomain domain,
                    CUpti_CallbackId id)
{
	const uint32_t bit = gt_route_bit(router, route);

	if (domain >= CUPTI_CB_DOMAIN_SIZE || id >= GT_ROUTER_IDS ||
	    router->wants[domain][id] & bit)
		return;
	router->wants[domain][id] |= (uint8_t)bit;
	route->wanted++;
}

static void enable(struct gt_router *router, const struct gt_cupti *cupti, bool yes,
                   CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	const uint32_t sources = router->wants[domain][id];

	if (sources == 0 ||
	    cupti->cuptiEnableCallback(yes, router->subscriber, domain, id) != CUPTI_SUCCESS ||
	    !yes)
		return;
	for (uint32_t i = 0; i < router->count; i++)
		router->routes[i].enabled += has_source(sources, i);
}

void gt_router_enable(struct gt_router *router, const struct gt_cupti *cupti, bool yes)
{
	for (uint32_t i = 0; i < router->count; i++)
		router->routes[i].enabled = 0;
	for (uint32_t domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
		for (uint32_t id = 0; id < GT_ROUTER_IDS; id++)
			enable(router, cupti, yes, (CUpti_CallbackDomain)domain, id);
}

void gt_router_activate(struct gt_router *router, uint32_t routes)
{
	const uint32_t before = atomic_load_explicit(&router->active, memory_order_relaxed);
	const uint32_t times = (before >> GT_ROUTER_SOURCES) + (routes != 0);

	/* Pairs with the acquire in on_callback. */
	atomic_store_explicit(&router->active, times << GT_ROUTER_SOURCES | routes,
	                      memory_order_release);
}

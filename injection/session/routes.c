/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/routes.h"

#include "injection/cupti/cupti.h"

_Static_assert(GT_SOURCE_COUNT <= GT_ROUTER_TIMES_SHIFT, "every source has a bit");

size_t gt_router_memory(void)
{
	return sizeof(struct gt_wants[CUPTI_CB_DOMAIN_SIZE][GT_ROUTER_IDS]);
}

void gt_router_init(struct gt_router *router, struct gt_session *session, void *zeroed_memory)
{
	router->session = session;
	router->wants = zeroed_memory;
	router->ids = GT_ROUTER_IDS;
	router->count = 0;
	atomic_store_explicit(&router->active, 0, memory_order_relaxed);
}

static bool has_source(uint32_t sources, uint32_t i)
{
	return sources >> i & 1;
}

static void *enter_nothing(struct gt_session *session, void *state, struct gt_call call)
{
	(void)session;
	(void)state;
	(void)call;
	return NULL;
}

static void leave_nothing(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	(void)session;
	(void)state;
	(void)call;
	(void)kept;
}

struct gt_route *gt_router_add(struct gt_router *router, const struct gt_handler *handler,
                               void *state)
{
	struct gt_route *route = &router->routes[router->count];

	if (router->count == GT_SOURCE_COUNT)
		return NULL;
	router->count++;
	router->handlers[route - router->routes] = handler;
	*route = (struct gt_route){
		.enter = handler->enter ? handler->enter : enter_nothing,
		.leave = handler->leave ? handler->leave : leave_nothing,
		.state = state,
		.levels = 1,
	};
	return route;
}

bool gt_router_nest(struct gt_router *router, struct gt_route *route)
{
	uint8_t nests = 0;

	if (route->levels > 1)
		return true;
	for (uint32_t i = 0; i < router->count; i++)
		nests = (uint8_t)(nests + (router->routes[i].levels > 1));
	if (nests == GT_ROUTER_NESTS)
		return false;
	route->nest = nests;
	route->levels = GT_ROUTER_LEVELS;
	return true;
}

uint32_t gt_route_bit(const struct gt_router *router, const struct gt_route *route)
{
	return 1u << (route - router->routes);
}

static void describe_call(struct gt_router *router, CUpti_CallbackDomain domain,
                          CUpti_CallbackId id)
{
	router->wants[domain][id].callee.id = (uint16_t)id;
	router->wants[domain][id].callee.driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
}

void gt_router_want(struct gt_router *router, struct gt_route *route, CUpti_CallbackDomain domain,
                    CUpti_CallbackId id)
{
	const uint32_t bit = gt_route_bit(router, route);

	if (domain >= CUPTI_CB_DOMAIN_SIZE || id >= GT_ROUTER_IDS ||
	    router->wants[domain][id].routes & bit)
		return;
	router->wants[domain][id].routes |= bit;
	describe_call(router, domain, id);
	route->wanted++;
}

void gt_router_name(struct gt_router *router, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    uint32_t name)
{
	if (domain >= CUPTI_CB_DOMAIN_SIZE || id >= GT_ROUTER_IDS)
		return;
	describe_call(router, domain, id);
	router->wants[domain][id].callee.name = name;
}

static void enable(struct gt_router *router, const struct gt_cupti *cupti, uint32_t routes,
                   CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	const uint32_t sources = router->wants[domain][id].routes;
	const uint32_t hearing = sources & routes;

	if (sources == 0 || cupti->cuptiEnableCallback(hearing != 0, router->subscriber, domain,
	                                               id) != CUPTI_SUCCESS)
		return;
	for (uint32_t i = 0; i < router->count; i++)
		router->routes[i].enabled =
			(uint16_t)(router->routes[i].enabled + has_source(hearing, i));
}

void gt_router_enable(struct gt_router *router, const struct gt_cupti *cupti, uint32_t routes)
{
	for (uint32_t i = 0; i < router->count; i++)
		router->routes[i].enabled = 0;
	for (uint32_t domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
		for (uint32_t id = 0; id < GT_ROUTER_IDS; id++)
			enable(router, cupti, routes, (CUpti_CallbackDomain)domain, id);
}

void gt_router_activate(struct gt_router *router, uint32_t routes)
{
	const uint64_t before = atomic_load_explicit(&router->active, memory_order_relaxed);
	const uint64_t times = (before >> GT_ROUTER_TIMES_SHIFT) + (routes != 0);

	/* Pairs with the acquire in on_callback. */
	atomic_store_explicit(&router->active, times << GT_ROUTER_TIMES_SHIFT | routes,
	                      memory_order_release);
}

void gt_router_keep(struct gt_router *router, uint32_t routes)
{
	const uint64_t before = atomic_load_explicit(&router->active, memory_order_relaxed);
	const uint64_t times = before >> GT_ROUTER_TIMES_SHIFT;

	atomic_store_explicit(&router->active,
	                      times << GT_ROUTER_TIMES_SHIFT | ((uint32_t)before & routes),
	                      memory_order_release);
}

uint32_t gt_router_times(const struct gt_router *router)
{
	return (uint32_t)(atomic_load_explicit(&router->active, memory_order_relaxed) >>
	                  GT_ROUTER_TIMES_SHIFT);
}

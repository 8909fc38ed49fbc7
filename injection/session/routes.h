/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SESSION_ROUTES_H
#define GT_INJECTION_SESSION_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/session/router.h"

/* The routes of a router: who hears of which callbacks, and since when. */

size_t gt_router_memory(void);
void gt_router_init(struct gt_router *router, struct gt_session *session, void *zeroed_memory);

/*
 * A place for a source, or NULL when there is none left; the handler is kept. A call is told at its
 * entry from the last place to the first, and at its return from the first to the last: who is
 * first sees the least of the others in it, and what a thread keeps for it is where all else is
 * that a call touches.
 */
struct gt_route *gt_router_add(struct gt_router *router, const struct gt_handler *handler,
                               void *state);

/* It is also to hear of calls inside calls that it wants; false: GT_ROUTER_NESTS do already. */
bool gt_router_nest(struct gt_router *router, struct gt_route *route);

/* An id that is out of range is nobody's. */
void gt_router_want(struct gt_router *router, struct gt_route *route, CUpti_CallbackDomain domain,
                    CUpti_CallbackId id);

/* Names a call that is wanted, once: a string of the capture. */
void gt_router_name(struct gt_router *router, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    uint32_t name);

/* Asks CUPTI for the callbacks that these routes want and for no other. One thread at a time. */
void gt_router_enable(struct gt_router *router, const struct gt_cupti *cupti, uint32_t routes);

/* From now on the sources of these routes hear what they want; with 0 nobody hears anything. */
void gt_router_activate(struct gt_router *router, uint32_t routes);

/* From now on these alone hear what they heard before: also the return of a call they are in. */
void gt_router_keep(struct gt_router *router, uint32_t routes);

/* How often anybody began to hear: gt_own.times of a thread that was heard since the last time. */
uint32_t gt_router_times(const struct gt_router *router);

uint32_t gt_route_bit(const struct gt_router *router, const struct gt_route *route);

#endif

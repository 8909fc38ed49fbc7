/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVTX_HANDLES_H
#define GT_INJECTION_NVTX_HANDLES_H

#include <stdatomic.h>
#include <stdint.h>

#include "injection/nvtx/nvtx.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

/*
 * Handles that the program gets, which are numbers, and by them the handles of another injection
 * library, which hears of each call after us.
 */

/* Variables of each of NVTX's functions: the session, and its page that each call reads. */
#define GT_NVTX_SESSION                                                                            \
	struct gt_session *session = gt_session_get();                                             \
	struct gt_nvtx_page *page = &session->nvtx

/* Calls what another injection library put into this place; page is the variable above. */
#define GT_NVTX_PASS_ON(name, ...)                                                                 \
	do {                                                                                       \
		if (page->others_hear && gt_nvtx.next.slots.name)                                  \
			gt_nvtx.next.slots.name(__VA_ARGS__);                                      \
	} while (0)

/* Numbers of handles that were given out; anything else is from somewhere else. */
static inline uint32_t gt_nvtx_number_of(const struct gt_nvtx_page *page, enum gt_nvtx_handle which,
                                         const void *handle)
{
	const uintptr_t number = (uintptr_t)handle & ~(uintptr_t)GT_NVTX_UNWANTED;

	if (number <= atomic_load_explicit(&page->given[which], memory_order_relaxed))
		return (uint32_t)number;
	return GT_DOMAIN_UNKNOWN;
}

static inline uint32_t gt_nvtx_domain_of(const struct gt_nvtx_page *page, nvtxDomainHandle_t domain)
{
	if (!domain)
		return page->default_domain;
	if ((uintptr_t)domain & GT_NVTX_UNWANTED)
		return GT_DOMAIN_UNWANTED;
	return gt_nvtx_number_of(page, GT_NVTX_DOMAIN, domain);
}

static inline uint32_t gt_nvtx_give_number(struct gt_nvtx_page *page, enum gt_nvtx_handle which)
{
	return atomic_fetch_add_explicit(&page->given[which], 1, memory_order_relaxed) + 1;
}

static inline void *gt_nvtx_handle_of(uint32_t number)
{
	return (void *)(uintptr_t)number; // NOLINT(performance-no-int-to-ptr)
}

#define GT_NVTX_HANDLES (1u << 20) /* of each kind that are passed on */

static inline void gt_nvtx_keep_other(enum gt_nvtx_handle which, uint32_t number, void *handle)
{
	if (gt_nvtx.next.handles[which] && number < GT_NVTX_HANDLES)
		gt_nvtx.next.handles[which][number] = handle;
}

static inline void *gt_nvtx_other_of(const struct gt_nvtx_page *page, enum gt_nvtx_handle which,
                                     const void *handle)
{
	const uint32_t number = gt_nvtx_number_of(page, which, handle);

	return gt_nvtx.next.handles[which] && number < GT_NVTX_HANDLES
	               ? gt_nvtx.next.handles[which][number]
	               : NULL;
}

static inline nvtxDomainHandle_t gt_nvtx_other_domain(const struct gt_nvtx_page *page,
                                                      nvtxDomainHandle_t domain)
{
	return domain ? gt_nvtx_other_of(page, GT_NVTX_DOMAIN, domain) : NULL;
}

#endif

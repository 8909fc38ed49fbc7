/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "injection/nvtx/calls.h"
#include "injection/nvtx/events.h"
#include "injection/nvtx/handles.h"
#include "injection/nvtx/texts.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

/*
 * NVTX's functions that tell what the program synchronises with: trying to acquire it is a range,
 * releasing it a mark.
 *
 * A handle has the number of its domain and that of a registered string, which says that it is
 * acquired; that it is released says the next one.
 */

enum { SYNC_NAME_BYTES = 200 };

/* The range in which this thread tries to acquire something; 0: it does not. */
static __thread uint64_t acquiring __attribute__((tls_model("initial-exec")));

static struct gt_nvtx_text text_of_sync(const nvtxSyncUserAttributes_t *attributes)
{
	struct gt_nvtx_text text = {0};

	if (!attributes || attributes->size < sizeof(*attributes))
		return text;
	if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII)
		text = gt_nvtx_narrow(attributes->message.ascii);
	else if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE)
		text = gt_nvtx_wide(attributes->message.unicode);
	return text;
}

/* A name that is too long is left out, as it cannot be cut inside a character. */
static void name_sync(uint32_t domain, uint32_t number, const char *verb,
                      const struct gt_nvtx_text *name)
{
	char text[16 + SYNC_NAME_BYTES] = "";
	const struct gt_nvtx_name given = {
		.kind = GT_NAMED_STRING, .domain = domain, .number = number, .text = text};
	const size_t length = strlen(verb);

	memcpy(text, verb, length);
	if (name->size > 0 && name->size < SYNC_NAME_BYTES) {
		text[length] = ' ';
		gt_nvtx_copy_text((uint8_t *)text + length + 1, name);
	}
	gt_nvtx_give_name(gt_session_get(), &given);
}

nvtx_nvtxSyncUser_t gt_nvtx_on_DomainSyncUserCreate(nvtxDomainHandle_t domain,
                                                    const nvtx_nvtxSyncUserAttributes_t *attributes)
{
	GT_NVTX_SESSION;
	const uint32_t number =
		atomic_fetch_add_explicit(&page->given[GT_NVTX_STRING], 2, memory_order_relaxed) +
		1;
	const uint64_t owner = gt_nvtx_domain_of(page, domain);
	const struct gt_nvtx_text text = text_of_sync(attributes);

	(void)session;
	name_sync((uint32_t)owner, number, "acquire", &text);
	name_sync((uint32_t)owner, number + 1, "release", &text);
	if (page->others_hear && gt_nvtx.next.slots.DomainSyncUserCreate)
		gt_nvtx_keep_other(GT_NVTX_STRING, number,
		                   gt_nvtx.next.slots.DomainSyncUserCreate(
					   gt_nvtx_other_domain(page, domain), attributes));
	// NOLINTNEXTLINE(performance-no-int-to-ptr)
	return (nvtx_nvtxSyncUser_t)(uintptr_t)(owner << 32 | number);
}

static struct gt_nvtx_event event_of_sync(const struct gt_nvtx_page *page, nvtxSyncUser_t handle,
                                          uint32_t which)
{
	const uint64_t number = (uintptr_t)handle;
	const uint64_t given =
		atomic_load_explicit(&page->given[GT_NVTX_STRING], memory_order_relaxed);

	return (struct gt_nvtx_event){
		.domain = (uint32_t)(number >> 32),
		.registered =
			(uint32_t)number < given ? (uint32_t)number + (number ? which : 0) : 0,
	};
}

static nvtxSyncUser_t other_sync(const struct gt_nvtx_page *page, nvtxSyncUser_t handle)
{
	return gt_nvtx_other_of(page, GT_NVTX_STRING,
	                        gt_nvtx_handle_of((uint32_t)(uintptr_t)handle));
}

/* Its name stays true for what there was. */
void gt_nvtx_on_DomainSyncUserDestroy(nvtx_nvtxSyncUser_t handle)
{
	GT_NVTX_SESSION;

	(void)session;
	GT_NVTX_PASS_ON(DomainSyncUserDestroy, other_sync(page, handle));
}

void gt_nvtx_on_DomainSyncUserAcquireStart(nvtx_nvtxSyncUser_t handle)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = event_of_sync(page, handle, 0);

	acquiring = gt_nvtx_start_range(session, &event, 0);
	GT_NVTX_PASS_ON(DomainSyncUserAcquireStart, other_sync(page, handle));
}

static void end_acquiring(struct gt_session *session, nvtxSyncUser_t handle)
{
	if (acquiring)
		gt_nvtx_end_range(session, (uint32_t)((uintptr_t)handle >> 32), acquiring);
	acquiring = 0;
}

void gt_nvtx_on_DomainSyncUserAcquireFailed(nvtx_nvtxSyncUser_t handle)
{
	GT_NVTX_SESSION;

	end_acquiring(session, handle);
	GT_NVTX_PASS_ON(DomainSyncUserAcquireFailed, other_sync(page, handle));
}

void gt_nvtx_on_DomainSyncUserAcquireSuccess(nvtx_nvtxSyncUser_t handle)
{
	GT_NVTX_SESSION;

	end_acquiring(session, handle);
	GT_NVTX_PASS_ON(DomainSyncUserAcquireSuccess, other_sync(page, handle));
}

void gt_nvtx_on_DomainSyncUserReleasing(nvtx_nvtxSyncUser_t handle)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = event_of_sync(page, handle, 1);

	gt_nvtx_mark(session, &event);
	GT_NVTX_PASS_ON(DomainSyncUserReleasing, other_sync(page, handle));
}

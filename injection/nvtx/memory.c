/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/texts.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

#define MOST_OF_BATCH (1u << 16) /* elements of one call */

/* Handles of what has no address: no program has memory there. */
#define HANDLES_WITHOUT_ADDRESS (1ull << 63)

/* Whether it says to be one of NVTX's structs: programs may leave one as they found it. */
#define IS_PROPER(what)                                                                            \
	((what) && (what)->extCompatID == NVTX_EXT_COMPATID_MEM &&                                 \
	 (what)->structSize >= sizeof(*(what)))

static void emit(nvtxDomainHandle_t domain, struct gt_record_told_memory facts,
                 const struct gt_nvtx_text *text)
{
	struct gt_session *session = gt_session_get();
	const size_t behind = text && text->size ? GT_TEXT_BYTES(text->size) : 0;
	struct gt_record_told_memory *record;

	facts.domain = gt_nvtx_domain(domain);
	if (facts.domain == GT_DOMAIN_UNWANTED || !gt_is_recording(session))
		return;
	record = gt_emit_begin(session, GT_RECORD_told_memory, sizeof(*record) + behind);
	if (!record)
		return;
	*record = facts;
	if (behind)
		record->text = gt_nvtx_put_text(record, sizeof(*record), text);
	if (behind && text->cut)
		record->flags |= GT_RECORD_CUT;
	record->time_ns = gt_stamp();
	gt_emit_commit();
	if (behind && text->cut)
		gt_count(session, GT_LEDGER_nvtx_cut, 1);
}

/* A name as texts, or as the number of a registered string. */
static struct gt_nvtx_text text_of(uint32_t type, const nvtxMessageValue_t *name,
                                   uint32_t *registered)
{
	*registered = 0;
	switch (type) {
	case NVTX_MESSAGE_TYPE_ASCII:
		return gt_nvtx_narrow(name->ascii);
	case NVTX_MESSAGE_TYPE_UNICODE:
		return gt_nvtx_wide(name->unicode);
	case NVTX_MESSAGE_TYPE_REGISTERED:
		*registered = (uint32_t)(uintptr_t)name->registered;
		break;
	default: /* any number may stand in a program's struct */
		break;
	}
	return (struct gt_nvtx_text){0};
}

static uint64_t new_handle(void)
{
	return HANDLES_WITHOUT_ADDRESS |
	       (atomic_fetch_add_explicit(&gt_nvtx.ranges, 1, memory_order_relaxed) + 1);
}

/* Address and size of memory that has an address. */
static bool read_range(uint32_t type, const void *range, size_t size,
                       struct gt_record_told_memory *facts)
{
	nvtxMemVirtualRangeDesc_t found;

	if (type != NVTX_MEM_TYPE_VIRTUAL_ADDRESS || !range || size < sizeof(found))
		return false;
	memcpy(&found, range, sizeof(found));
	facts->address = (uintptr_t)found.ptr;
	facts->size_bytes = found.size;
	return true;
}

nvtxMemHeapHandle_t gt_nvtx_heap_register(nvtxDomainHandle_t domain, const nvtxMemHeapDesc_t *what)
{
	struct gt_record_told_memory facts = {.kind = GT_TOLD_HEAP};
	struct gt_nvtx_text text;

	if (!IS_PROPER(what))
		return NULL;
	facts.type = what->type;
	facts.usage = what->usage;
	facts.category = what->category;
	if (read_range(what->type, what->typeSpecificDesc, what->typeSpecificDescSize, &facts))
		facts.handle = facts.address;
	if (facts.handle == 0)
		facts.handle = new_handle();
	text = text_of(what->messageType, &what->message, &facts.registered);
	emit(domain, facts, &text);
	// NOLINTNEXTLINE(performance-no-int-to-ptr)
	return (nvtxMemHeapHandle_t)(uintptr_t)facts.handle;
}

void gt_nvtx_heap_unregister(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap)
{
	emit(domain,
	     (struct gt_record_told_memory){.kind = GT_TOLD_HEAP_END, .handle = (uintptr_t)heap},
	     NULL);
}

void gt_nvtx_heap_reset(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap)
{
	emit(domain,
	     (struct gt_record_told_memory){.kind = GT_TOLD_HEAP_RESET, .handle = (uintptr_t)heap},
	     NULL);
}

/* The element of an array whose elements may be larger than this header has them. */
static const void *element(const void *all, size_t size, size_t i)
{
	return (const uint8_t *)all + size * i;
}

void gt_nvtx_regions_register(nvtxDomainHandle_t domain, const nvtxMemRegionsRegisterBatch_t *what)
{
	if (!IS_PROPER(what) || !what->regionDescElements)
		return;
	for (size_t i = 0; i < what->regionCount && i < MOST_OF_BATCH; i++) {
		struct gt_record_told_memory facts = {
			.kind = GT_TOLD_REGION,
			.heap = (uintptr_t)what->heap,
			.type = what->regionType,
		};

		if (read_range(what->regionType,
		               element(what->regionDescElements, what->regionDescElementSize, i),
		               what->regionDescElementSize, &facts))
			facts.handle = facts.address;
		else
			facts.handle = new_handle();
		if (what->regionHandleElementsOut)
			memcpy(&what->regionHandleElementsOut[i], &facts.handle,
			       sizeof(what->regionHandleElementsOut[i]));
		emit(domain, facts, NULL);
	}
}

void gt_nvtx_regions_resize(nvtxDomainHandle_t domain, const nvtxMemRegionsResizeBatch_t *what)
{
	if (!IS_PROPER(what) || !what->regionDescElements)
		return;
	for (size_t i = 0; i < what->regionDescCount && i < MOST_OF_BATCH; i++) {
		struct gt_record_told_memory facts = {.kind = GT_TOLD_REGION_SIZE,
		                                      .type = what->regionType};

		if (!read_range(what->regionType,
		                element(what->regionDescElements, what->regionDescElementSize, i),
		                what->regionDescElementSize, &facts))
			return;
		facts.handle = facts.address;
		emit(domain, facts, NULL);
	}
}

/* A region by its address or its handle, which are one number. */
static uint64_t handle_of(const nvtxMemRegionRef_t *reference)
{
	return (uintptr_t)reference->pointer;
}

void gt_nvtx_regions_unregister(nvtxDomainHandle_t domain,
                                const nvtxMemRegionsUnregisterBatch_t *what)
{
	if (!IS_PROPER(what) || !what->refElements ||
	    what->refElementSize < sizeof(nvtxMemRegionRef_t))
		return;
	for (size_t i = 0; i < what->refCount && i < MOST_OF_BATCH; i++)
		emit(domain,
		     (struct gt_record_told_memory){
			     .kind = GT_TOLD_REGION_END,
			     .handle = handle_of(
				     element(what->refElements, what->refElementSize, i))},
		     NULL);
}

void gt_nvtx_regions_name(nvtxDomainHandle_t domain, const nvtxMemRegionsNameBatch_t *what)
{
	if (!IS_PROPER(what) || !what->regionElements ||
	    what->regionElementSize < sizeof(nvtxMemRegionNameDesc_t))
		return;
	for (size_t i = 0; i < what->regionCount && i < MOST_OF_BATCH; i++) {
		const nvtxMemRegionNameDesc_t *one =
			element(what->regionElements, what->regionElementSize, i);
		struct gt_record_told_memory facts = {
			.kind = GT_TOLD_REGION_NAME,
			.handle = handle_of(&one->region),
			.category = one->category,
		};
		const struct gt_nvtx_text text =
			text_of(one->nameType, &one->name, &facts.registered);

		emit(domain, facts, &text);
	}
}

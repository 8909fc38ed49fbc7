/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/foreign_calls.h"

#include <stddef.h>

#include "injection/services.h"

struct foreign_call {
	uint64_t value;
	enum gt_foreign_kind kind;
	bool ends; /* the call ends what the value is of */
};

/* False: the call is none of them. What begins is there once the call has returned. */
static bool read_foreign(struct gt_call call, struct foreign_call *read)
{
#define BEGINS(name, member, of)                                                                   \
	case CUPTI_DRIVER_TRACE_CBID_##name:                                                       \
		read->value =                                                                      \
			(uint64_t) * ((const name##_params *)call.data->functionParams)->member;   \
		read->kind = GT_FOREIGN_##of;                                                      \
		return true;
#define ENDS(name, member, of)                                                                     \
	case CUPTI_DRIVER_TRACE_CBID_##name:                                                       \
		read->value =                                                                      \
			(uint64_t)((const name##_params *)call.data->functionParams)->member;      \
		read->kind = GT_FOREIGN_##of;                                                      \
		read->ends = true;                                                                 \
		return true;
	*read = (struct foreign_call){0};
	switch (call.id) {
		BEGINS(cuTexObjectCreate, pTexObject, TEXTURE)
		BEGINS(cuSurfObjectCreate, pSurfObject, SURFACE)
		BEGINS(cuIpcOpenMemHandle_v2, pdptr, IPC)
		BEGINS(cuMemPoolImportPointer, ptr_out, IPC)
		BEGINS(cuGraphicsSubResourceGetMappedArray, pArray, ARRAY)
		BEGINS(cuGraphicsResourceGetMappedMipmappedArray, pMipmappedArray, MIPMAP)
		BEGINS(cuExternalMemoryGetMappedMipmappedArray, mipmap, MIPMAP)
		ENDS(cuTexObjectDestroy, texObject, TEXTURE)
		ENDS(cuSurfObjectDestroy, surfObject, SURFACE)
		ENDS(cuIpcCloseMemHandle, dptr, IPC)
		ENDS(cuMipmappedArrayDestroy, hMipmappedArray, MIPMAP)
	default: /* CUPTI's numbers, of which most are of other calls */
		return false;
	}
#undef BEGINS
#undef ENDS
}

static const CUpti_CallbackId foreign_calls[] = {
	CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate,
	CUPTI_DRIVER_TRACE_CBID_cuSurfObjectCreate,
	CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2,
	CUPTI_DRIVER_TRACE_CBID_cuMemPoolImportPointer,
	CUPTI_DRIVER_TRACE_CBID_cuGraphicsSubResourceGetMappedArray,
	CUPTI_DRIVER_TRACE_CBID_cuGraphicsResourceGetMappedMipmappedArray,
	CUPTI_DRIVER_TRACE_CBID_cuExternalMemoryGetMappedMipmappedArray,
	CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy,
	CUPTI_DRIVER_TRACE_CBID_cuSurfObjectDestroy,
	CUPTI_DRIVER_TRACE_CBID_cuIpcCloseMemHandle,
	CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayDestroy,
};

void gt_foreign_want(struct gt_session *session)
{
	for (size_t i = 0; i < sizeof(foreign_calls) / sizeof(foreign_calls[0]); i++)
		gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, foreign_calls[i]);
}

bool gt_foreign_is_call(struct gt_call call)
{
	for (size_t i = 0; i < sizeof(foreign_calls) / sizeof(foreign_calls[0]); i++)
		if (call.driver && foreign_calls[i] == call.id)
			return true;
	return false;
}

/* Textures and surfaces are of a context, whose others may have the same values. */
static bool is_of_context(enum gt_foreign_kind kind)
{
	return kind == GT_FOREIGN_TEXTURE || kind == GT_FOREIGN_SURFACE;
}

/* Behind the last value that there ever was. */
static uint32_t end_of(const struct gt_foreign *foreign)
{
	/* Pairs with the release in add_foreign. */
	return atomic_load_explicit(&foreign->used, memory_order_acquire);
}

static void note_used(struct gt_foreign *foreign, uint32_t used)
{
	uint32_t before = atomic_load_explicit(&foreign->used, memory_order_relaxed);

	while (before < used &&
	       !atomic_compare_exchange_weak_explicit(&foreign->used, &before, used,
	                                              memory_order_release, memory_order_relaxed))
		;
}

static void add_foreign(struct gt_session *session, struct gt_foreign *foreign,
                        const struct foreign_call *call, CUcontext context)
{
	for (uint32_t i = 0; i < GT_FOREIGN_VALUES; i++) {
		uint32_t none = GT_FOREIGN_NONE;

		/* Two threads may look for a place at the same time. */
		if (atomic_load_explicit(&foreign->values[i].kind, memory_order_relaxed) != none ||
		    !atomic_compare_exchange_strong_explicit(&foreign->values[i].kind, &none,
		                                             GT_FOREIGN_TAKEN, memory_order_relaxed,
		                                             memory_order_relaxed))
			continue;
		atomic_store_explicit(&foreign->values[i].value, call->value, memory_order_relaxed);
		atomic_store_explicit(&foreign->values[i].context, (uint64_t)context,
		                      memory_order_relaxed);
		/* Pairs with the acquires of those who look for values. */
		atomic_store_explicit(&foreign->values[i].kind, call->kind, memory_order_release);
		note_used(foreign, i + 1);
		return;
	}
	if (!atomic_exchange_explicit(&foreign->full, true, memory_order_relaxed))
		gt_note(session, "kernel_capture",
		        "the program has more than 4096 texture and surface objects and pieces of "
		        "memory of others: what uses the rest may be captured though it cannot be "
		        "replayed");
}

static bool is_at(const struct gt_foreign *foreign, uint32_t at, enum gt_foreign_kind kind,
                  uint64_t value, CUcontext context)
{
	/* Pairs with the release in add_foreign. */
	return atomic_load_explicit(&foreign->values[at].kind, memory_order_acquire) == kind &&
	       atomic_load_explicit(&foreign->values[at].value, memory_order_relaxed) == value &&
	       (!is_of_context(kind) ||
	        atomic_load_explicit(&foreign->values[at].context, memory_order_relaxed) ==
	                (uint64_t)context);
}

void gt_foreign_follow(struct gt_session *session, struct gt_foreign *foreign, struct gt_call call)
{
	struct foreign_call read;

	if (gt_call_result(call) != 0 || !read_foreign(call, &read))
		return;
	if (!read.ends) {
		add_foreign(session, foreign, &read, call.data->context);
		return;
	}
	for (uint32_t i = 0; i < end_of(foreign); i++) {
		if (!is_at(foreign, i, read.kind, read.value, call.data->context))
			continue;
		/* Of two the other one is of a thread that got the value again meanwhile. */
		atomic_store_explicit(&foreign->values[i].kind, GT_FOREIGN_NONE,
		                      memory_order_relaxed);
		return;
	}
}

bool gt_foreign_has(const struct gt_foreign *foreign, enum gt_foreign_kind kind, uint64_t value,
                    CUcontext context)
{
	for (uint32_t i = 0; i < end_of(foreign); i++)
		if (is_at(foreign, i, kind, value, context))
			return true;
	return false;
}

uint64_t gt_foreign_next(const struct gt_foreign *foreign, enum gt_foreign_kind kind, uint32_t *at)
{
	while (*at < end_of(foreign)) {
		const uint32_t i = (*at)++;

		/* Pairs with the release in add_foreign. */
		if (atomic_load_explicit(&foreign->values[i].kind, memory_order_acquire) == kind)
			return atomic_load_explicit(&foreign->values[i].value,
			                            memory_order_relaxed);
	}
	return 0;
}

bool gt_foreign_is_lent(const struct gt_foreign *foreign, uint64_t base, uint64_t size)
{
	uint32_t at = 0;
	uint64_t value;

	while ((value = gt_foreign_next(foreign, GT_FOREIGN_IPC, &at)))
		if (value - base < size)
			return true;
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/foreign_calls.h"

#include <stddef.h>

#include "injection/services.h"

struct foreign_call {
	uint64_t value;
	enum gt_foreign_kind kind; /* NONE: the call ends what the value is of */
};

/* False: the call is none of them. begins: the value is there once it has returned. */
static bool read_foreign(struct gt_call call, struct foreign_call *read)
{
#define BEGINS(name, member, of)                                                                   \
	case CUPTI_DRIVER_TRACE_CBID_##name:                                                       \
		read->value = *((const name##_params *)call.data->functionParams)->member;         \
		read->kind = GT_FOREIGN_##of;                                                      \
		return true;
#define ENDS(name, member)                                                                         \
	case CUPTI_DRIVER_TRACE_CBID_##name:                                                       \
		read->value = ((const name##_params *)call.data->functionParams)->member;          \
		read->kind = GT_FOREIGN_NONE;                                                      \
		return true;
	switch (call.id) {
		BEGINS(cuTexObjectCreate, pTexObject, TEXTURE)
		BEGINS(cuSurfObjectCreate, pSurfObject, SURFACE)
		BEGINS(cuIpcOpenMemHandle_v2, pdptr, IPC)
		BEGINS(cuMemPoolImportPointer, ptr_out, IPC)
		ENDS(cuTexObjectDestroy, texObject)
		ENDS(cuSurfObjectDestroy, surfObject)
		ENDS(cuIpcCloseMemHandle, dptr)
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
	CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy,
	CUPTI_DRIVER_TRACE_CBID_cuSurfObjectDestroy,
	CUPTI_DRIVER_TRACE_CBID_cuIpcCloseMemHandle,
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

static void add_foreign(struct gt_session *session, struct gt_foreign *foreign,
                        const struct foreign_call *call)
{
	for (size_t i = 0; i < GT_FOREIGN_VALUES; i++) {
		if (atomic_load_explicit(&foreign->values[i].kind, memory_order_relaxed) !=
		    GT_FOREIGN_NONE)
			continue;
		atomic_store_explicit(&foreign->values[i].value, call->value, memory_order_relaxed);
		/* Pairs with the acquire in gt_foreign_find. */
		atomic_store_explicit(&foreign->values[i].kind, call->kind, memory_order_release);
		return;
	}
	if (!atomic_exchange_explicit(&foreign->full, true, memory_order_relaxed))
		gt_note(session, "kernel_capture",
		        "the program has more than 512 texture and surface objects and pieces of "
		        "memory of other processes: what uses the rest may be captured though it "
		        "cannot be replayed");
}

void gt_foreign_follow(struct gt_session *session, struct gt_foreign *foreign, struct gt_call call)
{
	struct foreign_call read;

	if (gt_call_result(call) != 0 || !read_foreign(call, &read))
		return;
	if (read.kind != GT_FOREIGN_NONE) {
		add_foreign(session, foreign, &read);
		return;
	}
	for (size_t i = 0; i < GT_FOREIGN_VALUES; i++)
		if (atomic_load_explicit(&foreign->values[i].value, memory_order_relaxed) ==
		    read.value)
			atomic_store_explicit(&foreign->values[i].kind, GT_FOREIGN_NONE,
			                      memory_order_relaxed);
}

enum gt_foreign_kind gt_foreign_find(const struct gt_foreign *foreign, uint64_t value)
{
	for (size_t i = 0; i < GT_FOREIGN_VALUES; i++) {
		const uint32_t kind =
			atomic_load_explicit(&foreign->values[i].kind, memory_order_acquire);

		if (kind != GT_FOREIGN_NONE &&
		    atomic_load_explicit(&foreign->values[i].value, memory_order_relaxed) == value)
			return (enum gt_foreign_kind)kind;
	}
	return GT_FOREIGN_NONE;
}

bool gt_foreign_is_lent(const struct gt_foreign *foreign, uint64_t base, uint64_t size)
{
	for (size_t i = 0; i < GT_FOREIGN_VALUES; i++)
		/* Pairs with the release in add_foreign. */
		if (atomic_load_explicit(&foreign->values[i].kind, memory_order_acquire) ==
		            GT_FOREIGN_IPC &&
		    atomic_load_explicit(&foreign->values[i].value, memory_order_relaxed) - base <
		            size)
			return true;
	return false;
}

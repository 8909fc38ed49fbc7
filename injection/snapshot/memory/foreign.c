/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/foreign.h"

#include <stddef.h>
#include <string.h>

#include "injection/session/services.h"

enum effect {
	BEGINS,
	BEGINS_OTHER, /* the same; the value may be one already */
	ENDS,         /* what the value is of */
	TAKES,        /* the value is that of an array of the program's own */
};

struct foreign_call {
	uint64_t value;
	uint64_t of;
	uint64_t border[2];
	enum gt_foreign_kind kind;
	enum effect effect;
};

/* The array that a texture or surface is made of; 0: memory. */
static uint64_t array_of(const CUDA_RESOURCE_DESC *resource)
{
	if (resource->resType == CU_RESOURCE_TYPE_ARRAY)
		return (uint64_t)resource->res.array.hArray;
	if (resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
		return (uint64_t)resource->res.mipmap.hMipmappedArray;
	return 0;
}

#define PARAMETERS(name) ((const name##_params *)call.data->functionParams)

/* False: the call is none of them. A value that begins is there once the call has returned. */
static bool read_foreign(struct gt_call call, struct foreign_call *read)
{
#define FOUND(name, what, does, is, from)                                                          \
	case CUPTI_DRIVER_TRACE_CBID_##name:                                                       \
		*read = (struct foreign_call){.value = (uint64_t)(is),                             \
		                              .of = (from),                                        \
		                              .kind = GT_FOREIGN_##what,                           \
		                              .effect = (does)};                                   \
		return true;
#define MADE(name, member, what, does) FOUND(name, what, does, *PARAMETERS(name)->member, 0)
#define MADE_OF(name, member, what, does, from)                                                    \
	FOUND(name, what, does, *PARAMETERS(name)->member, from)
#define GONE(name, member, what) FOUND(name, what, ENDS, PARAMETERS(name)->member, 0)
	switch (call.id) {
		MADE_OF(cuTexObjectCreate, pTexObject, TEXTURE, BEGINS,
		        array_of(PARAMETERS(cuTexObjectCreate)->pResDesc))
		MADE_OF(cuSurfObjectCreate, pSurfObject, SURFACE, BEGINS,
		        array_of(PARAMETERS(cuSurfObjectCreate)->pResDesc))
		MADE(cuIpcOpenMemHandle_v2, pdptr, IPC, BEGINS)
		MADE(cuMemPoolImportPointer, ptr_out, IPC, BEGINS)
		MADE(cuGraphicsSubResourceGetMappedArray, pArray, ARRAY, BEGINS_OTHER)
		MADE(cuGraphicsResourceGetMappedMipmappedArray, pMipmappedArray, MIPMAP,
		     BEGINS_OTHER)
		MADE(cuExternalMemoryGetMappedMipmappedArray, mipmap, MIPMAP, BEGINS_OTHER)
		MADE_OF(cuMipmappedArrayGetLevel, pLevelArray, LEVEL, BEGINS_OTHER,
		        (uint64_t)PARAMETERS(cuMipmappedArrayGetLevel)->hMipmappedArray)
		MADE_OF(cuArrayGetPlane, pPlaneArray, LEVEL, BEGINS_OTHER,
		        (uint64_t)PARAMETERS(cuArrayGetPlane)->hArray)
		MADE(cuModuleGetTexRef, pTexRef, REFERENCE, BEGINS_OTHER)
		MADE(cuModuleGetSurfRef, pSurfRef, REFERENCE, BEGINS_OTHER)
		MADE(cuArrayCreate_v2, pHandle, ARRAY, TAKES)
		MADE(cuArray3DCreate_v2, pHandle, ARRAY, TAKES)
		MADE(cuMipmappedArrayCreate, pHandle, MIPMAP, TAKES)
		GONE(cuTexObjectDestroy, texObject, TEXTURE)
		GONE(cuSurfObjectDestroy, surfObject, SURFACE)
		GONE(cuIpcCloseMemHandle, dptr, IPC)
	default: /* CUPTI's numbers, of which most are of other calls */
		return false;
	}
#undef FOUND
#undef MADE
#undef MADE_OF
#undef GONE
}

static void read_border(struct gt_call call, uint64_t border[2])
{
	const CUDA_TEXTURE_DESC *texture = PARAMETERS(cuTexObjectCreate)->pTexDesc;

	_Static_assert(sizeof(texture->borderColor) == 2 * sizeof(*border), "four are two numbers");
	if (texture) /* NULL is an error as yet */
		memcpy(border, texture->borderColor, sizeof(texture->borderColor));
}

/* The array that a call is about to destroy; 0: none. */
static uint64_t ended_array(struct gt_call call)
{
	switch (call.id) {
	case CUPTI_DRIVER_TRACE_CBID_cuArrayDestroy:
		return (uint64_t)PARAMETERS(cuArrayDestroy)->hArray;
	case CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayDestroy:
		return (uint64_t)PARAMETERS(cuMipmappedArrayDestroy)->hMipmappedArray;
	default: /* CUPTI's numbers, of which most are of other calls */
		return 0;
	}
}

static const CUpti_CallbackId foreign_calls[] = {
	CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate,
	CUPTI_DRIVER_TRACE_CBID_cuSurfObjectCreate,
	CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2,
	CUPTI_DRIVER_TRACE_CBID_cuMemPoolImportPointer,
	CUPTI_DRIVER_TRACE_CBID_cuGraphicsSubResourceGetMappedArray,
	CUPTI_DRIVER_TRACE_CBID_cuGraphicsResourceGetMappedMipmappedArray,
	CUPTI_DRIVER_TRACE_CBID_cuExternalMemoryGetMappedMipmappedArray,
	CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayGetLevel,
	CUPTI_DRIVER_TRACE_CBID_cuArrayGetPlane,
	CUPTI_DRIVER_TRACE_CBID_cuModuleGetTexRef,
	CUPTI_DRIVER_TRACE_CBID_cuModuleGetSurfRef,
	CUPTI_DRIVER_TRACE_CBID_cuArrayCreate_v2,
	CUPTI_DRIVER_TRACE_CBID_cuArray3DCreate_v2,
	CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayCreate,
	CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy,
	CUPTI_DRIVER_TRACE_CBID_cuSurfObjectDestroy,
	CUPTI_DRIVER_TRACE_CBID_cuIpcCloseMemHandle,
	CUPTI_DRIVER_TRACE_CBID_cuArrayDestroy,
	CUPTI_DRIVER_TRACE_CBID_cuMipmappedArrayDestroy,
};

void gt_foreign_want(struct gt_session *session)
{
	for (size_t i = 0; i < sizeof(foreign_calls) / sizeof(foreign_calls[0]); i++)
		gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, foreign_calls[i]);
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
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
		atomic_store_explicit(&foreign->values[i].of, call->of, memory_order_relaxed);
		for (int half = 0; half < 2; half++)
			atomic_store_explicit(&foreign->values[i].border[half], call->border[half],
			                      memory_order_relaxed);
		/* Pairs with the acquires of those who look for values. */
		atomic_store_explicit(&foreign->values[i].kind, call->kind, memory_order_release);
		note_used(foreign, i + 1);
		return;
	}
	if (!atomic_exchange_explicit(&foreign->full, true, memory_order_relaxed))
		gt_note(session, "kernel_capture",
		        "the program has more than 16384 texture and surface objects, levels of "
		        "mipmapped arrays and pieces of memory of others: what uses the rest may "
		        "be captured though it cannot be replayed");
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

/* The place of a value; GT_FOREIGN_VALUES: there is none. */
static uint32_t find(const struct gt_foreign *foreign, enum gt_foreign_kind kind, uint64_t value,
                     CUcontext context)
{
	for (uint32_t i = 0; i < end_of(foreign); i++)
		if (is_at(foreign, i, kind, value, context))
			return i;
	return GT_FOREIGN_VALUES;
}

static void end_place(struct gt_foreign *foreign, uint32_t at)
{
	if (at < GT_FOREIGN_VALUES)
		atomic_store_explicit(&foreign->values[at].kind, GT_FOREIGN_NONE,
		                      memory_order_relaxed);
}

static bool is_of(const struct gt_foreign *foreign, uint32_t at, enum gt_foreign_kind kind,
                  uint64_t array)
{
	/* Pairs with the release in add_foreign. */
	return atomic_load_explicit(&foreign->values[at].kind, memory_order_acquire) == kind &&
	       atomic_load_explicit(&foreign->values[at].of, memory_order_relaxed) == array;
}

static void end_objects_of(struct gt_foreign *foreign, uint64_t array)
{
	for (uint32_t i = 0; i < end_of(foreign); i++)
		if (is_of(foreign, i, GT_FOREIGN_TEXTURE, array) ||
		    is_of(foreign, i, GT_FOREIGN_SURFACE, array))
			end_place(foreign, i);
}

bool gt_foreign_ends_array(struct gt_call call)
{
	return call.driver && ended_array(call) != 0;
}

void gt_foreign_end_context(struct gt_foreign *foreign, CUcontext context)
{
	for (uint32_t i = 0; i < end_of(foreign); i++) {
		/* Pairs with the release in add_foreign. */
		const uint32_t kind =
			atomic_load_explicit(&foreign->values[i].kind, memory_order_acquire);

		if (is_of_context((enum gt_foreign_kind)kind) &&
		    atomic_load_explicit(&foreign->values[i].context, memory_order_relaxed) ==
		            (uint64_t)context)
			end_place(foreign, i);
	}
}

void gt_foreign_end_objects(struct gt_foreign *foreign, struct gt_call call)
{
	const uint64_t array = ended_array(call);

	if (array == 0)
		return;
	end_objects_of(foreign, array);
	for (uint32_t i = 0; i < end_of(foreign); i++)
		if (is_of(foreign, i, GT_FOREIGN_LEVEL, array))
			end_objects_of(foreign, atomic_load_explicit(&foreign->values[i].value,
			                                             memory_order_relaxed));
}

/* Before the array is gone: no other one can have its handle yet. */
void gt_foreign_enter(struct gt_foreign *foreign, struct gt_call call)
{
	const uint64_t array = ended_array(call);

	if (array == 0)
		return;
	gt_foreign_end_objects(foreign, call);
	for (uint32_t i = 0; i < end_of(foreign); i++)
		if (is_of(foreign, i, GT_FOREIGN_LEVEL, array))
			end_place(foreign, i);
	end_place(foreign, find(foreign, GT_FOREIGN_MIPMAP, array, NULL));
}

void gt_foreign_follow(struct gt_session *session, struct gt_foreign *foreign, struct gt_call call)
{
	struct foreign_call read;
	uint32_t at;

	if (gt_call_result(call) != 0 || !read_foreign(call, &read))
		return;
	at = read.effect == BEGINS ? GT_FOREIGN_VALUES
	                           : find(foreign, read.kind, read.value, call.data->context);
	if (call.id == CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate)
		read_border(call, read.border);
	switch (read.effect) {
	case BEGINS:
		add_foreign(session, foreign, &read, call.data->context);
		break;
	case BEGINS_OTHER:
		if (at < GT_FOREIGN_VALUES)
			atomic_store_explicit(&foreign->values[at].of, read.of,
			                      memory_order_relaxed);
		else
			add_foreign(session, foreign, &read, call.data->context);
		break;
	case ENDS: /* of two the other one is of a thread that got the value again meanwhile */
		end_place(foreign, at);
		break;
	case TAKES: /* no call tells when those of a graphics API end */
		end_place(foreign, at);
		end_place(foreign, find(foreign, GT_FOREIGN_LEVEL, read.value, NULL));
		break;
	}
}

bool gt_foreign_has(const struct gt_foreign *foreign, enum gt_foreign_kind kind, uint64_t value,
                    CUcontext context)
{
	return find(foreign, kind, value, context) < GT_FOREIGN_VALUES;
}

void gt_foreign_border(const struct gt_foreign *foreign, uint64_t texture, CUcontext context,
                       uint32_t border[4])
{
	const uint32_t at = find(foreign, GT_FOREIGN_TEXTURE, texture, context);

	for (int i = 0; i < 4; i++)
		border[i] = at == GT_FOREIGN_VALUES
		                    ? 0
		                    : (uint32_t)(atomic_load_explicit(
							 &foreign->values[at].border[i / 2],
							 memory_order_relaxed) >>
		                                 i % 2 * 32);
}

uint64_t gt_foreign_whole_of(const struct gt_foreign *foreign, uint64_t array)
{
	const uint32_t part = find(foreign, GT_FOREIGN_LEVEL, array, NULL);

	return part < GT_FOREIGN_VALUES
	               ? atomic_load_explicit(&foreign->values[part].of, memory_order_relaxed)
	               : 0;
}

bool gt_foreign_has_array(const struct gt_foreign *foreign, uint64_t array)
{
	const uint64_t whole = gt_foreign_whole_of(foreign, array);

	return gt_foreign_has(foreign, GT_FOREIGN_ARRAY, array, NULL) ||
	       (whole && (gt_foreign_has(foreign, GT_FOREIGN_MIPMAP, whole, NULL) ||
	                  gt_foreign_has(foreign, GT_FOREIGN_ARRAY, whole, NULL)));
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

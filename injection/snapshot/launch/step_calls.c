/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/launch/step_calls.h"

#include <string.h>

#include "injection/calls/access.h"
#include "injection/calls/launch.h"
#include "injection/calls/memory.h"
#include "injection/calls/parameters.h"
#include "injection/calls/sync.h"

#define KNOWN_HINTS 1u /* PREFER_OVERLAP_WITH_COMPUTE, of runtime and driver */

static void refuse(struct gt_step_call *call, const char *reason)
{
	call->kind = GT_STEP_CALL_REFUSED;
	call->reason = reason;
}

static void set_stream(struct gt_step_call *call, uint64_t stream)
{
	call->has_stream = true;
	call->stream = NULL;
	if (stream != GT_STREAM_NONE && stream != GT_STREAM_LEGACY)
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): a handle that was kept as a number */
		call->stream = (CUstream)(uintptr_t)stream;
}

static void set_step(struct gt_step_call *call, enum gt_bundle_step_kind step)
{
	call->kind = GT_STEP_CALL_STEP;
	call->step = step;
}

/* ---- copies and fills ---- */

/* Parts that are adjacent on both sides are one: slices become rows, and rows one row. */
static void put_together(struct gt_step_call *call)
{
	const bool one_side = call->step == GT_BUNDLE_STEP_fill;

	if (call->slices > 1 && call->to_slice_pitch == call->rows * call->to_pitch &&
	    (one_side || call->from_slice_pitch == call->rows * call->from_pitch)) {
		call->rows *= call->slices;
		call->slices = 1;
	}
	if (call->to_pitch == call->bytes && (one_side || call->from_pitch == call->bytes)) {
		call->bytes *= call->rows;
		call->rows = 1;
	}
	if (call->rows == 1 && call->slices > 1) {
		call->rows = call->slices;
		call->to_pitch = call->to_slice_pitch;
		call->from_pitch = call->from_slice_pitch;
		call->slices = 1;
	}
	if (call->rows == 1)
		call->to_pitch = call->from_pitch = 0;
	if (call->slices <= 1)
		call->to_slice_pitch = call->from_slice_pitch = 0;
}

static void read_copy(const struct gt_access_facts *facts, struct gt_step_call *call)
{
	const struct gt_access_fact *from = &facts->list[0];
	const struct gt_access_fact *to = &facts->list[1];

	if ((facts->is_cut && !facts->is_full) || facts->count % 2 != 0 ||
	    from->kind != GT_ACCESS_COPY_FROM || to->kind != GT_ACCESS_COPY_TO) {
		refuse(call, "it copies from or to an array");
		return;
	}
	if (facts->hints & ~KNOWN_HINTS) {
		refuse(call, "it copies with a flag that is not known here");
		return;
	}
	set_step(call, GT_BUNDLE_STEP_copy);
	call->to = to->address;
	call->from = from->address;
	call->bytes = to->size_bytes;
	call->rows = to->rows;
	call->to_pitch = to->pitch;
	call->from_pitch = from->pitch;
	call->slices = to->slices;
	call->to_slice_pitch = to->slice_pitch;
	call->from_slice_pitch = from->slice_pitch;
	call->more = facts->count > 2 || facts->is_full;
	call->prefers_overlap = facts->hints & KNOWN_HINTS;
	put_together(call);
}

static void read_fill(const struct gt_access_facts *facts, struct gt_step_call *call)
{
	const struct gt_access_fact *fill = &facts->list[0];

	if (facts->is_cut || facts->count != 1) {
		refuse(call, "it makes a fill of memory that it does not name");
		return;
	}
	set_step(call, GT_BUNDLE_STEP_fill);
	call->to = fill->address;
	call->bytes = fill->size_bytes;
	call->rows = fill->rows;
	call->to_pitch = fill->pitch;
	call->slices = fill->slices;
	call->to_slice_pitch = fill->slice_pitch;
	call->value = facts->value;
	call->value_bytes = facts->value_bytes;
	put_together(call);
}

/* The runtime's name of a variable says nothing of its address. */
static bool is_by_name(const CUpti_CallbackData *data)
{
	return data->functionName && (strncmp(data->functionName, "cudaMemcpyToSymbol", 18) == 0 ||
	                              strncmp(data->functionName, "cudaMemcpyFromSymbol", 20) == 0);
}

/* Calls that add nodes to graphs do nothing yet. */
static bool is_about_graphs(const CUpti_CallbackData *data)
{
	return data->functionName && (strncmp(data->functionName, "cudaGraph", 9) == 0 ||
	                              strncmp(data->functionName, "cuGraph", 7) == 0);
}

static void read_access(const struct gt_access_call *what, const CUpti_CallbackData *data,
                        struct gt_step_call *call)
{
	struct gt_access_facts facts;

	gt_access_call_read_shapes(what, data, 2 * call->number, &facts);
	if (is_about_graphs(data) || (facts.count == 0 && !facts.is_cut))
		return;
	set_stream(call, facts.stream);
	if (is_by_name(data))
		call->kind = GT_STEP_CALL_NAMED;
	else if (facts.value_bytes)
		read_fill(&facts, call);
	else
		read_copy(&facts, call);
}

void gt_step_call_read_copy(const CUDA_MEMCPY3D *copy, struct gt_step_call *call)
{
	struct gt_access_facts facts;

	*call = (struct gt_step_call){.kind = GT_STEP_CALL_NONE};
	gt_access_node_read(copy, &facts);
	read_copy(&facts, call);
}

void gt_step_call_read_fill(const CUDA_MEMSET_NODE_PARAMS *fill, struct gt_step_call *call)
{
	*call = (struct gt_step_call){.kind = GT_STEP_CALL_NONE};
	set_step(call, GT_BUNDLE_STEP_fill);
	call->to = fill->dst;
	call->bytes = (uint64_t)fill->width * fill->elementSize;
	call->rows = fill->height;
	call->to_pitch = fill->height > 1 ? fill->pitch : 0;
	call->value = fill->value;
	call->value_bytes = fill->elementSize;
}

/* ---- order ---- */

static void read_order(const struct gt_sync_facts *facts, struct gt_step_call *call)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): a handle that was kept as a number */
	call->event = (CUevent)(uintptr_t)facts->event;
	if (facts->kind != GT_SYNC_EVENT_SYNCHRONIZE && facts->kind != GT_SYNC_CONTEXT_SYNCHRONIZE)
		set_stream(call, facts->stream);
	if (facts->kind == GT_SYNC_EVENT_RECORD)
		set_step(call, GT_BUNDLE_STEP_record);
	else if (facts->kind == GT_SYNC_STREAM_WAIT_EVENT)
		set_step(call, GT_BUNDLE_STEP_wait);
	else
		set_step(call, GT_BUNDLE_STEP_host_wait);
}

/*
 * Why a sequence with such a call is refused; empty: it is a step. NULL: nothing is read of it, as
 * the runtime's calls that capture a stream would hide the driver's.
 */
static const char *refusal_of(enum gt_sync_kind kind)
{
	switch (kind) {
	case GT_SYNC_EVENT_RECORD:
	case GT_SYNC_STREAM_WAIT_EVENT:
	case GT_SYNC_STREAM_SYNCHRONIZE:
	case GT_SYNC_EVENT_SYNCHRONIZE:
	case GT_SYNC_CONTEXT_SYNCHRONIZE:
		return "";
	case GT_SYNC_HOST_FUNCTION:
		return "a function of the host runs in the order of a stream";
	case GT_SYNC_EXTERNAL_SIGNAL:
	case GT_SYNC_EXTERNAL_WAIT:
		return "it signals or waits for a semaphore of others";
	case GT_SYNC_WAIT_VALUE:
	case GT_SYNC_WRITE_VALUE:
		return "a stream waits for a value in memory, or writes one";
	case GT_SYNC_BLOCKING_COPY:
	case GT_SYNC_BLOCKING_FILL:
		return "it copies or fills an array";
	case GT_SYNC_EVENT_ELAPSED_TIME:
	case GT_SYNC_BLOCKING_FREE:
	case GT_SYNC_EVENT_CREATE:
	case GT_SYNC_EVENT_DESTROY:
	case GT_SYNC_EVENT_QUERY:
	case GT_SYNC_STREAM_QUERY:
	case GT_SYNC_CAPTURE_BEGIN:
	case GT_SYNC_CAPTURE_END:
	case GT_SYNC_EVENT_EXPORT:
		return NULL;
	}
	return NULL;
}

static void read_sync(const struct gt_sync_call *what, const CUpti_CallbackData *data,
                      struct gt_step_call *call)
{
	const char *refusal = refusal_of(what->kind);
	struct gt_sync_facts facts;

	if (gt_sync_call_read(what, data, &facts, 1) == 0 || !refusal)
		return;
	if (*refusal)
		refuse(call, refusal);
	else if ((what->kind == GT_SYNC_EVENT_RECORD || what->kind == GT_SYNC_STREAM_WAIT_EVENT) &&
	         facts.stream == GT_STREAM_NONE)
		refuse(call, "it records or waits for an event of a whole context");
	else
		read_order(&facts, call);
}

/* ---- copies of arrays ---- */

/* Those that are in no list: nobody waits for them, and no address of theirs has a size. */
static const CUpti_CallbackId driver_array_copies[] = {
	CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2,
	CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoHAsync_v2,
	CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoHAsync_v2_ptsz,
};

static const CUpti_CallbackId runtime_array_copies[] = {
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToArrayAsync_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToArrayAsync_ptsz_v7000,
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromArrayAsync_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromArrayAsync_ptsz_v7000,
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DToArrayAsync_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DToArrayAsync_ptsz_v7000,
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DFromArrayAsync_v3020,
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DFromArrayAsync_ptsz_v7000,
};

static bool is_array_copy(bool driver, CUpti_CallbackId id)
{
	const CUpti_CallbackId *ids = driver ? driver_array_copies : runtime_array_copies;
	const size_t count = driver ? sizeof(driver_array_copies) / sizeof(*ids)
	                            : sizeof(runtime_array_copies) / sizeof(*ids);

	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* ---- memory that goes ---- */

static bool ends(const struct gt_memory_call *what)
{
	return what->kind == GT_MEMORY_CALL_FREE || what->kind == GT_MEMORY_CALL_FREE_ORDERED ||
	       what->kind == GT_MEMORY_CALL_FREE_HOST || what->kind == GT_MEMORY_CALL_UNREGISTER ||
	       what->kind == GT_MEMORY_CALL_UNMAP || what->kind == GT_MEMORY_CALL_DESTROY_ARRAY;
}

static void read_end(const struct gt_memory_call *what, const CUpti_CallbackData *data,
                     struct gt_step_call *call)
{
	struct gt_memory_facts facts;

	gt_memory_call_read(what, data, &facts);
	call->address = facts.address;
	if (what->kind == GT_MEMORY_CALL_UNMAP)
		call->freed_bytes = facts.size_bytes;
	if (what->kind == GT_MEMORY_CALL_DESTROY_ARRAY)
		call->address = facts.handle;
	if (call->address)
		call->kind = GT_STEP_CALL_END;
}

/* ---- all of them ---- */

bool gt_step_call_is_known(bool driver, CUpti_CallbackId id)
{
	const struct gt_sync_call *sync = gt_sync_call_find(driver, id);
	const struct gt_memory_call *memory = gt_memory_call_find(driver, id);

	return gt_access_call_is_known(driver, id) || (sync && refusal_of(sync->kind)) ||
	       (memory && ends(memory)) || is_array_copy(driver, id);
}

static bool read_launch(CUpti_CallbackId id, const CUpti_CallbackData *data,
                        struct gt_step_call *call)
{
	struct gt_launch launch;

	if (!gt_launch_read(id, data, &launch))
		return false;
	set_stream(call, gt_stream_of(launch.stream,
	                              launch.per_thread ? GT_STREAM_PER_THREAD : GT_STREAM_LEGACY));
	if (launch.kind == GT_LAUNCH_KERNEL)
		set_step(call, GT_BUNDLE_STEP_launch);
	else
		call->kind = GT_STEP_CALL_GRAPH;
	call->exec = launch.exec;
	return true;
}

void gt_step_call_read(bool driver, CUpti_CallbackId id, const CUpti_CallbackData *data,
                       struct gt_step_call *call)
{
	const struct gt_access_call *access = gt_access_call_find(driver, id);
	const struct gt_sync_call *sync = gt_sync_call_find(driver, id);
	const struct gt_memory_call *memory = gt_memory_call_find(driver, id);

	*call = (struct gt_step_call){.kind = GT_STEP_CALL_NONE};
	if (driver && read_launch(id, data, call))
		return;
	call->blocks = sync && sync->kind == GT_SYNC_BLOCKING_COPY;
	if (is_array_copy(driver, id))
		refuse(call, "it copies from or to an array");
	else if (access)
		read_access(access, data, call);
	else if (sync)
		read_sync(sync, data, call);
	if (call->kind == GT_STEP_CALL_NONE && memory && ends(memory))
		read_end(memory, data, call);
}

bool gt_step_call_next(bool driver, CUpti_CallbackId id, const CUpti_CallbackData *data,
                       struct gt_step_call *call)
{
	const struct gt_access_call *access = gt_access_call_find(driver, id);

	if (!call->more || !access)
		return false;
	call->number++;
	call->more = false;
	read_access(access, data, call);
	return true;
}

struct gt_capture_step gt_step_of_call(const struct gt_step_call *call)
{
	return (struct gt_capture_step){
		.kind = call->step,
		.stream = GT_CAPTURE_NONE,
		.event = GT_CAPTURE_NONE,
		.to = call->to,
		.from = call->from,
		.bytes = call->bytes,
		.rows = call->rows,
		.to_pitch = call->to_pitch,
		.from_pitch = call->from_pitch,
		.slices = call->slices,
		.to_slice_pitch = call->to_slice_pitch,
		.from_slice_pitch = call->from_slice_pitch,
		.value = call->value,
		.value_bytes = call->value_bytes,
		.prefers_overlap = call->prefers_overlap,
	};
}

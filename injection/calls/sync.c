/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/sync.h"

#include <stddef.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "injection/calls/parameters.h"

/* NOLINTBEGIN(readability-identifier-naming): CUPTI calls the structs of parameters so */
/* Calls that take nothing. */
typedef void cudaDeviceSynchronize_v3020_params;
typedef void cudaThreadSynchronize_v3020_params;
typedef void cuCtxSynchronize_params;

/*
 * Calls of earlier runtimes, which programs still bring along: CUDA 13 has their structs in a
 * header that cannot be included alone. As far as they are read they are those of their
 * successors.
 */
typedef cudaEventElapsedTime_v12080_params cudaEventElapsedTime_v3020_params;
#define SAME_PARAMETERS(call)                                                                      \
	typedef call##_v11020_params call##_v10000_params;                                         \
	typedef call##_ptsz_v11020_params call##_ptsz_v10000_params;
SAME_PARAMETERS(cudaSignalExternalSemaphoresAsync)
SAME_PARAMETERS(cudaWaitExternalSemaphoresAsync)
/* NOLINTEND(readability-identifier-naming) */

static uint64_t event_of(CUevent event)
{
	return (uintptr_t)event;
}

static enum gt_sync_waits copy_waits(enum cudaMemcpyKind direction)
{
	switch (direction) {
	case cudaMemcpyHostToHost:
	case cudaMemcpyDeviceToHost:
		return GT_SYNC_WAITS_ALWAYS;
	case cudaMemcpyDeviceToDevice:
		return GT_SYNC_WAITS_NEVER;
	case cudaMemcpyHostToDevice:
	case cudaMemcpyDefault:
		break;
	}
	return GT_SYNC_WAITS_SOMETIMES;
}

/* The hash that identifies a handle between processes in every process; 0: there is none. */
static uint64_t handle_hash(const void *handle)
{
	const uint64_t hash = handle ? XXH3_64bits(handle, sizeof(CUipcEventHandle)) : 0;

	return handle && hash == 0 ? 1 : hash;
}

/* One operation of a batch; false for barriers and the like, which wait for nothing of others. */
static bool read_operation(const CUstreamBatchMemOpParams *operation, struct gt_sync_facts *facts)
{
	const unsigned type = operation->operation;
	const bool wide =
		type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;

	if (type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64) {
		facts->kind = GT_SYNC_WAIT_VALUE;
		facts->address = operation->waitValue.address;
		facts->value = wide ? operation->waitValue.value64 : operation->waitValue.value;
		facts->flags = operation->waitValue.flags;
		return true;
	}
	if (type == CU_STREAM_MEM_OP_WRITE_VALUE_32 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
		facts->kind = GT_SYNC_WRITE_VALUE;
		facts->address = operation->writeValue.address;
		facts->value = wide ? operation->writeValue.value64 : operation->writeValue.value;
		facts->flags = operation->writeValue.flags;
		return true;
	}
	return false;
}

/* The first fact holds what all operations share. */
static unsigned read_batch(const CUstreamBatchMemOpParams *operations, unsigned count,
                           struct gt_sync_facts *facts, unsigned max)
{
	struct gt_sync_facts shared = facts[0];
	unsigned filled = 0;

	shared.count = count;
	if (!operations)
		return 0;
	for (unsigned i = 0; i < count && filled < max; i++) {
		facts[filled] = shared;
		if (read_operation(&operations[i], &facts[filled]))
			filled++;
	}
	return filled;
}

/* How a member is read into the fact: the words of sync_calls.def. */
#define STREAM(member)       facts->stream = gt_stream_of(params->member, facts->stream);
#define LEGACY_STREAM        facts->stream = GT_STREAM_LEGACY;
#define EVENT(member)        facts->event = event_of(params->member);
#define SECOND_EVENT(member) facts->second_event = event_of(params->member);
#define CREATED(member)      facts->event = (uintptr_t)gt_made_at(data, params->member);
#define OPENED(member)       facts->value = handle_hash(&params->member);
#define EXPORTED(member)                                                                           \
	facts->value = gt_has_returned_well(data) ? handle_hash(params->member) : 0;
#define CONTEXT(member)   facts->context = (uintptr_t)params->member;
#define ADDRESS(member)   facts->address = params->member;
#define FUNCTION(member)  facts->address = (uintptr_t)params->member;
#define VALUE(member)     facts->value = params->member;
#define COUNT(member)     facts->count = params->member;
#define FLAGS(member)     facts->flags = params->member;
#define WAITS(how)        facts->waits = GT_SYNC_WAITS_##how;
#define DIRECTION(member) facts->waits = copy_waits(params->member);
#define FREED(member)                                                                              \
	facts->address = (uintptr_t)params->member;                                                \
	facts->waits = facts->address ? GT_SYNC_WAITS_SOMETIMES : GT_SYNC_WAITS_NEVER;
#define BATCH(number, array) filled = read_batch(params->array, params->number, facts, max);
#define NOTHING

#define READER(name, params_type, members)                                                         \
	static unsigned name(const CUpti_CallbackData *data, struct gt_sync_facts *facts,          \
	                     unsigned max)                                                         \
	{                                                                                          \
		const params_type *params = data->functionParams;                                  \
		unsigned filled = 1;                                                               \
                                                                                                   \
		(void)params;                                                                      \
		(void)facts;                                                                       \
		(void)max;                                                                         \
		members return filled;                                                             \
	}

/* The effects of calls of each kind. */
enum {
	BLOCKS = GT_SYNC_CALL_BLOCKS,
	BLOCKS_TOO = GT_SYNC_CALL_BLOCKS | GT_SYNC_CALL_IMPLICIT,
	DOES_EVENT_SYNCHRONIZE = BLOCKS,
	DOES_STREAM_WAIT_EVENT = GT_SYNC_CALL_ORDERS,
	DOES_STREAM_SYNCHRONIZE = BLOCKS,
	DOES_CONTEXT_SYNCHRONIZE = BLOCKS,
	DOES_EVENT_RECORD = GT_SYNC_CALL_SIGNALS,
	DOES_EVENT_ELAPSED_TIME = GT_SYNC_CALL_QUERIES,
	DOES_HOST_FUNCTION = GT_SYNC_CALL_ORDERS,
	DOES_EXTERNAL_SIGNAL = GT_SYNC_CALL_SIGNALS,
	DOES_EXTERNAL_WAIT = GT_SYNC_CALL_ORDERS,
	DOES_WAIT_VALUE = GT_SYNC_CALL_ORDERS,
	DOES_WRITE_VALUE = GT_SYNC_CALL_SIGNALS,
	DOES_BLOCKING_COPY = BLOCKS_TOO,
	DOES_BLOCKING_FILL = BLOCKS_TOO,
	DOES_BLOCKING_FREE = BLOCKS_TOO,
	DOES_EVENT_CREATE = GT_SYNC_CALL_AT_EXIT,
	DOES_EVENT_DESTROY = 0,
	DOES_EVENT_EXPORT = GT_SYNC_CALL_AT_EXIT,
	DOES_EVENT_QUERY = GT_SYNC_CALL_QUERIES,
	DOES_STREAM_QUERY = GT_SYNC_CALL_QUERIES,
	DOES_CAPTURE_BEGIN = 0,
	DOES_CAPTURE_END = 0,
};

#define ROW(reader, sync_kind, stream)                                                             \
	{                                                                                          \
		.kind = GT_SYNC_##sync_kind, .flags = DOES_##sync_kind,                            \
		.default_stream = GT_STREAM_##stream, .read = (reader)                             \
	}

#define CALL  struct gt_sync_call
#define CALLS "injection/calls/sync.def"
#include "injection/calls/tables.inc"

static const enum gt_sync_waits waits_of_kind[] = {
#define SYNC_KIND(name, number, words, waits_host)                                                 \
	[number] = (waits_host) ? GT_SYNC_WAITS_ALWAYS : GT_SYNC_WAITS_NEVER,
#include "format/kinds/sync.def"
};

const struct gt_sync_call *gt_sync_call_find(bool driver, CUpti_CallbackId id)
{
	return listed_call(driver, id);
}

unsigned gt_sync_call_read(const struct gt_sync_call *call, const CUpti_CallbackData *data,
                           struct gt_sync_facts *facts, unsigned max)
{
	if (max == 0)
		return 0;
	facts[0] = (struct gt_sync_facts){.kind = call->kind,
	                                  .waits = waits_of_kind[call->kind],
	                                  .stream = call->default_stream};
	return data->functionParams ? call->read(data, facts, max) : 1;
}

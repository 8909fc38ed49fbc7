/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/access_calls.h"

#include <stddef.h>

#include "injection/call_parameters.h"

static void add(struct gt_access_facts *facts, struct gt_access_fact fact)
{
	if (fact.address == 0 || fact.size_bytes == 0 || fact.rows == 0 ||
	    facts->count == GT_ACCESSES_MOST)
		return;
	facts->list[facts->count++] = fact;
}

/* Rows without a gap between them are one. */
static void add_rows(struct gt_access_facts *facts, struct gt_access_fact row, uint64_t height)
{
	if (row.pitch == row.size_bytes || height <= 1) {
		row.size_bytes *= height;
		row.pitch = 0;
		height = height ? 1 : 0;
	}
	row.rows = height < UINT32_MAX ? (uint32_t)height : UINT32_MAX;
	add(facts, row);
}

static uint64_t side_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
	if (type == CU_MEMORYTYPE_HOST)
		return (uintptr_t)host;
	return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED ? device : 0;
}

/* A side that is an array has no address; 0 is left out. */
static uint64_t begin_of(uint64_t address, uint64_t x, uint64_t y, uint64_t pitch)
{
	return address ? address + y * pitch + x : 0;
}

static void add_described(struct gt_access_facts *facts, const CUDA_MEMCPY2D *copy)
{
	struct gt_access_fact from = {.kind = GT_ACCESS_COPY_FROM};
	struct gt_access_fact to = {.kind = GT_ACCESS_COPY_TO};

	if (!copy)
		return;
	from.address = begin_of(side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice),
	                        copy->srcXInBytes, copy->srcY, copy->srcPitch);
	to.address = begin_of(side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice),
	                      copy->dstXInBytes, copy->dstY, copy->dstPitch);
	from.size_bytes = to.size_bytes = copy->WidthInBytes;
	from.pitch = copy->srcPitch;
	to.pitch = copy->dstPitch;
	add_rows(facts, from, copy->Height);
	add_rows(facts, to, copy->Height);
}

/* How a member is read into the fact: the words of access_calls.def. */
#define FACT(what, at) .kind = GT_ACCESS_##what, .address = (uintptr_t)params->at
#define ON_END(what, at, bytes)                                                                    \
	add(facts, (struct gt_access_fact){FACT(what, at), .rows = 1, .size_bytes = params->bytes});
#define IN_ROWS(what, at, distance, width, height)                                                 \
	add_rows(facts,                                                                            \
	         (struct gt_access_fact){FACT(what, at), .size_bytes = params->width,              \
	                                 .pitch = params->distance},                               \
	         params->height);
#define STREAM(member)                        facts->stream = gt_stream_of(params->member, facts->stream);
#define FROM(at, bytes)                       ON_END(COPY_FROM, at, bytes)
#define TO(at, bytes)                         ON_END(COPY_TO, at, bytes)
#define FILLED(at, bytes)                     ON_END(FILL, at, bytes)
#define FROM_ROWS(at, pitch, width, height)   IN_ROWS(COPY_FROM, at, pitch, width, height)
#define TO_ROWS(at, pitch, width, height)     IN_ROWS(COPY_TO, at, pitch, width, height)
#define FILLED_ROWS(at, pitch, width, height) IN_ROWS(FILL, at, pitch, width, height)
#define DESCRIBED(member)                     add_described(facts, params->member);

#define ROW(reader, what, stream)                                                                  \
	{                                                                                          \
		.default_stream = GT_STREAM_##stream, .read = (reader)                             \
	}

#define CALL  struct gt_access_call
#define FACTS struct gt_access_facts
#define CALLS "injection/access_calls.def"
#include "injection/call_tables.inc"

const struct gt_access_call *gt_access_call_find(bool driver, CUpti_CallbackId id)
{
	return listed_call(driver, id);
}

bool gt_access_call_is_known(bool driver, CUpti_CallbackId id)
{
	return gt_access_call_find(driver, id) != NULL;
}

void gt_access_call_read(const struct gt_access_call *call, const CUpti_CallbackData *data,
                         struct gt_access_facts *facts)
{
	*facts = (struct gt_access_facts){.stream = call->default_stream};
	if (data->functionParams)
		call->read(data, facts);
}

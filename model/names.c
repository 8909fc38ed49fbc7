/* SPDX-License-Identifier: Apache-2.0 */
#include "model/names.h"

#include <stddef.h>
#include <stdlib.h>

#include "model/sync.h"
#include "model/trace.h"

static const char *text_at(const char *const *texts, size_t count, uint32_t kind)
{
	return kind < count && texts[kind] ? texts[kind] : "unknown";
}

#define TEXT_AT(texts, kind) text_at(texts, sizeof(texts) / sizeof((texts)[0]), kind)

const char *gt_copy_kind_name(uint32_t kind)
{
	static const char *const texts[] = {
		[GT_COPY_HOST_TO_DEVICE] = "HtoD",  [GT_COPY_DEVICE_TO_HOST] = "DtoH",
		[GT_COPY_HOST_TO_ARRAY] = "HtoA",   [GT_COPY_ARRAY_TO_HOST] = "AtoH",
		[GT_COPY_ARRAY_TO_ARRAY] = "AtoA",  [GT_COPY_ARRAY_TO_DEVICE] = "AtoD",
		[GT_COPY_DEVICE_TO_ARRAY] = "DtoA", [GT_COPY_DEVICE_TO_DEVICE] = "DtoD",
		[GT_COPY_HOST_TO_HOST] = "HtoH",    [GT_COPY_PEER_TO_PEER] = "PtoP",
	};

	return TEXT_AT(texts, kind);
}

const char *gt_memory_kind_name(uint32_t kind)
{
	static const char *const texts[] = {
		[GT_MEMORY_PAGEABLE] = "pageable",
		[GT_MEMORY_PINNED] = "pinned",
		[GT_MEMORY_DEVICE] = "device",
		[GT_MEMORY_ARRAY] = "array",
		[GT_MEMORY_MANAGED] = "managed",
		[GT_MEMORY_DEVICE_STATIC] = "device static",
		[GT_MEMORY_MANAGED_STATIC] = "managed static",
	};

	return TEXT_AT(texts, kind);
}

const char *gt_sync_kind_name(uint32_t kind)
{
	static const char *const texts[] = {
#define SYNC_KIND(name, number, words, waits_host) [number] = (words),
#include "format/sync_kinds.def"
	};

	return TEXT_AT(texts, kind);
}

bool gt_sync_waits_host(uint32_t kind)
{
	switch (kind) {
#define SYNC_KIND(name, number, words, waits_host)                                                 \
	case number:                                                                               \
		return (waits_host) != 0;
#include "format/sync_kinds.def"
	default:
		return false;
	}
}

/* CUpti_ActivityOverheadKind: the driver's own has a small number, CUPTI's count in steps of 1
 * << 16. */
const char *gt_overhead_kind_name(uint32_t kind)
{
	static const char *const texts[] = {
		[1] = "buffer flush",
		[2] = "instrumentation",
		[3] = "resource",
		[4] = "module loading",
		[5] = "lazy function loading",
		[6] = "command buffer full",
		[7] = "activity buffer request",
		[8] = "unified memory start",
	};

	if (kind == 1)
		return "driver compiler";
	return (kind & 0xffff) == 0 ? TEXT_AT(texts, kind >> 16) : "unknown";
}

const char *gt_api_kind_name(uint32_t kind)
{
	static const char *const texts[] = {
		[GT_API_OTHER] = "other",
		[GT_API_LAUNCH] = "launch",
		[GT_API_GRAPH_LAUNCH] = "graph launch",
		[GT_API_COPY] = "copy",
		[GT_API_FILL] = "fill",
		[GT_API_ALLOCATE] = "allocate",
		[GT_API_FREE] = "free",
		[GT_API_SYNCHRONIZE] = "synchronize",
		[GT_API_STREAM] = "stream",
		[GT_API_EVENT] = "event",
		[GT_API_GRAPH] = "graph",
		[GT_API_MODULE] = "module",
	};

	return TEXT_AT(texts, kind);
}

struct result_name {
	int32_t number;
	const char *name;
};

static int by_number(const void *key, const void *row)
{
	const int32_t number = *(const int32_t *)key;
	const struct result_name *name = row;

	return (number > name->number) - (number < name->number);
}

const char *gt_result_name(int32_t result, int driver_api)
{
	static const struct result_name runtime[] = {
#define RUNTIME(number, name) {number, #name},
#include "model/results.def"
	};
	static const struct result_name driver[] = {
#define DRIVER(number, name) {number, #name},
#include "model/results.def"
	};
	const struct result_name *names = driver_api ? driver : runtime;
	const size_t size = driver_api ? sizeof(driver) : sizeof(runtime);
	const struct result_name *found =
		bsearch(&result, names, size / sizeof(*names), sizeof(*names), by_number);

	return found ? found->name : NULL;
}

const char *gt_end_name(uint32_t ended)
{
	switch ((enum gt_end)ended) {
	case GT_END_CLEAN:
		return "cleanly";
	case GT_END_DIED:
		return "died; the rest was salvaged";
	case GT_END_RUNNING:
		return "still running";
	case GT_END_TORN:
		return "file cut short; the rest is lost";
	}
	return "unknown";
}

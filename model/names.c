/* SPDX-License-Identifier: Apache-2.0 */
#include "model/names.h"

#include <stddef.h>
#include <stdlib.h>

#include "format/control/control.h"
#include "model/kinds/graph.h"
#include "model/kinds/memory.h"
#include "model/trace.h"

/* clang-format off */
#define NAMES(set) \
	const char *gt_##set##_name(uint32_t value) \
	{ \
		switch (value) {
#define NAME(set, number, words) \
		case number: \
			return words;
#define END(set) \
		default: \
			return "unknown"; \
		} \
	}
#include "model/names.def"
/* clang-format on */

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
	case GT_END_UNRECORDED:
		return "not recorded";
	case GT_END_UNREAD:
		return "file could not be read";
	case GT_END_DUMPED:
		return "ran on after the dump";
	case GT_END_IMPORTED:
		return "imported; its end is not known";
	}
	return "unknown";
}

uint32_t gt_copy_host_memory(const struct gt_copy *copy)
{
	switch (copy->kind) {
	case GT_COPY_HOST_TO_DEVICE:
	case GT_COPY_HOST_TO_ARRAY:
	case GT_COPY_HOST_TO_HOST:
		return copy->src_kind;
	case GT_COPY_DEVICE_TO_HOST:
	case GT_COPY_ARRAY_TO_HOST:
		return copy->dst_kind;
	default:
		return 0;
	}
}

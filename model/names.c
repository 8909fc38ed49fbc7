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

struct result {
	int32_t number;
	enum gt_result_class class;
	const char *runtime; /* NULL: it has no name for the number */
	const char *driver;
};

static int by_number(const void *key, const void *row)
{
	const int32_t number = *(const int32_t *)key;
	const struct result *result = row;

	return (number > result->number) - (number < result->number);
}

static const struct result *find_result(int32_t number)
{
	static const struct result results[] = {
#define RESULT(number, class, runtime, driver) {number, GT_RESULT_##class, #runtime, #driver},
#define RUNTIME(number, class, runtime)        {number, GT_RESULT_##class, #runtime, NULL},
#define DRIVER(number, class, driver)          {number, GT_RESULT_##class, NULL, #driver},
#include "model/results.def"
	};

	return bsearch(&number, results, sizeof(results) / sizeof(*results), sizeof(*results),
	               by_number);
}

const char *gt_result_name(int32_t result, int driver_api)
{
	const struct result *found = find_result(result);

	if (!found)
		return NULL;
	return driver_api ? found->driver : found->runtime;
}

enum gt_result_class gt_result_class(int32_t result)
{
	const struct result *found = find_result(result);

	return found ? found->class : GT_RESULT_OTHER;
}

bool gt_result_failed(int32_t result)
{
	return result != 0 && gt_result_class(result) != GT_RESULT_ANSWER;
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

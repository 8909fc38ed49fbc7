/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "collector/stage.h"

/*
 * Rows by start time: CUPTI hands records over late and out of order. Equal times keep the
 * longer row first, so that what contains comes before what is contained.
 */

#define BY_START(name)                                                                             \
	static int by_start_of_##name(const void *a, const void *b)                                \
	{                                                                                          \
		const struct gt_##name *left = a;                                                  \
		const struct gt_##name *right = b;                                                 \
                                                                                                   \
		if (left->start_ns != right->start_ns)                                             \
			return left->start_ns < right->start_ns ? -1 : 1;                          \
		return (left->end_ns < right->end_ns) - (left->end_ns > right->end_ns);            \
	}

BY_START(kernel)
BY_START(copy)
BY_START(fill)
BY_START(sync)
BY_START(overhead)
BY_START(api_call)

static void sort(void *rows, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	const char *at = rows;

	/* One stream, one thread: nothing to do, which is worth a look. */
	for (size_t i = 1; i < count; i++, at += size) {
		if (compare(at, at + size) > 0) {
			qsort(rows, count, size, compare);
			return;
		}
	}
}

#define SORT(table, name)                                                                          \
	sort(trace->table.rows, trace->table.count, sizeof(struct gt_##name), by_start_of_##name)

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;

	(void)err;
	SORT(kernels, kernel);
	SORT(copies, copy);
	SORT(fills, fill);
	SORT(syncs, sync);
	SORT(overheads, overhead);
	SORT(api_calls, api_call);
	return 0;
}

const struct gt_stage gt_stage_order = {.name = "order", .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/stage.h"

/*
 * Joins what the GPU did with the API call that asked for it, by process and CUPTI's
 * correlation id, never by position. A call made inside another one shares its id: the outer
 * one is the program's.
 */

/* Rows of api_calls by a hash of process and correlation id; GT_NONE: free. */
struct index {
	gt_id *rows;
	size_t mask;
};

static size_t slot_of(const struct index *index, gt_id process, uint32_t correlation)
{
	const uint64_t key = (uint64_t)process << 32 | correlation;

	return (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & index->mask; /* Fibonacci hashing */
}

static gt_id process_of_call(const struct gt_trace *trace, const struct gt_api_call *call)
{
	return call->thread < trace->threads.count ? trace->threads.rows[call->thread].process
	                                           : GT_NONE;
}

static void fill_index(const struct gt_trace *trace, struct index *index)
{
	size_t size = 16;

	while (size < trace->api_calls.count * 2)
		size *= 2;
	index->mask = size - 1;
	index->rows = gt_allocate(size * sizeof(*index->rows));
	memset(index->rows, 0xff, size * sizeof(*index->rows));
	for (size_t i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];
		size_t at;

		if (call->flags & GT_NESTED)
			continue;
		at = slot_of(index, process_of_call(trace, call), call->correlation);
		while (index->rows[at] != GT_NONE)
			at = (at + 1) & index->mask;
		index->rows[at] = (gt_id)i;
	}
}

static gt_id find_call(const struct gt_trace *trace, const struct index *index, gt_id process,
                       uint32_t correlation)
{
	size_t at = slot_of(index, process, correlation);

	for (; index->rows[at] != GT_NONE; at = (at + 1) & index->mask) {
		const struct gt_api_call *call = &trace->api_calls.rows[index->rows[at]];

		if (call->correlation == correlation && process_of_call(trace, call) == process)
			return index->rows[at];
	}
	return GT_NONE;
}

#define JOIN(T, table, process)                                                                    \
	gt_array_each(T, row, &trace->table)                                                       \
	row->api_call = find_call(trace, &index, process, row->correlation)

static gt_id process_of_context(const struct gt_trace *trace, gt_id context)
{
	return context < trace->contexts.count ? trace->contexts.rows[context].process : GT_NONE;
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct index index;

	(void)err;
	fill_index(trace, &index);
	JOIN(struct gt_kernel, kernels, gt_trace_stream_process(trace, row->stream));
	JOIN(struct gt_copy, copies, gt_trace_stream_process(trace, row->stream));
	JOIN(struct gt_fill, fills, gt_trace_stream_process(trace, row->stream));
	JOIN(struct gt_sync, syncs, process_of_context(trace, row->context));
	free(index.rows);
	return 0;
}

const struct gt_stage gt_stage_correlate = {.name = "correlate", .run = run};

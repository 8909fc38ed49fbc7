/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/nvtx/range_walk.h"

#include <string.h>

gt_time gt_deed_time(const uint8_t *row)
{
	gt_time start_ns;

	memcpy(&start_ns, row, sizeof(start_ns));
	return start_ns;
}

uint8_t *gt_next_deed(const struct gt_deeds *deeds)
{
	return deeds->rows + deeds->by_thread[deeds->next] * deeds->row_size;
}

static gt_id thread_of(const struct gt_deeds *deeds, size_t row)
{
	gt_id thread;

	memcpy(&thread, deeds->rows + row * deeds->row_size + deeds->thread, sizeof(thread));
	return thread;
}

/* Those of each thread in the order of time, which the table has. */
static void sort_deeds(struct gt_deeds *deeds, size_t threads)
{
	size_t sum = 0;

	deeds->threads = threads;
	deeds->ends = gt_allocate((threads + 1) * sizeof(*deeds->ends));
	deeds->by_thread = gt_allocate((deeds->count + 1) * sizeof(*deeds->by_thread));
	for (size_t i = 0; i < threads; i++)
		deeds->ends[i] = 0;
	for (size_t i = 0; i < deeds->count; i++)
		if (thread_of(deeds, i) < threads)
			deeds->ends[thread_of(deeds, i)]++;
	for (size_t i = 0; i < threads; i++) {
		sum += deeds->ends[i];
		deeds->ends[i] = sum - deeds->ends[i]; /* for now where those of the thread begin */
	}
	for (size_t i = 0; i < deeds->count; i++)
		if (thread_of(deeds, i) < threads)
			deeds->by_thread[deeds->ends[thread_of(deeds, i)]++] = (gt_id)i;
}

#define DEEDS_OF(trace, name, plural)                                                              \
	{                                                                                          \
		.rows = (uint8_t *)(trace)->plural.rows, .row_size = sizeof(struct gt_##name),     \
		.count = (trace)->plural.count, .thread = offsetof(struct gt_##name, thread),      \
		.range = offsetof(struct gt_##name, range),                                        \
	}

void gt_make_deeds(struct gt_range_walk *walk)
{
	const struct gt_deeds all[GT_DEEDS] = {
		[GT_DEEDS_CALLS] = DEEDS_OF(walk->trace, api_call, api_calls),
		[GT_DEEDS_BLOCKS] = DEEDS_OF(walk->trace, pool_block, pool_blocks),
	};

	for (size_t i = 0; i < GT_DEEDS; i++) {
		walk->deeds[i] = all[i];
		sort_deeds(&walk->deeds[i], walk->trace->threads.count);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/open.h"

#include <stdlib.h>

#include "base/search.h"
#include "model/ranges/ranges.h"

struct begin {
	const struct gt_trace *trace;
	gt_id thread;
	gt_time at_ns;
};

static int compare_ids(gt_id left, gt_id right)
{
	return (left > right) - (left < right);
}

static int by_begin(const void *a, const void *b, void *context)
{
	const struct gt_range *ranges = context;
	const gt_id left = *(const gt_id *)a;
	const gt_id right = *(const gt_id *)b;

	if (ranges[left].thread != ranges[right].thread)
		return compare_ids(ranges[left].thread, ranges[right].thread);
	if (ranges[left].start_ns != ranges[right].start_ns)
		return ranges[left].start_ns < ranges[right].start_ns ? -1 : 1;
	return compare_ids(left, right);
}

static int from_begin(const void *row, const void *wanted)
{
	const struct begin *begin = wanted;
	const struct gt_range *range = &begin->trace->ranges.rows[*(const gt_id *)row];

	if (range->thread != begin->thread)
		return compare_ids(range->thread, begin->thread);
	return (range->start_ns > begin->at_ns) - (range->start_ns < begin->at_ns);
}

void gt_open_ranges_init(struct gt_open_ranges *open, const struct gt_trace *trace)
{
	*open = (struct gt_open_ranges){.trace = trace};
	for (gt_id row = 0; row < trace->ranges.count; row++)
		*gt_array_push(&open->order) = row;
	if (open->order.count > 1)
		qsort_r(open->order.rows, open->order.count, sizeof(gt_id), by_begin,
		        trace->ranges.rows);
}

void gt_open_ranges_release(struct gt_open_ranges *open)
{
	gt_array_release(&open->order);
}

/* All that were open when the last one began are among those around it. */
gt_id gt_open_range(const struct gt_open_ranges *open, gt_id thread, gt_time at_ns)
{
	const struct gt_range *ranges = open->trace->ranges.rows;
	const struct begin begin = {open->trace, thread, at_ns};
	const size_t place = gt_count_up_to(&open->order, &begin, from_begin);
	gt_id row = place > 0 ? open->order.rows[place - 1] : GT_NONE;

	if (row != GT_NONE && ranges[row].thread != thread)
		return GT_NONE;
	while (row != GT_NONE && gt_range_end(&ranges[row]) <= at_ns) {
		const gt_id around = ranges[row].parent;

		/* A range around it has a smaller depth: a damaged trace's circle ends here. */
		row = around < open->trace->ranges.count && ranges[around].depth < ranges[row].depth
		              ? around
		              : GT_NONE;
	}
	return row;
}

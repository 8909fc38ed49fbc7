/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/nesting.h"

#include "base/array.h"
#include "model/ranges/ranges.h"

struct open_ranges {
	gt_array(gt_time) ends_ns; /* the outer first */
};

static bool nests(struct open_ranges *open, const struct gt_range *range)
{
	const gt_time end_ns = gt_range_end(range);

	while (open->ends_ns.count > 0 &&
	       open->ends_ns.rows[open->ends_ns.count - 1] <= range->start_ns)
		open->ends_ns.count--;
	if (open->ends_ns.count > 0 && open->ends_ns.rows[open->ends_ns.count - 1] < end_ns)
		return false;
	*gt_array_push(&open->ends_ns) = end_ns;
	return true;
}

bool *gt_ranges_nest(const struct gt_trace *trace)
{
	const size_t threads = trace->threads.count;
	bool *nest = gt_allocate((trace->ranges.count + 1) * sizeof(*nest));
	struct open_ranges *open = gt_allocate((threads + 1) * sizeof(*open));

	for (size_t i = 0; i < threads; i++)
		open[i] = (struct open_ranges){0};
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];

		nest[i] = range->kind == GT_RANGE_PUSHED && range->thread < threads &&
		          nests(&open[range->thread], range);
	}
	for (size_t i = 0; i < threads; i++)
		gt_array_release(&open[i].ends_ns);
	gt_array_free(open);
	return nest;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/range_threads.h"

#include <stdbool.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "model/ranges/owners.h"
#include "model/whole.h"
#include "model/work/activity.h"

enum { MOST_AROUND = 1 << 10 };

static void add_untold(struct gt_range_threads *threads, uint32_t flags, uint64_t ns)
{
	if (flags & GT_UNTOLD)
		threads->untold_ns += ns;
}

static void add_known(struct gt_range_threads *threads, bool by_time, uint64_t ns)
{
	if (by_time)
		threads->by_time_ns += ns;
	else
		threads->by_number_ns += ns;
}

/* By the first step of its chain to another thread. */
static void add_chain(struct gt_range_threads *threads, const struct gt_ranges *ranges,
                      struct gt_owner owner, uint64_t ns)
{
	const struct gt_range *rows = ranges->trace->ranges.rows;
	gt_id range = owner.range;

	for (size_t i = 0; i < MOST_AROUND; i++) {
		const gt_id around = gt_ranges_around(ranges, range, owner.at_ns);

		if (around == GT_NONE) {
			add_untold(threads, rows[range].flags, ns);
			return;
		}
		if (rows[around].thread != rows[range].thread) {
			add_known(threads, gt_ranges_by_time(ranges, range, around), ns);
			return;
		}
		range = around;
	}
}

/* Calls are looked for in all that happened: work may have been asked for before the window. */
struct gt_range_threads gt_range_threads_of(const struct gt_ranges *ranges)
{
	const struct gt_trace *trace = ranges->trace;
	const struct gt_trace *whole = gt_whole_of(trace);
	struct gt_range_threads threads = {0};
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, whole, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity)) {
		const uint64_t ns = (uint64_t)(activity.end_ns - activity.start_ns);
		const gt_id row =
			gt_whole_shown(trace, gt_activity_tables[activity.type], activity.row);
		const struct gt_api_call *call;
		struct gt_owner owner;

		if (row == GT_NONE)
			continue;
		threads.all_ns += ns;
		if (activity.api_call >= whole->api_calls.count)
			continue;
		call = &whole->api_calls.rows[activity.api_call];
		owner = gt_owners_of(trace, activity.type, row).launched;
		if (owner.range == GT_NONE)
			add_untold(&threads, call->flags, ns);
		else if (call->range >= whole->ranges.count)
			add_known(&threads, owner.by_time, ns);
		else
			add_chain(&threads, ranges, owner, ns);
	}
	return threads;
}

void gt_remark_range_threads(struct gt_result *result, const struct gt_range_threads *threads)
{
	const uint64_t others_ns = threads->by_number_ns + threads->by_time_ns;

	if (others_ns > 0)
		gt_result_remark(
			result,
			"Other threads launched %s of %s of GPU time for these ranges: %s is "
			"known by sequence numbers of PyTorch, %s by time alone; --set "
			"threads=own leaves both out.",
			gt_figure_ns((int64_t)others_ns).text,
			gt_figure_ns((int64_t)threads->all_ns).text,
			gt_figure_ns((int64_t)threads->by_number_ns).text,
			gt_figure_ns((int64_t)threads->by_time_ns).text);
	if (threads->untold_ns > 0)
		gt_result_remark(
			result,
			"%s of GPU time is in no range: the thread that launched it had none "
			"open, and several others had.",
			gt_figure_ns((int64_t)threads->untold_ns).text);
}

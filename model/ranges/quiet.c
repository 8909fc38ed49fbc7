/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/quiet.h"

#include "base/search.h"
#include "model/whole.h"
#include "model/work/activity.h"
#include "model/work/unmeasured.h"

/* Times of a trace are not negative: no gap begins earlier, and all of them fit into 64 bits. */
static void add_gap(struct gt_quiet *quiet, gt_time start_ns, gt_time end_ns)
{
	const struct gt_quiet_gap *last =
		quiet->gaps.count ? &quiet->gaps.rows[quiet->gaps.count - 1] : NULL;
	const uint64_t before_ns =
		last ? last->before_ns + (uint64_t)(last->end_ns - last->start_ns) : 0;

	*gt_array_push(&quiet->gaps) = (struct gt_quiet_gap){start_ns, end_ns, before_ns};
}

static void see(struct gt_quiet *quiet, gt_time *busy_until, gt_time start_ns, gt_time end_ns)
{
	if (start_ns > *busy_until)
		add_gap(quiet, *busy_until, start_ns);
	if (end_ns > *busy_until)
		*busy_until = end_ns;
}

void gt_quiet_init(struct gt_quiet *quiet, const struct gt_trace *trace)
{
	struct gt_activity_walk walk;
	struct gt_activity work;
	struct gt_unmeasured unmeasured;
	const struct gt_interval *held;
	size_t next = 0;
	gt_time busy_until = 0;

	*quiet = (struct gt_quiet){0};
	gt_unmeasured_init(&unmeasured, trace);
	gt_activity_walk_init(&walk, gt_whole_of(trace), GT_WORK_ALL);
	while (gt_activity_next(&walk, &work)) {
		if (!gt_whole_asks_about(trace, work.device))
			continue;
		while ((held = gt_unmeasured_next(&unmeasured, &next, work.start_ns)))
			see(quiet, &busy_until, held->start_ns, held->end_ns);
		see(quiet, &busy_until, work.start_ns, work.end_ns);
	}
	while ((held = gt_unmeasured_next(&unmeasured, &next, INT64_MAX)))
		see(quiet, &busy_until, held->start_ns, held->end_ns);
	gt_unmeasured_release(&unmeasured);
	if (busy_until < INT64_MAX)
		add_gap(quiet, busy_until, INT64_MAX);
}

void gt_quiet_release(struct gt_quiet *quiet)
{
	gt_array_release(&quiet->gaps);
}

static int gap_to_time(const void *row, const void *wanted)
{
	const struct gt_quiet_gap *gap = row;
	const gt_time *at_ns = wanted;

	return (gap->start_ns > *at_ns) - (gap->start_ns < *at_ns);
}

/* Quiet time before a moment. */
static uint64_t quiet_before(const struct gt_quiet *quiet, gt_time at_ns)
{
	const size_t before = gt_count_before(&quiet->gaps, &at_ns, gap_to_time);
	const struct gt_quiet_gap *gap;

	if (before == 0)
		return 0;
	gap = &quiet->gaps.rows[before - 1];
	return gap->before_ns +
	       (uint64_t)((at_ns < gap->end_ns ? at_ns : gap->end_ns) - gap->start_ns);
}

uint64_t gt_quiet_between(const struct gt_quiet *quiet, gt_time start_ns, gt_time end_ns)
{
	return end_ns > start_ns ? quiet_before(quiet, end_ns) - quiet_before(quiet, start_ns) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/steps/launching.h"

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/ranges/owners.h"
#include "model/whole.h"
#include "model/work/activity.h"

/*
 * A range and all around it are marked with the time of the call: what was open around it at a
 * later time was open then as well, and needs no second walk.
 */
static void mark(const struct gt_ranges *ranges, struct gt_owner owner, gt_time *marks)
{
	gt_id range = owner.range;

	while (range != GT_NONE && owner.at_ns < marks[range]) {
		marks[range] = owner.at_ns;
		range = gt_ranges_around(ranges, range, owner.at_ns);
	}
}

/* By row of ranges: INT64_MAX where nothing belongs to it. NULL: no call is known. */
static gt_time *mark_all(const struct gt_ranges *ranges)
{
	const struct gt_trace *trace = ranges->trace;
	gt_time *marks = gt_allocate((trace->ranges.count + 1) * sizeof(*marks));
	bool known = false;
	struct gt_activity_walk walk;
	struct gt_activity activity;

	for (size_t i = 0; i < trace->ranges.count; i++)
		marks[i] = INT64_MAX;
	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity)) {
		const struct gt_owners owners = gt_owners_of(trace, activity.type, activity.row);

		known = known || activity.api_call < trace->api_calls.count;
		mark(ranges, owners.launched, marks);
		mark(ranges, owners.captured, marks);
	}
	if (known)
		return marks;
	gt_array_free(marks);
	return NULL;
}

/* The marks of the whole trace, for the rows that a filter left of it. */
static bool *of_rows(const struct gt_trace *trace, const gt_time *marks)
{
	bool *with_work = gt_allocate((trace->ranges.count + 1) * sizeof(*with_work));

	for (gt_id i = 0; i < trace->ranges.count; i++)
		with_work[i] = marks[gt_whole_origin(trace, GT_TABLE_ranges, i)] != INT64_MAX;
	return with_work;
}

bool *gt_ranges_with_work(const struct gt_ranges *ranges)
{
	const struct gt_trace *whole = gt_whole_of(ranges->trace);
	struct gt_ranges all = {0};
	bool *with_work = NULL;
	gt_time *marks;

	if (whole != ranges->trace)
		gt_ranges_init(&all, whole);
	marks = mark_all(whole == ranges->trace ? ranges : &all);
	if (marks)
		with_work = of_rows(ranges->trace, marks);
	gt_array_free(marks);
	if (whole != ranges->trace)
		gt_ranges_release(&all);
	return with_work;
}

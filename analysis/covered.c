/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/covered.h"

#include <string.h>

#include "base/search.h"
#include "model/activity.h"

void gt_covered_add(struct gt_covered *covered, struct gt_interval interval, gt_id asked_by)
{
	const size_t count = covered->stretches.count;
	struct gt_covered_stretch *last = count ? &covered->stretches.rows[count - 1] : NULL;
	uint64_t before_ns;

	if (interval.end_ns <= interval.start_ns)
		return;
	if (last && interval.start_ns <= last->end_ns) {
		if (interval.end_ns > last->end_ns)
			last->end_ns = interval.end_ns;
		return;
	}
	before_ns = last ? last->before_ns + (uint64_t)(last->end_ns - last->start_ns) : 0;
	*gt_array_push(&covered->stretches) = (struct gt_covered_stretch){
		.start_ns = interval.start_ns,
		.end_ns = interval.end_ns,
		.before_ns = before_ns,
		.asked_by = asked_by,
	};
}

void gt_covered_release(struct gt_covered *covered)
{
	gt_array_release(&covered->stretches);
}

static int by_start(const void *row, const void *wanted)
{
	const gt_time start_ns = ((const struct gt_covered_stretch *)row)->start_ns;
	const gt_time time_ns = *(const gt_time *)wanted;

	return (start_ns > time_ns) - (start_ns < time_ns);
}

size_t gt_covered_begun(const struct gt_covered *covered, gt_time time_ns)
{
	return covered->stretches.count ? gt_count_up_to(&covered->stretches, &time_ns, by_start)
	                                : 0;
}

/* Covered up to a moment. */
static uint64_t covered_until(const struct gt_covered *covered, gt_time time_ns)
{
	const size_t begun = gt_covered_begun(covered, time_ns);
	const struct gt_covered_stretch *last;

	if (begun == 0)
		return 0;
	last = &covered->stretches.rows[begun - 1];
	return last->before_ns +
	       (uint64_t)((time_ns < last->end_ns ? time_ns : last->end_ns) - last->start_ns);
}

uint64_t gt_covered_within(const struct gt_covered *covered, struct gt_interval interval)
{
	return interval.end_ns > interval.start_ns
	               ? covered_until(covered, interval.end_ns) -
	                         covered_until(covered, interval.start_ns)
	               : 0;
}

int gt_covered_next_gap(const struct gt_covered *covered, struct gt_interval *left,
                        struct gt_interval *gap)
{
	size_t begun = gt_covered_begun(covered, left->start_ns);

	if (begun > 0 && covered->stretches.rows[begun - 1].end_ns > left->start_ns)
		left->start_ns = covered->stretches.rows[begun - 1].end_ns;
	if (left->start_ns >= left->end_ns)
		return 0;
	*gap = *left;
	if (begun < covered->stretches.count &&
	    covered->stretches.rows[begun].start_ns < left->end_ns)
		gap->end_ns = covered->stretches.rows[begun].start_ns;
	left->start_ns = gap->end_ns;
	return 1;
}

struct gt_covered_device *gt_covered_devices(const struct gt_trace *trace)
{
	struct gt_covered_device *devices = gt_allocate(trace->devices.count * sizeof(*devices));
	struct gt_activity_walk walk;
	struct gt_activity activity;

	if (trace->devices.count)
		memset(devices, 0, trace->devices.count * sizeof(*devices));
	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity)) {
		const struct gt_interval interval = {activity.start_ns, activity.end_ns};

		if (activity.device >= trace->devices.count)
			continue;
		if (gt_activity_is_work(activity.type))
			gt_covered_add(&devices[activity.device].kernels, interval,
			               activity.api_call);
		gt_covered_add(&devices[activity.device].all, interval, activity.api_call);
	}
	return devices;
}

void gt_covered_devices_release(struct gt_covered_device *devices, const struct gt_trace *trace)
{
	for (size_t i = 0; i < trace->devices.count; i++) {
		gt_covered_release(&devices[i].kernels);
		gt_covered_release(&devices[i].all);
	}
	gt_array_free(devices);
}

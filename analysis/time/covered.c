/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/covered.h"

#include "analysis/time/host_calls.h"
#include "base/search.h"
#include "model/work/activity.h"
#include "model/work/timed.h"
#include "model/work/unmeasured.h"

void gt_covered_add(struct gt_covered *covered, struct gt_interval interval, gt_time asked_ns)
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
		.asked_ns = asked_ns,
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

static void add_unmeasured(struct gt_covered_device *devices, size_t count,
                           const struct gt_interval *held)
{
	for (size_t i = 0; i < count; i++) {
		gt_covered_add(&devices[i].unmeasured, *held, held->start_ns);
		gt_covered_add(&devices[i].kernels, *held, held->start_ns);
		gt_covered_add(&devices[i].all, *held, held->start_ns);
	}
}

static void add_activity(struct gt_covered_device *device, const struct gt_trace *trace,
                         const struct gt_activity *activity)
{
	const struct gt_interval interval = {activity->start_ns, activity->end_ns};
	const gt_time asked_ns = activity->api_call < trace->api_calls.count
	                                 ? trace->api_calls.rows[activity->api_call].start_ns
	                                 : GT_NOT_ASKED;

	if (gt_activity_is_work(activity->type))
		gt_covered_add(&device->kernels, interval, asked_ns);
	gt_covered_add(&device->all, interval, asked_ns);
}

struct gt_covered_device *gt_covered_devices(const struct gt_trace *trace)
{
	struct gt_unmeasured unmeasured;
	const struct gt_interval *held;
	size_t next = 0;
	struct gt_covered_device *devices =
		gt_allocate_zeroed(trace->devices.count, sizeof(*devices));
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	gt_unmeasured_init(&unmeasured, trace);
	while (gt_activity_next(&walk, &activity)) {
		while ((held = gt_unmeasured_next(&unmeasured, &next, activity.start_ns)))
			add_unmeasured(devices, trace->devices.count, held);
		if (activity.device < trace->devices.count)
			add_activity(&devices[activity.device], trace, &activity);
	}
	while ((held = gt_unmeasured_next(&unmeasured, &next, INT64_MAX)))
		add_unmeasured(devices, trace->devices.count, held);
	gt_unmeasured_release(&unmeasured);
	return devices;
}

void gt_covered_devices_release(struct gt_covered_device *devices, const struct gt_trace *trace)
{
	for (size_t i = 0; i < trace->devices.count; i++) {
		gt_covered_release(&devices[i].unmeasured);
		gt_covered_release(&devices[i].kernels);
		gt_covered_release(&devices[i].all);
	}
	gt_array_free(devices);
}

struct gt_covered *gt_covered_calls(const struct gt_trace *trace)
{
	struct gt_covered *covered = gt_allocate_zeroed(trace->threads.count + 1, sizeof(*covered));
	struct gt_thread_calls calls;

	gt_thread_calls_init(&calls, trace);
	for (gt_id thread = 0; thread < trace->threads.count; thread++) {
		for (size_t i = calls.first[thread]; i < calls.first[thread + 1]; i++) {
			const struct gt_api_call *call = &trace->api_calls.rows[calls.rows[i]];
			const gt_time end_ns =
				gt_known_end(call->flags, call->end_ns, trace->end_ns);

			gt_covered_add(&covered[thread],
			               (struct gt_interval){call->start_ns, end_ns}, GT_NOT_ASKED);
		}
	}
	gt_thread_calls_release(&calls);
	return covered;
}

void gt_covered_calls_release(struct gt_covered *calls, const struct gt_trace *trace)
{
	for (size_t i = 0; i < trace->threads.count; i++)
		gt_covered_release(&calls[i]);
	gt_array_free(calls);
}

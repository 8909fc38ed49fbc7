/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/measuring.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_NS INT64_C(500000000) /* CUPTI tells of work that has ended by then, or never */

/* What CUPTI told of, and room for as much. */
struct activities {
	const struct gt_activity_time *times;
	size_t count;
	struct gt_activity_time *found;
};

static int by_start(const void *a, const void *b)
{
	const struct gt_activity_time *left = a;
	const struct gt_activity_time *right = b;

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

size_t gt_sample_work(const struct gt_run_sample *sample, const struct gt_activity_time *times,
                      size_t count, struct gt_activity_time *found)
{
	size_t held = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t middle_ns =
			times[i].start_ns + (times[i].end_ns - times[i].start_ns) / 2;

		if (middle_ns >= sample->from_ns && middle_ns <= sample->until_ns)
			found[held++] = times[i];
	}
	qsort(found, held, sizeof(*found), by_start);
	return held;
}

/*
 * From the first begin to the last end of a run's work, which is the last of what there is: before
 * it are lead-ins, and copies behind each of them. NAN: not all of it is known yet.
 */
static double span_of(const struct gt_measuring *measuring, const struct activities *activities,
                      const struct gt_run_sample *sample)
{
	const size_t held =
		gt_sample_work(sample, activities->times, activities->count, activities->found);
	const size_t before =
		measuring->lead_ins * (measuring->work + gt_work_copies(&measuring->same));
	const struct gt_activity_time *end = activities->found + held;
	const struct gt_activity_time *own;
	uint64_t last_ns = 0;

	if (measuring->work == 0 || held < before + measuring->work)
		return NAN;
	own = measuring->lead_ins > 0 ? end - measuring->work : activities->found;
	for (const struct gt_activity_time *time = own; time < end; time++)
		last_ns = time->end_ns > last_ns ? time->end_ns : last_ns;
	return (double)(last_ns - own->start_ns);
}

/* Whether all of the samples from that one on have a time now. */
static bool collect(const struct gt_measuring *measuring, size_t first)
{
	struct activities activities;
	bool all = true;

	gt_activity_collect(measuring->activity, measuring->samples.rows[first].from_ns,
	                    &activities.times, &activities.count);
	activities.found = gt_allocate((activities.count + 1) * sizeof(*activities.found));
	for (size_t i = first; i < measuring->samples.count; i++) {
		struct gt_run_sample *sample = &measuring->samples.rows[i];

		sample->ns = span_of(measuring, &activities, sample);
		all = all && isfinite(sample->ns);
	}
	gt_array_free(activities.found);
	return all;
}

void gt_measuring_take_times(struct gt_measuring *measuring, size_t first)
{
	const int64_t begun_ns = gt_gpu_now_ns();
	bool all = false;

	while (measuring->activity && !all && gt_gpu_now_ns() - begun_ns < PATIENCE_NS)
		all = collect(measuring, first);
	if (!measuring->activity || all)
		return;
	measuring->activity = NULL;
	snprintf(measuring->no_cupti, sizeof(measuring->no_cupti),
	         "CUPTI did not tell when the kernels ran");
}

double gt_sample_value(const struct gt_run_sample *sample, size_t offset)
{
	double value;

	memcpy(&value, (const char *)sample + offset, sizeof(value));
	return value;
}

size_t gt_measuring_clock(const struct gt_measuring *measuring)
{
	return measuring->activity ? offsetof(struct gt_run_sample, ns)
	                           : offsetof(struct gt_run_sample, events_ns);
}

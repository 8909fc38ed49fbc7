/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/measure.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "replay/measure/activity.h"
#include "replay/measure/estimate.h"
#include "replay/measure/measuring.h"
#include "replay/measure/work.h"
#include "replay/memory/restored.h"
#include "replay/steps/steps.h"
#include "replay/types/times.h"

#define WARM_NS INT64_C(100000000) /* clocks rise when a GPU begins to work */

enum {
	BATCH = 8,       /* runs between two looks at the estimate */
	STATE_RUNS = 15, /* that a state of the cache is tried with, and at least */
	LEAST_STATE_RUNS = 3,
	/*
	 * A run that takes less than half of the median, or more than twice as long, is in another
	 * mode: it did other work or was held up. The same work in the same state of the cache
	 * differs by the clocks alone, and runs with clocks that are held down are thrown out
	 * before. Bounds by the spread (Iglewicz and Hoaglin 1993: 3.5 deviations from the median)
	 * would leave out ordinary runs of kernels that hardly differ.
	 */
	MODE_FACTOR = 2,
	SHORT_SHARE = 10, /* one in so many runs that are too short is no accident */
};

#define STATE_NS INT64_C(150000000) /* and one state of the cache */

/* ---- all runs ---- */

/* Values of the samples that count, one each, in their order. */
static size_t values_of(const struct gt_measuring *measuring, size_t offset, double *values)
{
	size_t count = 0;

	gt_array_each(const struct gt_run_sample, sample, &measuring->samples) {
		const double value = gt_sample_value(sample, offset);

		if (!sample->throttled && !sample->other_mode && isfinite(value))
			values[count++] = value;
	}
	return count;
}

static struct gt_estimate estimate(const struct gt_measuring *measuring, size_t offset,
                                   size_t *count)
{
	double *values = gt_allocate((measuring->samples.count + 1) * sizeof(*values));
	struct gt_estimate estimate;

	*count = values_of(measuring, offset, values);
	estimate = gt_estimate_of(values, *count);
	gt_array_free(values);
	return estimate;
}

static bool out_of_time(const struct gt_measuring *measuring)
{
	return gt_gpu_now_ns() - measuring->begun_ns >= measuring->options->most_ns;
}

/* A run without lead-ins has nothing but its own work: it may be more than there are steps. */
static int learn_work(struct gt_measuring *measuring, struct gt_error *err)
{
	const struct gt_activity_time *times;
	struct gt_activity_time *found;
	struct gt_run_sample sample;
	size_t count;
	int result;

	measuring->work = measuring->steps->work;
	result = gt_measuring_run(measuring, &sample, err);
	if (result < 0 || !measuring->activity)
		return result;
	*gt_array_push(&measuring->samples) = sample;
	gt_measuring_take_times(measuring, 0);
	measuring->samples.count = 0;
	if (!measuring->activity)
		return 0;
	gt_activity_collect(measuring->activity, sample.from_ns, &times, &count);
	found = gt_allocate((count + 1) * sizeof(*found));
	count = gt_sample_work(&sample, times, count, found);
	measuring->work = count > measuring->work ? count : measuring->work;
	gt_array_free(found);
	return 0;
}

static int warm_up(struct gt_measuring *measuring, struct gt_error *err)
{
	const int64_t most_ns = measuring->options->most_ns / 4;
	const int64_t least_ns = most_ns < WARM_NS ? most_ns : WARM_NS;
	uint32_t count = 0;
	int result = 0;

	measuring->run_ns = INFINITY;
	while (result == 0 && (count < measuring->options->warm_ups ||
	                       gt_gpu_now_ns() - measuring->begun_ns < least_ns)) {
		struct gt_run_sample sample;

		result = gt_measuring_run(measuring, &sample, err);
		measuring->run_ns = fmin(measuring->run_ns, sample.events_ns);
		count++;
		gt_measuring_tell(measuring, "warming up");
	}
	if (result == 0)
		result = learn_work(measuring, err);
	if (result == 0)
		gt_measuring_ask_clocks(
			measuring, &(struct gt_run_sample){0}); /* what was before does not count */
	return result;
}

/* Those that are far from the median of all. */
static void mark_modes(struct gt_measuring *measuring)
{
	const size_t offset = gt_measuring_clock(measuring);
	size_t count;
	double median;

	gt_array_each(struct gt_run_sample, sample, &measuring->samples)
		sample->other_mode = false;
	median = estimate(measuring, offset, &count).median;
	gt_array_each(struct gt_run_sample, sample, &measuring->samples) {
		const double value = gt_sample_value(sample, offset);

		sample->other_mode = value * MODE_FACTOR < median || value > median * MODE_FACTOR;
	}
}

static int run_batch(struct gt_measuring *measuring, struct gt_error *err)
{
	const size_t first = measuring->samples.count;
	int result = 0;

	for (int i = 0; result == 0 && i < BATCH; i++) {
		struct gt_run_sample sample;

		if (measuring->samples.count >= measuring->options->most_runs)
			break;
		result = gt_measuring_run(measuring, &sample, err);
		if (result < 0)
			break;
		gt_measuring_ask_clocks(measuring, &sample);
		*gt_array_push(&measuring->samples) = sample;
		gt_measuring_tell(measuring, "timing");
	}
	if (result == 0 && measuring->samples.count > first)
		gt_measuring_take_times(measuring, first);
	return result;
}

static int run_all(struct gt_measuring *measuring, bool *stable, struct gt_error *err)
{
	const struct gt_replay_options *options = measuring->options;
	int result = 0;

	*stable = false;
	do {
		size_t count;
		struct gt_estimate now;

		result = run_batch(measuring, err);
		mark_modes(measuring);
		now = estimate(measuring, gt_measuring_clock(measuring), &count);
		*stable =
			result == 0 && count >= options->least_runs && now.error <= options->within;
	} while (result == 0 && !*stable && measuring->samples.count < options->most_runs &&
	         (measuring->samples.count < options->least_runs || !out_of_time(measuring)));
	return result;
}

/* Counts those that do not count. Many short ones are no accident. */
static void count_modes(const struct gt_measuring *measuring, struct gt_replay_times *times)
{
	const size_t offset = gt_measuring_clock(measuring);
	size_t too_short = 0;

	gt_array_each(const struct gt_run_sample, sample, &measuring->samples) {
		times->thrown_out += sample->throttled;
		times->other_mode += !sample->throttled && sample->other_mode;
		too_short += !sample->throttled && sample->other_mode &&
		             gt_sample_value(sample, offset) < times->median;
	}
	if (too_short * SHORT_SHARE > measuring->samples.count && !*times->doubt)
		snprintf(times->doubt, sizeof(times->doubt),
		         "%zu of %zu runs took less than half of the median", too_short,
		         measuring->samples.count);
}

static void fill_in(const struct gt_measuring *measuring, struct gt_replay_times *times)
{
	const size_t offset = gt_measuring_clock(measuring);
	size_t count;
	const struct gt_estimate found = estimate(measuring, offset, &count);

	times->median = found.median;
	times->least = found.least;
	times->most = found.most;
	times->p05 = found.p05;
	times->p95 = found.p95;
	times->error = found.error;
	times->clock = measuring->activity ? "CUPTI" : "events";
	times->events_median =
		estimate(measuring, offsetof(struct gt_run_sample, events_ns), &count).median;
	times->sm_mhz = estimate(measuring, offsetof(struct gt_run_sample, sm_mhz), &count).median;
	gt_array_each(const struct gt_run_sample, sample, &measuring->samples)
		if (!sample->throttled && !sample->other_mode)
			*gt_array_push(&times->ns) = gt_sample_value(sample, offset);
	if (measuring->no_cupti[0])
		snprintf(times->no_cupti, sizeof(times->no_cupti), "%s", measuring->no_cupti);
	if (measuring->l2 == GT_L2_warm) {
		times->restored_bytes = gt_work_bytes(&measuring->same, false);
		times->left_bytes = gt_work_bytes(&measuring->same, true);
	}
	snprintf(times->doubt, sizeof(times->doubt), "%s", measuring->same.doubt);
	count_modes(measuring, times);
}

/* ---- other states of the cache ---- */

static int prepare_state(struct gt_measuring *measuring, enum gt_l2_state l2, struct gt_error *err)
{
	measuring->l2 = l2;
	measuring->lead_ins = 0;
	if (l2 == GT_L2_cold)
		return gt_measuring_make_scratch(measuring, err);
	if (l2 == GT_L2_warm)
		return gt_measuring_choose_warm(measuring, false, err);
	return gt_restored_keep_all(measuring->restored, err);
}

/* Some runs alone: NAN where that state cannot be had. */
static int try_state(struct gt_measuring *measuring, enum gt_l2_state l2, double *median,
                     struct gt_error *err)
{
	const int64_t begun_ns = gt_gpu_now_ns();
	struct gt_error ignored = {0};
	size_t count = 0;
	int result;

	measuring->samples.count = 0;
	result = prepare_state(measuring, l2, &ignored);
	if (result == -EIO || result == -ETIMEDOUT)
		return gt_fail(err, -result, "%s", ignored.text);
	if (result < 0)
		return 0;
	for (size_t i = 0; result == 0 && i < STATE_RUNS; i++) {
		struct gt_run_sample sample;

		if (i >= LEAST_STATE_RUNS && gt_gpu_now_ns() - begun_ns > STATE_NS)
			break;
		result = gt_measuring_run(measuring, &sample, err);
		if (result == 0)
			*gt_array_push(&measuring->samples) = sample;
		gt_measuring_tell(measuring, "trying other states of the cache");
	}
	if (result == 0) {
		gt_measuring_take_times(measuring, 0);
		*median = estimate(measuring, gt_measuring_clock(measuring), &count).median;
	}
	return result;
}

/* For the comparison with the program, of which nobody knows what its caches held. */
static int try_states(struct gt_measuring *measuring, struct gt_replay_times *times,
                      struct gt_error *err)
{
	const struct gt_activity *activity = measuring->activity;
	int result = 0;

	for (unsigned l2 = 0; l2 < GT_COUNT_OF(times->by_state); l2++)
		times->by_state[l2] = NAN;
	times->by_state[measuring->options->l2] = times->median;
	for (unsigned l2 = 0;
	     result == 0 && measuring->options->compare_states && l2 < GT_COUNT_OF(times->by_state);
	     l2++)
		if (l2 != (unsigned)measuring->options->l2 && measuring->activity == activity)
			result = try_state(measuring, (enum gt_l2_state)l2, &times->by_state[l2],
			                   err);
	return result;
}

/* ---- the measurement ---- */

static int measure(struct gt_measuring *measuring, struct gt_replay_times *times,
                   struct gt_error *err)
{
	int result = gt_work_open(&measuring->same, measuring->steps, measuring->restored,
	                          measuring->options, err);

	measuring->begun_ns = gt_gpu_now_ns();
	if (result == 0 && measuring->l2 == GT_L2_cold)
		result = gt_measuring_make_scratch(measuring, err);
	if (result == 0)
		result = warm_up(measuring, err);
	if (result == 0 && measuring->l2 == GT_L2_warm)
		result = gt_measuring_choose_warm(measuring, true, err);
	if (result == 0)
		result = run_all(measuring, &times->stable, err);
	if (result == 0)
		result = gt_work_check(&measuring->same, err);
	if (result < 0)
		return result;
	fill_in(measuring, times);
	return try_states(measuring, times, err);
}

int gt_replay_measure(struct gt_steps *steps, struct gt_restored *restored,
                      struct gt_activity *activity, const struct gt_replay_options *options,
                      struct gt_replay_times *times, struct gt_error *err)
{
	struct gt_measuring measuring = {
		.steps = steps,
		.restored = restored,
		.activity = activity,
		.options = options,
		.l2 = options->l2,
	};
	const int result = measure(&measuring, times, err);

	gt_array_release(&measuring.samples);
	gt_work_close(&measuring.same);
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/activity.h"
#include "replay/estimate.h"
#include "replay/restored.h"
#include "replay/steps.h"

#define WARM_NS     INT64_C(100000000) /* clocks rise when a GPU begins to work */
#define PATIENCE_NS INT64_C(500000000) /* CUPTI tells of work that has ended by then, or never */

enum {
	BATCH = 8, /* runs between two looks at the estimate */
	/*
	 * Runs right before one with a warm cache, which finds what they left. A softmax over 32
	 * MiB took 3 % longer behind two than behind five or more (H200, 2026-11-23): lines of the
	 * level-2 cache find their place only by and by. Long ones need no more than two.
	 */
	LEAST_LEAD_INS = 2,
	MOST_LEAD_INS = 8,
};

#define LEAD_IN_NS 1e6 /* that they may take together, where there are more than the least */

struct sample {
	uint64_t from_ns; /* of CUPTI's clock: its work lies between the two */
	uint64_t until_ns;
	double ns;        /* by CUPTI; NAN: it did not tell */
	double events_ns; /* by a pair of events */
	double sm_mhz;
	bool throttled;
};

/* What CUPTI told of, and room for as much. */
struct activities {
	const struct gt_activity_time *times;
	size_t count;
	struct gt_activity_time *found;
};

struct measuring {
	struct gt_steps *steps;
	struct gt_restored *restored;
	struct gt_activity *activity; /* NULL: events */
	const struct gt_replay_options *options;
	CUdeviceptr scratch; /* that is written before runs with a cold cache; 0: none */
	size_t scratch_bytes;
	size_t lead_ins;
	int64_t begun_ns;
	bool knows_end; /* a run has ended */
	gt_array(struct sample) samples;
	char no_cupti[256];
};

/* ---- one run ---- */

static int make_scratch(struct measuring *measuring, struct gt_error *err)
{
	struct gt_gpu *gpu = measuring->steps->gpu;
	const int bytes = gt_gpu_attribute(gpu, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);

	if (measuring->options->l2 != GT_L2_cold || bytes <= 0)
		return 0;
	measuring->scratch_bytes = 2 * (size_t)bytes;
	return gt_gpu_alloc(gpu, measuring->scratch_bytes, &measuring->scratch, err);
}

/* Memory and cache as a run is to find them. */
static int prepare(const struct measuring *measuring, struct gt_error *err)
{
	const struct gt_gpu *gpu = measuring->steps->gpu;
	int result = gt_restored_reset(measuring->restored, err);

	if (result == 0 && measuring->scratch)
		result = gt_cuda_check(gpu->cuda,
		                       gpu->cuda->set_words(measuring->scratch, 0x5ced5ced,
		                                            measuring->scratch_bytes / 4,
		                                            gpu->stream),
		                       err, "the cache cannot be overwritten");
	return result < 0 ? result : gt_gpu_wait(gpu, err);
}

/*
 * In a program that launches a kernel again and again each launch finds what the one before left in
 * the caches of data, constants and instructions. Restoring memory would come in between: so there
 * are untimed runs between that and the timed one, which finds what these made of the memory.
 */
static int lead_in(const struct measuring *measuring, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < measuring->lead_ins; i++)
		result = gt_steps_run(measuring->steps, err);
	return result;
}

static size_t lead_ins_for(double run_ns)
{
	const double count = LEAD_IN_NS / fmax(run_ns, 1);

	return (size_t)fmin(fmax(count, LEAST_LEAD_INS), MOST_LEAD_INS);
}

/* What was never seen to end may not. */
static int wait_for_first(struct measuring *measuring, struct gt_error *err)
{
	const int64_t most_ns = measuring->options->most_run_ns;
	int result = 0;

	if (!measuring->knows_end && most_ns > 0)
		result = gt_gpu_wait_for(measuring->steps->gpu, most_ns, err);
	measuring->knows_end = true;
	measuring->steps->bounded = false;
	return result;
}

static int run(struct measuring *measuring, struct sample *sample, struct gt_error *err)
{
	const struct gt_gpu *gpu = measuring->steps->gpu;
	int result = prepare(measuring, err);

	*sample = (struct sample){.ns = NAN, .events_ns = NAN, .sm_mhz = NAN};
	if (result < 0)
		return result;
	if (measuring->activity)
		sample->from_ns = gt_activity_now_ns(measuring->activity);
	measuring->steps->bounded = !measuring->knows_end && measuring->options->most_run_ns > 0;
	result = lead_in(measuring, err);
	if (result == 0)
		result = gt_gpu_start_timer(gpu, err);
	if (result == 0)
		result = gt_steps_run(measuring->steps, err);
	if (result == 0)
		result = wait_for_first(measuring, err);
	if (result == 0)
		result = gt_gpu_stop_timer(gpu, &sample->events_ns, err);
	if (measuring->activity)
		sample->until_ns = gt_activity_now_ns(measuring->activity);
	return result;
}

static void ask_clocks(const struct measuring *measuring, struct sample *sample)
{
	const struct gt_replay_options *options = measuring->options;

	if (options->throttled)
		sample->throttled = options->throttled(options->context);
	if (options->sm_mhz)
		sample->sm_mhz = options->sm_mhz(options->context);
}

/* ---- times by CUPTI ---- */

static int by_start(const void *a, const void *b)
{
	const struct gt_activity_time *left = a;
	const struct gt_activity_time *right = b;

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* What the GPU did between the two, into found, by when it began. Returns how much that is. */
static size_t work_of(const struct sample *sample, const struct gt_activity_time *times,
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
 * From the first begin to the last end of a run's work, of which there is that much behind as much
 * for each lead-in. NAN: not all of it is known yet.
 */
static double span_of(const struct activities *activities, const struct sample *sample, size_t work,
                      size_t lead_ins)
{
	const size_t held =
		work_of(sample, activities->times, activities->count, activities->found);
	const struct gt_activity_time *own = activities->found + work * lead_ins;
	uint64_t last_ns = 0;

	if (work == 0 || held < work * (lead_ins + 1))
		return NAN;
	for (const struct gt_activity_time *time = own; time < activities->found + held; time++)
		last_ns = time->end_ns > last_ns ? time->end_ns : last_ns;
	return (double)(last_ns - own->start_ns);
}

/* Whether all of the samples from that one on have a time now. */
static bool collect(const struct measuring *measuring, size_t first)
{
	struct activities activities;
	bool all = true;

	gt_activity_collect(measuring->activity, measuring->samples.rows[first].from_ns,
	                    &activities.times, &activities.count);
	activities.found = gt_allocate((activities.count + 1) * sizeof(*activities.found));
	for (size_t i = first; i < measuring->samples.count; i++) {
		struct sample *sample = &measuring->samples.rows[i];

		sample->ns =
			span_of(&activities, sample, measuring->steps->work, measuring->lead_ins);
		all = all && isfinite(sample->ns);
	}
	gt_array_free(activities.found);
	return all;
}

/* CUPTI tells late of what has ended. */
static void take_times(struct measuring *measuring, size_t first)
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

/* ---- all runs ---- */

/* The double of a sample that lies there. */
static double value_at(const struct sample *sample, size_t offset)
{
	double value;

	memcpy(&value, (const char *)sample + offset, sizeof(value));
	return value;
}

/* Of the samples that count one value each, in their order. */
static size_t values_of(const struct measuring *measuring, size_t offset, double *values)
{
	size_t count = 0;

	gt_array_each(const struct sample, sample, &measuring->samples) {
		const double value = value_at(sample, offset);

		if (!sample->throttled && isfinite(value))
			values[count++] = value;
	}
	return count;
}

static size_t clock_of(const struct measuring *measuring)
{
	return measuring->activity ? offsetof(struct sample, ns)
	                           : offsetof(struct sample, events_ns);
}

static struct gt_estimate estimate(const struct measuring *measuring, size_t offset, size_t *count)
{
	double *values = gt_allocate((measuring->samples.count + 1) * sizeof(*values));
	struct gt_estimate estimate;

	*count = values_of(measuring, offset, values);
	estimate = gt_estimate_of(values, *count);
	gt_array_free(values);
	return estimate;
}

static bool out_of_time(const struct measuring *measuring)
{
	return gt_gpu_now_ns() - measuring->begun_ns >= measuring->options->most_ns;
}

static void tell(const struct measuring *measuring, const char *what)
{
	const struct gt_replay_options *options = measuring->options;
	const double spent = (double)(gt_gpu_now_ns() - measuring->begun_ns);

	if (options->progress && options->most_ns > 0)
		options->progress(options->context, fmin(spent / (double)options->most_ns, 1),
		                  what);
}

static int warm_up(struct measuring *measuring, struct gt_error *err)
{
	const int64_t most_ns = measuring->options->most_ns / 4;
	const int64_t least_ns = most_ns < WARM_NS ? most_ns : WARM_NS;
	double run_ns = INFINITY;
	uint32_t count = 0;
	int result = 0;

	while (result == 0 && (count < measuring->options->warm_ups ||
	                       gt_gpu_now_ns() - measuring->begun_ns < least_ns)) {
		struct sample sample;

		result = run(measuring, &sample, err);
		run_ns = fmin(run_ns, sample.events_ns);
		count++;
		tell(measuring, "warming up");
	}
	if (measuring->options->l2 == GT_L2_warm)
		measuring->lead_ins = lead_ins_for(run_ns);
	if (result == 0)
		ask_clocks(measuring, &(struct sample){0}); /* what was before does not count */
	return result;
}

static int run_batch(struct measuring *measuring, struct gt_error *err)
{
	const size_t first = measuring->samples.count;
	int result = 0;

	for (int i = 0; result == 0 && i < BATCH; i++) {
		struct sample sample;

		if (measuring->samples.count >= measuring->options->most_runs)
			break;
		result = run(measuring, &sample, err);
		if (result < 0)
			break;
		ask_clocks(measuring, &sample);
		*gt_array_push(&measuring->samples) = sample;
		tell(measuring, "timing");
	}
	if (result == 0 && measuring->samples.count > first)
		take_times(measuring, first);
	return result;
}

static int run_all(struct measuring *measuring, bool *stable, struct gt_error *err)
{
	const struct gt_replay_options *options = measuring->options;
	int result = 0;

	*stable = false;
	do {
		size_t count;
		struct gt_estimate now;

		result = run_batch(measuring, err);
		now = estimate(measuring, clock_of(measuring), &count);
		*stable =
			result == 0 && count >= options->least_runs && now.error <= options->within;
	} while (result == 0 && !*stable && measuring->samples.count < options->most_runs &&
	         (measuring->samples.count < options->least_runs || !out_of_time(measuring)));
	return result;
}

static void fill_in(const struct measuring *measuring, struct gt_replay_times *times)
{
	const size_t offset = clock_of(measuring);
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
		estimate(measuring, offsetof(struct sample, events_ns), &count).median;
	times->sm_mhz = estimate(measuring, offsetof(struct sample, sm_mhz), &count).median;
	gt_array_each(const struct sample, sample, &measuring->samples) {
		times->thrown_out += sample->throttled;
		if (!sample->throttled)
			*gt_array_push(&times->ns) = value_at(sample, offset);
	}
	if (measuring->no_cupti[0])
		snprintf(times->no_cupti, sizeof(times->no_cupti), "%s", measuring->no_cupti);
}

int gt_replay_measure(struct gt_steps *steps, struct gt_restored *restored,
                      struct gt_activity *activity, const struct gt_replay_options *options,
                      struct gt_replay_times *times, struct gt_error *err)
{
	struct measuring measuring = {
		.steps = steps,
		.restored = restored,
		.activity = activity,
		.options = options,
		.begun_ns = gt_gpu_now_ns(),
	};
	int result = make_scratch(&measuring, err);

	if (result == 0)
		result = warm_up(&measuring, err);
	if (result == 0)
		result = run_all(&measuring, &times->stable, err);
	if (result == 0)
		fill_in(&measuring, times);
	gt_array_release(&measuring.samples);
	return result;
}

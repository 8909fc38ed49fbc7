/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/measure/activity.h"
#include "replay/measure/estimate.h"
#include "replay/measure/work.h"
#include "replay/memory/restored.h"
#include "replay/steps/steps.h"
#include "replay/types/role.h"
#include "replay/types/times.h"

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

enum {
	/*
	 * Memory restored between runs that follow each other comes through the level-2 cache, and
	 * so does its source: of a share of it as small as that 97 of 100 lines stay.
	 */
	SMALL_SHARE = 64,
	SMALL_BYTES = 64 << 10, /* where its size is not known */
	PAIRS = 7,              /* of runs that say whether two kinds take as long */
	STATE_RUNS = 15,        /* that a state of the cache is tried with, and at least */
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

#define PAIRS_NS   5e8                /* that pairs may take */
#define STATE_NS   INT64_C(150000000) /* and one state of the cache */
#define SAME_SHARE 0.01               /* by which times of the same work may differ at least */
#define SAME_NS    100.0              /* steps of the GPU's clock are 32 ns and more */

struct sample {
	uint64_t from_ns; /* of CUPTI's clock: its work lies between the two */
	uint64_t until_ns;
	double ns;        /* by CUPTI; NAN: it did not tell */
	double events_ns; /* by a pair of events */
	double sm_mhz;
	bool throttled;
	bool other_mode; /* by its time it did other work, or was held up */
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
	struct gt_work same;
	enum gt_l2_state l2;
	CUdeviceptr scratch; /* that is written before runs with a cold cache; 0: none */
	size_t scratch_bytes;
	size_t lead_ins;
	size_t work; /* activities of one run */
	int64_t begun_ns;
	double run_ns; /* of the shortest run so far, by events */
	gt_array(struct sample) samples;
	char no_cupti[256];
};

/* ---- one run ---- */

static int64_t cache_bytes(const struct measuring *measuring)
{
	return gt_gpu_attribute(measuring->steps->gpu, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
}

static int make_scratch(struct measuring *measuring, struct gt_error *err)
{
	const int64_t bytes = cache_bytes(measuring);

	if (measuring->scratch || bytes <= 0)
		return 0;
	measuring->scratch_bytes = 2 * (size_t)bytes;
	return gt_gpu_alloc(measuring->steps->gpu, measuring->scratch_bytes, &measuring->scratch,
	                    err);
}

/* Overwrites what the cache holds. */
static int flush(const struct measuring *measuring, struct gt_error *err)
{
	const struct gt_gpu *gpu = measuring->steps->gpu;

	if (!measuring->scratch)
		return 0;
	return gt_cuda_check(gpu->cuda,
	                     gpu->cuda->set_words(measuring->scratch, 0x5ced5ced,
	                                          measuring->scratch_bytes / 4, gpu->stream),
	                     err, "the cache cannot be overwritten");
}

/* Memory and cache as a run is to find them. */
static int prepare(const struct measuring *measuring, struct gt_error *err)
{
	int result = gt_restored_reset(measuring->restored, err);

	if (result == 0 && measuring->l2 == GT_L2_cold)
		result = flush(measuring, err);
	return result < 0 ? result : gt_gpu_wait(measuring->steps->gpu, err);
}

/*
 * In a program that launches a kernel again and again each launch finds what the one before left in
 * the caches of data, constants and instructions. Restoring memory would come in between: so there
 * are untimed runs between that and the timed one. Memory that these, and the timed one as
 * well, have to find as recorded is restored behind each of them, but for what is shown to make
 * no difference.
 */
static int lead_in(const struct measuring *measuring, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < measuring->lead_ins; i++) {
		result = gt_steps_run(measuring->steps, err);
		if (result == 0)
			result = gt_work_restore(&measuring->same, err);
	}
	return result;
}

static size_t lead_ins_for(double run_ns)
{
	const double count = LEAD_IN_NS / fmax(run_ns, 1);

	return (size_t)fmin(fmax(count, LEAST_LEAD_INS), MOST_LEAD_INS);
}

/* Once memory and cache are as it is to find them. */
static int time_run(const struct measuring *measuring, struct sample *sample, struct gt_error *err)
{
	const struct gt_gpu *gpu = measuring->steps->gpu;
	int result;

	if (measuring->activity)
		sample->from_ns = gt_activity_now_ns(measuring->activity);
	result = lead_in(measuring, err);
	if (result == 0)
		result = gt_gpu_start_timer(gpu, err);
	if (result == 0)
		result = gt_steps_run(measuring->steps, err);
	if (result == 0)
		result = gt_gpu_stop_timer(gpu, &sample->events_ns, err);
	if (measuring->activity)
		sample->until_ns = gt_activity_now_ns(measuring->activity);
	return result;
}

static const struct sample no_sample = {.ns = NAN, .events_ns = NAN, .sm_mhz = NAN};

static int run(const struct measuring *measuring, struct sample *sample, struct gt_error *err)
{
	const int result = prepare(measuring, err);

	*sample = no_sample;
	return result < 0 ? result : time_run(measuring, sample, err);
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

/* GPU work between the two, into found, by when it began. Returns how much that is. */
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
 * From the first begin to the last end of a run's work, which is the last of what there is: before
 * it are lead-ins, and copies behind each of them. NAN: not all of it is known yet.
 */
static double span_of(const struct measuring *measuring, const struct activities *activities,
                      const struct sample *sample)
{
	const size_t held =
		work_of(sample, activities->times, activities->count, activities->found);
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
static bool collect(const struct measuring *measuring, size_t first)
{
	struct activities activities;
	bool all = true;

	gt_activity_collect(measuring->activity, measuring->samples.rows[first].from_ns,
	                    &activities.times, &activities.count);
	activities.found = gt_allocate((activities.count + 1) * sizeof(*activities.found));
	for (size_t i = first; i < measuring->samples.count; i++) {
		struct sample *sample = &measuring->samples.rows[i];

		sample->ns = span_of(measuring, &activities, sample);
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

/* Values of the samples that count, one each, in their order. */
static size_t values_of(const struct measuring *measuring, size_t offset, double *values)
{
	size_t count = 0;

	gt_array_each(const struct sample, sample, &measuring->samples) {
		const double value = value_at(sample, offset);

		if (!sample->throttled && !sample->other_mode && isfinite(value))
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

/* A run without lead-ins has nothing but its own work: it may be more than there are steps. */
static int learn_work(struct measuring *measuring, struct gt_error *err)
{
	const struct gt_activity_time *times;
	struct gt_activity_time *found;
	struct sample sample;
	size_t count;
	int result;

	measuring->work = measuring->steps->work;
	result = run(measuring, &sample, err);
	if (result < 0 || !measuring->activity)
		return result;
	*gt_array_push(&measuring->samples) = sample;
	take_times(measuring, 0);
	measuring->samples.count = 0;
	if (!measuring->activity)
		return 0;
	gt_activity_collect(measuring->activity, sample.from_ns, &times, &count);
	found = gt_allocate((count + 1) * sizeof(*found));
	count = work_of(&sample, times, count, found);
	measuring->work = count > measuring->work ? count : measuring->work;
	gt_array_free(found);
	return 0;
}

static int warm_up(struct measuring *measuring, struct gt_error *err)
{
	const int64_t most_ns = measuring->options->most_ns / 4;
	const int64_t least_ns = most_ns < WARM_NS ? most_ns : WARM_NS;
	uint32_t count = 0;
	int result = 0;

	measuring->run_ns = INFINITY;
	while (result == 0 && (count < measuring->options->warm_ups ||
	                       gt_gpu_now_ns() - measuring->begun_ns < least_ns)) {
		struct sample sample;

		result = run(measuring, &sample, err);
		measuring->run_ns = fmin(measuring->run_ns, sample.events_ns);
		count++;
		tell(measuring, "warming up");
	}
	if (result == 0)
		result = learn_work(measuring, err);
	if (result == 0)
		ask_clocks(measuring, &(struct sample){0}); /* what was before does not count */
	return result;
}

/* ---- the same work ---- */

/* Whether a run over what one left takes as long as one over recorded memory, both from a cold
 * cache. */
static int time_pair(struct measuring *measuring, struct gt_error *err)
{
	const struct gt_gpu *gpu = measuring->steps->gpu;
	struct sample restored = no_sample;
	struct sample left = no_sample;
	int result = gt_restored_reset(measuring->restored, err);

	if (result == 0)
		result = flush(measuring, err);
	if (result == 0)
		result = gt_gpu_wait(gpu, err);
	if (result == 0)
		result = time_run(measuring, &restored, err);
	if (result == 0)
		result = gt_work_restore(&measuring->same, err);
	if (result == 0)
		result = flush(measuring, err);
	if (result == 0)
		result = gt_gpu_wait(gpu, err);
	if (result == 0)
		result = time_run(measuring, &left, err);
	*gt_array_push(&measuring->samples) = restored;
	*gt_array_push(&measuring->samples) = left;
	return result;
}

/* By the estimates of every second sample. */
static bool take_as_long(const struct measuring *measuring)
{
	struct gt_estimate found[2];
	double values[PAIRS];
	double most;

	for (size_t which = 0; which < 2; which++) {
		size_t count = 0;

		for (size_t i = which; i < measuring->samples.count; i += 2) {
			const double value =
				value_at(&measuring->samples.rows[i], clock_of(measuring));

			if (isfinite(value))
				values[count++] = value;
		}
		found[which] = gt_estimate_of(values, count);
	}
	most = fmax(fmax(found[0].p95 - found[0].p05, found[1].p95 - found[1].p05),
	            fmax(SAME_SHARE * found[0].median, SAME_NS));
	return fabs(found[0].median - found[1].median) <= most;
}

/* Memory left alone is restored as well where the time says that the work is other without. */
static int confirm_by_time(struct measuring *measuring, struct gt_error *err)
{
	const double pairs = PAIRS_NS / (2 * fmax(measuring->run_ns, 1));
	const size_t count = (size_t)fmin(fmax(pairs, 3), PAIRS);
	int result = 0;

	if (gt_work_bytes(&measuring->same, true) == 0)
		return 0;
	tell(measuring, "comparing runs with and without restored memory");
	if (make_scratch(measuring, NULL) < 0) {
		gt_work_leave_nothing(&measuring->same);
		return 0;
	}
	for (size_t i = 0; result == 0 && i < count; i++)
		result = time_pair(measuring, err);
	if (result == 0)
		take_times(measuring, 0);
	if (result == 0 && !take_as_long(measuring))
		gt_work_leave_nothing(&measuring->same);
	measuring->samples.count = 0;
	return result;
}

/* For runs that follow each other: what has to be restored between them, and how many. */
static int choose_warm(struct measuring *measuring, bool over_poison, struct gt_error *err)
{
	const struct gt_roles *roles = measuring->options->roles;
	const int64_t bytes = cache_bytes(measuring);
	const uint64_t small = bytes > 0 ? (uint64_t)bytes / SMALL_SHARE : SMALL_BYTES;
	const int64_t begun_ns = gt_gpu_now_ns();
	int result;

	tell(measuring, "looking for what has to be restored");
	if (roles && roles->unproven)
		result = gt_work_choose(&measuring->same, UINT64_MAX, false, err);
	else
		result = gt_work_choose(&measuring->same, small, over_poison, err);
	if (result == 0)
		result = confirm_by_time(measuring, err);
	measuring->lead_ins = lead_ins_for(measuring->run_ns);
	measuring->begun_ns += gt_gpu_now_ns() - begun_ns; /* that is no time for measuring */
	return result;
}

/* Those that are far from the median of all. */
static void mark_modes(struct measuring *measuring)
{
	const size_t offset = clock_of(measuring);
	size_t count;
	double median;

	gt_array_each(struct sample, sample, &measuring->samples)
		sample->other_mode = false;
	median = estimate(measuring, offset, &count).median;
	gt_array_each(struct sample, sample, &measuring->samples) {
		const double value = value_at(sample, offset);

		sample->other_mode = value * MODE_FACTOR < median || value > median * MODE_FACTOR;
	}
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
		mark_modes(measuring);
		now = estimate(measuring, clock_of(measuring), &count);
		*stable =
			result == 0 && count >= options->least_runs && now.error <= options->within;
	} while (result == 0 && !*stable && measuring->samples.count < options->most_runs &&
	         (measuring->samples.count < options->least_runs || !out_of_time(measuring)));
	return result;
}

/* Counts those that do not count. Many short ones are no accident. */
static void count_modes(const struct measuring *measuring, struct gt_replay_times *times)
{
	const size_t offset = clock_of(measuring);
	size_t too_short = 0;

	gt_array_each(const struct sample, sample, &measuring->samples) {
		times->thrown_out += sample->throttled;
		times->other_mode += !sample->throttled && sample->other_mode;
		too_short += !sample->throttled && sample->other_mode &&
		             value_at(sample, offset) < times->median;
	}
	if (too_short * SHORT_SHARE > measuring->samples.count && !*times->doubt)
		snprintf(times->doubt, sizeof(times->doubt),
		         "%zu of %zu runs took less than half of the median", too_short,
		         measuring->samples.count);
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
	gt_array_each(const struct sample, sample, &measuring->samples)
		if (!sample->throttled && !sample->other_mode)
			*gt_array_push(&times->ns) = value_at(sample, offset);
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

static int prepare_state(struct measuring *measuring, enum gt_l2_state l2, struct gt_error *err)
{
	measuring->l2 = l2;
	measuring->lead_ins = 0;
	if (l2 == GT_L2_cold)
		return make_scratch(measuring, err);
	if (l2 == GT_L2_warm)
		return choose_warm(measuring, false, err);
	return gt_restored_keep_all(measuring->restored, err);
}

/* Some runs alone: NAN where that state cannot be had. */
static int try_state(struct measuring *measuring, enum gt_l2_state l2, double *median,
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
		struct sample sample;

		if (i >= LEAST_STATE_RUNS && gt_gpu_now_ns() - begun_ns > STATE_NS)
			break;
		result = run(measuring, &sample, err);
		if (result == 0)
			*gt_array_push(&measuring->samples) = sample;
		tell(measuring, "trying other states of the cache");
	}
	if (result == 0) {
		take_times(measuring, 0);
		*median = estimate(measuring, clock_of(measuring), &count).median;
	}
	return result;
}

/* For the comparison with the program, of which nobody knows what its caches held. */
static int try_states(struct measuring *measuring, struct gt_replay_times *times,
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

/* ---- */

static int measure(struct measuring *measuring, struct gt_replay_times *times, struct gt_error *err)
{
	int result = gt_work_open(&measuring->same, measuring->steps, measuring->restored,
	                          measuring->options, err);

	measuring->begun_ns = gt_gpu_now_ns();
	if (result == 0 && measuring->l2 == GT_L2_cold)
		result = make_scratch(measuring, err);
	if (result == 0)
		result = warm_up(measuring, err);
	if (result == 0 && measuring->l2 == GT_L2_warm)
		result = choose_warm(measuring, true, err);
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
	struct measuring measuring = {
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

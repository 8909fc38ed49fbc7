/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/measuring.h"

#include <math.h>

enum {
	/*
	 * Runs right before one with a warm cache, which finds what they left. A softmax over 32
	 * MiB took 3 % longer behind two than behind five or more (H200, 2026-11-23): lines of the
	 * level-2 cache find their place only by and by. Long ones need no more than two.
	 */
	LEAST_LEAD_INS = 2,
	MOST_LEAD_INS = 8,
};

#define LEAD_IN_NS 1e6 /* that they may take together, where there are more than the least */

int64_t gt_measuring_cache_bytes(const struct gt_measuring *measuring)
{
	return gt_gpu_attribute(measuring->steps->gpu, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
}

int gt_measuring_make_scratch(struct gt_measuring *measuring, struct gt_error *err)
{
	const int64_t bytes = gt_measuring_cache_bytes(measuring);

	if (measuring->scratch || bytes <= 0)
		return 0;
	measuring->scratch_bytes = 2 * (size_t)bytes;
	return gt_gpu_alloc(measuring->steps->gpu, measuring->scratch_bytes, &measuring->scratch,
	                    err);
}

int gt_measuring_flush(const struct gt_measuring *measuring, struct gt_error *err)
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
static int prepare(const struct gt_measuring *measuring, struct gt_error *err)
{
	int result = gt_restored_reset(measuring->restored, err);

	if (result == 0 && measuring->l2 == GT_L2_cold)
		result = gt_measuring_flush(measuring, err);
	return result < 0 ? result : gt_gpu_wait(measuring->steps->gpu, err);
}

/*
 * In a program that launches a kernel again and again each launch finds what the one before left in
 * the caches of data, constants and instructions. Restoring memory would come in between: so there
 * are untimed runs between that and the timed one. Memory that these, and the timed one as
 * well, have to find as recorded is restored behind each of them, but for what is shown to make
 * no difference.
 */
static int lead_in(const struct gt_measuring *measuring, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < measuring->lead_ins; i++) {
		result = gt_steps_run(measuring->steps, err);
		if (result == 0)
			result = gt_work_restore(&measuring->same, err);
	}
	return result;
}

size_t gt_lead_ins_for(double run_ns)
{
	const double count = LEAD_IN_NS / fmax(run_ns, 1);

	return (size_t)fmin(fmax(count, LEAST_LEAD_INS), MOST_LEAD_INS);
}

int gt_measuring_time_run(const struct gt_measuring *measuring, struct gt_run_sample *sample,
                          struct gt_error *err)
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

const struct gt_run_sample gt_no_sample = {.ns = NAN, .events_ns = NAN, .sm_mhz = NAN};

int gt_measuring_run(const struct gt_measuring *measuring, struct gt_run_sample *sample,
                     struct gt_error *err)
{
	const int result = prepare(measuring, err);

	*sample = gt_no_sample;
	return result < 0 ? result : gt_measuring_time_run(measuring, sample, err);
}

void gt_measuring_ask_clocks(const struct gt_measuring *measuring, struct gt_run_sample *sample)
{
	const struct gt_replay_options *options = measuring->options;

	if (options->throttled)
		sample->throttled = options->throttled(options->context);
	if (options->sm_mhz)
		sample->sm_mhz = options->sm_mhz(options->context);
}

void gt_measuring_tell(const struct gt_measuring *measuring, const char *what)
{
	const struct gt_replay_options *options = measuring->options;
	const double spent = (double)(gt_gpu_now_ns() - measuring->begun_ns);

	if (options->progress && options->most_ns > 0)
		options->progress(options->context, fmin(spent / (double)options->most_ns, 1),
		                  what);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/calibrate/measure.h"

#include <stdio.h>

#include "base/error.h"
#include "base/host.h"
#include "cli/gpus/choice.h"
#include "cli/gpus/lock.h"
#include "cli/output/progress.h"
#include "cli/recording/manifest.h"
#include "replay/calibrate/ceilings.h"
#include "replay/gpu/cuda.h"
#include "replay/gpu/gpu.h"

/* Every word means some GPU. */
static int check(const struct gt_cuda *cuda, const struct gt_option_list *words,
                 struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < words->count; i++) {
		int ordinal;

		result = gt_gpu_choose(cuda, words->texts[i], &ordinal, err);
	}
	return result;
}

static bool is_chosen(const struct gt_cuda *cuda, const struct gt_option_list *words, int ordinal)
{
	for (size_t i = 0; i < words->count; i++)
		if (gt_gpu_is_meant(cuda, words->texts[i], ordinal))
			return true;
	return words->count == 0;
}

static int measure_locked(const struct gt_cuda *cuda, int ordinal, const bool *wanted,
                          struct gt_calibrations *calibrations, struct gt_error *err)
{
	struct gt_calibration calibration = {.gputrace = GPUTRACE_VERSION};
	struct gt_progress progress = {0};
	const struct gt_instant now = gt_instant_now();
	int result;

	snprintf(calibration.date, sizeof(calibration.date), "%s", now.utc);
	gt_host_name(calibration.host, sizeof(calibration.host));
	gt_progress_begin(&progress, false, "measuring GPU %d", ordinal);
	result = gt_ceilings_measure(cuda, ordinal, wanted, &calibration, err);
	gt_progress_end(&progress);
	if (result < 0)
		gt_calibration_release(&calibration);
	else
		*gt_array_push(&calibrations->list) = calibration;
	return result;
}

static int measure_one(const struct gt_cuda *cuda, int ordinal, const bool *wanted,
                       struct gt_calibrations *calibrations, struct gt_error *err)
{
	char uuid[GT_GPU_UUID_BYTES];
	int lock;
	int result;

	gt_gpu_name(cuda, ordinal, uuid);
	lock = gt_gpu_lock(uuid, err);
	if (lock < 0)
		return lock;
	result = measure_locked(cuda, ordinal, wanted, calibrations, err);
	gt_gpu_unlock(lock);
	return result;
}

int gt_measure(const struct gt_measure_plan *plan, struct gt_calibrations *calibrations,
               struct gt_error *err)
{
	struct gt_cuda cuda;
	int result;

	result = gt_gpu_open_driver(&cuda, err);
	if (result == 0)
		result = check(&cuda, plan->devices, err);
	for (int i = 0; result == 0 && i < gt_cuda_count(&cuda); i++)
		if (is_chosen(&cuda, plan->devices, i))
			result = measure_one(&cuda, i, plan->wanted, calibrations, err);
	return result;
}

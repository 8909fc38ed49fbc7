/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/calibrate/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "base/parse.h"
#include "cli/manifest.h"
#include "cli/progress.h"
#include "replay/ceilings.h"
#include "replay/cuda.h"
#include "replay/gpu.h"

static bool is_number(const char *word, int ordinal)
{
	uint64_t number;

	return gt_parse_count(word, &number) == 0 && number == (uint64_t)ordinal;
}

static bool is_uuid(const struct gt_cuda *cuda, const char *word, int ordinal)
{
	struct gt_gpu gpu = {.cuda = cuda};
	char uuid[GT_GPU_UUID_BYTES];

	if (cuda->device_get(&gpu.device, ordinal) != CUDA_SUCCESS)
		return false;
	gt_gpu_uuid(&gpu, uuid);
	return *uuid && strcmp(word, uuid) == 0;
}

static bool means(const struct gt_cuda *cuda, const char *word, int ordinal)
{
	return is_number(word, ordinal) || is_uuid(cuda, word, ordinal);
}

static bool is_chosen(const struct gt_cuda *cuda, const struct gt_option_list *words, int ordinal)
{
	for (size_t i = 0; i < words->count; i++)
		if (means(cuda, words->texts[i], ordinal))
			return true;
	return words->count == 0;
}

/* Every word means some GPU. */
static int check(const struct gt_cuda *cuda, const struct gt_option_list *words,
                 struct gt_error *err)
{
	const int count = gt_cuda_count(cuda);

	for (size_t i = 0; i < words->count; i++) {
		bool known = false;

		for (int ordinal = 0; ordinal < count; ordinal++)
			known = known || means(cuda, words->texts[i], ordinal);
		if (!known)
			return gt_fail(err, EINVAL,
			               "there is no GPU %s here: --device takes a number below %d "
			               "or a UUID",
			               words->texts[i], count);
	}
	return 0;
}

static int measure_one(const struct gt_cuda *cuda, int ordinal, const bool *wanted,
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

int gt_measure(const struct gt_measure_plan *plan, struct gt_calibrations *calibrations,
               struct gt_error *err)
{
	struct gt_cuda cuda;
	int result;

	/* A profiler that CUDA would load here would be measured too. */
	(void)unsetenv("CUDA_INJECTION64_PATH"); // NOLINT(concurrency-mt-unsafe)
	result = gt_cuda_open(&cuda, err);
	if (result == 0)
		result = check(&cuda, plan->devices, err);
	for (int i = 0; result == 0 && i < gt_cuda_count(&cuda); i++)
		if (is_chosen(&cuda, plan->devices, i))
			result = measure_one(&cuda, i, plan->wanted, calibrations, err);
	return result;
}

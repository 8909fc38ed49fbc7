/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/gpus/choice.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"

int gt_gpu_open_driver(struct gt_cuda *cuda, struct gt_error *err)
{
	(void)unsetenv("CUDA_INJECTION64_PATH"); // NOLINT(concurrency-mt-unsafe)
	return gt_cuda_open(cuda, err);
}

void gt_gpu_name(const struct gt_cuda *cuda, int ordinal, char uuid[GT_GPU_UUID_BYTES])
{
	struct gt_gpu gpu = {.cuda = cuda};

	uuid[0] = '\0';
	if (cuda->device_get(&gpu.device, ordinal) == CUDA_SUCCESS)
		gt_gpu_uuid(&gpu, uuid);
}

static bool is_number(const char *word, int ordinal)
{
	uint64_t number;

	return gt_parse_count(word, &number) == 0 && number == (uint64_t)ordinal;
}

bool gt_gpu_is_meant(const struct gt_cuda *cuda, const char *word, int ordinal)
{
	char uuid[GT_GPU_UUID_BYTES];

	if (is_number(word, ordinal))
		return true;
	gt_gpu_name(cuda, ordinal, uuid);
	return *uuid && strcmp(word, uuid) == 0;
}

int gt_gpu_choose(const struct gt_cuda *cuda, const char *word, int *ordinal, struct gt_error *err)
{
	const int count = gt_cuda_count(cuda);

	for (int i = 0; i < count; i++) {
		if (!gt_gpu_is_meant(cuda, word, i))
			continue;
		*ordinal = i;
		return 0;
	}
	return gt_fail(err, EINVAL,
	               "there is no GPU %s here: --device takes a number below %d or a UUID", word,
	               count);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/output/variable.h"
#include "cupti/library.h"

static int open_library(struct gt_metric_source *source, const char *cupti, struct gt_error *err)
{
	const char *wanted = cupti ? cupti : gt_variable("GPUTRACE_CUPTI");
	void *library = gt_cupti_library_open(source->gpus.driver_version, wanted ? wanted : "",
	                                      source->library, err);

	if (!library)
		return -ENOENT;
	if (!gt_profiler_open(&source->profiler, library))
		return gt_fail(
			err, ENOTSUP,
			"%s cannot list counters: that needs the CUPTI of CUDA 12.6 or later",
			source->library);
	return 0;
}

/* The names that CUPTI knows, with blanks between them. */
static void join_chips(const struct gt_profiler *profiler, char *text, size_t size)
{
	struct gt_profiler_host_chips params = GT_PROFILER_PARAMS(host_chips, .count = 0);
	size_t used = 0;

	*text = 0;
	if (profiler->cuptiProfilerHostGetSupportedChips(&params) != 0)
		return;
	for (size_t i = 0; i < params.count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
		                         params.names[i]);
}

/* CUPTI's spelling of what was typed. */
static int take_chip(struct gt_metric_source *source, const char *typed, struct gt_error *err)
{
	struct gt_profiler_host_chips params = GT_PROFILER_PARAMS(host_chips, .count = 0);
	char chips[512];

	if (source->profiler.cuptiProfilerHostGetSupportedChips(&params) != 0)
		return gt_fail(err, ENOTSUP, "%s does not say which chips it knows",
		               source->library);
	for (size_t i = 0; i < params.count; i++)
		if (strcasecmp(params.names[i], typed) == 0) {
			(void)snprintf(source->chip, sizeof(source->chip), "%s", params.names[i]);
			return 0;
		}
	join_chips(&source->profiler, chips, sizeof(chips));
	return gt_fail(err, EINVAL, "--chip %s is not known; CUPTI knows %s", typed, chips);
}

static int take_gpu(struct gt_metric_source *source, uint32_t gpu, struct gt_error *err)
{
	struct gt_profiler_chip_name params = GT_PROFILER_PARAMS(chip_name, .device = gpu);
	int result = gt_profiler_initialise(&source->profiler);

	if (result == 0)
		result = source->profiler.cuptiDeviceGetChipName(&params);
	if (result != 0 || !params.name)
		return gt_fail(err, ENOTSUP, "CUPTI does not say which chip GPU %u is (result %d)",
		               gpu, result);
	(void)snprintf(source->chip, sizeof(source->chip), "%s", params.name);
	source->gpu = source->gpus.names[gpu];
	source->no_availability =
		gt_profiler_availability(&source->profiler, gpu, &source->availability);
	return 0;
}

static int open_ways(struct gt_metric_source *source, struct gt_error *err)
{
	for (size_t way = 0; way < 2; way++) {
		source->ways[way] = (struct gt_chip){
			.profiler = &source->profiler,
			.name = source->chip,
			.way = (enum gt_chip_way)way,
			.availability = way == GT_CHIP_SAMPLES ? source->availability.bytes : NULL,
		};
		if (gt_chip_begin(&source->ways[way]))
			source->asked[way] = &source->ways[way];
	}
	if (source->asked[0] || source->asked[1])
		return 0;
	return gt_fail(err, ENOTSUP, "%s does not know the chip %s", source->library, source->chip);
}

static int find_gpus(struct gt_metric_source *source, uint64_t gpu, struct gt_error *err)
{
	struct gt_error why;
	const int result = gt_gpus_find(&source->gpus, &why);

	if (result < 0)
		return gt_fail(err, -result,
		               "%s; --chip NAME lists the counters of a chip without a GPU",
		               why.text);
	if (gpu >= source->gpus.count)
		return gt_fail(err, EINVAL, "there is no GPU %u: the last one is %u", (unsigned)gpu,
		               source->gpus.count - 1);
	return 0;
}

int gt_metric_source_open(struct gt_metric_source *source, const struct gt_metric_choice *choice,
                          struct gt_error *err)
{
	int result = 0;

	memset(source, 0, sizeof(*source));
	if (!choice->chip)
		result = find_gpus(source, choice->gpu, err);
	if (result == 0)
		result = open_library(source, choice->cupti, err);
	if (result == 0)
		result = choice->chip ? take_chip(source, choice->chip, err)
		                      : take_gpu(source, (uint32_t)choice->gpu, err);
	return result < 0 ? result : open_ways(source, err);
}

void gt_metric_source_close(struct gt_metric_source *source)
{
	for (size_t way = 0; way < 2; way++)
		if (source->ways[way].profiler)
			gt_chip_release(&source->ways[way]);
	gt_image_release(&source->availability);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include "fakes/cupti/calls.h"
#include "fakes/cupti/range.h"
#include "fakes/cupti/state.h"

/*
 * The fake libcupti: the range profiler, with a range of each kernel, which is replayed, or with
 * ranges that are pushed and popped. Counts follow from the threads, so that a test can know
 * them. While kernels are replayed the real one leaves launches of graphs out: this one ends the
 * process.
 */

#define MOST_PROFILERS 16
#define MAGIC          UINT64_C(0x65676e6172)

struct CUpti_RangeProfiler_Object {
	CUcontext context;
	atomic_int started;
	uint8_t *image;
	size_t room;          /* ranges of the image */
	size_t count;         /* since the start */
	uint32_t correlation; /* of the last one */
	int by_user; /* ranges are pushed and popped; else each kernel is one, and replayed */
	int pushed;
};

struct range {
	double threads;
	double time_ns;
};

/* In a counter data image. */
struct ranges {
	uint64_t magic;
	uint64_t count;
	struct range ranges[];
};

static CUpti_RangeProfiler_Object profilers[MOST_PROFILERS];
static atomic_uint starts;

/* The range that the kernel belongs to; NULL: it is left out. */
static struct range *range_of(CUpti_RangeProfiler_Object *profiler, uint32_t correlation)
{
	struct ranges *image = (struct ranges *)(void *)profiler->image;

	if (profiler->pushed)
		profiler->count += profiler->count == 0;
	else if (profiler->count == 0 || profiler->correlation != correlation)
		profiler->count++;
	profiler->correlation = correlation;
	return profiler->count <= profiler->room ? &image->ranges[profiler->count - 1] : NULL;
}

int fake_range_launch(const struct fake_activity *kernel)
{
	int replayed = 0;

	for (size_t i = 0; i < MOST_PROFILERS; i++) {
		CUpti_RangeProfiler_Object *profiler = &profilers[i];
		struct range *range;

		if (profiler->context != kernel->context || !atomic_load(&profiler->started))
			continue;
		if (kernel->graph && !profiler->pushed)
			fake_die("a graph is launched while kernels are replayed");
		range = range_of(profiler, kernel->correlation);
		if (range) {
			range->threads += (double)kernel->grid[0] * kernel->grid[1] *
			                  kernel->grid[2] * kernel->block[0] * kernel->block[1] *
			                  kernel->block[2];
			range->time_ns += (double)(kernel->end_ns - kernel->start_ns);
		}
		replayed = !profiler->pushed;
	}
	return replayed;
}

int fake_range_is_profiling(void)
{
	for (size_t i = 0; i < MOST_PROFILERS; i++)
		if (atomic_load(&profilers[i].started))
			return 1;
	return 0;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *params)
{
	CUpti_RangeProfiler_Object *free_one = NULL;

	if (!KNOWS(params, CUpti_RangeProfiler_Enable_Params) || !params->ctx)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (fake_script.pm_error)
		return (CUptiResult)fake_script.pm_error;
	for (size_t i = 0; i < MOST_PROFILERS; i++) {
		if (profilers[i].context == params->ctx)
			return CUPTI_ERROR_INVALID_OPERATION;
		if (!profilers[i].context && !free_one)
			free_one = &profilers[i];
	}
	if (!free_one)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	free_one->context = params->ctx;
	params->pRangeProfilerObject = free_one;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *params)
{
	if (!KNOWS(params, CUpti_RangeProfiler_Disable_Params) || !params->pRangeProfilerObject)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*params->pRangeProfilerObject = (CUpti_RangeProfiler_Object){0};
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *params)
{
	if (!KNOWS(params, CUpti_RangeProfiler_GetCounterDataSize_Params) ||
	    !params->pRangeProfilerObject || params->maxNumOfRanges == 0 ||
	    params->maxNumRangeTreeNodes < params->maxNumOfRanges)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->counterDataSize =
		sizeof(struct ranges) + params->maxNumOfRanges * sizeof(struct range);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params *params)
{
	if (!KNOWS(params, CUpti_RangeProfiler_CounterDataImage_Initialize_Params) ||
	    !params->pRangeProfilerObject || params->counterDataSize < sizeof(struct ranges))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*(struct ranges *)(void *)params->pCounterData = (struct ranges){.magic = MAGIC};
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *params)
{
	CUpti_RangeProfiler_Object *profiler = params ? params->pRangeProfilerObject : NULL;

	if (!KNOWS(params, CUpti_RangeProfiler_SetConfig_Params) || !profiler ||
	    !profiler->context || params->numNestingLevels != 1 || params->maxRangesPerPass == 0 ||
	    params->configSize == 0)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (atomic_load(&profiler->started) ||
	    (params->range == CUPTI_AutoRange && params->replayMode != CUPTI_KernelReplay) ||
	    (params->range == CUPTI_UserRange && params->replayMode != CUPTI_UserReplay))
		return CUPTI_ERROR_INVALID_OPERATION;
	profiler->by_user = params->range == CUPTI_UserRange;
	profiler->image = params->pCounterDataImage;
	profiler->room = params->maxRangesPerPass;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *params)
{
	CUpti_RangeProfiler_Object *profiler = params ? params->pRangeProfilerObject : NULL;

	if (!KNOWS(params, CUpti_RangeProfiler_Start_Params) || !profiler)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!profiler->image || atomic_load(&profiler->started))
		return CUPTI_ERROR_INVALID_OPERATION;
	if (fake_script.range_fail && atomic_fetch_add(&starts, 1) + 1 >= fake_script.range_fail)
		return CUPTI_ERROR_HARDWARE_BUSY;
	profiler->count = 0;
	fake_buffers_leave_stuck();
	memset(profiler->image + sizeof(struct ranges), 0, profiler->room * sizeof(struct range));
	atomic_store(&profiler->started, 1);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *params)
{
	CUpti_RangeProfiler_Object *profiler = params ? params->pRangeProfilerObject : NULL;

	if (!KNOWS(params, CUpti_RangeProfiler_Stop_Params) || !profiler)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!atomic_exchange(&profiler->started, 0))
		return CUPTI_ERROR_INVALID_OPERATION;
	params->isAllPassSubmitted = 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *params)
{
	CUpti_RangeProfiler_Object *profiler = params ? params->pRangeProfilerObject : NULL;

	if (!KNOWS(params, CUpti_RangeProfiler_PushRange_Params) || !profiler ||
	    !params->pRangeName)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!atomic_load(&profiler->started) || !profiler->by_user || profiler->pushed)
		return CUPTI_ERROR_INVALID_OPERATION;
	profiler->pushed = 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *params)
{
	CUpti_RangeProfiler_Object *profiler = params ? params->pRangeProfilerObject : NULL;

	if (!KNOWS(params, CUpti_RangeProfiler_PopRange_Params) || !profiler)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!profiler->pushed)
		return CUPTI_ERROR_INVALID_OPERATION;
	profiler->pushed = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *params)
{
	CUpti_RangeProfiler_Object *profiler = params ? params->pRangeProfilerObject : NULL;
	struct ranges *image;

	if (!KNOWS(params, CUpti_RangeProfiler_DecodeData_Params) || !profiler || !profiler->image)
		return CUPTI_ERROR_INVALID_PARAMETER;
	image = (struct ranges *)(void *)profiler->image;
	image->count = profiler->count < profiler->room ? profiler->count : profiler->room;
	params->numOfRangeDropped = profiler->count - image->count;
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *params)
{
	if (!KNOWS(params, CUpti_RangeProfiler_GetCounterDataInfo_Params) ||
	    !params->pCounterDataImage)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->numTotalRanges =
		((const struct ranges *)(const void *)params->pCounterDataImage)->count;
	return CUPTI_SUCCESS;
}

/* Bytes read are 8 a thread and bytes written 4; what is a share of a peak is 50 %, all else 1. */
static double value_of(const char *metric, const struct range *range)
{
	if (strcmp(metric, "gpu__time_duration.sum") == 0)
		return range->time_ns;
	if (strcmp(metric, "dram__bytes_read.sum") == 0)
		return 8 * range->threads;
	if (strcmp(metric, "dram__bytes_write.sum") == 0)
		return 4 * range->threads;
	return strstr(metric, "pct") ? 50 : 1;
}

int fake_range_evaluate(const uint8_t *image, size_t range, const char **metrics, size_t count,
                        double *values)
{
	const struct ranges *ranges = (const struct ranges *)(const void *)image;

	if (ranges->magic != MAGIC)
		return 0;
	for (size_t i = 0; i < count && range < ranges->count; i++)
		values[i] = value_of(metrics[i], &ranges->ranges[range]);
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "fakes/cupti/calls.h"
#include "fakes/cupti/range.h"
#include "fakes/cupti/state.h"

/*
 * The fake libcupti: PM sampling and the profiler's host functions. Samples lie one behind the
 * other from the start on, and their values follow from how long the GPU ran something in them.
 */

#define MOST_METRICS 64
#define MOST_DEVICES 8
#define SECOND       UINT64_C(1000000000)

static const struct metric {
	const char *name;
	const char *unit;
	const char *description;
	double busy; /* for each nanosecond in which the GPU runs something */
	double all;  /* for each nanosecond */
	int percent; /* the value is a share: not what the sample has, but what a nanosecond has */
} metrics[] = {
	{"dram__bytes_read.sum", "bytes", "# of bytes read from DRAM", 2, 0, 0},
	{"dram__bytes_write.sum", "bytes", "# of bytes written to DRAM", 1, 0, 0},
	{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "percent", "DRAM throughput", 80, 0,
         1},
	{"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "percent",
         "# of cycles with a warp", 100, 0, 1},
	{"sm__warps_active.avg.pct_of_peak_sustained_elapsed", "percent", "# of warps resident", 50,
         0, 1},
	{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "percent",
         "# of cycles where the tensor pipe was active", 25, 0, 1},
	{"LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct", "percent",
         "proportion of L2 sector lookups that hit", 0, 30, 1},
	{"pcie__read_bytes.sum", "bytes", "# of bytes read over PCIe", 0, 1, 0},
	{"pcie__write_bytes.sum", "bytes", "# of bytes written over PCIe", 0, 2, 0},
	{"gpc__cycles_elapsed.avg", "cycles", "# of cycles elapsed on GPC", 0, 1.98, 0},
	{"lts__t_sectors.sum", "sectors", "# of L2 sectors", 0.5, 0, 0},
#define COUNTER(name, unit, sets, metric, help) {metric, unit, help, 0, 0, 0},
#include "format/kinds/kernel_counters.def"
};

enum { METRICS = sizeof(metrics) / sizeof(metrics[0]) };

struct CUpti_Profiler_Host_Object {
	const struct metric *metrics[MOST_METRICS];
	size_t count;
	size_t calls; /* in which they came */
	int broken;   /* by a call that was refused */
	char texts[METRICS][96];
	const char *names[METRICS];
	const char *form;
};

struct config {
	size_t count;
	size_t calls;
};

struct CUpti_PmSampling_Object {
	size_t device;
	int enabled;
	int configured;
	int running;
	int stuck;         /* its buffer was full: nothing is sampled until it is enabled anew */
	int first;         /* its next sample spans back to the start of the process */
	uint64_t start_ns; /* of the next sample, CLOCK_REALTIME */
	uint64_t stop_ns;  /* when sampling was stopped */
	uint64_t interval_ns;
};

struct image_sample {
	uint64_t start_ns;
	uint64_t end_ns;
	size_t device;
};

struct image {
	uint64_t room;
	uint64_t count;
	struct image_sample samples[];
};

static CUpti_PmSampling_Object samplers[MOST_DEVICES];
static atomic_uint decodes;
static atomic_int unmade; /* by its exit handler */
static pthread_once_t begun = PTHREAD_ONCE_INIT;

static uint64_t busy_until(size_t device, uint64_t now_ns)
{
	uint64_t (*ask)(CUdevice device, uint64_t now_ns, int *busy) = NULL;
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int busy;

	if (cuda)
		*(void **)&ask = dlsym(cuda, "fake_cuda_busy_ns");
	return ask ? ask((CUdevice)device, now_ns, &busy) : 0;
}

/* Length of a metric's name without what it is a form of: up to the dot behind its two underscores.
 */
static size_t base_length(const char *name)
{
	const char *words = strstr(name, "__");

	return words ? (size_t)(words - name) + strcspn(words, ".") : strlen(name);
}

static const struct metric *find(const char *name)
{
	for (size_t i = 0; i < METRICS; i++)
		if (strcmp(metrics[i].name, name) == 0)
			return &metrics[i];
	return NULL;
}

/* With or without its form. */
static const struct metric *find_base(const char *name)
{
	for (size_t i = 0; i < METRICS; i++)
		if (base_length(metrics[i].name) == base_length(name) &&
		    strncmp(metrics[i].name, name, base_length(name)) == 0)
			return &metrics[i];
	return NULL;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *params)
{
	return KNOWS(params, CUpti_Profiler_Initialize_Params) ? CUPTI_SUCCESS
	                                                       : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *params)
{
	const CUpti_Profiler_Support_Level yes = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
	const CUpti_Profiler_Support_Level no = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;

	if (!KNOWS(params, CUpti_Profiler_DeviceSupported_Params) ||
	    (params->api != CUPTI_PROFILER_PM_SAMPLING &&
	     params->api != CUPTI_PROFILER_RANGE_PROFILING))
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->isSupported = fake_script.pm_unsupported ? no : yes;
	params->architecture = fake_script.pm_unsupported == 1 ? no : yes;
	params->sli = params->confidentialCompute = params->cmp = yes;
	params->wsl = fake_script.pm_unsupported == 4 ? no : yes;
	params->vGpu = fake_script.pm_unsupported == 2 ? no : yes;
	if (fake_script.pm_unsupported == 3)
		params->vGpu = CUPTI_PROFILER_CONFIGURATION_DISABLED;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *params)
{
	if (!KNOWS(params, CUpti_Device_GetChipName_Params) ||
	    params->deviceIndex >= fake_script.devices)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->pChipName = fake_script.pm_chip ? "GX999" : "GH100";
	return CUPTI_SUCCESS;
}

static void unmake(void)
{
	atomic_store(&unmade, 1);
}

static void register_end(void)
{
	(void)atexit(unmake);
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *params)
{
	if (!KNOWS(params, CUpti_Profiler_Host_Initialize_Params) || !params->pChipName ||
	    params->profilerType >= CUPTI_PROFILER_TYPE_PROFILER_INVALID ||
	    strcmp(params->pChipName, "GH100") != 0)
		return CUPTI_ERROR_INVALID_PARAMETER;
	(void)pthread_once(&begun, register_end);
	params->pHostObject = calloc(1, sizeof(*params->pHostObject));
	return params->pHostObject ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

/* As the real one: what its exit handler has freed it frees once more, which ends the program. */
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *params)
{
	if (!KNOWS(params, CUpti_Profiler_Host_Deinitialize_Params) || !params->pHostObject)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (atomic_load(&unmade))
		abort();
	free(params->pHostObject);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params *params)
{
	static const char *const chips[] = {"GA100", "GH100"};

	if (!KNOWS(params, CUpti_Profiler_Host_GetSupportedChips_Params))
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->ppChipNames = chips;
	params->numChips = sizeof(chips) / sizeof(chips[0]);
	return CUPTI_SUCCESS;
}

static CUpti_MetricType type_of(const struct metric *metric)
{
	if (strstr(metric->name, "__throughput"))
		return CUPTI_METRIC_TYPE_THROUGHPUT;
	return strcmp(metric->name + base_length(metric->name), ".pct") == 0
	               ? CUPTI_METRIC_TYPE_RATIO
	               : CUPTI_METRIC_TYPE_COUNTER;
}

/* Metrics have one form each here. */
CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params *params)
{
	CUpti_Profiler_Host_Object *host = params ? params->pHostObject : NULL;

	if (!KNOWS(params, CUpti_Profiler_Host_GetBaseMetrics_Params) || !host)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->numMetrics = 0;
	params->ppMetricNames = host->names;
	for (size_t i = 0; i < METRICS; i++) {
		if (type_of(&metrics[i]) != params->metricType)
			continue;
		(void)snprintf(host->texts[i], sizeof(host->texts[i]), "%.*s",
		               (int)base_length(metrics[i].name), metrics[i].name);
		host->names[params->numMetrics++] = host->texts[i];
	}
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params *params)
{
	CUpti_Profiler_Host_Object *host = params ? params->pHostObject : NULL;
	const struct metric *metric;

	if (!KNOWS(params, CUpti_Profiler_Host_GetSubMetrics_Params) || !host)
		return CUPTI_ERROR_INVALID_PARAMETER;
	metric = find_base(params->pMetricName);
	if (!metric)
		return CUPTI_ERROR_INVALID_METRIC_NAME;
	host->form = metric->name + base_length(metric->name);
	params->ppSubMetrics = &host->form;
	params->numOfSubmetrics = 1;
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params *params)
{
	const struct metric *metric;

	if (!KNOWS(params, CUpti_Profiler_Host_GetMetricProperties_Params) ||
	    !params->pHostObject || !params->pMetricName)
		return CUPTI_ERROR_INVALID_PARAMETER;
	metric = find_base(params->pMetricName);
	if (!metric)
		return CUPTI_ERROR_INVALID_METRIC_NAME;
	params->pDescription = metric->description;
	params->pHwUnit = "fake";
	params->pDimUnit = metric->unit;
	params->metricType = CUPTI_METRIC_TYPE_COUNTER;
	return CUPTI_SUCCESS;
}

/* As the real one: it is of no use after a name that it does not know. */
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *params)
{
	CUpti_Profiler_Host_Object *host = params ? params->pHostObject : NULL;

	if (!KNOWS(params, CUpti_Profiler_Host_ConfigAddMetrics_Params) || !host ||
	    params->numMetrics > MOST_METRICS - host->count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (host->broken)
		return CUPTI_ERROR_UNKNOWN;
	for (size_t i = 0; i < params->numMetrics; i++)
		if (!find(params->ppMetricNames[i]))
			host->broken = 1;
	if (host->broken)
		return CUPTI_ERROR_INVALID_PARAMETER;
	host->calls++;
	for (size_t i = 0; i < params->numMetrics; i++)
		host->metrics[host->count++] = find(params->ppMetricNames[i]);
	return CUPTI_SUCCESS;
}

/* The image says how many metrics there are, and in how many calls they came. */
CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *params)
{
	if (!KNOWS(params, CUpti_Profiler_Host_GetConfigImageSize_Params) || !params->pHostObject)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->configImageSize = sizeof(struct config);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *params)
{
	struct config config;

	if (!KNOWS(params, CUpti_Profiler_Host_GetConfigImage_Params) || !params->pHostObject ||
	    params->configImageSize < sizeof(config))
		return CUPTI_ERROR_INVALID_PARAMETER;
	config = (struct config){params->pHostObject->count, params->pHostObject->calls};
	memcpy(params->pConfigImage, &config, sizeof(config));
	return CUPTI_SUCCESS;
}

/* As the real one: what comes in a call of its own has a pass of its own. */
static size_t passes_of(const uint8_t *config)
{
	struct config of;
	size_t passes;

	memcpy(&of, config, sizeof(of));
	passes = (of.count + fake_script.pm_room - 1) / fake_script.pm_room;
	return of.calls > passes ? of.calls : passes;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *params)
{
	if (!KNOWS(params, CUpti_Profiler_Host_GetNumOfPasses_Params) ||
	    params->configImageSize < sizeof(struct config))
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->numOfPasses = passes_of(params->pConfigImage);
	return CUPTI_SUCCESS;
}

/* 16 bytes that say nothing. */
CUptiResult
cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params *params)
{
	if (!KNOWS(params, CUpti_PmSampling_GetCounterAvailability_Params) ||
	    params->deviceIndex >= fake_script.devices)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (params->pCounterAvailabilityImage)
		memset(params->pCounterAvailabilityImage, 0, 16);
	params->counterAvailabilityImageSize = 16;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params *params)
{
	if (!KNOWS(params, CUpti_PmSampling_Enable_Params) ||
	    params->deviceIndex >= fake_script.devices)
		return CUPTI_ERROR_INVALID_PARAMETER;
	(void)usleep(fake_script.pm_ready_ms * 1000);
	if (fake_script.pm_error)
		return (CUptiResult)fake_script.pm_error;
	if (samplers[params->deviceIndex].enabled)
		return CUPTI_ERROR_INVALID_OPERATION;
	samplers[params->deviceIndex] =
		(CUpti_PmSampling_Object){.device = params->deviceIndex, .enabled = 1};
	params->pPmSamplingObject = &samplers[params->deviceIndex];
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params *params)
{
	if (!KNOWS(params, CUpti_PmSampling_Disable_Params) || !params->pPmSamplingObject)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*params->pPmSamplingObject = (CUpti_PmSampling_Object){0};
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params *params)
{
	CUpti_PmSampling_Object *sampler = params ? params->pPmSamplingObject : NULL;
	const int by_time =
		params && params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;

	if (!KNOWS(params, CUpti_PmSampling_SetConfig_Params) || !sampler || !sampler->enabled ||
	    params->configSize < sizeof(struct config) || params->hardwareBufferSize == 0 ||
	    params->samplingInterval == 0)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (by_time && fake_script.pm_by_clock)
		return CUPTI_ERROR_NOT_SUPPORTED;
	if (passes_of(params->pConfig) != 1)
		return CUPTI_ERROR_NOT_SUPPORTED;
	sampler->interval_ns = params->samplingInterval;
	if (!by_time)
		sampler->interval_ns = params->samplingInterval * 100 / 198;
	sampler->configured = 1;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params *params)
{
	CUpti_PmSampling_Object *sampler = params ? params->pPmSamplingObject : NULL;

	if (!KNOWS(params, CUpti_PmSampling_Start_Params) || !sampler)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!sampler->configured || sampler->running)
		return CUPTI_ERROR_INVALID_OPERATION;
	if (sampler->stuck) /* as the real one */
		return CUPTI_ERROR_UNKNOWN;
	sampler->running = sampler->first = 1;
	sampler->start_ns = fake_realtime_ns();
	sampler->stop_ns = UINT64_MAX;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params *params)
{
	CUpti_PmSampling_Object *sampler = params ? params->pPmSamplingObject : NULL;

	if (!KNOWS(params, CUpti_PmSampling_Stop_Params) || !sampler)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!sampler->running)
		return CUPTI_ERROR_INVALID_OPERATION;
	sampler->running = 0;
	sampler->stop_ns = fake_realtime_ns();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params *params)
{
	if (!KNOWS(params, CUpti_PmSampling_GetCounterDataSize_Params) ||
	    !params->pPmSamplingObject || params->maxSamples == 0)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->counterDataSize =
		sizeof(struct image) + params->maxSamples * sizeof(struct image_sample);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(
	CUpti_PmSampling_CounterDataImage_Initialize_Params *params)
{
	struct image *image;

	if (!KNOWS(params, CUpti_PmSampling_CounterDataImage_Initialize_Params) ||
	    !params->pPmSamplingObject || params->counterDataSize < sizeof(struct image))
		return CUPTI_ERROR_INVALID_PARAMETER;
	image = (struct image *)(void *)params->pCounterData;
	image->count = 0;
	image->room =
		(params->counterDataSize - sizeof(struct image)) / sizeof(struct image_sample);
	return CUPTI_SUCCESS;
}

static void add_sample(CUpti_PmSampling_Object *sampler, struct image *image)
{
	struct image_sample *sample = &image->samples[image->count++];

	sample->device = sampler->device;
	sample->start_ns = sampler->start_ns;
	sample->end_ns = sampler->start_ns + sampler->interval_ns;
	if (sampler->first)
		sample->start_ns -= 10 * SECOND;
	sampler->first = 0;
	sampler->start_ns = sample->end_ns;
}

static void hang_as_told(unsigned number)
{
	if (fake_script.pm_hang && number >= fake_script.pm_hang)
		for (;;)
			(void)pause();
}

CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params *params)
{
	CUpti_PmSampling_Object *sampler = params ? params->pPmSamplingObject : NULL;
	const unsigned number = atomic_fetch_add(&decodes, 1) + 1;
	uint64_t until_ns = fake_realtime_ns();
	struct image *image;

	if (!KNOWS(params, CUpti_PmSampling_DecodeData_Params) || !sampler)
		return CUPTI_ERROR_INVALID_PARAMETER;
	hang_as_told(number);
	if (fake_script.pm_decode_fail && number >= fake_script.pm_decode_fail)
		return CUPTI_ERROR_UNKNOWN;
	image = (struct image *)(void *)params->pCounterDataImage;
	if (until_ns > sampler->stop_ns)
		until_ns = sampler->stop_ns;
	params->overflow = 0;
	params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
	if (fake_script.pm_overflow && number == fake_script.pm_overflow) {
		params->overflow = 1;
		sampler->stuck = 1;
	}
	while (!sampler->stuck && sampler->start_ns + sampler->interval_ns <= until_ns) {
		if (image->count == image->room) {
			params->decodeStopReason =
				CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
			/* As the real one: samples behind it are lost. */
			sampler->start_ns += 16 * sampler->interval_ns;
			break;
		}
		add_sample(sampler, image);
	}
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params *params)
{
	const struct image *image;

	if (!KNOWS(params, CUpti_PmSampling_GetCounterDataInfo_Params))
		return CUPTI_ERROR_INVALID_PARAMETER;
	image = (const struct image *)(const void *)params->pCounterDataImage;
	params->numTotalSamples = image->room;
	params->numPopulatedSamples = params->numCompletedSamples = image->count;
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params *params)
{
	const struct image *image;

	if (!KNOWS(params, CUpti_PmSampling_CounterData_GetSampleInfo_Params))
		return CUPTI_ERROR_INVALID_PARAMETER;
	image = (const struct image *)(const void *)params->pCounterDataImage;
	if (params->sampleIndex >= image->count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->startTimestamp = fake_cupti_time(image->samples[params->sampleIndex].start_ns);
	params->endTimestamp = fake_cupti_time(image->samples[params->sampleIndex].end_ns);
	return CUPTI_SUCCESS;
}

static double value_of(const struct metric *metric, const struct image_sample *sample)
{
	const double busy_ns = (double)(busy_until(sample->device, sample->end_ns) -
	                                busy_until(sample->device, sample->start_ns));
	const double all_ns = (double)(sample->end_ns - sample->start_ns);
	const double value = metric->busy * busy_ns + metric->all * all_ns;

	return metric->percent ? value / all_ns : value;
}

CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *params)
{
	const struct image *image;

	if (!KNOWS(params, CUpti_Profiler_Host_EvaluateToGpuValues_Params) || !params->pHostObject)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (fake_range_evaluate(params->pCounterDataImage, params->rangeIndex,
	                        params->ppMetricNames, params->numMetrics, params->pMetricValues))
		return CUPTI_SUCCESS;
	image = (const struct image *)(const void *)params->pCounterDataImage;
	if (params->rangeIndex >= image->count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < params->numMetrics; i++) {
		const struct metric *metric = find(params->ppMetricNames[i]);

		if (!metric)
			return CUPTI_ERROR_INVALID_METRIC_NAME;
		params->pMetricValues[i] = value_of(metric, &image->samples[params->rangeIndex]);
	}
	return CUPTI_SUCCESS;
}

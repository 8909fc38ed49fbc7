/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/pm_sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <sys/mman.h>

#include "base/error.h"
#include "injection/cupti/cupti.h"

#define HARDWARE_BYTES ((size_t)64 << 20) /* of the buffer that the GPU fills */
#define IMAGE_SAMPLES  1024               /* that are decoded at a time */
#define ROUNDS         64                 /* of decoding, in one call */

enum { RANGE_OF_PM = 1 }; /* CUPTI_PROFILER_TYPE_PM_SAMPLING */
enum { API_OF_PM = 3 };   /* CUPTI_PROFILER_PM_SAMPLING */
enum { CLOCK_INTERVAL = 0, TIME_INTERVAL = 1, KEEP_OLDEST = 0, DATA_FULL = 1 };
enum { UNSUPPORTED = 1, DISABLED = 2 };

/* The size that CUPTI wants to know: up to the end of the last member. */
#define STRUCT(name, theirs)
#define MEMBER(name, type, member, theirs)
#define END(name, last)                                                                            \
	enum {                                                                                     \
		SIZE_OF_##name = offsetof(struct gt_pm_##name, last) +                             \
		                 sizeof(((struct gt_pm_##name *)0)->last)                          \
	};
#include "injection/cupti/pm_structs.def"

#define PARAMS(name, ...) ((struct gt_pm_##name){.size = SIZE_OF_##name, __VA_ARGS__})

bool gt_pm_open(struct gt_pm *pm, const struct gt_cupti *cupti)
{
	bool whole = true;

	pm->cupti = cupti;
	/* POSIX gives functions out as void pointers; C has no cast for that. */
#define CALL(function, params)                                                                     \
	*(void **)&pm->function = dlsym(cupti->handle, #function);                                 \
	whole = whole && pm->function;
#include "injection/cupti/pm_calls.def"
	return whole;
}

bool gt_pm_take(struct gt_pm_block *block, size_t size)
{
	void *at = MAP_FAILED;

	if (size > 0)
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return false;
	*block = (struct gt_pm_block){at, size};
	return true;
}

void gt_pm_give_back(struct gt_pm_block *block)
{
	if (block->bytes)
		(void)munmap(block->bytes, block->size);
	*block = (struct gt_pm_block){0};
}

const char *gt_pm_reason(CUptiResult result)
{
	switch ((int)result) {
	case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
		return "this user may not read them: run as root (in a container with "
		       "--cap-add SYS_ADMIN), or load the kernel module nvidia with "
		       "NVreg_RestrictProfilingToAdminUsers=0";
	case CUPTI_ERROR_HARDWARE_BUSY:
	case CUPTI_ERROR_INVALID_OPERATION:
		return "another profiler has them (Nsight Compute, DCGM or this program itself): "
		       "end it, or dcgmi profile --pause";
	case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
		return "it is a MIG slice, which has none: use a whole GPU";
	case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
		return "it is a virtual GPU (vGPU), which has none";
	case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
		return "it is a virtual GPU (vGPU), whose hypervisor does not allow it: enable "
		       "profiling for the virtual machine";
	case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
		return "confidential computing is on";
	case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
		return "mining processors (CMP) have none";
	case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
		return "SLI is on";
	case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
		return "WSL has none";
	default:
		return NULL;
	}
}

/* The sentence for a call that said no. */
static int refuse(const struct gt_pm_sampler *sampler, const char *call, CUptiResult result,
                  struct gt_error *err)
{
	const char *reason = gt_pm_reason(result);

	if (reason)
		return gt_fail(err, ENOTSUP, "no counters of GPU %u: %s", sampler->device, reason);
	return gt_fail(err, ENOTSUP, "no counters of GPU %u: %s says %s", sampler->device, call,
	               gt_cupti_text(sampler->pm->cupti, result));
}

CUptiResult gt_pm_verdict(const struct gt_pm_device_supported *answer)
{
	if (answer->supported != UNSUPPORTED && answer->supported != DISABLED)
		return CUPTI_SUCCESS;
	if (answer->vgpu == DISABLED)
		return CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
	if (answer->vgpu == UNSUPPORTED)
		return CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED;
	if (answer->confidential == UNSUPPORTED)
		return CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED;
	if (answer->mining == UNSUPPORTED)
		return CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED;
	if (answer->sli == UNSUPPORTED)
		return CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED;
	if (answer->wsl == UNSUPPORTED)
		return CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED;
	return CUPTI_ERROR_NOT_SUPPORTED;
}

/* CUPTI's own verdict, where it has one. */
static int check_support(const struct gt_pm_sampler *sampler, CUdevice device, struct gt_error *err)
{
	struct gt_pm_device_supported params =
		PARAMS(device_supported, .device = device, .api = API_OF_PM);
	CUptiResult result;

	if (sampler->pm->cuptiProfilerDeviceSupported(&params) != CUPTI_SUCCESS)
		return 0;
	result = gt_pm_verdict(&params);
	if (result == CUPTI_ERROR_NOT_SUPPORTED)
		return gt_fail(err, ENOTSUP,
		               "no counters of GPU %u: CUPTI cannot sample those of this "
		               "architecture",
		               sampler->device);
	return result == CUPTI_SUCCESS ? 0 : refuse(sampler, "", result, err);
}

/*
 * Which of the chip's counters this GPU has. While another profiler is at work CUPTI may not say;
 * then it says so when the counters are taken.
 */
static int ask_availability(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	struct gt_pm_pm_availability params = PARAMS(pm_availability, .device = sampler->device);
	CUptiResult result = sampler->pm->cuptiPmSamplingGetCounterAvailability(&params);

	if (result == CUPTI_SUCCESS && gt_pm_take(&sampler->availability, params.bytes)) {
		params.image = sampler->availability.bytes;
		result = sampler->pm->cuptiPmSamplingGetCounterAvailability(&params);
	}
	if (result == CUPTI_SUCCESS)
		return 0;
	gt_pm_give_back(&sampler->availability);
	return gt_pm_reason(result) ? refuse(sampler, "", result, err) : 0;
}

static void end_host(struct gt_pm_sampler *sampler)
{
	struct gt_pm_host_deinitialize params = PARAMS(host_deinitialize, .host = sampler->host);

	if (sampler->host)
		(void)sampler->pm->cuptiProfilerHostDeinitialize(&params);
	sampler->host = NULL;
}

static int begin_host(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	struct gt_pm_chip_name chip = PARAMS(chip_name, .device = sampler->device);
	struct gt_pm_host_initialize params = PARAMS(host_initialize, .type = RANGE_OF_PM);
	CUptiResult result = sampler->pm->cuptiDeviceGetChipName(&chip);

	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiDeviceGetChipName", result, err);
	params.chip = chip.name;
	params.availability = sampler->availability.bytes;
	result = sampler->pm->cuptiProfilerHostInitialize(&params);
	if (result != CUPTI_SUCCESS)
		return gt_fail(err, ENOTSUP,
		               "no counters of GPU %u: this libcupti does not know the chip %s",
		               sampler->device, chip.name ? chip.name : "that it has");
	sampler->host = params.host;
	return 0;
}

bool gt_pm_property_of(const struct gt_pm_sampler *sampler, const char *metric,
                       struct gt_pm_property *property)
{
	struct gt_pm_host_properties params =
		PARAMS(host_properties, .host = sampler->host, .metric = metric);

	if (sampler->pm->cuptiProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS)
		return false;
	*property = (struct gt_pm_property){
		.unit = params.unit ? params.unit : "",
		.help = params.description ? params.description : "",
	};
	return true;
}

/* One by one: a name that CUPTI does not know makes it refuse all that come with it. */
static bool add_metric(const struct gt_pm_sampler *sampler, const char *metric)
{
	struct gt_pm_host_add params =
		PARAMS(host_add, .host = sampler->host, .metrics = &metric, .count = 1);

	return sampler->pm->cuptiProfilerHostConfigAddMetrics(&params) == CUPTI_SUCCESS;
}

static bool make_config(struct gt_pm_sampler *sampler)
{
	struct gt_pm_host_config_size size = PARAMS(host_config_size, .host = sampler->host);
	struct gt_pm_host_config config = PARAMS(host_config, .host = sampler->host);

	gt_pm_give_back(&sampler->config);
	if (sampler->pm->cuptiProfilerHostGetConfigImageSize(&size) != CUPTI_SUCCESS ||
	    !gt_pm_take(&sampler->config, size.bytes))
		return false;
	config.bytes = sampler->config.size;
	config.image = sampler->config.bytes;
	return sampler->pm->cuptiProfilerHostGetConfigImage(&config) == CUPTI_SUCCESS;
}

/* Passes that the metrics need together; 0: CUPTI does not say. */
static size_t count_passes(struct gt_pm_sampler *sampler)
{
	struct gt_pm_host_passes params = PARAMS(host_passes, .bytes = 0);

	if (!make_config(sampler))
		return 0;
	params.bytes = sampler->config.size;
	params.image = sampler->config.bytes;
	if (sampler->pm->cuptiProfilerHostGetNumOfPasses(&params) != CUPTI_SUCCESS)
		return 0;
	return params.passes;
}

/* A host object that has the sampler's metrics and nothing else. */
static int begin_again(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	int result;

	end_host(sampler);
	result = begin_host(sampler, err);
	for (size_t i = 0; i < sampler->count && result == 0; i++)
		(void)add_metric(sampler, sampler->metrics[i]);
	return result;
}

static void add_known(struct gt_pm_sampler *sampler, struct gt_pm_wanted *wanted, size_t count)
{
	struct gt_pm_property property;

	for (size_t i = 0; i < count; i++) {
		wanted[i].outcome = GT_PM_UNKNOWN;
		if (!gt_pm_property_of(sampler, wanted[i].metric, &property))
			continue;
		if (sampler->count == GT_PM_METRICS) {
			wanted[i].outcome = GT_PM_NO_ROOM;
			continue;
		}
		if (!add_metric(sampler, wanted[i].metric))
			continue;
		wanted[i].outcome = GT_PM_TAKEN;
		sampler->metrics[sampler->count++] = wanted[i].metric;
	}
}

/* All at once would take several passes: as many of them, in order, as fit into one. */
static int fit_into_pass(struct gt_pm_sampler *sampler, struct gt_pm_wanted *wanted, size_t count,
                         struct gt_error *err)
{
	int result = 0;

	sampler->count = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		if (wanted[i].outcome != GT_PM_TAKEN)
			continue;
		sampler->metrics[sampler->count++] = wanted[i].metric;
		result = begin_again(sampler, err);
		if (result < 0 || count_passes(sampler) == 1)
			continue;
		wanted[i].outcome = GT_PM_NO_ROOM;
		sampler->count--;
	}
	return result < 0 ? result : begin_again(sampler, err);
}

static int choose(struct gt_pm_sampler *sampler, struct gt_pm_wanted *wanted, size_t count,
                  struct gt_error *err)
{
	int result = begin_host(sampler, err);

	if (result < 0)
		return result;
	add_known(sampler, wanted, count);
	if (sampler->count > 0 && count_passes(sampler) != 1)
		result = fit_into_pass(sampler, wanted, count, err);
	if (result < 0)
		return result;
	if (sampler->count == 0)
		return gt_fail(err, ENOTSUP,
		               "no counters of GPU %u: it has none of those that were asked for",
		               sampler->device);
	if (!make_config(sampler))
		return gt_fail(err, ENOMEM, "no counters of GPU %u: they cannot be scheduled",
		               sampler->device);
	return 0;
}

/*
 * Turing and the A100 sample after so many cycles of a clock that varies, not after so much time:
 * the interval is then as good as that clock is the GPU's. Samples have their times either way.
 */
static CUptiResult set_config(struct gt_pm_sampler *sampler, struct gt_pm_pm_config *config)
{
	CUptiResult result = sampler->pm->cuptiPmSamplingSetConfig(config);

	if (result == CUPTI_SUCCESS || gt_pm_reason(result) || sampler->clock_khz == 0)
		return result;
	config->trigger = CLOCK_INTERVAL;
	config->interval = sampler->interval_ns * sampler->clock_khz / 1000000;
	return sampler->pm->cuptiPmSamplingSetConfig(config);
}

/* The GPU's counters are ours from here on. */
static int enable(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	struct gt_pm_pm_enable params = PARAMS(pm_enable, .device = sampler->device);
	struct gt_pm_pm_config config =
		PARAMS(pm_config, .bytes = sampler->config.size, .image = sampler->config.bytes,
	               .buffer_bytes = HARDWARE_BYTES, .interval = sampler->interval_ns,
	               .trigger = TIME_INTERVAL, .append = KEEP_OLDEST);
	CUptiResult result = sampler->pm->cuptiPmSamplingEnable(&params);

	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingEnable", result, err);
	sampler->object = config.sampler = params.sampler;
	result = set_config(sampler, &config);
	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingSetConfig", result, err);
	return 0;
}

static CUptiResult clear_data(struct gt_pm_sampler *sampler)
{
	struct gt_pm_pm_data_initialize params =
		PARAMS(pm_data_initialize, .sampler = sampler->object, .bytes = sampler->data.size,
	               .image = sampler->data.bytes);

	sampler->told = 0;
	return sampler->pm->cuptiPmSamplingCounterDataImageInitialize(&params);
}

static int make_data(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	struct gt_pm_pm_data_size params =
		PARAMS(pm_data_size, .sampler = sampler->object, .metrics = sampler->metrics,
	               .count = sampler->count, .samples = IMAGE_SAMPLES);
	CUptiResult result = sampler->pm->cuptiPmSamplingGetCounterDataSize(&params);

	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingGetCounterDataSize", result, err);
	if (!gt_pm_take(&sampler->data, params.bytes))
		return gt_fail(err, ENOMEM, "no counters of GPU %u: there is no memory for them",
		               sampler->device);
	result = clear_data(sampler);
	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingCounterDataImageInitialize", result, err);
	return 0;
}

static int initialise(const struct gt_pm_sampler *sampler, struct gt_error *err)
{
	struct gt_pm_profiler_initialize params = PARAMS(profiler_initialize, .reserved = NULL);
	CUptiResult result;

	if (sampler->pm->initialised)
		return 0;
	result = sampler->pm->cuptiProfilerInitialize(&params);
	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiProfilerInitialize", result, err);
	sampler->pm->initialised = true;
	return 0;
}

int gt_pm_prepare(struct gt_pm_sampler *sampler, CUdevice device, struct gt_pm_wanted *wanted,
                  size_t count, struct gt_error *err)
{
	int result = initialise(sampler, err);

	if (result == 0)
		result = check_support(sampler, device, err);
	if (result == 0)
		result = ask_availability(sampler, err);
	if (result == 0)
		result = choose(sampler, wanted, count, err);
	if (result == 0)
		result = enable(sampler, err);
	if (result == 0)
		result = make_data(sampler, err);
	if (result < 0)
		gt_pm_release(sampler);
	return result;
}

int gt_pm_start(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	struct gt_pm_pm_start params = PARAMS(pm_start, .sampler = sampler->object);
	const CUptiResult result = sampler->pm->cuptiPmSamplingStart(&params);

	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingStart", result, err);
	sampler->runs = true;
	sampler->begun = false;
	return 0;
}

void gt_pm_stop(struct gt_pm_sampler *sampler)
{
	struct gt_pm_pm_stop params = PARAMS(pm_stop, .sampler = sampler->object);

	if (sampler->runs)
		(void)sampler->pm->cuptiPmSamplingStop(&params);
	sampler->runs = false;
}

void gt_pm_release(struct gt_pm_sampler *sampler)
{
	struct gt_pm_pm_disable params = PARAMS(pm_disable, .sampler = sampler->object);

	gt_pm_stop(sampler);
	if (sampler->object)
		(void)sampler->pm->cuptiPmSamplingDisable(&params);
	sampler->object = NULL;
	end_host(sampler);
	gt_pm_give_back(&sampler->availability);
	gt_pm_give_back(&sampler->config);
	gt_pm_give_back(&sampler->data);
	sampler->count = 0;
}

static void evaluate(struct gt_pm_sampler *sampler, size_t number, double *values)
{
	struct gt_pm_host_evaluate params =
		PARAMS(host_evaluate, .host = sampler->host, .image = sampler->data.bytes,
	               .bytes = sampler->data.size, .sample = number, .metrics = sampler->metrics,
	               .count = sampler->count, .values = values);

	for (size_t i = 0; i < sampler->count; i++)
		values[i] = NAN;
	(void)sampler->pm->cuptiProfilerHostEvaluateToGpuValues(&params);
}

/* The time in which there should have been samples, and of which none came. */
static void tell_gap(struct gt_pm_sampler *sampler, uint64_t start_ns, gt_pm_use *use,
                     void *context)
{
	const struct gt_pm_sample gap = {sampler->last_end_ns, start_ns, NULL};

	if (sampler->last_end_ns && start_ns > sampler->last_end_ns + sampler->interval_ns / 2)
		use(context, &gap);
}

static void tell_sample(struct gt_pm_sampler *sampler, size_t number, gt_pm_use *use, void *context)
{
	struct gt_pm_pm_sample_info info =
		PARAMS(pm_sample_info, .sampler = sampler->object, .image = sampler->data.bytes,
	               .bytes = sampler->data.size, .sample = number);
	double values[GT_PM_METRICS];
	struct gt_pm_sample sample = {.values = values};

	if (sampler->pm->cuptiPmSamplingCounterDataGetSampleInfo(&info) != CUPTI_SUCCESS)
		return;
	/* The first one spans back to the start of the process. */
	if (!sampler->begun) {
		sampler->begun = true;
		return;
	}
	if (info.end_ns <= info.start_ns || info.start_ns < sampler->last_end_ns)
		return;
	tell_gap(sampler, info.start_ns, use, context);
	sample.start_ns = info.start_ns;
	sample.end_ns = sampler->last_end_ns = info.end_ns;
	evaluate(sampler, number, values);
	use(context, &sample);
}

/* What is complete and was not told. Returns whether there may be more in the image later. */
static bool tell_all(struct gt_pm_sampler *sampler, gt_pm_use *use, void *context)
{
	struct gt_pm_pm_data_info info =
		PARAMS(pm_data_info, .image = sampler->data.bytes, .bytes = sampler->data.size);

	if (sampler->pm->cuptiPmSamplingGetCounterDataInfo(&info) != CUPTI_SUCCESS)
		return false;
	while (sampler->told < info.completed)
		tell_sample(sampler, sampler->told++, use, context);
	return info.populated > info.completed;
}

int gt_pm_decode(struct gt_pm_sampler *sampler, gt_pm_use *use, void *context)
{
	struct gt_pm_pm_decode params =
		PARAMS(pm_decode, .sampler = sampler->object, .image = sampler->data.bytes,
	               .bytes = sampler->data.size);
	bool overflowed = false;

	for (unsigned i = 0; i < ROUNDS; i++) {
		const CUptiResult result = sampler->pm->cuptiPmSamplingDecodeData(&params);
		bool unfinished;

		overflowed = overflowed || params.overflow || result == CUPTI_ERROR_OUT_OF_MEMORY;
		if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_OUT_OF_MEMORY)
			return -EIO;
		unfinished = tell_all(sampler, use, context);
		if (params.stopped != DATA_FULL && unfinished)
			break; /* the next call completes it */
		if (clear_data(sampler) != CUPTI_SUCCESS)
			return -EIO;
		if (params.stopped != DATA_FULL || result != CUPTI_SUCCESS)
			break;
	}
	return overflowed;
}

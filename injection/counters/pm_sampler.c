/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/counters/pm_sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "injection/cupti/cupti.h"

#define HARDWARE_BYTES ((size_t)64 << 20) /* of the buffer that the GPU fills */
#define IMAGE_BYTES    ((size_t)96 << 20) /* of decoded samples */
#define LEAST_SAMPLES  1024               /* in an image, whatever their size */
#define MOST_SAMPLES   8192
#define LEAST_ROOM     256 /* for samples, in an image at the begin of a decoding */
#define ROUNDS         64  /* of decoding, in one call */

enum { API_OF_PM = 3 }; /* CUPTI_PROFILER_PM_SAMPLING */
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
#include "injection/counters/pm_structs.def"

#define PARAMS(name, ...) ((struct gt_pm_##name){.size = SIZE_OF_##name, __VA_ARGS__})

bool gt_pm_open(struct gt_pm *pm, const struct gt_cupti *cupti)
{
	bool whole = gt_profiler_open(&pm->profiler, cupti->handle);

	pm->cupti = cupti;
	/* POSIX gives functions out as void pointers; C has no cast for that. */
#define CALL(function, params)                                                                     \
	*(void **)&pm->function = dlsym(cupti->handle, #function);                                 \
	whole = whole && pm->function;
#include "injection/counters/pm_calls.def"
	return whole;
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

CUptiResult gt_pm_verdict(const struct gt_profiler_device_supported *answer)
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
	struct gt_profiler_device_supported params =
		GT_PROFILER_PARAMS(device_supported, .device = device, .api = API_OF_PM);
	CUptiResult result;

	if (sampler->pm->profiler.cuptiProfilerDeviceSupported(&params) != CUPTI_SUCCESS)
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
	const CUptiResult result = (CUptiResult)gt_profiler_availability(
		&sampler->pm->profiler, sampler->device, &sampler->availability);

	return result != CUPTI_SUCCESS && gt_pm_reason(result) ? refuse(sampler, "", result, err)
	                                                       : 0;
}

static int name_chip(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	struct gt_profiler_chip_name params =
		GT_PROFILER_PARAMS(chip_name, .device = sampler->device);
	const CUptiResult result =
		(CUptiResult)sampler->pm->profiler.cuptiDeviceGetChipName(&params);

	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiDeviceGetChipName", result, err);
	sampler->chip = (struct gt_chip){
		.profiler = &sampler->pm->profiler,
		.name = params.name,
		.way = GT_CHIP_SAMPLES,
		.availability = sampler->availability.bytes,
	};
	return 0;
}

static int choose(struct gt_pm_sampler *sampler, struct gt_metric_wanted *wanted, size_t count,
                  struct gt_error *err)
{
	const int result = name_chip(sampler, err);

	if (result < 0)
		return result;
	if (gt_chip_fit(&sampler->chip, wanted, count, sampler->metrics, GT_PM_METRICS,
	                &sampler->count) < 0)
		return gt_fail(err, ENOTSUP,
		               "no counters of GPU %u: this libcupti does not know the chip %s",
		               sampler->device,
		               sampler->chip.name ? sampler->chip.name : "that it has");
	if (sampler->count == 0)
		return gt_fail(err, ENOTSUP,
		               "no counters of GPU %u: it has none of those that were asked for",
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
		PARAMS(pm_config, .bytes = sampler->chip.config.size,
	               .image = sampler->chip.config.bytes, .buffer_bytes = HARDWARE_BYTES,
	               .interval = sampler->interval_ns, .trigger = TIME_INTERVAL,
	               .append = KEEP_OLDEST);
	CUptiResult result = sampler->pm->cuptiPmSamplingEnable(&params);

	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingEnable", result, err);
	sampler->object = config.sampler = params.sampler;
	result = set_config(sampler, &config);
	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingSetConfig", result, err);
	return 0;
}

static CUptiResult initialise_image(const struct gt_pm_sampler *sampler,
                                    const struct gt_image *image)
{
	struct gt_pm_pm_data_initialize params =
		PARAMS(pm_data_initialize, .sampler = sampler->object, .bytes = image->size,
	               .image = image->bytes);

	return sampler->pm->cuptiPmSamplingCounterDataImageInitialize(&params);
}

static bool is_empty(const struct gt_pm_sampler *sampler)
{
	struct gt_pm_pm_data_info info =
		PARAMS(pm_data_info, .image = sampler->data.bytes, .bytes = sampler->data.size);

	return sampler->pm->cuptiPmSamplingGetCounterDataInfo(&info) == CUPTI_SUCCESS &&
	       info.populated == 0;
}

/*
 * For each sample that there is room for CUPTI takes 42 us to initialise an image (H200), nearly as
 * long as to decode one: what it has made once is copied.
 */
static CUptiResult clear_data(struct gt_pm_sampler *sampler)
{
	sampler->told = 0;
	memcpy(sampler->data.bytes, sampler->empty.bytes, sampler->data.size);
	return is_empty(sampler) ? CUPTI_SUCCESS : initialise_image(sampler, &sampler->data);
}

static CUptiResult ask_data_size(struct gt_pm_sampler *sampler, uint32_t samples, size_t *bytes)
{
	struct gt_pm_pm_data_size params =
		PARAMS(pm_data_size, .sampler = sampler->object, .metrics = sampler->metrics,
	               .count = sampler->count, .samples = samples);
	const CUptiResult result = sampler->pm->cuptiPmSamplingGetCounterDataSize(&params);

	*bytes = params.bytes;
	return result;
}

/* As many samples as go into IMAGE_BYTES, 50 KB each for the whole default set. */
static CUptiResult choose_data_size(struct gt_pm_sampler *sampler, size_t *bytes)
{
	CUptiResult result = ask_data_size(sampler, LEAST_SAMPLES, bytes);
	size_t samples;

	sampler->room = LEAST_SAMPLES;
	if (result != CUPTI_SUCCESS || *bytes == 0)
		return result;
	samples = IMAGE_BYTES / (*bytes / LEAST_SAMPLES + 1);
	if (samples > LEAST_SAMPLES)
		sampler->room = samples < MOST_SAMPLES ? samples : MOST_SAMPLES;
	return ask_data_size(sampler, (uint32_t)sampler->room, bytes);
}

static int make_data(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	size_t bytes;
	CUptiResult result = choose_data_size(sampler, &bytes);

	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingGetCounterDataSize", result, err);
	if (!gt_image_take(&sampler->data, bytes) || !gt_image_take(&sampler->empty, bytes))
		return gt_fail(err, ENOMEM, "no counters of GPU %u: there is no memory for them",
		               sampler->device);
	result = initialise_image(sampler, &sampler->empty);
	if (result == CUPTI_SUCCESS)
		result = clear_data(sampler);
	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingCounterDataImageInitialize", result, err);
	return 0;
}

static int initialise(const struct gt_pm_sampler *sampler, struct gt_error *err)
{
	const CUptiResult result = (CUptiResult)gt_profiler_initialise(&sampler->pm->profiler);

	return result == CUPTI_SUCCESS ? 0
	                               : refuse(sampler, "cuptiProfilerInitialize", result, err);
}

int gt_pm_prepare(struct gt_pm_sampler *sampler, CUdevice device, struct gt_metric_wanted *wanted,
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

static int begin(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	struct gt_pm_pm_start params = PARAMS(pm_start, .sampler = sampler->object);
	const CUptiResult result = sampler->pm->cuptiPmSamplingStart(&params);

	if (result != CUPTI_SUCCESS)
		return refuse(sampler, "cuptiPmSamplingStart", result, err);
	sampler->runs = true;
	sampler->begun = false;
	return 0;
}

static void disable(struct gt_pm_sampler *sampler)
{
	struct gt_pm_pm_disable params = PARAMS(pm_disable, .sampler = sampler->object);

	if (sampler->object)
		(void)sampler->pm->cuptiPmSamplingDisable(&params);
	sampler->object = NULL;
}

/* CUPTI does not start a sampler again whose buffer was full: a new one takes its place. */
static int begin_anew(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	int result;

	disable(sampler);
	result = enable(sampler, err);
	if (result == 0)
		result = make_data(sampler, err);
	return result < 0 ? result : begin(sampler, err);
}

int gt_pm_start(struct gt_pm_sampler *sampler, struct gt_error *err)
{
	int result = begin(sampler, err);

	if (result < 0 && sampler->was_full)
		result = begin_anew(sampler, err);
	sampler->was_full = false;
	return result;
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
	gt_pm_stop(sampler);
	disable(sampler);
	gt_chip_release(&sampler->chip);
	gt_image_release(&sampler->availability);
	gt_image_release(&sampler->data);
	gt_image_release(&sampler->empty);
	sampler->count = 0;
}

static void evaluate(struct gt_pm_sampler *sampler, size_t number, double *values)
{
	struct gt_profiler_host_evaluate params =
		GT_PROFILER_PARAMS(host_evaluate, .host = sampler->chip.host,
	                           .image = sampler->data.bytes, .bytes = sampler->data.size,
	                           .sample = number, .metrics = sampler->metrics,
	                           .count = sampler->count, .values = values);

	for (size_t i = 0; i < sampler->count; i++)
		values[i] = NAN;
	(void)sampler->pm->profiler.cuptiProfilerHostEvaluateToGpuValues(&params);
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

/* Tells complete samples not told before. Returns how many these were, negative: none are known. */
static int64_t tell_all(struct gt_pm_sampler *sampler, gt_pm_use *use, void *context)
{
	struct gt_pm_pm_data_info info =
		PARAMS(pm_data_info, .image = sampler->data.bytes, .bytes = sampler->data.size);
	const size_t before = sampler->told;

	if (sampler->pm->cuptiPmSamplingGetCounterDataInfo(&info) != CUPTI_SUCCESS)
		return -1;
	while (sampler->told < info.completed)
		tell_sample(sampler, sampler->told++, use, context);
	return (int64_t)(sampler->told - before);
}

/*
 * A decoding that fills the image loses what comes next: it begins with room for twice as much as
 * the last one brought.
 */
static bool has_room(const struct gt_pm_sampler *sampler)
{
	return sampler->told == 0 ||
	       sampler->told + 2 * sampler->last_count + LEAST_ROOM <= sampler->room;
}

/* One decoding. Whether the image was full then; negative: CUPTI fails. */
static int decode_once(struct gt_pm_sampler *sampler, bool *overflowed, gt_pm_use *use,
                       void *context)
{
	struct gt_pm_pm_decode params =
		PARAMS(pm_decode, .sampler = sampler->object, .image = sampler->data.bytes,
	               .bytes = sampler->data.size);
	CUptiResult result;
	int64_t count;

	if (!has_room(sampler) && clear_data(sampler) != CUPTI_SUCCESS)
		return -EIO;
	result = sampler->pm->cuptiPmSamplingDecodeData(&params);
	*overflowed = *overflowed || params.overflow || result == CUPTI_ERROR_OUT_OF_MEMORY;
	if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_OUT_OF_MEMORY)
		return -EIO;
	count = tell_all(sampler, use, context);
	if (count < 0)
		return -EIO;
	sampler->last_count = (size_t)count;
	if (params.stopped != DATA_FULL || result != CUPTI_SUCCESS)
		return 0;
	return clear_data(sampler) == CUPTI_SUCCESS ? 1 : -EIO;
}

int gt_pm_decode(struct gt_pm_sampler *sampler, gt_pm_use *use, void *context)
{
	bool overflowed = false;
	int full = 1;

	for (unsigned i = 0; i < ROUNDS && full == 1; i++)
		full = decode_once(sampler, &overflowed, use, context);
	if (full < 0)
		return full;
	sampler->was_full = sampler->was_full || overflowed;
	return overflowed;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/counters/range_profiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>

#include "base/error.h"
#include "injection/cupti/cupti.h"

/* More than one, so that a launch that was not expected is noticed and takes no other's place. */
#define MOST_RANGES 8

enum { API_OF_RANGES = 0 }; /* CUPTI_PROFILER_RANGE_PROFILING */
enum { AUTO_RANGE = 1, USER_RANGE = 2, KERNEL_REPLAY = 2, USER_REPLAY = 3 };

/* The size that CUPTI wants to know: up to the end of the last member. */
#define STRUCT(name, theirs)
#define MEMBER(name, type, member, theirs)
#define END(name, last)                                                                            \
	enum {                                                                                     \
		SIZE_OF_range_##name = offsetof(struct gt_range_##name, last) +                    \
		                       sizeof(((struct gt_range_##name *)0)->last)                 \
	};
#include "injection/counters/range_structs.def"

#define PARAMS(name, ...)                                                                          \
	((struct gt_range_##name){                                                                 \
		.size = SIZE_OF_range_##name, .profiler = profiler->object, __VA_ARGS__})

bool gt_ranges_open(struct gt_ranges *ranges, const struct gt_cupti *cupti)
{
	bool whole = gt_profiler_open(&ranges->profiler, cupti->handle);

	ranges->cupti = cupti;
	/* POSIX gives functions out as void pointers; C has no cast for that. */
#define CALL(function, params)                                                                     \
	*(void **)&ranges->function = dlsym(cupti->handle, #function);                             \
	whole = whole && ranges->function;
#include "injection/counters/range_calls.def"
	return whole;
}

/* The sentence for a call that said no. */
static int refuse(const struct gt_range_profiler *profiler, const char *call, CUptiResult result,
                  struct gt_error *err)
{
	const char *reason = gt_pm_reason(result);

	if (reason)
		return gt_fail(err, ENOTSUP, "no kernel counters of GPU %u: %s", profiler->device,
		               reason);
	return gt_fail(err, ENOTSUP, "no kernel counters of GPU %u: %s says %s", profiler->device,
	               call, gt_cupti_text(profiler->ranges->cupti, result));
}

static int initialise(const struct gt_range_profiler *profiler, struct gt_error *err)
{
	const CUptiResult result = (CUptiResult)gt_profiler_initialise(&profiler->ranges->profiler);

	return result == CUPTI_SUCCESS ? 0
	                               : refuse(profiler, "cuptiProfilerInitialize", result, err);
}

/* CUPTI's own verdict, where it has one. */
static int check_support(const struct gt_range_profiler *profiler, CUdevice device,
                         struct gt_error *err)
{
	struct gt_profiler_device_supported params =
		GT_PROFILER_PARAMS(device_supported, .device = device, .api = API_OF_RANGES);
	CUptiResult result;

	if (profiler->ranges->profiler.cuptiProfilerDeviceSupported(&params) != CUPTI_SUCCESS)
		return 0;
	result = gt_pm_verdict(&params);
	if (result == CUPTI_ERROR_NOT_SUPPORTED)
		return gt_fail(err, ENOTSUP,
		               "no kernel counters of GPU %u: CUPTI has none for this architecture",
		               profiler->device);
	return result == CUPTI_SUCCESS ? 0 : refuse(profiler, "", result, err);
}

static int name_chip(const struct gt_range_profiler *profiler, struct gt_chip *chip,
                     struct gt_error *err)
{
	struct gt_profiler_chip_name params =
		GT_PROFILER_PARAMS(chip_name, .device = profiler->device);
	const CUptiResult result =
		(CUptiResult)profiler->ranges->profiler.cuptiDeviceGetChipName(&params);

	if (result != CUPTI_SUCCESS)
		return refuse(profiler, "cuptiDeviceGetChipName", result, err);
	*chip = (struct gt_chip){.profiler = &profiler->ranges->profiler,
	                         .name = params.name,
	                         .way = GT_CHIP_RANGES};
	if (!gt_chip_begin(chip))
		return gt_fail(err, ENOTSUP,
		               "no kernel counters of GPU %u: this libcupti does not know the chip "
		               "%s",
		               profiler->device, params.name ? params.name : "that it has");
	return 0;
}

bool gt_range_property_of(const struct gt_range_profiler *profiler, const char *metric,
                          struct gt_metric_property *property)
{
	return gt_chip_property_of(&profiler->plan.chip, metric, property);
}

static int choose_metrics(const struct gt_range_profiler *profiler, struct gt_range_plan *plan,
                          const struct gt_range_wanted *wanted, struct gt_error *err)
{
	struct gt_chip chip;
	const int result = name_chip(profiler, &chip, err);

	if (result < 0)
		return result;
	for (size_t i = 0; i < wanted->count; i++) {
		if (plan->count < GT_RANGE_METRICS &&
		    gt_chip_schedule(&chip, &wanted->metrics[i], 1) > 0)
			plan->metrics[plan->count++] = wanted->metrics[i];
		else
			wanted->unknown(wanted->context, wanted->metrics[i]);
	}
	gt_chip_release(&chip);
	if (plan->count == 0)
		return gt_fail(err, ENOTSUP,
		               "no kernel counters of GPU %u: it has none of those that were asked "
		               "for",
		               profiler->device);
	return 0;
}

static void forget(struct gt_range_plan *plan)
{
	gt_chip_release(&plan->chip);
	gt_image_release(&plan->data);
}

/* A host object and a configuration of the plan's metrics. */
static int schedule(const struct gt_range_profiler *profiler, struct gt_range_plan *plan,
                    struct gt_error *err)
{
	int passes;
	int result;

	forget(plan);
	result = name_chip(profiler, &plan->chip, err);
	if (result < 0)
		return result;
	passes = gt_chip_schedule(&plan->chip, plan->metrics, plan->count);
	if (passes <= 0)
		return gt_fail(err, ENOTSUP,
		               "no kernel counters of GPU %u: they cannot be scheduled",
		               profiler->device);
	plan->passes = (size_t)passes;
	return 0;
}

/* The context's counters are ours from here on. */
static int enable(struct gt_range_profiler *profiler, CUcontext context, struct gt_error *err)
{
	struct gt_range_enable params = {.size = SIZE_OF_range_enable, .context = context};
	const CUptiResult result = profiler->ranges->cuptiRangeProfilerEnable(&params);

	if (result != CUPTI_SUCCESS)
		return refuse(profiler, "cuptiRangeProfilerEnable", result, err);
	profiler->object = params.profiler;
	return 0;
}

static int make_data(const struct gt_range_profiler *profiler, struct gt_range_plan *plan,
                     struct gt_error *err)
{
	struct gt_range_data_size params =
		PARAMS(data_size, .metrics = plan->metrics, .count = plan->count,
	               .ranges = MOST_RANGES, .nodes = MOST_RANGES);
	const CUptiResult result = profiler->ranges->cuptiRangeProfilerGetCounterDataSize(&params);

	if (result != CUPTI_SUCCESS)
		return refuse(profiler, "cuptiRangeProfilerGetCounterDataSize", result, err);
	if (!gt_image_take(&plan->data, params.bytes))
		return gt_fail(err, ENOMEM,
		               "no kernel counters of GPU %u: there is no memory for them",
		               profiler->device);
	return 0;
}

/* In order, those that fit into one pass with those that were taken before. */
static int fit_into_pass(const struct gt_range_profiler *profiler, struct gt_range_plan *plan,
                         struct gt_error *err)
{
	const size_t count = plan->count;

	plan->count = 0;
	for (size_t i = 0; i < count; i++) {
		plan->metrics[plan->count++] = plan->metrics[i];
		if (schedule(profiler, plan, err) < 0 || plan->passes != 1)
			plan->count--;
	}
	if (plan->count == 0)
		return gt_fail(err, ENOTSUP,
		               "no counters of graphs on GPU %u: none of those that were asked for "
		               "fits into one pass, and a graph is run once",
		               profiler->device);
	return schedule(profiler, plan, err);
}

int gt_range_prepare(struct gt_range_profiler *profiler, CUcontext context, CUdevice device,
                     const struct gt_range_wanted *wanted, struct gt_error *err)
{
	struct gt_range_plan *plan = &profiler->plan;
	int result = initialise(profiler, err);

	if (result == 0)
		result = check_support(profiler, device, err);
	if (result == 0)
		result = choose_metrics(profiler, plan, wanted, err);
	if (result == 0)
		result = profiler->mode == GT_RANGE_GRAPH ? fit_into_pass(profiler, plan, err)
		                                          : schedule(profiler, plan, err);
	if (result == 0)
		result = enable(profiler, context, err);
	if (result == 0)
		result = make_data(profiler, plan, err);
	if (result < 0)
		gt_range_release(profiler);
	return result;
}

/* Every launch begins with an empty image, which the profiler has to be told of again. */
static CUptiResult configure(const struct gt_range_profiler *profiler,
                             const struct gt_range_plan *plan, const char **call)
{
	const bool graph = profiler->mode == GT_RANGE_GRAPH;
	struct gt_range_data_initialize image =
		PARAMS(data_initialize, .bytes = plan->data.size, .image = plan->data.bytes);
	struct gt_range_config config =
		PARAMS(config, .bytes = plan->chip.config.size, .image = plan->chip.config.bytes,
	               .data_bytes = plan->data.size, .data = plan->data.bytes,
	               .range = graph ? USER_RANGE : AUTO_RANGE,
	               .replay = graph ? USER_REPLAY : KERNEL_REPLAY, .ranges = MOST_RANGES,
	               .levels = 1, .first_level = 1, .target_level = graph);
	const CUptiResult result =
		profiler->ranges->cuptiRangeProfilerCounterDataImageInitialize(&image);

	*call = "cuptiRangeProfilerCounterDataImageInitialize";
	if (result != CUPTI_SUCCESS)
		return result;
	*call = "cuptiRangeProfilerSetConfig";
	return profiler->ranges->cuptiRangeProfilerSetConfig(&config);
}

static void stop(const struct gt_range_profiler *profiler)
{
	struct gt_range_stop params = PARAMS(stop, .reserved = NULL);

	(void)profiler->ranges->cuptiRangeProfilerStop(&params);
}

int gt_range_begin(struct gt_range_profiler *profiler, struct gt_error *err)
{
	struct gt_range_start start = PARAMS(start, .reserved = NULL);
	struct gt_range_push push = PARAMS(push, .name = "launch");
	const char *call;
	CUptiResult result;

	result = configure(profiler, &profiler->plan, &call);
	if (result == CUPTI_SUCCESS) {
		call = "cuptiRangeProfilerStart";
		result = profiler->ranges->cuptiRangeProfilerStart(&start);
	}
	if (result == CUPTI_SUCCESS && profiler->mode == GT_RANGE_GRAPH) {
		call = "cuptiRangeProfilerPushRange";
		result = profiler->ranges->cuptiRangeProfilerPushRange(&push);
		if (result != CUPTI_SUCCESS)
			stop(profiler);
	}
	return result == CUPTI_SUCCESS ? 0 : refuse(profiler, call, result, err);
}

static void evaluate(const struct gt_range_profiler *profiler, struct gt_range_plan *plan,
                     double *values)
{
	struct gt_profiler_host_evaluate params =
		GT_PROFILER_PARAMS(host_evaluate, .host = plan->chip.host,
	                           .image = plan->data.bytes, .bytes = plan->data.size, .sample = 0,
	                           .metrics = plan->metrics, .count = plan->count,
	                           .values = values);

	for (size_t i = 0; i < plan->count; i++)
		values[i] = NAN;
	(void)profiler->ranges->profiler.cuptiProfilerHostEvaluateToGpuValues(&params);
}

/* Which call said no is in call. */
static CUptiResult collect(const struct gt_range_profiler *profiler, const char **call)
{
	struct gt_range_pop pop = PARAMS(pop, .reserved = NULL);
	struct gt_range_stop stopped = PARAMS(stop, .reserved = NULL);
	struct gt_range_decode decode = PARAMS(decode, .dropped = 0);
	CUptiResult popped = CUPTI_SUCCESS;
	CUptiResult result;

	if (profiler->mode == GT_RANGE_GRAPH)
		popped = profiler->ranges->cuptiRangeProfilerPopRange(&pop);
	*call = "cuptiRangeProfilerStop";
	result = profiler->ranges->cuptiRangeProfilerStop(&stopped);
	if (result != CUPTI_SUCCESS)
		return result;
	*call = "cuptiRangeProfilerPopRange";
	if (popped != CUPTI_SUCCESS)
		return popped;
	*call = "cuptiRangeProfilerDecodeData";
	return profiler->ranges->cuptiRangeProfilerDecodeData(&decode);
}

int gt_range_end(struct gt_range_profiler *profiler, double *values, struct gt_error *err)
{
	struct gt_range_plan *plan = &profiler->plan;
	struct gt_range_data_info info = {.size = SIZE_OF_range_data_info,
	                                  .image = plan->data.bytes,
	                                  .bytes = plan->data.size};
	const char *call;
	CUptiResult result = collect(profiler, &call);

	if (result == CUPTI_SUCCESS) {
		call = "cuptiRangeProfilerGetCounterDataInfo";
		result = profiler->ranges->cuptiRangeProfilerGetCounterDataInfo(&info);
	}
	if (result != CUPTI_SUCCESS)
		return refuse(profiler, call, result, err);
	if (info.ranges == 1)
		evaluate(profiler, plan, values);
	return (int)info.ranges;
}

void gt_range_release(struct gt_range_profiler *profiler)
{
	struct gt_range_disable params = PARAMS(disable, .reserved = NULL);

	if (profiler->object)
		(void)profiler->ranges->cuptiRangeProfilerDisable(&params);
	profiler->object = NULL;
	forget(&profiler->plan);
	profiler->plan.count = 0;
}

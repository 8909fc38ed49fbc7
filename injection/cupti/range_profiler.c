/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/range_profiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>

#include "base/error.h"
#include "injection/cupti/cupti.h"

/* More than one, so that a launch that was not expected is noticed and takes no other's place. */
#define MOST_RANGES 8

enum { TYPE_OF_RANGES = 0 }; /* CUPTI_PROFILER_TYPE_RANGE_PROFILER */
enum { API_OF_RANGES = 0 };  /* CUPTI_PROFILER_RANGE_PROFILING */
enum { AUTO_RANGE = 1, USER_RANGE = 2, KERNEL_REPLAY = 2, USER_REPLAY = 3 };

/* The size that CUPTI wants to know: up to the end of the last member. */
#define STRUCT(name, theirs)
#define MEMBER(name, type, member, theirs)
#define END(name, last)                                                                            \
	enum {                                                                                     \
		SIZE_OF_##name = offsetof(struct gt_pm_##name, last) +                             \
		                 sizeof(((struct gt_pm_##name *)0)->last)                          \
	};
#include "injection/cupti/pm_structs.def"
#define STRUCT(name, theirs)
#define MEMBER(name, type, member, theirs)
#define END(name, last)                                                                            \
	enum {                                                                                     \
		SIZE_OF_range_##name = offsetof(struct gt_range_##name, last) +                    \
		                       sizeof(((struct gt_range_##name *)0)->last)                 \
	};
#include "injection/cupti/range_structs.def"

#define HOST_PARAMS(name, ...) ((struct gt_pm_##name){.size = SIZE_OF_##name, __VA_ARGS__})
#define PARAMS(name, ...)                                                                          \
	((struct gt_range_##name){                                                                 \
		.size = SIZE_OF_range_##name, .profiler = profiler->object, __VA_ARGS__})

bool gt_ranges_open(struct gt_ranges *ranges, const struct gt_cupti *cupti)
{
	bool whole = true;

	ranges->cupti = cupti;
	/* POSIX gives functions out as void pointers; C has no cast for that. */
#define HOST CALL
#define CALL(function, params)                                                                     \
	*(void **)&ranges->function = dlsym(cupti->handle, #function);                             \
	whole = whole && ranges->function;
#include "injection/cupti/range_calls.def"
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
	struct gt_pm_profiler_initialize params = HOST_PARAMS(profiler_initialize, NULL);
	CUptiResult result;

	if (profiler->ranges->initialised)
		return 0;
	result = profiler->ranges->cuptiProfilerInitialize(&params);
	if (result != CUPTI_SUCCESS)
		return refuse(profiler, "cuptiProfilerInitialize", result, err);
	profiler->ranges->initialised = true;
	return 0;
}

/* CUPTI's own verdict, where it has one. */
static int check_support(const struct gt_range_profiler *profiler, CUdevice device,
                         struct gt_error *err)
{
	struct gt_pm_device_supported params =
		HOST_PARAMS(device_supported, .device = device, .api = API_OF_RANGES);
	CUptiResult result;

	if (profiler->ranges->cuptiProfilerDeviceSupported(&params) != CUPTI_SUCCESS)
		return 0;
	result = gt_pm_verdict(&params);
	if (result == CUPTI_ERROR_NOT_SUPPORTED)
		return gt_fail(err, ENOTSUP,
		               "no kernel counters of GPU %u: CUPTI has none for this architecture",
		               profiler->device);
	return result == CUPTI_SUCCESS ? 0 : refuse(profiler, "", result, err);
}

static void end_host(const struct gt_ranges *ranges, void **host)
{
	struct gt_pm_host_deinitialize params = HOST_PARAMS(host_deinitialize, .host = *host);

	if (*host)
		(void)ranges->cuptiProfilerHostDeinitialize(&params);
	*host = NULL;
}

static int begin_host(const struct gt_range_profiler *profiler, void **host, struct gt_error *err)
{
	struct gt_pm_chip_name chip = HOST_PARAMS(chip_name, .device = profiler->device);
	struct gt_pm_host_initialize params = HOST_PARAMS(host_initialize, .type = TYPE_OF_RANGES);
	CUptiResult result = profiler->ranges->cuptiDeviceGetChipName(&chip);

	if (result != CUPTI_SUCCESS)
		return refuse(profiler, "cuptiDeviceGetChipName", result, err);
	params.chip = chip.name;
	result = profiler->ranges->cuptiProfilerHostInitialize(&params);
	if (result != CUPTI_SUCCESS)
		return gt_fail(err, ENOTSUP,
		               "no kernel counters of GPU %u: this libcupti does not know the chip "
		               "%s",
		               profiler->device, chip.name ? chip.name : "that it has");
	*host = params.host;
	return 0;
}

static bool property_of(const struct gt_ranges *ranges, void *host, const char *metric,
                        struct gt_pm_property *property)
{
	struct gt_pm_host_properties params =
		HOST_PARAMS(host_properties, .host = host, .metric = metric);

	if (ranges->cuptiProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS)
		return false;
	*property = (struct gt_pm_property){
		.unit = params.unit ? params.unit : "",
		.help = params.description ? params.description : "",
	};
	return true;
}

bool gt_range_property_of(const struct gt_range_profiler *profiler, const char *metric,
                          struct gt_pm_property *property)
{
	return property_of(profiler->ranges, profiler->plans[GT_RANGE_KERNEL].host, metric,
	                   property);
}

/* All in one call: CUPTI schedules what comes in calls of its own into passes of its own. */
static bool add_metrics(const struct gt_ranges *ranges, void *host, const char **metrics,
                        size_t count)
{
	struct gt_pm_host_add params =
		HOST_PARAMS(host_add, .host = host, .metrics = metrics, .count = count);

	return ranges->cuptiProfilerHostConfigAddMetrics(&params) == CUPTI_SUCCESS;
}

/* One that CUPTI refuses leaves the host object of no use: it is ended. */
static bool has_metric(const struct gt_range_profiler *profiler, void **host, const char *metric,
                       struct gt_error *err)
{
	struct gt_pm_property property;
	bool known;

	if (!*host && begin_host(profiler, host, err) < 0)
		return false;
	known = property_of(profiler->ranges, *host, metric, &property) &&
	        add_metrics(profiler->ranges, *host, &metric, 1);
	if (!known)
		end_host(profiler->ranges, host);
	return known;
}

static int choose_metrics(const struct gt_range_profiler *profiler, struct gt_range_plan *plan,
                          const struct gt_range_wanted *wanted, struct gt_error *err)
{
	void *host = NULL;
	const int result = begin_host(profiler, &host, err);

	for (size_t i = 0; i < wanted->count && result == 0; i++) {
		if (plan->count < GT_RANGE_METRICS &&
		    has_metric(profiler, &host, wanted->metrics[i], err))
			plan->metrics[plan->count++] = wanted->metrics[i];
		else
			wanted->unknown(wanted->context, wanted->metrics[i]);
	}
	end_host(profiler->ranges, &host);
	if (result == 0 && plan->count == 0)
		return gt_fail(err, ENOTSUP,
		               "no kernel counters of GPU %u: it has none of those that were asked "
		               "for",
		               profiler->device);
	return result;
}

static bool make_config(const struct gt_ranges *ranges, struct gt_range_plan *plan)
{
	struct gt_pm_host_config_size size = HOST_PARAMS(host_config_size, .host = plan->host);
	struct gt_pm_host_config config = HOST_PARAMS(host_config, .host = plan->host);
	struct gt_pm_host_passes passes = HOST_PARAMS(host_passes, .bytes = 0);

	if (ranges->cuptiProfilerHostGetConfigImageSize(&size) != CUPTI_SUCCESS ||
	    !gt_pm_take(&plan->config, size.bytes))
		return false;
	config.bytes = passes.bytes = plan->config.size;
	config.image = passes.image = plan->config.bytes;
	if (ranges->cuptiProfilerHostGetConfigImage(&config) != CUPTI_SUCCESS ||
	    ranges->cuptiProfilerHostGetNumOfPasses(&passes) != CUPTI_SUCCESS)
		return false;
	plan->passes = passes.passes;
	return true;
}

static void forget(const struct gt_ranges *ranges, struct gt_range_plan *plan)
{
	end_host(ranges, &plan->host);
	gt_pm_give_back(&plan->config);
	gt_pm_give_back(&plan->data);
}

/* A host object and a configuration of the plan's metrics. */
static int schedule(const struct gt_range_profiler *profiler, struct gt_range_plan *plan,
                    struct gt_error *err)
{
	int result;

	forget(profiler->ranges, plan);
	result = begin_host(profiler, &plan->host, err);
	if (result < 0)
		return result;
	if (!add_metrics(profiler->ranges, plan->host, plan->metrics, plan->count) ||
	    !make_config(profiler->ranges, plan))
		return gt_fail(err, ENOTSUP,
		               "no kernel counters of GPU %u: they cannot be scheduled",
		               profiler->device);
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
	if (!gt_pm_take(&plan->data, params.bytes))
		return gt_fail(err, ENOMEM,
		               "no kernel counters of GPU %u: there is no memory for them",
		               profiler->device);
	return 0;
}

int gt_range_prepare(struct gt_range_profiler *profiler, CUcontext context, CUdevice device,
                     const struct gt_range_wanted *wanted, struct gt_error *err)
{
	struct gt_range_plan *plan = &profiler->plans[GT_RANGE_KERNEL];
	int result = initialise(profiler, err);

	if (result == 0)
		result = check_support(profiler, device, err);
	if (result == 0)
		result = choose_metrics(profiler, plan, wanted, err);
	if (result == 0)
		result = schedule(profiler, plan, err);
	if (result == 0)
		result = enable(profiler, context, err);
	if (result == 0)
		result = make_data(profiler, plan, err);
	if (result < 0)
		gt_range_release(profiler);
	return result;
}

/* In order, those that fit into one pass with those that were taken before. */
int gt_range_prepare_graphs(struct gt_range_profiler *profiler, struct gt_error *err)
{
	const struct gt_range_plan *all = &profiler->plans[GT_RANGE_KERNEL];
	struct gt_range_plan *plan = &profiler->plans[GT_RANGE_GRAPH];
	int result = 0;

	plan->count = 0;
	for (size_t i = 0; i < all->count; i++) {
		plan->metrics[plan->count++] = all->metrics[i];
		if (schedule(profiler, plan, err) < 0 || plan->passes != 1)
			plan->count--;
	}
	if (plan->count == 0)
		result = gt_fail(err, ENOTSUP,
		                 "no counters of graphs on GPU %u: none of those that were asked "
		                 "for fits into one pass, and a graph is run once",
		                 profiler->device);
	if (result == 0)
		result = schedule(profiler, plan, err);
	if (result == 0)
		result = make_data(profiler, plan, err);
	if (result < 0)
		forget(profiler->ranges, plan);
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
		PARAMS(config, .bytes = plan->config.size, .image = plan->config.bytes,
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

int gt_range_begin(struct gt_range_profiler *profiler, enum gt_range_mode mode,
                   struct gt_error *err)
{
	struct gt_range_start start = PARAMS(start, .reserved = NULL);
	struct gt_range_push push = PARAMS(push, .name = "launch");
	const char *call;
	CUptiResult result;

	profiler->mode = mode;
	result = configure(profiler, &profiler->plans[mode], &call);
	if (result == CUPTI_SUCCESS) {
		call = "cuptiRangeProfilerStart";
		result = profiler->ranges->cuptiRangeProfilerStart(&start);
	}
	if (result == CUPTI_SUCCESS && mode == GT_RANGE_GRAPH) {
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
	struct gt_pm_host_evaluate params =
		HOST_PARAMS(host_evaluate, .host = plan->host, .image = plan->data.bytes,
	                    .bytes = plan->data.size, .sample = 0, .metrics = plan->metrics,
	                    .count = plan->count, .values = values);

	for (size_t i = 0; i < plan->count; i++)
		values[i] = NAN;
	(void)profiler->ranges->cuptiProfilerHostEvaluateToGpuValues(&params);
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
	struct gt_range_plan *plan = &profiler->plans[profiler->mode];
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
	for (size_t i = 0; i < GT_RANGE_MODES; i++) {
		forget(profiler->ranges, &profiler->plans[i]);
		profiler->plans[i].count = 0;
	}
}

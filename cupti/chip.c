/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti/chip.h"

#include <errno.h>

#include "cupti/profiler.h"

static void end_host(struct gt_chip *chip)
{
	struct gt_profiler_host_deinitialize params =
		GT_PROFILER_PARAMS(host_deinitialize, .host = chip->host);

	if (chip->host)
		(void)chip->profiler->cuptiProfilerHostDeinitialize(&params);
	chip->host = NULL;
}

bool gt_chip_begin(struct gt_chip *chip)
{
	struct gt_profiler_host_initialize params =
		GT_PROFILER_PARAMS(host_initialize, .type = (int)chip->way, .chip = chip->name,
	                           .availability = chip->availability);

	end_host(chip);
	if (!chip->name || chip->profiler->cuptiProfilerHostInitialize(&params) != 0)
		return false;
	chip->host = params.host;
	return true;
}

void gt_chip_release(struct gt_chip *chip)
{
	end_host(chip);
	gt_image_release(&chip->config);
}

/*
 * All in one call: what comes in calls of its own CUPTI puts into passes of its own. A call that it
 * refuses leaves the host object of no use.
 */
static bool add_metrics(const struct gt_chip *chip, const char *const *metrics, size_t count)
{
	struct gt_profiler_host_add params = GT_PROFILER_PARAMS(host_add, .host = chip->host,
	                                                        .metrics = metrics, .count = count);

	return chip->profiler->cuptiProfilerHostConfigAddMetrics(&params) == 0;
}

static bool make_config(struct gt_chip *chip)
{
	struct gt_profiler_host_config_size size =
		GT_PROFILER_PARAMS(host_config_size, .host = chip->host);
	struct gt_profiler_host_config config = GT_PROFILER_PARAMS(host_config, .host = chip->host);

	if (chip->profiler->cuptiProfilerHostGetConfigImageSize(&size) != 0 ||
	    !gt_image_take(&chip->config, size.bytes))
		return false;
	config.bytes = chip->config.size;
	config.image = chip->config.bytes;
	return chip->profiler->cuptiProfilerHostGetConfigImage(&config) == 0;
}

int gt_chip_schedule(struct gt_chip *chip, const char *const *metrics, size_t count)
{
	struct gt_profiler_host_passes params = GT_PROFILER_PARAMS(host_passes, .bytes = 0);

	if (!gt_chip_begin(chip))
		return -ENOTSUP;
	if (!add_metrics(chip, metrics, count) || !make_config(chip))
		return 0;
	params.bytes = chip->config.size;
	params.image = chip->config.bytes;
	if (chip->profiler->cuptiProfilerHostGetNumOfPasses(&params) != 0)
		return 0;
	return (int)params.passes;
}

/* A metric that CUPTI does not count with others may be one that it does not know at all. */
static int tell_apart(struct gt_chip *chip, struct gt_metric_wanted *wanted)
{
	const int passes = gt_chip_schedule(chip, &wanted->metric, 1);

	wanted->outcome = passes == 0 ? GT_METRIC_UNKNOWN : GT_METRIC_NO_ROOM;
	return passes;
}

static int try_metric(struct gt_chip *chip, struct gt_metric_wanted *wanted, const char **taken,
                      size_t *count)
{
	int passes;

	taken[*count] = wanted->metric;
	passes = gt_chip_schedule(chip, taken, *count + 1);
	if (passes != 1)
		return passes == 0 ? tell_apart(chip, wanted) : passes;
	wanted->outcome = GT_METRIC_TAKEN;
	++*count;
	return passes;
}

int gt_chip_fit(struct gt_chip *chip, struct gt_metric_wanted *wanted, size_t wanted_count,
                const char **taken, size_t most, size_t *count)
{
	bool had = false; /* one of those that stand in for each other */
	int passes = 0;

	*count = 0;
	for (size_t i = 0; i < wanted_count && passes >= 0; i++) {
		const size_t before = *count;

		had = had && wanted[i].instead;
		wanted[i].outcome = had ? GT_METRIC_UNUSED : GT_METRIC_NO_ROOM;
		if (had || *count == most)
			continue;
		passes = try_metric(chip, &wanted[i], taken, count);
		had = *count > before;
	}
	if (passes >= 0 && *count > 0)
		passes = gt_chip_schedule(chip, taken, *count);
	return passes < 0 ? passes : 0;
}

enum gt_metric_outcome gt_metric_outcome_of(const struct gt_metric_wanted *wanted, size_t count,
                                            size_t first)
{
	enum gt_metric_outcome outcome = wanted[first].outcome;

	for (size_t i = first + 1; i < count && wanted[i].instead; i++)
		if (wanted[i].outcome == GT_METRIC_TAKEN ||
		    (wanted[i].outcome == GT_METRIC_NO_ROOM && outcome == GT_METRIC_UNKNOWN))
			outcome = wanted[i].outcome;
	return outcome;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

bool gt_chip_property_of(const struct gt_chip *chip, const char *metric,
                         struct gt_metric_property *property)
{
	struct gt_profiler_host_properties params =
		GT_PROFILER_PARAMS(host_properties, .host = chip->host, .metric = metric);

	if (chip->profiler->cuptiProfilerHostGetMetricProperties(&params) != 0)
		return false;
	*property = (struct gt_metric_property){
		.unit = or_empty(params.unit),
		.help = or_empty(params.description),
		.hardware = or_empty(params.hardware_unit),
	};
	return true;
}

struct gt_metric_names gt_chip_metrics(const struct gt_chip *chip, enum gt_metric_type type)
{
	struct gt_profiler_host_metrics params =
		GT_PROFILER_PARAMS(host_metrics, .host = chip->host, .type = (int)type);

	if (chip->profiler->cuptiProfilerHostGetBaseMetrics(&params) != 0)
		return (struct gt_metric_names){0};
	return (struct gt_metric_names){params.names, params.count};
}

struct gt_metric_names gt_chip_forms(const struct gt_chip *chip, enum gt_metric_type type,
                                     const char *metric)
{
	struct gt_profiler_host_forms params = GT_PROFILER_PARAMS(
		host_forms, .host = chip->host, .type = (int)type, .metric = metric);

	if (chip->profiler->cuptiProfilerHostGetSubMetrics(&params) != 0)
		return (struct gt_metric_names){0};
	return (struct gt_metric_names){params.names, params.count};
}

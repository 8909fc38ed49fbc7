/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/known.h"

#include <stdlib.h>

#include "base/array.h"

/* Sets of PM sampling; the first one holds all. */
enum { IN_default = 1, IN_memory = 2, IN_compute = 4, IN_links = 8, IN_clocks = 16 };

static const char *const sets_of_samples[] = {"default", "memory", "compute", "links", "clocks"};

static const struct gt_known_counter samples[] = {
#define COUNTER(name, unit, kind, set, group, metric, help)                                        \
	{#name, unit, metric, help, IN_default | IN_##set, false},
#define INSTEAD(name, metric) {#name, "", metric, "", 0, true},
#include "format/kinds/pm_counters.def"
};

/* Sets of the range profiler. */
enum { DEFAULT = 1, MEMORY = 2, COMPUTE = 4, OCCUPANCY = 8, FLOPS = 16 };

static const char *const sets_of_launches[] = {"default", "memory", "compute", "occupancy",
                                               "flops"};

static const struct gt_known_counter launches[] = {
#define COUNTER(name, unit, sets, metric, help) {#name, unit, metric, help, sets, false},
#include "format/kinds/kernel_counters.def"
};

const struct gt_known_list gt_known_lists[] = {
	{
		.option = "--counters",
		.counted = "samples",
		.way = GT_CHIP_SAMPLES,
		.sets = sets_of_samples,
		.set_count = GT_COUNT_OF(sets_of_samples),
		.counters = samples,
		.count = GT_COUNT_OF(samples),
	},
	{
		.option = "--kernel-counters",
		.counted = "launches",
		.way = GT_CHIP_RANGES,
		.sets = sets_of_launches,
		.set_count = GT_COUNT_OF(sets_of_launches),
		.counters = launches,
		.count = GT_COUNT_OF(launches),
	},
};

const size_t gt_known_list_count = GT_COUNT_OF(gt_known_lists);

static bool is_in(const struct gt_known_list *list, size_t counter, size_t set)
{
	while (counter > 0 && list->counters[counter].instead)
		counter--;
	return list->counters[counter].sets >> set & 1;
}

/* The indices of the set's counters and of what stands in for them. */
static size_t choose(const struct gt_known_list *list, size_t set, struct gt_metric_wanted *chosen,
                     size_t *indices)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!is_in(list, i, set))
			continue;
		chosen[count] = (struct gt_metric_wanted){.metric = list->counters[i].metric,
		                                          .instead = list->counters[i].instead};
		indices[count++] = i;
	}
	return count;
}

/* Samples have one pass; launches are run again for each. */
static int schedule_all(struct gt_chip *chip, struct gt_metric_wanted *wanted, size_t count,
                        const char **taken, size_t *taken_count)
{
	int passes = 0;

	if (chip->way == GT_CHIP_SAMPLES)
		return gt_chip_fit(chip, wanted, count, taken, count, taken_count);
	*taken_count = 0;
	for (size_t i = 0; i < count && passes >= 0; i++) {
		passes = gt_chip_schedule(chip, &wanted[i].metric, 1);
		wanted[i].outcome = passes > 0 ? GT_METRIC_TAKEN : GT_METRIC_UNKNOWN;
		if (passes > 0)
			taken[(*taken_count)++] = wanted[i].metric;
	}
	return passes < 0 ? passes : 0;
}

int gt_known_schedule(const struct gt_known_list *list, size_t set, struct gt_chip *chip,
                      struct gt_metric_wanted *wanted, struct gt_known_set *what)
{
	struct gt_metric_wanted *chosen = gt_allocate(list->count * sizeof(*chosen));
	const char **taken = gt_allocate(list->count * sizeof(*taken));
	size_t *indices = gt_allocate(list->count * sizeof(*indices));
	const size_t count = choose(list, set, chosen, indices);
	size_t taken_count = 0;
	int result = schedule_all(chip, chosen, count, taken, &taken_count);

	*what = (struct gt_known_set){0};
	for (size_t i = 0; i < list->count; i++)
		wanted[i] = (struct gt_metric_wanted){.metric = list->counters[i].metric,
		                                      .instead = list->counters[i].instead,
		                                      .outcome = GT_METRIC_UNUSED};
	for (size_t i = 0; i < count; i++) {
		wanted[indices[i]].outcome = chosen[i].outcome;
		what->counters += !chosen[i].instead;
	}
	what->left_out = what->counters - taken_count;
	if (result == 0 && taken_count > 0)
		result = gt_chip_schedule(chip, taken, taken_count);
	what->passes = result > 0 ? result : 0;
	free(chosen);
	free((void *)taken);
	free(indices);
	return result < 0 ? result : 0;
}

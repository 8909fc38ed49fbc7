/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>

#include "analysis/energy/step_energy.h"
#include "analysis/figures.h"
#include "analysis/ranges/steps/steps.h"
#include "analysis/reports/energy/tables.h"
#include "analysis/result.h"
#include "base/array.h"

static const struct gt_heading headings[] = {
	{"steps", GT_UNIT_COUNT, "Ranges of the path that ended", GT_WORTH_KEY},
	{"told", GT_UNIT_COUNT, "Steps whose joules are known: the figures are of these"},
	{"mean_joules", GT_UNIT_JOULES,
         "All that the boards of the GPUs that the process used drew in a step", GT_WORTH_KEY},
	{"min_joules", GT_UNIT_JOULES,
         "Least, where no such step is shorter than the interval of samples"},
	{"max_joules", GT_UNIT_JOULES, "Most, likewise"},
	{"mean_watts", GT_UNIT_WATTS,
         "Their joules / their wall time; of all those boards together"},
	{"units", GT_UNIT_REAL,
         "Sum of the numbers that these steps have as payload, where all have one",
         GT_WORTH_LITTLE},
	{"per_unit_joules", GT_UNIT_JOULES, "Their joules / units", GT_WORTH_KEY},
	{"process", GT_UNIT_TEXT, "Process whose steps they are", GT_WORTH_NAME},
	{"range", GT_UNIT_TEXT, "Path of the range that is a step", GT_WORTH_NAME},
};

/* Steps of one process whose joules are known. */
struct totals {
	uint64_t told;
	double joules;
	double least;
	double most;
	double units; /* NAN: one of them has none */
	int64_t wall_ns;
	int64_t shortest_ns;
};

static void add_step(struct totals *totals, const struct gt_step *step, double joules, double units)
{
	const int64_t wall_ns = gt_step_wall(step);

	if (isnan(joules))
		return;
	totals->told++;
	totals->joules += joules;
	totals->least = fmin(totals->least, joules);
	totals->most = fmax(totals->most, joules);
	totals->units += units;
	totals->wall_ns += wall_ns;
	if (wall_ns < totals->shortest_ns)
		totals->shortest_ns = wall_ns;
}

static struct totals totals_of(const struct gt_steps *steps, const struct gt_step_group *group,
                               const double *joules)
{
	const struct gt_trace *trace = steps->ranges.trace;
	struct totals totals = {.least = INFINITY, .shortest_ns = INT64_MAX};

	for (size_t i = group->first; i < group->first + group->count; i++) {
		const struct gt_step *step = &steps->rows.rows[i];

		add_step(&totals, step, joules[i],
		         step->range == GT_NONE
		                 ? NAN
		                 : gt_units_of_range(&trace->ranges.rows[step->range]));
	}
	return totals;
}

static void add_group(struct gt_result *result, const struct gt_steps *steps,
                      const struct gt_step_group *group, const struct totals *totals,
                      gt_time interval_ns)
{
	const bool told = totals->told > 0;
	const bool apart = told && totals->shortest_ns >= interval_ns;
	char path[GT_RANGE_PATH_BYTES];

	gt_result_add_count(result, (int64_t)group->count);
	gt_result_add_count(result, (int64_t)totals->told);
	gt_result_add_real(result, told ? totals->joules / (double)totals->told : NAN);
	gt_result_add_real(result, apart ? totals->least : NAN);
	gt_result_add_real(result, apart ? totals->most : NAN);
	gt_result_add_real(
		result, totals->wall_ns > 0 ? totals->joules * 1e9 / (double)totals->wall_ns : NAN);
	gt_result_add_real(result, told ? totals->units : NAN);
	gt_result_add_real(result,
	                   told && totals->units > 0 ? totals->joules / totals->units : NAN);
	gt_add_process(result, steps->ranges.trace, steps->rows.rows[group->first].process);
	gt_steps_name(steps, path);
	gt_result_add_format(result, "%s", path);
}

void gt_add_energy_steps(struct gt_result *result, const struct gt_boards *boards,
                         const struct gt_view *view)
{
	const gt_time interval_ns = gt_boards_interval(boards);
	struct gt_steps steps;
	double *joules;

	gt_steps_init(&steps, view);
	joules = gt_energy_of_steps(boards, &steps);
	gt_result_begin(result, "steps", headings, GT_COUNT_OF(headings));
	gt_array_each(const struct gt_step_group, group, &steps.groups) {
		const struct totals totals = totals_of(&steps, group, joules);

		add_group(result, &steps, group, &totals, interval_ns);
	}
	gt_array_free(joules);
	gt_steps_release(&steps);
}

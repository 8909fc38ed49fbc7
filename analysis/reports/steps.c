/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/steps/steps.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/range_threads.h"
#include "analysis/ranges/steps/difference.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/statistics/spread.h"
#include "analysis/time/profiled.h"
#include "base/array.h"
#include "base/sums.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading step_headings[] = {
	{"steps", GT_UNIT_COUNT, "Ranges of the path that ended", GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "Wall time of one, on average", GT_WORTH_KEY},
	{"deviation_ns", GT_UNIT_NS, "Standard deviation of the sample (n - 1); needs two steps",
         GT_WORTH_KEY, .label = "stddev"},
	{"median_ns", GT_UNIT_NS, "Half of them took no longer", GT_WORTH_KEY, .label = "p50"},
	{"p95_ns", GT_UNIT_NS, "95 percent of them took no longer", GT_WORTH_KEY},
	{"min_ns", GT_UNIT_NS, "Shortest"},
	{"max_ns", GT_UNIT_NS, "Longest"},
	{"busy_percent", GT_UNIT_PERCENT,
         "Share of the steps' wall time in which work of the step ran on any GPU"},
	{"quiet_percent", GT_UNIT_PERCENT,
         "Share of the steps' wall time in which no recorded GPU ran anything"},
	{"host_percent", GT_UNIT_PERCENT,
         "Share of the steps' wall time in which the step's thread was in no CUDA call"},
	{"kernels", GT_UNIT_REAL, "Kernels of one, on average", GT_WORTH_LITTLE},
	{"process", GT_UNIT_TEXT, "Process whose steps they are", GT_WORTH_NAME},
	{"range", GT_UNIT_TEXT, "Path of the range that is a step", GT_WORTH_NAME},
};

static const struct gt_heading each_headings[] = {
	{"step", GT_UNIT_COUNT, "Number in its process, from 1", GT_WORTH_KEY},
	{"start_time_ns", GT_UNIT_TIME, "When it began, since the recording began",
         GT_WORTH_LITTLE},
	{"wall_ns", GT_UNIT_NS, "Its end - its begin, on the host", GT_WORTH_KEY},
	{"times", GT_UNIT_REAL, "wall_ns / the median of its process"},
	{"busy_ns", GT_UNIT_NS, "Part of wall_ns in which its work ran on any GPU", GT_WORTH_KEY},
	{"quiet_ns", GT_UNIT_NS, "Part of wall_ns in which no recorded GPU ran anything",
         GT_WORTH_KEY},
	{"host_ns", GT_UNIT_NS, "Part of wall_ns in which its thread was in no CUDA call"},
	{"gpu_ns", GT_UNIT_NS, "Time in which its work ran, also after its end; summed over GPUs",
         GT_WORTH_LITTLE},
	{"kernels", GT_UNIT_COUNT, "Kernels with times that were launched for it"},
	{"copies", GT_UNIT_COUNT, "Copies with times", GT_WORTH_LITTLE},
	{"copied_bytes", GT_UNIT_BYTES, "Bytes of these copies"},
	{"peak_bytes", GT_UNIT_BYTES,
         "Most memory of GPUs that its process had allocated during it"},
	{"process", GT_UNIT_TEXT, "Process whose step it is", GT_WORTH_NAME},
};

static const struct gt_heading difference_headings[] = {
	{"more_ns", GT_UNIT_NS, "slowest_ns - median_ns", GT_WORTH_KEY},
	{"slowest_ns", GT_UNIT_NS, "Sum of their times in the slowest step", GT_WORTH_KEY},
	{"median_ns", GT_UNIT_NS, "The same in the step of median length", GT_WORTH_KEY},
	{"slowest", GT_UNIT_COUNT, "How many there were in the slowest step"},
	{"median", GT_UNIT_COUNT, "The same in the step of median length"},
	{"slowest_step", GT_UNIT_COUNT, "Number of the slowest step", GT_WORTH_LITTLE},
	{"median_step", GT_UNIT_COUNT, "Number of the step of median length", GT_WORTH_LITTLE},
	{"what", GT_UNIT_TEXT, "kernel: on GPUs; call: of the step's thread", GT_WORTH_NAME},
	{"function", GT_UNIT_TEXT, "Function of the kernels or calls", GT_WORTH_NAME},
	{"process", GT_UNIT_TEXT, "Process whose steps they are", GT_WORTH_LESSER_NAME},
};

static const struct gt_parameter parameters[] = {
	{"top", GT_PARAMETER_ROWS, "10", "Rows of each step, those that took longest first"},
	{"differences", GT_PARAMETER_ROWS, "8",
         "Rows of the slowest step, those that differ most first"},
	{0},
};

enum { TOP, DIFFERENCES }; /* arguments, as above */

/* Whether it is known which work belongs to a step. */
static bool knows_work(const struct gt_steps *steps)
{
	return gt_trace_has_calls(steps->ranges.trace) && gt_trace_has_work(steps->ranges.trace);
}

static double percent_if(bool known, uint64_t part_ns, uint64_t shown_ns)
{
	return known ? gt_percent((double)part_ns, (double)shown_ns) : NAN;
}

static void add_group(const struct gt_steps *steps, const struct gt_step_group *group,
                      struct gt_result *result)
{
	const struct gt_trace *trace = steps->ranges.trace;
	const struct gt_step *first = &steps->rows.rows[group->first];
	const struct gt_spread *wall = &group->wall.spread;
	char path[GT_RANGE_PATH_BYTES];
	struct gt_step sum = {0};

	for (const struct gt_step *step = first; step < first + group->count; step++) {
		gt_sum_add(&sum.shown_ns, step->shown_ns);
		gt_sum_add(&sum.busy_ns, step->busy_ns);
		gt_sum_add(&sum.quiet_ns, step->quiet_ns);
		gt_sum_add(&sum.host_ns, step->host_ns);
		sum.kernels += step->kernels;
	}
	gt_result_add_count(result, (int64_t)group->count);
	gt_add_rounded(result, wall->mean);
	gt_add_rounded(result, wall->deviation);
	gt_result_add_count(result, wall->median);
	gt_result_add_count(result, group->wall.p95);
	gt_result_add_count(result, wall->min);
	gt_result_add_count(result, wall->max);
	gt_result_add_real(result, percent_if(knows_work(steps), sum.busy_ns, sum.shown_ns));
	gt_result_add_real(result,
	                   percent_if(gt_trace_has_work(trace), sum.quiet_ns, sum.shown_ns));
	gt_result_add_real(result,
	                   percent_if(gt_trace_has_calls(trace), sum.host_ns, sum.shown_ns));
	gt_result_add_real(result,
	                   knows_work(steps) ? (double)sum.kernels / (double)group->count : NAN);
	gt_add_process(result, trace, first->process);
	gt_steps_name(steps, path);
	gt_result_add_format(result, "%s", path);
}

struct row {
	const struct gt_step *step;
	int64_t median_ns;
};

static int longest_first(const void *a, const void *b)
{
	const struct row *left = a;
	const struct row *right = b;
	const int64_t left_ns = gt_step_wall(left->step);
	const int64_t right_ns = gt_step_wall(right->step);

	if (left_ns != right_ns)
		return left_ns < right_ns ? 1 : -1;
	return (left->step > right->step) - (left->step < right->step);
}

static void add_step(const struct gt_steps *steps, const struct row *row, struct gt_result *result)
{
	const struct gt_step *step = row->step;
	const struct gt_trace *trace = steps->ranges.trace;
	const bool known = knows_work(steps);

	gt_result_add_count(result, (int64_t)step->number);
	gt_add_moment(result, trace, step->start_ns);
	gt_result_add_count(result, gt_step_wall(step));
	gt_result_add_real(result, row->median_ns > 0
	                                   ? (double)gt_step_wall(step) / (double)row->median_ns
	                                   : NAN);
	gt_result_add_count_if(result, known, (int64_t)step->busy_ns);
	gt_result_add_count_if(result, gt_trace_has_work(trace), (int64_t)step->quiet_ns);
	gt_result_add_count_if(result, gt_trace_has_calls(trace), (int64_t)step->host_ns);
	gt_result_add_count_if(result, known, (int64_t)step->gpu_ns);
	gt_result_add_count_if(result, known, (int64_t)step->kernels);
	gt_result_add_count_if(result, known, (int64_t)step->copies);
	gt_result_add_count_if(result, known, (int64_t)step->copied_bytes);
	gt_result_add_count_if(result, steps->knows_memory, (int64_t)step->peak_bytes);
	gt_add_process(result, trace, step->process);
}

static void add_each(const struct gt_steps *steps, const struct gt_arguments *arguments,
                     struct gt_result *result)
{
	struct row *rows = gt_allocate(steps->rows.count * sizeof(*rows));

	gt_array_each(const struct gt_step_group, group, &steps->groups)
		for (size_t i = group->first; i < group->first + group->count; i++)
			rows[i] = (struct row){&steps->rows.rows[i], group->wall.spread.median};
	if (steps->rows.count > 1)
		qsort(rows, steps->rows.count, sizeof(*rows), longest_first);
	gt_result_begin(result, "each_step", each_headings, GT_COUNT_OF(each_headings));
	gt_result_top(result, steps->rows.count, arguments->values[TOP].number);
	for (size_t i = 0; i < steps->rows.count && i < arguments->values[TOP].number; i++)
		add_step(steps, &rows[i], result);
	gt_array_free(rows);
}

static void add_difference(const struct gt_steps *steps, const struct gt_step_pair *pair,
                           const struct gt_step_difference *row, struct gt_result *result)
{
	gt_result_add_count(result, row->slowest_ns - row->median_ns);
	gt_result_add_count(result, row->slowest_ns);
	gt_result_add_count(result, row->median_ns);
	gt_result_add_count(result, (int64_t)row->slowest_count);
	gt_result_add_count(result, (int64_t)row->median_count);
	gt_result_add_count(result, (int64_t)pair->slowest->number);
	gt_result_add_count(result, (int64_t)pair->median->number);
	gt_result_add_text(result, row->part == GT_STEP_KERNEL ? "kernel" : "call");
	gt_result_add_text(result, row->name);
	gt_add_process(result, steps->ranges.trace, pair->slowest->process);
}

static void add_slowest(const struct gt_steps *steps, const struct gt_arguments *arguments,
                        struct gt_result *result)
{
	struct gt_step_differences differences;
	uint64_t shown = 0; /* rows of the pair */

	gt_result_begin(result, "slowest", difference_headings, GT_COUNT_OF(difference_headings));
	gt_step_differences_init(&differences, steps);
	for (size_t i = 0; i < differences.rows.count; i++) {
		const struct gt_step_difference *row = &differences.rows.rows[i];

		shown = i > 0 && row[-1].pair == row->pair ? shown + 1 : 0;
		if (shown < arguments->values[DIFFERENCES].number)
			add_difference(steps, &differences.pairs.rows[row->pair], row, result);
	}
	gt_step_differences_release(&differences);
}

static void remark_guessed(const struct gt_steps *steps, struct gt_result *result)
{
	gt_result_remark(result,
	                 "%s These steps are guessed: the same kernels are launched again and "
	                 "again, and a step goes from a launch of %s to the next. NVTX ranges "
	                 "around the program's own steps say it without a guess.",
	                 steps->ranges.trace->ranges.count == 0
	                         ? "No NVTX ranges were recorded."
	                         : "No range that may be a step repeats.",
	                 steps->anchor);
	if (steps->others > 0)
		gt_result_remark(
			result,
			"Left out, as they have half as many launches again as a step or a "
			"third fewer: %s stretches between launches of that kernel.",
			gt_grouped(steps->others).text);
}

static void add_remarks(const struct gt_steps *steps, struct gt_result *result)
{
	const struct gt_trace *trace = steps->ranges.trace;
	char path[GT_RANGE_PATH_BYTES];

	if (steps->path == GT_NONE && !steps->anchor) {
		gt_result_remark_empty(
			result,
			trace->ranges.count == 0
				? "No NVTX ranges were recorded, and no kernels repeat as in steps."
				: "No range that may be a step ended %d times or more, and no "
				  "kernels repeat as in steps: --range NAME says which range is a "
				  "step.",
			GT_STEPS_LEAST);
		return;
	}
	if (steps->anchor)
		remark_guessed(steps, result);
	gt_steps_name(steps, path);
	if (steps->path != GT_NONE && !steps->was_chosen)
		gt_result_remark(
			result,
			"Steps are the ranges %s: of those that may be steps and ended %d times or "
			"more they took most time. --range NAME chooses others.",
			path, GT_STEPS_LEAST);
	if (steps->open > 0)
		gt_result_remark(result, "%s of these ranges did not end, and are no steps.",
		                 gt_grouped(steps->open).text);
	if (!gt_trace_has_calls(trace))
		gt_result_remark(result, "%s: which work belongs to a step is not known.",
		                 gt_no_calls(trace));
	if (knows_work(steps) && steps->path != GT_NONE) {
		const struct gt_range_threads threads = gt_range_threads_of(&steps->ranges);

		gt_remark_range_threads(result, &threads);
	}
	gt_remark_held_up(result, trace);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_steps steps;

	(void)err;
	gt_steps_init(&steps, view);
	gt_result_begin(result, "steps", step_headings, GT_COUNT_OF(step_headings));
	gt_array_each(const struct gt_step_group, group, &steps.groups)
		add_group(&steps, group, result);
	add_slowest(&steps, arguments, result);
	add_each(&steps, arguments, result);
	add_remarks(&steps, result);
	gt_steps_release(&steps);
	return 0;
}

const struct gt_report gt_report_steps = {
	.name = "steps",
	.summary = "Wall time of each step, its work on GPUs, and the slowest one",
	.parameters = parameters,
	.run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/steps/steps.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/memory/peaks.h"
#include "analysis/ranges/steps/guessed.h"
#include "analysis/ranges/steps/launching.h"
#include "analysis/time/covered.h"
#include "base/sums.h"
#include "model/naming/operations.h"
#include "model/ranges/projection.h"
#include "model/ranges/quiet.h"
#include "model/whole.h"
#include "model/work/timed.h"

/* ---- which path ---- */

/* Whether a range may be a step, if it ended. */
static bool may_be_step(const struct gt_steps *steps, const struct gt_range *range)
{
	return !(range->flags & GT_AROUND) && (!steps->was_chosen || range->flags & GT_CHOSEN);
}

static bool has_ended(const struct gt_range *range)
{
	return gt_timed(GT_TIMES_ANY, range->flags, range->start_ns, range->end_ns);
}

/* Ranges of a path that may be steps. */
struct path_total {
	uint64_t count;
	uint64_t wall_ns;
};

static struct path_total *count_paths(const struct gt_steps *steps)
{
	const struct gt_trace *trace = steps->ranges.trace;
	struct path_total *totals =
		gt_allocate_zeroed(steps->ranges.paths.count + 1, sizeof(*totals));

	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];
		struct path_total *total = &totals[steps->ranges.path_of[i]];

		if (!may_be_step(steps, range) || !has_ended(range))
			continue;
		total->count++;
		gt_sum_add(&total->wall_ns, (uint64_t)(range->end_ns - range->start_ns));
	}
	return totals;
}

static const char *domain_of(const struct gt_ranges *ranges, gt_id path)
{
	return gt_trace_text(ranges->trace,
	                     ranges->names.rows[ranges->paths.rows[path].name].domain);
}

static struct gt_operation operation_of(const struct gt_ranges *ranges, gt_id path)
{
	const struct gt_range_name *name = &ranges->names.rows[ranges->paths.rows[path].name];

	return gt_operation_of(domain_of(ranges, path), gt_trace_text(ranges->trace, name->text));
}

static bool is_library(const struct gt_ranges *ranges, gt_id path)
{
	return operation_of(ranges, path).kind == GT_OPERATION_OP ||
	       gt_domain_is_library(domain_of(ranges, path));
}

/* Whether a path is in one of a library, and a part of a model also in another part of one. */
static bool lies_inside(const struct gt_ranges *ranges, gt_id path, bool is_part)
{
	for (gt_id outer = ranges->paths.rows[path].outer; outer != GT_NONE;
	     outer = ranges->paths.rows[outer].outer)
		if (is_library(ranges, outer) ||
		    (is_part && operation_of(ranges, outer).kind != GT_OPERATION_NONE))
			return true;
	return false;
}

/*
 * Parts of models, operations of PyTorch and what libraries do repeat in a step, as XLA's modules
 * and their instructions, or before all steps, as its compiler; so does what is inside of them. A
 * whole model or an optimizer may be one.
 */
static bool is_no_step(const struct gt_ranges *ranges, gt_id path)
{
	const struct gt_operation operation = operation_of(ranges, path);
	const bool is_part = operation.kind == GT_OPERATION_MODULE;

	return is_library(ranges, path) ||
	       (is_part && operation.direction == GT_DIRECTION_BACKWARD) ||
	       lies_inside(ranges, path, is_part);
}

/* Drops the paths that are none of steps. Returns whether some are left. */
static bool drop_others(const struct gt_steps *steps, struct path_total *totals)
{
	bool left = false;

	for (gt_id i = 0; i < steps->ranges.paths.count; i++) {
		if (totals[i].count < GT_STEPS_LEAST || is_no_step(&steps->ranges, i))
			totals[i].count = 0;
		left = left || totals[i].count > 0;
	}
	return left;
}

/* Likewise those whose ranges had no work, where it is known what work belongs to. */
static void drop_idle(const struct gt_steps *steps, struct path_total *totals)
{
	bool *with_work = gt_ranges_with_work(&steps->ranges);
	bool *works = gt_allocate_zeroed(steps->ranges.paths.count + 1, sizeof(*works));

	for (size_t i = 0; with_work && i < steps->ranges.trace->ranges.count; i++)
		works[steps->ranges.path_of[i]] |= with_work[i];
	for (gt_id i = 0; with_work && i < steps->ranges.paths.count; i++)
		if (!works[i])
			totals[i].count = 0;
	gt_array_free(works);
	gt_array_free(with_work);
}

static gt_id find_path(const struct gt_steps *steps)
{
	struct path_total *totals = count_paths(steps);
	gt_id found = GT_NONE;

	if (!steps->was_chosen && drop_others(steps, totals))
		drop_idle(steps, totals);
	/* Outer paths come first: of equal ones they are the steps. */
	for (gt_id i = 0; i < steps->ranges.paths.count; i++)
		if (totals[i].count > 0 &&
		    (found == GT_NONE || totals[i].wall_ns > totals[found].wall_ns))
			found = i;
	gt_array_free(totals);
	return found;
}

/* ---- the steps ---- */

static int by_process_and_start(const void *a, const void *b)
{
	const struct gt_step *left = a;
	const struct gt_step *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->range > right->range) - (left->range < right->range);
}

/* How much of a range is in the window. */
static uint64_t shown_of(const struct gt_range *range, gt_time until_ns)
{
	const gt_time end_ns = range->end_ns < until_ns ? range->end_ns : until_ns;

	return end_ns > range->start_ns ? (uint64_t)(end_ns - range->start_ns) : 0;
}

static void add_steps(struct gt_steps *steps)
{
	const struct gt_trace *trace = steps->ranges.trace;

	for (gt_id i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];

		if (steps->ranges.path_of[i] != steps->path || !may_be_step(steps, range))
			continue;
		if (has_ended(range))
			*gt_array_push(&steps->rows) = (struct gt_step){
				.range = i,
				.thread = range->thread,
				.process = gt_trace_thread_process(trace, range->thread),
				.start_ns = range->start_ns,
				.shown_ns = shown_of(range, gt_whole_until(trace)),
				.end_ns = range->end_ns};
		else
			steps->open++;
	}
	if (steps->rows.count > 1)
		qsort(steps->rows.rows, steps->rows.count, sizeof(*steps->rows.rows),
		      by_process_and_start);
}

static void add_groups(struct gt_steps *steps)
{
	const size_t count = steps->rows.count;
	int64_t *walls = gt_allocate(count * sizeof(*walls));
	struct gt_step_group *group = NULL;

	for (size_t i = 0; i < count; i++) {
		struct gt_step *step = &steps->rows.rows[i];

		if (i == 0 || step[-1].process != step->process) {
			group = gt_array_push(&steps->groups);
			*group = (struct gt_step_group){.first = i};
		}
		step->number = ++group->count;
		walls[i] = gt_step_wall(step);
	}
	gt_array_each(struct gt_step_group, each, &steps->groups)
		each->wall = gt_range_spread_of(walls + each->first, each->count);
	gt_array_free(walls);
}

/* ---- their figures ---- */

static void add_work(struct gt_steps *steps)
{
	struct gt_projection each;

	gt_projection_init(&each, &steps->ranges, GT_PROJECT_DEVICES, NULL, 0);
	gt_array_each(struct gt_step, step, &steps->rows) {
		step->busy_ns = each.within[step->range].covered_ns;
		for (gt_id at = each.first[step->range]; at != GT_NONE;
		     at = each.rows.rows[at].next) {
			const struct gt_projected *part = &each.rows.rows[at];

			step->gpu_ns += part->cover.covered_ns;
			step->kernels += part->kernels;
			step->copies += part->copies;
			gt_sum_add(&step->copied_bytes, part->copied_bytes);
		}
	}
	gt_projection_release(&each);
}

static void add_quiet(struct gt_steps *steps)
{
	struct gt_quiet quiet;

	gt_quiet_init(&quiet, steps->ranges.trace);
	gt_array_each(struct gt_step, step, &steps->rows)
		step->quiet_ns = gt_quiet_between(&quiet, step->start_ns,
		                                  step->start_ns + (gt_time)step->shown_ns);
	gt_quiet_release(&quiet);
}

/* All calls count, whatever a filter shows of them. */
static void add_host(struct gt_steps *steps)
{
	const struct gt_trace *trace = steps->ranges.trace;
	const struct gt_trace *whole = gt_whole_of(trace);
	struct gt_covered *calls = gt_covered_calls(whole);

	gt_array_each(struct gt_step, step, &steps->rows) {
		const struct gt_interval when = {step->start_ns,
		                                 step->start_ns + (gt_time)step->shown_ns};
		const gt_id thread = gt_whole_origin(trace, GT_TABLE_threads, step->thread);

		step->host_ns = step->shown_ns;
		if (thread < whole->threads.count)
			step->host_ns -= gt_covered_within(&calls[thread], when);
	}
	gt_covered_calls_release(calls, whole);
}

/* Likewise of all memory. */
static void add_memory(struct gt_steps *steps)
{
	const struct gt_trace *trace = steps->ranges.trace;
	const struct gt_view whole = gt_view_of(gt_whole_of(trace));
	struct gt_memory_peaks peaks;

	gt_memory_peaks_init(&peaks, &whole);
	gt_array_each(struct gt_step, step, &steps->rows)
		step->peak_bytes = gt_memory_peaks_between(
			&peaks, gt_whole_origin(trace, GT_TABLE_processes, step->process),
			step->start_ns, step->end_ns);
	gt_memory_peaks_release(&peaks);
}

static void fold(struct gt_steps *steps, const struct gt_trace *trace, enum gt_fold how)
{
	gt_range_folds_init(&steps->folds, trace, how);
	gt_ranges_init_folded(&steps->ranges, trace, &steps->folds);
	steps->path = find_path(steps);
}

void gt_steps_init(struct gt_steps *steps, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;

	*steps = (struct gt_steps){
		.path = GT_NONE,
		.was_chosen = view->by_ranges,
		.knows_memory = gt_whole_of(trace)->allocations.count > 0,
	};
	fold(steps, trace, steps->was_chosen ? GT_FOLD_YES : GT_FOLD_AUTO);
	if (steps->path == GT_NONE && trace->ranges.count > 0) {
		gt_ranges_release(&steps->ranges);
		gt_range_folds_release(&steps->folds);
		fold(steps, trace, GT_FOLD_YES);
	}
	if (steps->path != GT_NONE)
		add_steps(steps);
	else if (!steps->was_chosen)
		gt_steps_add_guessed(steps, view);
	if (steps->rows.count == 0)
		return;
	add_groups(steps);
	if (steps->path != GT_NONE)
		add_work(steps);
	else
		gt_steps_add_guessed_work(steps);
	add_quiet(steps);
	if (gt_trace_has_calls(trace))
		add_host(steps);
	if (steps->knows_memory)
		add_memory(steps);
}

/* A steady step takes at most this part of the median more than it. */
enum { STEADY_PART = 5 };

size_t gt_steps_warm_up(const struct gt_steps *steps, const struct gt_step_group *group)
{
	const struct gt_step *step = &steps->rows.rows[group->first];
	const int64_t median_ns = group->wall.spread.median;
	size_t count = 0;

	while (count + 1 < group->count &&
	       gt_step_wall(&step[count]) - median_ns > median_ns / STEADY_PART)
		count++;
	return count;
}

void gt_steps_name(const struct gt_steps *steps, char text[GT_RANGE_PATH_BYTES])
{
	*text = '\0';
	if (steps->path != GT_NONE)
		gt_range_path_text(&steps->ranges, steps->path, text);
	else if (steps->anchor)
		snprintf(text, GT_RANGE_PATH_BYTES, "guessed: %s", steps->anchor);
}

void gt_steps_release(struct gt_steps *steps)
{
	gt_ranges_release(&steps->ranges);
	gt_range_folds_release(&steps->folds);
	gt_array_free(steps->rows.rows);
	gt_array_free(steps->groups.rows);
	*steps = (struct gt_steps){.path = GT_NONE};
}

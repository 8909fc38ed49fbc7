/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/steps/guessed.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/ranges/steps/period.h"
#include "base/sums.h"
#include "model/whole.h"
#include "model/work/activity.h"
#include "model/work/intervals.h"
#include "model/work/pauses.h"

/* A step in which recording was paused is none: nobody knows how many there were in that time. */
static bool is_interrupted(const struct gt_trace *whole, const struct gt_period_step *step)
{
	const struct gt_pause *pause = gt_pause_next(whole, step->process, step->start_ns);

	return pause && pause->start_ns < step->end_ns;
}

void gt_steps_add_guessed(struct gt_steps *steps, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;
	const gt_time until_ns = gt_whole_until(trace);
	struct gt_periods periods;
	uint64_t interrupted = 0;

	gt_periods_init(&periods, gt_whole_of(trace));
	gt_array_each(const struct gt_period_step, guessed, &periods.rows) {
		const gt_time end_ns = guessed->end_ns < until_ns ? guessed->end_ns : until_ns;
		const gt_id process = gt_whole_shown(trace, GT_TABLE_processes, guessed->process);

		if (process == GT_NONE || guessed->start_ns < view->start_ns ||
		    guessed->start_ns >= view->end_ns)
			continue;
		if (is_interrupted(gt_whole_of(trace), guessed)) {
			interrupted++;
			continue;
		}
		*gt_array_push(&steps->rows) = (struct gt_step){
			.range = GT_NONE,
			.thread = gt_whole_shown(trace, GT_TABLE_threads, guessed->thread),
			.process = process,
			.start_ns = guessed->start_ns,
			.end_ns = guessed->end_ns,
			.shown_ns = (uint64_t)(end_ns - guessed->start_ns)};
	}
	if (steps->rows.count > 0) {
		steps->anchor = periods.anchor;
		steps->others = periods.others + interrupted;
	}
	gt_periods_release(&periods);
}

size_t gt_steps_guessed_at(const struct gt_steps *steps, gt_id process, gt_time at_ns)
{
	size_t low = 0;
	size_t high = steps->rows.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct gt_step *step = &steps->rows.rows[middle];

		if (step->process < process ||
		    (step->process == process && step->start_ns <= at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || steps->rows.rows[low - 1].process != process ||
	    steps->rows.rows[low - 1].end_ns <= at_ns)
		return SIZE_MAX;
	return low - 1;
}

static void count_work(struct gt_step *step, const struct gt_trace *trace,
                       const struct gt_activity *activity)
{
	step->kernels += activity->type == GT_ACTIVITY_KERNEL;
	step->copies += activity->type == GT_ACTIVITY_COPY;
	if (activity->type == GT_ACTIVITY_COPY)
		gt_sum_add(&step->copied_bytes, trace->copies.rows[activity->row].size_bytes);
}

/* How long the work of each step ran; work comes in the order of its start. */
struct covers {
	struct gt_cover *busy; /* by step: on any GPU, inside of the step */
	struct gt_cover *gpus; /* by step and device: whenever it ran */
	size_t devices;
};

static void cover_work(const struct covers *covers, const struct gt_steps *steps, size_t row,
                       const struct gt_activity *activity)
{
	const struct gt_step *step = &steps->rows.rows[row];
	const struct gt_interval when = {activity->start_ns, activity->end_ns};
	const struct gt_interval shown = {step->start_ns, step->start_ns + (gt_time)step->shown_ns};

	gt_cover_add_inside(&covers->busy[row], &(struct gt_inside){&shown, 1}, when);
	if (activity->device < covers->devices)
		gt_cover_add(&covers->gpus[row * covers->devices + activity->device], when);
}

static void take_covers(struct gt_steps *steps, const struct covers *covers)
{
	for (size_t i = 0; i < steps->rows.count; i++) {
		struct gt_step *step = &steps->rows.rows[i];

		step->busy_ns = covers->busy[i].covered_ns;
		for (size_t d = 0; d < covers->devices; d++)
			gt_sum_add(&step->gpu_ns, covers->gpus[i * covers->devices + d].covered_ns);
	}
}

void gt_steps_add_guessed_work(struct gt_steps *steps)
{
	const struct gt_trace *trace = steps->ranges.trace;
	const size_t count = steps->rows.count;
	const struct covers covers = {
		.busy = gt_allocate_zeroed(count, sizeof(*covers.busy)),
		.gpus = gt_allocate_zeroed(count * trace->devices.count + 1, sizeof(*covers.gpus)),
		.devices = trace->devices.count,
	};
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, trace, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity)) {
		const struct gt_api_call *call = activity.api_call < trace->api_calls.count
		                                         ? &trace->api_calls.rows[activity.api_call]
		                                         : NULL;
		const gt_id process =
			gt_trace_stream_process(trace, gt_activity_stream(trace, &activity));
		const size_t step = gt_steps_guessed_at(steps, process,
		                                        call ? call->start_ns : activity.start_ns);

		if (step == SIZE_MAX)
			continue;
		count_work(&steps->rows.rows[step], trace, &activity);
		cover_work(&covers, steps, step, &activity);
	}
	take_covers(steps, &covers);
	gt_array_free(covers.busy);
	gt_array_free(covers.gpus);
}

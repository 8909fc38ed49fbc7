/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pending/triggers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/pending/pending.h"
#include "base/units.h"
#include "model/names.h"

/* The median is known from so many steps on. */
#define LEAST_STEPS 10

/* The median of distances to the median is so much of a standard deviation, of what is normal. */
#define DEVIATIONS_OF_MEDIAN 1.4826

/* Steps that are all alike have no deviation: so much of the median counts as one. */
#define LEAST_DEVIATION 0.005

/* CUDA_ERROR_OUT_OF_MEMORY and cudaErrorMemoryAllocation. */
#define OUT_OF_MEMORY 2

/* ---- calls ---- */

static bool is_wanted(const struct gt_triggers *triggers, const struct gt_api_call *call)
{
	return gt_api_failed(call) &&
	       (triggers->errors || (triggers->memory && call->result == OUT_OF_MEMORY));
}

/* The first since the last look. */
static bool look_at_calls(const struct gt_triggers *triggers, struct gt_trigger_state *state,
                          const struct gt_trace *trace, char *text, size_t size)
{
	const struct gt_api_call *first = NULL;
	gt_time last_ns = state->error_ns;
	const char *name;

	if (!triggers->errors && !triggers->memory)
		return false;
	gt_array_each(const struct gt_api_call, call, &trace->api_calls) {
		if (call->start_ns <= state->error_ns || !is_wanted(triggers, call))
			continue;
		if (!first)
			first = call;
		if (call->start_ns > last_ns)
			last_ns = call->start_ns;
	}
	if (!first)
		return false;
	state->error_ns = last_ns;
	name = gt_result_name(first->result, (first->flags & GT_DRIVER_API) != 0);
	snprintf(text, size, "%s returned %s (%d)", gt_trace_text(trace, first->function),
	         name ? name : "an error", first->result);
	return true;
}

/* ---- hangs ---- */

static void later(gt_time *last_ns, gt_time time_ns)
{
	if (time_ns > *last_ns)
		*last_ns = time_ns;
}

/* The last launch, and the last end of work. */
static gt_time last_deed(const struct gt_trace *trace)
{
	gt_time last_ns = 0;

	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		if (call->kind == GT_API_LAUNCH || call->kind == GT_API_GRAPH_LAUNCH)
			later(&last_ns, call->start_ns);
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		later(&last_ns, kernel->end_ns);
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		later(&last_ns, copy->end_ns);
	gt_array_each(const struct gt_fill, fill, &trace->fills)
		later(&last_ns, fill->end_ns);
	return last_ns;
}

/* The first piece of work that is known not to have ended. */
static const struct gt_pending_work *first_open(const struct gt_pending *pending)
{
	gt_array_each(const struct gt_pending_work, work, &pending->works)
		if (work->state == GT_PENDING_FIRST && gt_pending_is_heard(pending, work->process))
			return work;
	return NULL;
}

static const char *name_of(const struct gt_trace *trace, const struct gt_pending_work *work)
{
	const gt_id shape = work->step.table == GT_TABLE_kernels
	                            ? trace->kernels.rows[work->step.row].shape
	                            : GT_NONE;

	return shape < trace->launch_shapes.count
	               ? gt_trace_text(trace, trace->launch_shapes.rows[shape].name)
	               : "work";
}

static bool look_for_hang(const struct gt_triggers *triggers, struct gt_trigger_state *state,
                          const struct gt_trace *trace, gt_time now_ns, char *text, size_t size)
{
	const gt_time last_ns = last_deed(trace);
	const struct gt_pending_work *open;
	struct gt_pending pending;

	if (triggers->hang_ns == 0 || last_ns == 0 || last_ns == state->hang_ns ||
	    now_ns - last_ns < triggers->hang_ns)
		return false;
	gt_pending_init(&pending, trace, now_ns);
	open = first_open(&pending);
	if (open) {
		state->hang_ns = last_ns;
		snprintf(text, size, "%s has not ended, and nothing was launched or ended for %s",
		         name_of(trace, open), gt_figure_ns(now_ns - last_ns).text);
	}
	gt_pending_release(&pending);
	return open != NULL;
}

/* ---- steps ---- */

static struct gt_trigger_steps *steps_of(struct gt_trigger_state *state, gt_count pid)
{
	gt_array_each(struct gt_trigger_steps, steps, &state->steps)
		if (steps->pid == pid)
			return steps;
	*gt_array_push(&state->steps) = (struct gt_trigger_steps){.pid = pid};
	return &state->steps.rows[state->steps.count - 1];
}

static int by_size(const void *a, const void *b)
{
	const gt_time left = *(const gt_time *)a;
	const gt_time right = *(const gt_time *)b;

	return (left > right) - (left < right);
}

static gt_time middle(gt_time *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_size);
	return values[count / 2];
}

/* Longer than that is too long; INT64_MAX: nobody can tell yet. */
static gt_time limit_of(const struct gt_triggers *triggers, const struct gt_trigger_steps *steps)
{
	const size_t count = steps->count < GT_TRIGGER_STEPS ? steps->count : GT_TRIGGER_STEPS;
	gt_time values[GT_TRIGGER_STEPS];
	gt_time median;
	double deviation;

	if (triggers->limit_ns > 0)
		return triggers->limit_ns;
	if (count < LEAST_STEPS)
		return INT64_MAX;
	memcpy(values, steps->durations, count * sizeof(*values));
	median = middle(values, count);
	for (size_t i = 0; i < count; i++)
		values[i] = llabs(values[i] - median);
	deviation = DEVIATIONS_OF_MEDIAN * (double)middle(values, count);
	if (deviation < LEAST_DEVIATION * (double)median)
		deviation = LEAST_DEVIATION * (double)median;
	return median + (gt_time)(triggers->deviations * deviation);
}

/* Whether the step was too long; it counts among the others from now on. */
static bool add_step(const struct gt_triggers *triggers, struct gt_trigger_steps *steps,
                     const struct gt_range *range, char *text, size_t size)
{
	const gt_time duration_ns = range->end_ns - range->start_ns;
	const gt_time limit_ns = limit_of(triggers, steps);

	steps->durations[steps->count++ % GT_TRIGGER_STEPS] = duration_ns;
	if (duration_ns <= limit_ns)
		return false;
	snprintf(text, size, "range \"%s\" of process %u took %s, the limit is %s", triggers->range,
	         steps->pid, gt_figure_ns(duration_ns).text, gt_figure_ns(limit_ns).text);
	return true;
}

static bool is_step(const struct gt_triggers *triggers, const struct gt_trace *trace,
                    const struct gt_range *range)
{
	return range->end_ns > 0 && !(range->flags & GT_UNFINISHED) &&
	       strcmp(gt_trace_text(trace, range->text), triggers->range) == 0;
}

static bool look_at_steps(const struct gt_triggers *triggers, struct gt_trigger_state *state,
                          const struct gt_trace *trace, char *text, size_t size)
{
	bool found = false;

	if (!*triggers->range)
		return false;
	/* Ranges of one name on one thread end in the order of their begins. */
	gt_array_each(const struct gt_range, range, &trace->ranges) {
		const gt_id process = gt_trace_process_of(trace, GT_TABLE_ranges, range);
		struct gt_trigger_steps *steps;
		char other[256] = "";

		if (process >= trace->processes.count || !is_step(triggers, trace, range))
			continue;
		steps = steps_of(state, trace->processes.rows[process].pid);
		if (range->end_ns <= steps->last_ns)
			continue;
		steps->last_ns = range->end_ns;
		if (add_step(triggers, steps, range, found ? other : text,
		             found ? sizeof(other) : size))
			found = true;
	}
	return found;
}

bool gt_triggers_look(const struct gt_triggers *triggers, struct gt_trigger_state *state,
                      const struct gt_trace *trace, gt_time now_ns, char *text, size_t size)
{
	/* All are looked at, so that the next look begins where this one ends. */
	const bool slow = look_at_steps(triggers, state, trace, text, size);
	char error[256];
	char hang[256];
	const bool failed = look_at_calls(triggers, state, trace, error, sizeof(error));
	const bool hangs = look_for_hang(triggers, state, trace, now_ns, hang, sizeof(hang));

	if (failed)
		snprintf(text, size, "%s", error);
	else if (hangs && !slow)
		snprintf(text, size, "%s", hang);
	return slow || failed || hangs;
}

void gt_trigger_state_release(struct gt_trigger_state *state)
{
	gt_array_release(&state->steps);
}

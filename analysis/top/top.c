/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/top/top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/memory/totals.h"
#include "analysis/time/measured.h"
#include "base/sums.h"
#include "model/ledger.h"
#include "model/work/activity.h"
#include "model/work/intervals.h"
#include "model/work/pauses.h"
#include "model/work/timed.h"
#include "model/work/unmeasured.h"

/* The clocks of a process are read once a second: one that is silent for longer was stopped. */
#define SILENT_NS 2000000000

static bool begins_in(const struct gt_top *top, gt_time start_ns)
{
	return start_ns >= top->window.start_ns && start_ns < top->window.end_ns;
}

static bool is_running(const struct gt_trace *trace, gt_id process)
{
	return trace->processes.rows[process].ended == GT_END_RUNNING;
}

/* ---- the window ---- */

static void find_window(struct gt_top *top, gt_time interval_ns)
{
	const struct gt_trace *trace = top->trace;
	const gt_time end_ns = top->running ? gt_fetched_until(trace, top->now_ns) : trace->end_ns;

	top->asked = (struct gt_interval){end_ns - interval_ns, end_ns};
	top->window = top->asked;
	if (top->window.start_ns < trace->start_ns)
		top->window.start_ns = trace->start_ns;
	if (top->window.start_ns < trace->known_from_ns)
		top->window.start_ns = trace->known_from_ns;
	if (top->window.start_ns > end_ns)
		top->window.start_ns = end_ns;
}

/* ---- processes ---- */

/* A pause that goes on ends, as rows have it, with the last thing known of its process. */
static void find_pauses(struct gt_top *top, struct gt_trace *trace)
{
	gt_array_each(struct gt_pause, pause, &trace->pauses) {
		if (!(pause->flags & GT_UNFINISHED) || pause->process >= trace->processes.count ||
		    !is_running(trace, pause->process))
			continue;
		top->processes[pause->process].paused = true;
		if (pause->end_ns < top->now_ns)
			pause->end_ns = top->now_ns;
	}
	for (gt_id i = 0; i < trace->processes.count; i++) {
		top->running += is_running(trace, i);
		top->paused += top->processes[i].paused;
	}
}

/* The part of the window in which a process was not paused. */
static uint64_t recorded_ns(const struct gt_top *top, gt_id process)
{
	struct gt_cover paused = {0};
	const struct gt_inside window = {&top->window, 1};

	gt_array_each(const struct gt_pause, pause, &top->trace->pauses)
		if (pause->process == process)
			gt_cover_add_inside(&paused, &window,
			                    (struct gt_interval){pause->start_ns, pause->end_ns});
	return (uint64_t)(top->window.end_ns - top->window.start_ns) - paused.covered_ns;
}

/* Launches into a graph that is being captured run nothing. */
static bool is_launch(const struct gt_api_call *call)
{
	return (call->kind == GT_API_LAUNCH || call->kind == GT_API_GRAPH_LAUNCH) &&
	       call->result == 0 && !(call->flags & (GT_NESTED | GT_GRAPH_NODE));
}

static void count_launches(struct gt_top *top)
{
	const struct gt_trace *trace = top->trace;

	gt_array_each(const struct gt_api_call, call, &trace->api_calls) {
		const gt_id process = gt_trace_thread_process(trace, call->thread);

		if (process < trace->processes.count && is_launch(call) &&
		    begins_in(top, call->start_ns))
			top->processes[process].has_calls = ++top->processes[process].launches > 0;
	}
}

static void count_steps(struct gt_top *top)
{
	gt_array_each(const struct gt_step_group, group, &top->steps.groups) {
		const struct gt_step *first = &top->steps.rows.rows[group->first];
		gt_time last_ns = INT64_MIN;
		struct gt_top_process *process;

		if (first->process >= top->trace->processes.count)
			continue;
		process = &top->processes[first->process];
		for (const struct gt_step *step = first; step < first + group->count; step++) {
			if (step->end_ns > last_ns) {
				last_ns = step->end_ns;
				process->last_step_ns = gt_step_wall(step);
			}
			if (!begins_in(top, step->end_ns))
				continue;
			process->steps++;
			gt_sum_add(&process->steps_ns, (uint64_t)gt_step_wall(step));
		}
	}
}

static void count_ledger(struct gt_top *top)
{
	const struct gt_trace *trace = top->trace;

	gt_array_each(const struct gt_ledger, row, &trace->ledgers) {
		const struct gt_ledger_class *class =
			gt_ledger_class_find(gt_trace_text(trace, row->name));
		const bool is_loss = class && gt_ledger_class_is_loss(class);
		const bool is_calls = strcmp(gt_trace_text(trace, row->name), "api_calls") == 0;
		int64_t *losses = row->process < trace->processes.count
		                          ? &top->processes[row->process].losses
		                          : &top->unrecorded_losses;

		if (is_calls && row->process < trace->processes.count && row->value > 0)
			top->processes[row->process].has_calls = true;
		if (*losses < 0)
			*losses = 0;
		if (is_loss && row->value < INT64_MAX / 2 && *losses < INT64_MAX / 2)
			*losses += (int64_t)row->value;
	}
}

static void see_processes(struct gt_top *top)
{
	for (gt_id i = 0; i < top->trace->processes.count; i++) {
		top->processes[i].known_ns = recorded_ns(top, i);
		top->processes[i].last_step_ns = -1;
		top->processes[i].losses = -1;
	}
	count_launches(top);
	count_steps(top);
	count_ledger(top);
}

/* ---- GPUs ---- */

/* A process that was stopped fetches no records. */
static void see_silent(struct gt_top *top)
{
	const struct gt_trace *trace = top->trace;

	gt_array_each(const struct gt_context, context, &trace->contexts) {
		const struct gt_process *process =
			context->process < trace->processes.count
				? &trace->processes.rows[context->process]
				: NULL;

		if (!process || process->ended != GT_END_RUNNING ||
		    context->device >= trace->devices.count ||
		    top->now_ns - process->end_ns < SILENT_NS)
			continue;
		if (process->end_ns < top->devices[context->device].until_ns)
			top->devices[context->device].until_ns = process->end_ns;
	}
}

/* The parts of the window before a moment that were measured, to be freed; how many there are. */
static size_t known_parts(const struct gt_top *top, const struct gt_unmeasured *unmeasured,
                          gt_time until_ns, struct gt_interval **parts)
{
	const gt_time end_ns = until_ns < top->window.end_ns ? until_ns : top->window.end_ns;
	gt_time from_ns = top->window.start_ns;
	size_t count = 0;

	*parts = gt_allocate((unmeasured->list.count + 1) * sizeof(**parts));
	gt_array_each(const struct gt_interval, stretch, &unmeasured->list) {
		if (stretch->start_ns >= end_ns)
			break;
		if (stretch->start_ns > from_ns)
			(*parts)[count++] = (struct gt_interval){from_ns, stretch->start_ns};
		if (stretch->end_ns > from_ns)
			from_ns = stretch->end_ns;
	}
	if (from_ns < end_ns)
		(*parts)[count++] = (struct gt_interval){from_ns, end_ns};
	return count;
}

/* The parts of the window in which it is known what a GPU did, and how much of them it was busy. */
struct known {
	struct gt_interval *parts;
	size_t count;
	struct gt_cover busy;
};

static void count_busy(struct gt_top *top, struct known *known)
{
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, top->trace, GT_WORK_KERNELS | GT_WORK_GRAPHS);
	while (gt_activity_next(&walk, &activity))
		if (activity.device < top->trace->devices.count) {
			struct known *of = &known[activity.device];
			const struct gt_inside inside = {of->parts, of->count};

			/* Without parts it would be all time. */
			if (of->count > 0)
				gt_cover_add_inside(&of->busy, &inside,
				                    (struct gt_interval){activity.start_ns,
				                                         activity.end_ns});
		}
}

static void see_busy(struct gt_top *top)
{
	const size_t count = top->trace->devices.count;
	struct known *known = gt_allocate_zeroed(count + 1, sizeof(*known));
	struct gt_unmeasured unmeasured;

	gt_unmeasured_init(&unmeasured, top->trace);
	for (size_t i = 0; i < count; i++)
		known[i].count =
			known_parts(top, &unmeasured, top->devices[i].until_ns, &known[i].parts);
	count_busy(top, known);
	for (size_t i = 0; i < count; i++) {
		for (size_t part = 0; part < known[i].count; part++)
			top->devices[i].known_ns += (uint64_t)(known[i].parts[part].end_ns -
			                                       known[i].parts[part].start_ns);
		top->devices[i].busy_ns = known[i].busy.covered_ns;
		gt_array_free(known[i].parts);
	}
	gt_unmeasured_release(&unmeasured);
	gt_array_free(known);
}

static void see_copies(struct gt_top *top)
{
	gt_array_each(const struct gt_copy, copy, &top->trace->copies) {
		struct gt_top_device *device;

		if (copy->device >= top->trace->devices.count || !begins_in(top, copy->start_ns) ||
		    !gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns))
			continue;
		device = &top->devices[copy->device];
		device->copies++;
		gt_sum_add(&device->copied_bytes, copy->size_bytes);
	}
}

/* Memory is that of now. */
static void see_memory(struct gt_top *top)
{
	const struct gt_view view = gt_view_of(top->trace);
	struct gt_memory_totals totals;

	gt_memory_totals_init(&totals, &view);
	for (size_t i = 0; i < top->trace->devices.count; i++)
		top->devices[i].memory_bytes =
			top->trace->allocations.count && totals.of_device[i].now <= INT64_MAX
				? (int64_t)totals.of_device[i].now
				: -1;
	gt_memory_totals_release(&totals);
}

static void see_power(struct gt_top *top, gt_id device)
{
	struct gt_measured drawn = gt_measured_on(top->trace, device, "power_mw");
	const size_t last = drawn.count - 1;

	top->devices[device].watts = drawn.count && drawn.times_ns[last] >= top->window.start_ns
	                                     ? drawn.values[last] / 1e3
	                                     : NAN;
	gt_measured_release(&drawn);
}

static void see_devices(struct gt_top *top)
{
	for (size_t i = 0; i < top->trace->devices.count; i++)
		top->devices[i].until_ns = top->may_run[i].since_ns < top->window.end_ns
		                                   ? top->may_run[i].since_ns
		                                   : top->window.end_ns;
	see_silent(top);
	see_busy(top);
	see_copies(top);
	see_memory(top);
	for (gt_id i = 0; i < top->trace->devices.count; i++)
		see_power(top, i);
}

/* ---- kernels ---- */

static int by_device_and_total(const void *a, const void *b)
{
	const struct gt_top_kernel *left = a;
	const struct gt_top_kernel *right = b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return (left->group > right->group) - (left->group < right->group);
}

static void see_kernels(struct gt_top *top)
{
	const struct gt_trace *trace = top->trace;
	const size_t groups = top->groups.count;
	struct gt_top_kernel *all =
		gt_allocate_zeroed(groups * trace->devices.count + 1, sizeof(*all));

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		struct gt_top_kernel *row;
		uint64_t duration_ns;

		if (kernel->device >= trace->devices.count || !begins_in(top, kernel->start_ns) ||
		    !gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		row = &all[kernel->device * groups + gt_kernel_group_of(&top->groups, kernel)];
		duration_ns = (uint64_t)(kernel->end_ns - kernel->start_ns);
		row->calls++;
		gt_sum_add(&row->total_ns, duration_ns);
		top->devices[kernel->device].kernels++;
		gt_sum_add(&top->devices[kernel->device].kernel_ns, duration_ns);
	}
	for (size_t i = 0; i < groups * trace->devices.count; i++) {
		if (all[i].calls == 0)
			continue;
		all[i].device = (gt_id)(i / groups);
		all[i].group = i % groups;
		*gt_array_push(&top->kernels) = all[i];
	}
	if (top->kernels.count > 1)
		qsort(top->kernels.rows, top->kernels.count, sizeof(*top->kernels.rows),
		      by_device_and_total);
	gt_array_free(all);
}

void gt_top_init(struct gt_top *top, struct gt_trace *trace, gt_time now_ns, gt_time interval_ns)
{
	const struct gt_view view = gt_view_of(trace);

	*top = (struct gt_top){
		.trace = trace,
		.now_ns = now_ns,
		.devices = gt_allocate_zeroed(trace->devices.count + 1, sizeof(*top->devices)),
		.processes =
			gt_allocate_zeroed(trace->processes.count + 1, sizeof(*top->processes)),
	};
	find_pauses(top, trace);
	top->may_run = gt_may_run_of_devices(trace, now_ns);
	gt_steps_init(&top->steps, &view);
	gt_kernel_groups_init(&top->groups, trace, GT_BY_NAME);
	find_window(top, interval_ns);
	see_processes(top);
	see_devices(top);
	see_kernels(top);
}

void gt_top_release(struct gt_top *top)
{
	gt_array_free(top->may_run);
	gt_steps_release(&top->steps);
	gt_kernel_groups_release(&top->groups);
	gt_array_free(top->devices);
	gt_array_free(top->processes);
	gt_array_release(&top->kernels);
}

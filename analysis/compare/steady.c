/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/steady.h"

#include <stdlib.h>

#include "analysis/ranges/steps/steps.h"

struct gt_steady_process {
	gt_array(struct gt_interval) steps; /* in order; those that overlap are one */
};

static void add_time(struct gt_steady_process *process, const struct gt_step *step)
{
	struct gt_interval *last =
		process->steps.count ? &process->steps.rows[process->steps.count - 1] : NULL;

	if (!last || step->start_ns >= last->end_ns)
		*gt_array_push(&process->steps) =
			(struct gt_interval){step->start_ns, step->end_ns};
	else if (step->end_ns > last->end_ns)
		last->end_ns = step->end_ns;
}

static void add_group(struct gt_steady *steady, const struct gt_steps *steps,
                      const struct gt_step_group *group)
{
	const size_t end = group->first + group->count;

	for (size_t i = group->first + gt_steps_warm_up(steps, group); i < end; i++) {
		const struct gt_step *step = &steps->rows.rows[i];

		steady->rows[i] = true;
		steady->count++;
		if (step->process < steady->process_count)
			add_time(&steady->processes[step->process], step);
	}
}

void gt_steady_init(struct gt_steady *steady, const struct gt_steps *steps)
{
	*steady = (struct gt_steady){
		.process_count = steps->ranges.trace->processes.count,
	};
	steady->rows = gt_allocate_zeroed(steps->rows.count + 1, sizeof(*steady->rows));
	steady->processes =
		gt_allocate_zeroed(steady->process_count + 1, sizeof(*steady->processes));
	gt_array_each(const struct gt_step_group, group, &steps->groups)
		add_group(steady, steps, group);
}

void gt_steady_release(struct gt_steady *steady)
{
	for (size_t i = 0; i < steady->process_count; i++)
		gt_array_release(&steady->processes[i].steps);
	gt_array_free(steady->processes);
	gt_array_free(steady->rows);
	*steady = (struct gt_steady){0};
}

bool gt_steady_at(const struct gt_steady *steady, gt_id process, gt_time time_ns, double *place)
{
	const struct gt_steady_process *of =
		process < steady->process_count ? &steady->processes[process] : NULL;
	size_t low = 0;
	size_t high = of ? of->steps.count : 0;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (of->steps.rows[middle].end_ns > time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	if (!of || low == of->steps.count || of->steps.rows[low].start_ns > time_ns)
		return false;
	*place = (double)(time_ns - of->steps.rows[low].start_ns) /
	         (double)(of->steps.rows[low].end_ns - of->steps.rows[low].start_ns);
	return true;
}

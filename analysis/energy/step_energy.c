/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/energy/step_energy.h"

#include <math.h>
#include <stdbool.h>

#include "analysis/ranges/steps/steps.h"
#include "base/array.h"
#include "model/ranges/payload.h"
#include "model/whole.h"
#include "model/work/activity.h"

/* When work of each process ran on each GPU. */
struct uses {
	const struct gt_trace *whole;
	struct gt_covered *rows;
};

static struct gt_covered *use_of(const struct uses *uses, gt_id process, gt_id device)
{
	return &uses->rows[(size_t)process * uses->whole->devices.count + device];
}

static void uses_init(struct uses *uses, const struct gt_trace *whole)
{
	struct gt_activity_walk walk;
	struct gt_activity work;

	*uses = (struct uses){whole,
	                      gt_allocate_zeroed(whole->processes.count + 1,
	                                         (whole->devices.count + 1) * sizeof(*uses->rows))};
	gt_activity_walk_init(&walk, whole, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &work)) {
		const gt_id process =
			gt_trace_stream_process(whole, gt_activity_stream(whole, &work));

		if (process < whole->processes.count && work.device < whole->devices.count)
			gt_covered_add(use_of(uses, process, work.device),
			               (struct gt_interval){work.start_ns, work.end_ns},
			               GT_NOT_ASKED);
	}
}

static void uses_release(struct uses *uses)
{
	for (size_t i = 0; i < uses->whole->processes.count * uses->whole->devices.count; i++)
		gt_covered_release(&uses->rows[i]);
	gt_array_free(uses->rows);
}

static bool is_used_by_others(const struct uses *uses, gt_id process, gt_id device,
                              struct gt_interval when)
{
	for (gt_id i = 0; i < uses->whole->processes.count; i++)
		if (i != process && gt_covered_within(use_of(uses, i, device), when) > 0)
			return true;
	return false;
}

/* NAN: it is not known of all the time. */
static double joules_of_board(const struct gt_boards *boards, gt_id device, struct gt_interval when)
{
	const uint64_t measured_ns = (uint64_t)(when.end_ns - when.start_ns) -
	                             gt_covered_within(&boards->covered[device].unmeasured, when);
	const struct gt_energy energy = gt_boards_energy(boards, device, when);

	return energy.told_ns == measured_ns ? gt_energy_joules(&energy) : NAN;
}

static double joules_of_step(const struct gt_boards *boards, const struct uses *uses, gt_id process,
                             struct gt_interval when)
{
	double joules = 0;
	bool used = false;

	for (gt_id i = 0; i < uses->whole->devices.count; i++) {
		if (use_of(uses, process, i)->stretches.count == 0)
			continue;
		if (is_used_by_others(uses, process, i, when))
			return NAN;
		joules += joules_of_board(boards, i, when);
		used = true;
	}
	return used ? joules : NAN;
}

double *gt_energy_of_steps(const struct gt_boards *boards, const struct gt_steps *steps)
{
	double *joules = gt_allocate((steps->rows.count + 1) * sizeof(*joules));
	struct uses uses;

	uses_init(&uses, boards->whole);
	for (size_t i = 0; i < steps->rows.count; i++) {
		const struct gt_step *step = &steps->rows.rows[i];
		const gt_id process =
			gt_whole_origin(boards->trace, GT_TABLE_processes, step->process);
		const struct gt_interval when = {step->start_ns, step->end_ns};

		joules[i] = process < boards->whole->processes.count
		                    ? joules_of_step(boards, &uses, process, when)
		                    : NAN;
	}
	uses_release(&uses);
	return joules;
}

double gt_units_of_range(const struct gt_range *range)
{
	const struct gt_payload payload = gt_payload_of(range->payload, range->payload_type);

	switch (payload.type) {
	case GT_PAYLOAD_NONE:
		break;
	case GT_PAYLOAD_NUMBER:
		return payload.number >= 0 ? (double)payload.number : NAN;
	case GT_PAYLOAD_UNSIGNED:
		return (double)(uint64_t)payload.number;
	case GT_PAYLOAD_REAL:
		return payload.real >= 0 && isfinite(payload.real) ? payload.real : NAN;
	}
	return NAN;
}

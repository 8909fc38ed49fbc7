/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/energy/boards.h"
#include "analysis/figures.h"
#include "analysis/reports/energy/tables.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/whole.h"

static const struct gt_heading headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"joules", GT_UNIT_JOULES,
         "Energy that the board used in the window, as far as it was sampled", GT_WORTH_KEY},
	{"mean_watts", GT_UNIT_WATTS, "Active and quiet joules / covered_ns", GT_WORTH_KEY},
	{"peak_watts", GT_UNIT_WATTS, "Most of the samples of power in the window"},
	{"active_joules", GT_UNIT_JOULES, "Part of joules while any work ran on the GPU",
         GT_WORTH_KEY},
	{"shared_joules", GT_UNIT_JOULES,
         "Part of active joules while several pieces of work ran at once"},
	{"quiet_joules", GT_UNIT_JOULES, "Part of joules while nothing ran", GT_WORTH_KEY},
	{"untold_joules", GT_UNIT_JOULES,
         "Part of joules while nobody sampled: nothing says what they were for", GT_WORTH_LITTLE},
	{"quiet_watts", GT_UNIT_WATTS,
         "Mean over the intervals of samples in which nothing ran, in all the recording"},
	{"covered_percent", GT_UNIT_PERCENT, "covered_ns of the window", GT_WORTH_KEY},
	{"covered_ns", GT_UNIT_NS, "Time of the window that was sampled", GT_WORTH_LEAST},
	{"source", GT_UNIT_TEXT,
         "Where joules are from: the energy counter, or the samples of power alone",
         GT_WORTH_LITTLE},
};

/* Active and quiet joules are known where work was recorded at all. */
static void add_parts(struct gt_result *result, const struct gt_board_figures *figures, bool known)
{
	const struct gt_energy *energy = &figures->energy;

	known = known && energy->told_ns > 0;
	gt_result_add_real(result, known ? energy->active_joules : NAN);
	gt_result_add_real(result, known ? figures->shared_joules : NAN);
	gt_result_add_real(result, known ? energy->quiet_joules : NAN);
	gt_result_add_real(result,
	                   energy->told_ns + energy->untold_ns > 0 ? energy->untold_joules : NAN);
}

static const char *source_of(const struct gt_power *power)
{
	if (power->counted && power->drawn)
		return "energy counter, elsewhere power";
	return power->counted ? "energy counter" : "power";
}

static void add_device(struct gt_result *result, const struct gt_boards *boards, gt_id device,
                       const struct gt_board_figures *figures)
{
	const struct gt_power *power = &boards->powers[device];
	const struct gt_energy *energy = &figures->energy;
	const bool sampled = power->steps.count > 0;
	const bool known = gt_trace_has_work(boards->trace);

	gt_add_device(result, boards->trace, gt_whole_device(boards->trace, device));
	gt_result_add_real(result, gt_energy_joules(energy));
	gt_result_add_real(result, energy->told_ns
	                                   ? (energy->active_joules + energy->quiet_joules) * 1e9 /
	                                             (double)energy->told_ns
	                                   : NAN);
	gt_result_add_real(result, figures->peak_watts);
	add_parts(result, figures, known);
	gt_result_add_real(result, known ? power->quiet_watts : NAN);
	gt_result_add_real(result,
	                   sampled ? gt_percent((double)energy->told_ns, (double)figures->window_ns)
	                           : NAN);
	gt_result_add_count_if(result, sampled, (int64_t)energy->told_ns);
	if (sampled)
		gt_result_add_text(result, source_of(power));
	else
		gt_result_add_unknown(result);
}

static void remark_device(struct gt_result *result, const struct gt_boards *boards, gt_id device)
{
	const struct gt_power *power = &boards->powers[device];
	const long long number = (long long)gt_device_number(&boards->whole->devices.rows[device]);

	if (power->steps.count == 0)
		gt_result_remark(result, "GPU %lld has no samples of energy or power.", number);
	if (power->resets > 0)
		gt_result_remark(
			result,
			"The energy counter of GPU %lld began anew (%s): it says nothing of "
			"the time from the reading before.",
			number, gt_grouped(power->resets).text);
}

void gt_add_energy_devices(struct gt_result *result, const struct gt_boards *boards,
                           const struct gt_view *view)
{
	struct gt_board_figures *figures = gt_boards_figures(boards, view);
	const size_t count = boards->whole->devices.count;
	bool sampled = false;

	gt_result_begin(result, "devices", headings, GT_COUNT_OF(headings));
	for (gt_id i = 0; i < count; i++) {
		if (gt_whole_device(boards->trace, i) != GT_NONE)
			add_device(result, boards, i, &figures[i]);
		sampled = sampled || boards->powers[i].steps.count > 0;
	}
	for (gt_id i = 0; sampled && i < count; i++)
		if (gt_whole_device(boards->trace, i) != GT_NONE)
			remark_device(result, boards, i);
	gt_array_free(figures);
}

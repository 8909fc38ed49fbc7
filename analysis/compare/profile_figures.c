/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/compare/profile.h"
#include "analysis/compare/profile_parts.h"
#include "analysis/compare/steady.h"
#include "analysis/energy/boards.h"
#include "analysis/energy/step_energy.h"
#include "analysis/memory/peaks.h"
#include "analysis/ranges/steps/steps.h"
#include "analysis/startup/startup.h"
#include "analysis/time/busy.h"
#include "analysis/time/measured.h"
#include "model/view/view.h"
#include "model/whole.h"

static void set(struct gt_profile *profile, enum gt_compared_figure figure, double value)
{
	profile->figures[figure] = value;
}

static void set_mean(struct gt_profile *profile, enum gt_compared_figure figure, double sum,
                     double count)
{
	set(profile, figure, count > 0 ? sum / count : NAN);
}

/* Kernels of the steps, as the rows of kernels have them. */
static void add_step_kernels(struct gt_profile *profile)
{
	double launches = 0;
	double total_ns = 0;

	gt_array_each(const struct gt_profile_row, row, &profile->rows) {
		if (row->table != GT_COMPARED_kernels)
			continue;
		launches += row->steady.count;
		total_ns += row->steady.total_ns;
	}
	set_mean(profile, GT_FIGURE_step_launches, launches, profile->steps);
	set_mean(profile, GT_FIGURE_step_gpu, total_ns, profile->steps);
}

static void add_steps(struct gt_profile *profile, const struct gt_steps *steps,
                      const struct gt_boards *boards)
{
	struct gt_steady steady;
	double *joules;
	double logs = 0;
	double quiet_ns = 0;
	double energy = 0;

	gt_steady_init(&steady, steps);
	joules = gt_energy_of_steps(boards, steps);
	for (size_t i = 0; i < steps->rows.count; i++)
		if (steady.rows[i]) {
			logs += log(fmax((double)gt_step_wall(&steps->rows.rows[i]), 1));
			quiet_ns += (double)steps->rows.rows[i].quiet_ns;
			energy += joules[i];
		}
	if (steady.count > 0) {
		set(profile, GT_FIGURE_step_wall, exp(logs / (double)steady.count));
		set(profile, GT_FIGURE_step_idle, quiet_ns / (double)steady.count);
		set(profile, GT_FIGURE_step_joules, energy / (double)steady.count);
		add_step_kernels(profile);
	}
	gt_array_free(joules);
	gt_steady_release(&steady);
}

static void add_all_kernels(struct gt_profile *profile, const struct gt_view *view)
{
	double total_ns = 0;
	double count = 0;
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, view->trace, GT_WORK_KERNELS);
	while (gt_activity_next(&walk, &activity)) {
		total_ns += (double)(activity.end_ns - activity.start_ns);
		count++;
	}
	set(profile, GT_FIGURE_gpu_time, total_ns);
	set(profile, GT_FIGURE_launches, count);
}

/* The clocks of GPUs that are in use, by the samples of that time. */
static void add_busy(struct gt_profile *profile, const struct gt_view *view)
{
	struct gt_busy *devices = gt_busy_of_devices(view);
	double busy_ns = 0;
	double clock = 0;
	double samples = 0;

	for (gt_id i = 0; i < view->trace->devices.count; i++) {
		struct gt_measured measured = gt_measured_on(view->trace, i, "sm_clock_mhz");
		const struct gt_interval use = devices[i].in_use;

		busy_ns += (double)devices[i].kernels.covered_ns;
		for (size_t s = 0; s < measured.count; s++)
			if (measured.times_ns[s] >= use.start_ns &&
			    measured.times_ns[s] <= use.end_ns) {
				clock += measured.values[s];
				samples++;
			}
		gt_measured_release(&measured);
	}
	set(profile, GT_FIGURE_busy, busy_ns);
	set_mean(profile, GT_FIGURE_sm_clock, clock, samples);
	gt_array_free(devices);
}

/* Whether a process, a row of all that happened, is one of those that a filter shows. */
static bool is_shown(const struct gt_view *view, gt_id process)
{
	return gt_whole_shown(view->trace, GT_TABLE_processes, process) != GT_NONE;
}

static void add_memory(struct gt_profile *profile, const struct gt_view *view)
{
	const struct gt_trace *whole = gt_whole_of(view->trace);
	const struct gt_view all = gt_view_of(whole);
	struct gt_memory_peaks peaks;
	uint64_t most = 0;

	if (whole->allocations.count == 0)
		return;
	gt_memory_peaks_init(&peaks, &all);
	for (gt_id i = 0; i < whole->processes.count; i++) {
		const uint64_t bytes =
			gt_memory_peaks_between(&peaks, i, view->start_ns, view->end_ns);

		if (is_shown(view, i) && bytes > most)
			most = bytes;
	}
	set(profile, GT_FIGURE_memory_peak, (double)most);
	gt_memory_peaks_release(&peaks);
}

static void add_startup(struct gt_profile *profile, const struct gt_view *view)
{
	struct gt_startups startups;
	double longest = NAN;

	gt_startups_init(&startups, view);
	gt_array_each(const struct gt_startup, row, &startups.rows)
		if (is_shown(view, row->process) && row->start_known &&
		    row->until != GT_STARTUP_END)
			longest = fmax(longest, (double)(row->until_ns - row->start_ns));
	set(profile, GT_FIGURE_startup, longest);
	gt_startups_release(&startups);
}

/* Not known where a GPU was sampled for less than 95 percent of the window. */
static void add_energy(struct gt_profile *profile, const struct gt_view *view,
                       const struct gt_boards *boards)
{
	struct gt_board_figures *figures = gt_boards_figures(boards, view);
	double joules = 0;

	for (gt_id i = 0; i < boards->whole->devices.count; i++)
		if (gt_whole_device(view->trace, i) != GT_NONE) {
			const struct gt_energy *energy = &figures[i].energy;
			const double told = (double)(energy->told_ns + energy->untold_ns);

			joules += told >= 0.95 * (double)figures[i].window_ns
			                  ? gt_energy_joules(energy)
			                  : NAN;
		}
	set(profile, GT_FIGURE_joules, joules);
	gt_array_free(figures);
}

void gt_profile_add_figures(struct gt_profile *profile, const struct gt_view *view,
                            const struct gt_steps *steps)
{
	struct gt_boards boards;

	gt_boards_init(&boards, view);
	for (size_t i = 0; i < GT_COMPARED_FIGURES; i++)
		profile->figures[i] = NAN;
	set(profile, GT_FIGURE_window, (double)gt_view_lasts_ns(view));
	add_steps(profile, steps, &boards);
	if (gt_trace_has_work(view->trace)) {
		add_all_kernels(profile, view);
		add_busy(profile, view);
	}
	add_memory(profile, view);
	add_startup(profile, view);
	add_energy(profile, view, &boards);
	gt_boards_release(&boards);
}

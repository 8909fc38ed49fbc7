/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/tables/table.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/demangle/demangle.h"
#include "cli/replay/bundle_choice.h"
#include "cli/replay/outcome.h"
#include "cli/replay/tables/parts.h"
#include "model/bundle/bundle.h"

static const struct gt_heading launch_headings[] = {
	{"launches", GT_UNIT_COUNT, "Kernels that are run"},
	{"step", GT_UNIT_COUNT,
         "Number in the bundle of the one step that is; null: all steps are"},
	{"grid", GT_UNIT_TEXT, "Blocks of the first one"},
	{"block", GT_UNIT_TEXT, "Threads of a block of it"},
	{"cluster", GT_UNIT_TEXT, "Blocks of a cluster of it; none: it has no clusters"},
	{"shared_bytes", GT_UNIT_BINARY_BYTES, "Shared memory of a block, static and dynamic"},
	{"registers", GT_UNIT_COUNT, "Registers of a thread"},
	{"memory_bytes", GT_UNIT_BYTES, "That the launches can reach"},
	{"workspace_bytes", GT_UNIT_BYTES, "Part of it that a library asked for; null: not known"},
	{"local_bytes", GT_UNIT_BINARY_BYTES,
         "Memory for local variables that the first one needed; null: not known"},
	{"recorded_on", GT_UNIT_TEXT, "GPU that it was recorded on"},
	{"recorded", GT_UNIT_TEXT, "When, UTC"},
	{"device", GT_UNIT_TEXT, "GPU that it was run on again"},
	{"driver", GT_UNIT_TEXT, "Version of the driver"},
	{"conditions", GT_UNIT_TEXT, "Conditions that the times depend on beside the variant"},
	{"program", GT_UNIT_TEXT, "Program that it was recorded of", GT_WORTH_LITTLE},
	{"kernel", GT_UNIT_TEXT, "Name of the first one", GT_WORTH_NAME},
};

static const struct gt_heading time_headings[] = {
	{"variant", GT_UNIT_TEXT, "Change to the launches", GT_WORTH_KEY},
	{"median_ns", GT_UNIT_NS, "Median of the runs that count", GT_WORTH_KEY},
	{"spread_percent", GT_UNIT_PERCENT, "From the 5th to the 95th percentile, of the median"},
	{"least_ns", GT_UNIT_NS, "Shortest run", GT_WORTH_LITTLE},
	{"p05_ns", GT_UNIT_NS, "5th percentile", GT_WORTH_LEAST},
	{"p95_ns", GT_UNIT_NS, "95th percentile", GT_WORTH_LITTLE},
	{"most_ns", GT_UNIT_NS, "Longest run", GT_WORTH_LEAST},
	{"runs", GT_UNIT_COUNT, "That count"},
	{"thrown_out", GT_UNIT_COUNT, "Runs that do not: the GPU's clocks were throttled",
         GT_WORTH_LITTLE, .alarming = true},
	{"other_mode", GT_UNIT_COUNT,
         "Runs that do not: they took less than half of the median, or more than twice as long",
         GT_WORTH_LITTLE, .alarming = true},
	{"bytes_per_second", GT_UNIT_BYTES_PER_SECOND,
         "Bytes that it moves at least, each buffer read once and written once, by the median"},
	{"peak_percent", GT_UNIT_PERCENT, "Share of the highest bandwidth of the GPU's memory"},
	{"job_ns", GT_UNIT_NS, "In the program"},
	{"job_percent", GT_UNIT_REAL, "By which the median is longer than in the program, per cent",
         GT_WORTH_KEY, .label = "against job, %"},
	{"fits", GT_UNIT_TEXT,
         "State of the caches in which the time is nearest to that in the program; null: not known"},
	{"speed_up", GT_UNIT_REAL, "Median as recorded, by this median", GT_WORTH_KEY},
	{"error_percent", GT_UNIT_PERCENT, "Standard error of the median, of it", GT_WORTH_LITTLE},
	{"stable", GT_UNIT_TEXT, "Whether that is as small as --within wants", GT_WORTH_LEAST},
	{"events_ns", GT_UNIT_NS, "Median by a pair of events", GT_WORTH_LEAST},
	{"sm_mhz", GT_UNIT_REAL, "Clock of the multiprocessors meanwhile", GT_WORTH_LITTLE},
	{"clock", GT_UNIT_TEXT, "Clock that timed it", GT_WORTH_LEAST},
	{"peak", GT_UNIT_TEXT, "Which ceiling, and where it is from", GT_WORTH_DATA},
	{"verdict", GT_UNIT_TEXT, "The outcome in words", GT_WORTH_PROSE},
};

/* ---- cells ---- */

void gt_replay_add_label(struct gt_result *result, const struct gt_outcome *outcome)
{
	char label[GT_OUTCOME_LABEL_BYTES];

	gt_outcome_label(outcome, label);
	gt_result_add_copy(result, label);
}

double gt_replay_more_percent(double one, double other)
{
	return other > 0 ? 100 * (one / other - 1) : NAN;
}

static void add_extent(struct gt_result *result, const uint32_t extent[3])
{
	if (extent[0] == 0)
		gt_result_add_text(result, "none");
	else
		gt_result_add_format(result, "%u x %u x %u", extent[0], extent[1], extent[2]);
}

/* ---- the launch ---- */

static int64_t count_launches(const struct gt_bundle *bundle)
{
	int64_t count = 0;

	gt_array_each(const struct gt_bundle_step, step, &bundle->steps)
		count += step->kind == GT_BUNDLE_STEP_launch;
	return count;
}

static void add_kernel(struct gt_result *result, const char *mangled)
{
	char *name = gt_demangle(mangled);

	gt_result_add_copy(result, name ? name : mangled);
	free(name);
}

static void add_shape(struct gt_result *result, const struct gt_bundle *bundle,
                      const struct gt_bundle_step *step)
{
	const struct gt_bundle_function *function = &bundle->functions.rows[step->function];

	add_extent(result, step->grid);
	add_extent(result, step->block);
	add_extent(result, step->cluster[0] ? step->cluster : function->cluster);
	gt_result_add_count(result, (int64_t)step->shared_bytes + function->shared_bytes);
	gt_result_add_count_if(result, function->registers > 0, function->registers);
}

static void add_launch(struct gt_result *result, const struct gt_bundle *bundle,
                       const struct gt_outcome *outcome)
{
	const struct gt_bundle_origin *origin = &bundle->origin;
	const struct gt_bundle_step *step = gt_first_launch(bundle);

	gt_result_add_count(result, count_launches(bundle));
	gt_result_add_count_if(result, outcome->step_plus_one > 0,
	                       (int64_t)outcome->step_plus_one - 1);
	if (step)
		add_shape(result, bundle, step);
	else
		gt_result_add_unknowns(result, 5);
	gt_result_add_count(result, (int64_t)gt_bundle_memory_bytes(bundle));
	gt_result_add_count_if(result, origin->workspace_bytes >= 0, origin->workspace_bytes);
	gt_result_add_count_if(result, origin->local_bytes >= 0, origin->local_bytes);
	gt_result_add_copy(result, origin->device);
	gt_result_add_format(result, "%.19s", origin->date);
	gt_result_add_copy(result, outcome->device);
	gt_result_add_copy(result, outcome->driver);
	gt_result_add_copy(result, outcome->conditions);
	gt_result_add_copy(result, origin->program);
	if (step)
		add_kernel(result, bundle->functions.rows[step->function].name);
	else
		gt_result_add_unknown(result);
}

/* ---- times ---- */

/* Two medians differ where they do by more than their errors, and by 1 % at least. */
static const char *speed_word(const struct gt_outcome *outcome, const struct gt_outcome *first)
{
	const double apart = outcome->median_ns / first->median_ns - 1;
	/* hypot would need glibc 2.35. */
	const double noise =
		2 * sqrt(outcome->error * outcome->error + first->error * first->error);
	const double least = fmax(isfinite(noise) ? noise : 0, 0.01);

	if (outcome == first)
		return "";
	if (apart < -least)
		return "faster";
	return apart > least ? "slower" : "as fast";
}

static const char *output_word(const struct gt_outcome *outcome)
{
	if (outcome->sequence_mismatches)
		return "the sequence did not give what was recorded";
	if (!outcome->checked)
		return "outputs not compared";
	if (outcome->verified && outcome->step_plus_one)
		return outcome->varying ? "outputs as in the sequence, but runs differ"
		                        : "outputs as in the sequence";
	if (outcome->verified)
		return outcome->varying ? "outputs as recorded, but runs differ"
		                        : "outputs as recorded";
	if (outcome->outside)
		return "writes outside of its buffers";
	if (outcome->varying)
		return "outputs differ from run to run";
	if (outcome->unwritten && outcome->unwritten >= outcome->mismatches)
		return "outputs not written";
	if (outcome->mismatches)
		return "outputs differ";
	return outcome->step_plus_one ? "outputs not as in the sequence"
	                              : "outputs not as recorded";
}

void gt_replay_add_verdict(struct gt_result *result, const struct gt_outcome *outcome,
                           const struct gt_outcome *first)
{
	const char *speed;

	if (*outcome->failure) {
		gt_result_add_format(result, "cannot be run: %s", outcome->failure);
		return;
	}
	speed = first ? speed_word(outcome, first) : "";
	gt_result_add_format(result, "%s%s%s%s%s%s", speed, *speed ? ", " : "",
	                     output_word(outcome),
	                     *outcome->doubt ? "; not known to do the same work in each run" : "",
	                     outcome->stable ? "" : "; not stable",
	                     outcome->too_slow ? "; too slow for --fail-if" : "");
}

static void add_times(struct gt_result *result, const struct gt_outcome *outcome,
                      const struct gt_outcome *first)
{
	const double rate = gt_bytes_per_second(outcome->bytes, outcome->median_ns);
	const bool timed = isfinite(outcome->median_ns);
	const bool ran = !*outcome->failure; /* though no run may count */

	gt_replay_add_label(result, outcome);
	gt_add_rounded(result, outcome->median_ns);
	gt_result_add_real(result,
	                   gt_percent(outcome->p95_ns - outcome->p05_ns, outcome->median_ns));
	gt_add_rounded(result, outcome->least_ns);
	gt_add_rounded(result, outcome->p05_ns);
	gt_add_rounded(result, outcome->p95_ns);
	gt_add_rounded(result, outcome->most_ns);
	gt_result_add_count_if(result, ran, (int64_t)outcome->runs);
	gt_result_add_count_if(result, ran, (int64_t)outcome->thrown_out);
	gt_result_add_count_if(result, ran, (int64_t)outcome->other_mode);
	gt_result_add_real(result, rate);
	gt_result_add_real(result, gt_percent(rate, gt_roof_height(&outcome->roof)));
	gt_add_rounded(result, outcome->job_ns);
	gt_result_add_real(result, gt_replay_more_percent(outcome->median_ns, outcome->job_ns));
	if (*outcome->fits)
		gt_result_add_copy(result, outcome->fits);
	else
		gt_result_add_unknown(result);
	gt_result_add_real(result, first->median_ns / outcome->median_ns);
	gt_result_add_real(result, 100 * outcome->error);
	gt_result_add_text(result, !timed ? "-" : outcome->stable ? "yes" : "no");
	gt_add_rounded(result, outcome->events_ns);
	gt_result_add_real(result, outcome->sm_mhz);
	gt_result_add_copy(result, outcome->clock);
	gt_roof_add_source(result, &outcome->roof);
	gt_replay_add_verdict(result, outcome, first);
}

void gt_replay_fill(struct gt_result *result, const struct gt_bundle *bundle,
                    const struct gt_outcomes *outcomes)
{
	const bool ran = bundle && outcomes->list.count > 0;

	gt_result_begin(result, "launch", launch_headings, GT_COUNT_OF(launch_headings));
	gt_result_single(result);
	if (ran)
		add_launch(result, bundle, outcomes->list.rows);
	gt_result_begin(result, "times", time_headings, GT_COUNT_OF(time_headings));
	gt_result_whole(result);
	gt_array_each(const struct gt_outcome, outcome, &outcomes->list)
		add_times(result, outcome, outcomes->list.rows);
	gt_replay_add_buffers(result, outcomes);
	if (ran)
		gt_replay_remark(result, outcomes->list.rows, bundle);
}

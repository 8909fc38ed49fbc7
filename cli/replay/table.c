/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/demangle/demangle.h"
#include "base/units.h"
#include "cli/replay/apart.h"
#include "cli/replay/bundle_choice.h"
#include "cli/replay/outcome.h"
#include "cli/replay/results.h"
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

static const struct gt_heading buffer_headings[] = {
	{"variant", GT_UNIT_TEXT, "Change to the launches", GT_WORTH_KEY},
	{"memory", GT_UNIT_COUNT, "Number of the buffer in the bundle", GT_WORTH_KEY},
	{"bytes", GT_UNIT_BYTES, "Its size"},
	{"element", GT_UNIT_TEXT, "Type of its elements"},
	{"type_from", GT_UNIT_TEXT,
         "Who says so: given, the format of the array, or guessed from its contents", GT_WORTH_KEY,
         .label = "type"},
	{"elements", GT_UNIT_COUNT, "That were compared", GT_WORTH_LITTLE},
	{"mismatches", GT_UNIT_COUNT, "Elements outside of the tolerance", .alarming = true},
	{"differing", GT_UNIT_COUNT, "Elements whose bits differ", GT_WORTH_LEAST},
	{"worst_relative", GT_UNIT_REAL, "Largest difference, of the recorded value",
         GT_WORTH_LITTLE},
	{"nans", GT_UNIT_COUNT, "Elements that are no number", .alarming = true},
	{"infinities", GT_UNIT_COUNT, "Infinite elements", .alarming = true},
	{"recorded_nans", GT_UNIT_COUNT, "The same in the recorded contents", GT_WORTH_LITTLE},
	{"recorded_infinities", GT_UNIT_COUNT, "The same in the recorded contents", GT_WORTH_LEAST},
	{"known_by", GT_UNIT_TEXT,
         "Evidence that it is written: contents, which change; or poison: runs over other contents, "
         "as it holds the same afterwards",
         GT_WORTH_LITTLE},
	{"written_bytes", GT_UNIT_COUNT, "Bytes written of one that holds the same afterwards",
         GT_WORTH_LEAST},
	{"unwritten_bytes", GT_UNIT_COUNT, "Written in the program, and not here",
         .alarming = true},
	{"untouched_bytes", GT_UNIT_COUNT,
         "Beside written ones, and written neither in the program nor here", GT_WORTH_LITTLE,
         .alarming = true},
	{"zone_bytes", GT_UNIT_COUNT, "Red zones around it that were watched", GT_WORTH_LEAST},
	{"outside_bytes", GT_UNIT_COUNT, "Bytes of the red zones around it that were written",
         .alarming = true},
	{"varies", GT_UNIT_COUNT, "Elements in which two runs differed", .alarming = true},
	{"least", GT_UNIT_REAL, "Smallest finite element", GT_WORTH_LITTLE},
	{"most", GT_UNIT_REAL, "Largest finite element", GT_WORTH_LITTLE},
	{"mean", GT_UNIT_REAL, "Mean of the finite elements", GT_WORTH_LITTLE},
	{"recorded_mean", GT_UNIT_REAL, "The same in the recorded contents", GT_WORTH_LEAST},
	{"address", GT_UNIT_TEXT, "In the program", GT_WORTH_LEAST},
	{"name", GT_UNIT_TEXT, "Name of a variable; size of an array; else who asked for it",
         GT_WORTH_LEAST},
	{"verdict", GT_UNIT_TEXT, "The outcome in words", GT_WORTH_PROSE},
};

static const struct gt_heading mismatch_headings[] = {
	{"variant", GT_UNIT_TEXT, "Change to the launches", GT_WORTH_KEY},
	{"memory", GT_UNIT_COUNT, "Number of the buffer in the bundle", GT_WORTH_KEY},
	{"offset_bytes", GT_UNIT_COUNT, "In the buffer", .label = "offset"},
	{"wanted", GT_UNIT_REAL, "Recorded value; unknown: it is no number"},
	{"got", GT_UNIT_REAL, "Value here"},
};

static const struct gt_heading history_headings[] = {
	{"date", GT_UNIT_TEXT, "When it was measured, UTC", GT_WORTH_KEY},
	{"variant", GT_UNIT_TEXT, "Change to the launches", GT_WORTH_KEY},
	{"median_ns", GT_UNIT_NS, "Median of the runs that count", GT_WORTH_KEY},
	{"change_percent", GT_UNIT_REAL,
         "By which it is longer than the result before it of the same variant, conditions and "
         "GPU, per cent",
         .label = "change, %"},
	{"spread_percent", GT_UNIT_PERCENT, "From the 5th to the 95th percentile, of the median"},
	{"job_percent", GT_UNIT_REAL, "By which the median is longer than in the program, per cent",
         .label = "against job, %"},
	{"runs", GT_UNIT_COUNT, "That count", GT_WORTH_LITTLE},
	{"thrown_out", GT_UNIT_COUNT, "Runs with throttled clocks", GT_WORTH_LEAST},
	{"other_mode", GT_UNIT_COUNT, "Runs far from the median", GT_WORTH_LEAST},
	{"others", GT_UNIT_COUNT, "Other processes on the GPU", GT_WORTH_LEAST},
	{"sm_mhz", GT_UNIT_REAL, "Clock of the multiprocessors meanwhile", GT_WORTH_LITTLE},
	{"conditions", GT_UNIT_TEXT, "Conditions that the times depend on beside the variant"},
	{"device", GT_UNIT_TEXT, "GPU"},
	{"driver", GT_UNIT_TEXT, "Version of the driver", GT_WORTH_LITTLE},
	{"host", GT_UNIT_TEXT, "Machine", GT_WORTH_LEAST},
	{"uuid", GT_UNIT_TEXT, "UUID of the GPU", GT_WORTH_DATA},
	{"gputrace", GT_UNIT_TEXT, "Version of gputrace", GT_WORTH_DATA},
	{"verdict", GT_UNIT_TEXT, "The outcome in words", GT_WORTH_PROSE},
};

static const struct gt_heading best_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"conditions", GT_UNIT_TEXT, "Conditions that the times depend on beside the variant"},
	{"variant", GT_UNIT_TEXT, "The fastest whose outputs were as recorded", GT_WORTH_KEY},
	{"median_ns", GT_UNIT_NS, "Its newest median"},
	{"speed_up", GT_UNIT_REAL, "Newest median as recorded, by that one"},
	{"date", GT_UNIT_TEXT, "When it was measured, UTC"},
};

/* ---- cells ---- */

static void add_known(struct gt_result *result, const char *text)
{
	gt_result_add_copy(result, text);
}

static void add_label(struct gt_result *result, const struct gt_outcome *outcome)
{
	char label[GT_OUTCOME_LABEL_BYTES];

	gt_outcome_label(outcome, label);
	add_known(result, label);
}

/* By how much one is more than another. */
static double more_percent(double one, double other)
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

	add_known(result, name ? name : mangled);
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
	add_known(result, origin->device);
	gt_result_add_format(result, "%.19s", origin->date);
	add_known(result, outcome->device);
	add_known(result, outcome->driver);
	add_known(result, outcome->conditions);
	add_known(result, origin->program);
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
	const double noise = 2 * hypot(outcome->error, first->error);
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

static void add_verdict(struct gt_result *result, const struct gt_outcome *outcome,
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

	add_label(result, outcome);
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
	gt_result_add_real(result, more_percent(outcome->median_ns, outcome->job_ns));
	if (*outcome->fits)
		add_known(result, outcome->fits);
	else
		gt_result_add_unknown(result);
	gt_result_add_real(result, first->median_ns / outcome->median_ns);
	gt_result_add_real(result, 100 * outcome->error);
	gt_result_add_text(result, !timed ? "-" : outcome->stable ? "yes" : "no");
	gt_add_rounded(result, outcome->events_ns);
	gt_result_add_real(result, outcome->sm_mhz);
	add_known(result, outcome->clock);
	gt_roof_add_source(result, &outcome->roof);
	add_verdict(result, outcome, first);
}

/* ---- outputs ---- */

/* With the type: a column that is the same in all rows is left out of narrow pages. */
static void add_buffer_verdict(struct gt_result *result, const struct gt_outcome *outcome,
                               const struct gt_outcome_buffer *buffer)
{
	const struct gt_replay_buffer *found = &buffer->found;
	const char *right = outcome->step_plus_one ? "as in the sequence" : "as recorded";
	char text[256] = "";
	size_t used = 0;

#define SAY(condition, ...)                                                                        \
	if ((condition) && used < sizeof(text))                                                    \
	used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__)

	SAY(found->outside, "written outside, first at byte %lld of it",
	    (long long)found->first_outside);
	SAY(found->unwritten, "%snot written from byte %llu on", used ? "; " : "",
	    (unsigned long long)found->first_unwritten);
	SAY(found->untouched, "%snever written from byte %llu on", used ? "; " : "",
	    (unsigned long long)found->first_untouched);
	SAY(found->varies, "%sdiffers from run to run", used ? "; " : "");
	SAY(found->wanted_known && found->comparison.mismatches && !found->unwritten &&
	            !found->varies,
	    "%sdiffers", used ? "; " : "");
	SAY(!found->wanted_known, "%snothing recorded to compare with", used ? "; " : "");
	SAY(found->held && used, "; it held that before");
	SAY(found->held && !used && found->written > 0, "written, and %s", right);
	SAY(found->held && !used, "held that before: whether it was written is not known");
#undef SAY
	gt_result_add_format(result, "%s; %s%s", used ? text : right, buffer->element,
	                     found->source == GT_ELEMENT_GUESSED ? ", guessed" : "");
}

static void add_buffer(struct gt_result *result, const struct gt_outcome *outcome,
                       const struct gt_outcome_buffer *buffer)
{
	const struct gt_replay_buffer *found = &buffer->found;
	const struct gt_comparison *comparison = &found->comparison;
	const bool known = found->wanted_known;
	static const char *const sources[] = {
		[GT_ELEMENT_GIVEN] = "given",
		[GT_ELEMENT_GUESSED] = "guessed",
		[GT_ELEMENT_OF_ARRAY] = "format",
	};

	add_label(result, outcome);
	gt_result_add_count(result, found->memory);
	gt_result_add_count(result, (int64_t)buffer->bytes);
	gt_result_add_text(result, buffer->element);
	gt_result_add_text(result, sources[found->source]);
	gt_result_add_count(result, (int64_t)comparison->elements);
	gt_result_add_count_if(result, known, (int64_t)comparison->mismatches);
	gt_result_add_count_if(result, known, (int64_t)comparison->differing);
	gt_result_add_real(result, known ? comparison->worst_relative : NAN);
	gt_result_add_count(result, (int64_t)comparison->got_values.nans);
	gt_result_add_count(result, (int64_t)comparison->got_values.infinities);
	gt_result_add_count_if(result, known, (int64_t)comparison->wanted_values.nans);
	gt_result_add_count_if(result, known, (int64_t)comparison->wanted_values.infinities);
	gt_result_add_text(result, found->role == GT_ROLE_unknown ? "contents" : "poison");
	gt_result_add_count_if(result, found->written > 0, (int64_t)found->written);
	gt_result_add_count_if(result, found->written_known, (int64_t)found->unwritten);
	gt_result_add_count_if(result, found->written_known, (int64_t)found->untouched);
	gt_result_add_count_if(result, !found->array, (int64_t)found->zone_bytes);
	gt_result_add_count_if(result, found->zone_bytes > 0, (int64_t)found->outside);
	gt_result_add_count(result,
	                    (int64_t)(found->varies && !found->varying ? 1 : found->varying));
	gt_result_add_real(result, comparison->got_values.least);
	gt_result_add_real(result, comparison->got_values.most);
	gt_result_add_real(result, comparison->got_values.mean);
	gt_result_add_real(result, known ? comparison->wanted_values.mean : NAN);
	if (found->array)
		gt_result_add_text(result, "-");
	else
		gt_result_add_format(result, "0x%llx", (unsigned long long)buffer->address);
	add_known(result, buffer->name);
	add_buffer_verdict(result, outcome, buffer);
}

static void add_mismatches(struct gt_result *result, const struct gt_outcome *outcome,
                           const struct gt_outcome_buffer *buffer)
{
	const struct gt_comparison *comparison = &buffer->found.comparison;

	for (size_t i = 0; i < comparison->first_count && i < GT_FIRST_MISMATCHES; i++) {
		const struct gt_mismatch *mismatch = &comparison->first[i];

		add_label(result, outcome);
		gt_result_add_count(result, buffer->found.memory);
		gt_result_add_count(result, (int64_t)mismatch->offset);
		gt_result_add_real(result, mismatch->wanted);
		gt_result_add_real(result, mismatch->got);
	}
}

static void add_tables_of_buffers(struct gt_result *result, const struct gt_outcomes *outcomes)
{
	gt_result_begin(result, "buffers", buffer_headings, GT_COUNT_OF(buffer_headings));
	gt_array_each(const struct gt_outcome, outcome, &outcomes->list)
		gt_array_each(const struct gt_outcome_buffer, buffer, &outcome->buffers)
			add_buffer(result, outcome, buffer);
	gt_result_begin(result, "mismatches", mismatch_headings, GT_COUNT_OF(mismatch_headings));
	gt_array_each(const struct gt_outcome, outcome, &outcomes->list)
		gt_array_each(const struct gt_outcome_buffer, buffer, &outcome->buffers)
			add_mismatches(result, outcome, buffer);
}

/* ---- remarks ---- */

/* Remarks on memory that did not change. */
static void remark_on_roles(struct gt_result *result, const struct gt_outcome *first)
{
	static const char *const words[] = {
#define ROLE(name, help) help,
		GT_ROLES(ROLE)
#undef ROLE
	};
	char text[256] = "";
	size_t used = 0;

	for (unsigned i = 1; i <= GT_ROLE_COUNT; i++) {
		const unsigned role = i % GT_ROLE_COUNT; /* what is not known at the end */

		if (first->roles[role] > 0 && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u %s",
			                         used ? ", " : "", first->roles[role], words[role]);
	}
	if (used > 0)
		gt_result_remark(result, "memory that holds the same afterwards: %s%s%s", text,
		                 *first->no_roles ? "; " : "", first->no_roles);
}

static void remark_on_launch(struct gt_result *result, const struct gt_outcome *first,
                             const struct gt_bundle *bundle)
{
	if (first->roof.name != GT_CEILINGS)
		gt_result_remark_on(result, "peak_percent", "peak: %s, %s",
		                    gt_ceiling_names[first->roof.name],
		                    isnan(first->roof.measured)
		                            ? "data sheet; gputrace calibrate measures it"
		                            : gt_ceiling_source_name(first->roof.source));
	if (!isfinite(first->job_ns))
		gt_result_remark_on(result, "job_ns job_percent",
		                    "its time in the program was not recorded");
	else if (first->job_launches > 0 && first->step_plus_one)
		gt_result_remark_on(result, "job_ns job_percent",
		                    "time in the program: of that step, by its medians of %u "
		                    "occurrences that were not captured",
		                    first->job_launches);
	else if (first->job_launches > 0 && bundle->steps.count > 1)
		gt_result_remark_on(result, "job_ns job_percent",
		                    "time in the program: median of %u occurrences of the range "
		                    "that were not captured",
		                    first->job_launches);
	else if (first->job_launches > 0)
		gt_result_remark_on(result, "job_ns job_percent",
		                    "time in the program: median of %u launches of this kernel in "
		                    "this shape that were not captured",
		                    first->job_launches);
	else
		gt_result_remark_on(result, "job_ns job_percent",
		                    "time in the program: of the captured launch itself, which ran "
		                    "after a pause of the GPU");
	if (bundle->origin.workspace_bytes < 0)
		gt_result_remark_on(result, "workspace_bytes",
		                    "how much of the memory a library asked for is not known");
	if (bundle->origin.local_bytes < 0)
		gt_result_remark_on(result, "local_bytes",
		                    "how much memory its local variables needed is not known");
}

/* Remarks on a step that was run alone. */
static void remark_on_step(struct gt_result *result, const struct gt_outcome *first)
{
	if (!first->step_plus_one)
		return;
	gt_result_remark(result,
	                 "step %llu alone: the steps before it were run once, and each run finds "
	                 "memory as they left it",
	                 (unsigned long long)first->step_plus_one - 1);
	if (!first->sequence_compared)
		gt_result_remark(result, "whether the sequence gives what was recorded was not "
		                         "compared");
	else if (first->sequence_mismatches)
		gt_result_remark(result,
		                 "all steps, run once one after the other, did not give what was "
		                 "recorded: %llu elements differ, the first in memory %u",
		                 (unsigned long long)first->sequence_mismatches,
		                 first->sequence_first);
	else
		gt_result_remark(result,
		                 "all steps, run once one after the other, gave what was recorded; "
		                 "outputs are compared with what the step left then");
}

/* Remarks on data that warm runs find as recorded, and on whether all runs did the same. */
static void remark_on_work(struct gt_result *result, const struct gt_outcome *first)
{
	if (first->other_mode)
		gt_result_remark_on(
			result, "other_mode",
			"%u runs as recorded do not count: they took less than half of the "
			"median, or more than twice as long",
			(unsigned)first->other_mode);
	if (first->restored_bytes)
		gt_result_remark(result, "of what changes %s are restored right before each run",
		                 gt_figure_bytes((int64_t)first->restored_bytes).text);
	if (first->left_bytes)
		gt_result_remark(
			result,
			"of what changes %s are as the run before left them: a run over that "
			"does the same and takes as long",
			gt_figure_bytes((int64_t)first->left_bytes).text);
	if (*first->doubt)
		gt_result_remark(result, "it is not known that each run did the same work: %s",
		                 first->doubt);
}

static void remark_on_outcome(struct gt_result *result, const struct gt_outcome *first,
                              const struct gt_bundle *bundle)
{
	remark_on_step(result, first);
	remark_on_launch(result, first, bundle);
	if (first->thrown_out)
		gt_result_remark(
			result, "%u runs as recorded do not count: the GPU's clocks were held down",
			(unsigned)first->thrown_out);
	remark_on_work(result, first);
	gt_apart_remark(result, first, bundle);
	if (*first->no_cupti)
		gt_result_remark(result, "timed by %s and not by CUPTI: %s", first->clock,
		                 first->no_cupti);
	if (*first->no_poison)
		gt_result_remark_on(result, "unwritten_bytes untouched_bytes",
		                    "what was written is not known: %s", first->no_poison);
	if (first->unchanged && strstr(first->conditions, "inputs=recorded"))
		gt_result_remark(
			result,
			"nothing was compared: all memory held the same before, and of none it "
			"is known what is written; where a launch of the same came before, "
			"capture the first");
	remark_on_roles(result, first);
	if (first->first_bad_step != UINT32_MAX)
		gt_result_remark(result, "step %u of the sequence wrote the first NaN or infinity",
		                 first->first_bad_step);
	if (first->moved)
		gt_result_remark(result, "memory lies at other addresses than in the program");
	if (*first->guessed)
		gt_result_remark(result, "%s", first->guessed);
	if (*first->handles)
		gt_result_remark(result, "%s", first->handles);
	if (first->others_plus_one > 1)
		gt_result_remark(result, "%u other process%s had a context on the GPU",
		                 (unsigned)(first->others_plus_one - 1),
		                 first->others_plus_one == 2 ? "" : "es");
	if (first->others_plus_one == 0)
		gt_result_remark(result, "whether others use the GPU is not known: NVML does not "
		                         "say");
	gt_array_each(char *const, missing, &bundle->missing)
		gt_result_remark(result, "not captured: %s", *missing);
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
	add_tables_of_buffers(result, outcomes);
	if (ran)
		remark_on_outcome(result, outcomes->list.rows, bundle);
}

/* ---- history ---- */

/* The last before that row that differs in nothing but time; NULL: there is none. */
static const struct gt_outcome *before(const struct gt_results *results, size_t row)
{
	const struct gt_outcome *outcome = &results->list.rows[row].outcome;

	while (row-- > 0)
		if (gt_outcome_same(&results->list.rows[row].outcome, outcome))
			return &results->list.rows[row].outcome;
	return NULL;
}

static void add_kept(struct gt_result *result, const struct gt_outcome *outcome,
                     const struct gt_outcome *earlier)
{
	gt_result_add_format(result, "%.19s", outcome->date);
	add_known(result, outcome->variant);
	gt_add_rounded(result, outcome->median_ns);
	gt_result_add_real(result,
	                   earlier ? more_percent(outcome->median_ns, earlier->median_ns) : NAN);
	gt_result_add_real(result,
	                   gt_percent(outcome->p95_ns - outcome->p05_ns, outcome->median_ns));
	gt_result_add_real(result, more_percent(outcome->median_ns, outcome->job_ns));
	gt_result_add_count(result, (int64_t)outcome->runs);
	gt_result_add_count(result, (int64_t)outcome->thrown_out);
	gt_result_add_count(result, (int64_t)outcome->other_mode);
	gt_result_add_count_if(result, outcome->others_plus_one > 0,
	                       (int64_t)outcome->others_plus_one - 1);
	gt_result_add_real(result, outcome->sm_mhz);
	add_known(result, outcome->conditions);
	add_known(result, outcome->device);
	add_known(result, outcome->driver);
	add_known(result, outcome->host);
	add_known(result, outcome->uuid);
	add_known(result, outcome->gputrace);
	add_verdict(result, outcome, NULL);
}

static bool on_same_ground(const struct gt_outcome *one, const struct gt_outcome *other)
{
	return strcmp(one->conditions, other->conditions) == 0 &&
	       strcmp(one->device, other->device) == 0 && strcmp(one->uuid, other->uuid) == 0;
}

/* Whether no later one differs from it in nothing but time. */
static bool is_newest(const struct gt_results *results, size_t row)
{
	const struct gt_outcome *outcome = &results->list.rows[row].outcome;

	for (size_t i = row + 1; i < results->list.count; i++)
		if (gt_outcome_same(&results->list.rows[i].outcome, outcome))
			return false;
	return true;
}

/* The fastest of the newest results of the GPU and conditions that did as the program did. */
static const struct gt_outcome *best_of(const struct gt_results *results,
                                        const struct gt_outcome *like,
                                        const struct gt_outcome **recorded)
{
	const struct gt_outcome *best = NULL;

	*recorded = NULL;
	for (size_t i = 0; i < results->list.count; i++) {
		const struct gt_outcome *outcome = &results->list.rows[i].outcome;

		if (!on_same_ground(outcome, like) || !is_newest(results, i) ||
		    !isfinite(outcome->median_ns))
			continue;
		if (strcmp(outcome->variant, GT_OUTCOME_AS_RECORDED) == 0)
			*recorded = outcome;
		if (outcome->verified && !*outcome->doubt &&
		    (!best || outcome->median_ns < best->median_ns))
			best = outcome;
	}
	return best;
}

static void add_best(struct gt_result *result, const struct gt_results *results, size_t row)
{
	const struct gt_outcome *like = &results->list.rows[row].outcome;
	const struct gt_outcome *recorded;
	const struct gt_outcome *best;

	for (size_t i = row + 1; i < results->list.count; i++)
		if (on_same_ground(&results->list.rows[i].outcome, like))
			return; /* the last row of a ground stands for it */
	best = best_of(results, like, &recorded);
	if (!best)
		return;
	add_known(result, best->device);
	add_known(result, best->conditions);
	add_known(result, best->variant);
	gt_add_rounded(result, best->median_ns);
	gt_result_add_real(result, recorded ? recorded->median_ns / best->median_ns : NAN);
	gt_result_add_format(result, "%.19s", best->date);
}

void gt_history_fill(struct gt_result *result, const struct gt_results *results)
{
	gt_result_begin(result, "best", best_headings, GT_COUNT_OF(best_headings));
	gt_result_whole(result);
	for (size_t i = results->list.count; i-- > 0;)
		add_best(result, results, i);
	gt_result_begin(result, "history", history_headings, GT_COUNT_OF(history_headings));
	gt_result_whole(result);
	for (size_t i = results->list.count; i-- > 0;)
		add_kept(result, &results->list.rows[i].outcome, before(results, i));
}

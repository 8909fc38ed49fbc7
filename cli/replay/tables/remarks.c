/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/tables/parts.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/replay/apart.h"

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

void gt_replay_remark(struct gt_result *result, const struct gt_outcome *first,
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

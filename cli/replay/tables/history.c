/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/tables/table.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "cli/replay/outcome.h"
#include "cli/replay/results.h"
#include "cli/replay/tables/parts.h"

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
	gt_result_add_copy(result, outcome->variant);
	gt_add_rounded(result, outcome->median_ns);
	gt_result_add_real(result,
	                   earlier ? gt_replay_more_percent(outcome->median_ns, earlier->median_ns)
	                           : NAN);
	gt_result_add_real(result,
	                   gt_percent(outcome->p95_ns - outcome->p05_ns, outcome->median_ns));
	gt_result_add_real(result, gt_replay_more_percent(outcome->median_ns, outcome->job_ns));
	gt_result_add_count(result, (int64_t)outcome->runs);
	gt_result_add_count(result, (int64_t)outcome->thrown_out);
	gt_result_add_count(result, (int64_t)outcome->other_mode);
	gt_result_add_count_if(result, outcome->others_plus_one > 0,
	                       (int64_t)outcome->others_plus_one - 1);
	gt_result_add_real(result, outcome->sm_mhz);
	gt_result_add_copy(result, outcome->conditions);
	gt_result_add_copy(result, outcome->device);
	gt_result_add_copy(result, outcome->driver);
	gt_result_add_copy(result, outcome->host);
	gt_result_add_copy(result, outcome->uuid);
	gt_result_add_copy(result, outcome->gputrace);
	gt_replay_add_verdict(result, outcome, NULL);
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
	gt_result_add_copy(result, best->device);
	gt_result_add_copy(result, best->conditions);
	gt_result_add_copy(result, best->variant);
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

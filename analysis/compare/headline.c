/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/headline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/compare/comparison.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/units.h"

static const struct gt_heading headings[] = {
	{"topic", GT_UNIT_TEXT, "Subject of the sentence", GT_WORTH_KEY},
	{"answer", GT_UNIT_TEXT, "The answer", GT_WORTH_PROSE},
};

double gt_compared_percent(const struct gt_compared_value *value)
{
	const double percent = 100 * (value->value[GT_SIDE_B] / value->value[GT_SIDE_A] - 1);

	return fabs(percent) < 1e-9 ? 0 : percent;
}

/* ---- figures ---- */

/* "8.63 ms -> 8.21 ms (-4.9%, within 1.2%): faster" */
static void add_figure(struct gt_result *result, const struct gt_comparison *comparison,
                       enum gt_compared_figure figure)
{
	const struct gt_compared_figure_info *info = &gt_compared_figures[figure];
	const struct gt_compared_value *value = &comparison->figures[figure];
	const char *verdict = gt_compared_figure_verdict(comparison, figure);
	char within[64] = "";

	if (!(value->value[GT_SIDE_A] > 0) || !(value->value[GT_SIDE_B] > 0))
		return;
	if (!isnan(value->change.margin))
		snprintf(within, sizeof(within), ", within %.1f%%",
		         100 * expm1(value->change.margin));
	gt_result_add_text(result, info->words);
	gt_result_add_format(result, "%s -> %s (%+.1f%%%s)%s%s",
	                     gt_figure_in(value->value[GT_SIDE_A], info->unit).text,
	                     gt_figure_in(value->value[GT_SIDE_B], info->unit).text,
	                     gt_compared_percent(value), within, *verdict ? ": " : "", verdict);
}

/* ---- the clock ---- */

static void add_clock(struct gt_result *result, const struct gt_comparison *comparison)
{
	const struct gt_compared_value *clock = &comparison->figures[GT_FIGURE_sm_clock];
	const bool moved = fabs(comparison->common) > log1p(GT_METHOD_CHANGE);

	if (comparison->clock != 0) {
		gt_result_add_text(result, "clock");
		gt_result_add_format(
			result,
			"the clock of the GPU changed from %s to %s (%+.1f%%): kernels that follow it "
			"are \"as all\"",
			gt_figure_in(clock->value[GT_SIDE_A], "MHz").text,
			gt_figure_in(clock->value[GT_SIDE_B], "MHz").text,
			gt_compared_percent(clock));
	}
	if (!comparison->common_known || !moved)
		return;
	gt_result_add_text(result, "all kernels");
	gt_result_add_format(
		result,
		"the median kernel changed by %+.1f%%: the clock, a power limit, another "
		"program on the GPU or the work of all kernels is different",
		100 * expm1(comparison->common));
}

/* ---- kernels ---- */

struct tally {
	size_t slower;
	size_t faster;
	size_t same;
	size_t as_all;
	size_t untold;
	size_t news;
	size_t gone;
	size_t other;
	size_t calls;
};

static struct tally tally_of(const struct gt_comparison *comparison)
{
	struct tally tally = {0};

	gt_array_each(const struct gt_compared_row, row, &comparison->rows) {
		if (row->table != GT_COMPARED_kernels)
			continue;
		tally.slower += row->change.verdict == GT_VERDICT_MORE;
		tally.faster += row->change.verdict == GT_VERDICT_LESS;
		tally.same += row->change.verdict == GT_VERDICT_SAME;
		tally.as_all += row->change.verdict == GT_VERDICT_COMMON;
		tally.untold += row->change.verdict == GT_VERDICT_UNTOLD;
		tally.news += row->match == GT_MATCH_NEW;
		tally.gone += row->match == GT_MATCH_GONE;
		tally.other += row->match == GT_MATCH_SHAPE;
		tally.calls += row->match != GT_MATCH_SHAPE && row->other_count;
	}
	return tally;
}

static void append(char *text, size_t size, size_t count, const char *words)
{
	if (count > 0)
		snprintf(text + strlen(text), size - strlen(text), "%s%zu %s", *text ? ", " : "",
		         count, words);
}

static void add_kernels(struct gt_result *result, const struct gt_comparison *comparison)
{
	const struct tally tally = tally_of(comparison);
	char text[512] = "";

	append(text, sizeof(text), tally.slower, "slower");
	append(text, sizeof(text), tally.faster, "faster");
	append(text, sizeof(text), tally.as_all, "changed as all did");
	append(text, sizeof(text), tally.same, "same");
	append(text, sizeof(text), tally.untold, "cannot be told");
	append(text, sizeof(text), tally.news, "new");
	append(text, sizeof(text), tally.gone, "gone");
	append(text, sizeof(text), tally.other, "with other work");
	append(text, sizeof(text), tally.calls, "called more or less often");
	if (!*text)
		return;
	gt_result_add_text(result, "kernels");
	gt_result_add_copy(result, text);
}

/* The kernel whose time in a step, or in the run, changed most. */
static void add_most(struct gt_result *result, const struct gt_comparison *comparison)
{
	const struct gt_compared_row *row = comparison->rows.rows;
	const char *verdict;

	if (comparison->rows.count == 0 || row->table != GT_COMPARED_kernels)
		return;
	verdict = gt_compared_verdict(row);
	if (row->change.verdict == GT_VERDICT_SAME)
		return;
	gt_result_add_text(result, "most");
	gt_result_add_format(result, "%s: %s -> %s %s%s%s", row->keys[GT_KERNEL_KEY_NAME],
	                     gt_figure_ns(llround(gt_compared_total(row, GT_SIDE_A))).text,
	                     gt_figure_ns(llround(gt_compared_total(row, GT_SIDE_B))).text,
	                     comparison->by_step ? "a step" : "in all", *verdict ? ", " : "",
	                     verdict);
}

static void add_settings(struct gt_result *result, const struct gt_comparison *comparison)
{
	char text[512] = "";

	gt_array_each(const struct gt_compared_setting, setting, &comparison->settings)
		if (strlen(text) + strlen(setting->name) + 3 < sizeof(text))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			         *text ? ", " : "", setting->name);
	if (!*text)
		return;
	gt_result_add_text(result, "differ in");
	gt_result_add_copy(result, text);
}

static void add_remarks(struct gt_result *result, const struct gt_comparison *comparison)
{
	const size_t lost = comparison->incomplete[GT_SIDE_A] + comparison->incomplete[GT_SIDE_B];

	if (strcmp(comparison->step[GT_SIDE_A], comparison->step[GT_SIDE_B]) != 0)
		gt_result_remark(
			result, "A step is %s on side A and %s on side B.",
			*comparison->step[GT_SIDE_A] ? comparison->step[GT_SIDE_A] : "not known",
			*comparison->step[GT_SIDE_B] ? comparison->step[GT_SIDE_B] : "not known");
	else if (comparison->by_step)
		gt_result_remark(result, "Figures of kernels are those of a steady step (%s).",
		                 comparison->step[GT_SIDE_A]);
	if (lost > 0)
		gt_result_remark(result,
		                 "%zu of the recordings are not complete: gputrace info says "
		                 "what is missing.",
		                 lost);
}

static bool has_too_few(const struct gt_comparison *comparison)
{
	return comparison->runs[GT_SIDE_A] < GT_METHOD_RUNS ||
	       comparison->runs[GT_SIDE_B] < GT_METHOD_RUNS;
}

static void add_verdict(struct gt_result *result, const struct gt_comparison *comparison)
{
	gt_result_add_text(result, "verdict");
	if (comparison->no_verdict)
		gt_result_add_format(result, "no verdict: %s%s", comparison->no_verdict,
		                     has_too_few(comparison)
		                             ? "; gputrace repeat records the runs for one"
		                             : "");
	else
		gt_result_add_format(result, "by %zu runs of side A and %zu of side B",
		                     comparison->runs[GT_SIDE_A], comparison->runs[GT_SIDE_B]);
}

void gt_comparison_add_headline(const struct gt_comparison *comparison, struct gt_result *result)
{
	gt_result_begin(result, "headline", headings, GT_COUNT_OF(headings));
	gt_result_plain(result);
	gt_result_whole(result);
	if (!comparison)
		return;
	add_verdict(result, comparison);
	add_clock(result, comparison);
	add_figure(result, comparison,
	           comparison->by_step ? GT_FIGURE_step_wall : GT_FIGURE_window);
	add_figure(result, comparison,
	           comparison->by_step ? GT_FIGURE_step_gpu : GT_FIGURE_gpu_time);
	if (comparison->by_step)
		add_figure(result, comparison, GT_FIGURE_step_idle);
	add_figure(result, comparison, GT_FIGURE_memory_peak);
	add_kernels(result, comparison);
	add_most(result, comparison);
	add_settings(result, comparison);
	add_remarks(result, comparison);
}

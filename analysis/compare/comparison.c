/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/items.h"
#include "base/strings.h"

/* ---- rows ---- */

static double share_of(const struct gt_items *items, const struct gt_item *item,
                       const double totals[GT_SIDES])
{
	double share = 0;

	for (int side = 0; side < GT_SIDES; side++) {
		const double total = gt_item_mean(items, item->totals, side);

		if (totals[side] > 0 && total / totals[side] > share)
			share = total / totals[side];
	}
	return share;
}

static struct gt_compared_row row_of(struct gt_comparison *comparison, const struct gt_items *items,
                                     const struct gt_item *item)
{
	struct gt_compared_row row = {
		.table = item->table,
		.match = item->match,
		.other_count = gt_item_other_count(items, item),
		.change = {NAN, NAN, NAN, GT_VERDICT_NONE},
	};

	for (size_t k = 0; k < GT_COMPARED_KEYS; k++) {
		row.keys[k] = gt_strings_get(comparison->strings, item->keys[k]);
		if (item->were[k] != item->keys[k])
			row.were[k] = gt_strings_get(comparison->strings, item->were[k]);
	}
	for (int side = 0; side < GT_SIDES; side++) {
		row.count[side] = gt_item_mean(items, item->counts, side);
		row.total_ns[side] = gt_item_mean(items, item->totals, side);
		row.each_ns[side] = exp(gt_item_mean(items, item->logs, side));
	}
	row.change.raw = gt_item_mean(items, item->logs, GT_SIDE_B) -
	                 gt_item_mean(items, item->logs, GT_SIDE_A);
	row.change.change = row.change.raw;
	return row;
}

/* One launch, or three in which the first is warm-up, say nothing. */
enum { LEAST_COUNT = 3 };

/* Times on the host of what happens once in a run differ too much for a verdict. */
static bool has_verdicts(enum gt_compared table)
{
	return table != GT_COMPARED_api && table != GT_COMPARED_loading &&
	       table != GT_COMPARED_startup;
}

static bool is_often(const struct gt_comparison *comparison, const struct gt_compared_row *row)
{
	return (row->table == GT_COMPARED_kernels && comparison->by_step) ||
	       (row->count[GT_SIDE_A] >= LEAST_COUNT && row->count[GT_SIDE_B] >= LEAST_COUNT);
}

/* Times can be compared: the work is the same. */
static bool is_tested(const struct gt_comparison *comparison, const struct gt_items *items,
                      const struct gt_item *item, const struct gt_compared_row *row)
{
	const bool same_work = row->match == GT_MATCH_SAME || row->match == GT_MATCH_PLACE ||
	                       row->match == GT_MATCH_RENAMED;

	return !comparison->no_verdict && same_work && has_verdicts(row->table) &&
	       is_often(comparison, row) && gt_item_has_times(items, item) &&
	       !(row->table == GT_COMPARED_kernels && row->other_count) &&
	       row->share >= GT_METHOD_SHARE;
}

/* The rows of one table, and their verdicts. */
static void judge_rows(struct gt_comparison *comparison, const struct gt_items *items,
                       enum gt_compared table, size_t first)
{
	const size_t runs = items->runs;
	const size_t count = comparison->rows.count - first;
	bool *tested = gt_allocate_zeroed(count + 1, sizeof(*tested));
	double *logs = gt_allocate((count * runs + 1) * sizeof(*logs));
	struct gt_trial trial = {comparison->runs[GT_SIDE_A],
	                         comparison->runs[GT_SIDE_B],
	                         count,
	                         logs,
	                         tested,
	                         table == GT_COMPARED_kernels,
	                         table == GT_COMPARED_kernels ? comparison->clock : 0};
	struct gt_trial_result result;
	size_t at = 0;

	gt_array_each(const struct gt_item, item, &items->rows) {
		if (item->table != table || item->match == GT_MATCH_MERGED)
			continue;
		tested[at] = is_tested(comparison, items, item, &comparison->rows.rows[first + at]);
		memcpy(logs + at * runs, item->logs, runs * sizeof(*logs));
		at++;
	}
	result = gt_trial_solve(&trial);
	for (size_t i = 0; i < count; i++)
		if (tested[i])
			comparison->rows.rows[first + i].change = result.changes[i];
	if (table == GT_COMPARED_kernels) {
		comparison->common_known = result.common_known;
		comparison->common = result.common;
	}
	gt_array_free(result.changes);
	gt_array_free(logs);
	gt_array_free(tested);
}

static double moved(const struct gt_compared_row *row)
{
	return fabs(gt_compared_total(row, GT_SIDE_B) - gt_compared_total(row, GT_SIDE_A));
}

static bool is_news(const struct gt_compared_row *row)
{
	return row->change.verdict == GT_VERDICT_MORE || row->change.verdict == GT_VERDICT_LESS;
}

/* Verdicts first, then what moved most. */
static int by_news(const void *a, const void *b)
{
	const struct gt_compared_row *left = a;
	const struct gt_compared_row *right = b;

	if (is_news(left) != is_news(right))
		return is_news(left) ? -1 : 1;
	if (moved(left) != moved(right))
		return moved(left) < moved(right) ? 1 : -1;
	return strcmp(left->keys[0], right->keys[0]);
}

static void add_table(struct gt_comparison *comparison, const struct gt_items *items,
                      enum gt_compared table)
{
	const size_t first = comparison->rows.count;
	double totals[GT_SIDES] = {0, 0};

	gt_array_each(const struct gt_item, item, &items->rows)
		for (int side = 0; side < GT_SIDES && item->table == table; side++) {
			const double total = gt_item_mean(items, item->totals, side);

			totals[side] += isnan(total) ? 0 : total;
		}
	gt_array_each(const struct gt_item, item, &items->rows)
		if (item->table == table && item->match != GT_MATCH_MERGED) {
			struct gt_compared_row *row = gt_array_push(&comparison->rows);

			*row = row_of(comparison, items, item);
			row->share = share_of(items, item, totals);
		}
	judge_rows(comparison, items, table, first);
	if (comparison->rows.count > first)
		qsort(comparison->rows.rows + first, comparison->rows.count - first,
		      sizeof(*comparison->rows.rows), by_news);
}

/* ---- figures ---- */

/* Whether all runs of one side are on one side of all those of the other. */
static bool is_apart(const double *values, size_t a, size_t b)
{
	double low[GT_SIDES] = {INFINITY, INFINITY};
	double high[GT_SIDES] = {-INFINITY, -INFINITY};

	for (size_t r = 0; r < a + b; r++) {
		const int side = r < a ? GT_SIDE_A : GT_SIDE_B;

		low[side] = fmin(low[side], values[r]);
		high[side] = fmax(high[side], values[r]);
	}
	return low[GT_SIDE_A] > high[GT_SIDE_B] || low[GT_SIDE_B] > high[GT_SIDE_A];
}

/* Whether each side's runs agree to the last digit: then any change is one. */
static bool is_exact(const double *logs, size_t a, size_t b)
{
	for (size_t i = 1; i < a + b; i++)
		if (i != a && logs[i] != logs[i - 1])
			return false;
	return true;
}

/*
 * The runs of one side must also lie apart from those of the other. A change of what the runs of
 * each side agree on to the last digit is one, however small.
 */
static enum gt_verdict judge_figure(const struct gt_trial_change *change, const double *logs,
                                    size_t a, size_t b)
{
	const enum gt_verdict verdict = change->verdict;

	if (verdict == GT_VERDICT_NONE)
		return verdict;
	if (is_exact(logs, a, b) && change->raw != 0)
		return change->raw > 0 ? GT_VERDICT_MORE : GT_VERDICT_LESS;
	return (verdict == GT_VERDICT_MORE || verdict == GT_VERDICT_LESS) && !is_apart(logs, a, b)
	               ? GT_VERDICT_UNTOLD
	               : verdict;
}

/* Figures of steps are those of the same steps. */
static bool is_comparable(const struct gt_comparison *comparison, size_t figure)
{
	return !comparison->other_steps || figure > GT_FIGURE_step_joules;
}

/* Logarithms of all figures, and which of them are tested. */
static void read_figures(const struct gt_comparison *comparison, const struct gt_profile *profiles,
                         double *logs, bool *tested)
{
	const size_t a = comparison->runs[GT_SIDE_A];
	const size_t b = comparison->runs[GT_SIDE_B];

	for (size_t f = 0; f < GT_COMPARED_FIGURES; f++) {
		const struct gt_compared_figure_info *info = &gt_compared_figures[f];

		tested[f] = !comparison->no_verdict && a >= info->runs && b >= info->runs &&
		            info->better != GT_BETTER_NEITHER;
		for (size_t r = 0; r < a + b; r++) {
			const double value = profiles[r].figures[f];

			logs[f * (a + b) + r] =
				value > 0 && is_comparable(comparison, f) ? log(value) : NAN;
			tested[f] = tested[f] && value > 0;
		}
	}
}

static void add_figures(struct gt_comparison *comparison, const struct gt_profile *profiles)
{
	const size_t a = comparison->runs[GT_SIDE_A];
	const size_t b = comparison->runs[GT_SIDE_B];
	bool tested[GT_COMPARED_FIGURES];
	double *logs = gt_allocate(GT_COMPARED_FIGURES * (a + b) * sizeof(*logs));
	const struct gt_trial trial = {a, b, GT_COMPARED_FIGURES, logs, tested, false, 0};
	struct gt_trial_result result;

	read_figures(comparison, profiles, logs, tested);
	result = gt_trial_solve(&trial);
	for (size_t f = 0; f < GT_COMPARED_FIGURES; f++) {
		struct gt_compared_value *figure = &comparison->figures[f];

		figure->change = result.changes[f];
		figure->value[GT_SIDE_A] = figure->value[GT_SIDE_B] = NAN;
		if (is_comparable(comparison, f)) {
			figure->value[GT_SIDE_A] = gt_mean_figure(profiles, a, f);
			figure->value[GT_SIDE_B] = gt_mean_figure(profiles + a, b, f);
		}
		figure->change.verdict = judge_figure(&figure->change, logs + f * (a + b), a, b);
	}
	gt_array_free(result.changes);
	gt_array_free(logs);
}

/* The clocks of both sides where they lie clearly apart: above GT_METHOD_CHANGE, and run by run. */
static void add_clock(struct gt_comparison *comparison, const struct gt_profile *profiles)
{
	const size_t a = comparison->runs[GT_SIDE_A];
	const size_t b = comparison->runs[GT_SIDE_B];
	const double *values = comparison->figures[GT_FIGURE_sm_clock].value;
	const double ratio = log(values[GT_SIDE_B] / values[GT_SIDE_A]);
	double *clocks = gt_allocate((a + b) * sizeof(*clocks));

	for (size_t r = 0; r < a + b; r++)
		clocks[r] = profiles[r].figures[GT_FIGURE_sm_clock];
	if (fabs(ratio) > log1p(GT_METHOD_CHANGE) && is_apart(clocks, a, b))
		comparison->clock = -ratio;
	gt_array_free(clocks);
}

/* ---- settings ---- */

/* A value of a setting, "" where the run has none. */
static const char *setting_of(const struct gt_profile *profile, const char *name)
{
	gt_array_each(const struct gt_profile_setting, setting, &profile->settings)
		if (strcmp(gt_profile_text(profile, setting->name), name) == 0)
			return gt_profile_text(profile, setting->value);
	return "";
}

/* The values of a side's runs, each once. */
static const char *values_of(struct gt_comparison *comparison, const struct gt_profile *profiles,
                             size_t count, const char *name)
{
	char text[1024] = "";

	for (size_t i = 0; i < count; i++) {
		const char *value = setting_of(&profiles[i], name);
		bool seen = false;

		for (size_t j = 0; j < i && !seen; j++)
			seen = strcmp(setting_of(&profiles[j], name), value) == 0;
		if (!seen && strlen(text) + strlen(value) + 3 < sizeof(text))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			         i > 0 ? ", " : "", value);
	}
	return gt_strings_get(comparison->strings, gt_strings_add(comparison->strings, text));
}

static void add_setting(struct gt_comparison *comparison, const struct gt_profile *profiles,
                        const char *name, bool of_recording)
{
	const size_t a = comparison->runs[GT_SIDE_A];
	const struct gt_compared_setting setting = {
		.name = gt_strings_get(comparison->strings,
	                               gt_strings_add(comparison->strings, name)),
		.value = {values_of(comparison, profiles, a, name),
	                  values_of(comparison, profiles + a, comparison->runs[GT_SIDE_B], name)},
		.of_recording = of_recording,
	};

	if (strcmp(setting.value[GT_SIDE_A], setting.value[GT_SIDE_B]) == 0)
		return;
	gt_array_each(const struct gt_compared_setting, other, &comparison->settings)
		if (strcmp(other->name, setting.name) == 0)
			return;
	*gt_array_push(&comparison->settings) = setting;
}

static void add_settings(struct gt_comparison *comparison, const struct gt_profile *profiles)
{
	for (size_t r = 0; r < comparison->runs[GT_SIDE_A] + comparison->runs[GT_SIDE_B]; r++)
		gt_array_each(const struct gt_profile_setting, setting, &profiles[r].settings)
			add_setting(comparison, profiles,
			            gt_profile_text(&profiles[r], setting->name),
			            setting->of_recording);
}

/* ---- the whole ---- */

static const char *step_of(struct gt_comparison *comparison, const struct gt_profile *profile)
{
	return gt_strings_get(comparison->strings,
	                      gt_strings_add(comparison->strings,
	                                     gt_profile_text(profile, profile->step)));
}

/* Why there can be no verdict; NULL: there can. */
static const char *no_verdict(const struct gt_comparison *comparison)
{
	const size_t *runs = comparison->runs;

	if (runs[GT_SIDE_A] == 1 && runs[GT_SIDE_B] == 1)
		return "one run each";
	if (runs[GT_SIDE_A] < GT_METHOD_RUNS || runs[GT_SIDE_B] < GT_METHOD_RUNS)
		return "fewer than three runs of a side";
	if (comparison->other_steps)
		return "steps are not the same in all runs (--range says which range is a step)";
	gt_array_each(const struct gt_compared_setting, setting, &comparison->settings)
		if (setting->of_recording)
			return "the sides were recorded in different ways";
	return NULL;
}

void gt_comparison_init(struct gt_comparison *comparison, const struct gt_profile *profiles,
                        size_t a, size_t b)
{
	struct gt_items items;

	*comparison = (struct gt_comparison){
		.strings = gt_strings_new(),
		.runs = {a, b},
		.by_step = profiles[0].steps > 0,
	};
	comparison->step[GT_SIDE_A] = step_of(comparison, &profiles[0]);
	comparison->step[GT_SIDE_B] = step_of(comparison, &profiles[a]);
	for (size_t r = 0; r < a + b; r++) {
		comparison->other_steps |=
			strcmp(gt_profile_text(&profiles[0], profiles[0].step),
		               gt_profile_text(&profiles[r], profiles[r].step)) != 0 ||
			(profiles[0].steps > 0) != (profiles[r].steps > 0);
		comparison->incomplete[r < a ? GT_SIDE_A : GT_SIDE_B] += profiles[r].incomplete;
	}
	comparison->by_step = comparison->by_step && !comparison->other_steps;
	add_settings(comparison, profiles);
	comparison->no_verdict = no_verdict(comparison);
	add_figures(comparison, profiles);
	add_clock(comparison, profiles);
	gt_items_init(&items, comparison->strings, profiles, a, b, comparison->by_step);
	for (enum gt_compared table = 0; table < GT_COMPARED_TABLES; table++)
		add_table(comparison, &items, table);
	gt_items_release(&items);
}

void gt_comparison_release(struct gt_comparison *comparison)
{
	gt_array_release(&comparison->rows);
	gt_array_release(&comparison->settings);
	gt_strings_free(comparison->strings);
	*comparison = (struct gt_comparison){0};
}

/* Words where a change of a time is told, and where one of an amount is. */
static const char *const time_words[] = {
	[GT_VERDICT_NONE] = "",         [GT_VERDICT_SAME] = "same",
	[GT_VERDICT_MORE] = "slower",   [GT_VERDICT_LESS] = "faster",
	[GT_VERDICT_COMMON] = "as all", [GT_VERDICT_UNTOLD] = "cannot tell",
};

static const char *const amount_words[] = {
	[GT_VERDICT_NONE] = "",       [GT_VERDICT_SAME] = "same",
	[GT_VERDICT_MORE] = "more",   [GT_VERDICT_LESS] = "less",
	[GT_VERDICT_COMMON] = "same", [GT_VERDICT_UNTOLD] = "cannot tell",
};

const char *gt_compared_verdict(const struct gt_compared_row *row)
{
	static const char *const words[] = {
		[GT_MATCH_NEW] = "new",
		[GT_MATCH_GONE] = "gone",
		[GT_MATCH_SOME] = "in some runs",
		[GT_MATCH_SHAPE] = "other work",
	};

	if ((size_t)row->match < GT_COUNT_OF(words) && words[row->match])
		return words[row->match];
	if (row->other_count && row->table == GT_COMPARED_kernels)
		return row->count[GT_SIDE_B] > row->count[GT_SIDE_A] ? "more calls" : "fewer calls";
	return time_words[row->change.verdict];
}

const char *gt_compared_figure_verdict(const struct gt_comparison *comparison,
                                       enum gt_compared_figure figure)
{
	const enum gt_verdict verdict = comparison->figures[figure].change.verdict;

	return strcmp(gt_compared_figures[figure].unit, "ns") == 0 ? time_words[verdict]
	                                                           : amount_words[verdict];
}

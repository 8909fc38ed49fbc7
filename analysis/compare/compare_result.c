/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/compare_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/compare/comparison.h"
#include "analysis/compare/headline.h"
#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"

static const struct gt_heading figure_headings[] = {
	{"figure", GT_UNIT_TEXT, "Figure of the whole run, as --fail-if calls it", GT_WORTH_NAME},
	{"unit", GT_UNIT_TEXT, "Unit of a and b", GT_WORTH_DATA},
	{"a", GT_UNIT_REAL, "Geometric mean of the runs of side A", GT_WORTH_KEY,
         .row_unit = GT_ROW_UNIT},
	{"b", GT_UNIT_REAL, "The same of side B", GT_WORTH_KEY, .row_unit = GT_ROW_UNIT},
	{"change_percent", GT_UNIT_PERCENT, "b / a - 1", GT_WORTH_KEY},
	{"within_percent", GT_UNIT_PERCENT,
         "The true change is within so much of it, 95 times of 100 for all figures together; needs three runs of each side"},
	{"verdict", GT_UNIT_TEXT,
         "slower, faster, more, less, same (no change above 2%), or cannot tell: runs of one side differ too much",
         GT_WORTH_KEY},
	{"meaning", GT_UNIT_TEXT, "Meaning of the figure", GT_WORTH_DATA},
};

static const struct gt_heading setting_headings[] = {
	{"setting", GT_UNIT_TEXT, "Fact of the machine, the environment or the recording",
         GT_WORTH_NAME},
	{"a", GT_UNIT_TEXT, "Its value in runs of side A", GT_WORTH_NAME},
	{"b", GT_UNIT_TEXT, "Its value in runs of side B", GT_WORTH_NAME},
};

/* Columns of all tables of rows. */
#define FIGURES(what)                                                                               \
	{"difference_ns", GT_UNIT_NS, "total_b_ns - total_a_ns", GT_WORTH_KEY},                     \
		{"total_a_ns", GT_UNIT_NS, what " of side A, mean of its runs"},                    \
		{"total_b_ns", GT_UNIT_NS, "The same of side B"},                                   \
		{"change_percent", GT_UNIT_PERCENT, "Change of the time of one, b / a - 1",         \
	         GT_WORTH_KEY},                                                                     \
		{"within_percent", GT_UNIT_PERCENT,                                                 \
	         "The true change is within so much of it, 95 times of 100 for all rows together"}, \
		{"verdict", GT_UNIT_TEXT,                                                           \
	         "Verdict on the time of one, or why there is none: docs/reports/compare.md",       \
	         GT_WORTH_KEY},                                                                     \
		{"a_count", GT_UNIT_REAL, "How many there were, mean of the runs of side A",        \
	         GT_WORTH_LITTLE, .label = "count_a"},                                              \
		{"b_count", GT_UNIT_REAL, "The same of side B", GT_WORTH_LITTLE,                    \
	         .label = "count_b"},                                                               \
		{"a_each_ns", GT_UNIT_NS, "Time of one, mean of the runs of side A",                \
	         GT_WORTH_LITTLE, .label = "each_a"},                                               \
	{                                                                                           \
		"b_each_ns", GT_UNIT_NS, "The same of side B", GT_WORTH_LITTLE, .label = "each_b"   \
	}

static const struct gt_heading kernel_headings[] = {
	FIGURES("Time in a step, or of the run where it has no steps,"),
	{"corrected_percent", GT_UNIT_PERCENT,
         "change_percent without what all kernels have in common", GT_WORTH_LITTLE,
         .label = "corrected"},
	{"share_percent", GT_UNIT_PERCENT,
         "Share of the time of all kernels, on the side where it is more", GT_WORTH_LITTLE},
	{"kernel", GT_UNIT_TEXT, "Function, of side B where the sides differ", GT_WORTH_NAME},
	{"was", GT_UNIT_TEXT, "Name, launch shape or range of side A where they differ",
         GT_WORTH_NAME},
	{"shape", GT_UNIT_TEXT, "Grid and block", GT_WORTH_LESSER_NAME},
	{"range", GT_UNIT_TEXT, "Path of the NVTX range that it was asked for in",
         GT_WORTH_LESSER_NAME},
	{"graph", GT_UNIT_TEXT, "Whether it ran in a CUDA graph", GT_WORTH_LEAST},
};

static const struct gt_heading range_headings[] = {
	FIGURES("Wall time"),
	{"range", GT_UNIT_TEXT, "Path of the NVTX ranges", GT_WORTH_NAME},
};

static const struct gt_heading op_headings[] = {
	FIGURES("GPU time of its own"),
	{"op", GT_UNIT_TEXT, "Operation of PyTorch", GT_WORTH_NAME},
	{"direction", GT_UNIT_TEXT, "Forward, or backward"},
	{"forward_op", GT_UNIT_TEXT, "Backward: operation that it belongs to",
         GT_WORTH_LESSER_NAME},
};

static const struct gt_heading module_headings[] = {
	FIGURES("GPU time of its own"),
	{"module", GT_UNIT_TEXT, "Path of the module, or optimizer", GT_WORTH_NAME},
	{"direction", GT_UNIT_TEXT, "Forward, or backward"},
};

static const struct gt_heading hlo_headings[] = {
	FIGURES("GPU time of its own"),
	{"instruction", GT_UNIT_TEXT, "Instruction of HLO", GT_WORTH_NAME},
	{"hlo_module", GT_UNIT_TEXT, "Module of HLO that it is in", GT_WORTH_LESSER_NAME},
};

static const struct gt_heading copy_headings[] = {
	FIGURES("Time of the copies"),
	{"kind", GT_UNIT_TEXT, "Kind of copy", GT_WORTH_NAME},
	{"source", GT_UNIT_TEXT, "Memory that was read", GT_WORTH_LESSER_NAME},
	{"destination", GT_UNIT_TEXT, "Memory that was written", GT_WORTH_LESSER_NAME},
};

static const struct gt_heading fill_headings[] = {
	FIGURES("Time of the fills"),
	{"memory", GT_UNIT_TEXT, "Memory that was filled", GT_WORTH_NAME},
};

static const struct gt_heading api_headings[] = {
	FIGURES("Time in the calls, of all threads,"),
	{"function", GT_UNIT_TEXT, "Function of the CUDA API", GT_WORTH_NAME},
};

static const struct gt_heading loading_headings[] = {
	FIGURES("Time of loading modules"),
	{"call", GT_UNIT_TEXT, "Call that loaded them", GT_WORTH_NAME},
};

static const struct gt_heading startup_headings[] = {
	FIGURES("Time before the first steady step"),
	{"part", GT_UNIT_TEXT, "Activity of the process", GT_WORTH_NAME},
};

static const struct {
	const struct gt_heading *headings;
	size_t count;
} tables[] = {
	[GT_COMPARED_kernels] = {kernel_headings, GT_COUNT_OF(kernel_headings)},
	[GT_COMPARED_ranges] = {range_headings, GT_COUNT_OF(range_headings)},
	[GT_COMPARED_ops] = {op_headings, GT_COUNT_OF(op_headings)},
	[GT_COMPARED_nn_modules] = {module_headings, GT_COUNT_OF(module_headings)},
	[GT_COMPARED_hlo] = {hlo_headings, GT_COUNT_OF(hlo_headings)},
	[GT_COMPARED_copies] = {copy_headings, GT_COUNT_OF(copy_headings)},
	[GT_COMPARED_fills] = {fill_headings, GT_COUNT_OF(fill_headings)},
	[GT_COMPARED_api] = {api_headings, GT_COUNT_OF(api_headings)},
	[GT_COMPARED_loading] = {loading_headings, GT_COUNT_OF(loading_headings)},
	[GT_COMPARED_startup] = {startup_headings, GT_COUNT_OF(startup_headings)},
};

/* ---- cells ---- */

static void add_text(struct gt_result *result, const char *text)
{
	if (*text)
		gt_result_add_text(result, text);
	else
		gt_result_add_unknown(result);
}

static double percent_of(double log_of)
{
	return 100 * expm1(log_of);
}

static void add_figure(struct gt_result *result, const struct gt_comparison *comparison,
                       enum gt_compared_figure figure)
{
	const struct gt_compared_figure_info *info = &gt_compared_figures[figure];
	const struct gt_compared_value *value = &comparison->figures[figure];

	gt_result_add_text(result, info->words);
	add_text(result, info->unit);
	gt_result_add_real(result, value->value[GT_SIDE_A]);
	gt_result_add_real(result, value->value[GT_SIDE_B]);
	gt_result_add_real(result, gt_compared_percent(value));
	gt_result_add_real(result, percent_of(value->change.margin));
	add_text(result, gt_compared_figure_verdict(comparison, figure));
	gt_result_add_text(result, info->help);
}

static void add_figures(struct gt_result *result, const struct gt_comparison *comparison)
{
	gt_result_begin(result, "figures", figure_headings, GT_COUNT_OF(figure_headings));
	for (enum gt_compared_figure i = 0; comparison && i < GT_COMPARED_FIGURES; i++)
		if (!isnan(comparison->figures[i].value[GT_SIDE_A]) ||
		    !isnan(comparison->figures[i].value[GT_SIDE_B]))
			add_figure(result, comparison, i);
	gt_result_whole(result);
}

static void add_settings(struct gt_result *result, const struct gt_comparison *comparison)
{
	gt_result_begin(result, "settings", setting_headings, GT_COUNT_OF(setting_headings));
	for (size_t i = 0; comparison && i < comparison->settings.count; i++) {
		const struct gt_compared_setting *setting = &comparison->settings.rows[i];

		gt_result_add_text(result, setting->name);
		add_text(result, setting->value[GT_SIDE_A]);
		add_text(result, setting->value[GT_SIDE_B]);
	}
}

/* "gemm 128x64", "64x1x1 256x1x1", "train/old" of the other side, with commas between. */
static void add_was(struct gt_result *result, const struct gt_compared_row *row)
{
	char text[1024] = "";

	for (size_t k = 0; k < GT_COMPARED_KEYS; k++)
		if (row->were[k] && strlen(text) + strlen(row->were[k]) + 16 < sizeof(text))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			         *text ? ", " : "", *row->were[k] ? row->were[k] : "in none");
	gt_result_add_copy(result, text);
}

static void add_numbers(struct gt_result *result, const struct gt_compared_row *row)
{
	gt_add_rounded(result,
	               gt_compared_total(row, GT_SIDE_B) - gt_compared_total(row, GT_SIDE_A));
	gt_add_rounded(result, row->total_ns[GT_SIDE_A]);
	gt_add_rounded(result, row->total_ns[GT_SIDE_B]);
	gt_result_add_real(result, percent_of(row->change.raw));
	gt_result_add_real(result, percent_of(row->change.margin));
	add_text(result, gt_compared_verdict(row));
	gt_result_add_real(result, row->count[GT_SIDE_A]);
	gt_result_add_real(result, row->count[GT_SIDE_B]);
	gt_add_rounded(result, row->each_ns[GT_SIDE_A]);
	gt_add_rounded(result, row->each_ns[GT_SIDE_B]);
}

static void add_row(struct gt_result *result, const struct gt_comparison *comparison,
                    const struct gt_compared_row *row)
{
	add_numbers(result, row);
	if (row->table == GT_COMPARED_kernels) {
		const bool corrects = comparison->common_known || comparison->clock != 0;

		gt_result_add_real(result, corrects ? percent_of(row->change.change) : NAN);
		gt_result_add_real(result, 100 * row->share);
		add_text(result, row->keys[GT_KERNEL_KEY_NAME]);
		add_was(result, row);
		for (size_t k = GT_KERNEL_KEY_SHAPE; k < GT_COMPARED_KEYS; k++)
			add_text(result, row->keys[k]);
		return;
	}
	for (size_t k = 0; k < GT_COMPARED_KEYS && gt_compared_tables[row->table].keys[k]; k++)
		add_text(result, row->keys[k]);
}

static void add_table(struct gt_result *result, const struct gt_comparison *comparison,
                      enum gt_compared table)
{
	gt_result_begin(result, gt_compared_tables[table].title, tables[table].headings,
	                tables[table].count);
	for (size_t i = 0; comparison && i < comparison->rows.count; i++)
		if (comparison->rows.rows[i].table == table)
			add_row(result, comparison, &comparison->rows.rows[i]);
}

/* A table of one side alone says how it was recorded, not what changed. */
static bool is_of_both(const struct gt_comparison *comparison, enum gt_compared table, int *missing)
{
	bool has[GT_SIDES] = {false, false};

	gt_array_each(const struct gt_compared_row, row, &comparison->rows)
		for (int side = 0; side < GT_SIDES; side++)
			has[side] = has[side] ||
			            (row->table == table &&
			             !(isnan(row->count[side]) && isnan(row->total_ns[side])));
	*missing = has[GT_SIDE_A] == has[GT_SIDE_B] ? -1 : has[GT_SIDE_A] ? GT_SIDE_B : GT_SIDE_A;
	return has[GT_SIDE_A] && has[GT_SIDE_B];
}

void gt_comparison_show(const struct gt_comparison *comparison, struct gt_result *result)
{
	add_figures(result, comparison);
	for (enum gt_compared table = 0; table < GT_COMPARED_TABLES; table++) {
		int missing = -1;

		add_table(result,
		          comparison && is_of_both(comparison, table, &missing) ? comparison : NULL,
		          table);
		if (missing >= 0)
			gt_result_remark(result,
			                 "Side %c has none of the table %s, which is left out.",
			                 "AB"[missing], gt_compared_tables[table].title);
		if (table == GT_COMPARED_kernels)
			add_settings(result, comparison);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/method.h"
#include "analysis/compare/profile_parts.h"
#include "analysis/compare/rows.h"
#include "analysis/ranges/steps/steps.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/strings.h"
#include "model/index.h"
#include "model/view/view.h"

enum { GT_RUNS_STEADY = GT_METHOD_RUNS, GT_RUNS_HOST = GT_METHOD_HOST_RUNS };

const struct gt_compared_figure_info gt_compared_figures[] = {
#define FIGURE(name, unit, better, runs, words, help)                                              \
	[GT_FIGURE_##name] = {#name, unit, words, help, GT_BETTER_##better, GT_RUNS_##runs},
#include "analysis/compare/figures.def"
};

const struct gt_compared_info gt_compared_tables[] = {
	[GT_COMPARED_kernels] = {.title = "kernels", .keys = {"kernel", "shape", "range", "graph"}},
	[GT_COMPARED_ranges] = {.title = "ranges", .keys = {"range"}},
#define COMPARED(name, report, section, count, total, ...)                                         \
	[GT_COMPARED_##name] = {#name, report, section, count, total, {__VA_ARGS__}},
#include "analysis/compare/tables.def"
};

const char *gt_profile_text(const struct gt_profile *profile, uint32_t text)
{
	return gt_strings_get(profile->strings, text);
}

/* ---- tables of reports ---- */

static double number_in(const struct gt_section *section, size_t row, const char *heading)
{
	const struct gt_cell *cell = gt_section_cell(section, row, heading);

	return cell && !cell->unknown ? (double)cell->count : NAN;
}

static uint32_t text_in(struct gt_profile *profile, const struct gt_section *section, size_t row,
                        const char *heading)
{
	const struct gt_cell *cell = heading ? gt_section_cell(section, row, heading) : NULL;

	return cell && !cell->unknown ? gt_strings_add(profile->strings, cell->text) : 0;
}

static void add_section(struct gt_profile *profile, enum gt_compared table,
                        const struct gt_section *section)
{
	const struct gt_compared_info *info = &gt_compared_tables[table];

	for (size_t i = 0; i < gt_section_row_count(section); i++) {
		const double count = number_in(section, i, info->count);
		const double total_ns = number_in(section, i, info->total);
		struct gt_profile_row row = {
			.table = table,
			.all = {count, total_ns,
		                total_ns > 0 && count > 0 ? log(total_ns / count) : NAN},
		};

		for (size_t k = 0; k < GT_COMPARED_KEYS; k++)
			row.keys[k] = text_in(profile, section, i, info->keys[k]);
		*gt_array_push(&profile->rows) = row;
	}
}

/* All tables of one report. */
static int add_report(struct gt_profile *profile, const struct gt_view *view, const char *name,
                      struct gt_error *err)
{
	struct gt_result result;
	int status;

	gt_result_init(&result);
	status = gt_report_run(gt_report_find(name), view, NULL, &result, err);
	for (enum gt_compared table = 0; status == 0 && table < GT_COMPARED_TABLES; table++) {
		const struct gt_compared_info *info = &gt_compared_tables[table];
		const struct gt_section *section = info->report && strcmp(info->report, name) == 0
		                                           ? gt_result_find(&result, info->section)
		                                           : NULL;

		if (section)
			add_section(profile, table, section);
	}
	gt_result_release(&result);
	return status;
}

/* ---- rows that agree in all keys ---- */

struct row_key {
	uint32_t table;
	uint32_t keys[GT_COMPARED_KEYS];
};

static void unite_sums(struct gt_profile_sum *into, const struct gt_profile_sum *sum)
{
	const double count = into->count + sum->count;

	if (into->count == 0)
		into->log_each = sum->log_each;
	else if (sum->count != 0)
		into->log_each =
			(into->log_each * into->count + sum->log_each * sum->count) / count;
	into->total_ns += sum->total_ns;
	into->count = count;
}

static void unite(struct gt_profile_row *into, const struct gt_profile_row *row)
{
	unite_sums(&into->all, &row->all);
	unite_sums(&into->steady, &row->steady);
}

void gt_profile_unite_rows(struct gt_profile *profile)
{
	struct gt_index *seen = gt_index_new(sizeof(struct row_key));
	size_t count = 0;

	for (size_t i = 0; i < profile->rows.count; i++) {
		const struct gt_profile_row row = profile->rows.rows[i];
		struct row_key key = {.table = row.table};
		size_t number;

		memcpy(key.keys, row.keys, sizeof(key.keys));
		number = gt_index_add(seen, &key);
		if (number < count)
			unite(&profile->rows.rows[number], &row);
		else
			profile->rows.rows[count++] = row;
	}
	profile->rows.count = count;
	gt_index_free(seen);
}

int gt_profile_add_reports(struct gt_profile *profile, const struct gt_view *view,
                           struct gt_error *err)
{
	const char *last = "";
	int status = 0;

	for (size_t i = 0; status == 0 && i < GT_COMPARED_TABLES; i++) {
		const char *report = gt_compared_tables[i].report;

		if (!report || strcmp(report, last) == 0)
			continue;
		last = report;
		status = add_report(profile, view, report, err);
	}
	gt_profile_unite_rows(profile);
	return status;
}

void gt_profile_init(struct gt_profile *profile, const char *recording, const struct gt_view *view)
{
	struct gt_steps steps;
	char path[GT_RANGE_PATH_BYTES];

	*profile = (struct gt_profile){
		.strings = gt_strings_new(),
		.incomplete = !gt_ledger_is_clean(&view->recording),
	};
	profile->recording = gt_strings_add(profile->strings, recording);
	gt_steps_init(&steps, view);
	gt_steps_name(&steps, path);
	profile->step = gt_strings_add(profile->strings, path);
	gt_profile_add_kernels(profile, view, &steps);
	gt_profile_add_ranges(profile, view);
	gt_profile_add_figures(profile, view, &steps);
	gt_profile_add_settings(profile, view->trace);
	gt_steps_release(&steps);
	gt_profile_unite_rows(profile);
}

void gt_profile_release(struct gt_profile *profile)
{
	gt_array_release(&profile->rows);
	gt_array_release(&profile->settings);
	gt_strings_free(profile->strings);
	*profile = (struct gt_profile){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_ANALYSIS_CHECK_REPORT_H
#define GT_TESTS_ANALYSIS_CHECK_REPORT_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/error.h"
#include "model/view/view.h"
#include "support/check.h"
#include "support/trace.h"

/* Runs reports and looks at their cells by section, row and heading. */

static inline void run_report_on(struct gt_result *result, const char *name,
                                 const struct gt_view *view)
{
	const struct gt_report *report = gt_report_find(name);
	struct gt_error err = {0};

	cr_assert(report != NULL, "there is no report %s", name);
	gt_result_init(result);
	cr_assert(eq(int, gt_report_run(report, view, NULL, result, &err), 0), "%s: %s", name,
	          err.text);
}

static inline void run_report(struct gt_result *result, const char *name,
                              const struct gt_trace *trace)
{
	const struct gt_view view = gt_view_of(trace);

	run_report_on(result, name, &view);
}

/* With one parameter set, as --set takes it. */
static inline void run_report_with(struct gt_result *result, const char *name,
                                   const struct gt_trace *trace, const char *setting)
{
	const struct gt_report *report = gt_report_find(name);
	const struct gt_view view = gt_view_of(trace);
	struct gt_arguments arguments;

	cr_assert(report != NULL, "there is no report %s", name);
	gt_result_init(result);
	gt_arguments_init(&arguments, report->parameters);
	cr_assert(eq(int, gt_arguments_set(&arguments, report->parameters, setting, NULL), 0));
	cr_assert(eq(int, gt_report_run(report, &view, &arguments, result, NULL), 0));
}

static inline size_t row_count(const struct gt_result *result, const char *title)
{
	const struct gt_section *section = gt_result_find(result, title);

	cr_assert(section != NULL, "no section %s", title);
	return gt_section_row_count(section);
}

static inline const struct gt_cell *cell(const struct gt_result *result, const char *title,
                                         size_t row, const char *heading)
{
	cr_assert(row < row_count(result, title), "%s has no row %zu", title, row);

	const struct gt_section *section = gt_result_find(result, title);

	for (size_t i = 0; i < section->heading_count; i++)
		if (strcmp(section->headings[i].name, heading) == 0)
			return &gt_section_row(section, row)[i];
	cr_fatal("%s has no heading %s", title, heading);
	return NULL;
}

static inline bool has_remark(const struct gt_result *result, const char *words)
{
	for (size_t i = 0; i < result->remarks.count; i++)
		if (strstr(result->remarks.rows[i].text, words))
			return true;
	return false;
}

#define expect_count(result, title, row, heading, expected)                                        \
	do {                                                                                       \
		cr_expect(not(cell(result, title, row, heading)->unknown));                        \
		cr_expect(eq(i64, cell(result, title, row, heading)->count, expected));            \
	} while (0)

#define expect_real(result, title, row, heading, expected)                                         \
	do {                                                                                       \
		cr_expect(not(cell(result, title, row, heading)->unknown));                        \
		cr_expect(epsilon_eq(dbl, cell(result, title, row, heading)->real, expected,       \
		                     1e-6 * (fabs((double)(expected)) + 1)));                      \
	} while (0)

#define expect_words(result, title, row, heading, expected)                                        \
	do {                                                                                       \
		cr_assert(not(cell(result, title, row, heading)->unknown));                        \
		expect_text(cell(result, title, row, heading)->text, expected);                    \
	} while (0)

#define expect_unknown(result, title, row, heading)                                                \
	cr_expect(cell(result, title, row, heading)->unknown, "%s of row %zu", heading,            \
	          (size_t)(row))

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check_report.h"

/* The page of docs/reports, which the caller frees; NULL when there is none. */
static char *read_page(const char *name)
{
	char path[4096];
	char *text = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/../docs/reports/%s.md", GT_TEST_DATA, name);

	FILE *file = fopen(path, "r");

	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* Figures are told in a section of their table, one row a column: | name | what | */
static bool names(const char *page, const char *title, const char *heading)
{
	char words[128];

	snprintf(words, sizeof(words), "\n## %s\n", title);

	const char *section = strstr(page, words);

	if (!section)
		return false;

	const char *section_end = strstr(section + 1, "\n## ");

	snprintf(words, sizeof(words), "\n| `%s` |", heading);

	const char *row = strstr(section, words);

	return row && (!section_end || row < section_end);
}

Test(reports, each_have_a_summary_and_are_found_by_name)
{
	cr_assert(gt_report_count >= 5);
	for (size_t i = 0; i < gt_report_count; i++) {
		const struct gt_report *report = gt_reports[i];
		const size_t length = strlen(report->summary);

		cr_expect(eq(ptr, (void *)gt_report_find(report->name), (void *)report));
		cr_expect(length > 0 && length < 90, "%s: %s", report->name, report->summary);
		cr_expect(report->summary[length - 1] != '.', "%s", report->name);
	}
	cr_expect(eq(ptr, (void *)gt_report_find("no such report"), NULL));
}

static bool is_key(const char *name)
{
	return name[0] && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static bool ends_with(const char *name, const char *end)
{
	const size_t length = strlen(name);

	return length >= strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

static bool unit_in_name(const struct gt_heading *heading)
{
	switch (heading->unit) {
	case GT_UNIT_NS:
	case GT_UNIT_TIME:
		return ends_with(heading->name, "_ns");
	case GT_UNIT_BYTES:
	case GT_UNIT_BINARY_BYTES:
		return ends_with(heading->name, "bytes");
	case GT_UNIT_BYTES_PER_SECOND:
		return ends_with(heading->name, "_bytes_per_second");
	case GT_UNIT_FLOP_PER_SECOND:
		return ends_with(heading->name, "_flop_per_second");
	case GT_UNIT_JOULES:
		return ends_with(heading->name, "joules");
	case GT_UNIT_WATTS:
		return ends_with(heading->name, "watts");
	case GT_UNIT_PERCENT:
		return ends_with(heading->name, "_percent");
	case GT_UNIT_TEXT:
	case GT_UNIT_COUNT:
	case GT_UNIT_REAL:
		return true;
	}
	return false;
}

static void check_heading(const struct gt_report *report, const struct gt_section *section,
                          const struct gt_heading *heading, const char *page)
{
	const size_t help = heading->help ? strlen(heading->help) : 0;

	cr_expect(is_key(heading->name), "%s: %s", report->name, heading->name);
	cr_expect(unit_in_name(heading), "%s: the unit of %s", report->name, heading->name);
	cr_expect(help > 0 && help < 100, "%s: help of %s", report->name, heading->name);
	cr_expect(names(page, section->title, heading->name),
	          "docs/reports/%s.md does not tell what %s in %s is", report->name, heading->name,
	          section->title);
}

Test(reports, each_have_a_page_that_tells_every_column)
{
	struct gt_trace trace;

	gt_trace_init(&trace);
	for (size_t i = 0; i < gt_report_count; i++) {
		char *page = read_page(gt_reports[i]->name);
		struct gt_result result;

		cr_assert(ne(ptr, page, NULL), "no docs/reports/%s.md", gt_reports[i]->name);
		run_report(&result, gt_reports[i]->name, &trace);
		cr_expect(result.sections.count > 0);
		for (size_t j = 0; j < result.sections.count; j++) {
			const struct gt_section *section = &result.sections.rows[j];

			cr_expect(is_key(section->title), "%s", section->title);
			for (size_t k = 0; k < section->heading_count; k++)
				check_heading(gt_reports[i], section, &section->headings[k], page);
		}
		gt_result_release(&result);
		free(page);
	}
	gt_trace_release(&trace);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/table.h"

#include "analysis/result.h"
#include "base/array.h"
#include "cli/doctor/finding.h"

static const struct gt_heading verdict_headings[] = {
	{"errors", GT_UNIT_COUNT,
         "Findings that keep all from being recorded; 0: a recording can be made"},
	{"warnings", GT_UNIT_COUNT, "Findings that take something from a recording"},
};

static const struct gt_heading finding_headings[] = {
	{"id", GT_UNIT_TEXT, "Name of what was looked for; several findings may have one",
         GT_WORTH_KEY},
	{"severity", GT_UNIT_TEXT, "error, warning or ok"},
	{"found", GT_UNIT_TEXT, "The fact, for people", GT_WORTH_PROSE},
	{"costs", GT_UNIT_TEXT, "Its cost to a recording; none where it is ok"},
	{"mend", GT_UNIT_TEXT, "The step that mends it; none where it is ok"},
};

static const char *const severities[] = {
	[GT_SEVERITY_ERROR] = "error",
	[GT_SEVERITY_WARNING] = "warning",
	[GT_SEVERITY_OK] = "ok",
};

static void add_text(struct gt_result *result, const char *text)
{
	if (text)
		gt_result_add_text(result, text);
	else
		gt_result_add_unknown(result);
}

void gt_doctor_tables(struct gt_result *result, const struct gt_findings *findings)
{
	gt_result_begin(result, "verdict", verdict_headings, GT_COUNT_OF(verdict_headings));
	gt_result_single(result);
	gt_result_add_count(result, (int64_t)findings->errors);
	gt_result_add_count(result, (int64_t)findings->warnings);
	gt_result_begin(result, "findings", finding_headings, GT_COUNT_OF(finding_headings));
	gt_array_each(const struct gt_finding, finding, &findings->list) {
		gt_result_add_text(result, finding->id);
		gt_result_add_text(result, severities[finding->severity]);
		gt_result_add_text(result, finding->found);
		add_text(result, finding->costs);
		add_text(result, finding->mend);
	}
}

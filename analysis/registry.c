/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "analysis/report.h"

#define REPORT(name) extern const struct gt_report gt_report_##name;
#include "analysis/reports.def"

#define REPORT(name) &gt_report_##name,
const struct gt_report *const gt_reports[] = {
#include "analysis/reports.def"
};
const size_t gt_report_count = sizeof(gt_reports) / sizeof(gt_reports[0]);

const struct gt_report *gt_report_find(const char *name)
{
	for (size_t i = 0; i < gt_report_count; i++)
		if (strcmp(gt_reports[i]->name, name) == 0)
			return gt_reports[i];
	return NULL;
}

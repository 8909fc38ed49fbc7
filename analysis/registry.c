/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "analysis/report.h"
#include "base/array.h"

#define REPORT(name) extern const struct gt_report gt_report_##name;
#include "analysis/reports.def"

#define REPORT(name) &gt_report_##name,
const struct gt_report *const gt_reports[] = {
#include "analysis/reports.def"
};
const size_t gt_report_count = GT_COUNT_OF(gt_reports);

const struct gt_report *gt_report_find(const char *name)
{
	for (size_t i = 0; i < gt_report_count; i++)
		if (strcmp(gt_reports[i]->name, name) == 0)
			return gt_reports[i];
	return NULL;
}

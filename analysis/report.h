/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORT_H
#define GT_ANALYSIS_REPORT_H

#include <stddef.h>

struct gt_result;
struct gt_trace;

/* One question a user can ask of a trace. To add one: see reports.def. */
struct gt_report {
	const char *name;    /* gputrace report RECORDING NAME */
	const char *summary; /* one line for the list of reports, no full stop */
	/* Fills an empty result; the trace must outlive it. */
	void (*run)(const struct gt_trace *trace, struct gt_result *result);
};

extern const struct gt_report *const gt_reports[];
extern const size_t gt_report_count;

/* NULL when there is no report of that name. */
const struct gt_report *gt_report_find(const char *name);

#endif

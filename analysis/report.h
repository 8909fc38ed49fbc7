/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORT_H
#define GT_ANALYSIS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

struct gt_arguments;
struct gt_error;
struct gt_parameter;
struct gt_result;
struct gt_view;

/* One question a user can ask of a recording. To add one: see reports.def. */
struct gt_report {
	const char *name;    /* gputrace report RECORDING NAME */
	const char *summary; /* one line for the list of reports, no full stop */
	/* Settings, ending with a row without a name; NULL: none. */
	const struct gt_parameter *parameters;
	bool apart; /* a row for each event: "all" reports, which sum up, are without it */
	/*
	 * Fills a result from the rows of the view's trace and its window; the trace must outlive
	 * the result. There is an argument for each parameter. Returns 0, or a negative errno
	 * value with err set. Called by gt_report_run alone.
	 */
	int (*run)(const struct gt_view *view, const struct gt_arguments *arguments,
	           struct gt_result *result, struct gt_error *err);
};

extern const struct gt_report *const gt_reports[];
extern const size_t gt_report_count;

/* NULL when there is no report of that name. */
const struct gt_report *gt_report_find(const char *name);

/* Remarks what the view of a result was restricted to: its restriction, nothing when NULL. */
void gt_remark_restriction(struct gt_result *result, const char *restriction);

/*
 * Fills an empty result; its first remark says what the view was restricted to. arguments NULL
 * means those of no settings. Fails as the report does, or when it made tables that are not
 * whole; the result then holds what there was so far.
 */
int gt_report_run(const struct gt_report *report, const struct gt_view *view,
                  const struct gt_arguments *arguments, struct gt_result *result,
                  struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_CRITICAL_PATH_TABLES_H
#define GT_ANALYSIS_REPORTS_CRITICAL_PATH_TABLES_H

#include <regex.h>
#include <stdint.h>

#include "analysis/result.h"
#include "analysis/time/path_account.h"
#include "model/path/changes.h"
#include "model/trace.h"

/* Tables of the report critical-path. Each is a section of the result. */

struct gt_critical_figures {
	const struct gt_trace *trace; /* all that happened */
	struct gt_path_account account;
	struct gt_path_changes changes;
	uint64_t top;
	uint64_t kernels;     /* those with most time on the path, for which it is asked what if */
	const char *pattern;  /* of kernels for which that is asked together */
	const regex_t *regex; /* the same; NULL: of none */
};

struct gt_critical_kernel {
	size_t group; /* their count: kernels that are not shown */
	uint64_t calls;
	uint64_t on_path;
	gt_time total_ns;
	gt_time on_path_ns;
	gt_time slack_ns; /* INT64_MAX: none was off the path */
};

/* Name of work that is on a GPU and not shown. */
extern const char gt_critical_other_work[];

/* A cell: the share of the length. */
void gt_critical_add_share(const struct gt_critical_figures *figures, struct gt_result *result,
                           gt_time part_ns);

/* Time on the path by name. */
void gt_critical_add_names(const struct gt_critical_figures *figures, struct gt_result *result);

/* The longest members of the path. */
void gt_critical_add_members(const struct gt_critical_figures *figures, struct gt_result *result);

/* Each of the chosen ranges. */
void gt_critical_add_spans(const struct gt_critical_figures *figures, struct gt_result *result);

/*
 * By time on the path, and behind them those that are not shown as one. The caller frees it with
 * gt_array_free.
 */
struct gt_critical_kernel *gt_critical_kernels(struct gt_critical_figures *figures);
void gt_critical_add_kernels(const struct gt_critical_figures *figures,
                             const struct gt_critical_kernel *kernels, struct gt_result *result);

/* Lengths with one change each. kernels: as found. */
void gt_critical_add_changes(struct gt_critical_figures *figures, struct gt_result *result,
                             const struct gt_critical_kernel *kernels);

#endif

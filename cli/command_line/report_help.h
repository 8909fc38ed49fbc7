/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_LINE_REPORT_HELP_H
#define GT_CLI_COMMAND_LINE_REPORT_HELP_H

#include <stdio.h>

#include "analysis/result.h"
#include "model/trace.h"

struct gt_report;

/*
 * The tables a report makes, with what their columns are made of and without rows: what it says of
 * a recording of nothing.
 */
struct gt_report_tables {
	struct gt_trace trace;
	struct gt_result result;
};

void gt_report_tables_init(struct gt_report_tables *tables, const struct gt_report *report);
void gt_report_tables_release(struct gt_report_tables *tables);

/* "report NAME --help": what it answers, its parameters and its columns; at most 80 columns wide. */
void gt_report_help(const struct gt_report *report, FILE *out);

#endif

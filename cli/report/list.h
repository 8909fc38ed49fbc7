/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPORT_LIST_H
#define GT_CLI_REPORT_LIST_H

#include <stdio.h>

#include "base/error.h"
#include "cli/render/show.h"

/* The list of reports and their parameters: report --list, and a part of --help. */

/* The first clause of each summary: "report NAME --help" has all of it. */
void gt_report_list_for_help(void (*entry)(const char *name, const char *text, FILE *out),
                             FILE *out);
int gt_report_list(const struct gt_show_args *args, struct gt_error *err);

#endif

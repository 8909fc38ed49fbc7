/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_LINE_MANUAL_H
#define GT_CLI_COMMAND_LINE_MANUAL_H

#include <stdio.h>

struct gt_error;

/*
 * The manual pages, as roff for man(7), made from the tables that --help is made from: gputrace.1,
 * a page for each command and gputrace-report.5 with the columns of every report.
 */

/*
 * page NULL: the names of all, a line each; also without its section, "run" for gputrace-run.1, the
 * name of a report for gputrace-report.5. -EINVAL when there is no page of that name.
 */
int gt_manual_print(const char *page, FILE *out, struct gt_error *err);

#endif

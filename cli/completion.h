/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMPLETION_H
#define GT_CLI_COMPLETION_H

#include <stdio.h>

struct gt_error;

/* The shells there is a completion for; NULL at the end. */
extern const char *const gt_completion_shells[];

/*
 * What makes a shell complete commands, options, their values, recordings, reports and formats,
 * made from the tables that --help is made from. -EINVAL for another shell.
 */
int gt_completion_print(const char *shell, FILE *out, struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMPLETION_COMPLETION_H
#define GT_CLI_COMPLETION_COMPLETION_H

#include <stdio.h>

struct gt_error;

/*
 * Makes a shell complete gputrace's words: a few lines for each shell, which ask gputrace
 * itself for what there is (offers.h).
 */

/* The shells there is a completion for; NULL at the end. */
extern const char *const gt_completion_shells[];

/* Prints what the shell is to read. -EINVAL for another shell. */
int gt_completion_print(const char *shell, FILE *out, struct gt_error *err);

#endif

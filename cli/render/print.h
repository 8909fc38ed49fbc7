/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RENDER_PRINT_H
#define GT_CLI_RENDER_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/command_line/option.h"

struct gt_error;

/*
 * The options of commands that print one text: a field of this type in the command's arguments,
 * GT_PRINT_OPTIONS among its options, and gt_print.
 */
struct gt_print_args {
	const char *output;
	bool force;
};

/* clang-format off */
#define GT_PRINT_OPTIONS(type, field) \
	OPT_TEXT("output", 'o', type, field.output, "FILE", \
	         "Write here instead of standard output (-)"), \
	OPT_FLAG("force", 'f', type, field.force, "Overwrite an existing file")
/* clang-format on */

/* Lets print write what (its to understand) to where the options say. */
int gt_print(const struct gt_print_args *args,
             int (*print)(const char *what, FILE *out, struct gt_error *err), const char *what,
             struct gt_error *err);

#endif

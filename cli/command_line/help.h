/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_LINE_HELP_H
#define GT_CLI_COMMAND_LINE_HELP_H

#include <stdio.h>

struct gt_option;

/*
 * How help is laid out: as wide as the terminal that standard output is, else as COLUMNS says, else
 * 80 columns.
 */

/* One entry for each option and --help, behind the titles of their groups. */
void gt_options_help(const struct gt_option *options, FILE *out);

/*
 * Help of an option, and the words it takes where the help does not name them all. The caller
 * frees it.
 */
char *gt_option_text(const struct gt_option *option);

/* One entry of any other list, laid out as the options are. */
void gt_help_entry(const char *name, const char *text, FILE *out);

/* The same where names are short: of commands, reports, formats. */
void gt_help_short_entry(const char *name, const char *text, FILE *out);

/* Prose, wrapped: a line end begins a new line, one that begins with a blank stays as it is. */
void gt_help_text(const char *text, FILE *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMPLETION_LINE_H
#define GT_CLI_COMPLETION_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

struct gt_command;
struct gt_option;

/*
 * A command line that is being typed: its words without "gputrace", of which the last, which may be
 * empty, is the one to be completed. All texts are those of the words.
 */
struct gt_line {
	const struct gt_command *command; /* NULL: the last word is the first, or none is known */
	bool help;                        /* the words follow "help" */
	const char *word;                 /* the last one */
	const char *last;                 /* what of it is to be completed: "to" of "--sort=to" */
	const struct gt_option *option;   /* whose value that is; NULL: nobody's */
	bool is_option;                   /* it is the beginning of an option */
	bool asks_by;                     /* --by is among the options */
	gt_array(const char *) operands;  /* before the last word */
	size_t program;                   /* number of the word that is the first operand */
};

/* words are count, at least one. The caller releases the line, and keeps the words. */
void gt_line_init(struct gt_line *line, size_t count, char **words);
void gt_line_release(struct gt_line *line);

/* Whether the command's operands are a program and what that is given. */
bool gt_line_runs_program(const struct gt_line *line);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_LINE_COMMAND_H
#define GT_CLI_COMMAND_LINE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct gt_error;
struct gt_result;

enum gt_exit {
	GT_EXIT_OK = 0,
	GT_EXIT_FAILED = 1, /* could not do what was asked */
	GT_EXIT_USAGE = 2,  /* did not understand what was asked */
	GT_EXIT_LIMIT = 3,  /* done, and a --fail-if limit was crossed */
	/* Done, and --strict was given: the recording is damaged, or lacks something. */
	GT_EXIT_INCOMPLETE = 3,
	GT_EXIT_UNTOLD = 4, /* done, --strict was given, and a --fail-if limit cannot be told */
	/* "run" ends with the program's own status, or as env(1) does with: */
	GT_EXIT_NOT_STARTED = 125, /* gputrace could not do its part */
	GT_EXIT_NOT_RUNNABLE = 126,
	GT_EXIT_NOT_FOUND = 127,
};

/* One verb. To add one: see commands.def. */
struct gt_command {
	const char *name;
	const char *operands;   /* after the options in "usage:", or "" */
	const char *summary;    /* one line, no full stop */
	const char *details;    /* after the options, as gt_help_text has it, or NULL */
	const char *list_title; /* what an operand or a value can be: "Formats"; or NULL */
	/* Calls entry for each of these, with what it is. */
	void (*list)(void (*entry)(const char *name, const char *text, FILE *out), FILE *out);
	/* Makes the tables that it shows, without rows; NULL: it has none of its own. */
	void (*tables)(struct gt_result *result);
	const struct gt_option *options;
	bool hidden;       /* not named in --help, the manual and completion */
	int failed_status; /* exit status when run fails; 0 stands for GT_EXIT_FAILED */
	/*
	 * argv starts after the verb and ends with NULL. Returns an exit status, or negative
	 * with err set: -EINVAL for what the user got wrong, -ECANCELED for --help.
	 */
	int (*run)(int argc, char **argv, struct gt_error *err);
};

extern const struct gt_command *const gt_commands[];
extern const size_t gt_command_count;

/* By its own name; NULL when there is none. */
const struct gt_command *gt_command_find(const char *name);

#endif

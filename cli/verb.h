/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VERB_H
#define GT_CLI_VERB_H

struct gt_command;
struct gt_error;

/*
 * Request of a command line: the command that its first word names, or that is meant without
 * being named ("gputrace ./app", "gputrace app.gputrace", "gputrace record ./app").
 */
struct gt_verb {
	enum gt_verb_kind { GT_VERB_COMMAND, GT_VERB_HELP, GT_VERB_VERSION } kind;
	const struct gt_command *command;
	int skip; /* words of argv before those of the command */
};

/*
 * argv is that of main, with at least one word behind the program. 0, or -EINVAL with what to type
 * instead, or another error when a program that is clearly meant cannot be run.
 */
int gt_verb_find(char **argv, struct gt_verb *verb, struct gt_error *err);

/* The command that a word names, also by another profiler's name for it; else -EINVAL. */
int gt_verb_command(const char *word, const struct gt_command **command, struct gt_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verb.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/report.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/command_line/command.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/option.h"
#include "cli/output/process.h"
#include "cli/recording/recording.h"

enum { MOST_COMMANDS = 62 };

static const char *nearest_command(const char *word)
{
	const char *names[MOST_COMMANDS + 2] = {"help"};

	for (size_t i = 0; i < gt_command_count && i < MOST_COMMANDS; i++)
		names[i + 1] = gt_commands[i]->name;
	return gt_nearest(word, names);
}

static int unknown_command(const char *word, struct gt_error *err)
{
	const char *nearest = nearest_command(word);

	if (nearest)
		return gt_fail(err, EINVAL, "no command '%s'; did you mean %s?", word, nearest);
	return gt_fail(err, EINVAL, "no command '%s'; see gputrace --help", word);
}

/* The same, where the name of a recording would do as well. */
static int unknown_word(const char *word, struct gt_error *err)
{
	char alike[256];

	gt_recording_namesakes(word, "", alike, sizeof(alike));
	if (*alike && !nearest_command(word))
		return gt_fail(err, EINVAL, "no command '%s'; this folder has %s", word, alike);
	return unknown_command(word, err);
}

static bool is_recording(const char *word)
{
	char *path = gt_recording_find(word);
	const bool found = path;

	free(path);
	return found;
}

static bool is_report(const char *word)
{
	return gt_report_find(word) || gt_alias_find(word);
}

static bool is_program(const char *word)
{
	return gt_process_find(word, NULL) == 0;
}

/* The next word could be read: a recording, or nothing that stands for something else. */
static bool is_to_be_read(const char *next)
{
	return !next || *next == '-' || is_recording(next) || is_report(next);
}

/* A recording or a report is among the words, or nothing follows at all. */
static bool are_to_be_read(char **words)
{
	if (!*words)
		return true;
	for (; *words; words++)
		if (is_recording(*words) || is_report(*words))
			return true;
	return false;
}

static int use(struct gt_verb *verb, const char *command, int skip)
{
	*verb = (struct gt_verb){GT_VERB_COMMAND, gt_command_find(command), skip};
	return 0;
}

/* A word of another profiler. */
static int follow(const struct gt_word *known, char **argv, struct gt_verb *verb,
                  struct gt_error *err)
{
	switch (known->meaning) {
	case GT_WORD_COMMAND:
		return use(verb, known->text, 2);
	case GT_WORD_EITHER:
		return use(verb, are_to_be_read(argv + 2) ? "report" : "run", 2);
	case GT_WORD_VERSION:
		verb->kind = GT_VERB_VERSION;
		return 0;
	case GT_WORD_HELP:
		verb->kind = GT_VERB_HELP;
		return 0;
	case GT_WORD_MISSING:
		return gt_fail(err, EINVAL, "%s: %s", argv[1], known->text);
	}
	return -EINVAL;
}

/* A program along PATH, where it cannot be a slip; else what could have been meant. */
static int guess_program(const char *word, struct gt_verb *verb, struct gt_error *err)
{
	const char *nearest = nearest_command(word);

	if (is_program(word) && !nearest)
		return use(verb, "run", 1);
	if (is_program(word))
		return gt_fail(err, EINVAL,
		               "no command '%s'; did you mean %s, or the program: gputrace run %s?",
		               word, nearest, word);
	if (!nearest && access(word, F_OK) == 0)
		return gt_fail(err, EINVAL, "no command '%s'; did you mean gputrace run %s%s?",
		               word, gt_process_is_python(word) ? "python3 " : "./", word);
	return unknown_word(word, err);
}

/* word begins with two dashes. */
static bool has_option(const struct gt_command *command, const char *word)
{
	const size_t length = strcspn(word, "=");

	for (const struct gt_option *option = command->options; option->name; option++)
		if (strlen(option->name) == length - 2 &&
		    strncmp(option->name, word + 2, length - 2) == 0)
			return true;
	return false;
}

/* Options without a command are those of run ("gputrace -o x ./app"), unless only others have them.
 */
static int guess_options(const char *word, struct gt_verb *verb, struct gt_error *err)
{
	(void)use(verb, "run", 1);
	if (strncmp(word, "--", 2) != 0 || has_option(verb->command, word) ||
	    gt_habit_has_name("run", word + 2, strcspn(word, "=") - 2))
		return 0;
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden && has_option(gt_commands[i], word))
			return gt_fail(err, EINVAL, "which command? did you mean gputrace %s %s?",
			               gt_commands[i]->name, word);
	return 0;
}

/* No command at all: a recording, a report or a program, if it can be only one of them. */
static int guess(char **argv, struct gt_verb *verb, struct gt_error *err)
{
	const char *word = argv[1];
	const bool is_path = strchr(word, '/');

	if (*word == '-')
		return guess_options(word, verb, err);
	if (is_path && is_program(word))
		return use(verb, "run", 1);
	if (is_recording(word)) {
		if (!is_path && is_program(word))
			return gt_fail(err, EINVAL,
			               "'%s' is a program and a recording: gputrace run %s, or "
			               "gputrace report %s?",
			               word, word, word);
		return use(verb, "report", 1);
	}
	if (is_report(word) && is_to_be_read(argv[2]))
		return use(verb, "report", 1);
	if (gt_recording_is_trace(word))
		return use(verb, "view", 1);
	if (gt_recording_is_foreign(word, err) < 0)
		return -EINVAL;
	if (is_path || strchr(word, '=')) /* what cannot be run is explained there */
		return use(verb, "run", 1);
	return guess_program(word, verb, err);
}

int gt_verb_find(char **argv, struct gt_verb *verb, struct gt_error *err)
{
	const char *word = argv[1];
	const struct gt_word *known = gt_word_find(word);

	*verb = (struct gt_verb){0};
	if (gt_command_find(word))
		return use(verb, word, 2);
	if (strcmp(word, "--version") == 0) {
		verb->kind = GT_VERB_VERSION;
		return 0;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
		verb->kind = GT_VERB_HELP;
		verb->skip = 2;
		return 0;
	}
	return known ? follow(known, argv, verb, err) : guess(argv, verb, err);
}

int gt_verb_command(const char *word, const struct gt_command **command, struct gt_error *err)
{
	const struct gt_word *known = gt_word_find(word);

	*command = gt_command_find(word);
	if (!*command && known && known->meaning == GT_WORD_COMMAND)
		*command = gt_command_find(known->text);
	return *command ? 0 : unknown_command(word, err);
}

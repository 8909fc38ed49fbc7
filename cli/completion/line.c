/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/line.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command_line/command.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/option.h"
#include "cli/verb.h"

bool gt_line_runs_program(const struct gt_line *line)
{
	return line->command && strstr(line->command->operands, "PROGRAM [ARG");
}

/* Finds the command; returns at which word what belongs to it begins. */
static size_t find_command(struct gt_line *line, size_t count, char **words)
{
	char **argv = gt_allocate((count + 1) * sizeof(*argv));
	struct gt_verb verb = {0};
	size_t begin = 0;

	argv[0] = NULL;
	memcpy(argv + 1, words, (count - 1) * sizeof(*argv));
	argv[count] = NULL;
	if (count > 1 && gt_verb_find(argv, &verb, NULL) == 0) {
		line->help = verb.kind == GT_VERB_HELP;
		if (verb.kind == GT_VERB_COMMAND)
			line->command = verb.command;
		begin = verb.skip > 0 ? (size_t)verb.skip - 1 : 0;
	}
	free(argv);
	return begin;
}

/* The command that the options belong to, as their last row says. */
static const char *habits_of(const struct gt_option *options)
{
	while (options->name)
		options++;
	return options->command;
}

/* Whether the option, of ours or another profiler's, takes the word behind it, and which it is. */
static bool takes_next(const struct gt_line *line, const struct gt_typed *typed,
                       const struct gt_option **option)
{
	const struct gt_option *options = line->command->options;
	const char *command = habits_of(options);
	const struct gt_habit *habit =
		command && typed->next && *typed->next ? gt_habit_find(command, typed) : NULL;

	*option = typed->name ? gt_option_named(options, typed->name, typed->length)
	                      : gt_option_lettered(options, typed->letter);
	if (typed->value)
		return false;
	if (habit)
		return habit->values;
	return *option && (*option)->value && (*option)->kind != GT_OPTION_MAYBE;
}

/*
 * Reads an option, and how many letters of it there are. Returns whether the next word is its
 * value.
 */
static bool read_option(struct gt_line *line, char *word, char *next)
{
	const size_t length = strcspn(word, "=");
	struct gt_typed typed = {.next = next};
	const struct gt_option *option = NULL;
	bool takes = false;

	if (word[1] == '-') {
		typed.name = word + 2;
		typed.length = length - 2;
		typed.value = word[length] ? word + length + 1 : NULL;
		takes = takes_next(line, &typed, &option);
		line->asks_by = line->asks_by || (option && strcmp(option->name, "by") == 0);
	}
	for (char *at = word + 1; word[1] != '-' && *at && !takes; at++) {
		typed.letter = *at;
		typed.next = at[1] ? NULL : next;
		takes = takes_next(line, &typed, &option);
		if (takes && at[1])
			return false; /* the rest of the word is its value */
	}
	line->option = takes ? option : NULL;
	return takes;
}

/* The last word is no value of the option before it. */
static void read_last(struct gt_line *line, const char *word, bool operands_only)
{
	const size_t length = strcspn(word, "=");

	line->last = word;
	if (operands_only || *word != '-')
		return;
	line->is_option = true;
	if (strncmp(word, "--", 2) != 0 || !word[length])
		return;
	line->is_option = false;
	line->option = gt_option_named(line->command->options, word + 2, length - 2);
	line->last = word + length + 1;
}

static void read_words(struct gt_line *line, size_t begin, size_t count, char **words)
{
	const bool leading = gt_line_runs_program(line);
	bool operands_only = false;

	for (size_t i = begin; i + 1 < count; i++) {
		line->option = NULL;
		if (operands_only || words[i][0] != '-' || !words[i][1]) {
			if (line->operands.count == 0)
				line->program = i;
			*gt_array_push(&line->operands) = words[i];
			operands_only = operands_only || leading;
		} else if (strcmp(words[i], "--") == 0) {
			operands_only = true;
		} else if (read_option(line, words[i], words[i + 1])) {
			i++;
			if (i + 1 == count) {
				line->last = words[i];
				return;
			}
		}
	}
	line->option = NULL;
	read_last(line, words[count - 1], operands_only);
}

void gt_line_init(struct gt_line *line, size_t count, char **words)
{
	size_t begin;

	*line = (struct gt_line){.word = words[count - 1], .last = words[count - 1]};
	begin = find_command(line, count, words);
	if (line->command)
		read_words(line, begin, count, words);
	else
		for (size_t i = begin; i + 1 < count; i++)
			*gt_array_push(&line->operands) = words[i];
}

void gt_line_release(struct gt_line *line)
{
	gt_array_release(&line->operands);
}

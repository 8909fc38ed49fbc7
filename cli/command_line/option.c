/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Not argp or getopt_long, which could carry the letters and the order of words, and nothing else
 * of this: both take any unambiguous beginning of a name, which cannot be turned off, so that a new
 * option breaks an old script and "--cap" would be another profiler's "--capture-range"; a value
 * that may be there ("-f true", "--quiet=false") is none to them unless it sticks to the option;
 * what an option means can hang on its value here ("-s none", "-s 10"); they print their own
 * complaints, and getopt_long keeps its place in variables of the process.
 */
#include "cli/command_line/option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/values.h"
#include "cli/output/say.h"

enum { MAX_OPTIONS = 62 };

const struct gt_option gt_help_option = {"help", 'h',  GT_OPTION_FLAG,
                                         0,      NULL, "Show this text and stop"};

const struct gt_option *gt_option_named(const struct gt_option *options, const char *name,
                                        size_t length)
{
	if (length == strlen("help") && memcmp(name, "help", length) == 0)
		return &gt_help_option;
	for (; options->name; options++)
		if (strlen(options->name) == length && memcmp(options->name, name, length) == 0)
			return options;
	return NULL;
}

const struct gt_option *gt_option_lettered(const struct gt_option *options, char letter)
{
	if (letter == gt_help_option.letter)
		return &gt_help_option;
	for (; options->name; options++)
		if (options->letter == letter)
			return options;
	return NULL;
}

/* The only option whose name begins so; NULL when there is none, or more than one. */
static const char *beginning_of(const struct gt_option *options, const char *name)
{
	const char *found = NULL;

	for (; *name && options->name; options++) {
		if (strncmp(options->name, name, strlen(name)) != 0)
			continue;
		if (found)
			return NULL;
		found = options->name;
	}
	return found;
}

static int unknown_name(const struct gt_option *options, const char *name, size_t length,
                        struct gt_error *err)
{
	const char *names[MAX_OPTIONS + 2] = {gt_help_option.name};
	char text[64] = "";
	const char *nearest;

	for (size_t i = 0; i < MAX_OPTIONS && options[i].name; i++)
		names[i + 1] = options[i].name;
	if (length < sizeof(text))
		memcpy(text, name, length);
	nearest = gt_nearest(text, names);
	if (!nearest)
		nearest = beginning_of(options, text);
	if (nearest)
		return gt_fail(err, EINVAL, "unknown option '--%.*s'; did you mean --%s?",
		               (int)length, name, nearest);
	return gt_fail(err, EINVAL, "unknown option '--%.*s'; see --help", (int)length, name);
}

/* word is all that stands behind one dash. */
static int unknown_letter(char letter, const char *word, struct gt_error *err)
{
	if (word[1])
		return gt_fail(err, EINVAL, "unknown option '-%c' in '-%s'; see --help", letter,
		               word);
	return gt_fail(err, EINVAL, "unknown option '-%c'; see --help", letter);
}

const char *gt_option_before_value(const struct gt_option *option)
{
	return option->kind == GT_OPTION_MAYBE ? "[=" : " ";
}

const char *gt_option_behind_value(const struct gt_option *option)
{
	return option->kind == GT_OPTION_MAYBE ? "]" : "";
}

/* One pass over the words of a command line. */
struct parser {
	const struct gt_option *options;
	const char *command; /* whose habits count; NULL: nobody's */
	void *args;
	char **argv;
	int argc;
	int at;   /* the word that is read */
	int left; /* operands, moved to the front of argv */
	bool leading;
};

/* Text that an option took besides itself. */
enum taken {
	TOOK_NOTHING,
	TOOK_REST, /* of its own word */
	TOOK_NEXT, /* the word behind it */
};

static enum taken value_of(const struct gt_typed *typed, char **value)
{
	*value = typed->value ? typed->value : typed->next;
	return typed->value ? TOOK_REST : TOOK_NEXT;
}

/* Does what stands for another profiler's option; value is NULL where the habit has none. */
static int answer(struct parser *parser, const struct gt_habit *habit, const char *shown,
                  char *value, struct gt_error *err)
{
	if (habit->answer == GT_HABIT_MEANT)
		gt_say("%s is taken for --%s %s", shown, habit->text, value);
	switch (habit->answer) {
	case GT_HABIT_SAME:
	case GT_HABIT_MEANT:
		return gt_option_store(gt_option_named(parser->options, habit->text,
		                                       strlen(habit->text)),
		                       value, parser->args, err);
	case GT_HABIT_FINE:
		return 0;
	case GT_HABIT_NOTE:
		gt_say("%s: %s", shown, habit->text);
		return 0;
	case GT_HABIT_REFUSED:
		return gt_fail(err, EINVAL, "%s: %s", shown, habit->text);
	case GT_HABIT_OPERAND:
		parser->argv[parser->left++] = value;
		return 0;
	case GT_HABIT_TRACE:
		return gt_habit_trace(value, err);
	}
	return -EINVAL;
}

/* Returns enum taken, or negative. */
static int follow(struct parser *parser, const struct gt_habit *habit, const struct gt_typed *typed,
                  struct gt_error *err)
{
	char *value = NULL;
	const int taken = habit->values ? (int)value_of(typed, &value) : TOOK_NOTHING;
	const char letter[] = {typed->letter, '\0'};
	char shown[160];
	int result;

	snprintf(shown, sizeof(shown), "%s%.*s%s%s", typed->name ? "--" : "-",
	         typed->name ? (int)typed->length : 1, typed->name ? typed->name : letter,
	         value ? " " : "", value ? value : "");
	result = answer(parser, habit, shown, value, err);
	return result < 0 ? result : taken;
}

static bool takes_value(const struct gt_option *option, const struct gt_typed *typed)
{
	if (option->kind == GT_OPTION_MAYBE)
		return typed->name && typed->value;
	return option->kind != GT_OPTION_FLAG;
}

/* Returns enum taken, or negative. */
static int take_own(struct parser *parser, const struct gt_option *option,
                    const struct gt_typed *typed, struct gt_error *err)
{
	char *value = NULL;
	int taken = TOOK_NOTHING;
	int result;

	if (option == &gt_help_option && !(typed->name && typed->value))
		return gt_fail(err, ECANCELED, "help was asked for");
	if (option->kind == GT_OPTION_FLAG && typed->name && typed->value) {
		result = gt_option_store_flag(option, typed->value, parser->args, err);
		return result < 0 ? result : TOOK_REST;
	}
	if (takes_value(option, typed)) {
		taken = (int)value_of(typed, &value);
		if (!value)
			return gt_fail(err, EINVAL, "--%s needs a value", option->name);
	}
	result = gt_option_store(option, value, parser->args, err);
	return result < 0 ? result : taken;
}

/*
 * In "run -f true" the word is the program: it is the flag's value only where another one follows
 * that can be.
 */
static struct gt_typed as_habit(const struct parser *parser, const struct gt_option *option,
                                const struct gt_typed *typed)
{
	struct gt_typed habit = *typed;

	if (option && option->kind == GT_OPTION_FLAG && parser->leading &&
	    parser->at + 2 >= parser->argc)
		habit.next = NULL;
	return habit;
}

/* One option; word is all that stands behind its dashes. Returns enum taken, or negative. */
static int take(struct parser *parser, const struct gt_typed *typed, const char *word,
                struct gt_error *err)
{
	const struct gt_option *option =
		typed->name ? gt_option_named(parser->options, typed->name, typed->length)
			    : gt_option_lettered(parser->options, typed->letter);
	const struct gt_typed theirs = as_habit(parser, option, typed);
	const struct gt_habit *habit =
		parser->command ? gt_habit_find(parser->command, &theirs) : NULL;

	if (habit)
		return follow(parser, habit, &theirs, err);
	if (option)
		return take_own(parser, option, typed, err);
	if (parser->command && gt_habit_knows(parser->command, typed))
		return gt_fail(err, EINVAL, "%s%s cannot be used like that; see --help",
		               typed->name ? "--" : "-", word);
	return typed->name ? unknown_name(parser->options, typed->name, typed->length, err)
	                   : unknown_letter(typed->letter, word, err);
}

/* The word behind the one that is read; NULL: none. */
static char *next_word(const struct parser *parser)
{
	return parser->at + 1 < parser->argc ? parser->argv[parser->at + 1] : NULL;
}

/* --NAME or --NAME=VALUE. Returns how many words it was, or negative. */
static int take_long(struct parser *parser, struct gt_error *err)
{
	char *word = parser->argv[parser->at] + 2;
	const size_t length = strcspn(word, "=");
	const struct gt_typed typed = {
		.name = word,
		.length = length,
		.value = word[length] ? word + length + 1 : NULL,
		.next = next_word(parser),
	};
	const int taken = take(parser, &typed, word, err);

	return taken < 0 ? taken : 1 + (taken == TOOK_NEXT);
}

/* A name that lost a dash would be read as letters, and the rest as the value of one of them. */
static int check_dashes(const struct parser *parser, const char *word, struct gt_error *err)
{
	const size_t length = strcspn(word, "=");

	if (length < 2 || (!gt_option_named(parser->options, word, length) &&
	                   !(parser->command && gt_habit_has_name(parser->command, word, length))))
		return 0;
	return gt_fail(err, EINVAL, "unknown option '-%.*s'; did you mean --%.*s?", (int)length,
	               word, (int)length, word);
}

/* -a, -abc, -o VALUE, -oVALUE, -abo VALUE. Returns how many words it was, or negative. */
static int take_letters(struct parser *parser, struct gt_error *err)
{
	char *word = parser->argv[parser->at] + 1;
	int taken = check_dashes(parser, word, err);

	for (char *at = word; taken == TOOK_NOTHING && *at; at++) {
		const struct gt_typed typed = {
			.letter = *at,
			.value = at[1] ? at + 1 + (at[1] == '=') : NULL,
			.next = at[1] ? NULL : next_word(parser),
		};

		taken = take(parser, &typed, word, err);
	}
	return taken < 0 ? taken : 1 + (taken == TOOK_NEXT);
}

static const char *command_of(const struct gt_option *options)
{
	while (options->name)
		options++;
	return options->command;
}

static int parse(struct parser *parser, struct gt_error *err)
{
	bool operands_only = false;

	while (parser->at < parser->argc) {
		char *word = parser->argv[parser->at];
		int taken = 1;

		if (operands_only || word[0] != '-' || !word[1]) {
			operands_only = operands_only || parser->leading;
			parser->argv[parser->left++] = word;
		} else if (strcmp(word, "--") == 0) {
			operands_only = true;
		} else if (word[1] == '-') {
			taken = take_long(parser, err);
		} else {
			taken = take_letters(parser, err);
		}
		if (taken < 0)
			return taken;
		parser->at += taken;
	}
	return parser->left;
}

int gt_options_parse(const struct gt_option *options, void *args, int argc, char **argv,
                     struct gt_error *err)
{
	struct parser parser = {options, command_of(options), args, argv, argc, 0, 0, false};

	return parse(&parser, err);
}

int gt_options_parse_leading(const struct gt_option *options, void *args, int argc, char **argv,
                             struct gt_error *err)
{
	struct parser parser = {options, command_of(options), args, argv, argc, 0, 0, true};

	return parse(&parser, err);
}

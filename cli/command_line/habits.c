/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/habits.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"
#include "base/error.h"
#include "cli/output/say.h"

#define HABIT(commands, names, letter, values, answer, text)                                       \
	{commands, names, letter, values, GT_HABIT_##answer, text},
const struct gt_habit gt_habits[] = {
#include "cli/command_line/habits.def"
	{0},
};

#define WORD(words, meaning, text) {words, GT_WORD_##meaning, text},
const struct gt_word gt_words_known[] = {
#include "cli/command_line/habits.def"
	{0},
};

#define ALIAS(words, report, text) {words, report, text},
const struct gt_alias gt_aliases[] = {
#include "cli/command_line/habits.def"
	{0},
};

struct kind {
	const char *words;
	const char *format;
};

#define KIND(words, format) {words, format},
static const struct kind kinds[] = {
#include "cli/command_line/habits.def"
	{0},
};

struct column {
	const char *words;
	const char *name;
};

#define SORT(words, name) {words, name},
static const struct column columns[] = {
#include "cli/command_line/habits.def"
	{0},
};

struct traced {
	const char *words;
	bool recorded;
	const char *text;
};

#define TRACE(words, recorded, text) {words, recorded, text},
static const struct traced traced[] = {
#include "cli/command_line/habits.def"
	{0},
};

/* Whether one of the patterns in list, which "|" separates, fits all of text. */
static bool fits(const char *list, const char *text, int flags)
{
	while (*list) {
		const size_t length = strcspn(list, "|");
		char pattern[64];

		snprintf(pattern, sizeof(pattern), "%.*s", (int)length, list);
		if (fnmatch(pattern, text, flags) == 0)
			return true;
		list += length + (list[length] == '|');
	}
	return false;
}

static bool has_name(const struct gt_habit *habit, const char *name, size_t length)
{
	char text[64];

	if (length == 0 || length >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)length, name);
	return fits(habit->names, text, 0);
}

static bool is_of(const struct gt_habit *habit, const char *command, const struct gt_typed *typed)
{
	if (!fits(habit->commands, command, 0))
		return false;
	return typed->name ? has_name(habit, typed->name, typed->length)
	                   : habit->letter && habit->letter == typed->letter;
}

static bool takes(const struct gt_habit *habit, const struct gt_typed *typed)
{
	const char *value = typed->value ? typed->value : typed->next;

	if (!habit->values)
		return !typed->name || !typed->value;
	return value && fits(habit->values, value, 0);
}

const struct gt_habit *gt_habit_find(const char *command, const struct gt_typed *typed)
{
	for (const struct gt_habit *habit = gt_habits; habit->commands; habit++)
		if (is_of(habit, command, typed) && takes(habit, typed))
			return habit;
	return NULL;
}

bool gt_habit_knows(const char *command, const struct gt_typed *typed)
{
	for (const struct gt_habit *habit = gt_habits; habit->commands; habit++)
		if (is_of(habit, command, typed))
			return true;
	return false;
}

bool gt_habit_has_name(const char *command, const char *name, size_t length)
{
	for (const struct gt_habit *habit = gt_habits; habit->commands; habit++)
		if (fits(habit->commands, command, 0) && has_name(habit, name, length))
			return true;
	return false;
}

static const struct traced *find_traced(const char *word)
{
	for (const struct traced *row = traced; row->words; row++)
		if (fits(row->words, word, 0))
			return row;
	return NULL;
}

/* Copies the word before the first comma; returns what is behind that, NULL at the end. */
static const char *take_word(const char *list, char *word, size_t size)
{
	const size_t length = strcspn(list, ",");

	snprintf(word, size, "%.*s", (int)length, list);
	return list[length] ? list + length + 1 : NULL;
}

static int check_trace(const char *list, struct gt_error *err)
{
	bool recorded = false;
	char word[64];

	for (const char *rest = list; rest;) {
		const struct traced *row;

		rest = take_word(rest, word, sizeof(word));
		row = find_traced(word);
		if (!row)
			return gt_fail(
				err, EINVAL,
				"--trace does not know '%s'; gputrace records cuda and nvtx so "
				"far",
				word);
		recorded = recorded || row->recorded;
	}
	if (!recorded)
		return gt_fail(err, EINVAL, "--trace %s: gputrace records cuda and nvtx so far",
		               list);
	return 0;
}

int gt_habit_trace(const char *list, struct gt_error *err)
{
	const int result = check_trace(list, err);
	char word[64];

	for (const char *rest = list; result == 0 && rest;) {
		rest = take_word(rest, word, sizeof(word));
		if (!find_traced(word)->recorded)
			gt_say("--trace %s is left out: %s", word, find_traced(word)->text);
	}
	return result;
}

const struct gt_word *gt_word_find(const char *word)
{
	for (const struct gt_word *row = gt_words_known; row->words; row++)
		if (fits(row->words, word, 0))
			return row;
	return NULL;
}

const struct gt_alias *gt_alias_find(const char *word)
{
	for (const struct gt_alias *alias = gt_aliases; alias->words; alias++)
		if (fits(alias->words, word, FNM_CASEFOLD))
			return alias;
	return NULL;
}

const struct gt_report *gt_habit_report(const char *word)
{
	const struct gt_report *report = gt_report_find(word);
	const struct gt_alias *alias = report ? NULL : gt_alias_find(word);

	return alias ? gt_report_find(alias->report) : report;
}

const char *gt_format_alias(const char *word)
{
	for (const struct kind *kind = kinds; kind->words; kind++)
		if (fits(kind->words, word, FNM_CASEFOLD))
			return kind->format;
	return NULL;
}

const char *gt_column_alias(const char *word, size_t n)
{
	for (const struct column *column = columns; column->words; column++)
		if (fits(column->words, word, FNM_CASEFOLD) && n-- == 0)
			return column->name;
	return NULL;
}

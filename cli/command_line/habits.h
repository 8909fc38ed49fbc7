/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_LINE_HABITS_H
#define GT_CLI_COMMAND_LINE_HABITS_H

#include <stdbool.h>
#include <stddef.h>

struct gt_error;
struct gt_report;

/*
 * Words that users of other profilers type: the lists of habits.def, looked up. Nothing in
 * them stands in --help. Own commands go before theirs; a line about an option goes before an own
 * option where it fits its value ("-f csv" beside our -f).
 */
enum gt_habit_answer {
	GT_HABIT_SAME,
	GT_HABIT_MEANT,
	GT_HABIT_FINE,
	GT_HABIT_NOTE,
	GT_HABIT_REFUSED,
	GT_HABIT_OPERAND,
	GT_HABIT_TRACE,
};

/* An option of theirs; habits.def says what each field is. */
struct gt_habit {
	const char *commands;
	const char *names;
	char letter;
	const char *values;
	enum gt_habit_answer answer;
	const char *text;
};

/* An option as it was typed. */
struct gt_typed {
	const char *name; /* without the dashes, length bytes; NULL: it is a letter */
	size_t length;
	char letter; /* of an option without a name */
	char *value; /* behind "=" or the letter; NULL: none */
	char *next;  /* the word behind it; NULL: none, or it cannot be its value */
};

/* Its meaning to a command, NULL when it is none of theirs. */
const struct gt_habit *gt_habit_find(const char *command, const struct gt_typed *typed);

/* Whether there is an option of that name, whatever its value. */
bool gt_habit_knows(const char *command, const struct gt_typed *typed);

/* Whether one of their long options has this name. */
bool gt_habit_has_name(const char *command, const char *name, size_t length);

/*
 * A list of what to record, as nsys has it: says what of it is not recorded. -EINVAL: nothing
 * would be left, or a word is no such thing.
 */
int gt_habit_trace(const char *list, struct gt_error *err);

enum gt_word_meaning {
	GT_WORD_COMMAND,
	GT_WORD_EITHER,
	GT_WORD_VERSION,
	GT_WORD_HELP,
	GT_WORD_MISSING,
};

/* The first word of a command line. */
struct gt_word {
	const char *words;
	enum gt_word_meaning meaning;
	const char *text;
};

/* NULL: it is none of theirs. */
const struct gt_word *gt_word_find(const char *word);

/* Another name for a report. */
struct gt_alias {
	const char *words;
	const char *report; /* "": there is none, text says so */
	const char *text; /* with a report: a setting of it, or "section=" and a table; NULL: none */
};

#define GT_ALIAS_SECTION "section="

/* Our name of a format that others call so; NULL: it is none of theirs. */
const char *gt_format_alias(const char *word);

/*
 * Our name of a column that others call so: the nth of those that it may be, the likeliest first;
 * NULL: there are no more. Upper and lower case are the same.
 */
const char *gt_column_alias(const char *word, size_t n);

/* The lists themselves, for the manual and for tests; a row without words ends each. */
extern const struct gt_word gt_words_known[];
extern const struct gt_alias gt_aliases[];
extern const struct gt_habit gt_habits[];

/* NULL: it is none. Upper and lower case are the same. */
const struct gt_alias *gt_alias_find(const char *word);

/* The report of that name, its own or one that others have for it; NULL when there is none. */
const struct gt_report *gt_habit_report(const char *word);

#endif

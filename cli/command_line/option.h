/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_LINE_OPTION_H
#define GT_CLI_COMMAND_LINE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_error;

enum gt_option_kind {
	GT_OPTION_FLAG,     /* bool */
	GT_OPTION_TEXT,     /* const char * */
	GT_OPTION_MAYBE,    /* const char *: --name=TEXT, or --name alone, which gives "" */
	GT_OPTION_COUNT,    /* uint64_t */
	GT_OPTION_SIZE,     /* uint64_t, bytes; K, M and G are understood */
	GT_OPTION_DURATION, /* uint64_t, nanoseconds; given with a unit */
	GT_OPTION_INTERVAL, /* the same, or GT_OPTION_OFF for "off" */
	GT_OPTION_CHOICE,   /* const char *, one of a list of words */
	GT_OPTION_SORT,     /* struct gt_sort */
	GT_OPTION_LIST,     /* struct gt_option_list: may be given again and again */
};

#define GT_OPTION_OFF UINT64_MAX

enum gt_sort_order {
	GT_SORT_NATURAL, /* numbers descending, texts ascending */
	GT_SORT_ASCENDING,
	GT_SORT_DESCENDING,
};

/* The columns to sort by, the most important first: COLUMN[:asc|:desc][,COLUMN...] */
enum { GT_SORT_KEYS = 4 };

struct gt_sort {
	struct gt_sort_key {
		char column[64];
		enum gt_sort_order order;
	} keys[GT_SORT_KEYS];
	size_t count;
};

/* The values of an option that was given several times, in that order. */
struct gt_option_list {
	const char *texts[32];
	size_t count;
};

/*
 * One command-line option. The parser, --help, shell completion and the manual
 * page are all made from this row. OPT_* below fill it in and tie it to a field
 * of the command's own argument struct.
 */
struct gt_option {
	const char *name; /* without the dashes */
	char letter;      /* 0: none */
	enum gt_option_kind kind;
	size_t offset;              /* of the field in the argument struct */
	const char *value;          /* what --help calls the value, NULL for a flag */
	const char *help;           /* one line, no full stop */
	const char *const *choices; /* of a choice, and a list: allowed words, NULL at the end */
	uint64_t least;             /* of a number; */
	uint64_t most;              /* both 0: no limits */
	const char *command; /* of the last row, which has no name: whose habits.def is asked */
	const char *group; /* above it in --help, and those behind it; NULL: that of the last one */
};

/* What --help and the manual put between its name and that of its value, and behind that. */
const char *gt_option_before_value(const struct gt_option *option);
const char *gt_option_behind_value(const struct gt_option *option);

/* The field's type is not checked: it must be the one beside the kind above. */
#define OPT(name, letter, kind, type, field, value, help)                                          \
	name, letter, GT_OPTION_##kind, offsetof(type, field), value, help

/* clang-format off */
#define OPT_FLAG(name, letter, type, field, help) \
	{OPT(name, letter, FLAG, type, field, NULL, help)}
#define OPT_TEXT(name, letter, type, field, value, help) \
	{OPT(name, letter, TEXT, type, field, value, help)}
#define OPT_MAYBE(name, letter, type, field, value, help) \
	{OPT(name, letter, MAYBE, type, field, value, help)}
#define OPT_COUNT(name, letter, type, field, value, help) \
	{OPT(name, letter, COUNT, type, field, value, help)}
#define OPT_SIZE(name, letter, type, field, value, least, most, help) \
	{OPT(name, letter, SIZE, type, field, value, help), NULL, least, most}
#define OPT_DURATION(name, letter, type, field, value, least, most, help) \
	{OPT(name, letter, DURATION, type, field, value, help), NULL, least, most}
#define OPT_INTERVAL(name, letter, type, field, value, least, most, help) \
	{OPT(name, letter, INTERVAL, type, field, value, help), NULL, least, most}
#define OPT_CHOICE(name, letter, type, field, value, choices, help) \
	{OPT(name, letter, CHOICE, type, field, value, help), choices}
#define OPT_SORT(name, letter, type, field, value, help) \
	{OPT(name, letter, SORT, type, field, value, help)}
#define OPT_LIST(name, letter, type, field, value, help) \
	{OPT(name, letter, LIST, type, field, value, help)}
#define OPT_END {0}
/* Ends the options of a command that other profilers' are understood by: see habits.def. */
#define OPT_END_OF(of_command) {.command = of_command}
/* clang-format on */

/*
 * -o FILE, -oFILE, --output FILE, --output=FILE; flags also as --quiet=true and --quiet=false,
 * and several behind one dash. Fills the argument struct at args; what is not given stays as it
 * was. Returns how many words of argv are operands (moved to its front), -EINVAL with one sentence
 * in err, or -ECANCELED when --help or -h is among the options: nothing else should then be done.
 * Texts point into argv. Everything after "--" is an operand.
 */
int gt_options_parse(const struct gt_option *options, void *args, int argc, char **argv,
                     struct gt_error *err);

/* The same, but everything from the first operand on is an operand: for "run PROGRAM ARG...". */
int gt_options_parse_leading(const struct gt_option *options, void *args, int argc, char **argv,
                             struct gt_error *err);

/* The option of every command that its table does not name. */
extern const struct gt_option gt_help_option;

/* By its name, length bytes long, or its letter; NULL when there is none. */
const struct gt_option *gt_option_named(const struct gt_option *options, const char *name,
                                        size_t length);
const struct gt_option *gt_option_lettered(const struct gt_option *options, char letter);

#endif

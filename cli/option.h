/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OPTION_H
#define GT_CLI_OPTION_H

#include <stddef.h>
#include <stdio.h>

struct gt_error;

enum gt_option_kind { GT_OPTION_FLAG, GT_OPTION_TEXT, GT_OPTION_COUNT, GT_OPTION_CHOICE };

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
	const char *const *choices; /* GT_OPTION_CHOICE: allowed words, NULL at the end */
	const char *help;           /* one line, no full stop */
};

#define OPT_FLAG(name, letter, type, field, help)                                                  \
	{                                                                                          \
		name, letter, GT_OPTION_FLAG, offsetof(type, field), NULL, NULL, help              \
	}
#define OPT_TEXT(name, letter, type, field, value, help)                                           \
	{                                                                                          \
		name, letter, GT_OPTION_TEXT, offsetof(type, field), value, NULL, help             \
	}
#define OPT_COUNT(name, letter, type, field, value, help)                                          \
	{                                                                                          \
		name, letter, GT_OPTION_COUNT, offsetof(type, field), value, NULL, help            \
	}
#define OPT_CHOICE(name, letter, type, field, value, choices, help)                                \
	{                                                                                          \
		name, letter, GT_OPTION_CHOICE, offsetof(type, field), value, choices, help        \
	}
#define OPT_END                                                                                    \
	{                                                                                          \
		0                                                                                  \
	}

/*
 * Fills the argument struct at args. Returns how many words of argv are left
 * over (moved to its front), or a negative errno value. Text points into argv.
 */
int gt_options_parse(const struct gt_option *options, void *args, int argc, char **argv,
                     struct gt_error *err);

void gt_options_help(const struct gt_option *options, FILE *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_PARAMETER_H
#define GT_ANALYSIS_PARAMETER_H

#include <stddef.h>
#include <stdint.h>

struct gt_error;

/*
 * A setting of a report that someone may want to change, as a limit or a length. A report lists its
 * parameters; its arguments are their values, in the same order.
 */
enum gt_parameter_kind {
	GT_PARAMETER_COUNT,    /* number */
	GT_PARAMETER_ROWS,     /* number: how many rows a table has at most; a limit sets it too */
	GT_PARAMETER_DURATION, /* number, nanoseconds; written with a unit */
	GT_PARAMETER_TEXT,     /* text */
	GT_PARAMETER_CHOICE,   /* text, one of a list of words */
};

struct gt_parameter {
	const char *name; /* report --set NAME=VALUE */
	enum gt_parameter_kind kind;
	const char *initial;        /* the value when none is given, as one would write it */
	const char *help;           /* one line, no full stop */
	const char *const *choices; /* GT_PARAMETER_CHOICE: allowed words, NULL at the end */
};

#define GT_ROWS_ALL UINT64_MAX

enum { GT_PARAMETERS_MOST = 8 }; /* of one report */

struct gt_argument {
	uint64_t number;
	const char *text;
};

struct gt_arguments {
	struct gt_argument values[GT_PARAMETERS_MOST];
};

/* Sets the defaults. parameters ends with a row without a name; NULL is none. */
void gt_arguments_init(struct gt_arguments *arguments, const struct gt_parameter *parameters);

/* So many rows, or GT_ROWS_ALL, are asked for of every table. */
void gt_arguments_limit(struct gt_arguments *arguments, const struct gt_parameter *parameters,
                        uint64_t rows);

/*
 * Sets what NAME=VALUE says; the text must outlive the arguments. -ENOENT, without a word in err,
 * when there is no parameter of that name; -EINVAL for a value that it cannot have.
 */
int gt_arguments_set(struct gt_arguments *arguments, const struct gt_parameter *parameters,
                     const char *setting, struct gt_error *err);

#endif

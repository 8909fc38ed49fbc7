/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPORT_ANSWERS_H
#define GT_CLI_REPORT_ANSWERS_H

#include <stdbool.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"

/*
 * Reports that were asked for by the words of the command line, with their settings and results.
 */

/* A report that was asked for and what it found. */
struct gt_answer {
	const struct gt_report *report;
	struct gt_arguments arguments;
	struct gt_result result;
};

struct gt_answers {
	gt_array(struct gt_answer) list;
	const char *section; /* table that a name of another tool means; NULL: none; constant */
};

/* Parameters that every report takes, ending with a row without a name. */
extern const struct gt_parameter gt_report_parameters[];

/* The recording and the reports among the operands, in any order; without a report the usual
 * ones, whose names have commas between them. */
int gt_answers_choose(struct gt_answers *answers, int count, char **words, const char **recording,
                      const char *usual, struct gt_error *err);

/* A setting is for every report that has a parameter of its name. */
int gt_answers_set(struct gt_answers *answers, const char *setting, struct gt_error *err);

/* Whether that groups NVTX ranges. */
bool gt_groups_ranges(const char *by);

/* --by WHAT is --set by=WHAT: a report that was asked for must have something to group. */
int gt_answers_group(struct gt_answers *answers, const char *by, struct gt_error *err);
int gt_answers_show_each(struct gt_answers *answers, struct gt_error *err);
void gt_answers_release(struct gt_answers *answers);

#endif

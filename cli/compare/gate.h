/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMPARE_GATE_H
#define GT_CLI_COMPARE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/compare/comparison.h"

struct gt_error;
struct gt_option_list;
struct gt_result;

/* One condition of --fail-if: "kernel slower 5%", "step slower 2%", "memory peak more 1%". */
struct gt_gate {
	const char *text;
	enum gt_gate_subject { GT_GATE_FIGURE, GT_GATE_ROWS } subject;
	enum gt_compared_figure figure;
	enum gt_compared table;
	char name[256]; /* part of the first key of the rows it is about; "": all of them */
	bool less;      /* it is about what becomes faster, or less */
	bool is_share;  /* else the limit is in the figure's unit */
	double limit;
};

enum gt_gate_outcome { GT_GATE_PASSED, GT_GATE_CROSSED, GT_GATE_UNTOLD };

int gt_gate_parse(struct gt_gate *gate, const char *text, struct gt_error *err);

/* Calls entry for each subject, for --help. */
void gt_gate_list_subjects(void (*entry)(const char *name, const char *text, FILE *out), FILE *out);

/*
 * A limit is crossed when the change is above it and a change for certain; it is not told where
 * a change above it cannot be excluded. cause gets what decided it.
 */
enum gt_gate_outcome gt_gate_check(const struct gt_gate *gate,
                                   const struct gt_comparison *comparison, char *cause,
                                   size_t size);

/*
 * Adds the table "conditions" with each of the list, and says on standard error what fails. Worst
 * outcome of all in *outcome. comparison NULL: without rows.
 */
int gt_gates_check(const struct gt_option_list *conditions, const struct gt_comparison *comparison,
                   struct gt_result *result, enum gt_gate_outcome *outcome, struct gt_error *err);

#endif

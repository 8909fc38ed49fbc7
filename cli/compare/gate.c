/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare/gate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/command_line/option.h"
#include "cli/output/say.h"

static const struct gt_heading headings[] = {
	{"outcome", GT_UNIT_TEXT, "fails, passes, or cannot be told", GT_WORTH_KEY},
	{"condition", GT_UNIT_TEXT, "As --fail-if has it", GT_WORTH_KEY},
	{"cause", GT_UNIT_TEXT, "Change that decided it", GT_WORTH_PROSE},
};

/* ---- reading ---- */

static int refuse(const char *text, struct gt_error *err)
{
	return gt_fail(
		err, EINVAL,
		"--fail-if takes 'kernel slower 5%%', 'step slower 2%%', 'memory peak more 1%%' "
		"and the like, and not '%s'; gputrace compare --help names the subjects",
		text);
}

/* Words for tables of rows; a name may follow. */
static const struct {
	const char *word;
	const char *help;
	enum gt_compared table;
} row_words[] = {
	{"kernel", "Any kernel, or those whose names hold what follows", GT_COMPARED_kernels},
	{"range", "Any NVTX range, or those whose paths hold what follows", GT_COMPARED_ranges},
	{"op", "Any operation of PyTorch, or those whose names hold what follows", GT_COMPARED_ops},
	{"module", "Any module of PyTorch, or those whose paths hold what follows",
         GT_COMPARED_nn_modules},
	{"instruction", "Any instruction of HLO, or those whose names hold what follows",
         GT_COMPARED_hlo},
	{"copy", "Copies of any kind, or of the one that follows", GT_COMPARED_copies},
};

void gt_gate_list_subjects(void (*entry)(const char *name, const char *text, FILE *out), FILE *out)
{
	for (size_t i = 0; i < GT_COUNT_OF(row_words); i++)
		entry(row_words[i].word, row_words[i].help, out);
	for (enum gt_compared_figure i = 0; i < GT_COMPARED_FIGURES; i++)
		if (gt_compared_figures[i].better != GT_BETTER_NEITHER)
			entry(gt_compared_figures[i].words, gt_compared_figures[i].help, out);
}

static bool read_subject(struct gt_gate *gate, const char *subject)
{
	for (enum gt_compared_figure i = 0; i < GT_COMPARED_FIGURES; i++)
		if (gt_compared_figures[i].better != GT_BETTER_NEITHER &&
		    strcmp(subject, gt_compared_figures[i].words) == 0) {
			gate->figure = i;
			return true;
		}
	gate->subject = GT_GATE_ROWS;
	for (size_t i = 0; i < GT_COUNT_OF(row_words); i++) {
		const size_t length = strlen(row_words[i].word);

		if (strncmp(subject, row_words[i].word, length) != 0 ||
		    (subject[length] && subject[length] != ' '))
			continue;
		gate->table = row_words[i].table;
		snprintf(gate->name, sizeof(gate->name), "%s",
		         subject[length] ? subject + length + 1 : "");
		return true;
	}
	return false;
}

static bool read_limit(struct gt_gate *gate, const char *text)
{
	char *end;

	gate->limit = strtod(text, &end);
	gate->is_share = strcmp(end, "%") == 0;
	if (end == text || strspn(text, "0123456789.") != (size_t)(end - text) ||
	    !(gate->limit >= 0) || (*end && !gate->is_share))
		return false;
	if (gate->is_share)
		gate->limit /= 100;
	return gate->is_share ? gate->limit <= 10 && !(gate->less && gate->limit >= 1)
	                      : gate->subject == GT_GATE_FIGURE;
}

int gt_gate_parse(struct gt_gate *gate, const char *text, struct gt_error *err)
{
	static const char *const more[] = {" slower ", " more "};
	static const char *const less[] = {" faster ", " less "};
	char subject[256];
	const char *at = NULL;
	size_t length = 0;

	*gate = (struct gt_gate){.text = text};
	for (size_t i = 0; i < 4 && !at; i++) {
		const char *word = i < 2 ? more[i] : less[i - 2];

		at = strstr(text, word);
		length = strlen(word);
		gate->less = i >= 2;
	}
	if (!at || (size_t)(at - text) >= sizeof(subject))
		return refuse(text, err);
	snprintf(subject, sizeof(subject), "%.*s", (int)(at - text), text);
	return read_subject(gate, subject) && read_limit(gate, at + length) ? 0 : refuse(text, err);
}

/* ---- checking ---- */

/* The change in the gate's direction that is no smaller whatever all have in common. */
static double change_of(const struct gt_gate *gate, const struct gt_trial_change *change)
{
	const double sign = gate->less ? -1 : 1;

	return fmin(sign * change->change, sign * change->raw);
}

static enum gt_gate_outcome judge(const struct gt_gate *gate, const struct gt_trial_change *change,
                                  double limit, bool exact)
{
	const double by = change_of(gate, change);
	const double margin = exact ? 0 : change->margin;

	if (isnan(margin) || isnan(by))
		return GT_GATE_UNTOLD;
	if (by > limit && by > margin)
		return GT_GATE_CROSSED;
	return by + margin > limit ? GT_GATE_UNTOLD : GT_GATE_PASSED;
}

/* A logarithm of the ratio. */
static double log_limit(const struct gt_gate *gate, double before)
{
	const double share = gate->is_share ? gate->limit : gate->limit / before;

	return gate->less ? -log1p(-fmin(share, 1)) : log1p(share);
}

static enum gt_gate_outcome check_figure(const struct gt_gate *gate,
                                         const struct gt_comparison *comparison, char *cause,
                                         size_t size)
{
	const struct gt_compared_figure_info *info = &gt_compared_figures[gate->figure];
	const struct gt_compared_value *value = &comparison->figures[gate->figure];
	const double before = value->value[GT_SIDE_A];
	const double after = value->value[GT_SIDE_B];

	if (isnan(before) || isnan(after)) {
		snprintf(cause, size, "%s is not known of every run", info->words);
		return GT_GATE_UNTOLD;
	}
	snprintf(cause, size, "%s: %s -> %s (%+.1f%%)", info->words,
	         gt_figure_in(before, info->unit).text, gt_figure_in(after, info->unit).text,
	         100 * (after / before - 1));
	if (comparison->no_verdict) {
		snprintf(cause + strlen(cause), size - strlen(cause), ", %s",
		         comparison->no_verdict);
		return GT_GATE_UNTOLD;
	}
	if (before == 0 || after == 0)
		return (gate->less ? before > after : after > before) ? GT_GATE_CROSSED
		                                                      : GT_GATE_PASSED;
	return judge(gate, &value->change, log_limit(gate, before), value->change.margin < 1e-12);
}

/* The row that is farthest beyond the limit, of the worst outcome. */
static enum gt_gate_outcome check_rows(const struct gt_gate *gate,
                                       const struct gt_comparison *comparison, char *cause,
                                       size_t size)
{
	enum gt_gate_outcome worst = comparison->no_verdict ? GT_GATE_UNTOLD : GT_GATE_PASSED;
	size_t tested = 0;
	double most = -INFINITY;

	snprintf(cause, size, "%s",
	         comparison->no_verdict ? comparison->no_verdict : "no such row could be tested");
	gt_array_each(const struct gt_compared_row, row, &comparison->rows) {
		enum gt_gate_outcome outcome;

		if (row->table != gate->table || isnan(row->change.margin) ||
		    !strstr(row->keys[0], gate->name))
			continue;
		tested++;
		outcome = judge(gate, &row->change, log_limit(gate, 1), false);
		/* Crossed is worse than not told, whatever their numbers. */
		if ((outcome == GT_GATE_CROSSED) < (worst == GT_GATE_CROSSED) ||
		    (outcome == GT_GATE_PASSED && worst == GT_GATE_UNTOLD && tested > 1))
			continue;
		if (outcome != worst || change_of(gate, &row->change) > most) {
			most = change_of(gate, &row->change);
			worst = outcome == GT_GATE_PASSED ? worst : outcome;
			snprintf(cause, size, "%s: %+.1f%%, within %.1f%%", row->keys[0],
			         100 * expm1(row->change.raw), 100 * expm1(row->change.margin));
		}
	}
	return tested > 0 ? worst : GT_GATE_UNTOLD;
}

enum gt_gate_outcome gt_gate_check(const struct gt_gate *gate,
                                   const struct gt_comparison *comparison, char *cause, size_t size)
{
	return gate->subject == GT_GATE_FIGURE ? check_figure(gate, comparison, cause, size)
	                                       : check_rows(gate, comparison, cause, size);
}

static void add_gate(const struct gt_gate *gate, const struct gt_comparison *comparison,
                     struct gt_result *result, enum gt_gate_outcome *worst)
{
	static const char *const words[] = {"passes", "fails", "cannot be told"};
	char cause[512];
	const enum gt_gate_outcome outcome = gt_gate_check(gate, comparison, cause, sizeof(cause));

	gt_result_add_text(result, words[outcome]);
	gt_result_add_copy(result, gate->text);
	gt_result_add_copy(result, cause);
	if (outcome != GT_GATE_PASSED)
		gt_say("--fail-if '%s' %s: %s", gate->text, words[outcome], cause);
	if (outcome == GT_GATE_CROSSED || *worst == GT_GATE_PASSED)
		*worst = outcome;
}

int gt_gates_check(const struct gt_option_list *conditions, const struct gt_comparison *comparison,
                   struct gt_result *result, enum gt_gate_outcome *outcome, struct gt_error *err)
{
	*outcome = GT_GATE_PASSED;
	gt_result_begin(result, "conditions", headings, GT_COUNT_OF(headings));
	gt_result_whole(result);
	for (size_t i = 0; comparison && i < conditions->count; i++) {
		struct gt_gate gate;
		const int parsed = gt_gate_parse(&gate, conditions->texts[i], err);

		if (parsed < 0)
			return parsed;
		add_gate(&gate, comparison, result, outcome);
	}
	return 0;
}

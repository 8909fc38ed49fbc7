/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"

#include "analysis/advice/facts.h"
#include "analysis/figures.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "model/view/view.h"

static const struct gt_heading advice_headings[] = {
	{"number", GT_UNIT_COUNT, "Number of the row in the tables below", GT_WORTH_KEY,
         .label = "no"},
	{"bound", GT_UNIT_TEXT, "How sure gain_ns is: at most, or about", GT_WORTH_KEY},
	{"gain_ns", GT_UNIT_NS,
         "Time that would not be spent; not known where no estimate is honest", GT_WORTH_KEY},
	{"gain_percent", GT_UNIT_PERCENT, "gain_ns of the recording, or of its window",
         GT_WORTH_KEY},
	{"kind", GT_UNIT_TEXT, "wrong, something to change, to know, or to measure first"},
	{"rule", GT_UNIT_TEXT, "Which rule says so", GT_WORTH_LITTLE},
	{"report", GT_UNIT_TEXT, "The report that says more", GT_WORTH_DATA},
	{"device", GT_UNIT_TEXT, "GPU it is about; not known: the recording", GT_WORTH_DATA},
	{"advice", GT_UNIT_TEXT, "The finding, and what could be done", GT_WORTH_PROSE},
};

static const struct gt_heading evidence_headings[] = {
	{"number", GT_UNIT_COUNT, "Number of the row in advice", GT_WORTH_KEY, .label = "no"},
	{"report", GT_UNIT_TEXT, "Where the figure is: report", GT_WORTH_KEY},
	{"table", GT_UNIT_TEXT, "Table of that report", GT_WORTH_KEY},
	{"column", GT_UNIT_TEXT, "Column of that table", GT_WORTH_KEY},
	{"figure", GT_UNIT_REAL, "The figure, in the unit of the column", GT_WORTH_DATA},
	{"value", GT_UNIT_TEXT, "Name of the figure, with what tells its row from others",
         GT_WORTH_NAME},
};

static const struct gt_heading estimate_headings[] = {
	{"number", GT_UNIT_COUNT, "Number of the row in advice", GT_WORTH_KEY, .label = "no"},
	{"bound", GT_UNIT_TEXT, "How sure gain_ns is: at most, or about", GT_WORTH_KEY},
	{"gain_ns", GT_UNIT_NS, "Time that would not be spent", GT_WORTH_KEY},
	{"how", GT_UNIT_TEXT, "Parts of gain_ns", GT_WORTH_PROSE},
};

static const struct gt_heading rule_headings[] = {
	{"rule", GT_UNIT_TEXT, "Name of the rule", GT_WORTH_KEY},
	{"rows", GT_UNIT_COUNT, "That it has in advice", GT_WORTH_KEY},
	{"looks_for", GT_UNIT_TEXT, "Its subject", GT_WORTH_NAME},
	{"not_asked", GT_UNIT_TEXT,
         "Data that it needs and that were not recorded; not known: nothing", GT_WORTH_PROSE},
};

static void add_gain(struct gt_result *result, const struct gt_gain *gain)
{
	const bool known = gain->bound != GT_GAIN_UNKNOWN;

	if (known)
		gt_result_add_text(result, gt_gain_bound_name(gain->bound));
	else
		gt_result_add_unknown(result);
	gt_result_add_count_if(result, known, (int64_t)gain->saved.ns);
}

static void add_row(struct gt_result *result, const struct gt_advice *advice, size_t number)
{
	const struct gt_advice_row *row = &advice->rows.rows[number];

	gt_result_add_count(result, (int64_t)number + 1);
	add_gain(result, &row->gain);
	if (row->gain.bound == GT_GAIN_UNKNOWN)
		gt_result_add_unknown(result);
	else
		gt_result_add_real(result, gt_share_percent(&row->gain.saved));
	gt_result_add_text(result, gt_advice_kind_name(row->kind));
	gt_result_add_text(result, row->rule->name);
	gt_result_add_text(result, row->report);
	if (row->device == GT_NONE)
		gt_result_add_unknown(result);
	else
		gt_add_device(result, advice->facts->view->trace, row->device);
	gt_result_add_format(result, "%s%s%s", row->text, row->hint ? " " : "",
	                     row->hint ? row->hint : "");
}

static void add_advice(struct gt_result *result, const struct gt_advice *advice)
{
	gt_result_begin(result, "advice", advice_headings, GT_COUNT_OF(advice_headings));
	gt_result_whole(result);
	for (size_t i = 0; i < advice->rows.count; i++)
		add_row(result, advice, i);
}

static void add_evidence(struct gt_result *result, const struct gt_advice *advice)
{
	gt_result_begin(result, "evidence", evidence_headings, GT_COUNT_OF(evidence_headings));
	gt_result_whole(result);
	for (size_t i = 0; i < advice->rows.count; i++)
		gt_array_each(const struct gt_evidence, evidence, &advice->rows.rows[i].evidence) {
			gt_result_add_count(result, (int64_t)i + 1);
			gt_result_add_text(result, evidence->report);
			gt_result_add_text(result, evidence->table);
			gt_result_add_text(result, evidence->column);
			gt_result_add_real(result, evidence->figure);
			gt_result_add_format(result, "%s", evidence->value);
		}
}

static void add_estimates(struct gt_result *result, const struct gt_advice *advice)
{
	gt_result_begin(result, "estimates", estimate_headings, GT_COUNT_OF(estimate_headings));
	gt_result_whole(result);
	for (size_t i = 0; i < advice->rows.count; i++) {
		const struct gt_gain *gain = &advice->rows.rows[i].gain;

		if (gain->bound == GT_GAIN_UNKNOWN)
			continue;
		gt_result_add_count(result, (int64_t)i + 1);
		add_gain(result, gain);
		gt_result_add_text(result, gain->how);
	}
}

static void add_rule(struct gt_result *result, const struct gt_advice *advice,
                     const struct gt_advice_rule *rule)
{
	const char *why = NULL;
	int64_t rows = 0;

	gt_array_each(const struct gt_advice_row, row, &advice->rows)
		rows += row->rule == rule;
	gt_array_each(const struct gt_unasked, unasked, &advice->unasked)
		if (unasked->rule == rule)
			why = unasked->why;
	gt_result_add_text(result, rule->name);
	gt_result_add_count(result, rows);
	gt_result_add_text(result, rule->summary);
	if (why)
		gt_result_add_text(result, why);
	else
		gt_result_add_unknown(result);
}

static void add_rules(struct gt_result *result, const struct gt_advice *advice)
{
	gt_result_begin(result, "rules", rule_headings, GT_COUNT_OF(rule_headings));
	gt_result_whole(result);
	gt_result_detail(result);
	for (size_t i = 0; i < gt_advice_rule_count; i++)
		add_rule(result, advice, gt_advice_rules[i]);
}

static void add_remarks(struct gt_result *result, const struct gt_advice *advice)
{
	size_t gains = 0;

	gt_array_each(const struct gt_advice_row, row, &advice->rows)
		gains += row->gain.bound != GT_GAIN_UNKNOWN;
	if (advice->rows.count == 0)
		gt_result_remark_empty(result, "No rule found anything in what was recorded.");
	if (gains > 1)
		gt_result_remark(result,
		                 "Each gain is of one change alone: several can be about the same "
		                 "time, and they do not add up.");
	if (advice->unasked.count)
		gt_result_remark(
			result,
			"%s of %s rules had nothing, or not all, to go by: --section rules "
			"says what to record for them.",
			gt_grouped(advice->unasked.count).text,
			gt_grouped(gt_advice_rule_count).text);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_advice advice;
	struct gt_facts facts;

	(void)arguments;
	(void)err;
	gt_facts_init(&facts, view);
	gt_advice_init(&advice, &facts);
	add_advice(result, &advice);
	add_evidence(result, &advice);
	add_estimates(result, &advice);
	add_rules(result, &advice);
	add_remarks(result, &advice);
	gt_advice_release(&advice);
	gt_facts_release(&facts);
	return 0;
}

const struct gt_report gt_report_advice = {
	.name = "advice",
	.summary = "The parts that could be faster, why, and by how much",
	.run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/findings.h"

#include <stdbool.h>

#include "analysis/advice/advice.h"
#include "analysis/result.h"
#include "base/array.h"

enum {
	MOST_OF_RULE = 2,  /* GPUs or kernels that a rule is said of */
	MOST_FINDINGS = 8, /* of what is about time */
	LEAST_PERCENT = 1, /* of the window, where what there is to gain is known */
};

static const struct gt_heading headings[] = {
	{"report", GT_UNIT_TEXT, "The report that says more", GT_WORTH_KEY},
	{"finding", GT_UNIT_TEXT, "The finding, with its evidence", GT_WORTH_PROSE},
};

/* Advice that fits on a page that is read first. */
static bool is_finding(const struct gt_advice_row *row)
{
	return !row->rule->apart && row->kind != GT_ADVICE_MEASURE &&
	       (row->gain.bound == GT_GAIN_UNKNOWN ||
	        gt_share_reaches(&row->gain.saved, LEAST_PERCENT));
}

/* Rows of the same rule that are findings: before a row, and in all. */
struct alike {
	size_t before;
	size_t all;
};

static struct alike alike_of(const struct gt_advice *advice, size_t of)
{
	struct alike alike = {0};

	for (size_t i = 0; i < advice->rows.count; i++) {
		if (advice->rows.rows[i].rule != advice->rows.rows[of].rule ||
		    !is_finding(&advice->rows.rows[i]))
			continue;
		alike.before += i < of;
		alike.all++;
	}
	return alike;
}

static void add(struct gt_result *result, const struct gt_advice_row *row)
{
	gt_result_add_text(result, row->report);
	if (row->gain.bound == GT_GAIN_UNKNOWN)
		gt_result_add_format(result, "%s", row->text);
	else
		gt_result_add_format(result, "%s Worth %s.", row->text, gt_advice_worth(row).text);
}

static void add_rest(struct gt_result *result, const struct gt_advice_row *row, size_t rest)
{
	gt_result_add_text(result, row->report);
	gt_result_add_format(result, "The same is true of %s more.", gt_grouped(rest).text);
}

size_t gt_findings_choose(const struct gt_advice *advice, size_t *rows)
{
	size_t chosen = 0;
	size_t added = 0;

	for (size_t i = 0; i < advice->rows.count; i++) {
		const struct gt_advice_row *row = &advice->rows.rows[i];

		if (is_finding(row) && alike_of(advice, i).before < MOST_OF_RULE &&
		    (row->kind == GT_ADVICE_WRONG || ++added <= MOST_FINDINGS))
			rows[chosen++] = i;
	}
	return chosen;
}

void gt_add_findings(struct gt_result *result, const struct gt_advice *advice)
{
	size_t *rows = gt_allocate((advice->rows.count + 1) * sizeof(*rows));
	const size_t count = gt_findings_choose(advice, rows);

	gt_result_begin(result, "stands_out", headings, GT_COUNT_OF(headings));
	gt_result_plain(result);
	for (size_t i = 0; i < count; i++) {
		const struct gt_advice_row *row = &advice->rows.rows[rows[i]];
		const struct alike alike = alike_of(advice, rows[i]);

		add(result, row);
		if (alike.before == MOST_OF_RULE - 1 && alike.all > MOST_OF_RULE)
			add_rest(result, row, alike.all - MOST_OF_RULE);
	}
	if (count == 0)
		gt_result_detail(result);
	gt_array_free(rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "model/view/view.h"

enum {
	LEAST_PERCENT = 5,        /* of the recording, of one process */
	LEAST_AFTER_PERCENT = 10, /* of it that is left */
};

/* How to show the recording from the last of these calls on, if a tenth of it or more is left. */
static void name_end_of_loading(const struct gt_facts *facts, char *text, size_t size)
{
	const gt_time start_ns = facts->view->trace->start_ns;
	const struct gt_wall window = gt_wall_of_window(facts->view);
	struct gt_interval after = {facts->loads.end_ns, facts->view->end_ns};
	const struct gt_share left =
		gt_share_of_intervals(&window, &after, 1, GT_OF_RECORDING, GT_NONE);
	const int64_t past_ns = facts->loads.end_ns - start_ns;

	if (past_ns <= 0 || !gt_share_reaches(&left, LEAST_AFTER_PERCENT))
		snprintf(text, size, "look at --from");
	else
		snprintf(text, size, "leave it out: --from %lldms",
		         (long long)((past_ns + 999999) / 1000000));
}

static const char how[] = "time in which at least one process loaded code, which each pays once";

static void say_calls(const struct gt_facts *facts, struct gt_advice *advice)
{
	const struct gt_amount *loads = &facts->loads;
	const struct gt_share most = gt_unit_times_most(&loads->times);
	struct gt_advice_row *row;
	char from[96];

	if (!gt_share_reaches(&most, LEAST_PERCENT))
		return;
	name_end_of_loading(facts, from, sizeof(from));
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "Loading code took %s%s, %s of the recording%s (%s): first "
	                "launches pay for it. Warm up, or %s.",
	                gt_advice_ns(most.ns).text,
	                gt_advice_whose(facts, &loads->times, &most).text,
	                gt_advice_percent(&most).text, gt_advice_most_of(&loads->times).text,
	                gt_amount_calls(loads).text, from);
	row->report = "api";
	gt_advice_cite(row, "api", "functions", "total_ns", (double)loads->most_ns, "%s in %s",
	               gt_advice_ns(loads->most_ns).text, loads->most);
	gt_advice_when(row, loads->start_ns, loads->end_ns);
	gt_advice_gain(row, GT_GAIN_AT_MOST, gt_unit_times_any(&loads->times), how);
}

/* Where modules were recorded: most of it may be in launches. */
static void say_modules(const struct gt_facts *facts, struct gt_advice *advice)
{
	const struct gt_amount *loads = &facts->loads;
	const struct gt_share most = gt_unit_times_most(&facts->loading);
	const struct gt_share in_calls = gt_unit_times_of(&loads->times, most.row);
	const bool several = gt_unit_times_used(&facts->loading) > 1;
	struct gt_amount_calls calls = {.text = "no calls"};
	struct gt_advice_row *row;

	if (!gt_share_reaches(&most, LEAST_PERCENT))
		return;
	if (loads->count)
		calls = gt_amount_calls(loads);
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "Loading code took %s%s, %s of the recording%s: %s %sin calls that take it "
	                "in (%s), the rest in first launches. Warm up, or use --from.",
	                gt_advice_ns(most.ns).text,
	                gt_advice_whose(facts, &facts->loading, &most).text,
	                gt_advice_percent(&most).text, gt_advice_most_of(&facts->loading).text,
	                gt_advice_ns(in_calls.ns).text, several ? "of it " : "", calls.text);
	gt_advice_cite(row, "modules", "processes", "load_percent", gt_share_percent(&most), "%s",
	               gt_advice_percent(&most).text);
	gt_advice_gain(row, GT_GAIN_AT_MOST, gt_unit_times_any(&facts->loading), how);
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	if (gt_unit_times_any(&facts->loading).ns > 0)
		say_modules(facts, advice);
	else if (facts->loads.count > 0)
		say_calls(facts, advice);
	else if (facts->view->trace->modules.count == 0 && !gt_trace_has_calls(facts->view->trace))
		gt_advice_unasked(advice, "no API calls were recorded, nor modules");
}

const struct gt_advice_rule gt_advice_loading = {
	.name = "loading",
	.summary = "Code that is loaded, or compiled, while the program runs",
	.report = "modules",
	.of_recording = look,
};

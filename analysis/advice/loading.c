/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/advice.h"
#include "analysis/facts.h"
#include "model/view.h"

enum { LEAST_PERCENT = 5 /* of the recording */ };

/* What shows the recording from the last of these calls on, if that is a tenth of it or more. */
static void name_end_of_loading(const struct gt_facts *facts, char *text, size_t size)
{
	const gt_time start_ns = facts->view->trace->start_ns;
	const uint64_t after_ns = (uint64_t)(facts->view->end_ns - facts->loads.end_ns);
	const int64_t past_ns = facts->loads.end_ns - start_ns;

	if (past_ns <= 0 || !gt_is_share(after_ns, gt_facts_duration_ns(facts), 10))
		snprintf(text, size, "look at --from");
	else
		snprintf(text, size, "leave it out: --from %lldms",
		         (long long)((past_ns + 999999) / 1000000));
}

static const char how[] = "all that loading takes, which each process pays once";

static void say_calls(const struct gt_facts *facts, struct gt_advice *advice)
{
	const struct gt_amount *loads = &facts->loads;
	struct gt_advice_row *row;
	char from[96];

	if (!gt_is_share(loads->total_ns, gt_facts_duration_ns(facts), LEAST_PERCENT))
		return;
	name_end_of_loading(facts, from, sizeof(from));
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "Loading code took %s, %s of the recording (%s): first "
	                "launches pay for it. Warm up, or %s.",
	                gt_advice_ns(loads->total_ns).text,
	                gt_advice_share(loads->total_ns, gt_facts_duration_ns(facts)).text,
	                gt_amount_calls(loads).text, from);
	row->report = "api";
	gt_advice_cite(row, "api", "functions", "total_ns", "%s in %s",
	               gt_advice_ns(loads->most_ns).text, loads->most);
	gt_advice_gain(row, GT_GAIN_AT_MOST, loads->total_ns, how);
}

/* Where modules were recorded: most of it may be in launches. */
static void say_modules(const struct gt_facts *facts, struct gt_advice *advice)
{
	const struct gt_amount *loads = &facts->loads;
	struct gt_amount_calls calls = {.text = "no calls"};
	struct gt_advice_row *row;

	if (!gt_is_share(facts->loading_ns, gt_facts_duration_ns(facts), LEAST_PERCENT))
		return;
	if (loads->count)
		calls = gt_amount_calls(loads);
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "Loading code took %s, %s of the recording: %s in calls that take it in "
	                "(%s), the rest in first launches. Warm up, or use --from.",
	                gt_advice_ns(facts->loading_ns).text,
	                gt_advice_share(facts->loading_ns, gt_facts_duration_ns(facts)).text,
	                gt_advice_ns(loads->total_ns).text, calls.text);
	gt_advice_cite(row, "modules", "processes", "load_percent", "%s",
	               gt_advice_share(facts->loading_ns, gt_facts_duration_ns(facts)).text);
	gt_advice_gain(row, GT_GAIN_AT_MOST, facts->loading_ns, how);
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	if (facts->loading_ns > 0)
		say_modules(facts, advice);
	else
		say_calls(facts, advice);
}

const struct gt_advice_rule gt_advice_loading = {
	.name = "loading",
	.summary = "Code that is loaded, or compiled, while the program runs",
	.report = "modules",
	.of_recording = look,
};

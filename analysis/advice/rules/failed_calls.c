/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	const struct gt_api_call *first = facts->first_failed;
	struct gt_advice_row *row;
	const char *result;

	if (!first)
		return;
	result = gt_result_name(first->result, (first->flags & GT_DRIVER_API) != 0);
	row = gt_advise(advice, GT_ADVICE_WRONG, "%s CUDA %s failed, the first was %s: %s.",
	                gt_grouped(facts->failed).text, gt_plural(facts->failed, "call", "calls"),
	                gt_trace_text(facts->view->trace, first->function),
	                result ? result : "a result that is not known");
	gt_advice_when(row, first->start_ns, first->end_ns);
	gt_advice_cite(row, "errors", "errors", "calls", (double)facts->failed, "%s",
	               gt_grouped(facts->failed).text);
}

const struct gt_advice_rule gt_advice_failed_calls = {
	.name = "failed_calls",
	.summary = "CUDA calls that failed",
	.report = "errors",
	.of_recording = look,
};

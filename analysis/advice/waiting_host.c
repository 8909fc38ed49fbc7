/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice.h"
#include "analysis/facts.h"
#include "model/view.h"

enum { LEAST_PERCENT = 50 /* of the recording */ };

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	const struct gt_amount *waits = &facts->waits;
	const uint64_t duration_ns = gt_facts_duration_ns(facts);
	struct gt_advice_row *row;

	if (!gt_is_share(waits->total_ns, duration_ns, LEAST_PERCENT))
		return;
	row = gt_advise(advice, GT_ADVICE_KNOW,
	                "The host waited for the GPU for %s, %s of the recording (%s): the program "
	                "goes as fast as the GPU does its work.",
	                gt_advice_ns(waits->total_ns).text,
	                gt_advice_share(waits->total_ns, duration_ns).text,
	                gt_amount_calls(waits).text);
	gt_advice_cite(row, "waits", "waits", "total_ns", "%s", gt_advice_ns(waits->total_ns).text);
}

const struct gt_advice_rule gt_advice_waiting_host = {
	.name = "waiting_host",
	.summary = "A program that goes as fast as the GPU",
	.report = "waits",
	.undisturbed = true,
	.of_recording = look,
};

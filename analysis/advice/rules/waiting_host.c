/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "model/view/view.h"

enum { LEAST_PERCENT = 50 /* of the recording, of one thread */ };

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	const struct gt_amount *waits = &facts->waits;
	const struct gt_share most = gt_unit_times_most(&waits->times);
	const size_t threads = gt_unit_times_used(&waits->times);
	struct gt_unit_name who = {"The host"};
	struct gt_advice_row *row;
	char of[96] = "";

	if (facts->view->trace->syncs.count == 0)
		gt_advice_unasked(advice, "no calls that wait were recorded");
	if (!gt_share_reaches(&most, LEAST_PERCENT))
		return;
	if (threads > 1) {
		who = gt_share_unit(&most, facts->view->trace);
		who.text[0] = (char)toupper((unsigned char)who.text[0]);
		snprintf(of, sizeof(of), ", longest of %s threads", gt_grouped(threads).text);
	}
	row = gt_advise(advice, GT_ADVICE_KNOW,
	                "%s waited for the GPU for %s, %s of the recording%s (%s): %s "
	                "goes as fast as the GPU does its work.",
	                who.text, gt_advice_ns(most.ns).text, gt_advice_percent(&most).text, of,
	                gt_amount_calls(waits).text, threads > 1 ? "it" : "the program");
	gt_advice_cite(row, "waits", "waits", "total_ns", (double)waits->summed_ns, "%s%s",
	               gt_advice_ns(waits->summed_ns).text,
	               threads > 1 ? ", a sum over threads" : "");
}

const struct gt_advice_rule gt_advice_waiting_host = {
	.name = "waiting_host",
	.summary = "A program that goes as fast as the GPU",
	.report = "waits",
	.undisturbed = true,
	.of_recording = look,
};

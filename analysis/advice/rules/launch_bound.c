/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "model/view/view.h"

enum {
	/* Less idle time is usual between phases of programs that are not bound by launches. */
	LEAST_PERCENT = 30,
	LEAST_GAPS = 100,
	/* Gaps under 1 ms in idle time, and time without waits in these: launches are to blame. */
	LEAST_SMALL_PERCENT = 50,
};

/* Gaps no longer than a launch may take: the GPU is done before the next one is there. */
static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct gt_gap_sum *gaps = &facts->gaps.between_launches[device];
	const uint64_t span_ns = gt_idle_span_ns(&facts->idle[device]);
	struct gt_advice_row *row;
	char length[96];

	if (!gt_is_share(gaps->total_ns, span_ns, LEAST_PERCENT) || gaps->gaps < LEAST_GAPS ||
	    !gt_is_share(gaps->small_ns, gaps->total_ns, LEAST_SMALL_PERCENT) ||
	    !gt_is_share(gaps->unwaited_ns, gaps->small_ns, LEAST_SMALL_PERCENT))
		return;
	if (gt_is_share(gaps->short_gaps, gaps->gaps, 50))
		snprintf(length, sizeof(length), ", %s under 20 us",
		         gt_grouped(gaps->short_gaps).text);
	else
		snprintf(length, sizeof(length), " of %s on average",
		         gt_advice_ns(gaps->total_ns / gaps->gaps).text);
	row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"GPU %lld waited for launches %s of the time it was in use: %s gaps%s.%s Larger "
		"or fused kernels%s help.",
		gt_advice_gpu(facts, device), gt_advice_share(gaps->total_ns, span_ns).text,
		gt_grouped(gaps->gaps).text, length, gt_meanwhile_of(&facts->gaps, device).text,
		facts->view->trace->graph_launches.count ? "" : ", or CUDA graphs,");
	gt_advice_cite(row, "gaps", "devices", "span_ns", (double)span_ns, "%s",
	               gt_advice_ns(span_ns).text);
	gt_advice_cite(row, "gaps", "devices", "gap_ns", (double)gt_idle_ns(&facts->idle[device]),
	               "%s", gt_advice_ns(gt_idle_ns(&facts->idle[device])).text);
	if (gaps->gaps == facts->idle[device].gap_count) /* that table has those in graphs too */
		gt_advice_cite(row, "gaps", "gap_sizes", "total_ns", (double)gaps->small_ns,
		               "%s under 1 ms", gt_advice_ns(gaps->small_ns).text);
	gt_advice_gain_apart(
		row, facts, gaps->unwaited_ns,
		"gaps under 1 ms between launches, without the time in calls that wait");
}

const struct gt_advice_rule gt_advice_launch_bound = {
	.name = "launch_bound",
	.summary = "A GPU that is done before the next launch is there",
	.report = "gaps",
	.undisturbed = true,
	.of_device = look,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"

enum {
	LEAST_PERCENT =
		50, /* of the time it was in use: else the GPU is what most time goes into */
	LEAST_LONG_PERCENT = 50, /* of the idle time, in gaps over 1 ms: no launch takes so long */
};

/* Gaps that are too long for launches to be the reason. */
static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct gt_gap_sum *gaps = &facts->gaps.between_launches[device];
	const uint64_t span_ns = gt_idle_span_ns(&facts->idle[device]);
	const uint64_t long_ns = gaps->total_ns - gaps->small_ns;
	struct gt_advice_row *row;

	if (!gt_is_share(gaps->total_ns, span_ns, LEAST_PERCENT) ||
	    !gt_is_share(long_ns, gaps->total_ns, LEAST_LONG_PERCENT))
		return;
	row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"Nothing ran on GPU %lld for %s of the time it was in use, %s of that in gaps "
		"over 1 ms.%s",
		gt_advice_gpu(facts, device), gt_advice_share(gaps->total_ns, span_ns).text,
		gt_advice_share(long_ns, gaps->total_ns).text,
		gt_meanwhile_of(&facts->gaps, device).text);
	row->hint = "Work that can be done before, or while it works, need not keep it waiting.";
	gt_advice_cite(row, "gaps", "devices", "gap_ns", (double)gt_idle_ns(&facts->idle[device]),
	               "%s", gt_advice_ns(gt_idle_ns(&facts->idle[device])).text);
	if (gaps->gaps == facts->idle[device].gap_count) /* that table has those in graphs too */
		gt_advice_cite(row, "gaps", "gap_sizes", "total_ns", (double)long_ns,
		               "%s of 1 ms and more", gt_advice_ns(long_ns).text);
	gt_advice_gain_apart(
		row, facts, long_ns,
		"gaps of 1 ms and more, if the host did all that it does in them beside the GPU");
}

const struct gt_advice_rule gt_advice_left_alone = {
	.name = "left_alone",
	.summary = "A GPU that has nothing to do for long",
	.report = "gaps",
	.undisturbed = true,
	.of_device = look,
};

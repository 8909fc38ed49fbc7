/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/range_losses.h"
#include "model/view/view.h"

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	const gt_id path = gt_range_worst(facts, GT_RANGE_GAPS);
	char text[GT_RANGE_PATH_BYTES];
	struct gt_advice_row *row;
	const struct gt_range_loss *loss;
	struct gt_interval extent;

	if (path == GT_NONE)
		return;
	/* quiet_range says it in other words, where there are kernels. */
	if (facts->view->trace->kernels.count > 0 && path == gt_range_worst(facts, GT_RANGE_QUIET))
		return;
	extent = gt_range_extent(facts, path);
	loss = &facts->range_losses.of[GT_RANGE_GAPS][path];
	gt_range_brief_text(&facts->ranges.ranges, path, text);
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "Between the first and the last work of range %s %s was idle for %s, "
	                "%s of that time: it waits for the host.",
	                text, facts->view->trace->devices.count > 1 ? "a GPU" : "the GPU",
	                gt_advice_ns(loss->united.ns).text,
	                gt_advice_share(loss->lost_ns, loss->whole_ns).text);
	gt_advice_when(row, extent.start_ns, extent.end_ns);
	gt_advice_cite(row, "ranges", "ranges", "idle_ns", (double)loss->lost_ns, "%s",
	               gt_advice_ns(loss->lost_ns).text);
	gt_advice_cite(row, "ranges", "ranges", "span_ns", (double)loss->whole_ns, "%s",
	               gt_advice_ns(loss->whole_ns).text);
	gt_advice_gain(
		row, GT_GAIN_AT_MOST, loss->united,
		"time in which at least one GPU was idle between the first and the last work "
		"of one of these ranges on it");
}

const struct gt_advice_rule gt_advice_range_gaps = {
	.name = "range_gaps",
	.summary = "A range of the program whose work has gaps",
	.report = "ranges",
	.undisturbed = true,
	.of_recording = look,
};

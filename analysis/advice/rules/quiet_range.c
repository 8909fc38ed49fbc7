/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/range_losses.h"
#include "model/ranges/ranges.h"
#include "model/view/view.h"

/* When a GPU began its first work; INT64_MAX: none did. */
static gt_time first_work_ns(const struct gt_facts *facts)
{
	gt_time first_ns = INT64_MAX;

	for (size_t i = 0; i < facts->view->trace->devices.count; i++)
		if (facts->busy[i].all.begun && facts->busy[i].all.start_ns < first_ns)
			first_ns = facts->busy[i].all.start_ns;
	return first_ns;
}

/* While the host was in these ranges the GPUs waited for it. */
static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	const gt_id path = gt_range_worst(facts, GT_RANGE_QUIET);
	char text[GT_RANGE_PATH_BYTES];
	struct gt_advice_row *row;
	const struct gt_range_loss *loss;
	struct gt_interval extent;
	char ranges[64] = "";

	if (path == GT_NONE || facts->view->trace->kernels.count == 0)
		return;
	extent = gt_range_extent(facts, path);
	loss = &facts->range_losses.of[GT_RANGE_QUIET][path];
	gt_range_brief_text(&facts->ranges.ranges, path, text);
	if (facts->ranges.rows[path].ranges > 1)
		snprintf(ranges, sizeof(ranges), " (%s such ranges)",
		         gt_grouped(facts->ranges.rows[path].ranges).text);
	row = gt_advise(advice,
	                extent.end_ns > first_work_ns(facts) ? GT_ADVICE_CHANGE : GT_ADVICE_KNOW,
	                "In range %s no GPU had anything to do for %s, %s of its time%s.", text,
	                gt_advice_ns(loss->united.ns).text,
	                gt_advice_share(loss->lost_ns, loss->whole_ns).text, ranges);
	gt_advice_when(row, extent.start_ns, extent.end_ns);
	gt_advice_cite(row, "ranges", "ranges", "quiet_percent",
	               100.0 * (double)loss->lost_ns / (double)loss->whole_ns, "%s",
	               gt_advice_share(loss->lost_ns, loss->whole_ns).text);
	if (row->kind == GT_ADVICE_KNOW)
		return;
	gt_advice_gain(row, GT_GAIN_AT_MOST, loss->united,
	               "time in which at least one of these ranges was open and no GPU ran "
	               "anything");
}

const struct gt_advice_rule gt_advice_quiet_range = {
	.name = "quiet_range",
	.summary = "A range of the program in which no GPU has anything to do",
	.report = "ranges",
	.undisturbed = true,
	.of_recording = look,
};

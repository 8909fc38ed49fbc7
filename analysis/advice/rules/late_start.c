/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "model/view/view.h"

enum { LEAST_PERCENT = 30 /* of the recording: shares of it then say little of the program */ };

static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct gt_cover *cover = &facts->busy[device].all;
	const uint64_t before_ns = (uint64_t)(cover->start_ns - facts->view->start_ns);
	const struct gt_share before =
		gt_share_of_apart(&facts->wall, before_ns, GT_OF_GPU, device);
	struct gt_advice_row *row;

	if (!cover->begun || facts->view->trace->parts.count > 0 ||
	    !gt_share_reaches(&before, LEAST_PERCENT))
		return;
	row = gt_advise(advice, GT_ADVICE_KNOW,
	                "GPU %lld had nothing to do for the first %s, %s of the recording.",
	                gt_advice_gpu(facts, device), gt_advice_ns(before_ns).text,
	                gt_advice_percent(&before).text);
	gt_advice_when(row, facts->view->start_ns, cover->start_ns);
	gt_advice_cite(row, "gaps", "devices", "idle_ns", (double)before_ns,
	               "%s of it before the first work", gt_advice_ns(before_ns).text);
}

const struct gt_advice_rule gt_advice_late_start = {
	.name = "late_start",
	.summary = "A recording that begins long before the GPU is used",
	.report = "gaps",
	.undisturbed = true,
	.of_device = look,
};

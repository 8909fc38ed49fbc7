/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "model/view/view.h"

enum {
	LEAST_PERCENT = 10,       /* of the time in use */
	MOST_BESIDE_PERCENT = 10, /* of the copies: with more the program overlaps them already */
};

static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct gt_busy *busy = &facts->busy[device];
	const uint64_t copy_ns = busy->copies.covered_ns;
	const uint64_t both_ns = gt_busy_overlap(busy);
	const uint64_t alone_ns = facts->alone_ns[device];
	const uint64_t kernels_ns = busy->kernels.covered_ns - both_ns;
	struct gt_advice_row *row;

	if (!gt_is_share(alone_ns, gt_busy_span_ns(facts->view, busy), LEAST_PERCENT) ||
	    gt_is_share(both_ns, copy_ns, MOST_BESIDE_PERCENT) || kernels_ns == 0 ||
	    gt_facts_on_default_stream(facts, device))
		return;
	row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"GPU %lld copied for %s, %s of the time it was in use, and only %s of that while a "
		"kernel ran: copies on a stream of their own, of pinned memory, can overlap.",
		gt_advice_gpu(facts, device), gt_advice_ns(copy_ns).text,
		gt_advice_share(copy_ns, gt_busy_span_ns(facts->view, busy)).text,
		gt_advice_ns(both_ns).text);
	gt_advice_cite(row, "streams", "devices", "copy_ns", (double)copy_ns, "%s",
	               gt_advice_ns(copy_ns).text);
	gt_advice_cite(row, "streams", "devices", "hidden_copy_ns", (double)both_ns, "%s",
	               gt_advice_ns(both_ns).text);
	gt_advice_gain_apart(row, facts, alone_ns < kernels_ns ? alone_ns : kernels_ns,
	                     GT_ALONE_HOW);
}

const struct gt_advice_rule gt_advice_copies_alone = {
	.name = "copies_alone",
	.summary = "Copies that run while no kernel does",
	.report = "copies",
	.undisturbed = true,
	.of_device = look,
};

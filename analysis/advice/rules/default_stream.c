/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "model/view/view.h"

enum { LEAST_PERCENT = 10 /* of the time in use, copies that ran alone between kernels */ };

/* By itself the default stream is no fault: it is where copies could have run beside kernels. */
static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct gt_busy *busy = &facts->busy[device];
	const uint64_t alone_ns = facts->alone_ns[device];
	const uint64_t span_ns = gt_busy_span_ns(facts->view, busy);
	const uint64_t kernels_ns = busy->kernels.covered_ns - gt_busy_overlap(busy);
	const uint64_t work = facts->of_default_stream[device];
	const uint64_t streams = facts->default_streams[device];
	struct gt_advice_row *row;

	if (!gt_facts_on_default_stream(facts, device) || kernels_ns == 0 ||
	    !gt_is_share(alone_ns, span_ns, LEAST_PERCENT))
		return;
	row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"All that ran on GPU %lld, %s kernels, copies and fills, was on %s, where nothing "
		"overlaps: between kernels it copied for %s, %s of "
		"the time it was in use, and ran no kernel. Copies of pinned memory on a "
		"stream of their own (cudaStreamNonBlocking) can run beside kernels.",
		gt_advice_gpu(facts, device), gt_grouped(work).text,
		streams > 1 ? "the default streams of several contexts" : "the default stream",
		gt_advice_ns(alone_ns).text, gt_advice_share(alone_ns, span_ns).text);
	gt_advice_cite(row, "streams", "devices", "streams", (double)streams, "%s",
	               gt_grouped(streams).text);
	gt_advice_cite(row, "streams", "devices", "copy_ns", (double)busy->copies.covered_ns, "%s",
	               gt_advice_ns(busy->copies.covered_ns).text);
	gt_advice_gain_apart(row, facts, alone_ns < kernels_ns ? alone_ns : kernels_ns,
	                     GT_ALONE_HOW);
}

const struct gt_advice_rule gt_advice_default_stream = {
	.name = "default_stream",
	.summary = "Kernels and copies that are all on the default stream",
	.report = "streams",
	.undisturbed = true,
	.of_device = look,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"

enum { LEAST_PERCENT = 20 /* of the time in use: a node that depends on another has some gap */ };

/* The host has no part in what passes between two nodes of one launch. */
static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct gt_idle *idle = &facts->idle[device];
	const struct gt_gap_sum *others = &facts->gaps.between_launches[device];
	const uint64_t gaps = idle->gap_count - others->gaps;
	const uint64_t graph_ns = gt_idle_ns(idle) - others->total_ns;
	const uint64_t span_ns = gt_idle_span_ns(idle);
	struct gt_advice_row *row;

	if (gaps == 0 || !gt_is_share(graph_ns, span_ns, LEAST_PERCENT))
		return;
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "Within launches of graphs nothing ran on GPU %lld for %s of the time it "
	                "was in use: %s gaps of %s on average between nodes. Fewer, larger nodes, "
	                "no host functions between them, or branches that run side by side, would "
	                "keep it busy.",
	                gt_advice_gpu(facts, device), gt_advice_share(graph_ns, span_ns).text,
	                gt_grouped(gaps).text, gt_advice_ns(graph_ns / gaps).text);
	gt_advice_cite(row, "gaps", "waited_for", "total_ns", (double)graph_ns,
	               "within one graph launch: %s", gt_advice_ns(graph_ns).text);
	gt_advice_gain_apart(row, facts, graph_ns, "gaps between nodes of one launch");
}

const struct gt_advice_rule gt_advice_graph_gaps = {
	.name = "graph_gaps",
	.summary = "Gaps between the nodes of a graph",
	.report = "gaps",
	.undisturbed = true,
	.of_device = look,
};

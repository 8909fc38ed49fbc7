/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "model/trace.h"
#include "model/view/view.h"

/* Failures of calls that were to allocate on a GPU. */
static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct gt_trace *trace = facts->view->trace;
	const struct gt_memory_failure *first = NULL;
	const struct gt_memory_call *call;
	struct gt_advice_row *row;
	uint64_t count = 0;

	gt_array_each(const struct gt_memory_failure, failure, &facts->not_allocated.rows) {
		if (failure->device != device)
			continue;
		if (count++ == 0)
			first = failure;
	}
	if (!first)
		return;
	call = &trace->memory_calls.rows[first->call];
	row = gt_advise(advice, GT_ADVICE_WRONG,
	                "%s %s on GPU %lld failed: the first asked for %s when %s of %s were "
	                "allocated.",
	                gt_grouped(count).text, gt_plural(count, "allocation", "allocations"),
	                gt_advice_gpu(facts, device),
	                gt_figure_binary((int64_t)call->size_bytes).text,
	                gt_figure_binary((int64_t)first->live_bytes).text,
	                gt_figure_binary((int64_t)trace->devices.rows[device].memory_bytes).text);
	gt_advice_when(row, call->start_ns, call->end_ns);
	gt_advice_cite(row, "memory", "devices", "failed", (double)count, "%s",
	               gt_grouped(count).text);
	gt_advice_cite(row, "memory", "failures", "live_bytes", (double)first->live_bytes, "%s",
	               gt_figure_binary((int64_t)first->live_bytes).text);
}

const struct gt_advice_rule gt_advice_out_of_memory = {
	.name = "out_of_memory",
	.summary = "Allocations on the GPU that failed",
	.report = "memory",
	.of_device = look,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/time/covered.h"
#include "base/sums.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/timed.h"

enum {
	/* Starting a copy takes longer than moving so few bytes: 64 KiB take 1.2 us at 55 GB/s. */
	MOST_BYTES = 65536,
	LEAST_COPIES = 100,
	LEAST_PERCENT = 2, /* of the window, in the calls that asked for them */
};

struct small {
	uint64_t copies;
	uint64_t bytes;
	uint64_t gpu_ns;
	gt_array(struct gt_interval) calls; /* when the host was in them, and did not wait */
};

/* A blocking call waits for work before it, which is not the copy's fault. */
static void add_call(struct small *small, const struct gt_facts *facts, const struct gt_copy *copy)
{
	const struct gt_trace *trace = facts->view->trace;
	const struct gt_api_call *call;
	struct gt_interval when;
	struct gt_interval rest;

	if (copy->api_call >= trace->api_calls.count)
		return;
	call = &trace->api_calls.rows[copy->api_call];
	if (call->kind != GT_API_COPY ||
	    !gt_timed(GT_TIMES_ANY, call->flags, call->start_ns, call->end_ns))
		return;
	when = (struct gt_interval){call->start_ns, call->end_ns};
	if (copy->flags & GT_ASYNC)
		*gt_array_push(&small->calls) = when;
	else
		while (gt_covered_next_gap(&facts->work[copy->device], &when, &rest))
			*gt_array_push(&small->calls) = rest;
}

static struct small small_of(const struct gt_facts *facts, gt_id device)
{
	struct small small = {0};

	gt_array_each(const struct gt_copy, copy, &facts->view->trace->copies) {
		if (copy->device != device || copy->size_bytes > MOST_BYTES ||
		    (copy->kind != GT_COPY_HOST_TO_DEVICE &&
		     copy->kind != GT_COPY_DEVICE_TO_HOST) ||
		    copy->graph ||
		    !gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns))
			continue;
		small.copies++;
		gt_sum_add(&small.bytes, copy->size_bytes);
		small.gpu_ns += (uint64_t)(copy->end_ns - copy->start_ns);
		add_call(&small, facts, copy);
	}
	return small;
}

static void say(const struct gt_facts *facts, struct gt_advice *advice, const struct small *small,
                struct gt_share calls)
{
	struct gt_advice_row *row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"%s copies of at most 64 KiB between the host and GPU %lld moved %s in all: "
		"the calls took %s of the host without waiting for kernels, the copies %s. "
		"Gather them into fewer, larger ones.",
		gt_grouped(small->copies).text, gt_advice_gpu(facts, advice->device),
		gt_figure_bytes((int64_t)small->bytes).text, gt_advice_ns(calls.ns).text,
		gt_advice_ns(small->gpu_ns).text);

	gt_advice_cite(row, "copies", "sizes", "calls", (double)small->copies, "%s",
	               gt_grouped(small->copies).text);
	gt_advice_cite(row, "copies", "sizes", "total_ns", (double)small->gpu_ns, "%s",
	               gt_advice_ns(small->gpu_ns).text);
	gt_advice_gain(row, GT_GAIN_AT_MOST, gt_share_part(&calls, 1 - 1 / (double)small->copies),
	               "time in which a thread was in one of the calls and no kernel ran, of all "
	               "but one of them");
}

static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	struct small small = small_of(facts, device);
	const struct gt_share calls = gt_share_of_intervals(
		&facts->wall, small.calls.rows, small.calls.count, GT_OF_RECORDING, GT_NONE);

	if (!gt_trace_has_calls(facts->view->trace))
		gt_advice_unasked(advice, "no API calls were recorded");
	if (small.copies >= LEAST_COPIES && gt_share_reaches(&calls, LEAST_PERCENT))
		say(facts, advice, &small, calls);
	gt_array_release(&small.calls);
}

const struct gt_advice_rule gt_advice_small_copies = {
	.name = "small_copies",
	.summary = "Many small copies between host and GPU",
	.report = "copies",
	.of_device = look,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/traffic/host_rates.h"
#include "base/sums.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/timed.h"

enum {
	LEAST_PERCENT = 2, /* of the recording */
	/* CUDA takes up to 64 KiB of pageable memory into its own buffer at once. */
	LEAST_BYTES = 65537,
};

struct pageable {
	uint64_t copies;
	uint64_t bytes;
	uint64_t total_ns;       /* the sum */
	struct gt_united copied; /* when at least one of them ran */
	double pinned_ns;        /* that pinned memory would take; NAN: the rate is not known */
	bool estimated;          /* by the link's peak, which no copy reaches */
};

static bool is_pageable(const struct gt_copy *copy)
{
	return gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns) &&
	       copy->size_bytes >= LEAST_BYTES &&
	       (copy->src_kind == GT_MEMORY_PAGEABLE || copy->dst_kind == GT_MEMORY_PAGEABLE);
}

static struct pageable pageable_of(const struct gt_facts *facts, gt_id device)
{
	const struct gt_trace *trace = facts->view->trace;
	const struct gt_host_rate rates[2] = {
		gt_host_rate_of(trace, device, GT_COPY_HOST_TO_DEVICE),
		gt_host_rate_of(trace, device, GT_COPY_DEVICE_TO_HOST),
	};
	struct pageable pageable = {0};

	gt_array_each(const struct gt_copy, copy, &trace->copies) {
		const struct gt_host_rate *rate = &rates[copy->kind == GT_COPY_DEVICE_TO_HOST];

		if (copy->device != device || !is_pageable(copy))
			continue;
		pageable.copies++;
		gt_sum_add(&pageable.bytes, copy->size_bytes);
		pageable.total_ns += (uint64_t)(copy->end_ns - copy->start_ns);
		gt_unite(&pageable.copied, &facts->wall,
		         (struct gt_interval){copy->start_ns, copy->end_ns});
		pageable.pinned_ns += 1e9 * (double)copy->size_bytes / rate->bytes_per_second;
		pageable.estimated |= !rate->measured;
	}
	return pageable;
}

static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct pageable pageable = pageable_of(facts, device);
	const double rate = gt_bytes_per_second((double)pageable.bytes, (double)pageable.total_ns);
	const double saved = 1 - pageable.pinned_ns / (double)pageable.total_ns; /* of their time */
	const struct gt_share copied =
		gt_share_of(&pageable.copied, &facts->wall, GT_OF_GPU, device);
	struct gt_advice_row *row;

	if (pageable.copies == 0 || !gt_share_reaches(&copied, LEAST_PERCENT) || saved <= 0)
		return;
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "%s %s of pageable memory (%s) took %s, at %s: pinned memory "
	                "(cudaMallocHost, pin_memory) is faster and lets the host go on.",
	                gt_grouped(pageable.copies).text,
	                gt_plural(pageable.copies, "copy", "copies"),
	                gt_figure_bytes((int64_t)pageable.bytes).text,
	                gt_advice_ns(pageable.total_ns).text, gt_figure_rate(rate).text);
	gt_advice_cite(row, "copies", "copies", "achieved_bytes_per_second", rate, "pageable: %s",
	               gt_figure_rate(rate).text);
	gt_advice_cite(row, "copies", "copies", "total_ns", (double)pageable.total_ns, "%s",
	               gt_advice_ns(pageable.total_ns).text);
	if (isnan(saved))
		return;
	if (pageable.estimated)
		gt_advice_gain(row, GT_GAIN_AT_MOST, gt_share_part(&copied, saved),
		               "their time, less bytes / the peak rate of the PCIe link");
	else
		gt_advice_gain(
			row, GT_GAIN_ABOUT, gt_share_part(&copied, saved),
			"their time, less bytes / the rate that copies of pinned memory reach");
}

const struct gt_advice_rule gt_advice_pageable_copies = {
	.name = "pageable_copies",
	.summary = "Large copies of host memory that is not pinned",
	.report = "copies",
	.of_device = look,
};

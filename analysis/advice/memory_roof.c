/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "analysis/advice.h"
#include "analysis/facts.h"
#include "analysis/heavy_shapes.h"
#include "model/trace.h"

enum { LEAST_PERCENT = 85 /* of the peak, which no kernel reaches: 90 to 93 is all there is */ };

static void look_at(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	const double used = gt_heavy_counter(heavy, GT_SHAPE_dram_throughput_percent);
	struct gt_advice_row *row;

	if (isnan(used))
		gt_advice_unasked(advice, GT_NO_COUNTERS);
	if (!(used >= LEAST_PERCENT))
		return;
	row = gt_advise(advice, GT_ADVICE_KNOW,
	                "%s uses device memory to %s of its peak: it can be made no faster, but by "
	                "moving fewer bytes, with smaller types or in one kernel with what comes "
	                "before or after it.",
	                heavy->name, gt_figure_percent(used).text);
	(void)gt_heavy_cite_time(heavy, row);
	gt_heavy_cite(heavy, row, GT_SHAPE_dram_throughput_percent);
	gt_heavy_gain(heavy, row, 1 - fmin(used, 100) / 100,
	              "time of the kernel, times 1 - its use of device memory, with as many bytes");
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	gt_heavy_shapes(facts, advice, look_at);
}

const struct gt_advice_rule gt_advice_memory_roof = {
	.name = "memory_roof",
	.summary = "Kernels that use device memory as much as it can be",
	.report = "kernels",
	.apart = true,
	.of_recording = look,
};

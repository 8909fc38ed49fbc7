/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/heavy_shapes.h"
#include "analysis/traffic/roofs.h"
#include "model/view/view.h"

enum {
	/* Percent of the peak. No kernel reaches it: reading gets 90 to 95, copying 82 to 84. */
	LEAST_PERCENT = 85,
	/*
	 * Percent of the measured throughput of its kind of traffic: kernels that do nothing but
	 * read, or copy, get 93 to 98 percent of it on an H200.
	 */
	LEAST_MEASURED_PERCENT = 90,
};

/* Percent of what reading, writing or copying was measured to reach; NAN: not known. */
static double use_of_ceiling(const struct gt_heavy *heavy)
{
	const double read = gt_heavy_counter(heavy, GT_SHAPE_dram_read_bytes);
	const double written = gt_heavy_counter(heavy, GT_SHAPE_dram_write_bytes);
	const double ns = gt_heavy_counter(heavy, GT_SHAPE_duration_ns);
	const struct gt_roof roof =
		gt_roof_of_memory(heavy->facts->view->trace, heavy->total->device, read, written);

	return ns > 0 ? 100 * (read + written) / (ns * 1e-9) / roof.measured : NAN;
}

static void say_measured(const struct gt_heavy *heavy, struct gt_advice *advice, double used)
{
	struct gt_advice_row *row;

	row = gt_advise(advice, GT_ADVICE_KNOW,
	                "%s moves bytes to and from device memory at %s of the rate that was "
	                "measured for what it does: it can be made no faster, but by moving fewer "
	                "bytes, with smaller types or in one kernel with what comes before or "
	                "after it.",
	                heavy->name, gt_figure_percent(used).text);
	(void)gt_heavy_cite_time(heavy, row);
	gt_heavy_cite(heavy, row, GT_SHAPE_dram_read_bytes);
	gt_heavy_cite(heavy, row, GT_SHAPE_dram_write_bytes);
	gt_heavy_gain(heavy, row, 1 - fmin(used, 100) / 100,
	              "time of the kernel, times 1 - its rate / the measured one, with as many "
	              "bytes");
}

static void look_at(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	const double used = gt_heavy_counter(heavy, GT_SHAPE_dram_throughput_percent);
	const double measured = use_of_ceiling(heavy);
	struct gt_advice_row *row;

	if (isnan(used))
		gt_advice_unasked(advice, GT_NO_COUNTERS);
	if (measured >= LEAST_MEASURED_PERCENT) {
		say_measured(heavy, advice, measured);
		return;
	}
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

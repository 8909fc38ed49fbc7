/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/heavy_shapes.h"
#include "model/naming/kernel_names.h"
#include "model/trace.h"

enum {
	/* Percent of the warps that fit; more hides most latencies (CUDA Best Practices Guide). */
	MOST_PERCENT = 50,
	/* Without counters: of the time of kernels, so that measuring is worth it. */
	LEAST_KERNEL_PERCENT = 20,
};

static bool is_limited(const struct gt_heavy *heavy)
{
	return (heavy->occupancy.limit == GT_LIMIT_REGISTERS ||
	        heavy->occupancy.limit == GT_LIMIT_SHARED_MEMORY) &&
	       heavy->occupancy.percent <= MOST_PERCENT && heavy->occupancy.percent > 0 &&
	       heavy->occupancy.waves_per_sm >= 1; /* else there are no more blocks to have */
}

static struct gt_advice_row *cite(const struct gt_heavy *heavy, struct gt_advice_row *row)
{
	(void)gt_heavy_cite_time(heavy, row);
	gt_advice_cite(row, "kernels", "launch_shapes", "occupancy_percent",
	               heavy->occupancy.percent, "%s, limited by %s",
	               gt_figure_percent(heavy->occupancy.percent).text,
	               gt_occupancy_limit_name(heavy->occupancy.limit));
	return row;
}

/* Nothing is used to its most: more warps could use what is left, in proportion at best. */
static void say_waits(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	const double dram = gt_heavy_counter(heavy, GT_SHAPE_dram_throughput_percent);
	const double sm = gt_heavy_counter(heavy, GT_SHAPE_sm_throughput_percent);
	const double least = fmax(heavy->occupancy.percent, fmax(dram, sm)) / 100;
	struct gt_advice_row *row;

	row = cite(heavy,
	           gt_advise(advice, GT_ADVICE_CHANGE,
	                     "%s waits most of its time: memory is used to %s, multiprocessors to "
	                     "%s. Its %s let %s of the warps be there that fit (%s): with less of "
	                     "them more can wait at once.",
	                     heavy->name, gt_figure_percent(dram).text, gt_figure_percent(sm).text,
	                     gt_occupancy_limit_name(heavy->occupancy.limit),
	                     gt_figure_percent(heavy->occupancy.percent).text,
	                     "theoretical occupancy"));
	gt_heavy_cite(heavy, row, GT_SHAPE_dram_throughput_percent);
	gt_heavy_cite(heavy, row, GT_SHAPE_sm_throughput_percent);
	gt_heavy_gain(heavy, row, 1 - least,
	              "time of the kernel, times 1 - the largest of its occupancy and its use of "
	              "memory and multiprocessors");
}

/* Kernels for tensor cores are made to run with few warps: of these it says nothing. */
static bool is_made_so(const struct gt_heavy *heavy)
{
	return heavy->shape->family == GT_FAMILY_gemm ||
	       heavy->shape->family == GT_FAMILY_attention;
}

static void look_at(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	const int waits = gt_heavy_waits(heavy);

	if (!is_limited(heavy) || waits == 0)
		return;
	if (waits < 0)
		gt_advice_unasked(advice, GT_NO_COUNTERS);
	if (waits > 0)
		say_waits(heavy, advice);
	else if (!is_made_so(heavy) && gt_heavy_has_share(heavy, LEAST_KERNEL_PERCENT))
		(void)cite(
			heavy,
			gt_advise(advice, GT_ADVICE_MEASURE,
		                  "%s has room for %s of the warps that fit, limited by %s. Whether "
		                  "more would make it faster depends on what it waits for: "
		                  "run --kernel-counters tells.",
		                  heavy->name, gt_figure_percent(heavy->occupancy.percent).text,
		                  gt_occupancy_limit_name(heavy->occupancy.limit)));
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	gt_heavy_shapes(facts, advice, look_at);
}

const struct gt_advice_rule gt_advice_low_occupancy = {
	.name = "low_occupancy",
	.summary = "Kernels that wait, with room for few warps by registers or shared memory",
	.report = "kernels",
	.of_recording = look,
};

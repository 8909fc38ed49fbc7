/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/heavy_shapes.h"
#include "model/trace.h"

enum {
	MOST_PERCENT = 50,     /* of the multiprocessors have a block */
	LEAST_MEAN_NS = 20000, /* shorter ones take as long as launches, however many blocks */
	/* Kernels that run beside others leave room to them: time of kernels, of the busy time. */
	MOST_BESIDE_PERCENT = 110,
};

static void look_at(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	const struct gt_launch_shape *shape = heavy->shape;
	const gt_id device = heavy->total->device;
	const double blocks = (double)shape->grid_x * shape->grid_y * shape->grid_z;
	const double filled = blocks / heavy->device->sm_count;
	const uint64_t busy_ns = heavy->facts->busy[device].kernels.covered_ns;
	struct gt_advice_row *row;

	if (blocks == 0 || heavy->device->sm_count == 0 || filled * 100 > MOST_PERCENT ||
	    heavy->total->summed_ns / heavy->total->calls < LEAST_MEAN_NS ||
	    gt_is_share(heavy->facts->shapes.device_ns[device], busy_ns, MOST_BESIDE_PERCENT))
		return;
	row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"%s has %s %s for the %u multiprocessors of GPU %lld, and hardly anything ran "
		"beside it. More blocks, or kernels that do not need each other on several streams, "
		"would use the rest.",
		heavy->name, gt_grouped((uint64_t)blocks).text,
		gt_plural((uint64_t)blocks, "block", "blocks"), heavy->device->sm_count,
		gt_advice_gpu(heavy->facts, device));
	(void)gt_heavy_cite_time(heavy, row);
	gt_advice_cite(row, "kernels", "launch_shapes", "waves_per_sm",
	               heavy->occupancy.waves_per_sm, "%s",
	               gt_figure_real(heavy->occupancy.waves_per_sm).text);
	gt_heavy_gain(heavy, row, 1 - filled,
	              "time of the kernel, times the share of multiprocessors without a block");
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	gt_heavy_shapes(facts, advice, look_at);
}

const struct gt_advice_rule gt_advice_small_grids = {
	.name = "small_grids",
	.summary = "Kernels with fewer blocks than the GPU has multiprocessors",
	.report = "kernels",
	.of_recording = look,
};

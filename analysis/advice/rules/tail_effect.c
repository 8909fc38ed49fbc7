/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/advice.h"
#include "analysis/advice/heavy_shapes.h"
#include "model/gpu/occupancy.h"
#include "model/trace.h"

enum {
	MOST_WAVES = 10,    /* of more the last one is at most a tenth of the time */
	LEAST_PERCENT = 20, /* of the room for blocks in all waves: that is left empty */
};

/*
 * The last wave of blocks takes as long as the others if all blocks take equally long, however few
 * are in it. Clusters are placed together, which the waves do not tell.
 */
static void look_at(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	const double waves = heavy->occupancy.waves_per_sm;
	const double empty = gt_tail_share(waves);
	struct gt_advice_row *row;

	if (!(waves > 1 && waves < MOST_WAVES) || heavy->shape->cluster_x > 1 ||
	    empty * 100 < LEAST_PERCENT)
		return;
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "The blocks of %s fill GPU %lld %s times: in the last wave %s of the room "
	                "is empty. Blocks of another size, or as many as fit that take their work "
	                "one piece after the other, even that out.",
	                heavy->name, gt_advice_gpu(heavy->facts, heavy->total->device),
	                gt_figure_real(waves).text,
	                gt_figure_percent(gt_last_wave_empty_percent(waves)).text);
	(void)gt_heavy_cite_time(heavy, row);
	gt_advice_cite(row, "kernels", "launch_shapes", "waves_per_sm", waves, "%s",
	               gt_figure_real(waves).text);
	gt_heavy_gain(heavy, row, empty,
	              "time of the kernel, times 1 - waves / waves rounded up, if all blocks take "
	              "equally long");
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	gt_heavy_shapes(facts, advice, look_at);
}

const struct gt_advice_rule gt_advice_tail_effect = {
	.name = "tail_effect",
	.summary = "Kernels whose last wave of blocks leaves the GPU half empty",
	.report = "kernels",
	.of_recording = look,
};

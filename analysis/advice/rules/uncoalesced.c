/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/heavy_shapes.h"
#include "model/trace.h"

enum {
	/*
	 * Sectors of 32 bytes a warp's access touches: 4 of 4 bytes a thread in a row, 16 of 16
	 * bytes, the most that an instruction takes. With more than that it is not in a row.
	 */
	COALESCED_SECTORS = 16,
	ROW_SECTORS = 4,
	SECTORS_A_CYCLE = 4, /* that the L1 cache of a multiprocessor moves at best: 128 bytes */
	LEAST_PERCENT = 10,  /* of its cycles, for these sectors */
};

/*
 * Sectors that are in the L1 cache take its cycles. Those that are not wait for the L2 cache and
 * for device memory, which are used up long before that: device memory of an H200 moves 4.5 TB/s,
 * 14 percent of what the L1 caches do, and half of that where 32 of the 64 bytes it gives are asked
 * for.
 */
static bool is_worth_it(const struct gt_heavy *heavy, double sectors)
{
	return sectors / SECTORS_A_CYCLE * 100 >= gt_heavy_cycles(heavy) * LEAST_PERCENT ||
	       gt_heavy_uses_memory(heavy);
}

/* Loads or stores. */
struct accesses {
	const char *word;
	enum gt_shape_counter requests;
	enum gt_shape_counter sectors;
};

static void look_at_accesses(const struct gt_heavy *heavy, struct gt_advice *advice,
                             const struct accesses *accesses)
{
	const double sectors = gt_heavy_counter(heavy, accesses->sectors);
	const double each = sectors / gt_heavy_counter(heavy, accesses->requests);
	struct gt_advice_row *row;

	if (!(each > COALESCED_SECTORS) || isinf(each) || !is_worth_it(heavy, sectors))
		return;
	row = gt_advise(advice, GT_ADVICE_CHANGE,
	                "A %s of %s from global memory touches %s sectors of 32 bytes, mean of a "
	                "warp: threads side by side should use memory side by side, which takes 4 "
	                "of 4 bytes each and never more than 16.",
	                accesses->word, heavy->name, gt_figure_real(each).text);
	(void)gt_heavy_cite_time(heavy, row);
	gt_heavy_cite(heavy, row, accesses->requests);
	gt_heavy_cite(heavy, row, accesses->sectors);
	gt_heavy_gain(heavy, row, 1 - ROW_SECTORS / each,
	              "time of the kernel, times 1 - 4 / sectors of an access");
}

static void look_at(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	static const struct accesses loads = {"load", GT_SHAPE_global_load_requests,
	                                      GT_SHAPE_global_load_sectors};
	static const struct accesses stores = {"store", GT_SHAPE_global_store_requests,
	                                       GT_SHAPE_global_store_sectors};

	if (isnan(gt_heavy_counter(heavy, loads.sectors)))
		gt_advice_unasked(advice, GT_NO_MEMORY_COUNTERS);
	look_at_accesses(heavy, advice, &loads);
	look_at_accesses(heavy, advice, &stores);
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	gt_heavy_shapes(facts, advice, look_at);
}

const struct gt_advice_rule gt_advice_uncoalesced = {
	.name = "uncoalesced",
	.summary = "Kernels whose threads use memory that is not side by side",
	.report = "kernels",
	.of_recording = look,
};

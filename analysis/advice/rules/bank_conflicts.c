/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/heavy_shapes.h"
#include "model/trace.h"

enum { LEAST_PERCENT = 10 /* of the cycles in which its blocks were there */ };

/* Each conflict is one cycle more in which a multiprocessor's shared memory is taken. */
static void look_at(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	const double conflicts = gt_heavy_counter(heavy, GT_SHAPE_shared_load_conflicts) +
	                         gt_heavy_counter(heavy, GT_SHAPE_shared_store_conflicts);
	const double share = conflicts / gt_heavy_cycles(heavy);
	struct gt_advice_row *row;

	if (isnan(conflicts))
		gt_advice_unasked(advice, GT_NO_MEMORY_COUNTERS);
	if (!(share * 100 >= LEAST_PERCENT))
		return;
	row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"Bank conflicts take shared memory for %s of the cycles of %s: a padding of "
		"rows, or another order of addresses, lets the threads of a warp use "
		"different banks.",
		gt_figure_percent(fmin(100 * share, 100)).text, heavy->name);
	(void)gt_heavy_cite_time(heavy, row);
	gt_heavy_cite(heavy, row, GT_SHAPE_shared_load_conflicts);
	gt_heavy_cite(heavy, row, GT_SHAPE_shared_store_conflicts);
	gt_heavy_gain(heavy, row, fmin(share, 1),
	              "time of the kernel, times conflicts / cycles of all multiprocessors");
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	gt_heavy_shapes(facts, advice, look_at);
}

const struct gt_advice_rule gt_advice_bank_conflicts = {
	.name = "bank_conflicts",
	.summary = "Kernels whose threads get into each other's way in shared memory",
	.report = "kernels",
	.of_recording = look,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/heavy_shapes.h"
#include "model/trace.h"

enum {
	LEAST_PERCENT = 10, /* of the sectors of global and local memory */
	/* Without counters: a few bytes are arguments of functions, and arrays of a thread. */
	LEAST_BYTES = 64,
	LEAST_KERNEL_PERCENT = 10, /* likewise: of the time of kernels */
};

static double sum_of(const struct gt_heavy *heavy, enum gt_shape_counter a, enum gt_shape_counter b)
{
	return gt_heavy_counter(heavy, a) + gt_heavy_counter(heavy, b);
}

/* Local bytes of a thread; 0: none, or not known. */
static uint64_t local_bytes(const struct gt_heavy *heavy)
{
	return heavy->shape->local_known ? heavy->shape->local_per_thread_bytes : 0;
}

static struct gt_advice_row *cite(const struct gt_heavy *heavy, struct gt_advice_row *row)
{
	(void)gt_heavy_cite_time(heavy, row);
	if (local_bytes(heavy) > 0)
		gt_advice_cite(row, "kernels", "launch_shapes", "local_bytes",
		               (double)local_bytes(heavy), "%s",
		               gt_figure_binary((int64_t)local_bytes(heavy)).text);
	return row;
}

static void say_measured(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	const double local =
		sum_of(heavy, GT_SHAPE_local_load_sectors, GT_SHAPE_local_store_sectors);
	const double global =
		sum_of(heavy, GT_SHAPE_global_load_sectors, GT_SHAPE_global_store_sectors);
	struct gt_advice_row *row;

	if (local <= 0 || local * 100 < (local + global) * LEAST_PERCENT)
		return;
	row = cite(heavy,
	           gt_advise(advice, GT_ADVICE_CHANGE,
	                     "%s of what %s loads and stores in global and local memory is local: "
	                     "registers that were spilled (it has %u), or arrays of a thread that "
	                     "are indexed at run time. Fewer values alive at a time, or a larger "
	                     "limit of registers (__launch_bounds__), avoid that.",
	                     gt_figure_percent(100 * local / (local + global)).text, heavy->name,
	                     heavy->shape->registers));
	gt_heavy_cite(heavy, row, GT_SHAPE_local_load_sectors);
	gt_heavy_cite(heavy, row, GT_SHAPE_local_store_sectors);
}

static void look_at(const struct gt_heavy *heavy, struct gt_advice *advice)
{
	static const enum gt_shape_counter wanted[] = {GT_SHAPE_local_load_sectors,
	                                               GT_SHAPE_local_store_sectors,
	                                               GT_SHAPE_global_load_sectors,
	                                               GT_SHAPE_global_store_sectors};
	const uint64_t bytes = local_bytes(heavy);

	/* Only kept modules say how much local memory launches on an H200 have: what is used of it
	 * counters do. */
	if (gt_shape_measured(heavy->total, wanted, GT_COUNT_OF(wanted)))
		say_measured(heavy, advice);
	else
		gt_advice_unasked(advice, GT_NO_MEMORY_COUNTERS);
	if (isnan(gt_heavy_counter(heavy, GT_SHAPE_local_load_sectors)) && bytes >= LEAST_BYTES &&
	    gt_heavy_has_share(heavy, LEAST_KERNEL_PERCENT))
		(void)cite(
			heavy,
			gt_advise(advice, GT_ADVICE_MEASURE,
		                  "A thread of %s has %s of local memory, for registers that were "
		                  "spilled (it has %u) or for arrays: run "
		                  "--kernel-counters=memory tells how much it is used.",
		                  heavy->name, gt_figure_binary((int64_t)bytes).text,
		                  heavy->shape->registers));
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	gt_heavy_shapes(facts, advice, look_at);
}

const struct gt_advice_rule gt_advice_spills = {
	.name = "spills",
	.summary = "Kernels that keep registers in memory",
	.report = "kernels",
	.of_recording = look,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/occupancy/tables.h"

#include <math.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "base/units.h"
#include "model/naming/shape_names.h"

static const struct gt_heading change_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"grid", GT_UNIT_TEXT, "Blocks of the grid: x, y, z", GT_WORTH_LITTLE},
	{"block", GT_UNIT_TEXT, "Threads of a block: x, y, z", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Time of the executions with this launch shape", GT_WORTH_KEY},
	{"limited_by", GT_UNIT_TEXT, "The limit on blocks as it is", GT_WORTH_ORDINARY},
	{"occupancy_percent", GT_UNIT_PERCENT, "Theoretical occupancy as it is", GT_WORTH_KEY},
	{"raised_percent", GT_UNIT_PERCENT, "Theoretical occupancy with the change", GT_WORTH_KEY},
	{"blocks_per_sm", GT_UNIT_COUNT, "Blocks that fit on a multiprocessor as it is",
         GT_WORTH_LITTLE},
	{"raised_blocks_per_sm", GT_UNIT_COUNT, "Blocks that fit with the change", GT_WORTH_LITTLE},
	{"raised_limited_by", GT_UNIT_TEXT, "The limit on blocks then", GT_WORTH_LITTLE},
	{"raise", GT_UNIT_TEXT,
         "The change: the most registers or shared memory, a configuration, or another block",
         GT_WORTH_KEY},
	{"how", GT_UNIT_TEXT,
         "Setting that asks for it; nothing where the source has to be changed",
         GT_WORTH_LESSER_NAME},
	{"raised_registers", GT_UNIT_COUNT,
         "Registers of a thread; not known, here and below: as it is", GT_WORTH_DATA},
	{"raised_shared_bytes", GT_UNIT_BINARY_BYTES,
         "Shared memory of a block, declared and asked for", GT_WORTH_DATA},
	{"raised_configured_bytes", GT_UNIT_BINARY_BYTES,
         "Shared memory that the multiprocessor is configured to have", GT_WORTH_DATA},
	{"raised_threads", GT_UNIT_COUNT, "Threads of a block", GT_WORTH_DATA},
};

void gt_occupancy_add_change(struct gt_result *result, const struct gt_occupancy_change *change)
{
	const struct gt_figure shared = gt_figure_binary((int64_t)change->shared_bytes);

	if (change->configured_bytes)
		gt_result_add_format(result, "%s configured",
		                     gt_figure_binary((int64_t)change->configured_bytes).text);
	else if (change->threads)
		gt_result_add_format(result, "blocks of %u", change->threads);
	else if (change->registers && change->shared_bytes)
		gt_result_add_format(result, "%u registers, %s shared", change->registers,
		                     shared.text);
	else if (change->registers)
		gt_result_add_format(result, "%u registers", change->registers);
	else
		gt_result_add_format(result, "%s shared", shared.text);
}

static void add_how(struct gt_result *result, const struct gt_device *device,
                    const struct gt_launch_shape *shape, const struct gt_occupancy_change *change)
{
	if (change->configured_bytes)
		gt_result_add_format(result,
		                     "cudaFuncAttributePreferredSharedMemoryCarveout of %.0f",
		                     ceil(100 * (double)change->configured_bytes /
		                          (double)device->shared_per_sm_bytes));
	else if (change->registers)
		gt_result_add_format(result, "__launch_bounds__(%u, %u) or -maxrregcount=%u",
		                     shape->block_x * shape->block_y * shape->block_z,
		                     change->becomes.blocks_per_sm, change->registers);
	else
		gt_result_add_unknown(result);
}

/* The same for programs; 0 stands for what stays as it is. */
static void add_figures(struct gt_result *result, const struct gt_occupancy_change *change)
{
	gt_result_add_count_if(result, change->registers > 0, change->registers);
	gt_result_add_count_if(result, change->shared_bytes > 0, (int64_t)change->shared_bytes);
	gt_result_add_count_if(result, change->configured_bytes > 0,
	                       (int64_t)change->configured_bytes);
	gt_result_add_count_if(result, change->threads > 0, change->threads);
}

static void add_changes_of(struct gt_result *result, const struct gt_occupancy_tally *tally,
                           const struct gt_occupancy_launch *launch)
{
	const struct gt_launch_use *use = launch->use;
	const struct gt_launch_shape *shape = &tally->trace->launch_shapes.rows[use->shape];
	const struct gt_device device = gt_launch_use_device(tally->trace, use);

	for (size_t i = 0; i < launch->change_count; i++) {
		const struct gt_occupancy_change *change = &launch->changes[i];

		gt_result_add_text(result, gt_shape_name(tally->trace, use->shape));
		gt_add_size(result, shape->grid_x, shape->grid_y, shape->grid_z);
		gt_add_size(result, shape->block_x, shape->block_y, shape->block_z);
		gt_result_add_count(result, (int64_t)use->total_ns);
		gt_result_add_text(result, gt_occupancy_limit_name(launch->occupancy.limit));
		gt_result_add_real(result, launch->occupancy.percent);
		gt_result_add_real(result, change->becomes.percent);
		gt_result_add_count(result, launch->occupancy.blocks_per_sm);
		gt_result_add_count(result, change->becomes.blocks_per_sm);
		gt_result_add_text(result, gt_occupancy_limit_name(change->becomes.limit));
		gt_occupancy_add_change(result, change);
		add_how(result, &device, shape, change);
		add_figures(result, change);
	}
}

void gt_occupancy_add_changes(struct gt_result *result, const struct gt_occupancy_tally *tally)
{
	gt_result_begin(result, "changes", change_headings, GT_COUNT_OF(change_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < tally->uses.count; i++)
		if (tally->uses.rows[i].calls)
			add_changes_of(result, tally, &tally->launches[i]);
}

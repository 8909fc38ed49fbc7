/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/operation_totals.h"

#include "analysis/ranges/operation_parts.h"
#include "base/strings.h"
#include "model/ranges/projection.h"

static void add_idle(struct gt_operation_totals *totals)
{
	struct gt_projection each;

	gt_projection_init(&each, &totals->ranges, GT_PROJECT_DEVICES, NULL, 0);
	gt_array_each(const struct gt_projected, part, &each.rows)
		if (totals->scopes[part->group].group != GT_NONE)
			totals->rows.rows[totals->scopes[part->group].group].idle_ns +=
				part->idle_ns;
	gt_projection_release(&each);
}

void gt_operation_totals_init(struct gt_operation_totals *totals, const struct gt_trace *trace,
                              bool by_sizes)
{
	*totals = (struct gt_operation_totals){
		.trace = trace,
		.by_sizes = by_sizes,
		.keys = gt_strings_new(),
		.words = gt_strings_new(),
	};
	gt_ranges_init(&totals->ranges, trace);
	gt_operations_group_ranges(totals);
	gt_operations_add_work(totals);
	gt_operations_add_host(totals);
	add_idle(totals);
}

void gt_operation_totals_release(struct gt_operation_totals *totals)
{
	gt_ranges_release(&totals->ranges);
	gt_strings_free(totals->keys);
	gt_strings_free(totals->words);
	gt_array_release(&totals->rows);
	gt_array_free(totals->scopes);
}

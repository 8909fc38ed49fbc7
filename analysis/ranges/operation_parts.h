/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_RANGES_OPERATION_PARTS_H
#define GT_ANALYSIS_RANGES_OPERATION_PARTS_H

#include <stddef.h>

#include "analysis/ranges/operation_totals.h"

/* Shared by the parts of gt_operation_totals; nobody else includes it. */

/* The row of its kind, direction, around, name and kernel; made where there is none. */
gt_id gt_operation_row(struct gt_operation_totals *totals, const struct gt_operation_total *of);

/* The same of one that has neither a kernel nor sizes. */
gt_id gt_operation_plain_row(struct gt_operation_totals *totals, enum gt_operation_kind kind,
                             enum gt_direction direction, const char *around, const char *name);

/* "": there is no such row. */
static inline const char *gt_operation_name(const struct gt_operation_totals *totals, gt_id row)
{
	return row == GT_NONE ? "" : totals->rows.rows[row].name;
}

/* So many of GT_NONE, and one more; to be freed with gt_array_free. */
gt_id *gt_operation_new_ids(size_t count);

/* Makes scopes: which row each range is of. */
void gt_operations_group_ranges(struct gt_operation_totals *totals);

/* Adds kernels, copies and fills to the rows that they belong to, and calls. */
void gt_operations_add_work(struct gt_operation_totals *totals);

/* Adds the time that ranges took on their threads to the rows. */
void gt_operations_add_host(struct gt_operation_totals *totals);

/* Work in one launch of a graph that one range had captured. */
struct gt_operation_run {
	gt_id range;
	gt_id api_call; /* of the launch */
	uint64_t duration_ns;
};

/* Work that ran for ranges. */
struct gt_operation_work {
	const uint64_t *of_range; /* GPU time by row of ranges, without what graphs ran */
	const struct gt_operation_run *runs;
	size_t run_count;
};

struct gt_operation_call {
	gt_id group;
	uint64_t duration_ns; /* on the GPU, with what is inside */
	uint64_t wall_ns;     /* of the parts of a module in backward, on the host */
};

struct gt_operation_calls {
	gt_array(struct gt_operation_call) list;
};

/* Whether a range is a part of a module that autograd ran. */
bool gt_operation_is_part(const struct gt_operation_totals *totals, gt_id range);

/*
 * The calls of modules in backward, which their ranges are parts of, and the time that these rows
 * include. Modules that have no parts of their own, but some inside, get a row.
 */
void gt_operations_call_backward(struct gt_operation_totals *totals,
                                 const struct gt_operation_work *work,
                                 struct gt_operation_calls *calls);

#endif

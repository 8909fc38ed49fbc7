/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_OPERATION_PARTS_H
#define GT_ANALYSIS_OPERATION_PARTS_H

#include <stddef.h>

#include "analysis/operation_totals.h"

/* What the parts of gt_operation_totals share; nobody else includes it. */

/* The row of its kind, direction, around, name and kernel; made where there is none. */
gt_id gt_operation_row(struct gt_operation_totals *totals, const struct gt_operation_total *of);

/* The same of one that has no kernel. */
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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_VIEW_CHOSEN_H
#define GT_MODEL_VIEW_CHOSEN_H

#include <stdbool.h>
#include <stddef.h>

#include "model/trace.h"
#include "model/view/range_choice.h"

struct gt_filter;

/*
 * Which rows of a trace a filter leaves, table by table: the rules of gt_view_cut. Nothing is
 * changed by finding out.
 */

/* from <= start < to; INT64_MIN and INT64_MAX where it is open. */
struct gt_window {
	gt_time from_ns;
	gt_time to_ns;
	bool given; /* false: all there is, also what has no time */
};

struct gt_chosen {
	bool *stays[GT_TABLE_COUNT]; /* by row */
	size_t counts[GT_TABLE_COUNT];
	bool by_work; /* devices, streams, kernels or ranges are chosen */
	bool *around; /* by row of ranges: stays for the paths of others alone */
	bool *named;  /* by row of devices: stays for copies that name it alone */
	struct gt_range_choice ranges;
};

void gt_chosen_init(struct gt_chosen *chosen, const struct gt_trace *trace,
                    const struct gt_filter *filter, const struct gt_window *window);
void gt_chosen_release(struct gt_chosen *chosen);

static inline bool gt_chosen_stays(const struct gt_chosen *chosen, size_t table, size_t row)
{
	return chosen->stays[table] && chosen->stays[table][row];
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_WHOLE_H
#define GT_MODEL_WHOLE_H

#include <stdbool.h>

#include "model/trace.h"

/*
 * All that happened, beside what a filter left to be shown. A filter chooses rows; how busy or idle
 * a GPU was, what it waited for, and the critical path are questions about all that happened
 * (docs/terms.md).
 */

struct gt_whole {
	struct gt_trace trace; /* before the filter, without series; it borrows its strings */
	gt_id *shown[GT_TABLE_COUNT];   /* by row of that trace: the row that is left, or GT_NONE */
	gt_id *origins[GT_TABLE_COUNT]; /* by row that is left: its row of that trace */
};

/*
 * The trace with all that happened: trace itself where no filter took rows out of it. Rows have
 * other numbers in it; strings are the same. It lives as long as the trace.
 */
const struct gt_trace *gt_whole_of(const struct gt_trace *trace);

/* The row of the trace that a row of gt_whole_of(trace) is; GT_NONE: the filter took it out. */
gt_id gt_whole_shown(const struct gt_trace *trace, int table, gt_id row);

/* The other way round: the row of gt_whole_of(trace) that a row of the trace is. */
gt_id gt_whole_origin(const struct gt_trace *trace, int table, gt_id row);

/* Frees it; NULL is fine. */
void gt_whole_free(struct gt_whole *whole);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_TIMELINE_MEMORY_PICKED_H
#define GT_EXPORTERS_TIMELINE_MEMORY_PICKED_H

#include <stdbool.h>
#include <stddef.h>

#include "model/trace.h"

/* Which allocations, or blocks of pools, a timeline marks where it cannot mark all. */

/* Facts that decide whether one row is marked. */
struct gt_memory_span {
	gt_time begin_ns;
	gt_time end_ns;  /* INT64_MAX: it was not freed */
	gt_time peak_ns; /* when most was in use of what it is counted with */
	gt_size size_bytes;
	bool in_view; /* its begin or its end is: else it has no mark */
};

typedef struct gt_memory_span gt_memory_span_of(const void *context, gt_id row);

/* Whether it is there at the peak. */
bool gt_memory_span_has_peak(const struct gt_memory_span *span);

/*
 * By row, true for those with marks, as GT_MEMORY_MARKED_ALL and GT_MEMORY_MARKED_MOST of
 * exporters/timeline/memory_shown.h say: of rows of one size the earlier ones. To be freed with
 * gt_array_free.
 */
bool *gt_memory_pick(size_t count, gt_memory_span_of *span_of, const void *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_ALLOCATIONS_H
#define GT_MODEL_ALLOCATIONS_H

#include <stdbool.h>

#include "model/trace.h"

/* When rows of allocations, pool_blocks and device_rings were there. All times are the trace's. */

/*
 * From when an allocation, a row of the trace, was there: from the return of the call that made it,
 * where that was recorded, before which nobody had its address.
 */
gt_time gt_memory_begin(const struct gt_trace *trace, const struct gt_allocation *allocation);

/* Whether it was there at a moment; of a block whether it was handed out. */
bool gt_memory_is_there(const struct gt_trace *trace, const struct gt_allocation *allocation,
                        gt_time at_ns);
bool gt_memory_block_is_out(const struct gt_pool_block *block, gt_time at_ns);

/*
 * Memory of a GPU that rings of device events, gputrace's own, took at a moment: those of a
 * process, or, GT_NONE, of all.
 */
gt_size gt_memory_of_rings(const struct gt_trace *trace, gt_id process, gt_id device,
                           gt_time at_ns);

#endif

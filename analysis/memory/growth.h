/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_GROWTH_H
#define GT_ANALYSIS_MEMORY_GROWTH_H

#include <stdint.h>

#include "base/array.h"
#include "model/ranges/ranges.h"
#include "model/trace.h"

struct gt_view;

/*
 * Effect of ranges of NVTX on memory in use: by how much it rises while they are open, and what was
 * asked for inside and is still there at their end. Counted for all that is on a GPU by CUDA's
 * calls, and for the blocks of each pool, in the range's process.
 */
struct gt_memory_growth {
	gt_id path;
	gt_id device;
	gt_id pool; /* whose blocks; GT_NONE: allocations on the device */
	gt_id process;
	uint64_t ranges; /* that began */
	uint64_t asked;  /* allocations or blocks that were asked for inside */
	uint64_t asked_bytes;
	uint64_t kept; /* of these, there at the end of the range */
	uint64_t kept_bytes;
	uint64_t peak_bytes; /* most that was in use while one was open */
	uint64_t rise_bytes; /* most that this was above what was in use when it began */
};

struct gt_memory_growths {
	gt_array(struct gt_memory_growth) rows; /* what keeps most first, then what rises most */
};

/* Memory of a view; ranges are of its trace. */
void gt_memory_growths_init(struct gt_memory_growths *growths, const struct gt_view *view,
                            const struct gt_ranges *ranges);
void gt_memory_growths_release(struct gt_memory_growths *growths);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_OCCUPANCY_CHANGES_H
#define GT_MODEL_GPU_OCCUPANCY_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "model/gpu/occupancy.h"

/*
 * Changes that let more of a launch be resident on a multiprocessor, by the calculator of
 * model/gpu/occupancy.h. Blocks come and go whole, so only changes that are large enough for one
 * more count. The launch alone does not tell their effect on time.
 */
enum gt_change_kind {
	GT_CHANGE_CONFIGURATION, /* shared memory that the level-1 cache has now */
	GT_CHANGE_USE,           /* fewer registers of a thread, less shared memory of a block */
	GT_CHANGE_BLOCK,         /* blocks of another size, each with the same shared memory */
};

struct gt_occupancy_change {
	enum gt_change_kind kind;
	uint32_t registers;          /* of a thread at most; 0: as they are */
	uint64_t shared_bytes;       /* of a block at most, static and dynamic; 0: as it is */
	uint64_t configured_bytes;   /* of the multiprocessor at least; 0: as it is */
	uint32_t threads;            /* of a block; 0: as they are */
	struct gt_occupancy becomes; /* with the change; of waves: as many threads in all */
};

/* The configuration, the least and the largest use that helps, and the block. */
enum { GT_OCCUPANCY_CHANGES = 4 };

/*
 * Fills in the changes there are, in the order of the kinds, and returns how many. None where the
 * occupancy is not known or full.
 */
size_t gt_occupancy_changes(const struct gt_device *device, const struct gt_launch_shape *shape,
                            struct gt_occupancy_change changes[GT_OCCUPANCY_CHANGES]);

#endif

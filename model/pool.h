/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_POOL_H
#define GT_MODEL_POOL_H

/* Where the memory of a pool is, column "place" of pools: as include/gputrace/gputrace.h has it. */
enum gt_pool_place {
	GT_POOL_DEVICE,
	GT_POOL_PINNED,
	GT_POOL_MANAGED,
	GT_POOL_HOST,
};

/* Who told of it, column "teller"; CUDA's own pools are told of by nobody in that header. */
enum gt_pool_teller {
	GT_POOL_OF_PROGRAM,
	GT_POOL_OF_PYTORCH,
	GT_POOL_OF_JAX,
	GT_POOL_OF_CUDA,
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_GPU_POOL_H
#define GT_REPLAY_GPU_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "include/gputrace/gputrace.h"
#include "replay/gpu/gpu.h"

/*
 * A pool of memory of the GPU, or of pinned memory of the host: few large segments from CUDA, out
 * of which blocks are handed. It tells gputrace of itself (gputrace.h), where somebody records. For
 * the thread of its GPU; memory goes back to CUDA when that is closed.
 */
struct gt_pool {
	struct gt_gpu *gpu;
	bool pinned;
	uint64_t id;                           /* gputrace's; 0: nobody records */
	gt_array(struct gt_pool_block) blocks; /* all bytes of all segments, by address */
	struct gputrace_pool_stats stats;
};

/* Bytes side by side in a segment that are all in use, or all free. */
struct gt_pool_block {
	CUdeviceptr address;
	uint64_t bytes;
	uint64_t requested; /* 0: free */
	uint32_t segment;
};

void gt_pool_init(struct gt_pool *pool, struct gt_gpu *gpu, bool pinned, const char *name);
void gt_pool_release(struct gt_pool *pool);

/* A block of at least so many bytes, 0 counts as 1, aligned to 512: the smallest that fits. */
int gt_pool_alloc(struct gt_pool *pool, uint64_t bytes, CUdeviceptr *address, struct gt_error *err);

/* A block that was handed out; the GPU may no longer use it. -EINVAL: it is none. */
int gt_pool_free(struct gt_pool *pool, CUdeviceptr address, struct gt_error *err);

#endif

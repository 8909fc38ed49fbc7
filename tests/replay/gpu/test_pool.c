/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu/pool.h"

#include <errno.h>

#include "base/error.h"
#include "support/check.h"

/* On the fake driver. */
struct filled {
	struct gt_cuda cuda;
	struct gt_gpu gpu;
	struct gt_pool pool;
	CUdeviceptr blocks[3]; /* 1024 bytes each */
};

static void fill(struct filled *filled)
{
	struct gt_error err = {0};

	cr_assert(eq(int, gt_cuda_open(&filled->cuda, &err), 0), "%s", err.text);
	cr_assert(eq(int, gt_gpu_open(&filled->gpu, &filled->cuda, 0, &err), 0), "%s", err.text);
	gt_pool_init(&filled->pool, &filled->gpu, false, "test");
	for (int i = 0; i < 3; i++)
		cr_assert(eq(int, gt_pool_alloc(&filled->pool, 1024, &filled->blocks[i], &err), 0));
}

static void empty(struct filled *filled)
{
	gt_pool_release(&filled->pool);
	gt_gpu_close(&filled->gpu);
}

Test(pool, hands_out_blocks_of_one_segment_side_by_side)
{
	struct filled filled;

	fill(&filled);
	cr_expect(eq(u64, filled.blocks[1], filled.blocks[0] + 1024));
	cr_expect(eq(u64, filled.blocks[2], filled.blocks[1] + 1024));
	cr_expect(eq(u64, filled.pool.stats.num_segments, 1));
	cr_expect(eq(u64, filled.pool.stats.num_splits, 3));
	empty(&filled);
}

Test(pool, uses_the_smallest_hole_that_fits)
{
	CUdeviceptr again = 0;
	struct filled filled;

	fill(&filled);
	cr_assert(eq(int, gt_pool_free(&filled.pool, filled.blocks[1], NULL), 0));
	cr_assert(eq(int, gt_pool_alloc(&filled.pool, 600, &again, NULL), 0));
	cr_expect(eq(u64, again, filled.blocks[1]));
	empty(&filled);
}

/* The first hole is of 2048 bytes, the second of 1024. */
Test(pool, leaves_a_larger_hole_before_it_alone)
{
	CUdeviceptr behind[2] = {0};
	CUdeviceptr again = 0;
	struct filled filled;

	fill(&filled);
	for (int i = 0; i < 2; i++)
		cr_assert(eq(int, gt_pool_alloc(&filled.pool, 1024, &behind[i], NULL), 0));
	for (int i = 0; i < 2; i++)
		cr_assert(eq(int, gt_pool_free(&filled.pool, filled.blocks[i], NULL), 0));
	cr_assert(eq(int, gt_pool_free(&filled.pool, behind[0], NULL), 0));
	cr_assert(eq(int, gt_pool_alloc(&filled.pool, 600, &again, NULL), 0));
	cr_expect(eq(u64, again, behind[0]));
	empty(&filled);
}

Test(pool, puts_what_is_free_side_by_side_together)
{
	struct filled filled;

	fill(&filled);
	for (int i = 0; i < 3; i++)
		cr_assert(eq(int, gt_pool_free(&filled.pool, filled.blocks[(i + 1) % 3], NULL), 0));
	cr_expect(eq(sz, filled.pool.blocks.count, 1));
	cr_expect(eq(u64, filled.pool.stats.largest_free_block, filled.pool.stats.bytes_reserved));
	cr_expect(eq(u64, filled.pool.stats.bytes_in_use, 0));
	cr_expect(eq(u64, filled.pool.stats.peak_bytes_in_use, 3072));
	empty(&filled);
}

Test(pool, takes_a_segment_of_its_own_for_a_large_block)
{
	CUdeviceptr large = 0;
	struct filled filled;

	fill(&filled);
	cr_assert(eq(int, gt_pool_alloc(&filled.pool, 100 << 20, &large, NULL), 0));
	cr_expect(eq(u64, filled.pool.stats.num_segments, 2));
	cr_expect(eq(u64, filled.pool.stats.num_reserve_calls, 2));
	cr_expect(eq(u64, filled.pool.stats.largest_alloc, 100 << 20));
	empty(&filled);
}

/* Two pieces of memory that the driver gave: one block cannot reach from the one into the other. */
Test(pool, keeps_segments_apart)
{
	CUdeviceptr segments[2] = {0};
	struct filled filled;

	fill(&filled);
	for (int i = 0; i < 2; i++)
		cr_assert(eq(int, gt_pool_alloc(&filled.pool, 64 << 20, &segments[i], NULL), 0));
	for (int i = 0; i < 2; i++)
		cr_assert(eq(int, gt_pool_free(&filled.pool, segments[i], NULL), 0));
	cr_expect(eq(u64, filled.pool.stats.num_segments, 3));
	cr_expect(eq(u64, filled.pool.stats.largest_free_block, 64 << 20));
	empty(&filled);
}

Test(pool, refuses_what_it_did_not_hand_out)
{
	struct filled filled;

	fill(&filled);
	cr_expect(eq(int, gt_pool_free(&filled.pool, filled.blocks[0] + 512, NULL), -EINVAL));
	cr_assert(eq(int, gt_pool_free(&filled.pool, filled.blocks[0], NULL), 0));
	cr_expect(eq(int, gt_pool_free(&filled.pool, filled.blocks[0], NULL), -EINVAL));
	empty(&filled);
}

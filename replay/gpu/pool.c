/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu/pool.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#define ALIGNMENT     ((uint64_t)512)
#define SEGMENT_BYTES ((uint64_t)32 << 20) /* that are asked of CUDA at least */

/* As gputrace.h has addresses. */
static const void *told_address(CUdeviceptr address)
{
	return (const void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void gt_pool_init(struct gt_pool *pool, struct gt_gpu *gpu, bool pinned, const char *name)
{
	const struct gputrace_pool told = {
		.struct_size = sizeof(told),
		.name = name,
		.place = pinned ? GPUTRACE_POOL_PINNED : GPUTRACE_POOL_DEVICE,
		.device = pinned ? -1 : gpu->ordinal,
	};
	struct gputrace_pool_stats *stats = &pool->stats;

	*pool = (struct gt_pool){.gpu = gpu, .pinned = pinned};
	pool->id = gputrace_pool_create(&told);
	gputrace_pool_stats_init(stats);
	stats->num_allocs = stats->num_frees = stats->bytes_in_use = stats->bytes_requested = 0;
	stats->peak_bytes_in_use = stats->largest_alloc = stats->bytes_reserved = 0;
	stats->peak_bytes_reserved = stats->largest_free_block = stats->cached = stats->free = 0;
	stats->num_segments = stats->num_reserve_calls = stats->num_splits = 0;
	stats->num_trims = stats->num_failed = 0;
}

void gt_pool_release(struct gt_pool *pool)
{
	gputrace_pool_destroy(pool->id);
	gt_array_release(&pool->blocks);
	pool->id = 0;
}

/* Updates figures that follow from the blocks. */
static void update(struct gt_pool *pool)
{
	struct gputrace_pool_stats *stats = &pool->stats;

	stats->largest_free_block = 0;
	gt_array_each(const struct gt_pool_block, block, &pool->blocks)
		if (!block->requested)
			stats->largest_free_block =
				most_of(stats->largest_free_block, block->bytes);
	stats->cached = stats->free = stats->bytes_reserved - stats->bytes_in_use;
	stats->peak_bytes_in_use = most_of(stats->peak_bytes_in_use, stats->bytes_in_use);
	gputrace_pool_stats_push(pool->id, stats);
}

static struct gt_pool_block *insert(struct gt_pool *pool, size_t at, struct gt_pool_block block)
{
	(void)gt_array_push(&pool->blocks);
	memmove(&pool->blocks.rows[at + 1], &pool->blocks.rows[at],
	        (pool->blocks.count - 1 - at) * sizeof(block));
	pool->blocks.rows[at] = block;
	return &pool->blocks.rows[at];
}

static struct gt_pool_block *smallest_that_fits(const struct gt_pool *pool, uint64_t bytes)
{
	struct gt_pool_block *found = NULL;

	gt_array_each(struct gt_pool_block, block, &pool->blocks)
		if (!block->requested && block->bytes >= bytes &&
		    (!found || block->bytes < found->bytes))
			found = block;
	return found;
}

static int take(struct gt_pool *pool, uint64_t bytes, CUdeviceptr *address, struct gt_error *err)
{
	void *host = NULL;
	int result;

	if (!pool->pinned)
		return gt_gpu_alloc(pool->gpu, bytes, address, err);
	result = gt_gpu_alloc_pinned(pool->gpu, bytes, &host, err);
	*address = (CUdeviceptr)(uintptr_t)host;
	return result;
}

static int add_segment(struct gt_pool *pool, uint64_t bytes, struct gt_error *err)
{
	const uint64_t size = most_of(bytes, SEGMENT_BYTES);
	struct gt_pool_block block = {.bytes = size, .segment = (uint32_t)pool->stats.num_segments};
	int result;
	size_t at = 0;

	pool->stats.num_reserve_calls++;
	result = take(pool, size, &block.address, err);
	if (result < 0)
		return result;
	while (at < pool->blocks.count && pool->blocks.rows[at].address < block.address)
		at++;
	(void)insert(pool, at, block);
	pool->stats.num_segments++;
	pool->stats.bytes_reserved += size;
	pool->stats.peak_bytes_reserved =
		most_of(pool->stats.peak_bytes_reserved, pool->stats.bytes_reserved);
	return 0;
}

/* The unneeded part of a free block becomes one of its own. */
static void split(struct gt_pool *pool, struct gt_pool_block *block, uint64_t bytes)
{
	const size_t at = (size_t)(block - pool->blocks.rows);
	struct gt_pool_block rest = *block;

	if (block->bytes == bytes)
		return;
	rest.address += bytes;
	rest.bytes -= bytes;
	block->bytes = bytes;
	(void)insert(pool, at + 1, rest);
	pool->stats.num_splits++;
}

int gt_pool_alloc(struct gt_pool *pool, uint64_t bytes, CUdeviceptr *address, struct gt_error *err)
{
	const uint64_t requested = bytes ? bytes : 1;
	const uint64_t rounded = (requested + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct gt_pool_block *block = smallest_that_fits(pool, rounded);
	size_t at;

	if (!block) {
		const int result = add_segment(pool, rounded, err);

		pool->stats.num_failed += result < 0;
		if (result < 0)
			return result;
		block = smallest_that_fits(pool, rounded);
	}
	at = (size_t)(block - pool->blocks.rows);
	split(pool, block, rounded);
	block = &pool->blocks.rows[at];
	block->requested = requested;
	*address = block->address;
	gputrace_block_alloc_on(pool->id, told_address(*address), rounded, requested,
	                        GPUTRACE_NO_STREAM); // NOLINT(performance-no-int-to-ptr)
	pool->stats.num_allocs++;
	pool->stats.bytes_in_use += rounded;
	pool->stats.bytes_requested += requested;
	pool->stats.largest_alloc = most_of(pool->stats.largest_alloc, rounded);
	update(pool);
	return 0;
}

/* Takes the block after it into a free one, where that is free and of its segment. */
static void join(struct gt_pool *pool, size_t at)
{
	struct gt_pool_block *block = &pool->blocks.rows[at];

	if (at + 1 >= pool->blocks.count || block->requested || block[1].requested ||
	    block[1].segment != block->segment)
		return;
	block->bytes += block[1].bytes;
	memmove(&block[1], &block[2], (pool->blocks.count - at - 2) * sizeof(*block));
	pool->blocks.count--;
}

int gt_pool_free(struct gt_pool *pool, CUdeviceptr address, struct gt_error *err)
{
	struct gt_pool_block *block = NULL;
	size_t at;

	gt_array_each(struct gt_pool_block, it, &pool->blocks)
		if (it->address == address && it->requested)
			block = it;
	if (!block)
		return gt_fail(err, EINVAL, "no block of the pool begins at 0x%llx",
		               (unsigned long long)address);
	gputrace_block_free(pool->id, told_address(address));
	pool->stats.num_frees++;
	pool->stats.bytes_in_use -= block->bytes;
	pool->stats.bytes_requested -= block->requested;
	block->requested = 0;
	at = (size_t)(block - pool->blocks.rows);
	join(pool, at);
	if (at > 0)
		join(pool, at - 1);
	update(pool);
	return 0;
}

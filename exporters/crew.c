/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/crew.h"

#include <sched.h>

#include "base/array.h"

enum { BLOCKS_MAX = 5 }; /* four threads compress as fast as one writes */

/* Processors that this process may use. */
static size_t processor_count(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

int gt_crew_init(struct gt_crew *crew, enum gt_compression kind, size_t block_size,
                 struct gt_error *err)
{
	const size_t processors = processor_count();
	int result = 0;

	*crew = (struct gt_crew){.count = processors < BLOCKS_MAX ? processors : BLOCKS_MAX};
	crew->blocks = gt_allocate(crew->count * sizeof(*crew->blocks));
	for (size_t i = 0; i < crew->count; i++)
		crew->blocks[i] = (struct gt_block){.lock = PTHREAD_MUTEX_INITIALIZER,
		                                    .changed = PTHREAD_COND_INITIALIZER};
	for (size_t i = 0; i < crew->count && result == 0; i++) {
		crew->blocks[i].bytes = gt_allocate(block_size);
		result = gt_compressor_init(&crew->blocks[i].compressor, kind, block_size, err);
	}
	if (result < 0)
		gt_crew_release(crew);
	return result;
}

uint8_t *gt_crew_block(struct gt_crew *crew)
{
	return crew->blocks[crew->at].bytes;
}

static void pack(struct gt_block *block)
{
	block->packed = gt_compressor_pack(&block->compressor, block->bytes, block->size);
}

static void set_state(struct gt_block *block, enum gt_block_state state)
{
	pthread_mutex_lock(&block->lock);
	block->state = state;
	pthread_cond_signal(&block->changed);
	pthread_mutex_unlock(&block->lock);
}

/* Returns when the block is in one of two states: which of them. */
static enum gt_block_state wait_for(struct gt_block *block, enum gt_block_state one,
                                    enum gt_block_state other)
{
	enum gt_block_state state;

	pthread_mutex_lock(&block->lock);
	while (block->state != one && block->state != other)
		pthread_cond_wait(&block->changed, &block->lock);
	state = block->state;
	pthread_mutex_unlock(&block->lock);
	return state;
}

static void *work(void *context)
{
	struct gt_block *block = context;

	while (wait_for(block, GT_BLOCK_FULL, GT_BLOCK_OVER) == GT_BLOCK_FULL) {
		pack(block);
		set_state(block, GT_BLOCK_PACKED);
	}
	return NULL;
}

/* Writes what is in a block, if anything, and makes it empty. */
static void collect(struct gt_block *block, const struct gt_packed_sink *sink)
{
	if (wait_for(block, GT_BLOCK_EMPTY, GT_BLOCK_PACKED) == GT_BLOCK_EMPTY)
		return;
	sink->write(sink->context, block->compressor.packed, block->packed);
	set_state(block, GT_BLOCK_EMPTY);
}

void gt_crew_hand_over(struct gt_crew *crew, size_t size, const struct gt_packed_sink *sink)
{
	struct gt_block *block = &crew->blocks[crew->at];

	block->size = size;
	if (!block->has_thread && crew->count > 1)
		block->has_thread = pthread_create(&block->thread, NULL, work, block) == 0;
	if (!block->has_thread)
		pack(block);
	set_state(block, block->has_thread ? GT_BLOCK_FULL : GT_BLOCK_PACKED);
	crew->at = (crew->at + 1) % crew->count;
	collect(&crew->blocks[crew->at], sink);
}

void gt_crew_finish(struct gt_crew *crew, size_t size, const struct gt_packed_sink *sink)
{
	struct gt_block *last = &crew->blocks[crew->at];

	for (size_t i = 1; i < crew->count; i++)
		collect(&crew->blocks[(crew->at + i) % crew->count], sink);
	if (size == 0)
		return;
	last->size = size;
	pack(last);
	set_state(last, GT_BLOCK_PACKED);
	collect(last, sink);
}

void gt_crew_release(struct gt_crew *crew)
{
	for (size_t i = 0; i < crew->count; i++) {
		struct gt_block *block = &crew->blocks[i];

		if (block->has_thread) {
			set_state(block, GT_BLOCK_OVER);
			pthread_join(block->thread, NULL);
		}
		gt_compressor_release(&block->compressor);
		gt_array_free(block->bytes);
		pthread_mutex_destroy(&block->lock);
		pthread_cond_destroy(&block->changed);
	}
	gt_array_free(crew->blocks);
	*crew = (struct gt_crew){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_DEVICE_KERNEL_H
#define GT_TESTS_SUPPORT_DEVICE_KERNEL_H

/*
 * The writer of device events as kernels have it, on a host: each thread of the host is one of a
 * kernel, with a clock that goes on only as the test says, and the ring is memory of the test's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "include/gputrace/device_layout.h"

/* Values of the special registers of a GPU. %globaltimer is the clock, and 1,000,000 ahead. */
struct playing {
	uint64_t clock;
	uint64_t grid_id;
	uint32_t sm, block, blocks, thread, threads;
	uint32_t clock_step; /* that each reading of the clock takes */
	uint64_t moments;    /* times that %globaltimer was read */
};

static _Thread_local struct playing playing;

enum { GLOBALTIMER_AHEAD = 1000000 };

#define GPUTRACE_DEVICE_HOST
struct gputrace_moment {
	gputrace_u64 clock;
	gputrace_u64 globaltimer;
};

static inline gputrace_u64 gputrace_device_clock(void)
{
	playing.clock += playing.clock_step;
	return playing.clock;
}

static inline gputrace_u64 gputrace_device_globaltimer(void)
{
	playing.moments++;
	return playing.clock + GLOBALTIMER_AHEAD;
}

static inline struct gputrace_moment gputrace_device_moment(void)
{
	struct gputrace_moment moment;

	moment.clock = gputrace_device_clock();
	moment.globaltimer = gputrace_device_globaltimer();
	return moment;
}

static inline gputrace_u64 gputrace_device_grid_id(void)
{
	return playing.grid_id;
}

static inline gputrace_u32 gputrace_device_sm(void)
{
	return playing.sm;
}

static inline gputrace_u32 gputrace_device_block(void)
{
	return playing.block;
}

static inline gputrace_u32 gputrace_device_blocks(void)
{
	return playing.blocks;
}

static inline gputrace_u32 gputrace_device_thread(void)
{
	return playing.thread;
}

static inline gputrace_u32 gputrace_device_threads(void)
{
	return playing.threads;
}

#include "include/gputrace/device_events.h"

/* A ring, and its parts as what they are. */
struct device_memory {
	struct gputrace_device_ring *ring;
	struct gputrace_device_chunk *chunks;
	uint32_t *states;
};

/* chunk_count: a power of two. */
static inline struct device_memory device_memory_new(uint32_t chunk_count, uint32_t flags)
{
	struct device_memory memory = {
		.ring = calloc(1, sizeof(*memory.ring)),
		.chunks = aligned_alloc(GPUTRACE_DEVICE_CHUNK_BYTES,
	                                chunk_count * sizeof(*memory.chunks)),
		.states = calloc(chunk_count, sizeof(*memory.states)),
	};

	if (!memory.ring || !memory.chunks || !memory.states)
		abort();
	memset(memory.chunks, 0, chunk_count * sizeof(*memory.chunks));
	memory.ring->version = GPUTRACE_DEVICE_VERSION;
	memory.ring->flags = flags;
	memory.ring->chunks = (uintptr_t)memory.chunks;
	memory.ring->states = (uintptr_t)memory.states;
	memory.ring->chunk_count = chunk_count;
	memory.ring->next = chunk_count;
	return memory;
}

static inline void device_memory_free(struct device_memory *memory)
{
	free(memory->ring);
	free(memory->chunks);
	free(memory->states);
}

/* As gputrace does with a closed chunk that it has copied. */
static inline void device_memory_recycle(struct device_memory *memory, uint32_t index)
{
	memset(&memory->chunks[index], 0, sizeof(memory->chunks[index]));
	__atomic_store_n(&memory->states[index], GPUTRACE_DEVICE_FREE, __ATOMIC_RELEASE);
}

#endif

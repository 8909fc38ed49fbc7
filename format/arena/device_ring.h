/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_DEVICE_RING_H
#define GT_FORMAT_ARENA_DEVICE_RING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Chunks of a ring of device events (include/gputrace/device_layout.h) as they were copied out of a
 * GPU: bytes that kernels of the program wrote, which may hold anything. Nothing is allocated and
 * no byte outside of a chunk is touched.
 */
struct gt_device_chunk {
	uint64_t globaltimer;
	uint64_t clock;
	uint64_t grid_id;
	uint64_t ticket;
	uint64_t lost;
	uint32_t sm;
	uint32_t part;
	uint32_t block;
	uint32_t blocks;
	uint32_t thread;
	uint32_t threads;
	uint32_t count;       /* events that are there, from the first one on */
	const uint8_t *bytes; /* of the whole chunk, as they were given */
};

/* Where a chunk lies, and what the ring said of it when, or before, it was copied. */
struct gt_device_place {
	uint32_t number; /* in its ring, from 0 */
	uint32_t chunk_count;
	uint32_t state; /* enum gputrace_device_state and more */
};

enum gt_device_verdict {
	GT_DEVICE_EMPTY,  /* there is no event in it yet */
	GT_DEVICE_FILLED, /* the chunk is read */
	GT_DEVICE_BROKEN, /* it makes no sense */
};

/* Reads GPUTRACE_DEVICE_CHUNK_BYTES; the chunk is filled in where there are events alone. */
enum gt_device_verdict gt_device_chunk_read(const uint8_t *bytes,
                                            const struct gt_device_place *place,
                                            struct gt_device_chunk *chunk);

/* Memory of the GPU that a ring of so many chunks takes. */
uint64_t gt_device_ring_bytes(uint32_t chunk_count);

struct gt_device_entry {
	uint64_t value;
	uint32_t clock;
	uint32_t tag;
};

/* An event of a chunk that was read, of those before its count. */
struct gt_device_entry gt_device_entry_read(const struct gt_device_chunk *chunk, uint32_t number);

/* Counts that kernels keep in the ring itself. */
struct gt_device_counts {
	uint64_t next;
	uint64_t lost;
	uint64_t overwritten;
};

/* Reads the bytes of a struct gputrace_device_ring. */
struct gt_device_counts gt_device_counts_read(const uint8_t *bytes);

/* Whether a state is CLOSED, or OPEN. */
bool gt_device_is_closed(uint32_t state);
bool gt_device_is_open(uint32_t state);

#endif

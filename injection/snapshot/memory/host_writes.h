/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_MEMORY_HOST_WRITES_H
#define GT_INJECTION_SNAPSHOT_MEMORY_HOST_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Memory that the host can write at any time, managed and pinned, as it was when the GPU had last
 * done what it was asked for: what is other when the next step begins, the host has written. Holds
 * contents of a bounded size, in memory of its own; for one thread.
 */

enum {
	GT_HOST_WRITES_MOST = 256,       /* pieces of memory */
	GT_HOST_WRITES_BYTES = 64 << 20, /* of all of them */
	GT_HOST_WRITES_APART = 4096,     /* bytes between two stretches, below which they are one */
};

struct gt_host_memory {
	uint32_t number; /* that whoever added it gives */
	uint64_t size;
	uint8_t *known; /* its contents */
};

struct gt_host_writes {
	bool wanted; /* false: nothing is kept, and nothing counts as left out */
	uint8_t *room;
	size_t used;
	uint32_t count;
	uint32_t left_out; /* pieces of memory that there was no room for */
	struct gt_host_memory list[GT_HOST_WRITES_MOST];
};

/* Room for the contents of memory, which the caller fills; NULL: it is not kept. */
uint8_t *gt_host_writes_add(struct gt_host_writes *writes, uint32_t number, uint64_t size);

/* Forgets all, and gives its memory back. */
void gt_host_writes_empty(struct gt_host_writes *writes);

/* A stretch that is other, in whole words of 8 bytes but at the end of the memory. */
struct gt_host_stretch {
	size_t begin;
	size_t end;
};

/* The next one behind the stretch, which begins as {0, 0}; false: there is none. */
bool gt_host_writes_next(const uint8_t *known, const uint8_t *now, size_t size,
                         struct gt_host_stretch *stretch);

#endif

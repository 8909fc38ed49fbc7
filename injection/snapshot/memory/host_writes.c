/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/host_writes.h"

#include <string.h>
#include <sys/mman.h>

#define WORD 8 /* addresses are so long and so aligned, and are never cut */

uint8_t *gt_host_writes_add(struct gt_host_writes *writes, uint32_t number, uint64_t size)
{
	struct gt_host_memory *added;
	void *room = writes->room;

	if (!writes->wanted)
		return NULL;
	if (!room)
		room = mmap(NULL, GT_HOST_WRITES_BYTES, PROT_READ | PROT_WRITE,
		            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED || writes->count == GT_HOST_WRITES_MOST ||
	    size > GT_HOST_WRITES_BYTES - writes->used) {
		writes->room = room == MAP_FAILED ? NULL : room;
		writes->left_out++;
		return NULL;
	}
	writes->room = room;
	added = &writes->list[writes->count++];
	*added = (struct gt_host_memory){number, size, writes->room + writes->used};
	writes->used += (size_t)size;
	return added->known;
}

void gt_host_writes_empty(struct gt_host_writes *writes)
{
	if (writes->room)
		(void)munmap(writes->room, GT_HOST_WRITES_BYTES);
	writes->room = NULL;
	writes->used = 0;
	writes->count = 0;
	writes->left_out = 0;
}

/* Where the next word is other, from an offset of whole words on; size: nowhere before. */
static size_t find_other(const uint8_t *known, const uint8_t *now, size_t at, size_t size)
{
	while (at < size) {
		const size_t page =
			size - at < GT_HOST_WRITES_APART ? size - at : GT_HOST_WRITES_APART;

		if (memcmp(known + at, now + at, page) != 0)
			break;
		at += page;
	}
	while (at < size && memcmp(known + at, now + at, size - at < WORD ? size - at : WORD) == 0)
		at += WORD;
	return at < size ? at : size;
}

bool gt_host_writes_next(const uint8_t *known, const uint8_t *now, size_t size,
                         struct gt_host_stretch *stretch)
{
	size_t other = find_other(known, now, stretch->end, size);

	if (other == size)
		return false;
	stretch->begin = other;
	do {
		stretch->end = size - other < WORD ? size : other + WORD;
		other = find_other(known, now, stretch->end, size);
	} while (other < size && other - stretch->end < GT_HOST_WRITES_APART);
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "format/arena/device_ring.h"
#include "include/gputrace/device_layout.h"

/*
 * Chunks of a ring as kernels may leave them: of each its state, its number, how many the ring has,
 * and its bytes. Read chunks lie inside of it and fit the place, whatever stands there.
 */

enum { PLACE_BYTES = 12, ENTRY_BYTES = PLACE_BYTES + GPUTRACE_DEVICE_CHUNK_BYTES };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check(const struct gt_device_chunk *chunk, const struct gt_device_place *place)
{
	must(chunk->count > 0 && chunk->count <= GPUTRACE_DEVICE_EVENTS);
	must(chunk->block < chunk->blocks && chunk->thread < chunk->threads);
	must(chunk->ticket % place->chunk_count == place->number);
	must(!gt_device_is_closed(place->state) ||
	     chunk->count == place->state >> GPUTRACE_DEVICE_STATE_BITS);
	for (uint32_t i = 0; i < chunk->count; i++)
		must(GPUTRACE_DEVICE_TAG_KIND(gt_device_entry_read(chunk, i).tag) !=
		     GPUTRACE_DEVICE_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (; size >= ENTRY_BYTES; data += ENTRY_BYTES, size -= ENTRY_BYTES) {
		const struct gt_device_place place = {
			.state = gt_get_u32(data),
			.number = gt_get_u32(data + 4),
			.chunk_count = gt_get_u32(data + 8),
		};
		struct gt_device_chunk chunk;

		if (gt_device_chunk_read(data + PLACE_BYTES, &place, &chunk) == GT_DEVICE_FILLED)
			check(&chunk, &place);
		(void)gt_device_counts_read(data + PLACE_BYTES);
	}
	return 0;
}

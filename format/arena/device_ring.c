/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/device_ring.h"

#include <stddef.h>

#include "base/bytes.h"
#include "include/gputrace/device_layout.h"

#define MOST_THREADS 1024  /* of a block, on any GPU */
#define MOST_SMS     65536 /* of a GPU: far more than there are */

_Static_assert(sizeof(struct gputrace_device_chunk) == GPUTRACE_DEVICE_CHUNK_BYTES,
               "as kernels have it");
_Static_assert(sizeof(struct gputrace_device_event) == 16, "one store");
_Static_assert(sizeof(struct gputrace_device_ring) == 256, "two cache lines of 128 bytes");

#define FIELD(name)  offsetof(struct gputrace_device_chunk, name)
#define WIDE(name)   gt_get_u64(bytes + FIELD(name))
#define NUMBER(name) gt_get_u32(bytes + FIELD(name))

uint64_t gt_device_ring_bytes(uint32_t chunk_count)
{
	/* Two chunks more: the ring itself, and what it takes to begin at a multiple of one. */
	return (uint64_t)chunk_count * (GPUTRACE_DEVICE_CHUNK_BYTES + sizeof(uint32_t)) +
	       2 * (uint64_t)GPUTRACE_DEVICE_CHUNK_BYTES;
}

static uint32_t kind_of(uint32_t state)
{
	return state & ((1u << GPUTRACE_DEVICE_STATE_BITS) - 1);
}

bool gt_device_is_closed(uint32_t state)
{
	return kind_of(state) == GPUTRACE_DEVICE_CLOSED;
}

bool gt_device_is_open(uint32_t state)
{
	return kind_of(state) == GPUTRACE_DEVICE_OPEN;
}

static struct gt_device_entry entry_at(const uint8_t *bytes, uint32_t number)
{
	const uint8_t *at = bytes + FIELD(events)
	+number * sizeof(struct gputrace_device_event);

	return (struct gt_device_entry){
		.value = gt_get_u64(at + offsetof(struct gputrace_device_event, value)),
		.clock = gt_get_u32(at + offsetof(struct gputrace_device_event, clock)),
		.tag = gt_get_u32(at + offsetof(struct gputrace_device_event, tag)),
	};
}

struct gt_device_entry gt_device_entry_read(const struct gt_device_chunk *chunk, uint32_t number)
{
	return entry_at(chunk->bytes, number);
}

static bool is_kind(uint32_t kind)
{
	const uint32_t plain = kind & ~(uint32_t)GPUTRACE_DEVICE_TIMED;

	if (kind & GPUTRACE_DEVICE_TIMED)
		return plain >= GPUTRACE_DEVICE_BEGIN && plain <= GPUTRACE_DEVICE_MARK;
	return plain >= GPUTRACE_DEVICE_BEGIN && plain <= GPUTRACE_DEVICE_TIME;
}

/* How many of the first events are there; false: what is there can be no event. */
static bool count_events(const uint8_t *bytes, uint32_t most, uint32_t *count)
{
	for (*count = 0; *count < most; (*count)++) {
		const uint32_t kind = GPUTRACE_DEVICE_TAG_KIND(entry_at(bytes, *count).tag);

		if (kind == GPUTRACE_DEVICE_NONE)
			break;
		if (!is_kind(kind))
			return false;
	}
	return true;
}

static bool makes_sense(const struct gt_device_chunk *chunk, const struct gt_device_place *place)
{
	return chunk->block < chunk->blocks && chunk->thread < chunk->threads &&
	       chunk->threads <= MOST_THREADS && chunk->sm < MOST_SMS &&
	       place->number < place->chunk_count &&
	       chunk->ticket % place->chunk_count == place->number;
}

enum gt_device_verdict gt_device_chunk_read(const uint8_t *bytes,
                                            const struct gt_device_place *place,
                                            struct gt_device_chunk *chunk)
{
	const bool closed = gt_device_is_closed(place->state);
	const uint32_t said = place->state >> GPUTRACE_DEVICE_STATE_BITS;
	const uint32_t most = closed ? said : GPUTRACE_DEVICE_EVENTS;
	uint32_t count;

	if (place->state == GPUTRACE_DEVICE_FREE)
		return GT_DEVICE_EMPTY;
	if ((!closed && !gt_device_is_open(place->state)) || most > GPUTRACE_DEVICE_EVENTS ||
	    !count_events(bytes, most, &count) || (closed && count < said))
		return GT_DEVICE_BROKEN;
	if (count == 0)
		return GT_DEVICE_EMPTY;
	*chunk = (struct gt_device_chunk){
		.globaltimer = WIDE(globaltimer),
		.clock = WIDE(clock),
		.grid_id = WIDE(grid_id),
		.ticket = WIDE(ticket),
		.lost = WIDE(lost),
		.sm = NUMBER(sm),
		.part = NUMBER(part),
		.block = NUMBER(block),
		.blocks = NUMBER(blocks),
		.thread = NUMBER(thread),
		.threads = NUMBER(threads),
		.count = count,
		.bytes = bytes,
	};
	/* Its header may come after its first events: no ticket is 0, nor a time. */
	if (!closed && (chunk->globaltimer == 0 || chunk->threads == 0 || chunk->ticket == 0))
		return GT_DEVICE_EMPTY;
	return makes_sense(chunk, place) ? GT_DEVICE_FILLED : GT_DEVICE_BROKEN;
}

struct gt_device_counts gt_device_counts_read(const uint8_t *bytes)
{
	return (struct gt_device_counts){
		.next = gt_get_u64(bytes + offsetof(struct gputrace_device_ring, next)),
		.lost = gt_get_u64(bytes + offsetof(struct gputrace_device_ring, lost)),
		.overwritten =
			gt_get_u64(bytes + offsetof(struct gputrace_device_ring, overwritten)),
	};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_events/copying.h"

#include <errno.h>
#include <string.h>

#include "format/arena/device_ring.h"
#include "include/gputrace/device_layout.h"
#include "injection/device_events/host_side.h"
#include "injection/driver/device_driver.h"
#include "injection/session/services.h"

#define COPY_NS       200000000u  /* for a copy, before it is given up */
#define PROBE_NS      100000u     /* for one that was given up before */
#define ROOM_NS       1000000000u /* that the writer has to make room */
#define GAP           8  /* free ones that are copied with others, as that takes no copy more */
#define LOOK_AT_LEAST 16 /* quiet times after which all is looked at */

/* ---- records ---- */

/* Our thread can wait for room, which the program's records are to have before ours. */
static bool wait_for_room(struct gt_session *session)
{
	const uint64_t began_ns = gt_now();

	while (!gt_emit_has_plenty(session)) {
		if (gt_now() - began_ns > ROOM_NS)
			return false;
		gt_device_nap();
	}
	return true;
}

static void emit_chunk(const struct gt_device_ring *ring, const struct gt_device_chunk *chunk)
{
	struct gt_record_device_chunk *record =
		gt_emit_begin(ring->session, GT_RECORD_device_chunk, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_device_chunk){
		.ticket = chunk->ticket,
		.globaltimer = chunk->globaltimer,
		.clock = chunk->clock,
		.grid_id = chunk->grid_id,
		.lost = chunk->lost,
		.context = ring->context,
		.sm = chunk->sm,
		.part = chunk->part,
		.block = chunk->block,
		.blocks = chunk->blocks,
		.thread = chunk->thread,
		.threads = chunk->threads,
	};
	gt_emit_commit();
}

static void emit_event(const struct gt_device_ring *ring, const struct gt_device_chunk *chunk,
                       uint32_t number)
{
	const struct gt_device_entry entry = gt_device_entry_read(chunk, number);
	struct gt_record_device_event *record =
		gt_emit_begin(ring->session, GT_RECORD_device_event, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_device_event){
		.ticket = chunk->ticket,
		.value = entry.value,
		.context = ring->context,
		.sequence = number,
		.clock = entry.clock,
		.tag = entry.tag,
	};
	gt_emit_commit();
}

static void emit_ring(const struct gt_device_ring *ring)
{
	struct gt_record_device_ring *record =
		gt_emit_begin(ring->session, GT_RECORD_device_ring, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_device_ring){
		.context = ring->context,
		.written = ring->written,
		.lost = ring->lost + ring->dropped,
		.overwritten = ring->overwritten,
		.chunks = ring->next - ring->chunk_count,
		.chunk_count = ring->chunk_count,
		.flags = ring->flags,
	};
	gt_emit_commit();
}

static void record_events(struct gt_device_ring *ring, const struct gt_device_chunk *chunk,
                          uint32_t first)
{
	const uint32_t count = chunk->count - first;

	if (!wait_for_room(ring->session)) {
		ring->dropped += count;
		gt_count(ring->session, GT_LEDGER_device_events_lost, count);
		return;
	}
	emit_chunk(ring, chunk);
	for (uint32_t i = first; i < chunk->count; i++)
		emit_event(ring, chunk, i);
	ring->written += count;
	gt_count(ring->session, GT_LEDGER_device_events, count);
}

/* ---- copying out ---- */

/* An open chunk's header may come after its first event: a chunk seen for the first time waits. */
static void take_filled(struct gt_device_ring *ring, const struct gt_device_chunk *chunk,
                        struct gt_device_seen *seen, bool waits)
{
	if (!seen->known || seen->ticket != chunk->ticket) {
		*seen = (struct gt_device_seen){.ticket = chunk->ticket, .known = true};
		if (waits)
			return;
	}
	if (chunk->count <= seen->taken)
		return;
	record_events(ring, chunk, seen->taken);
	seen->taken = (uint8_t)chunk->count;
}

static void take(struct gt_device_ring *ring, uint32_t number, const uint8_t *bytes, bool last)
{
	const struct gt_device_place place = {
		.number = number,
		.chunk_count = ring->chunk_count,
		.state = ring->host->states[number],
	};
	const bool closed = gt_device_is_closed(place.state);
	struct gt_device_chunk chunk;

	switch (gt_device_chunk_read(bytes, &place, &chunk)) {
	case GT_DEVICE_EMPTY:
		break;
	case GT_DEVICE_FILLED:
		take_filled(ring, &chunk, &ring->seen[number], !closed && !last);
		break;
	case GT_DEVICE_BROKEN:
		/* An open one that is being written may make sense the next time. */
		if (closed || last)
			gt_count(ring->session, GT_LEDGER_device_events_broken, 1);
		break;
	}
	if (closed && !(ring->flags & GPUTRACE_DEVICE_OVERWRITE))
		ring->seen[number].known = false;
	ring->has_open |= gt_device_is_open(place.state);
}

/* Closed chunks that were taken: their bytes are zero before they are free. */
static int free_chunks(const struct gt_device_ring *ring, uint32_t first, uint32_t end,
                       struct gt_error *err)
{
	const uint64_t chunk = GPUTRACE_DEVICE_CHUNK_BYTES;
	CUresult code = ring->driver->set_bytes(ring->chunks + first * chunk, 0,
	                                        (end - first) * chunk, ring->copying);

	if (code == CUDA_SUCCESS)
		code = ring->driver->set_bytes(ring->states + first * sizeof(uint32_t),
		                               GPUTRACE_DEVICE_FREE,
		                               (end - first) * sizeof(uint32_t), ring->copying);
	return gt_device_ring_check(ring, code, "freeing chunks of device events", err);
}

static int free_closed(const struct gt_device_ring *ring, uint32_t first, uint32_t end,
                       struct gt_error *err)
{
	int result = 0;

	for (uint32_t i = first; i < end && result == 0;) {
		uint32_t after = i;

		while (after < end && gt_device_is_closed(ring->host->states[after]))
			after++;
		if (after > i)
			result = free_chunks(ring, i, after, err);
		i = after + 1;
	}
	return result;
}

static int copy_out(struct gt_device_ring *ring, void *to, uint64_t from, size_t bytes,
                    struct gt_error *err)
{
	const CUresult code = ring->driver->copy_out(to, from, bytes, ring->copying);
	int result = gt_device_ring_check(ring, code, "copying device events", err);

	if (result == 0)
		result = gt_device_ring_finish(ring, ring->copying, COPY_NS, err);
	ring->is_under_way = result == -EAGAIN;
	return result;
}

/* Forgets what is in chunks whose state has changed since: they are being written anew. */
static int leave_out_changed(struct gt_device_ring *ring, uint32_t first, uint32_t end,
                             struct gt_error *err)
{
	uint32_t now[GT_DEVICE_WINDOW];
	uint32_t *states = ring->host->states + first;
	const size_t bytes = (end - first) * sizeof(*states);
	int result;

	memcpy(now, states, bytes);
	result = copy_out(ring, states, ring->states + first * sizeof(*states), bytes, err);
	for (uint32_t i = 0; i < end - first; i++)
		if (states[i] != now[i])
			states[i] = GPUTRACE_DEVICE_FREE;
	return result;
}

static int copy_window(struct gt_device_ring *ring, uint32_t first, uint32_t end, bool last,
                       struct gt_error *err)
{
	const bool overwrites = ring->flags & GPUTRACE_DEVICE_OVERWRITE;
	const size_t chunk = GPUTRACE_DEVICE_CHUNK_BYTES;
	int result = copy_out(ring, ring->host->window, ring->chunks + first * (uint64_t)chunk,
	                      (end - first) * chunk, err);

	if (result == 0 && overwrites)
		result = leave_out_changed(ring, first, end, err);
	if (result < 0)
		return result;
	for (uint32_t i = first; i < end; i++)
		take(ring, i, ring->host->window + (i - first) * chunk, last);
	return overwrites ? 0 : free_closed(ring, first, end, err);
}

/* The end of what is copied with the chunk first: not far behind the last that is not free. */
static uint32_t end_of_window(const struct gt_device_ring *ring, uint32_t first)
{
	uint32_t end = first + 1;

	for (uint32_t i = end;
	     i < ring->chunk_count && i - first < GT_DEVICE_WINDOW && i - end <= GAP; i++)
		if (ring->host->states[i] != GPUTRACE_DEVICE_FREE)
			end = i + 1;
	return end;
}

static int copy_chunks(struct gt_device_ring *ring, bool last, struct gt_error *err)
{
	const size_t bytes = ring->chunk_count * sizeof(uint32_t);
	int result = copy_out(ring, ring->host->states, ring->states, bytes, err);

	ring->has_open = false;
	for (uint32_t i = 0; i < ring->chunk_count && result == 0;) {
		uint32_t end = i + 1;

		if (ring->host->states[i] != GPUTRACE_DEVICE_FREE) {
			end = end_of_window(ring, i);
			result = copy_window(ring, i, end, last, err);
		}
		i = end;
	}
	return result;
}

/* Takes the kernels' counts; returns whether they have grown. */
static bool take_counts(struct gt_device_ring *ring)
{
	const struct gt_device_counts counts = gt_device_counts_read(ring->host->ring);
	const uint64_t before = ring->lost + ring->overwritten;
	const uint64_t now = counts.lost + counts.overwritten;
	const bool moved = counts.next != ring->next || now != before;

	if (now > before)
		gt_count(ring->session, GT_LEDGER_device_events_lost, now - before);
	ring->next = counts.next;
	ring->lost = counts.lost;
	ring->overwritten = counts.overwritten;
	return moved;
}

int gt_device_ring_copy(struct gt_device_ring *ring, bool last, struct gt_error *err)
{
	const uint64_t before = ring->written + ring->dropped;
	bool moved;
	int result = 0;

	if (ring->is_under_way) {
		result = gt_device_ring_finish(ring, ring->copying, last ? COPY_NS : PROBE_NS, err);
		ring->is_under_way = result == -EAGAIN;
	}
	if (result == 0)
		result = copy_out(ring, ring->host->ring, ring->address, sizeof(ring->host->ring),
		                  err);
	if (result < 0)
		return result;
	moved = take_counts(ring);
	ring->quiet = moved || ring->has_open ? 0 : ring->quiet + 1;
	if (last ||
	    (!(ring->flags & GPUTRACE_DEVICE_OVERWRITE) && ring->quiet % LOOK_AT_LEAST == 0))
		result = copy_chunks(ring, last, err);
	ring->has_open |= result < 0; /* or there may be some: what is left is looked at again */
	if (moved || last || ring->written + ring->dropped != before)
		emit_ring(ring);
	return result;
}

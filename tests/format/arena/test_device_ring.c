/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "format/arena/device_ring.h"
#include "include/gputrace/device_layout.h"
#include "support/check.h"

enum { CHUNKS = 8, NUMBER = 5, TICKET = 13 };

static struct gputrace_device_chunk made;
static struct gt_device_chunk chunk;

/* A chunk of so many marks, as a kernel leaves it. */
static void make(uint32_t count)
{
	made = (struct gputrace_device_chunk){
		.globaltimer = 1000,
		.clock = 2000,
		.grid_id = 7,
		.sm = 131,
		.part = 2,
		.block = 3,
		.blocks = 4,
		.thread = 32,
		.threads = 128,
		.ticket = TICKET,
		.lost = 6,
	};
	for (uint32_t i = 0; i < count; i++)
		made.events[i] = (struct gputrace_device_event){
			.clock = i,
			.tag = GPUTRACE_DEVICE_TAG(9, GPUTRACE_DEVICE_MARK),
			.value = i};
}

static enum gt_device_verdict read_as(uint32_t state)
{
	const struct gt_device_place place = {
		.number = NUMBER, .chunk_count = CHUNKS, .state = state};

	return gt_device_chunk_read((const uint8_t *)&made, &place, &chunk);
}

static uint32_t closed(uint32_t count)
{
	return GPUTRACE_DEVICE_CLOSED | count << GPUTRACE_DEVICE_STATE_BITS;
}

Test(device_ring, reads_a_closed_chunk_whole)
{
	make(GPUTRACE_DEVICE_EVENTS);
	made.events[27].tag = GPUTRACE_DEVICE_TAG(9, GPUTRACE_DEVICE_END | GPUTRACE_DEVICE_TIMED);
	made.events[27].value = UINT64_MAX;
	cr_assert(eq(int, read_as(closed(28)), GT_DEVICE_FILLED));
	cr_expect(eq(u64, chunk.globaltimer, 1000));
	cr_expect(eq(u64, chunk.clock, 2000));
	cr_expect(eq(u64, chunk.grid_id, 7));
	cr_expect(eq(u64, chunk.ticket, TICKET));
	cr_expect(eq(u64, chunk.lost, 6));
	cr_expect(eq(u32, chunk.sm, 131));
	cr_expect(eq(u32, chunk.part, 2));
	cr_expect(eq(u32, chunk.block, 3));
	cr_expect(eq(u32, chunk.blocks, 4));
	cr_expect(eq(u32, chunk.thread, 32));
	cr_expect(eq(u32, chunk.threads, 128));
	cr_expect(eq(u32, chunk.count, 28));
	cr_expect(eq(u64, gt_device_entry_read(&chunk, 27).value, UINT64_MAX));
	cr_expect(eq(u32, gt_device_entry_read(&chunk, 27).clock, 27));
}

Test(device_ring, takes_of_an_open_chunk_what_is_there)
{
	make(3);
	cr_assert(eq(int, read_as(GPUTRACE_DEVICE_OPEN), GT_DEVICE_FILLED));
	cr_expect(eq(u32, chunk.count, 3));
	make(0);
	cr_expect(eq(int, read_as(GPUTRACE_DEVICE_OPEN), GT_DEVICE_EMPTY));
	cr_expect(eq(int, read_as(GPUTRACE_DEVICE_FREE), GT_DEVICE_EMPTY));
	cr_expect(eq(int, read_as(closed(0)), GT_DEVICE_EMPTY));
}

Test(device_ring, waits_for_the_header_of_an_open_chunk)
{
	make(3);
	made.globaltimer = 0;
	cr_expect(eq(int, read_as(GPUTRACE_DEVICE_OPEN), GT_DEVICE_EMPTY));
	make(3);
	made.threads = 0;
	cr_expect(eq(int, read_as(GPUTRACE_DEVICE_OPEN), GT_DEVICE_EMPTY));
	cr_expect(eq(int, read_as(closed(3)), GT_DEVICE_BROKEN));
}

Test(device_ring, refuses_what_cannot_be)
{
	make(28);
	cr_expect(eq(int, read_as(closed(29)), GT_DEVICE_BROKEN));
	cr_expect(eq(int, read_as(3), GT_DEVICE_BROKEN));
	make(2);
	cr_expect(eq(int, read_as(closed(3)), GT_DEVICE_BROKEN));
	made.block = made.blocks;
	cr_expect(eq(int, read_as(closed(2)), GT_DEVICE_BROKEN));
	make(2);
	made.ticket = TICKET + 1; /* another chunk's */
	cr_expect(eq(int, read_as(closed(2)), GT_DEVICE_BROKEN));
	make(2);
	made.threads = 1025;
	cr_expect(eq(int, read_as(closed(2)), GT_DEVICE_BROKEN));
}

Test(device_ring, takes_the_last_thread_of_the_largest_block)
{
	make(2);
	made.threads = 1024;
	made.thread = 1023;
	made.block = made.blocks - 1;
	cr_expect(eq(int, read_as(closed(2)), GT_DEVICE_FILLED));
	made.thread = 1024;
	cr_expect(eq(int, read_as(closed(2)), GT_DEVICE_BROKEN));
}

Test(device_ring, knows_the_kinds_of_events)
{
	for (uint32_t kind = 1; kind < 16; kind++) {
		make(1);
		made.events[0].tag = GPUTRACE_DEVICE_TAG(1, kind);
		cr_expect(eq(int, read_as(closed(1)),
		             kind <= GPUTRACE_DEVICE_TIME || (kind >= 9 && kind <= 11)
		                     ? GT_DEVICE_FILLED
		                     : GT_DEVICE_BROKEN));
	}
}

Test(device_ring, reads_what_kernels_counted)
{
	const struct gputrace_device_ring ring = {.next = 1, .lost = 2, .overwritten = UINT64_MAX};
	const struct gt_device_counts counts = gt_device_counts_read((const uint8_t *)&ring);

	cr_expect(eq(u64, counts.next, 1));
	cr_expect(eq(u64, counts.lost, 2));
	cr_expect(eq(u64, counts.overwritten, UINT64_MAX));
}

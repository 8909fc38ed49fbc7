/* SPDX-License-Identifier: Apache-2.0 */
/* include/gputrace/device_events.h, as kernels run it, against rings in memory. */
#include <pthread.h>

#include "support/check.h"
#include "support/device_kernel.h"

enum { LOAD = 7, DEPTH = 9, CHUNKS = 8, FULL = GPUTRACE_DEVICE_EVENTS };

static struct device_memory memory;
static struct gputrace_writer writer;

static void begin_kernel(uint32_t chunk_count, uint32_t flags)
{
	memory = device_memory_new(chunk_count, flags);
	playing = (struct playing){
		.clock = 100,
		.clock_step = 1,
		.grid_id = 77,
		.sm = 3,
		.block = 4,
		.blocks = 6,
		.thread = 32,
		.threads = 128,
	};
	gputrace_writer_init(&writer, (uintptr_t)memory.ring, 1);
}

static void end_kernel(void)
{
	device_memory_free(&memory);
}

TestSuite(device_writer, .fini = end_kernel);

static uint32_t closed(uint32_t count)
{
	return GPUTRACE_DEVICE_CLOSED | count << GPUTRACE_DEVICE_STATE_BITS;
}

static void write_marks(struct gputrace_writer *by, int count)
{
	for (int i = 0; i < count; i++)
		gputrace_writer_mark(by, LOAD);
}

static uint32_t kind_of(const struct gputrace_device_event *event)
{
	return GPUTRACE_DEVICE_TAG_KIND(event->tag);
}

Test(device_writer, fills_in_who_it_is_and_what_happened)
{
	const struct gputrace_device_chunk *chunk;

	begin_kernel(CHUNKS, 0);
	gputrace_writer_begin(&writer, LOAD);
	gputrace_writer_mark(&writer, LOAD);
	gputrace_writer_int(&writer, DEPTH, -5);
	gputrace_writer_real(&writer, DEPTH, 0.5);
	gputrace_writer_end(&writer, LOAD);
	chunk = &memory.chunks[0];
	cr_expect(eq(u32, memory.states[0], GPUTRACE_DEVICE_OPEN));
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[0], closed(5)));
	cr_expect(eq(u64, chunk->grid_id, 77));
	cr_expect(eq(u32, chunk->sm, 3));
	cr_expect(eq(u32, chunk->part, 0));
	cr_expect(eq(u32, chunk->block, 4));
	cr_expect(eq(u32, chunk->blocks, 6));
	cr_expect(eq(u32, chunk->thread, 32));
	cr_expect(eq(u32, chunk->threads, 128));
	cr_expect(eq(u64, chunk->ticket, CHUNKS), "the first ticket is not 0");
	cr_expect(eq(u64, chunk->lost, 0));
	cr_expect(eq(u64, chunk->globaltimer, chunk->clock + GLOBALTIMER_AHEAD));
	cr_expect(eq(u32, chunk->events[0].tag,
	             GPUTRACE_DEVICE_TAG(LOAD, GPUTRACE_DEVICE_BEGIN | GPUTRACE_DEVICE_TIMED)));
	cr_expect(eq(u32, chunk->events[1].tag,
	             GPUTRACE_DEVICE_TAG(LOAD, GPUTRACE_DEVICE_MARK | GPUTRACE_DEVICE_TIMED)));
	cr_expect(eq(u32, chunk->events[2].tag, GPUTRACE_DEVICE_TAG(DEPTH, GPUTRACE_DEVICE_INT)));
	cr_expect(eq(i64, (int64_t)chunk->events[2].value, -5));
	cr_expect(eq(u32, chunk->events[3].tag, GPUTRACE_DEVICE_TAG(DEPTH, GPUTRACE_DEVICE_REAL)));
	cr_expect(eq(u64, chunk->events[3].value, 0x3fe0000000000000));
	cr_expect(eq(u32, chunk->events[4].tag,
	             GPUTRACE_DEVICE_TAG(LOAD, GPUTRACE_DEVICE_END | GPUTRACE_DEVICE_TIMED)));
	cr_expect(eq(u32, chunk->events[5].tag, GPUTRACE_DEVICE_NONE));
	for (size_t i = 1; i < 5; i++)
		cr_expect(gt(u32, chunk->events[i].clock, chunk->events[i - 1].clock));
	for (size_t i = 0; i < 5; i += i == 1 ? 3 : 1) /* those without a value */
		cr_expect(eq(u64, chunk->events[i].value,
		             chunk->events[i].clock + GLOBALTIMER_AHEAD));
}

Test(device_writer, writes_nothing_where_nobody_records_or_it_does_not_lead)
{
	uint64_t variable = 0;

	begin_kernel(CHUNKS, 0);
	gputrace_writer_init(&writer, 0, 1);
	write_marks(&writer, 100);
	gputrace_writer_close(&writer);
	gputrace_writer_init(&writer, (uintptr_t)&variable | GPUTRACE_WRITER_VARIABLE, 1);
	write_marks(&writer, 100);
	gputrace_writer_close(&writer);
	gputrace_writer_init(&writer, (uintptr_t)memory.ring, 0);
	write_marks(&writer, 100);
	gputrace_writer_close(&writer);
	memory.ring->version++;
	gputrace_writer_init(&writer, (uintptr_t)memory.ring, 1);
	write_marks(&writer, 100);
	gputrace_writer_close(&writer);
	cr_expect(eq(u64, memory.ring->next, CHUNKS));
	cr_expect(eq(u64, memory.ring->lost, 0));
	cr_expect(eq(u64, playing.moments, 0));
}

Test(device_writer, finds_the_ring_in_the_variable_of_the_module)
{
	uint64_t variable;

	begin_kernel(CHUNKS, 0);
	variable = (uintptr_t)memory.ring;
	gputrace_writer_init(&writer, (uintptr_t)&variable | GPUTRACE_WRITER_VARIABLE, 1);
	write_marks(&writer, FULL + 1);
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(eq(u32, memory.states[1], GPUTRACE_DEVICE_OPEN));
	/* gputrace leaves while the kernel runs */
	variable = 0;
	write_marks(&writer, FULL + 1);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[1], GPUTRACE_DEVICE_OPEN));
	cr_expect(eq(u32, memory.states[2], GPUTRACE_DEVICE_FREE));
}

Test(device_writer, takes_no_chunk_before_its_first_event)
{
	begin_kernel(CHUNKS, 0);
	gputrace_writer_close(&writer);
	write_marks(&writer, 1);
	cr_expect(eq(u64, memory.ring->next, CHUNKS));
}

Test(device_writer, goes_on_in_another_chunk)
{
	begin_kernel(CHUNKS, 0);
	write_marks(&writer, FULL);
	cr_expect(eq(u32, memory.states[0], GPUTRACE_DEVICE_OPEN), "closed with what comes next");
	write_marks(&writer, 3);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(eq(u32, memory.states[1], closed(3)));
	cr_expect(eq(u32, memory.chunks[1].part, 1));
	cr_expect(eq(u64, memory.chunks[1].ticket, CHUNKS + 1));
	cr_expect(eq(u32, memory.states[2], GPUTRACE_DEVICE_FREE));
}

Test(device_writer, closes_a_full_chunk)
{
	begin_kernel(CHUNKS, 0);
	write_marks(&writer, FULL);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(eq(u64, memory.ring->next, CHUNKS + 1));
}

Test(device_writer, passes_over_chunks_that_are_taken)
{
	begin_kernel(CHUNKS, 0);
	memory.states[0] = GPUTRACE_DEVICE_OPEN;
	memory.states[1] = closed(4);
	write_marks(&writer, 1);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[1], closed(4)));
	cr_expect(eq(u32, memory.states[2], closed(1)));
	cr_expect(eq(u64, memory.chunks[2].ticket, CHUNKS + 2));
}

Test(device_writer, tells_the_time_before_values_after_65536_cycles)
{
	const struct gputrace_device_event *events;

	begin_kernel(CHUNKS, 0);
	gputrace_writer_int(&writer, DEPTH, 4);
	gputrace_writer_int(&writer, DEPTH, 5);
	playing.clock += GPUTRACE_DEVICE_TIME_CYCLES;
	write_marks(&writer, 1);
	gputrace_writer_int(&writer, DEPTH, 6);
	playing.clock += GPUTRACE_DEVICE_TIME_CYCLES;
	gputrace_writer_int(&writer, DEPTH, 7);
	/* so long that the lower half of the clock is as it was */
	playing.clock += UINT64_C(1) << 32;
	gputrace_writer_int(&writer, DEPTH, 8);
	gputrace_writer_close(&writer);
	events = memory.chunks[0].events;
	cr_expect(eq(u32, memory.states[0], closed(9)));
	cr_expect(eq(u32, kind_of(&events[0]), GPUTRACE_DEVICE_INT));
	cr_expect(eq(u32, kind_of(&events[1]), GPUTRACE_DEVICE_INT));
	cr_expect(eq(u32, kind_of(&events[2]), GPUTRACE_DEVICE_MARK | GPUTRACE_DEVICE_TIMED));
	cr_expect(eq(u32, kind_of(&events[3]), GPUTRACE_DEVICE_INT), "the mark told the time");
	cr_expect(eq(u32, events[4].tag, GPUTRACE_DEVICE_TAG(0, GPUTRACE_DEVICE_TIME)));
	cr_expect(eq(u64, events[4].value, events[4].clock + UINT64_C(1000000)));
	cr_expect(eq(u64, events[5].value, 7));
	cr_expect(eq(u32, kind_of(&events[6]), GPUTRACE_DEVICE_TIME));
	cr_expect(ge(u64, events[6].value - events[4].value, UINT64_C(1) << 32));
	cr_expect(eq(u64, events[7].value, 8));
	cr_expect(eq(u32, kind_of(&events[8]), GPUTRACE_DEVICE_TIME), "as it was closed");
}

Test(device_writer, ends_with_the_time_where_a_value_was_last_and_the_chunk_is_old_and_has_room)
{
	begin_kernel(CHUNKS, 0);
	gputrace_writer_int(&writer, DEPTH, 1);
	playing.clock += GPUTRACE_WRITER_AGE_CYCLES;
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[0], closed(2)));
	cr_expect(eq(u32, kind_of(&memory.chunks[0].events[1]), GPUTRACE_DEVICE_TIME));
	gputrace_writer_init(&writer, (uintptr_t)memory.ring, 1);
	write_marks(&writer, FULL - 1);
	gputrace_writer_int(&writer, DEPTH, 1);
	playing.clock += GPUTRACE_WRITER_AGE_CYCLES;
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[1], closed(FULL)));
	gputrace_writer_init(&writer, (uintptr_t)memory.ring, 1);
	write_marks(&writer, 2);
	playing.clock += GPUTRACE_WRITER_AGE_CYCLES;
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[2], closed(2)));
}

Test(device_writer, puts_a_value_into_the_next_chunk_when_the_time_took_the_last_place)
{
	begin_kernel(CHUNKS, 0);
	write_marks(&writer, FULL - 1);
	playing.clock += GPUTRACE_DEVICE_TIME_CYCLES;
	gputrace_writer_int(&writer, DEPTH, 5);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(eq(u32, kind_of(&memory.chunks[0].events[FULL - 1]), GPUTRACE_DEVICE_TIME));
	cr_expect(eq(u32, memory.states[1], closed(1)));
	cr_expect(eq(u64, memory.chunks[1].events[0].value, 5));
}

Test(device_writer, leaves_what_opening_takes_out_of_a_range_that_begins)
{
	begin_kernel(CHUNKS, 0);
	playing.clock_step = 10;
	gputrace_writer_begin(&writer, LOAD);
	cr_expect(eq(u64, memory.chunks[0].events[0].clock, memory.chunks[0].clock + 10));
	gputrace_writer_end(&writer, LOAD);
	write_marks(&writer, FULL - 2);
	gputrace_writer_end(&writer, LOAD);
	cr_expect(eq(u64, memory.chunks[1].events[0].clock, memory.chunks[1].clock));
	cr_expect(eq(u64, memory.chunks[1].clock, memory.chunks[0].events[FULL - 1].clock + 10),
	          "of an end that no room was made for, before another chunk was taken");
	gputrace_writer_close(&writer);
}

/* Events of the chunk that are the time and nothing else. */
static uint32_t times_in(uint32_t chunk)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < FULL; i++)
		count += kind_of(&memory.chunks[chunk].events[i]) == GPUTRACE_DEVICE_TIME;
	return count;
}

Test(device_writer, has_the_end_of_a_range_where_its_begin_is)
{
	begin_kernel(CHUNKS, 0);
	write_marks(&writer, FULL - 1);
	gputrace_writer_begin(&writer, LOAD);
	gputrace_writer_end(&writer, LOAD);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(eq(u32, times_in(0), 1), "in the place that was too little for a range");
	cr_expect(eq(u32, memory.states[1], closed(2)));
	cr_expect(le(u32, memory.chunks[0].events[FULL - 1].clock,
	             (gputrace_u32)memory.chunks[1].clock));
}

Test(device_writer, keeps_room_for_the_ends_of_all_that_is_open)
{
	begin_kernel(CHUNKS, 0);
	gputrace_writer_begin(&writer, LOAD);
	gputrace_writer_begin(&writer, LOAD);
	write_marks(&writer, FULL - 4);
	gputrace_writer_end(&writer, LOAD);
	gputrace_writer_end(&writer, LOAD);
	cr_expect(eq(u32, memory.states[1], GPUTRACE_DEVICE_FREE));
	gputrace_writer_begin(&writer, LOAD);
	write_marks(&writer, FULL - 1);
	gputrace_writer_end(&writer, LOAD);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, times_in(1), 1), "the last mark would have had the place of the end");
	cr_expect(eq(u32, memory.states[2], closed(2)));
}

Test(device_writer, goes_on_with_more_open_ranges_than_a_chunk_has_room_for)
{
	enum { DEEP = 3 * FULL };

	uint32_t events = 0;

	begin_kernel(16, 0);
	for (int i = 0; i < DEEP; i++)
		gputrace_writer_begin(&writer, LOAD);
	for (int i = 0; i < DEEP; i++)
		gputrace_writer_end(&writer, LOAD);
	gputrace_writer_close(&writer);
	for (uint32_t i = 0; i < 16; i++)
		events += (memory.states[i] >> GPUTRACE_DEVICE_STATE_BITS) - times_in(i);
	cr_expect(eq(u32, events, 2 * DEEP));
	cr_expect(eq(u64, memory.ring->lost, 0));
}

Test(device_writer, makes_room_for_events_in_one_chunk)
{
	begin_kernel(CHUNKS, 0);
	write_marks(&writer, FULL - 5);
	gputrace_writer_room(&writer, 6);
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(eq(u32, times_in(0), 5));
	gputrace_writer_begin(&writer, LOAD);
	gputrace_writer_int(&writer, DEPTH, 5);
	gputrace_writer_end(&writer, LOAD);
	gputrace_writer_mark(&writer, LOAD);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[1], closed(4)));
	cr_expect(eq(u32, memory.states[2], GPUTRACE_DEVICE_FREE));
}

Test(device_writer, takes_an_end_without_a_begin_for_one_of_those_with_room)
{
	begin_kernel(CHUNKS, 0);
	write_marks(&writer, FULL - 2);
	gputrace_writer_room(&writer, 2);
	gputrace_writer_end(&writer, LOAD);
	write_marks(&writer, 2);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(eq(u32, times_in(0), 0));
	cr_expect(eq(u32, memory.states[1], closed(1)));
}

Test(device_writer, makes_room_for_a_chunk_of_events_at_most)
{
	begin_kernel(CHUNKS, 0);
	gputrace_writer_room(&writer, 1000);
	write_marks(&writer, FULL);
	cr_expect(eq(u32, memory.states[1], GPUTRACE_DEVICE_FREE));
	write_marks(&writer, 1);
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(eq(u32, times_in(0), 0));
	cr_expect(eq(u32, memory.states[1], GPUTRACE_DEVICE_OPEN));
	gputrace_writer_close(&writer);
}

Test(device_writer, makes_no_room_where_it_does_not_write)
{
	begin_kernel(CHUNKS, 0);
	gputrace_writer_init(&writer, (uintptr_t)memory.ring, 0);
	for (int i = 0; i < 100; i++) {
		gputrace_writer_room(&writer, FULL);
		write_marks(&writer, 2);
		gputrace_writer_begin(&writer, LOAD);
		gputrace_writer_int(&writer, DEPTH, 5);
		gputrace_writer_end(&writer, LOAD);
	}
	gputrace_writer_close(&writer);
	cr_expect(eq(u64, memory.ring->next, CHUNKS));
	cr_expect(eq(u64, memory.ring->lost, 0));
}

Test(device_writer, counts_what_room_was_not_made_for)
{
	enum { TURNS = 100, EVENTS = 7 };

	begin_kernel(1, 0);
	memory.states[0] = GPUTRACE_DEVICE_OPEN; /* another writer's */
	for (int i = 0; i < TURNS; i++) {
		gputrace_writer_room(&writer, EVENTS + 1);
		write_marks(&writer, 2);
		gputrace_writer_begin(&writer, LOAD);
		gputrace_writer_int(&writer, DEPTH, 5);
		gputrace_writer_end(&writer, LOAD);
		write_marks(&writer, 2);
	}
	cr_expect(ge(u64, memory.ring->lost, TURNS * EVENTS - GPUTRACE_WRITER_RETRY - EVENTS));
	cr_expect(le(u64, memory.ring->next,
	             2 + (TURNS * EVENTS / GPUTRACE_WRITER_RETRY + 1) * GPUTRACE_DEVICE_TRIES));
	device_memory_recycle(&memory, 0);
	while (memory.states[0] == GPUTRACE_DEVICE_FREE) {
		gputrace_writer_room(&writer, 1);
		write_marks(&writer, 1);
	}
	gputrace_writer_close(&writer);
	cr_expect(eq(u64, memory.chunks[0].lost, memory.ring->lost), "all of it");
	cr_expect(ge(u64, memory.ring->lost, TURNS * EVENTS));
	cr_expect(lt(u64, memory.ring->lost, TURNS * EVENTS + GPUTRACE_WRITER_RETRY));
}

Test(device_writer, counts_every_event_that_finds_no_room)
{
	enum { MANY = 1000 };

	begin_kernel(1, 0);
	write_marks(&writer, FULL + MANY);
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(ge(u64, memory.ring->lost, MANY - GPUTRACE_WRITER_RETRY));
	gputrace_writer_close(&writer);
	cr_expect(eq(u64, memory.ring->lost, MANY));
	/* tried once in 64 events, with no more tickets than are allowed */
	cr_expect(le(u64, memory.ring->next,
	             2 + (MANY / GPUTRACE_WRITER_RETRY + 1) * GPUTRACE_DEVICE_TRIES));
}

Test(device_writer, goes_on_when_there_is_room_again_and_says_what_is_missing)
{
	uint64_t written;

	begin_kernel(1, 0);
	write_marks(&writer, FULL + 10);
	device_memory_recycle(&memory, 0);
	write_marks(&writer, 100);
	gputrace_writer_close(&writer);
	written = memory.states[0] >> GPUTRACE_DEVICE_STATE_BITS;
	cr_expect(eq(u64, memory.chunks[0].lost, GPUTRACE_WRITER_RETRY));
	cr_expect(eq(u32, memory.chunks[0].part, 1));
	cr_expect(eq(u64, FULL + written + memory.ring->lost, FULL + 110));
}

Test(device_writer, counts_on_where_its_own_count_ends)
{
	begin_kernel(1, 0);
	memory.states[0] = GPUTRACE_DEVICE_OPEN;
	/* 2^32 - 64 were lost and counted */
	writer.next |= (UINT64_C(0xffffffff) - GPUTRACE_WRITER_RETRY + 1)
	               << GPUTRACE_WRITER_LOST_SHIFT;
	write_marks(&writer, 3 * GPUTRACE_WRITER_RETRY + 5);
	gputrace_writer_close(&writer);
	cr_expect(eq(u64, memory.ring->lost, 3 * GPUTRACE_WRITER_RETRY + 5));
}

Test(device_writer, overwrites_what_is_closed_and_counts_it)
{
	begin_kernel(2, GPUTRACE_DEVICE_OVERWRITE);
	write_marks(&writer, 3 * FULL + 2);
	gputrace_writer_close(&writer);
	cr_expect(eq(u64, memory.ring->lost, 0));
	cr_expect(eq(u64, memory.ring->overwritten, 2 * FULL));
	cr_expect(eq(u32, memory.states[0], closed(FULL)));
	cr_expect(eq(u32, memory.states[1], closed(2)));
	cr_expect(eq(u32, memory.chunks[1].part, 3));
	cr_expect(eq(u32, memory.chunks[1].events[2].tag, 0), "what was there before is gone");
}

Test(device_writer, passes_over_open_chunks_to_overwrite_one_that_is_closed)
{
	begin_kernel(CHUNKS, GPUTRACE_DEVICE_OVERWRITE);
	for (uint32_t i = 0; i < GPUTRACE_DEVICE_TRIES - 1; i++)
		memory.states[i] = GPUTRACE_DEVICE_OPEN;
	memory.states[GPUTRACE_DEVICE_TRIES - 1] = closed(4);
	write_marks(&writer, 1);
	gputrace_writer_close(&writer);
	cr_expect(eq(u32, memory.states[GPUTRACE_DEVICE_TRIES - 1], closed(1)));
	cr_expect(eq(u64, memory.ring->overwritten, 4));
	cr_expect(eq(u64, memory.ring->lost, 0));
}

Test(device_writer, overwrites_nothing_that_is_open)
{
	begin_kernel(1, GPUTRACE_DEVICE_OVERWRITE);
	memory.states[0] = GPUTRACE_DEVICE_OPEN;
	write_marks(&writer, 5);
	gputrace_writer_close(&writer);
	cr_expect(eq(u64, memory.ring->lost, 5));
	cr_expect(eq(u64, memory.ring->overwritten, 0));
}

/* Chunks of a ring in which writers have runs of up to 8. */
enum { MANY_CHUNKS = 8 * GPUTRACE_WRITER_RUNS };

static void expect_states(uint32_t first, uint32_t end, uint32_t state)
{
	for (uint32_t i = first; i < end; i++)
		cr_expect(eq(u32, memory.states[i], state), "chunk %u", i);
}

Test(device_writer, takes_runs_that_grow)
{
	const uint32_t places[] = {0, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19};

	begin_kernel(MANY_CHUNKS, 0);
	write_marks(&writer, 11 * FULL + 5); /* in 1, 2, 6 and 8, each from an even one on */
	cr_expect(eq(u64, memory.ring->next, MANY_CHUNKS + 20));
	expect_states(1, 2, GPUTRACE_DEVICE_FREE);
	expect_states(2, 10, closed(FULL));
	expect_states(10, 12, GPUTRACE_DEVICE_FREE);
	expect_states(12, 20, GPUTRACE_DEVICE_OPEN);
	gputrace_writer_close(&writer);
	expect_states(12, 14, closed(FULL));
	expect_states(14, 15, closed(5));
	expect_states(15, 20, closed(0));
	expect_states(20, 24, GPUTRACE_DEVICE_FREE);
	for (uint32_t i = 0; i < 17; i++) {
		const struct gputrace_device_chunk *chunk = &memory.chunks[places[i]];
		const struct gputrace_device_chunk *before = &memory.chunks[places[i ? i - 1 : 0]];

		cr_expect(eq(u64, chunk->ticket, MANY_CHUNKS + places[i]));
		cr_expect(eq(u32, chunk->part, i));
		cr_expect(eq(u64, chunk->grid_id, 77));
		cr_expect(eq(u32, chunk->threads, 128));
		cr_expect(eq(int, chunk->globaltimer != 0, i < 12));
		if (i == 0 || i >= 12)
			continue;
		cr_expect(gt(u64, chunk->clock, before->events[FULL - 1].clock));
		cr_expect(eq(u64, chunk->clock, chunk->events[0].clock));
	}
}

/* The first chunk of a run says what found no room before it; of the others there is nothing. */
Test(device_writer, says_what_is_missing_once_in_a_run)
{
	begin_kernel(MANY_CHUNKS, 0);
	write_marks(&writer, 9 * FULL); /* in 1, 2 and 6 */
	for (uint32_t i = 10; i < MANY_CHUNKS; i++)
		memory.states[i] = GPUTRACE_DEVICE_OPEN;
	memory.states[1] = GPUTRACE_DEVICE_OPEN;
	write_marks(&writer, GPUTRACE_WRITER_RETRY);
	for (uint32_t i = 10; i < MANY_CHUNKS; i++)
		memory.states[i] = GPUTRACE_DEVICE_FREE;
	write_marks(&writer, GPUTRACE_WRITER_RETRY + 7 * FULL);
	gputrace_writer_close(&writer);
	cr_expect(eq(u64, memory.ring->lost, GPUTRACE_WRITER_RETRY));
	for (uint32_t i = 0; i < MANY_CHUNKS; i++) {
		const struct gputrace_device_chunk *chunk = &memory.chunks[i];

		cr_expect(eq(u64, chunk->lost, chunk->part == 9 ? GPUTRACE_WRITER_RETRY : 0),
		          "chunk %u, part %u", i, chunk->part);
	}
}

Test(device_writer, ends_a_run_where_a_chunk_is_taken)
{
	begin_kernel(MANY_CHUNKS, 0);
	memory.states[15] = GPUTRACE_DEVICE_OPEN;
	write_marks(&writer, 10 * FULL);
	expect_states(12, 14, GPUTRACE_DEVICE_OPEN);
	expect_states(14, 15, GPUTRACE_DEVICE_FREE);
	expect_states(16, 20, GPUTRACE_DEVICE_FREE);
	memory.states[20] = closed(3);
	write_marks(&writer, FULL + 1); /* the run of 8 that begins with it fails: one chunk */
	gputrace_writer_close(&writer);
	expect_states(12, 14, closed(FULL));
	expect_states(14, 15, GPUTRACE_DEVICE_FREE);
	expect_states(20, 21, closed(3));
	expect_states(21, 29, GPUTRACE_DEVICE_FREE);
	expect_states(29, 30, closed(1));
	cr_expect(eq(u32, memory.chunks[29].part, 11));
	cr_expect(eq(u64, memory.chunks[29].ticket, MANY_CHUNKS + 29));
	cr_expect(eq(u64, memory.ring->lost, 0));
}

Test(device_writer, begins_runs_with_an_even_chunk)
{
	begin_kernel(MANY_CHUNKS, 0);
	write_marks(&writer, 3 * FULL);
	memory.ring->next++; /* another writer's */
	write_marks(&writer, 6 * FULL);
	gputrace_writer_close(&writer);
	expect_states(4, 6, GPUTRACE_DEVICE_FREE);
	expect_states(6, 12, closed(FULL));
	cr_expect(eq(u64, memory.chunks[6].ticket, MANY_CHUNKS + 6));
	cr_expect(eq(u64, memory.ring->next, MANY_CHUNKS + 12));
	cr_expect(eq(u64, memory.ring->lost, 0));
}

Test(device_writer, goes_round_the_ring_s_end_with_another_run)
{
	begin_kernel(MANY_CHUNKS, 0);
	write_marks(&writer, 3 * FULL);
	memory.ring->next = 2 * MANY_CHUNKS - 4;
	write_marks(&writer, 5 * FULL);
	gputrace_writer_close(&writer);
	expect_states(MANY_CHUNKS - 4, MANY_CHUNKS, closed(FULL)); /* 4 of 6 */
	expect_states(4, 5, closed(FULL)); /* the next tickets were those of 0 to 2, and taken */
	cr_expect(eq(u64, memory.ring->lost, 0));
}

Test(device_writer, that_overwrites_takes_one_chunk_after_the_other)
{
	begin_kernel(MANY_CHUNKS, GPUTRACE_DEVICE_OVERWRITE);
	write_marks(&writer, 20 * FULL);
	cr_expect(eq(u64, memory.ring->next, MANY_CHUNKS + 20));
	gputrace_writer_close(&writer);
	expect_states(0, 20, closed(FULL));
}

Test(device_writer, leaves_a_run_when_gputrace_does)
{
	uint64_t variable;

	begin_kernel(MANY_CHUNKS, 0);
	variable = (uintptr_t)memory.ring;
	gputrace_writer_init(&writer, (uintptr_t)&variable | GPUTRACE_WRITER_VARIABLE, 1);
	write_marks(&writer, 3 * FULL);
	variable = 0;
	write_marks(&writer, 8 * FULL);
	cr_expect(eq(u64, writer.next, GPUTRACE_WRITER_IDLE));
	gputrace_writer_close(&writer);
	expect_states(2, 4, GPUTRACE_DEVICE_OPEN);
}

enum { THREADS = 4, EVENTS_OF_ONE = 20000 };

static uint32_t threads_done;

static void *play_thread(void *number)
{
	struct gputrace_writer own;

	playing = (struct playing){.clock_step = 1,
	                           .blocks = 1,
	                           .thread = (uint32_t)(uintptr_t)number,
	                           .threads = THREADS};
	gputrace_writer_init(&own, (uintptr_t)memory.ring, 1);
	for (uint32_t i = 0; i < EVENTS_OF_ONE; i++)
		gputrace_writer_int(&own, DEPTH, i);
	gputrace_writer_close(&own);
	__atomic_fetch_add(&threads_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* The values of a closed chunk rise by one, as the thread wrote them; 0: they do not. */
static uint64_t count_values(const struct gputrace_device_chunk *chunk, uint32_t count)
{
	uint64_t values = 0;
	uint64_t last = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (kind_of(&chunk->events[i]) != GPUTRACE_DEVICE_INT)
			continue;
		if (values && chunk->events[i].value != last + 1)
			return 0;
		last = chunk->events[i].value;
		values++;
	}
	return values;
}

/* As gputrace does: the closed chunks are counted and given back. */
static uint64_t read_closed(uint64_t *wrong)
{
	uint64_t read = 0;

	for (uint32_t i = 0; i < memory.ring->chunk_count; i++) {
		const uint32_t state = __atomic_load_n(&memory.states[i], __ATOMIC_ACQUIRE);
		uint64_t values;

		if (state <= GPUTRACE_DEVICE_OPEN)
			continue;
		if (state != closed(0)) { /* of a run, and not needed */
			values = count_values(&memory.chunks[i],
			                      state >> GPUTRACE_DEVICE_STATE_BITS);
			*wrong += values == 0;
			read += values;
		}
		device_memory_recycle(&memory, i);
	}
	return read;
}

static void write_while_somebody_reads(uint32_t chunk_count)
{
	pthread_t threads[THREADS];
	uint64_t read = 0;
	uint64_t wrong = 0;

	begin_kernel(chunk_count, 0);
	threads_done = 0;
	for (uintptr_t i = 0; i < THREADS; i++)
		cr_assert(eq(int, pthread_create(&threads[i], NULL, play_thread, (void *)i), 0));
	while (__atomic_load_n(&threads_done, __ATOMIC_ACQUIRE) < THREADS)
		read += read_closed(&wrong);
	read += read_closed(&wrong);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cr_expect(eq(u64, wrong, 0));
	cr_expect(eq(u64, read + memory.ring->lost, (uint64_t)THREADS * EVENTS_OF_ONE));
	cr_expect(gt(u64, read, 0));
}

Test(device_writer, loses_only_what_the_count_says_while_somebody_reads)
{
	write_while_somebody_reads(64);
}

Test(device_writer, with_runs_loses_only_what_the_count_says_while_somebody_reads)
{
	write_while_somebody_reads(4 * GPUTRACE_WRITER_RUNS);
}

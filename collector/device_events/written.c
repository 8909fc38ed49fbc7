/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/device_events/written.h"

#include <stdlib.h>

#include "collector/stage.h"
#include "model/index.h"
#include "model/known.h"

enum {
	MOST_THREADS = 1024, /* of a block, and multiprocessors of a GPU, of every one there is */
	MOST_SMS = 65536,
	NO_CHUNK = -1,
	MOST_CHUNKS = INT32_MAX,
};

#define BROKEN ((gt_id)MOST_CHUNKS)

/* Turns of the half clock between two events: a month. More is damage. */
#define MOST_TURNS 1048576.0

/* The chunks of a context by their number, each the place in chunks or BROKEN. */
struct tickets {
	struct gt_known places;
};

struct maker {
	struct gt_written *written;
	const struct gt_capture *capture;
	struct gt_known contexts; /* places in tickets by CUPTI's id */
	gt_array(struct tickets) tickets;
	int32_t *chunk_of; /* by event; NO_CHUNK */
};

static bool makes_sense(const struct gt_record_device_chunk *raw)
{
	return raw->globaltimer != 0 && raw->globaltimer <= GT_MOST_TIMER &&
	       raw->clock <= GT_MOST_TIMER && raw->sm < MOST_SMS && raw->block < raw->blocks &&
	       raw->thread < raw->threads && raw->threads <= MOST_THREADS;
}

static struct gt_known *tickets_of(struct maker *maker, uint32_t context)
{
	gt_id place;

	if (gt_known_is_new(&maker->contexts, context, maker->tickets.count, &place))
		*gt_array_push(&maker->tickets) = (struct tickets){{0}};
	return &maker->tickets.rows[place].places;
}

static void add_chunk(struct maker *maker, const struct gt_record_device_chunk *raw)
{
	struct gt_known *tickets = tickets_of(maker, raw->context);
	struct gt_written *written = maker->written;

	if (gt_known_find(tickets, raw->ticket) != GT_NONE)
		return; /* it came before */
	if (!makes_sense(raw) || written->chunks.count >= MOST_CHUNKS) {
		written->broken++;
		gt_known_add(tickets, raw->ticket, BROKEN);
		return;
	}
	gt_known_add(tickets, raw->ticket, (gt_id)written->chunks.count);
	*gt_array_push(&written->chunks) = (struct gt_written_chunk){
		.globaltimer = raw->globaltimer,
		.clock = raw->clock,
		.grid_id = raw->grid_id,
		.ticket = raw->ticket,
		.lost = raw->lost,
		.context = raw->context,
		.sm = raw->sm,
		.part = raw->part,
		.block = raw->block,
		.blocks = raw->blocks,
		.thread = raw->thread,
		.threads = raw->threads,
	};
}

static int32_t find_chunk(struct maker *maker, const struct gt_record_device_event *event)
{
	const gt_id place = gt_known_find(tickets_of(maker, event->context), event->ticket);

	return place < MOST_CHUNKS ? (int32_t)place : NO_CHUNK;
}

/* Which chunk each event is of, and which events each chunk has. */
static void sort_out(struct maker *maker)
{
	const struct gt_capture *capture = maker->capture;
	const struct gt_record_device_event *before = NULL;
	int32_t found = NO_CHUNK;

	for (size_t i = 0; i < capture->raw_device_events.count; i++) {
		const struct gt_record_device_event *event = &capture->raw_device_events.rows[i];
		const uint32_t bit =
			event->sequence < GPUTRACE_DEVICE_EVENTS ? 1u << event->sequence : 0;

		if (!before || before->ticket != event->ticket || before->context != event->context)
			found = find_chunk(maker, event);
		before = event;
		maker->chunk_of[i] = bit ? found : NO_CHUNK;
		if (maker->chunk_of[i] == NO_CHUNK)
			maker->written->orphans++;
		else if (maker->written->chunks.rows[found].seen & bit)
			maker->chunk_of[i] = NO_CHUNK; /* it came before */
		else
			maker->written->chunks.rows[found].seen |= bit;
	}
}

static uint32_t count_bits(uint32_t bits)
{
	return (uint32_t)__builtin_popcount(bits);
}

static void place_events(struct maker *maker)
{
	const struct gt_capture *capture = maker->capture;
	struct gt_written *written = maker->written;
	uint32_t count = 0;

	gt_array_each(struct gt_written_chunk, chunk, &written->chunks) {
		chunk->first = count;
		count += count_bits(chunk->seen);
	}
	written->event_count = count;
	written->events = gt_allocate(count * sizeof(*written->events));
	for (size_t i = 0; i < capture->raw_device_events.count; i++) {
		const struct gt_record_device_event *event = &capture->raw_device_events.rows[i];
		const struct gt_written_chunk *chunk;

		if (maker->chunk_of[i] == NO_CHUNK)
			continue;
		chunk = &written->chunks.rows[maker->chunk_of[i]];
		written->events[chunk->first +
		                count_bits(chunk->seen & ((1u << event->sequence) - 1))] =
			(struct gt_written_event){event->value, event->clock, event->tag};
	}
}

/* ---- order ---- */

static int by_number(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static int by_launch(const struct gt_written_chunk *left, const struct gt_written_chunk *right)
{
	int order = by_number(left->launch, right->launch);

	if (!order)
		order = by_number(left->context, right->context);
	if (!order)
		order = by_number(left->grid_id, right->grid_id);
	if (!order)
		order = by_number(left->blocks, right->blocks);
	return order ? order : by_number(left->threads, right->threads);
}

static int by_writer(const void *a, const void *b)
{
	const struct gt_written_chunk *left = a;
	const struct gt_written_chunk *right = b;
	int order = by_launch(left, right);

	if (!order)
		order = by_number(left->block, right->block);
	if (!order)
		order = by_number(left->thread, right->thread);
	if (!order)
		order = by_number(left->globaltimer, right->globaltimer);
	return order ? order : by_number(left->part, right->part);
}

static void sort_chunks(struct gt_written *written)
{
	if (written->chunks.count > 1)
		qsort(written->chunks.rows, written->chunks.count, sizeof(struct gt_written_chunk),
		      by_writer);
}

static bool is_of_thread(const struct gt_written_chunk *before,
                         const struct gt_written_chunk *chunk)
{
	return chunk->context == before->context && chunk->grid_id == before->grid_id &&
	       chunk->blocks == before->blocks && chunk->threads == before->threads &&
	       chunk->block == before->block && chunk->thread == before->thread;
}

bool gt_written_same(const struct gt_written_chunk *before, const struct gt_written_chunk *chunk)
{
	return chunk->launch == before->launch && is_of_thread(before, chunk);
}

/* A launch's numbers, as a key. */
struct identity {
	uint64_t grid_id;
	uint32_t context;
	uint32_t blocks;
	uint32_t threads;
	uint32_t again;
};

static void add_launch(struct gt_written *written, const struct identity *identity)
{
	*gt_array_push(&written->launches) = (struct gt_written_launch){
		.grid_id = identity->grid_id,
		.context = identity->context,
		.blocks = identity->blocks,
		.threads = identity->threads,
		.again = identity->again,
	};
}

/* Numbers the launches of chunks in order; whether some come again, so that the order is another. */
static bool number_launches(struct gt_written *written)
{
	struct gt_index *launches = gt_index_new(sizeof(struct identity));
	const struct gt_written_chunk *before = NULL;
	bool comes_again = false;
	uint32_t again = 0;

	gt_array_each(struct gt_written_chunk, chunk, &written->chunks) {
		const bool same = before && is_of_thread(before, chunk);
		struct identity identity = {chunk->grid_id, chunk->context, chunk->blocks,
		                            chunk->threads, 0};

		again = !same ? 0 : again + (chunk->part <= before->part);
		comes_again |= again > 0;
		identity.again = again;
		chunk->launch = (uint32_t)gt_index_add(launches, &identity);
		if (chunk->launch == written->launches.count)
			add_launch(written, &identity);
		before = chunk;
	}
	gt_index_free(launches);
	return comes_again;
}

static void find_launches(struct gt_written *written)
{
	sort_chunks(written);
	if (number_launches(written))
		sort_chunks(written);
	for (size_t i = 0; i < written->chunks.count; i++) {
		struct gt_written_launch *launch =
			&written->launches.rows[written->chunks.rows[i].launch];

		if (launch->count++ == 0)
			launch->first = (uint32_t)i;
	}
}

void gt_written_init(struct gt_written *written, const struct gt_capture *capture)
{
	struct maker maker = {.written = written, .capture = capture};

	*written = (struct gt_written){.broken = 0};
	maker.chunk_of = gt_allocate((capture->raw_device_events.count + 1) * sizeof(int32_t));
	gt_array_each(const struct gt_record_device_chunk, raw, &capture->raw_device_chunks)
		add_chunk(&maker, raw);
	sort_out(&maker);
	place_events(&maker);
	find_launches(written);
	gt_array_free(maker.chunk_of);
	gt_array_each(struct tickets, tickets, &maker.tickets)
		gt_known_release(&tickets->places);
	gt_array_release(&maker.tickets);
	gt_known_release(&maker.contexts);
}

void gt_written_release(struct gt_written *written)
{
	gt_array_release(&written->chunks);
	gt_array_release(&written->launches);
	gt_array_free(written->events);
	written->events = NULL;
	written->event_count = 0;
}

/* ---- clocks ---- */

struct gt_written_reader gt_written_read(const struct gt_written *written,
                                         const struct gt_written_chunk *chunk, double cycles_per_ns)
{
	return (struct gt_written_reader){
		.written = written,
		.chunk = chunk,
		.cycles_per_ns = cycles_per_ns,
		.clock = chunk->clock,
		.timed_clock = chunk->clock,
		.timed = chunk->globaltimer,
	};
}

static bool is_timed(uint32_t kind)
{
	return kind == GPUTRACE_DEVICE_TIME || kind & GPUTRACE_DEVICE_TIMED;
}

/* The half clock went round where much more time is gone than it says. */
static void add_turns(struct gt_written_reader *reader, uint64_t globaltimer)
{
	const double expected = (double)(globaltimer - reader->timed) * reader->cycles_per_ns;
	const double turns =
		(expected - (double)(reader->clock - reader->timed_clock)) / 4294967296.0 + 0.5;

	if (turns >= 1 && turns < MOST_TURNS)
		reader->clock += (uint64_t)turns << 32;
}

bool gt_written_next(struct gt_written_reader *reader, struct gt_written_step *step)
{
	const struct gt_written_event *event;

	while (reader->number < GPUTRACE_DEVICE_EVENTS &&
	       !(reader->chunk->seen & 1u << reader->number))
		reader->number++;
	if (reader->number == GPUTRACE_DEVICE_EVENTS)
		return false;
	event = &reader->written->events[reader->chunk->first + reader->at++];
	reader->clock += (uint32_t)(event->clock - (uint32_t)reader->clock);
	*step = (struct gt_written_step){.event = event, .number = reader->number++};
	if (is_timed(GPUTRACE_DEVICE_TAG_KIND(event->tag)) && event->value >= reader->timed &&
	    event->value <= GT_MOST_TIMER) {
		add_turns(reader, event->value);
		reader->timed = step->globaltimer = event->value;
		reader->timed_clock = reader->clock;
	}
	step->clock = reader->clock;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "hostile/mutate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/file/chunk.h"
#include "format/file/columns.h"

static bool one_in(uint64_t *state, uint64_t count)
{
	return next_random(state) % count == 0;
}

/* Numbers that programs stumble over, and any. */
static uint64_t odd_number(uint64_t *state, uint64_t near)
{
	static const uint64_t odd[] = {
		0,          1,          UINT64_MAX,     INT64_MAX, (uint64_t)INT64_MIN,
		UINT32_MAX, INT32_MAX,  UINT32_MAX - 1, 1u << 26,  UINT64_MAX - 1,
		1ull << 62, 1ull << 58, 1ull << 57,     65535,     65536,
		1ull << 53, 4096,       4294967296,     255,       600,
	};
	const uint64_t choice = next_random(state) % 4;

	if (choice == 0)
		return near + next_random(state) % 64 - 32;
	if (choice == 1)
		return next_random(state) >> next_random(state) % 64;
	return odd[next_random(state) % (sizeof(odd) / sizeof(odd[0]))];
}

size_t mutate_bytes(uint8_t *bytes, size_t size, uint64_t *state)
{
	const uint64_t strokes = 1 + next_random(state) % 8;

	for (uint64_t i = 0; size > 0 && i < strokes; i++) {
		const size_t at = next_random(state) % size;

		switch (next_random(state) % 4) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << next_random(state) % 8);
			break;
		case 1:
			bytes[at] = (uint8_t)next_random(state);
			break;
		case 2: { /* one part over another */
			const size_t from = next_random(state) % size;
			const size_t most = size - (at > from ? at : from);

			memmove(bytes + at, bytes + from, next_random(state) % (most + 1) % 64);
			break;
		}
		default:
			if (one_in(state, 8))
				size = at;
			break;
		}
	}
	return size;
}

/* The fields of some records, each column by itself: all of them or few. */
static void mutate_records(const struct gt_record_info *info, uint8_t *rows, size_t count,
                           uint64_t *state)
{
	const uint64_t strokes = 1 + next_random(state) % 16;

	for (uint64_t i = 0; count > 0 && i < strokes; i++) {
		const struct gt_field *field =
			&info->fields[next_random(state) % info->field_count];
		const bool all = one_in(state, 6);
		const bool same = one_in(state, 2);
		const size_t first = all ? 0 : next_random(state) % count;
		const size_t end = all ? count : first + 1;
		uint64_t value = 0;

		for (size_t row = first; row < end; row++) {
			uint8_t *at = rows + row * info->size + field->offset;
			uint64_t before = 0;

			memcpy(&before, at, field->width);
			if (row == first || !same)
				value = odd_number(state, before);
			memcpy(at, &value, field->width);
		}
	}
}

static void put_records(struct capture *to, const struct gt_chunk *chunk, uint64_t *state)
{
	const struct gt_record_info *info = gt_record_info(chunk->header.kind);
	const struct gt_origin origin = {.source = chunk->header.source,
	                                 .part = chunk->header.part};
	uint8_t *rows = calloc(GT_CHUNK_MAX_RECORDS, info->size);
	size_t count = chunk->header.count;

	if (gt_columns_decode(info, chunk->payload, chunk->header.raw, rows, count) == 0) {
		mutate_records(info, rows, count, state);
		if (one_in(state, 16))
			count = GT_CHUNK_MAX_RECORDS;
		for (uint64_t i = one_in(state, 16) ? 20 : 1; i > 0; i--)
			(void)gt_writer_records(&to->writer, chunk->header.kind, rows, count,
			                        origin);
	}
	free(rows);
}

/* The payload as bytes, with another kind or count perhaps. */
static void put_payload(struct capture *to, const struct gt_chunk *chunk, uint64_t *state)
{
	uint8_t *payload = malloc(chunk->header.raw + 1);
	uint32_t kind = chunk->header.kind;
	uint32_t count = chunk->header.count;
	size_t size = chunk->header.raw;

	memcpy(payload, chunk->payload, size);
	if (!one_in(state, 4))
		size = mutate_bytes(payload, size, state);
	if (one_in(state, 8))
		kind = (uint32_t)(next_random(state) % 40);
	if (one_in(state, 4))
		count = (uint32_t)odd_number(state, count);
	(void)gt_writer_payload(&to->writer, (uint16_t)kind, payload, size, count);
	free(payload);
}

static void put_as_it_is(struct capture *to, const struct gt_chunk *chunk)
{
	(void)gt_writer_payload(&to->writer, chunk->header.kind, chunk->payload, chunk->header.raw,
	                        chunk->header.count);
}

static void put_chunk(struct capture *to, const struct gt_chunk *chunk, uint64_t *state)
{
	switch (next_random(state) % 8) {
	case 0:
	case 1:
		if (gt_record_info(chunk->header.kind))
			put_records(to, chunk, state);
		else
			put_payload(to, chunk, state);
		break;
	case 2:
		put_payload(to, chunk, state);
		break;
	case 3:
		if (one_in(state, 2)) /* twice */
			put_as_it_is(to, chunk);
		if (one_in(state, 4)) /* or not at all */
			break;
		put_as_it_is(to, chunk);
		break;
	default:
		put_as_it_is(to, chunk);
		break;
	}
}

void mutate_capture(struct capture *to, const uint8_t *from, size_t size, uint64_t *state)
{
	uint8_t *scratch = malloc(GT_CHUNK_MAX_RAW);
	struct gt_reader reader;
	struct gt_chunk chunk;

	if (capture_read(&reader, from, size, scratch) < 0)
		abort();
	while (gt_reader_next(&reader, &chunk) > 0)
		put_chunk(to, &chunk, state);
	free(scratch);
	if (one_in(state, 8))
		to->size = mutate_bytes(to->bytes, to->size, state);
}

static void scribble(uint8_t *bytes, size_t size, uint64_t strokes, uint64_t *state)
{
	for (uint64_t i = 0; i < strokes; i++) {
		const size_t width = one_in(state, 2) ? 4 : 8;
		const size_t at = next_random(state) % (size / width) * width;
		uint64_t value = 0;

		memcpy(&value, bytes + at, width);
		value = odd_number(state, value);
		memcpy(bytes + at, &value, width);
	}
}

void mutate_arena(const struct test_arena *arena, uint64_t *state)
{
	const struct gt_arena_header *header = arena->arena.header;
	const size_t slots = header->slot_count;
	const struct gt_slot *slot = &arena->arena.slots[next_random(state) % slots];
	const size_t used = slot->used && slot->used < slot->size ? slot->used : 64;

	/* Contents of slots first: a damaged header mostly is the end of it. */
	for (uint64_t i = next_random(state) % 8; i > 0; i--)
		scribble(gt_slot_memory(&arena->arena, slot), used, 1, state);
	for (size_t i = 0; i < 8; i++) {
		const struct gt_slot *some =
			&arena->arena.slots[i < 4 ? i : next_random(state) % slots];

		if (some->used && one_in(state, 2))
			scribble(gt_slot_memory(&arena->arena, some), some->used,
			         next_random(state) % 8, state);
	}
	scribble(arena->arena.heap, 512, next_random(state) % 3, state);
	if (one_in(state, 2))
		scribble((uint8_t *)&arena->arena.header->string_count,
		         sizeof(*header) - offsetof(struct gt_arena_header, string_count),
		         next_random(state) % 4, state);
	if (one_in(state, 4))
		scribble((uint8_t *)arena->arena.slots, slots * sizeof(*slot), 2, state);
	if (one_in(state, 8))
		scribble((uint8_t *)arena->arena.header, sizeof(*header), 2, state);
}

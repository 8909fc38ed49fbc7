/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/arena/salvage.h"
#include "format/file/columns.h"
#include "support/arena.h"
#include "support/capture.h"

/*
 * The arena of a process that died, with its capture. A real one is too large to be an input:
 * the input scribbles on one that is good. It is a list of strokes (which part, where, how
 * many bytes, the bytes); a stroke without bytes ends it, and what follows is the capture.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOTS = 4, SLOT_BYTES = 4096, STROKE_SIZE = 4 };

static uint8_t scratch[GT_CHUNK_MAX_RAW];
static uint8_t rows[GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE];

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

/* Slots in every state, names, clock readings. Made once; every input gets a private copy. */
static const struct test_arena *template(void)
{
	static struct test_arena test;
	struct gt_slot *slot;

	if (test.memory)
		return &test;
	test_arena_init(&test, SLOTS, SLOT_BYTES, "host-1-2.capture");
	add_name(&test, 0x1000, "saxpy");
	for (uint32_t i = 0; i < 3; i++) {
		slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
		for (uint32_t id = 1; id < 6; id++)
			add_raw_kernel(&test, slot, 10 * i + id, 0x1000);
		for (int activity = 0; activity < GT_ACTIVITY_COUNT; activity++)
			add_raw(&test, slot, (enum gt_cupti_activity)activity);
		slot->state = GT_SLOT_LENT + i; /* lent, full, draining */
	}
	for (uint32_t i = 0; i < 3; i++) {
		slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
		slot->tid = 100 + i;
		memcpy(slot->thread_name, "worker", 6);
		add_call(&test, slot, 1);
		add_call(&test, slot, 2);
		slot->state = GT_SLOT_LENT + i;
	}
	slot = gt_arena_take(&test.arena, GT_SLOT_DISCARD);
	add_raw_kernel(&test, slot, 99, 0x1000);
	test.arena.header->clocks[0].host_ns = 1000;
	test.arena.header->clock_count = 1;
	return &test;
}

struct region {
	void *bytes;
	size_t size;
};

static struct region region_of(const struct test_arena *test, uint8_t number)
{
	const struct gt_arena *arena = &test->arena;
	const uint32_t first_records = SLOTS; /* slots of threads follow CUPTI's */

	switch (number % 8) {
	case 0:
		return (struct region){arena->header, sizeof(*arena->header)};
	case 1:
		return (struct region){arena->slots, (SLOTS + 3) * sizeof(*arena->slots)};
	case 2:
		return (struct region){arena->slots + SLOTS + GT_RECORD_SLOTS,
		                       GT_DISCARD_SLOTS * sizeof(*arena->slots)};
	case 3:
		return (struct region){arena->heap, 1024};
	case 4:
		return (struct region){arena->names, GT_ARENA_NAMES * sizeof(*arena->names)};
	case 5:
		return (struct region){test->memory + arena->slots[first_records].offset, 256};
	case 6: /* how much there is of everything */
		return (struct region){&arena->header->string_count,
		                       offsetof(struct gt_arena_header, ledger) -
		                               offsetof(struct gt_arena_header, string_count)};
	default:
		return (struct region){test->memory + arena->slots[0].offset, SLOTS * SLOT_BYTES};
	}
}

/* Returns what is left of the input. */
static size_t scribble(const struct test_arena *template_arena, const struct test_arena *copy,
                       const uint8_t **data, size_t size)
{
	while (size >= STROKE_SIZE) {
		/* The places of the good arena: those of the copy may be scribbled on already. */
		const struct region place = region_of(template_arena, (*data)[0]);
		uint8_t *const begin =
			copy->memory + ((uint8_t *)place.bytes - template_arena->memory);
		const size_t at = gt_get_u16(*data + 1) % place.size;
		size_t length = (*data)[3] % 33;

		*data += STROKE_SIZE;
		size -= STROKE_SIZE;
		if (length == 0)
			break;
		if (length > size)
			length = size;
		if (length > place.size - at)
			length = place.size - at;
		memcpy(begin + at, *data, length);
		*data += length;
		size -= length;
	}
	return size;
}

static void read_salvaged(const struct capture *capture)
{
	struct gt_reader reader;
	struct gt_chunk chunk;

	must(capture_read(&reader, capture->bytes, capture->size, scratch) == 0);
	while (gt_reader_next(&reader, &chunk) > 0) {
		const struct gt_record_info *info = gt_record_info(chunk.header.kind);
		struct gt_text text;
		size_t offset = 0;

		must(chunk.header.flags & GT_CHUNK_SALVAGED);
		must(!info || gt_columns_decode(info, chunk.payload, chunk.header.raw, rows,
		                                chunk.header.count) == 0);
		while (chunk.header.kind == GT_RECORD_STRINGS &&
		       gt_chunk_next_string(&chunk, &offset, &text) > 0)
			continue;
		must(chunk.header.kind != GT_RECORD_STRINGS || offset == chunk.header.raw);
	}
	must(!reader.torn && reader.skipped == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct test_arena *good = template();
	struct test_arena copy;
	struct capture whole;
	struct gt_error err = {0};
	size_t own = 0;
	int result;

	test_arena_copy(good, &copy);
	size = scribble(good, &copy, &data, size);
	if (gt_capture_own_bytes(data, size, &own, NULL) == 0)
		must(own <= size);
	capture_begin(&whole, CAPTURE_UNLIMITED);
	result = gt_salvage_arena(copy.memory, copy.size, data, own, capture_sink(&whole), &err);
	if (result == 0)
		read_salvaged(&whole);
	else
		must(result < 0 && err.text[0] != '\0');
	capture_release(&whole);
	test_arena_release(&copy);
	return 0;
}

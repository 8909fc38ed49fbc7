/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/arena/drain.h"
#include "format/file/columns.h"
#include "support/arena.h"
#include "support/capture.h"

/*
 * A buffer as CUPTI, or a thread's slot as a source hands it over, with anything in it: what the
 * drain makes of it are good chunks. The first byte says which of the two the rest is.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOTS = 1, SLOT_BYTES = 32768 };

static uint8_t scratch[GT_CHUNK_MAX_RAW];
static uint8_t rows[GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE];

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static uint32_t name_of(void *context, uint64_t pointer)
{
	(void)context;
	return (uint32_t)(pointer % 3); /* 0: not known */
}

static uint32_t string_of(void *context, const char *text, uint32_t size)
{
	return gt_arena_add_string(&((struct test_arena *)context)->arena, text, size);
}

static void drain_activity(struct gt_drain *drain, const struct test_arena *test,
                           const struct gt_slot *slot, uint32_t left)
{
	const uint8_t *at = gt_slot_memory(&test->arena, slot);
	uint32_t size;

	while ((size = gt_raw_size(&test->arena, at, left)) > 0) {
		gt_drain_activity(drain, at);
		at += size;
		left -= size;
	}
}

static void read_back(const struct capture *capture)
{
	struct gt_reader reader;
	struct gt_chunk chunk;

	must(capture_read(&reader, capture->bytes, capture->size, scratch) == 0);
	while (gt_reader_next(&reader, &chunk) > 0) {
		const struct gt_record_info *info = gt_record_info(chunk.header.kind);

		must(!info || gt_columns_decode(info, chunk.payload, chunk.header.raw, rows,
		                                chunk.header.count) == 0);
	}
	must(!reader.torn && reader.skipped == 0);
}

static void drain(struct test_arena *test, struct gt_slot *slot, struct capture *capture)
{
	static uint8_t *memory;
	const struct gt_drain_config config = {
		.arena = &test->arena,
		.writer = &capture->writer,
		.name_of = name_of,
		.string_of = string_of,
		.context = test,
	};
	struct gt_drain *drain;

	if (!memory)
		memory = aligned_alloc(64, (gt_drain_memory() + 63) & ~(size_t)63);
	memset(memory, 0, gt_drain_memory());
	drain = gt_drain_init(&config, memory, gt_drain_memory());
	must(drain != NULL);
	gt_drain_begin(drain, slot);
	if (slot->kind == GT_SLOT_ACTIVITY)
		drain_activity(drain, test, slot, slot->used);
	else
		gt_drain_records(drain, slot, slot->used);
	gt_drain_end(drain);
	gt_drain_header(drain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct test_arena good;
	struct test_arena copy;
	struct capture capture;
	struct gt_slot *slot;

	if (size == 0)
		return 0;
	if (!good.memory)
		test_arena_init(&good, SLOTS, SLOT_BYTES, "host-1-2.capture");
	test_arena_copy(&good, &copy);
	slot = gt_arena_take(&copy.arena, data[0] % 2 ? GT_SLOT_RECORDS : GT_SLOT_ACTIVITY);
	slot->tid = 100;
	size = size - 1 < slot->size ? size - 1 : slot->size;
	memcpy(gt_slot_memory(&copy.arena, slot), data + 1, size);
	slot->used = (uint32_t)size;
	capture_begin(&capture, CAPTURE_UNLIMITED);
	drain(&copy, slot, &capture);
	read_back(&capture);
	capture_release(&capture);
	test_arena_release(&copy);
	return 0;
}

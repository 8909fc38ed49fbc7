/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/header_chunks.h"

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "format/arena/arena.h"
#include "format/file/chunk.h"
#include "format/file/writer.h"
#include "format/records.h"

void gt_write_strings(struct gt_arena *arena, struct gt_writer *writer)
{
	uint32_t offset = atomic_load_explicit(&arena->header->heap_written, memory_order_relaxed);
	uint32_t id = atomic_load_explicit(&arena->header->strings_written, memory_order_relaxed);
	const char *text;
	uint32_t size;

	for (;;) {
		uint8_t *out = writer->raw;
		uint32_t next = offset;
		uint32_t count = 0;

		while (out < writer->raw + GT_CHUNK_MAX_RAW / 4 &&
		       gt_arena_next_string(arena, &next, &text, &size)) {
			id = gt_arena_next_id(arena, id);
			out = gt_put_varint(out, id);
			out = gt_put_varint(out, size);
			memcpy(out, text, size);
			out += size;
			count++;
		}
		if (count == 0)
			return;
		if (gt_writer_payload(writer, GT_RECORD_STRINGS, writer->raw,
		                      (size_t)(out - writer->raw), count) < 0)
			return;
		offset = next;
		atomic_store_explicit(&arena->header->strings_written, id, memory_order_relaxed);
		atomic_store_explicit(&arena->header->heap_written, offset, memory_order_relaxed);
	}
}

static void write_clocks(struct gt_arena *arena, struct gt_writer *writer)
{
	struct gt_arena_header *header = arena->header;
	const struct gt_origin none = {0};
	const uint32_t count = atomic_load_explicit(&header->clock_count, memory_order_acquire);
	uint32_t written = atomic_load_explicit(&header->clocks_written, memory_order_relaxed);

	if (count - written > GT_ARENA_CLOCKS)
		written = count - GT_ARENA_CLOCKS;
	while (written != count) {
		const uint32_t at = written % GT_ARENA_CLOCKS;
		const uint32_t to_end = GT_ARENA_CLOCKS - at;
		const uint32_t rows = count - written < to_end ? count - written : to_end;

		if (gt_writer_records(writer, GT_RECORD_clock, &header->clocks[at], rows, none) < 0)
			break; /* the next time, if they are still there */
		written += rows;
	}
	atomic_store_explicit(&header->clocks_written, written, memory_order_relaxed);
}

static void write_ledger(struct gt_arena *arena, struct gt_writer *writer)
{
	struct gt_arena_header *header = arena->header;
	const struct gt_origin none = {0};
	struct gt_record_ledger rows[GT_LEDGER_COUNT] = {{0}};

	for (uint32_t i = 0; i < GT_LEDGER_COUNT; i++) {
		rows[i].name = i + 1; /* gt_arena_format made these strings first */
		rows[i].value = atomic_load_explicit(&header->ledger[i], memory_order_relaxed);
	}
	(void)gt_writer_records(writer, GT_RECORD_ledger, rows, GT_LEDGER_COUNT, none);
}

/* Counts of the capture's records up to here; a reader that finds fewer knows what it lacks. */
static void write_written(struct gt_writer *writer)
{
	const uint64_t *written = writer->written;
	struct gt_record_written rows[GT_RECORD_KIND_COUNT];
	const struct gt_origin none = {0};
	size_t count = 0;

	if (!written)
		return;
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (written[kind])
			rows[count++] = (struct gt_record_written){written[kind], kind};
	(void)gt_writer_records(writer, GT_RECORD_written, rows, count, none);
}

void gt_write_header_chunks(struct gt_arena *arena, struct gt_writer *writer)
{
	gt_write_strings(arena, writer);
	write_clocks(arena, writer);
	write_ledger(arena, writer);
	write_written(writer);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/file/columns.h"
#include "format/file/reader.h"
#include "format/records.h"
#include "fuzz/recipe.h"
#include "support/capture.h"

/*
 * A whole capture: file header, chunks, texts, pairs, columns. An input that begins as a
 * capture is read as it is. From any other one a capture is built first, since no fuzzer
 * guesses a checksum (fuzz/recipe.h).
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t scratch[GT_CHUNK_MAX_RAW];
static uint8_t rows[2][GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE];
static uint8_t encoded[GT_CHUNK_MAX_RAW];

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void read_texts(const struct gt_chunk *chunk)
{
	const char *const begin = (const char *)chunk->payload;
	const char *const end = begin + chunk->header.raw;
	struct gt_text key;
	struct gt_text value;
	size_t offset = 0;

	while (gt_chunk_next_string(chunk, &offset, &key) > 0)
		must(key.bytes >= begin && key.bytes + key.size <= end);
	must(offset <= chunk->header.raw);
	offset = 0;
	while (gt_chunk_next_pair(chunk, &offset, &key, &value) > 0)
		must(key.bytes >= begin && key.bytes + key.size <= value.bytes &&
		     value.bytes + value.size <= end);
	must(offset <= chunk->header.raw);
}

/* Decoded records must come back the same from our own encoding of them. */
static void read_columns(const struct gt_chunk *chunk)
{
	const struct gt_record_info *info = gt_record_info(chunk->header.kind);
	const size_t count = chunk->header.count;
	size_t size;

	if (!info || gt_columns_decode(info, chunk->payload, chunk->header.raw, rows[0], count) < 0)
		return;
	size = gt_columns_encode(info, rows[0], count, encoded);
	must(size <= GT_COLUMNS_BOUND(info->field_count, count));
	must(gt_columns_decode(info, encoded, size, rows[1], count) == 0);
	must(memcmp(rows[0], rows[1], count * info->size) == 0);
}

static void read_capture(const uint8_t *bytes, size_t size)
{
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t end = 0;
	size_t unpacked = 0;
	size_t packed = 0;

	if (capture_read(&reader, bytes, size, scratch) < 0)
		return;
	while (gt_reader_next(&reader, &chunk) > 0) {
		must(chunk.at >= end && chunk.header.raw <= GT_CHUNK_MAX_RAW);
		end = chunk.at + GT_CHUNK_HEADER_SIZE + chunk.header.stored;
		must(end <= size && reader.good_bytes == end);
		read_texts(&chunk);
		read_columns(&chunk);
		unpacked++;
	}
	must(reader.offset == size && reader.good_bytes <= size);
	must(reader.skipped <= size && (reader.skipped == 0 || reader.damage_at < size));
	capture_read(&reader, bytes, size, NULL);
	while (gt_reader_next_packed(&reader, &chunk) > 0)
		packed++;
	/* Not as many: what cannot be unpacked can hold chunks, which are found in its place. */
	must(packed > 0 || unpacked == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct capture capture;
	uint8_t *exact;

	if (size >= 4 && memcmp(data, GT_FILE_MAGIC, 4) == 0) {
		read_capture(data, size);
		return 0;
	}
	capture_begin(&capture, CAPTURE_UNLIMITED);
	add_recipe(&capture, data, size);
	/* In memory of just that size, so that a read behind it is seen. */
	exact = malloc(capture.size);
	memcpy(exact, capture.bytes, capture.size);
	read_capture(exact, capture.size);
	free(exact);
	capture_release(&capture);
	return 0;
}

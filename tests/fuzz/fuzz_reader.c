/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/columns.h"
#include "format/reader.h"
#include "format/records.h"
#include "support/capture.h"

/*
 * A whole capture: file header, chunks, texts, pairs, columns. An input that begins as a
 * capture is read as it is. From any other one a capture is built first, since no fuzzer
 * guesses a checksum: chunk by chunk, the header's fields from 8 bytes, then the payload.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	RECIPE_SIZE = 8,
	CLAIM_COMPRESSED = 1, /* the payload is called a zstd frame */
	COMPRESS = 2,         /* it becomes one */
	DAMAGE = 4,           /* a bit flips after the checksum was made */
	CUT = 8,              /* the end is missing */
};

static uint8_t scratch[GT_CHUNK_MAX_RAW];
static uint8_t rows[2][GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE];
static uint8_t encoded[GT_CHUNK_MAX_RAW];

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void add_claimed(struct capture *capture, const uint8_t *recipe, const uint8_t *payload,
                        uint32_t size)
{
	uint8_t bytes[GT_CHUNK_HEADER_SIZE];
	struct gt_chunk_header header = {
		.kind = gt_get_u16(recipe),
		.flags = recipe[4] & CLAIM_COMPRESSED,
		.stored = size,
		.raw = recipe[4] & CLAIM_COMPRESSED ? recipe[5] * 16u : size,
		.count = gt_get_u16(recipe + 2),
	};

	gt_chunk_encode_header(bytes, &header);
	header.checksum = gt_chunk_checksum(bytes, payload, size);
	gt_chunk_encode_header(bytes, &header);
	capture_add_bytes(capture, bytes, sizeof(bytes));
	capture_add_bytes(capture, payload, size);
}

static void build(struct capture *capture, const uint8_t *data, size_t size)
{
	while (size >= RECIPE_SIZE) {
		const uint8_t *const recipe = data;
		const size_t begin = capture->size;
		const size_t claimed = gt_get_u16(recipe + 6);
		const size_t payload = claimed < size - RECIPE_SIZE ? claimed : size - RECIPE_SIZE;

		if (recipe[4] & COMPRESS)
			(void)gt_writer_payload(&capture->writer, gt_get_u16(recipe),
			                        recipe + RECIPE_SIZE, payload,
			                        gt_get_u16(recipe + 2));
		else
			add_claimed(capture, recipe, recipe + RECIPE_SIZE, (uint32_t)payload);
		if (recipe[4] & DAMAGE)
			capture->bytes[begin + recipe[5] % (capture->size - begin)] ^= 1;
		if (recipe[4] & CUT)
			capture->size -= recipe[5] % (capture->size - begin);
		data += RECIPE_SIZE + payload;
		size -= RECIPE_SIZE + payload;
	}
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

/* What decodes must come back the same from our own encoding of it. */
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
	must(packed >= unpacked);
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
	build(&capture, data, size);
	/* In memory of just that size, so that a read behind it is seen. */
	exact = malloc(capture.size);
	memcpy(exact, capture.bytes, capture.size);
	read_capture(exact, capture.size);
	free(exact);
	capture_release(&capture);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/reader.h"

#include <errno.h>
#include <string.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/recording.h"
#include "format/records.h"

int gt_reader_init(struct gt_reader *reader, const void *data, size_t size, void *scratch,
                   struct gt_error *err)
{
	const uint8_t *bytes = data;

	*reader =
		(struct gt_reader){.data = bytes,
	                           .size = size,
	                           .scratch = scratch,
	                           .work = GT_READER_WORK + GT_READER_WORK_SHARE * (uint64_t)size};
	if (size > 0 && memcmp(bytes, GT_FILE_MAGIC, size < 8 ? size : 8) != 0)
		return gt_fail(err, EBADMSG, "it is not a gputrace capture");
	if (size < GT_FILE_HEADER_SIZE) {
		reader->torn = true;
		reader->offset = size;
		return 0;
	}

	const uint32_t version = gt_get_u32(bytes + 8);
	const uint32_t header = gt_get_u32(bytes + 12);

	if (version > GT_FORMAT_VERSION)
		return gt_fail(
			err, EPROTO,
			"it was written by a newer gputrace (capture format %u; this one reads "
			"up to %u): update gputrace",
			version, GT_FORMAT_VERSION);
	if (version == 0 || header < GT_FILE_HEADER_SIZE || header > size)
		return gt_fail(err, EBADMSG, "its file header is damaged");
	reader->offset = header;
	reader->good_bytes = header;
	return 0;
}

size_t gt_reader_memory(void)
{
	return ZSTD_estimateDCtxSize();
}

void gt_reader_use(struct gt_reader *reader, void *memory)
{
	reader->decompressor = ZSTD_initStaticDCtx(memory, gt_reader_memory());
}

void gt_reader_skip_holes(struct gt_reader *reader, const struct gt_content *content)
{
	reader->content = content;
	reader->work = GT_READER_WORK + GT_READER_WORK_SHARE * (uint64_t)content->there;
}

/* False when so much more would be too much, and then for ever. */
static bool spend(struct gt_reader *reader, uint64_t bytes)
{
	if (bytes >= reader->work) {
		reader->work = 0;
		return false;
	}
	reader->work -= bytes;
	return true;
}

/* 1 a good chunk, 0 the file ends inside it, -EBADMSG damaged. */
static int check(struct gt_reader *reader, struct gt_chunk *chunk)
{
	const uint8_t *bytes = reader->data + reader->offset;
	const size_t left = reader->size - reader->offset;

	if (left < GT_CHUNK_HEADER_SIZE)
		return 0;
	if (gt_chunk_decode_header(bytes, &chunk->header) < 0)
		return -EBADMSG;
	if (chunk->header.stored > left - GT_CHUNK_HEADER_SIZE)
		return 0;
	chunk->payload = bytes + GT_CHUNK_HEADER_SIZE;
	chunk->at = reader->offset;
	if (!spend(reader, chunk->header.stored) ||
	    gt_chunk_checksum(bytes, chunk->payload, chunk->header.stored) !=
	            chunk->header.checksum)
		return -EBADMSG;
	return 1;
}

static size_t decompress(const struct gt_reader *reader, const struct gt_chunk *chunk)
{
	const struct gt_chunk_header *header = &chunk->header;

	if (reader->decompressor)
		return ZSTD_decompressDCtx(reader->decompressor, reader->scratch, header->raw,
		                           chunk->payload, header->stored);
	return ZSTD_decompress(reader->scratch, header->raw, chunk->payload, header->stored);
}

static int unpack(struct gt_reader *reader, struct gt_chunk *chunk)
{
	if (!(chunk->header.flags & GT_CHUNK_COMPRESSED))
		return chunk->header.stored == chunk->header.raw ? 0 : -EBADMSG;

	/* One frame of today's zstd and nothing after it: no skippable and no historic frames. */
	if (chunk->header.stored < sizeof(uint32_t) ||
	    gt_get_u32(chunk->payload) != ZSTD_MAGICNUMBER ||
	    ZSTD_findFrameCompressedSize(chunk->payload, chunk->header.stored) !=
	            chunk->header.stored)
		return -EBADMSG;

	if (!spend(reader, chunk->header.raw))
		return -EBADMSG;

	const size_t size = decompress(reader, chunk);

	if (ZSTD_isError(size) || size != chunk->header.raw)
		return -EBADMSG;
	chunk->payload = reader->scratch;
	return 0;
}

/* The next part that is no hole, from *from on: its begin and end. */
static size_t part_end(const struct gt_reader *reader, size_t *from)
{
	size_t end;

	if (!reader->content)
		return reader->size;
	end = gt_content_part(reader->content, from);
	return end < reader->size ? end : reader->size;
}

/* Moves to the next place that could be a chunk; false when there is none. */
static bool resynchronise(struct gt_reader *reader)
{
	const uint8_t magic[4] = {'G', 'T', 'C', 'K'};
	size_t from = reader->offset + 1;

	while (from < reader->size) {
		const size_t end = part_end(reader, &from);
		const uint8_t *found =
			from < end ? memmem(reader->data + from, end - from, magic, 4) : NULL;

		if (found) {
			reader->offset = (size_t)(found - reader->data);
			return true;
		}
		from = end;
	}
	return false;
}

static int end_here(struct gt_reader *reader)
{
	/* No good bytes at all: not even the file header was complete. */
	reader->torn = reader->good_bytes < reader->size || reader->good_bytes == 0;
	reader->offset = reader->size;
	return 0;
}

/* A good chunk is behind the reader then, as one that was given out. */
static bool pass(struct gt_reader *reader)
{
	struct gt_chunk chunk;

	if (!reader->passes || check(reader, &chunk) <= 0 || !reader->passes(reader, &chunk.header))
		return false;
	reader->offset += GT_CHUNK_HEADER_SIZE + chunk.header.stored;
	reader->good_bytes = reader->offset;
	return true;
}

static int next(struct gt_reader *reader, struct gt_chunk *chunk, bool unpacked)
{
	size_t begin;

	while (pass(reader))
		;
	begin = reader->offset;
	while (reader->offset < reader->size && reader->work > 0) {
		if (check(reader, chunk) > 0 && (!unpacked || unpack(reader, chunk) == 0)) {
			if (reader->offset > begin && reader->skipped == 0)
				reader->damage_at = begin;
			reader->skipped += reader->offset - begin;
			reader->offset += GT_CHUNK_HEADER_SIZE + chunk->header.stored;
			reader->good_bytes = reader->offset;
			return 1;
		}
		if (!resynchronise(reader))
			break;
	}
	return end_here(reader);
}

int gt_reader_next(struct gt_reader *reader, struct gt_chunk *chunk)
{
	return next(reader, chunk, true);
}

int gt_reader_next_packed(struct gt_reader *reader, struct gt_chunk *chunk)
{
	return next(reader, chunk, false);
}

static const uint8_t *next_text(const struct gt_chunk *chunk, const uint8_t *at,
                                struct gt_text *text)
{
	const uint8_t *const end = chunk->payload + chunk->header.raw;
	uint64_t size;

	at = gt_get_varint(at, end, &size);
	if (!at || size > (uint64_t)(end - at))
		return NULL;
	text->bytes = (const char *)at;
	text->size = (uint32_t)size;
	return at + size;
}

int gt_chunk_next_string(const struct gt_chunk *chunk, size_t *offset, struct gt_text *text)
{
	const uint8_t *const end = chunk->payload + chunk->header.raw;
	const uint8_t *at = chunk->payload + *offset;
	uint64_t id;

	if (at >= end)
		return 0;
	at = gt_get_varint(at, end, &id);
	if (!at || id > UINT32_MAX)
		return 0;
	at = next_text(chunk, at, text);
	if (!at)
		return 0;
	text->id = (uint32_t)id;
	*offset = (size_t)(at - chunk->payload);
	return 1;
}

int gt_chunk_next_pair(const struct gt_chunk *chunk, size_t *offset, struct gt_text *key,
                       struct gt_text *value)
{
	const uint8_t *at = chunk->payload + *offset;

	if (at >= chunk->payload + chunk->header.raw)
		return 0;
	at = next_text(chunk, at, key);
	if (at)
		at = next_text(chunk, at, value);
	if (!at)
		return 0;
	*offset = (size_t)(at - chunk->payload);
	return 1;
}

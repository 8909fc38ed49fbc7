/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_FILE_READER_H
#define GT_FORMAT_FILE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/file/chunk.h"

struct gt_content;
struct gt_error;

/*
 * Walks the chunks of a capture that is already in memory (a mapped file, or a buffer in a
 * test). Trusts nothing: every length is checked, checksums are verified, a torn end is a
 * normal end, damage in the middle is skipped to the next good chunk and counted. The bytes
 * must outlive the reader and are never written.
 */
struct gt_reader {
	const uint8_t *data;
	size_t size;
	size_t offset;    /* of the next chunk */
	uint8_t *scratch; /* of the caller, GT_CHUNK_MAX_RAW bytes, for decompressed payloads */
	struct ZSTD_DCtx_s *decompressor; /* in the caller's memory; NULL: one for each chunk */
	bool torn;         /* the last chunk was cut short; set when the end is reached */
	size_t good_bytes; /* end of the last good chunk: what follows is torn or damaged */
	uint64_t skipped;  /* damaged bytes that were skipped over */
	size_t damage_at;  /* where the first of them stands */
	const struct gt_content *content; /* which holes there are; NULL: none */
	/* Whether a chunk whose header and place these are is passed over; NULL: none is. */
	bool (*passes)(const struct gt_reader *reader, const struct gt_chunk_header *header);
	uint64_t work; /* bytes that may still be looked through and unpacked, see below */
};

/*
 * Bytes that are checked and unpacked at most: so many, and so many times those of the file. Chunks
 * that are claimed inside of others, and frames that unpack to thousands of times their size, could
 * take hours else. Behind what exceeds it nothing can be read. Captures of programs unpack to at
 * most 20 times their size.
 */
#define GT_READER_WORK       ((uint64_t)64 << 20)
#define GT_READER_WORK_SHARE 256

struct gt_chunk {
	struct gt_chunk_header header;
	const uint8_t *payload; /* header.raw bytes, until the next call */
	size_t at;              /* where the chunk begins in the file */
};

/*
 * Checks the file header. Errors: -EBADMSG not a capture, -EPROTO of a newer format version
 * (both with a sentence that does not name the file: the caller does). An empty or cut header
 * is not an error: such a capture has no chunks and is torn.
 */
int gt_reader_init(struct gt_reader *reader, const void *data, size_t size, void *scratch,
                   struct gt_error *err);

/*
 * Memory that is kept for decompressing: a reader of many chunks is the faster for it. It is aligned
 * as malloc's, has gt_reader_memory() bytes, and outlives the reader; others may have it then.
 */
size_t gt_reader_memory(void);
void gt_reader_use(struct gt_reader *reader, void *memory);

/*
 * The bytes are the first of a content, which outlives the reader: what is a hole of it is passed
 * over when a chunk is looked for, and counts as no bytes.
 */
void gt_reader_skip_holes(struct gt_reader *reader, const struct gt_content *content);

/* 1 and the next good chunk, or 0 at the end. */
int gt_reader_next(struct gt_reader *reader, struct gt_chunk *chunk);

/*
 * The same for whoever only wants to know which chunks there are: payload is header.stored
 * bytes as they stand in the file, and the reader needs no scratch.
 */
int gt_reader_next_packed(struct gt_reader *reader, struct gt_chunk *chunk);

/* One text of a STRINGS chunk or one pair of a META chunk; it ends where the payload ends. */
struct gt_text {
	uint32_t id;       /* STRINGS only */
	const char *bytes; /* not terminated; in the payload */
	uint32_t size;
};

/* Reads the text at *offset of a STRINGS payload and moves on: 1, 0 at the end or at damage. */
int gt_chunk_next_string(const struct gt_chunk *chunk, size_t *offset, struct gt_text *text);

/* The same for the key and the value of a META payload. */
int gt_chunk_next_pair(const struct gt_chunk *chunk, size_t *offset, struct gt_text *key,
                       struct gt_text *value);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_FILE_CHUNK_H
#define GT_FORMAT_FILE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

/*
 * A capture file is a file header and a plain sequence of chunks; docs/capture-format.md is
 * the specification. Nothing that was written is ever changed, so a process that dies leaves
 * a file whose complete chunks are all good.
 */

#define GT_FILE_MAGIC        "GPUTRACE"
#define GT_FILE_HEADER_SIZE  16
#define GT_FORMAT_VERSION    1

#define GT_CHUNK_MAGIC       0x4b435447u /* "GTCK" in the file */
#define GT_CHUNK_HEADER_SIZE 64
#define GT_CHUNK_MAX_RAW     (2u << 20) /* bytes of a payload before compression */
#define GT_CHUNK_MAX_STORED  (GT_CHUNK_MAX_RAW + (GT_CHUNK_MAX_RAW >> 7) + 1024) /* zstd's bound */
#define GT_CHUNK_MAX_RECORDS 4096

enum gt_chunk_flag {
	GT_CHUNK_COMPRESSED = 1, /* the payload is one zstd frame */
	GT_CHUNK_SALVAGED = 2,   /* written after the process's death, from its arena */
};

/* The header of a chunk, decoded. */
struct gt_chunk_header {
	uint16_t kind;   /* enum gt_record_kind, or one of a later version */
	uint16_t part;   /* number of this chunk among those of its kind from one buffer */
	uint32_t flags;  /* enum gt_chunk_flag */
	uint32_t stored; /* bytes of the payload in the file */
	uint32_t raw;    /* bytes of the payload after decompression */
	uint32_t count;  /* records in it */
	uint64_t source; /* sequence number of the arena buffer it came from, 0: none */
	uint64_t first;  /* smallest start time in it, in its records' clock, 0: no times */
	uint64_t last;   /* largest end time */
	uint64_t checksum;
};

/* Writes magic and all fields but the checksum. */
void gt_chunk_encode_header(uint8_t bytes[static GT_CHUNK_HEADER_SIZE],
                            const struct gt_chunk_header *header);

/* XXH3 of a header without its checksum field, followed by the stored payload. */
uint64_t gt_chunk_checksum(const uint8_t bytes[static GT_CHUNK_HEADER_SIZE], const void *payload,
                           size_t size);

/* Returns 0, or -EBADMSG when the bytes do not begin with the magic or claim too much. */
int gt_chunk_decode_header(const uint8_t bytes[static GT_CHUNK_HEADER_SIZE],
                           struct gt_chunk_header *header);

#endif

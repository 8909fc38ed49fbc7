/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_FILE_WRITER_H
#define GT_FORMAT_FILE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/sink/sink.h"

struct gt_samples;

/*
 * Encodes records into chunks and hands each to a sink with one call. Safe inside a traced
 * program: works in the memory it is given, prints nothing, never exits. Not thread-safe.
 */
struct gt_writer {
	struct gt_sink sink;
	struct ZSTD_CCtx_s *compressor; /* inside memory */
	uint8_t *raw;                   /* GT_CHUNK_MAX_RAW bytes */
	uint8_t *out;                   /* a header and GT_CHUNK_MAX_STORED bytes */
	uint32_t flags;                 /* set in every chunk: GT_CHUNK_SALVAGED */
	uint64_t chunks;                /* written */
	uint64_t failed;                /* not written, because the sink refused them */
	uint64_t failed_records;        /* the records that were in those */
	uint64_t bytes;                 /* given to the sink */
	uint64_t *written; /* records by kind, GT_RECORD_KIND_COUNT; NULL: not counted */
};

/* Which buffer of the arena the records come from; zero for records of no buffer. */
struct gt_origin {
	uint64_t source;
	uint16_t part;
};

/* Bytes of memory a writer needs. */
size_t gt_writer_memory(void);

/* memory must be 64-byte aligned and outlive the writer. Returns 0 or -ENOMEM when too small. */
int gt_writer_init(struct gt_writer *writer, struct gt_sink sink, void *memory, size_t size);

/* Begins a capture file. */
int gt_writer_file_header(struct gt_writer *writer);

/* count <= GT_CHUNK_MAX_RECORDS structs of the kind, as records.h has them. 0 writes nothing. */
int gt_writer_records(struct gt_writer *writer, uint32_t kind, const void *records, size_t count,
                      struct gt_origin origin);

/* Samples of a series: at most GT_CHUNK_MAX_RECORDS, and what GT_SERIES_BOUND lets fit. */
int gt_writer_samples(struct gt_writer *writer, const struct gt_samples *samples,
                      struct gt_origin origin);

/* A payload that is not columns: META and STRINGS. */
int gt_writer_payload(struct gt_writer *writer, uint32_t kind, const void *payload, size_t size,
                      uint32_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_COMPRESS_H
#define GT_EXPORTERS_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "exporters/exporter.h"

struct gt_error;

/*
 * Compresses blocks, each by itself, with zlib's or zstd's format. A block is at most as large as
 * was said at the start.
 */
struct gt_compressor {
	enum gt_compression kind;
	void *state;
	uint8_t *packed;
	size_t capacity;
};

/* kind: GT_COMPRESSION_ZLIB or GT_COMPRESSION_ZSTD. */
int gt_compressor_init(struct gt_compressor *compressor, enum gt_compression kind, size_t most,
                       struct gt_error *err);

/*
 * Returns how many bytes compressor->packed holds afterwards, or a negative errno value. The bytes
 * stay until the next call.
 */
int64_t gt_compressor_pack(struct gt_compressor *compressor, const uint8_t *bytes, size_t size);

void gt_compressor_release(struct gt_compressor *compressor);

#endif

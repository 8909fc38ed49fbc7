/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/chunk.h"

#include <errno.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"

/* Where the fields stand; docs/capture-format.md. */
enum {
	AT_MAGIC = 0,
	AT_KIND = 4,
	AT_PART = 6,
	AT_FLAGS = 8,
	AT_STORED = 12,
	AT_RAW = 16,
	AT_COUNT = 20,
	AT_SOURCE = 24,
	AT_FIRST = 32,
	AT_LAST = 40,
	AT_RESERVED = 48,
	AT_CHECKSUM = 56,
};

void gt_chunk_encode_header(uint8_t bytes[static GT_CHUNK_HEADER_SIZE],
                            const struct gt_chunk_header *header)
{
	gt_put_u32(bytes + AT_MAGIC, GT_CHUNK_MAGIC);
	gt_put_u16(bytes + AT_KIND, header->kind);
	gt_put_u16(bytes + AT_PART, header->part);
	gt_put_u32(bytes + AT_FLAGS, header->flags);
	gt_put_u32(bytes + AT_STORED, header->stored);
	gt_put_u32(bytes + AT_RAW, header->raw);
	gt_put_u32(bytes + AT_COUNT, header->count);
	gt_put_u64(bytes + AT_SOURCE, header->source);
	gt_put_u64(bytes + AT_FIRST, header->first);
	gt_put_u64(bytes + AT_LAST, header->last);
	gt_put_u64(bytes + AT_RESERVED, 0);
	gt_put_u64(bytes + AT_CHECKSUM, header->checksum);
}

uint64_t gt_chunk_checksum(const uint8_t bytes[static GT_CHUNK_HEADER_SIZE], const void *payload,
                           size_t size)
{
	const uint64_t seed = XXH3_64bits(bytes, AT_CHECKSUM);

	return XXH3_64bits_withSeed(payload, size, seed);
}

int gt_chunk_decode_header(const uint8_t bytes[static GT_CHUNK_HEADER_SIZE],
                           struct gt_chunk_header *header)
{
	const uint32_t stored = gt_get_u32(bytes + AT_STORED);
	const uint32_t raw = gt_get_u32(bytes + AT_RAW);

	if (gt_get_u32(bytes + AT_MAGIC) != GT_CHUNK_MAGIC || stored > GT_CHUNK_MAX_STORED ||
	    raw > GT_CHUNK_MAX_RAW)
		return -EBADMSG;

	*header = (struct gt_chunk_header){
		.kind = gt_get_u16(bytes + AT_KIND),
		.part = gt_get_u16(bytes + AT_PART),
		.flags = gt_get_u32(bytes + AT_FLAGS),
		.stored = stored,
		.raw = raw,
		.count = gt_get_u32(bytes + AT_COUNT),
		.source = gt_get_u64(bytes + AT_SOURCE),
		.first = gt_get_u64(bytes + AT_FIRST),
		.last = gt_get_u64(bytes + AT_LAST),
		.checksum = gt_get_u64(bytes + AT_CHECKSUM),
	};
	return 0;
}

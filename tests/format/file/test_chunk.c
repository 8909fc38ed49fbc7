/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/chunk.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "support/check.h"

static const struct gt_chunk_header example = {
	.kind = 0x0102,
	.part = 0x0304,
	.flags = 0x05060708,
	.stored = 0x00010203,
	.raw = 0x00020304,
	.count = 0x090a0b0c,
	.source = 0x1112131415161718,
	.first = 0x2122232425262728,
	.last = 0x3132333435363738,
	.checksum = 0x4142434445464748,
};

Test(chunk, header_comes_back_whole)
{
	uint8_t bytes[GT_CHUNK_HEADER_SIZE];
	struct gt_chunk_header header;

	gt_chunk_encode_header(bytes, &example);
	cr_assert(eq(int, gt_chunk_decode_header(bytes, &header), 0));
	cr_expect(eq(u16, header.kind, example.kind));
	cr_expect(eq(u16, header.part, example.part));
	cr_expect(eq(u32, header.flags, example.flags));
	cr_expect(eq(u32, header.stored, example.stored));
	cr_expect(eq(u32, header.raw, example.raw));
	cr_expect(eq(u32, header.count, example.count));
	cr_expect(eq(u64, header.source, example.source));
	cr_expect(eq(u64, header.first, example.first));
	cr_expect(eq(u64, header.last, example.last));
	cr_expect(eq(u64, header.checksum, example.checksum));
}

Test(chunk, refused_header_leaves_the_output_alone)
{
	uint8_t bytes[GT_CHUNK_HEADER_SIZE];
	struct gt_chunk_header header = {.kind = 42};

	gt_chunk_encode_header(bytes, &example);
	bytes[0] ^= 1;
	cr_expect(eq(int, gt_chunk_decode_header(bytes, &header), -EBADMSG));
	bytes[0] ^= 1;
	gt_put_u32(bytes + 12, GT_CHUNK_MAX_STORED + 1);
	cr_expect(eq(int, gt_chunk_decode_header(bytes, &header), -EBADMSG));
	gt_put_u32(bytes + 12, GT_CHUNK_MAX_STORED);
	gt_put_u32(bytes + 16, GT_CHUNK_MAX_RAW + 1);
	cr_expect(eq(int, gt_chunk_decode_header(bytes, &header), -EBADMSG));
	cr_expect(eq(u16, header.kind, 42));
	gt_put_u32(bytes + 16, GT_CHUNK_MAX_RAW);
	cr_expect(eq(int, gt_chunk_decode_header(bytes, &header), 0));
}

Test(chunk, checksum_covers_every_bit_but_its_own)
{
	static const char payload[] = "twenty-one bytes here";
	uint8_t bytes[GT_CHUNK_HEADER_SIZE];
	char damaged[sizeof(payload)];
	uint64_t sum;

	gt_chunk_encode_header(bytes, &example);
	sum = gt_chunk_checksum(bytes, payload, sizeof(payload));
	for (size_t bit = 0; bit < 8 * GT_CHUNK_HEADER_SIZE; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (bit / 8 < 56)
			cr_expect(ne(u64, gt_chunk_checksum(bytes, payload, sizeof(payload)), sum));
		else
			cr_expect(eq(u64, gt_chunk_checksum(bytes, payload, sizeof(payload)), sum));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t bit = 0; bit < 8 * sizeof(payload); bit++) {
		memcpy(damaged, payload, sizeof(payload));
		damaged[bit / 8] ^= (char)(1 << bit % 8);
		cr_expect(ne(u64, gt_chunk_checksum(bytes, damaged, sizeof(payload)), sum));
	}
	cr_expect(ne(u64, gt_chunk_checksum(bytes, payload, sizeof(payload) - 1), sum));
}

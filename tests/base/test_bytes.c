/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include <string.h>

#include "support/check.h"

Test(bytes, are_little_endian_whatever_the_machine)
{
	uint8_t bytes[8];

	gt_put_u64(bytes, 0x0807060504030201u);
	for (uint8_t i = 0; i < 8; i++)
		cr_expect(eq(u8, bytes[i], i + 1));
	cr_expect(eq(u64, gt_get_u64(bytes), 0x0807060504030201u));
	gt_put_u32(bytes, 0xfffefdfcu);
	cr_expect(eq(u32, gt_get_u32(bytes), 0xfffefdfcu));
	gt_put_u16(bytes, 0xff01u);
	cr_expect(eq(u16, gt_get_u16(bytes), 0xff01u));
	cr_expect(eq(u8, bytes[0], 1));
}

Test(bytes, bring_every_number_through_a_varint)
{
	for (unsigned bits = 0; bits <= 64; bits++) {
		const uint64_t power = bits < 64 ? (uint64_t)1 << bits : 0;

		for (int near = -1; near <= 1; near++) {
			const uint64_t number = power + (uint64_t)(int64_t)near;
			uint8_t bytes[GT_VARINT_MAX];
			uint64_t read = ~number;
			const uint8_t *const end = gt_put_varint(bytes, number);

			cr_assert(le(sz, (size_t)(end - bytes), GT_VARINT_MAX));
			cr_expect(eq(ptr, (void *)gt_get_varint(bytes, end, &read), (void *)end));
			cr_expect(eq(u64, read, number));
			/* Cut anywhere, it is no number and nothing is written. */
			for (const uint8_t *cut = bytes; cut < end; cut++) {
				read = 7;
				cr_expect(eq(ptr, (void *)gt_get_varint(bytes, cut, &read), NULL));
				cr_expect(eq(u64, read, 7));
			}
		}
	}
}

Test(bytes, know_how_long_a_varint_is)
{
	uint8_t bytes[GT_VARINT_MAX];

	cr_expect(eq(sz, (size_t)(gt_put_varint(bytes, 0) - bytes), 1));
	cr_expect(eq(sz, (size_t)(gt_put_varint(bytes, 127) - bytes), 1));
	cr_expect(eq(sz, (size_t)(gt_put_varint(bytes, 128) - bytes), 2));
	cr_expect(eq(sz, (size_t)(gt_put_varint(bytes, UINT64_MAX) - bytes), GT_VARINT_MAX));
}

Test(bytes, refuse_a_varint_that_never_ends)
{
	uint8_t bytes[2 * GT_VARINT_MAX];
	uint64_t read = 7;

	memset(bytes, 0xff, sizeof(bytes));
	cr_expect(eq(ptr, (void *)gt_get_varint(bytes, bytes + sizeof(bytes), &read), NULL));
	cr_expect(eq(u64, read, 7));
}

Test(bytes, keep_small_differences_small_either_way)
{
	cr_expect(eq(u64, gt_zigzag(0), 0));
	cr_expect(eq(u64, gt_zigzag((uint64_t)-1), 1));
	cr_expect(eq(u64, gt_zigzag(1), 2));
	cr_expect(eq(u64, gt_zigzag((uint64_t)-2), 3));
	cr_expect(eq(u64, gt_zigzag((uint64_t)1 << 63), UINT64_MAX));
	for (unsigned bit = 0; bit < 64; bit++) {
		const uint64_t number = (uint64_t)1 << bit;

		cr_expect(eq(u64, gt_unzigzag(gt_zigzag(number)), number));
		cr_expect(eq(u64, gt_unzigzag(gt_zigzag(0 - number)), 0 - number));
	}
}

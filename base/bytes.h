/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_BYTES_H
#define GT_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Numbers as they stand in files: little-endian whatever the machine, and LEB128 varints.
 * Nothing here reads or writes outside the range it is given.
 */

/* The next multiple of 64, a cache line: where parts of one mapping may begin. */
static inline size_t gt_align_64(size_t size)
{
	return (size + 63) & ~(size_t)63;
}

static inline uint32_t gt_get_u32(const uint8_t *from)
{
	return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline uint16_t gt_get_u16(const uint8_t *from)
{
	return (uint16_t)(from[0] | (uint32_t)from[1] << 8);
}

static inline uint64_t gt_get_u64(const uint8_t *from)
{
	return gt_get_u32(from) | (uint64_t)gt_get_u32(from + 4) << 32;
}

static inline void gt_put_u16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

static inline void gt_put_u32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

static inline void gt_put_u64(uint8_t *to, uint64_t value)
{
	gt_put_u32(to, (uint32_t)value);
	gt_put_u32(to + 4, (uint32_t)(value >> 32));
}

/* The bytes in the other order: a real's low bits, which are often zero, come to stand high. */
static inline uint64_t gt_swap_u64(uint64_t value)
{
	value = (value & 0x00ff00ff00ff00ff) << 8 | (value >> 8 & 0x00ff00ff00ff00ff);
	value = (value & 0x0000ffff0000ffff) << 16 | (value >> 16 & 0x0000ffff0000ffff);
	return value << 32 | value >> 32;
}

#define GT_VARINT_MAX 10 /* bytes that a 64-bit number takes at most */

/* Writes at most GT_VARINT_MAX bytes; returns one past the last. */
static inline uint8_t *gt_put_varint(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

/* Reads one number; returns one past it, or NULL when it does not end before end or is too long. */
static inline const uint8_t *gt_get_varint(const uint8_t *from, const uint8_t *end, uint64_t *value)
{
	uint64_t sum = 0;

	for (unsigned shift = 0; shift < 64 && from < end; shift += 7) {
		const uint8_t byte = *from++;

		sum |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value = sum;
			return from;
		}
	}
	return NULL;
}

/* Small numbers of either sign to small unsigned ones: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t gt_zigzag(uint64_t difference)
{
	return (difference << 1) ^ (0 - (difference >> 63));
}

static inline uint64_t gt_unzigzag(uint64_t value)
{
	return (value >> 1) ^ (0 - (value & 1));
}

#endif

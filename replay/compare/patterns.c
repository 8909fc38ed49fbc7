/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/bytes.h"
#include "replay/compare/compare.h"

/*
 * XOR mask for wanted bytes. The poison stays near to what is wanted: a kernel that reads
 * it goes on much as it would, numbers that are counted down or looked up stay small, and floating
 * point ones are changed by what is added to them, and so tell that they were read.
 */
enum { POISON = 0x01, SURE_RUN = 4 };

void gt_poison(const void *wanted, void *bytes, size_t size)
{
	const uint8_t *from = wanted;
	uint8_t *to = bytes;

	for (size_t i = 0; i < size; i++)
		to[i] = from[i] ^ POISON;
}

/* Bytes of the poison in a row, and the first such row. */
struct rows {
	uint64_t bytes;
	uint64_t first;
};

static void add_row(struct rows *rows, uint64_t begin, uint64_t end)
{
	if (rows->bytes == 0)
		rows->first = begin;
	rows->bytes += end - begin;
}

static size_t row_end(const uint8_t *wanted, const uint8_t *got, size_t begin, size_t size)
{
	size_t end = begin;

	while (end < size && got[end] == (uint8_t)(wanted[end] ^ POISON))
		end++;
	return end;
}

uint64_t gt_poison_left(const void *wanted, const void *got, size_t size, uint64_t *first)
{
	const uint8_t *bytes = got;
	struct rows all = {0};
	struct rows sure = {0};
	const struct rows *rows = &sure;

	for (size_t i = 0; i < size; i++) {
		const size_t end = row_end(wanted, bytes, i, size);

		if (end == i)
			continue;
		add_row(&all, i, end);
		if (end - i >= SURE_RUN || end - i == size)
			add_row(&sure, i, end);
		i = end;
	}
	if (all.bytes >= SURE_RUN && all.bytes > size / 16)
		rows = &all;
	if (rows->bytes)
		*first = rows->first;
	return rows->bytes;
}

/* Eight bytes of the pattern: splitmix64 (Steele, Lea, Flood 2014) of a counter. */
static uint64_t zone_word(uint64_t seed, uint64_t number)
{
	uint64_t value = seed + (number + 1) * 0x9e3779b97f4a7c15u;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
	value = (value ^ value >> 27) * 0x94d049bb133111ebu;
	return value ^ value >> 31;
}

/* At most eight bytes from a multiple of eight on; how many. */
static size_t zone_bytes(uint64_t seed, size_t begin, size_t size, uint8_t word[8])
{
	gt_put_u64(word, zone_word(seed, begin / 8));
	return size - begin < 8 ? size - begin : 8;
}

void gt_zone_fill(void *bytes, size_t size, uint64_t seed)
{
	uint8_t word[8];

	for (size_t i = 0; i < size; i += 8) {
		const size_t count = zone_bytes(seed, i, size, word);

		memcpy((uint8_t *)bytes + i, word, count);
	}
}

uint64_t gt_zone_changed(const void *bytes, size_t size, uint64_t seed, uint64_t *first,
                         uint64_t *last)
{
	const uint8_t *found = bytes;
	uint64_t changed = 0;
	uint8_t word[8];

	for (size_t i = 0; i < size; i += 8) {
		const size_t count = zone_bytes(seed, i, size, word);

		if (memcmp(found + i, word, count) == 0)
			continue;
		for (size_t k = 0; k < count; k++) {
			if (found[i + k] == word[k])
				continue;
			if (changed++ == 0)
				*first = i + k;
			*last = i + k;
		}
	}
	return changed;
}

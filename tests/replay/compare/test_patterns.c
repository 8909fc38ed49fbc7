/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "replay/compare/compare.h"
#include "support/capture.h"
#include "support/check.h"

enum { SIZE = 4096 };

struct buffers {
	uint8_t wanted[SIZE];
	uint8_t got[SIZE];
};

/* Contents that are wanted, and the poison. */
static void make(struct buffers *buffers)
{
	uint64_t state = 7;

	for (size_t i = 0; i < SIZE; i++)
		buffers->wanted[i] = (uint8_t)next_random(&state);
	gt_poison(buffers->wanted, buffers->got, SIZE);
}

Test(patterns, poison_differs_from_what_is_wanted_in_every_byte)
{
	struct buffers buffers;
	uint64_t first = 77;

	make(&buffers);
	for (size_t i = 0; i < SIZE; i++)
		cr_assert(buffers.got[i] != buffers.wanted[i]);
	cr_expect(eq(u64, gt_poison_left(buffers.wanted, buffers.got, SIZE, &first), SIZE));
	cr_expect(eq(u64, first, 0));
}

Test(patterns, find_the_bytes_that_were_not_written)
{
	struct buffers buffers;
	uint64_t first = 77;

	make(&buffers);
	memcpy(buffers.got, buffers.wanted, 1000);
	memcpy(buffers.got + 1004, buffers.wanted + 1004, SIZE - 1004);
	cr_expect(eq(u64, gt_poison_left(buffers.wanted, buffers.got, SIZE, &first), 4));
	cr_expect(eq(u64, first, 1000));
}

Test(patterns, find_nothing_where_all_was_written)
{
	struct buffers buffers;
	uint64_t first = 77;

	make(&buffers);
	cr_expect(eq(u64, gt_poison_left(buffers.wanted, buffers.wanted, SIZE, &first), 0));
	cr_expect(eq(u64, first, 77));
	cr_expect(eq(u64, gt_poison_left(buffers.wanted, buffers.got, 0, &first), 0));
}

Test(patterns, do_not_take_wrong_values_for_unwritten_ones)
{
	struct buffers buffers;
	uint64_t state = 8;
	uint64_t first = 77;
	size_t by_chance = 0;

	make(&buffers);
	for (size_t i = 0; i < SIZE; i++) {
		const uint8_t poison = buffers.got[i];

		buffers.got[i] = (uint8_t)next_random(&state);
		by_chance += buffers.got[i] == poison ? 1 : 0;
	}
	cr_expect(gt(sz, by_chance, 4));
	cr_expect(eq(u64, gt_poison_left(buffers.wanted, buffers.got, SIZE, &first), 0));
}

Test(patterns, find_single_bytes_where_many_were_not_written)
{
	struct buffers buffers;
	uint64_t first = 77;

	make(&buffers);
	for (size_t i = 0; i < SIZE; i += 2)
		buffers.got[i] = buffers.wanted[i];
	cr_expect(eq(u64, gt_poison_left(buffers.wanted, buffers.got, SIZE, &first), SIZE / 2));
	cr_expect(eq(u64, first, 1));
}

Test(patterns, find_one_byte_that_is_all_there_is)
{
	const uint8_t wanted = 3;
	uint8_t got;
	uint64_t first = 77;

	gt_poison(&wanted, &got, 1);
	cr_expect(eq(u64, gt_poison_left(&wanted, &got, 1, &first), 1));
	cr_expect(eq(u64, first, 0));
}

Test(patterns, of_a_zone_show_where_it_was_written_to)
{
	uint8_t zone[100];
	uint64_t first = 77;
	uint64_t last = 77;

	gt_zone_fill(zone, sizeof(zone), 5);
	cr_expect(eq(u64, gt_zone_changed(zone, sizeof(zone), 5, &first, &last), 0));
	cr_expect(eq(u64, first, 77));
	zone[3] ^= 1;
	zone[99] ^= 0x80;
	cr_expect(eq(u64, gt_zone_changed(zone, sizeof(zone), 5, &first, &last), 2));
	cr_expect(eq(u64, first, 3));
	cr_expect(eq(u64, last, 99));
}

Test(patterns, of_zones_differ_by_seed_and_from_zeros)
{
	uint8_t one[800];
	uint8_t zeros[800] = {0};
	uint64_t first;
	uint64_t last;

	gt_zone_fill(one, sizeof(one), 1);
	cr_expect(gt(u64, gt_zone_changed(one, sizeof(one), 2, &first, &last), 780));
	cr_expect(gt(u64, gt_zone_changed(zeros, sizeof(zeros), 0, &first, &last), 780));
}

Test(patterns, of_a_zone_stay_inside_of_it)
{
	for (size_t size = 0; size < 24; size++) {
		uint8_t zone[32];
		uint64_t first;
		uint64_t last;

		memset(zone, 0xee, sizeof(zone));
		gt_zone_fill(zone, size, 9);
		cr_expect(eq(u64, gt_zone_changed(zone, size, 9, &first, &last), 0));
		for (size_t i = size; i < sizeof(zone); i++)
			cr_assert(eq(u8, zone[i], 0xee));
	}
}

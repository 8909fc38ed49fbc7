/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/host_writes.h"

#include <string.h>

#include "support/check.h"

enum { SIZE = 20003 };

static uint8_t known[SIZE];
static uint8_t now[SIZE];
static struct gt_host_writes writes;

static void begin(void)
{
	memset(known, 7, sizeof(known));
	memset(now, 7, sizeof(now));
	writes = (struct gt_host_writes){.wanted = true};
}

static void end(void)
{
	gt_host_writes_empty(&writes);
}

TestSuite(host_writes, .init = begin, .fini = end);

static void expect_stretches(const size_t (*expected)[2], size_t count)
{
	struct gt_host_stretch stretch = {0, 0};

	for (size_t i = 0; i < count; i++) {
		cr_assert(gt_host_writes_next(known, now, SIZE, &stretch));
		cr_expect(eq(sz, stretch.begin, expected[i][0]));
		cr_expect(eq(sz, stretch.end, expected[i][1]));
	}
	cr_expect(not(gt_host_writes_next(known, now, SIZE, &stretch)));
}

Test(host_writes, are_none_where_nothing_changed)
{
	expect_stretches(NULL, 0);
}

Test(host_writes, are_whole_words)
{
	now[3] = 1;
	now[17] = 2;
	expect_stretches((const size_t[][2]){{0, 24}}, 1);
}

Test(host_writes, that_are_near_are_one_stretch)
{
	now[8] = 1;
	now[8 + 8 + GT_HOST_WRITES_APART - 8] = 1;
	now[2 * GT_HOST_WRITES_APART + 100 * 8] = 1; /* as far away as makes it another one */
	now[3 * GT_HOST_WRITES_APART + 102 * 8] = 1;
	expect_stretches((const size_t[][2]){{8, 4112}, {8992, 9000}, {13104, 13112}}, 3);
}

Test(host_writes, end_with_the_memory)
{
	now[SIZE - 1] = 1;
	expect_stretches((const size_t[][2]){{20000, SIZE}}, 1);
	memset(now, 1, sizeof(now));
	expect_stretches((const size_t[][2]){{0, SIZE}}, 1);
}

Test(host_writes, find_every_byte_that_changed)
{
	for (size_t i = 0; i < SIZE; i += 61) {
		struct gt_host_stretch stretch = {0, 0};

		now[i] ^= 0xff;
		cr_assert(gt_host_writes_next(known, now, SIZE, &stretch));
		cr_expect(stretch.begin <= i && i < stretch.end && stretch.end <= SIZE);
		now[i] ^= 0xff;
	}
}

Test(host_writes, keep_as_much_as_there_is_room_for)
{
	uint8_t *first = gt_host_writes_add(&writes, 4, GT_HOST_WRITES_BYTES - 10);
	uint8_t *second;

	cr_assert(ne(ptr, first, NULL));
	memset(first, 1, 100);
	cr_expect(eq(ptr, gt_host_writes_add(&writes, 5, 11), NULL));
	second = gt_host_writes_add(&writes, 6, 10);
	cr_assert(ne(ptr, second, NULL));
	memset(second, 2, 10);
	cr_expect(eq(u32, writes.count, 2));
	cr_expect(eq(u32, writes.left_out, 1));
	cr_expect(eq(u32, writes.list[1].number, 6));
	cr_expect(eq(ptr, writes.list[1].known, second));
	gt_host_writes_empty(&writes);
	cr_expect(ne(ptr, gt_host_writes_add(&writes, 5, 11), NULL));
	cr_expect(eq(u32, writes.left_out, 0));
}

Test(host_writes, keep_nothing_that_nobody_wants)
{
	writes.wanted = false;
	cr_expect(eq(ptr, gt_host_writes_add(&writes, 5, 11), NULL));
	cr_expect(eq(u32, writes.left_out, 0));
	cr_expect(eq(ptr, writes.room, NULL));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "injection/snapshot/memory/reach.h"
#include "support/check.h"

/* Memory of a made-up driver: 4096 bytes at each of these addresses; that at FOREIGN is refused. */
enum { BYTES = 4096 };

#define FIRST   UINT64_C(0x7f0000000000)
#define SECOND  UINT64_C(0x7f0000100000)
#define THIRD   UINT64_C(0x7f0000200000)
#define FOREIGN UINT64_C(0x7e0000000000)

static struct gt_reach *reach;
static unsigned asked;
static bool chain; /* there is memory everywhere */

static enum gt_reach_answer answer(void *context, uint64_t address, struct gt_reached *found,
                                   struct gt_error *err)
{
	(void)context;
	asked++;
	found->address = address & ~(uint64_t)(BYTES - 1);
	found->size = BYTES;
	if (found->address == FOREIGN) {
		(void)gt_fail(err, ENOTSUP, "it is another's");
		return GT_REACH_REFUSED;
	}
	return chain || found->address == FIRST || found->address == SECOND ||
	                       found->address == THIRD
	               ? GT_REACH_FOUND
	               : GT_REACH_NOTHING;
}

static void make(void)
{
	reach = calloc(1, sizeof(*reach));
	asked = 0;
	chain = false;
	gt_reach_begin(reach, answer, NULL);
}

static void drop(void)
{
	free(reach);
}

TestSuite(reach, .init = make, .fini = drop);

static int parameters(const uint64_t *words, size_t count, size_t size)
{
	struct gt_error err = {0};

	for (size_t i = 0; i * size < count * 8; i++) {
		const int result =
			gt_reach_parameter(reach, (const uint8_t *)words, i * size, size, &err);

		if (result < 0)
			return result;
	}
	return 0;
}

Test(reach, finds_what_parameters_point_to_or_into)
{
	const uint64_t words[] = {FIRST, 3, SECOND + 100, FIRST + 8};

	cr_assert(eq(int, parameters(words, 4, 8), 0));
	cr_assert(eq(u32, reach->count, 2));
	cr_expect(eq(u64, reach->memory[0].address, FIRST));
	cr_expect(eq(u64, reach->memory[1].address, SECOND));
	cr_assert(eq(u32, reach->pointer_count, 3));
	cr_expect(eq(u32, reach->pointers[1].target, 1));
	cr_expect(eq(u64, reach->pointers[1].offset, 16));
	cr_expect(reach->pointers[1].declared);
	cr_expect(eq(u32, reach->pointers[2].target, 0));
	cr_expect(eq(u32, asked, 2), "3 is no address, and the first memory is known");
}

Test(reach, looks_at_aligned_words_of_larger_parameters)
{
	const uint64_t words[] = {5, SECOND, 6};

	cr_assert(eq(int, parameters(words, 3, 24), 0));
	cr_assert(eq(u32, reach->pointer_count, 1));
	cr_expect(eq(u64, reach->pointers[0].offset, 8));
	cr_expect(not(reach->pointers[0].declared));
}

Test(reach, takes_no_pointer_that_ends_behind_its_parameter)
{
	const uint64_t words[] = {FIRST, SECOND};

	cr_assert(eq(int, gt_reach_parameter(reach, (const uint8_t *)words, 0, 12, NULL), 0));
	cr_expect(eq(u32, reach->pointer_count, 1));
}

Test(reach, follows_pointers_in_memory)
{
	const uint64_t words[] = {FIRST};
	const uint64_t table[] = {THIRD + 4, 0x3f8000003f800000, SECOND, FIRST};

	cr_assert(eq(int, parameters(words, 1, 8), 0));
	gt_reach_contents(reach, 0, 64, (const uint8_t *)table, sizeof(table));
	cr_assert(eq(u32, reach->count, 3));
	cr_expect(eq(u64, reach->memory[1].address, THIRD));
	cr_expect(eq(u32, reach->memory[1].depth, 1));
	cr_expect(reach->memory[0].pointers);
	cr_expect(not(reach->memory[1].pointers));
	cr_assert(eq(u32, reach->pointer_count, 4));
	cr_expect(eq(u32, reach->pointers[2].memory, 0));
	cr_expect(eq(u64, reach->pointers[2].offset, 80));
	cr_expect(eq(u32, reach->pointers[3].target, 0));
}

Test(reach, finds_no_memory_that_is_gone_until_it_is_there_again)
{
	const uint64_t words[] = {FIRST, SECOND};

	cr_assert(eq(int, parameters(words, 2, 8), 0));
	gt_reach_free(reach, 1);
	cr_expect(eq(u32, gt_reach_find(reach, SECOND + 8), GT_REACH_NONE));
	cr_expect(eq(u32, gt_reach_find(reach, FIRST), 0));
	asked = 0;
	cr_assert(eq(int, parameters(words, 2, 8), 0));
	cr_expect(eq(u32, asked, 1), "the driver says that there is memory again");
	cr_expect(eq(u32, reach->count, 2));
	cr_expect(eq(u32, gt_reach_find(reach, SECOND + 8), 1));
	cr_expect(eq(u64, reach->reused, 0));
	cr_expect(eq(u32, reach->left_out, 0));
}

Test(reach, says_where_other_memory_is_than_was)
{
	struct gt_reached before = {.address = SECOND - BYTES, .size = 2 * BYTES, .name = ""};
	struct gt_reached after = {.address = THIRD + 512, .size = 512, .name = ""};
	const uint64_t words[] = {SECOND + 16};

	cr_assert(gt_reach_add(reach, &before));
	cr_assert(gt_reach_add(reach, &after));
	gt_reach_free(reach, 0);
	gt_reach_free(reach, 1);
	cr_assert(eq(int, parameters(words, 1, 8), 0));
	cr_expect(eq(u64, reach->reused, SECOND));
	reach->reused = 0;
	gt_reach_contents(reach, 0, 0, (const uint8_t *)(const uint64_t[]){THIRD}, 8);
	cr_expect(eq(u64, reach->reused, THIRD));
	cr_expect(eq(u32, reach->count, 2));
}

/* At the same place and as large, but of a pool or the host: what was there before is not in it. */
Test(reach, takes_memory_of_another_kind_for_other_memory)
{
	struct gt_reached memory = {
		.address = SECOND, .size = BYTES, .name = "", .kind = GT_BUNDLE_MEMORY_device};

	cr_assert(gt_reach_add(reach, &memory));
	gt_reach_free(reach, 0);
	memory.kind = GT_BUNDLE_MEMORY_pool;
	cr_expect(not(gt_reach_add(reach, &memory)));
	cr_expect(eq(u64, reach->reused, SECOND));
	cr_expect(eq(u32, gt_reach_find(reach, SECOND), GT_REACH_NONE));
	reach->reused = 0;
	memory.kind = GT_BUNDLE_MEMORY_device;
	cr_expect(gt_reach_add(reach, &memory), "it is back");
	cr_expect(eq(u64, reach->reused, 0));
	cr_expect(eq(u32, gt_reach_find(reach, SECOND), 0));
	cr_expect(eq(u32, reach->count, 1));
}

Test(reach, refuses_a_parameter_that_leads_elsewhere)
{
	const uint64_t words[] = {FIRST, FOREIGN};

	cr_expect(eq(int, parameters(words, 2, 8), -ENOTSUP));
}

Test(reach, notes_pointers_in_memory_that_lead_elsewhere)
{
	const uint64_t words[] = {FIRST};
	const uint64_t table[] = {FOREIGN};

	cr_assert(eq(int, parameters(words, 1, 8), 0));
	gt_reach_contents(reach, 0, 0, (const uint8_t *)table, sizeof(table));
	cr_expect(eq(u32, reach->count, 1));
	cr_expect(ne(u32, reach->left_out & GT_REACH_FOREIGN, 0));
	cr_expect(eq(str, reach->refused, "it is another's"));
}

Test(reach, asks_once_for_what_is_no_memory)
{
	const uint64_t words[] = {0x10000000, 0x10000008, 0x10000000, 0x10001000};

	cr_assert(eq(int, parameters(words, 4, 8), 0));
	cr_expect(eq(u32, asked, 2));
	cr_expect(eq(u32, reach->count, 0));
}

Test(reach, adds_no_memory_that_overlaps)
{
	struct gt_reached memory = {.address = FIRST + 8, .size = 16, .name = "variable"};
	const uint64_t words[] = {FIRST, FIRST + 12};

	cr_assert(gt_reach_add(reach, &memory));
	cr_assert(eq(int, parameters(words, 2, 8), 0));
	cr_expect(eq(u32, reach->count, 1));
	cr_expect(ne(u32, reach->left_out & GT_REACH_OVERLAP, 0));
	cr_expect(eq(u32, reach->pointer_count, 1), "the second points into the variable");
	memory.address = UINT64_MAX - 4;
	cr_expect(not(gt_reach_add(reach, &memory)));
	cr_expect(eq(u32, gt_reach_find(reach, FIRST + 23), 0));
	cr_expect(eq(u32, gt_reach_find(reach, FIRST + 24), GT_REACH_NONE));
	cr_expect(eq(u32, gt_reach_find(reach, FIRST + 7), GT_REACH_NONE));
}

Test(reach, stops_at_its_depth)
{
	uint64_t address = FIRST;

	chain = true;
	cr_assert(eq(int, parameters(&address, 1, 8), 0));
	for (uint32_t i = 0; i < reach->count; i++) {
		address += BYTES;
		gt_reach_contents(reach, i, 0, (const uint8_t *)&address, sizeof(address));
	}
	cr_expect(eq(u32, reach->count, GT_REACH_DEPTH + 1));
	cr_expect(ne(u32, reach->left_out & GT_REACH_DEEP, 0));
}

Test(reach, keeps_its_order_by_address_and_says_when_it_is_full)
{
	enum { STEP = 7919 };
	uint64_t words[2];

	chain = true;
	for (uint32_t i = 0; i < GT_REACH_MEMORY; i++) {
		words[0] = FIRST + (uint64_t)(i * STEP % GT_REACH_MEMORY) * BYTES;
		cr_assert(eq(int, parameters(words, 1, 8), 0));
	}
	cr_assert(eq(u32, reach->count, GT_REACH_MEMORY));
	for (uint32_t i = 1; i < reach->count; i++)
		cr_assert(reach->memory[reach->by_address[i - 1]].address <
		          reach->memory[reach->by_address[i]].address);
	words[0] = FIRST + (uint64_t)GT_REACH_MEMORY * BYTES;
	cr_assert(eq(int, parameters(words, 1, 8), 0));
	cr_expect(ne(u32, reach->left_out & GT_REACH_MANY_MEMORY, 0));
}

Test(reach, says_when_there_are_too_many_pointers)
{
	uint64_t words[1024];
	uint64_t first = FIRST;

	for (size_t i = 0; i < 1024; i++)
		words[i] = FIRST;
	cr_assert(eq(int, parameters(&first, 1, 8), 0));
	for (size_t i = 0; i < 65; i++)
		gt_reach_contents(reach, 0, i * sizeof(words), (const uint8_t *)words,
		                  sizeof(words));
	cr_expect(eq(u32, reach->pointer_count, GT_REACH_POINTERS));
	cr_expect(ne(u32, reach->left_out & GT_REACH_MANY_POINTERS, 0));
}

Test(reach, of_a_later_step_asks_again_and_says_whose_pointers_they_are)
{
	const uint64_t words[] = {SECOND + 8};

	chain = false;
	cr_assert(eq(int, parameters((const uint64_t[]){THIRD + 0x100000}, 1, 8), 0));
	cr_expect(eq(u32, reach->count, 0));
	chain = true; /* the program has got memory there */
	gt_reach_step(reach, 3);
	cr_assert(eq(int, parameters((const uint64_t[]){THIRD + 0x100000}, 1, 8), 0));
	cr_assert(eq(u32, reach->count, 1));
	cr_expect(eq(u32, reach->pointers[0].step, 3));
	cr_expect(reach->pointers[0].declared);
	gt_reach_brought(reach, 16, (const uint8_t *)words, sizeof(words));
	cr_assert(eq(u32, reach->pointer_count, 2));
	cr_expect(eq(u32, reach->pointers[1].memory, GT_REACH_NONE));
	cr_expect(eq(u32, reach->pointers[1].step, 3));
	cr_expect(eq(u64, reach->pointers[1].offset, 16));
	cr_expect(not(reach->pointers[1].declared));
}

Test(reach, finds_what_steps_have_written_and_notes_no_pointer)
{
	const uint64_t words[] = {SECOND};

	cr_assert(eq(int, parameters((const uint64_t[]){FIRST}, 1, 8), 0));
	gt_reach_written(reach, 0, (const uint8_t *)words, sizeof(words));
	cr_expect(eq(u32, reach->count, 2));
	cr_expect(eq(u64, reach->memory[1].address, SECOND));
	cr_expect(eq(u32, reach->pointer_count, 1));
	cr_expect(not(reach->memory[0].pointers));
}

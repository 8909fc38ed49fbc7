/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/arena.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "support/arena.h"
#include "support/capture.h"
#include "support/check.h"

enum { SLOTS = 4, SLOT_BYTES = 8192 };

static struct test_arena test;

static void make(void)
{
	test_arena_init(&test, SLOTS, SLOT_BYTES, "host-1-2.capture");
}

static void drop(void)
{
	test_arena_release(&test);
}

TestSuite(arena, .init = make, .fini = drop);

Test(arena, opens_as_it_was_formatted)
{
	struct gt_arena opened;
	struct gt_error err = {0};

	cr_assert(eq(int, gt_arena_open(&opened, test.memory, test.size, &err), 0), "%s", err.text);
	cr_expect(eq(ptr, opened.slots, test.arena.slots));
	cr_expect(eq(ptr, opened.names, test.arena.names));
	cr_expect(eq(ptr, opened.heap, test.arena.heap));
	expect_text(opened.header->capture, "host-1-2.capture");
	cr_expect(eq(u32, opened.header->slot_count, SLOTS + GT_RECORD_SLOTS + GT_DISCARD_SLOTS));
}

Test(arena, slots_lie_apart_and_behind_everything_else)
{
	const struct gt_arena *arena = &test.arena;
	uint64_t end = (uint64_t)(arena->heap - arena->bytes) + GT_ARENA_HEAP;

	for (uint32_t i = 0; i < arena->header->slot_count; i++) {
		cr_expect(eq(u64, arena->slots[i].offset, end));
		cr_expect(eq(u64, arena->slots[i].offset % 4096, 0), "CUPTI wants them aligned");
		end += arena->slots[i].size;
	}
	cr_expect(eq(u64, end, test.size));
	cr_expect(ge(ptr, (void *)arena->heap, (void *)(arena->names + GT_ARENA_NAMES)));
	cr_expect(
		ge(ptr, (void *)arena->names, (void *)(arena->slots + arena->header->slot_count)));
}

Test(arena, lends_each_slot_once_until_there_is_none)
{
	struct gt_slot *taken[SLOTS];

	for (int i = 0; i < SLOTS; i++) {
		taken[i] = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
		cr_assert(ne(ptr, taken[i], NULL));
		cr_expect(eq(u32, taken[i]->state, GT_SLOT_LENT));
		cr_expect(eq(u32, taken[i]->size, SLOT_BYTES));
		cr_expect(eq(u64, taken[i]->sequence, (uint64_t)i + 1));
		for (int j = 0; j < i; j++)
			cr_expect(ne(ptr, taken[i], taken[j]));
	}
	cr_expect(eq(ptr, gt_arena_take(&test.arena, GT_SLOT_ACTIVITY), NULL));
	cr_expect(ne(ptr, gt_arena_take(&test.arena, GT_SLOT_DISCARD), NULL));
	cr_expect(ne(ptr, gt_arena_take(&test.arena, GT_SLOT_RECORDS), NULL));
	/* Full or draining is not free. */
	gt_slot_hand_over(taken[1], 100);
	cr_expect(eq(u32, taken[1]->state, GT_SLOT_FULL));
	cr_expect(eq(u32, taken[1]->used, 100));
	taken[2]->state = GT_SLOT_DRAINING;
	cr_expect(eq(ptr, gt_arena_take(&test.arena, GT_SLOT_ACTIVITY), NULL));
	taken[1]->state = GT_SLOT_FREE;
	cr_expect(eq(ptr, gt_arena_take(&test.arena, GT_SLOT_ACTIVITY), taken[1]));
	cr_expect(eq(u32, taken[1]->used, 0));
	cr_expect(gt(u64, taken[1]->sequence, (uint64_t)SLOTS));
}

Test(arena, finds_a_slot_by_where_its_memory_begins)
{
	for (uint32_t i = 0; i < test.arena.header->slot_count; i++) {
		struct gt_slot *slot = &test.arena.slots[i];
		uint8_t *memory = gt_slot_memory(&test.arena, slot);

		cr_expect(eq(ptr, gt_arena_slot_at(&test.arena, memory), slot));
		cr_expect(eq(ptr, gt_arena_slot_at(&test.arena, memory + 1), NULL));
	}
	cr_expect(eq(ptr, gt_arena_slot_at(&test.arena, &test), NULL));
}

Test(arena, begins_with_the_names_of_the_ledger)
{
	static const char *const names[] = {
#define LEDGER(name, help) #name,
#include "format/ledger.def"
	};
	uint32_t offset = 0;
	const char *text;
	uint32_t size;

	for (uint32_t i = 0; i < GT_LEDGER_COUNT; i++) {
		cr_assert(eq(int, gt_arena_next_string(&test.arena, &offset, &text, &size), 1));
		cr_expect(eq(u32, size, strlen(names[i])));
		cr_expect(eq(int, memcmp(text, names[i], size), 0));
	}
	cr_expect(eq(int, gt_arena_next_string(&test.arena, &offset, &text, &size), 0));
	cr_expect(eq(u32, test.arena.header->string_count, GT_LEDGER_COUNT));
}

Test(arena, keeps_strings_of_any_length_and_numbers_them)
{
	static char long_text[GT_ARENA_MAX_STRING + 1];
	uint32_t offset = test.arena.header->heap_used;
	const char *text;
	uint32_t size;

	memset(long_text, 'x', sizeof(long_text));
	for (uint32_t length = 0; length < 20; length++)
		cr_assert(eq(u32, gt_arena_add_string(&test.arena, long_text, length),
		             GT_LEDGER_COUNT + 1 + length));
	cr_expect(gt(u32, gt_arena_add_string(&test.arena, long_text, GT_ARENA_MAX_STRING), 0));
	cr_expect(eq(u32, gt_arena_add_string(&test.arena, long_text, GT_ARENA_MAX_STRING + 1), 0));
	cr_expect(eq(u32, gt_arena_add_string(&test.arena, long_text, UINT32_MAX), 0));
	for (uint32_t length = 0; length < 20; length++) {
		cr_assert(eq(int, gt_arena_next_string(&test.arena, &offset, &text, &size), 1));
		cr_expect(eq(u32, size, length));
	}
	cr_assert(eq(int, gt_arena_next_string(&test.arena, &offset, &text, &size), 1));
	cr_expect(eq(u32, size, GT_ARENA_MAX_STRING));
	cr_expect(eq(int, gt_arena_next_string(&test.arena, &offset, &text, &size), 0));
}

/* Strings in the capture make room; ids go on, and the first strings stay. */
Test(arena, uses_its_heap_again_for_new_strings)
{
	struct gt_arena_header *header = test.arena.header;
	const char *text;
	uint32_t offset = 0;
	uint32_t size;
	uint32_t id = 0;

	gt_arena_keep_strings(&test.arena);
	cr_assert(eq(u32, gt_arena_add_string(&test.arena, "once", 4), GT_LEDGER_COUNT + 1));
	cr_expect(not(gt_arena_reuse_heap(&test.arena)), "it is not written yet");
	header->heap_written = header->heap_used;
	header->strings_written = header->string_count;
	cr_assert(gt_arena_reuse_heap(&test.arena));
	cr_expect(eq(u32, header->heap_used, header->heap_kept));
	cr_expect(eq(u32, gt_arena_add_string(&test.arena, "again", 5), GT_LEDGER_COUNT + 2));
	while (gt_arena_next_string(&test.arena, &offset, &text, &size))
		id = gt_arena_next_id(&test.arena, id);
	cr_expect(eq(u32, id, GT_LEDGER_COUNT + 2));
	cr_expect(eq(int, memcmp(text, "again", 5), 0));
	gt_arena_keep_strings(&test.arena);
	cr_expect(eq(u32, header->strings_kept, GT_LEDGER_COUNT), "not what came later");
}

Test(arena, refuses_strings_once_the_heap_is_full_but_takes_what_still_fits)
{
	static char text[1000];
	uint32_t added = 0;

	while (gt_arena_add_string(&test.arena, text, sizeof(text)))
		added++;
	cr_expect(ge(u32, added, GT_ARENA_HEAP / 1004 - 1));
	cr_expect(eq(u32, test.arena.header->string_count, GT_LEDGER_COUNT + added));
	while (gt_arena_add_string(&test.arena, text, 0))
		continue;
	cr_expect(eq(u32, test.arena.header->heap_used, GT_ARENA_HEAP));
	cr_expect(eq(u32, gt_arena_add_string(&test.arena, text, 0), 0));
}

Test(arena, reads_no_string_that_leaves_the_heap)
{
	static const uint32_t lengths[] = {5, GT_ARENA_MAX_STRING + 1, GT_ARENA_HEAP,
	                                   UINT32_MAX - 3, UINT32_MAX};
	struct gt_arena_header *header = test.arena.header;
	const uint32_t begin = header->heap_used;
	const char *text;
	uint32_t size;

	header->heap_used = begin + 8; /* there is room for four bytes */
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint32_t offset = begin;

		memcpy(test.arena.heap + begin, &lengths[i], 4);
		cr_expect(eq(int, gt_arena_next_string(&test.arena, &offset, &text, &size), 0));
		cr_expect(eq(u32, offset, begin));
	}
	for (uint32_t used = GT_ARENA_HEAP - 8; used != GT_ARENA_HEAP + 8; used++) {
		uint32_t offset = GT_ARENA_HEAP - 4;

		header->heap_used = used;
		memset(test.arena.heap + GT_ARENA_HEAP - 4, 0, 4);
		cr_expect(eq(int, gt_arena_next_string(&test.arena, &offset, &text, &size),
		             used >= GT_ARENA_HEAP),
		          "used %u", used);
	}
	header->heap_used = UINT32_MAX;
	cr_expect(eq(u32, gt_arena_add_string(&test.arena, "x", 1), 0));
}

Test(arena, tells_name_pointers_apart_where_they_collide)
{
	/* Multiples of 2^52 meet in four places of the table; kernels' names lie 16 apart. */
	enum { COUNT = 300 };
	uint32_t kept = 0;

	for (uint64_t i = 1; i <= COUNT; i++) {
		const uint64_t pointer = i % 2 ? i << 52 : 0x7f0000000000u + i * 16;
		struct gt_name *name = gt_arena_name(&test.arena, pointer);

		if (!name)
			continue;
		cr_expect(eq(u64, name->pointer, 0), "it is free");
		name->pointer = pointer;
		name->string = (uint32_t)i;
		kept++;
	}
	cr_expect(ge(u32, kept, COUNT / 2));
	for (uint64_t i = 1; i <= COUNT; i++) {
		const uint64_t pointer = i % 2 ? i << 52 : 0x7f0000000000u + i * 16;
		const struct gt_name *name = gt_arena_name(&test.arena, pointer);

		if (name && name->pointer)
			cr_expect(eq(u32, name->string, (uint32_t)i));
	}
}

Test(arena, has_no_place_for_a_name_when_the_map_is_full)
{
	for (uint32_t i = 0; i < GT_ARENA_NAMES; i++)
		test.arena.names[i].pointer = UINT64_MAX;
	cr_expect(eq(ptr, gt_arena_name(&test.arena, 0x1234), NULL));
	cr_expect(eq(u64, gt_arena_name(&test.arena, UINT64_MAX)->pointer, UINT64_MAX));
	test.arena.names[0].pointer = 0;
	/* The search wraps around the end of the table. */
	for (uint64_t pointer = 1; pointer < 100000; pointer++) {
		const struct gt_name *name = gt_arena_name(&test.arena, pointer);

		cr_expect(name == NULL || name == test.arena.names);
	}
}

Test(arena, was_never_used_until_it_is_published)
{
	struct gt_arena opened;

	test.arena.header->magic = 0;
	cr_expect(eq(int, gt_arena_open(&opened, test.memory, test.size, NULL), -ENODATA));
	cr_expect(eq(int, gt_arena_open(&opened, test.memory, 100, NULL), -ENODATA));
	cr_expect(eq(int, gt_arena_open(&opened, NULL, 0, NULL), -ENODATA));
	gt_arena_publish(&test.arena);
	cr_expect(eq(int, gt_arena_open(&opened, test.memory, test.size, NULL), 0));
}

Test(arena, of_another_version_is_named_as_such)
{
	struct gt_arena opened;
	struct gt_error err = {0};

	test.arena.header->layout_hash++;
	cr_expect(eq(int, gt_arena_open(&opened, test.memory, test.size, &err), -EPROTO));
	cr_expect(ne(ptr, strstr(err.text, "another version"), NULL), "%s", err.text);
}

/* Error of gt_arena_open when one number of the header or of a slot is wrong. */
#define EXPECT_REFUSED(field, value)                                                               \
	do {                                                                                       \
		const uint64_t before = field;                                                     \
		struct gt_arena opened;                                                            \
                                                                                                   \
		field = value;                                                                     \
		cr_expect(eq(int, gt_arena_open(&opened, test.memory, test.size, NULL), -EBADMSG), \
		          #field " = " #value);                                                    \
		field = before;                                                                    \
	} while (0)

Test(arena, is_refused_when_its_header_is_damaged)
{
	struct gt_arena_header *header = test.arena.header;
	struct gt_arena opened;

	EXPECT_REFUSED(header->magic, 1);
	EXPECT_REFUSED(header->bytes, test.size - 1);
	EXPECT_REFUSED(header->slot_count, 0);
	EXPECT_REFUSED(header->slot_count, UINT32_MAX);
	EXPECT_REFUSED(header->slots_offset, 0);
	EXPECT_REFUSED(header->slots_offset, header->slots_offset + 1);
	EXPECT_REFUSED(header->names_offset, UINT64_MAX);
	EXPECT_REFUSED(header->heap_offset, header->heap_offset + 4096);
	EXPECT_REFUSED(header->heap_used, GT_ARENA_HEAP + 4);
	EXPECT_REFUSED(header->heap_used, UINT32_MAX);
	EXPECT_REFUSED(header->capture[0], '/');
	EXPECT_REFUSED(header->capture[0], '\0');
	EXPECT_REFUSED(header->layout.sizes[0], 0);
	EXPECT_REFUSED(header->layout.places[0].offset, UINT16_MAX);
	memset(header->capture, 'x', sizeof(header->capture));
	cr_expect(eq(int, gt_arena_open(&opened, test.memory, test.size, NULL), -EBADMSG));
}

Test(arena, is_refused_when_a_slot_leaves_it)
{
	struct gt_slot *slot = &test.arena.slots[1];
	struct gt_slot *last = &test.arena.slots[test.arena.header->slot_count - 1];

	EXPECT_REFUSED(slot->kind, GT_SLOT_DISCARD + 1);
	EXPECT_REFUSED(slot->size, UINT32_MAX);
	EXPECT_REFUSED(slot->offset, test.size);
	EXPECT_REFUSED(slot->offset, UINT64_MAX);
	EXPECT_REFUSED(slot->offset, 0);
	EXPECT_REFUSED(slot->offset, test.arena.slots[0].offset); /* one slot twice */
	EXPECT_REFUSED(slot->size, slot->size - 8);
	EXPECT_REFUSED(last->size, last->size + 1);
}

Test(arena, cut_anywhere_is_refused)
{
	struct gt_arena opened;

	for (size_t size = 0; size < test.size; size += size < 100000 ? 61 : 100003) {
		struct gt_error err = {0};
		const int result = gt_arena_open(&opened, test.memory, size, &err);

		cr_expect(result == -EBADMSG || result == -ENODATA, "%zu: %d", size, result);
		cr_expect(gt(sz, strlen(err.text), 0));
	}
}

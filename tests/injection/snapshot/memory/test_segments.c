/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/memory/segments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/bundle/writer.h"
#include "injection/snapshot/launch/lists.h"
#include "injection/snapshot/memory/objects.h"
#include "injection/snapshot/memory/reach.h"
#include "support/check.h"
#include "support/folder.h"

/* A piece of memory with two variables and a gap between them, of which the second is a table. */
enum { SIZE = 4096, FIRST = 256, SECOND = 512, BYTES = 64 };

#define SEGMENT UINT64_C(0x7f0000000000)
#define OTHER   UINT64_C(0x7f0000100000)

static char parent[] = "/tmp/gputrace-segments-XXXXXX";
static void *memory;
static struct gt_bundle_writer writer;
static struct gt_reach *reach;
static struct gt_capture_objects *objects;
static struct gt_capture_lists *lists;
static struct gt_segments segments;
static uint8_t contents[SIZE];

static enum gt_reach_answer answer(void *context, uint64_t address, struct gt_reached *found,
                                   struct gt_error *err)
{
	(void)context;
	(void)found;
	(void)err;
	cr_expect(address == 0, "nothing is asked for");
	return GT_REACH_NOTHING;
}

static void add_memory(uint64_t address)
{
	const struct gt_reached added = {.address = address, .size = SIZE, .name = ""};

	cr_assert(gt_reach_add(reach, &added));
}

static void prepare(void)
{
	char folder[128];

	cr_assert(mkdtemp(parent) != NULL);
	snprintf(folder, sizeof(folder), "%s/launches/1-step", parent);
	memory = aligned_alloc(64, gt_bundle_writer_memory());
	gt_bundle_writer_init(&writer, memory);
	cr_assert(eq(int, gt_bundle_writer_open(&writer, folder, UINT64_MAX, NULL), 0));
	reach = calloc(1, sizeof(*reach));
	objects = calloc(1, sizeof(*objects));
	lists = calloc(1, sizeof(*lists));
	gt_reach_begin(reach, answer, NULL);
	add_memory(OTHER);
	add_memory(SEGMENT);
	segments = (struct gt_segments){.wanted = true};
	for (size_t i = 0; i < SIZE; i++)
		contents[i] = (uint8_t)(i % 251);
}

static void drop(void)
{
	gt_segments_empty(&segments);
	gt_bundle_writer_drop(&writer);
	free(memory);
	free(reach);
	free(objects);
	free(lists);
	(void)folder_remove(parent);
}

TestSuite(capture_segments, .init = prepare, .fini = drop);

static void hold(void)
{
	uint8_t *room = gt_segments_add(&segments, 1, &reach->memory[1]);

	cr_assert(ne(ptr, room, NULL));
	memcpy(room, contents, SIZE);
}

static int take(uint64_t offset, uint64_t size, struct gt_error *err)
{
	struct gt_reached variable = {.kind = GT_BUNDLE_MEMORY_variable,
	                              .name = offset == FIRST ? "first" : "second",
	                              .module = 3,
	                              .address = SEGMENT + offset,
	                              .size = size};
	const int result = gt_segments_take(&segments, reach, objects, &writer, &variable, err);

	return result == 0 ? (gt_reach_add(reach, &variable) ? 0 : -EEXIST) : result;
}

static void expect_before(uint64_t offset, const char *name)
{
	const uint32_t number = gt_reach_find(reach, SEGMENT + offset);
	char hash[GT_BUNDLE_HASH_BYTES];

	cr_assert(ne(u32, number, GT_REACH_NONE));
	gt_blob_hash(contents + offset, BYTES, hash);
	cr_expect(eq(str, reach->memory[number].before, hash));
	cr_expect(eq(str, (char *)(uintptr_t)reach->memory[number].name, (char *)(uintptr_t)name));
	cr_expect(eq(u64, reach->memory[number].size, BYTES));
	cr_expect(eq(int, (int)reach->memory[number].kind, (int)GT_BUNDLE_MEMORY_variable));
}

static void add_step(uint64_t offset, uint64_t bytes)
{
	const struct gt_capture_step step = {.kind = GT_BUNDLE_STEP_copy,
	                                     .to = SEGMENT + offset,
	                                     .from = OTHER,
	                                     .bytes = bytes,
	                                     .rows = 1};

	cr_assert(ge(int, gt_capture_add_step(lists, &step, NULL), 0));
}

Test(capture_segments, become_the_variables_in_them)
{
	struct gt_error err = {0};

	hold();
	add_step(SECOND + 8, BYTES - 8);
	cr_expect(eq(int, take(FIRST, BYTES, &err), 1), "%s", err.text);
	cr_expect(eq(int, take(SECOND, BYTES, &err), 0), "%s", err.text);
	cr_expect(eq(int, gt_segments_settle(&segments, reach, objects, lists, &err), 0), "%s",
	          err.text);
	cr_expect(eq(u32, reach->count, 3));
	cr_expect(eq(u32, gt_reach_find(reach, SEGMENT), GT_REACH_NONE));
	cr_expect(eq(u32, gt_reach_find(reach, OTHER), 0));
	expect_before(FIRST, "first");
	expect_before(SECOND, "second");
}

Test(capture_segments, give_pointers_in_them_to_the_variables)
{
	uint64_t table[SIZE / 8] = {0};

	table[SECOND / 8 + 2] = OTHER + 8;
	table[1000 / 8] = OTHER; /* between them */
	hold();
	gt_reach_contents(reach, 1, 0, (const uint8_t *)table, SIZE);
	cr_assert(eq(u32, reach->pointer_count, 2));
	cr_assert(eq(int, take(FIRST, BYTES, NULL), 1));
	cr_assert(eq(int, take(SECOND, BYTES, NULL), 0));
	cr_assert(eq(int, gt_segments_settle(&segments, reach, objects, lists, NULL), 0));
	gt_segments_end(reach, objects);
	cr_assert(eq(u32, reach->pointer_count, 1));
	cr_expect(eq(u32, reach->pointers[0].memory, 2));
	cr_expect(eq(u64, reach->pointers[0].offset, 16));
	cr_expect(eq(u32, reach->pointers[0].target, 0));
	cr_expect(reach->memory[2].pointers);
	cr_expect(not(reach->memory[1].pointers));
}

/* A module is known after another one that has variables in the same piece. */
Test(capture_segments, give_pointers_to_the_variables_of_every_module)
{
	uint64_t table[SIZE / 8] = {0};

	table[FIRST / 8] = OTHER + 8;
	table[SECOND / 8 + 2] = OTHER + 16;
	table[1000 / 8] = OTHER; /* between them */
	hold();
	gt_reach_contents(reach, 1, 0, (const uint8_t *)table, SIZE);
	cr_assert(eq(int, take(FIRST, BYTES, NULL), 1));
	cr_assert(eq(int, gt_segments_settle(&segments, reach, objects, lists, NULL), 0));
	cr_expect(reach->memory[1].pointers);
	cr_assert(eq(int, take(SECOND, BYTES, NULL), 0));
	cr_assert(eq(int, gt_segments_settle(&segments, reach, objects, lists, NULL), 0));
	gt_segments_end(reach, objects);
	cr_assert(eq(u32, reach->pointer_count, 2));
	for (uint32_t i = 0; i < 2; i++) {
		cr_expect(eq(u32, reach->pointers[i].memory, i + 1));
		cr_expect(eq(u64, reach->pointers[i].offset, i * 16));
		cr_expect(reach->memory[i + 1].pointers);
	}
}

Test(capture_segments, give_handles_in_them_to_the_variables_as_well)
{
	const uint64_t offsets[] = {FIRST + 8, 1000, SECOND};

	hold();
	for (uint32_t i = 0; i < 3; i++)
		objects->handles[objects->handle_count++] =
			(struct gt_bundle_handle){.memory = 1, .offset = offsets[i], .object = i};
	objects->handles[objects->handle_count++] =
		(struct gt_bundle_handle){.memory = UINT32_MAX, .offset = 8, .object = 3};
	cr_assert(eq(int, take(FIRST, BYTES, NULL), 1));
	cr_assert(eq(int, gt_segments_settle(&segments, reach, objects, lists, NULL), 0));
	cr_assert(eq(int, take(SECOND, BYTES, NULL), 0));
	cr_assert(eq(int, gt_segments_settle(&segments, reach, objects, lists, NULL), 0));
	gt_segments_end(reach, objects);
	cr_assert(eq(u32, objects->handle_count, 3));
	cr_expect(eq(u32, objects->handles[0].memory, 1));
	cr_expect(eq(u64, objects->handles[0].offset, 8));
	cr_expect(eq(u32, objects->handles[1].memory, 2));
	cr_expect(eq(u64, objects->handles[1].offset, 0));
	cr_expect(eq(u32, objects->handles[1].object, 2));
	cr_expect(eq(u32, objects->handles[2].memory, UINT32_MAX), "that of a parameter stays");
}

/* It would end behind the variable, and the bundle would not be read. */
Test(capture_segments, give_no_pointer_or_handle_to_a_variable_that_ends_in_it)
{
	uint64_t table[SIZE / 8] = {0};

	table[FIRST / 8] = OTHER;
	table[FIRST / 8 + 1] = OTHER;
	hold();
	gt_reach_contents(reach, 1, 0, (const uint8_t *)table, SIZE);
	for (uint64_t offset = FIRST; offset <= FIRST + 8; offset += 8)
		objects->handles[objects->handle_count++] =
			(struct gt_bundle_handle){.memory = 1, .offset = offset};
	cr_assert(eq(int, take(FIRST, 12, NULL), 1));
	cr_assert(eq(int, gt_segments_settle(&segments, reach, objects, lists, NULL), 0));
	gt_segments_end(reach, objects);
	cr_assert(eq(u32, reach->pointer_count, 1), "the whole one");
	cr_expect(eq(u64, reach->pointers[0].offset, 0));
	cr_assert(eq(u32, objects->handle_count, 1));
	cr_expect(eq(u64, objects->handles[0].offset, 0));
}

Test(capture_segments, that_a_texture_is_of_refuse)
{
	struct gt_error err = {0};

	hold();
	objects->objects[objects->object_count++] =
		(struct gt_bundle_object){.resource = GT_BUNDLE_RESOURCE_linear, .memory = 1};
	cr_expect(eq(int, take(FIRST, BYTES, &err), -ENOTSUP));
	objects->objects[0].resource = GT_BUNDLE_RESOURCE_array; /* the second of these */
	cr_expect(eq(int, take(FIRST, BYTES, &err), 1), "%s", err.text);
}

Test(capture_segments, that_are_one_variable_need_not_be_held)
{
	struct gt_error err = {0};

	cr_expect(eq(int, take(0, SIZE, &err), 1), "%s", err.text);
	cr_expect(eq(int, (int)reach->memory[1].kind, (int)GT_BUNDLE_MEMORY_variable));
	cr_expect(eq(u32, reach->memory[1].module, 3));
	cr_expect(eq(int, take(0, SIZE, &err), -EEXIST), "it is known");
}

Test(capture_segments, that_are_not_held_refuse)
{
	struct gt_error err = {0};

	cr_expect(eq(int, take(FIRST, BYTES, &err), -ENOTSUP));
	expect_text(err.text, "a step uses the variable first before any launches a function of "
	                      "its module, and the driver tells of 4096 bytes there that has 64");
}

Test(capture_segments, that_something_leads_to_refuse)
{
	const uint64_t pointer = SEGMENT + FIRST;
	struct gt_error err = {0};

	hold();
	gt_reach_contents(reach, 0, 0, (const uint8_t *)&pointer, 8);
	cr_expect(eq(int, take(FIRST, BYTES, &err), -ENOTSUP));
}

Test(capture_segments, with_steps_beside_variables_refuse)
{
	struct gt_error err = {0};

	hold();
	add_step(FIRST + 8, BYTES); /* 8 bytes too many */
	cr_assert(eq(int, take(FIRST, BYTES, &err), 1));
	cr_expect(eq(int, gt_segments_settle(&segments, reach, objects, lists, &err), -ENOTSUP));
	cr_expect(ne(ptr, strstr(err.text, "none of its variables"), NULL));
}

Test(capture_segments, hold_as_much_as_there_is_room_for)
{
	struct gt_reached large = {.address = SEGMENT, .size = GT_SEGMENTS_BYTES - 8};

	cr_expect(ne(ptr, gt_segments_add(&segments, 1, &large), NULL));
	large.size = 9;
	cr_expect(eq(ptr, gt_segments_add(&segments, 1, &large), NULL));
	large.size = 8;
	cr_expect(ne(ptr, gt_segments_add(&segments, 1, &large), NULL));
	gt_segments_empty(&segments);
	segments.wanted = false;
	cr_expect(eq(ptr, gt_segments_add(&segments, 1, &large), NULL));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "support/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void lay_out(struct gt_activity_layout *layout)
{
	uint32_t *const sizes = layout->sizes;

	layout->cupti_version = 130000;
#define ACTIVITY(name, number, kind, type, record, how) sizes[GT_ACTIVITY_##name] = 8;
#define RAW(name, field, member)                                                                   \
	layout->places[GT_RAW_##name##_##field] =                                                  \
		(struct gt_raw_place){(uint16_t)sizes[GT_ACTIVITY_##name], 8};                     \
	sizes[GT_ACTIVITY_##name] += 8;
#include "format/activity.def"
}

static uint32_t kind_of(enum gt_cupti_activity activity)
{
	static const uint32_t kinds[GT_ACTIVITY_COUNT] = {
#define ACTIVITY(name, number, kind, type, record, how) [GT_ACTIVITY_##name] = number,
#define RAW(name, field, member)
#include "format/activity.def"
	};

	return kinds[activity];
}

static void *map(const struct test_arena *test, int how)
{
	void *memory = mmap(NULL, test->size, PROT_READ | PROT_WRITE, how, test->fd, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

void test_arena_init(struct test_arena *test, uint32_t activity_slots, uint32_t activity_bytes,
                     const char *capture)
{
	const struct gt_arena_config config = {
		.activity_slots = activity_slots,
		.activity_bytes = activity_bytes,
		.capture = capture,
	};

	test->size = gt_arena_bytes(&config);
	test->fd = memfd_create("arena", MFD_CLOEXEC);
	if (test->fd < 0 || ftruncate(test->fd, (off_t)test->size) < 0)
		abort();
	test->memory = map(test, MAP_SHARED);
	gt_arena_format(&test->arena, test->memory, &config);
	lay_out(&test->arena.header->layout);
	gt_arena_publish(&test->arena);
}

void test_arena_copy(const struct test_arena *test, struct test_arena *copy)
{
	*copy = *test;
	copy->fd = -1;
	copy->memory = map(test, MAP_PRIVATE);
	if (gt_arena_open(&copy->arena, copy->memory, copy->size, NULL) < 0)
		abort();
}

void test_arena_release(struct test_arena *test)
{
	if (test->memory)
		munmap(test->memory, test->size);
	if (test->fd >= 0)
		close(test->fd);
	*test = (struct test_arena){.fd = -1};
}

uint8_t *add_raw(struct test_arena *test, struct gt_slot *slot, enum gt_cupti_activity activity)
{
	const uint32_t size = test->arena.header->layout.sizes[activity];
	const uint32_t kind = kind_of(activity);
	uint8_t *record = gt_slot_memory(&test->arena, slot) + slot->used;

	if (size > slot->size - slot->used)
		abort();
	memset(record, 0, size);
	memcpy(record, &kind, sizeof(kind));
	slot->used += size;
	return record;
}

void put_raw(const struct test_arena *test, uint8_t *record, enum gt_raw_field field,
             uint64_t value)
{
	memcpy(record + test->arena.header->layout.places[field].offset, &value, sizeof(value));
}

uint8_t *add_raw_kernel(struct test_arena *test, struct gt_slot *slot, uint32_t correlation,
                        uint64_t name)
{
	uint8_t *record = add_raw(test, slot, GT_ACTIVITY_kernel);

	put_raw(test, record, GT_RAW_kernel_start_ns, 1000 + 10 * (uint64_t)correlation);
	put_raw(test, record, GT_RAW_kernel_end_ns, 1005 + 10 * (uint64_t)correlation);
	put_raw(test, record, GT_RAW_kernel_correlation, correlation);
	put_raw(test, record, GT_RAW_kernel_name, name);
	put_raw(test, record, GT_RAW_kernel_grid_x, 32);
	return record;
}

void *add_entry(struct test_arena *test, struct gt_slot *slot, uint32_t kind, uint32_t bytes)
{
	struct gt_entry *entry =
		(struct gt_entry *)(gt_slot_memory(&test->arena, slot) + slot->used);

	if (sizeof(*entry) + bytes > slot->size - slot->used)
		abort();
	memset(entry, 0, sizeof(*entry) + bytes);
	*entry = (struct gt_entry){.kind = (uint16_t)kind, .bytes = (uint16_t)bytes};
	slot->used += (uint32_t)sizeof(*entry) + bytes;
	return entry + 1;
}

void add_call(struct test_arena *test, struct gt_slot *slot, uint32_t correlation)
{
	struct gt_record_api_call *call = add_entry(test, slot, GT_RECORD_api_call, sizeof(*call));

	call->start_ns = 500 + 10 * (uint64_t)correlation;
	call->end_ns = 504 + 10 * (uint64_t)correlation;
	call->correlation = correlation;
	call->function = 1;
}

void add_name(struct test_arena *test, uint64_t pointer, const char *text)
{
	struct gt_name *name = gt_arena_name(&test->arena, pointer);

	name->string = gt_arena_add_string(&test->arena, text, (uint32_t)strlen(text));
	name->pointer = pointer;
}

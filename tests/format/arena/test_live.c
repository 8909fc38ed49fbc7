/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/arena/drain.h"
#include "format/arena/salvage.h"
#include "format/file/meta.h"
#include "format/recording.h"
#include "support/arena.h"
#include "support/capture.h"
#include "support/check.h"

enum { SLOT_BYTES = 1 << 20, MOST_IDS = 1 << 18 };

static uint8_t scratch[GT_CHUNK_MAX_RAW];

/* A process that goes on: what it drains is in its capture. */
struct process {
	struct test_arena test;
	struct capture capture;
	void *memory;
	struct gt_drain *drain;
};

static uint32_t name_of(void *context, uint64_t pointer)
{
	const struct gt_name *name = gt_arena_name(context, pointer);

	return name && name->pointer == pointer ? name->string : 0;
}

static uint32_t string_of(void *context, const char *text, uint32_t size)
{
	return gt_arena_add_string(context, text, size);
}

static void begin(struct process *process)
{
	const size_t size = gt_drain_memory();

	*process = (struct process){.memory = aligned_alloc(64, gt_align_64(size))};
	test_arena_init(&process->test, 4, SLOT_BYTES, "host-1-2.capture");
	capture_begin(&process->capture, CAPTURE_UNLIMITED);
	process->drain = gt_drain_init(
		&(struct gt_drain_config){
			.arena = &process->test.arena,
			.writer = &process->capture.writer,
			.name_of = name_of,
			.string_of = string_of,
			.context = &process->test.arena,
		},
		process->memory, size);
}

static void end(struct process *process)
{
	test_arena_release(&process->test);
	capture_release(&process->capture);
	free(process->memory);
}

/* As the writer thread does. */
static void drain(struct process *process, struct gt_slot *slot)
{
	const uint8_t *at = gt_slot_memory(&process->test.arena, slot);
	const uint32_t used = slot->used;

	gt_drain_begin(process->drain, slot);
	if (slot->kind == GT_SLOT_RECORDS)
		gt_drain_records(process->drain, slot, used);
	for (uint32_t left = slot->kind == GT_SLOT_ACTIVITY ? used : 0; left > 0;) {
		const uint32_t bytes = gt_raw_size(&process->test.arena, at, left);

		gt_drain_activity(process->drain, at);
		at += bytes;
		left -= bytes;
	}
	gt_drain_end(process->drain);
	memset(gt_slot_memory(&process->test.arena, slot), 0, used);
	slot->used = 0;
	slot->state = GT_SLOT_FREE;
}

static void load(const struct process *process, struct gt_content *copy)
{
	struct gt_error err = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", process->test.fd);
	cr_assert(eq(int, gt_arena_load_live(copy, path, &err), 0), "%s", err.text);
}

/* The capture as it is now, with what only the copy has behind it. */
static void salvage(const struct process *process, const struct gt_content *copy,
                    struct capture *whole)
{
	struct gt_error err = {0};
	const struct gt_content capture = {.bytes = process->capture.bytes,
	                                   .size = process->capture.size};

	capture_init(whole, CAPTURE_UNLIMITED);
	capture_add_bytes(whole, capture.bytes, capture.size);
	cr_assert(eq(int, gt_salvage_live(copy, &capture, capture_sink(whole), &err), 0), "%s",
	          err.text);
}

/* Texts by id, the last that was said of each, as a collector takes them. */
static void read_texts(const struct capture *whole, char (*texts)[16])
{
	struct gt_reader reader;
	struct gt_chunk chunk;

	capture_read(&reader, whole->bytes, whole->size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0) {
		struct gt_text text;
		size_t offset = 0;

		while (chunk.header.kind == GT_RECORD_STRINGS &&
		       gt_chunk_next_string(&chunk, &offset, &text) > 0)
			snprintf(texts[text.id], sizeof(texts[0]), "%.*s", (int)text.size,
			         text.bytes);
	}
}

/* The name of each kernel by its correlation id; each must be there once. */
static void expect_names(const struct capture *whole, const char *const *names, size_t count)
{
	char(*texts)[16] = calloc(MOST_IDS, sizeof(*texts));
	uint32_t *shape_names = calloc(MOST_IDS, sizeof(*shape_names));
	struct gt_record_kernel *kernels;
	struct gt_record_shape *shapes;
	size_t kernel_count;
	size_t shape_count;
	uint32_t seen = 0;

	read_texts(whole, texts);
	shapes = read_records(whole->bytes, whole->size, GT_RECORD_shape, &shape_count);
	for (size_t i = 0; i < shape_count; i++)
		shape_names[shapes[i].id] = shapes[i].name;
	kernels = read_records(whole->bytes, whole->size, GT_RECORD_kernel, &kernel_count);
	cr_expect(eq(sz, kernel_count, count));
	for (size_t i = 0; i < kernel_count; i++) {
		const uint32_t id = kernels[i].correlation;

		cr_assert(ge(u32, id, 1));
		cr_assert(le(sz, id, count));
		cr_expect(not(seen & 1u << id), "kernel %u is there twice", id);
		seen |= 1u << id;
		expect_text(texts[shape_names[kernels[i].shape]], names[id - 1]);
	}
	free(texts);
	free(shape_names);
	free(shapes);
	free(kernels);
}

static void add_kernel(struct process *process, struct gt_slot *slot, uint32_t id, uint64_t name,
                       const char *text)
{
	if (!gt_arena_name(&process->test.arena, name)->pointer)
		add_name(&process->test, name, text);
	add_raw_kernel(&process->test, slot, id, name);
}

Test(live, what_is_drained_after_the_copy_is_there_once)
{
	struct process process;
	struct gt_content copy;
	struct capture whole;
	struct gt_slot *drained;
	struct gt_slot *lent;

	begin(&process);
	drained = gt_arena_take(&process.test.arena, GT_SLOT_ACTIVITY);
	lent = gt_arena_take(&process.test.arena, GT_SLOT_ACTIVITY);
	add_kernel(&process, drained, 1, 0x10, "first");
	add_kernel(&process, lent, 2, 0x20, "open");
	load(&process, &copy);
	/* A new name and a new shape get the ids that the copy would give out next. */
	add_kernel(&process, drained, 3, 0x30, "later");
	drain(&process, drained);
	salvage(&process, &copy, &whole);
	expect_names(&whole, (const char *const[]){"first", "open", "later"}, 3);
	capture_release(&whole);
	gt_unload(&copy);
	end(&process);
}

Test(live, names_that_only_the_copy_gives_out_are_not_those_of_the_process)
{
	char(*texts)[16] = calloc(MOST_IDS, sizeof(*texts));
	struct gt_record_thread *threads;
	struct process process;
	struct gt_content copy;
	struct capture whole;
	struct gt_slot *slot;
	size_t count;

	begin(&process);
	slot = gt_arena_take(&process.test.arena, GT_SLOT_RECORDS);
	slot->tid = 7;
	memcpy(slot->thread_name, "worker", 6);
	add_call(&process.test, slot, 1);
	load(&process, &copy);
	add_name(&process.test, 0x10, "a kernel");
	gt_drain_strings(process.drain);
	salvage(&process, &copy, &whole);
	read_texts(&whole, texts);
	threads = read_records(whole.bytes, whole.size, GT_RECORD_thread, &count);
	cr_assert(eq(sz, count, 1));
	expect_text(texts[threads[0].name], "worker");
	expect_text(texts[name_of(&process.test.arena, 0x10)], "a kernel");
	free(threads);
	free(texts);
	capture_release(&whole);
	gt_unload(&copy);
	end(&process);
}

Test(live, says_no_end_of_the_process)
{
	struct process process;
	struct gt_content copy;
	struct capture whole;
	struct gt_reader reader;
	struct gt_chunk chunk;

	begin(&process);
	load(&process, &copy);
	salvage(&process, &copy, &whole);
	capture_read(&reader, whole.bytes, whole.size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0)
		cr_expect(ne(u32, chunk.header.kind, GT_RECORD_META));
	capture_release(&whole);
	gt_unload(&copy);
	end(&process);
}

Test(live, refuses_what_is_no_arena)
{
	struct gt_content copy;
	struct gt_error err = {0};

	cr_expect(ne(int, gt_arena_load_live(&copy, "/proc/self/cmdline", &err), 0));
	cr_expect(eq(ptr, copy.bytes, NULL));
	cr_expect(eq(int, gt_arena_load_live(&copy, "no such file", &err), -ENOENT));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/drain.h"

#include <stdlib.h>
#include <string.h>

#include "format/file/chunk.h"
#include "format/file/columns.h"
#include "format/file/series.h"
#include "support/arena.h"
#include "support/capture.h"
#include "support/check.h"

enum {
	SLOT_BYTES = 1 << 20,
	CALL_ENTRY_BYTES = sizeof(struct gt_entry) + sizeof(struct gt_record_api_call),
};

static uint8_t scratch[GT_CHUNK_MAX_RAW];
static struct test_arena test;
static struct capture capture;
static struct gt_drain *drain;

static uint32_t name_of(void *context, uint64_t pointer)
{
	const struct gt_name *name = gt_arena_name(context, pointer);

	return name && name->pointer == pointer ? name->string : 0;
}

static uint32_t string_of(void *context, const char *text, uint32_t size)
{
	return gt_arena_add_string(context, text, size);
}

static void begin_with(uint32_t record_flags)
{
	const struct gt_drain_config config = {
		.arena = &test.arena,
		.writer = &capture.writer,
		.name_of = name_of,
		.string_of = string_of,
		.context = &test.arena,
		.record_flags = record_flags,
	};
	const size_t size = gt_drain_memory();

	free(drain);
	drain = aligned_alloc(64, (size + 63) & ~(size_t)63);
	cr_assert(eq(ptr, gt_drain_init(&config, drain, size - 1), NULL));
	cr_assert(eq(ptr, gt_drain_init(&config, drain, size), drain));
}

static void make(void)
{
	test_arena_init(&test, 4, SLOT_BYTES, "host-1-2.capture");
	capture_begin(&capture, CAPTURE_UNLIMITED);
	begin_with(0);
}

static void drop(void)
{
	free(drain);
	capture_release(&capture);
	test_arena_release(&test);
}

TestSuite(drain, .init = make, .fini = drop);

static void drain_slot(const struct gt_slot *slot)
{
	const uint8_t *at = gt_slot_memory(&test.arena, slot);
	uint32_t left = slot->used;

	gt_drain_begin(drain, slot);
	if (slot->kind == GT_SLOT_RECORDS) {
		gt_drain_records(drain, slot, slot->used);
	} else {
		for (uint32_t size; (size = gt_raw_size(&test.arena, at, left)); at += size) {
			gt_drain_activity(drain, at);
			left -= size;
		}
	}
	gt_drain_end(drain);
}

static void *read_all(uint32_t kind, size_t *count)
{
	return read_records(capture.bytes, capture.size, kind, count);
}

static uint64_t ledger(enum gt_ledger_id id)
{
	return test.arena.header->ledger[id];
}

/* Fills every field of a raw record with a number of its own: first, first + 1, ... */
static uint8_t *add_numbered(struct gt_slot *slot, enum gt_cupti_activity activity, int first_field,
                             int end_field, uint64_t first)
{
	uint8_t *record = add_raw(&test, slot, activity);

	for (int field = first_field; field < end_field; field++)
		put_raw(&test, record, (enum gt_raw_field)field, first++);
	return record;
}

Test(drain, brings_every_field_of_a_copy_across)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	struct gt_record_copy *copies;
	size_t count;

	/* Numbered in the order of activity.def: 101 start, 102 end, 103 bytes, ... */
	add_numbered(slot, GT_ACTIVITY_memcpy, GT_RAW_memcpy_start_ns, GT_RAW_memcpy_graph + 1,
	             101);
	add_numbered(slot, GT_ACTIVITY_memcpy2, GT_RAW_memcpy2_start_ns, GT_RAW_memcpy2_graph + 1,
	             200);
	drain_slot(slot);
	copies = read_all(GT_RECORD_copy, &count);
	cr_assert(eq(sz, count, 2));

	const struct gt_record_copy expected[2] = {
		{.start_ns = 101,
	         .end_ns = 102,
	         .size_bytes = 103,
	         .kind = 104,
	         .src_kind = 105,
	         .dst_kind = 106,
	         .flags = GT_RECORD_ASYNC, /* 107 is odd */
	         .device = 108,
	         .context = 109,
	         .stream = 110,
	         .correlation = 111,
	         .graph_node = 112,
	         .graph = 113},
		{.start_ns = 200,
	         .end_ns = 201,
	         .size_bytes = 202,
	         .kind = 203,
	         .src_kind = 204,
	         .dst_kind = 205,
	         .flags = 0, /* 206 is even */
	         .device = 207,
	         .context = 208,
	         .stream = 209,
	         .src_device = 211, /* plus one */
	         .dst_device = 212,
	         .correlation = 212,
	         .graph_node = 213,
	         .graph = 214},
	};

	cr_expect(eq(int, memcmp(copies, expected, sizeof(expected)), 0));
	free(copies);
}

Test(drain, brings_every_field_of_a_fill_across)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	const struct gt_record_fill expected = {.start_ns = 101,
	                                        .end_ns = 102,
	                                        .size_bytes = 103,
	                                        .value = 104,
	                                        .memory_kind = 105,
	                                        .flags = 0,
	                                        .device = 107,
	                                        .context = 108,
	                                        .stream = 109,
	                                        .correlation = 110,
	                                        .graph_node = 111,
	                                        .graph = 112};
	struct gt_record_fill *fills;
	size_t count;

	add_numbered(slot, GT_ACTIVITY_memset, GT_RAW_memset_start_ns, GT_RAW_memset_graph + 1,
	             101);
	drain_slot(slot);
	fills = read_all(GT_RECORD_fill, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(int, memcmp(fills, &expected, sizeof(expected)), 0));
	free(fills);
}

/* One that begins on the host has the largest number in place of a device (cupti_activity.h). */
Test(drain, brings_every_field_of_a_graph_as_a_whole_across)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	const struct gt_record_graph_trace expected[2] = {
		{.start_ns = 101,
	         .end_ns = 102,
	         .device = 104, /* plus one */
	         .context = 104,
	         .stream = 105,
	         .correlation = 106,
	         .graph = 107},
		{.start_ns = 201,
	         .end_ns = 202,
	         .context = UINT32_MAX,
	         .stream = UINT32_MAX,
	         .correlation = 206,
	         .graph = 207},
	};
	struct gt_record_graph_trace *traces;
	size_t count;

	add_numbered(slot, GT_ACTIVITY_graph_trace, GT_RAW_graph_trace_start_ns,
	             GT_RAW_graph_trace_graph + 1, 101);
	put_raw(&test,
	        add_numbered(slot, GT_ACTIVITY_graph_trace, GT_RAW_graph_trace_start_ns,
	                     GT_RAW_graph_trace_graph + 1, 201),
	        GT_RAW_graph_trace_device_id, INT32_MAX);
	drain_slot(slot);
	traces = read_all(GT_RECORD_graph_trace, &count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(int, memcmp(traces, expected, sizeof(expected)), 0));
	free(traces);
}

Test(drain, brings_every_field_of_a_kernel_and_its_shape_across)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	uint8_t *record = add_numbered(slot, GT_ACTIVITY_kernel, GT_RAW_kernel_start_ns,
	                               GT_RAW_kernel_device_launched + 1, 101);
	const struct gt_record_kernel expected = {
		.start_ns = 101,
		.end_ns = 102,
		.device = 103,
		.context = 104,
		.stream = 105,
		.correlation = 106,
		.shape = 1,
		.graph_node = 123,
		.graph = 124,
		.grid_id = 125,
		.flags = GT_RECORD_DEVICE_LAUNCHED,
	};
	const struct gt_record_shape expected_shape = {
		.id = 1,
		.name = GT_LEDGER_COUNT + 1,
		.grid_x = 108,
		.grid_y = 109,
		.grid_z = 110,
		.block_x = 111,
		.block_y = 112,
		.block_z = 113,
		.cluster_x = 114,
		.cluster_y = 115,
		.cluster_z = 116,
		.registers = 117,
		.shared_static = 118,
		.shared_dynamic = 119,
		.shared_executed = 120,
		.local_per_thread = 121,
		.cache_config = 2, /* the upper half of 0x21 */
	};
	struct gt_record_kernel *kernels;
	struct gt_record_shape *shapes;
	size_t count;

	put_raw(&test, record, GT_RAW_kernel_cache_config, 0x21);
	add_name(&test, 107, "saxpy");
	drain_slot(slot);
	kernels = read_all(GT_RECORD_kernel, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(int, memcmp(kernels, &expected, sizeof(expected)), 0));
	shapes = read_all(GT_RECORD_shape, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(int, memcmp(shapes, &expected_shape, sizeof(expected_shape)), 0));
	free(kernels);
	free(shapes);
}

Test(drain, brings_the_other_kinds_across)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	struct gt_record_sync *syncs;
	struct gt_record_overhead *overheads;
	struct gt_record_device *devices;
	struct gt_record_context *contexts;
	struct gt_record_stream *streams;
	size_t counts[5];

	add_numbered(slot, GT_ACTIVITY_synchronization, GT_RAW_synchronization_start_ns,
	             GT_RAW_synchronization_event + 1, 1);
	add_numbered(slot, GT_ACTIVITY_overhead, GT_RAW_overhead_start_ns,
	             GT_RAW_overhead_correlation + 1, 1);
	put_raw(&test,
	        add_numbered(slot, GT_ACTIVITY_overhead, GT_RAW_overhead_start_ns,
	                     GT_RAW_overhead_correlation + 1, 1),
	        GT_RAW_overhead_object_kind, 2);
	add_numbered(slot, GT_ACTIVITY_device, GT_RAW_device_ordinal, GT_RAW_device_visible + 1, 1);
	/* one that CUDA_VISIBLE_DEVICES hides: no device of this process */
	put_raw(&test,
	        add_numbered(slot, GT_ACTIVITY_device, GT_RAW_device_ordinal,
	                     GT_RAW_device_visible + 1, 1),
	        GT_RAW_device_visible, 0);
	add_numbered(slot, GT_ACTIVITY_context, GT_RAW_context_id,
	             GT_RAW_context_multiprocessors + 1, 1);
	/* what is no green context does not say how many multiprocessors it has */
	put_raw(&test,
	        add_numbered(slot, GT_ACTIVITY_context, GT_RAW_context_id,
	                     GT_RAW_context_multiprocessors + 1, 1),
	        GT_RAW_context_green, 0);
	add_numbered(slot, GT_ACTIVITY_stream, GT_RAW_stream_id, GT_RAW_stream_flags + 1, 1);
	drain_slot(slot);
	syncs = read_all(GT_RECORD_sync, &counts[0]);
	overheads = read_all(GT_RECORD_overhead, &counts[1]);
	devices = read_all(GT_RECORD_device, &counts[2]);
	contexts = read_all(GT_RECORD_context, &counts[3]);
	streams = read_all(GT_RECORD_stream, &counts[4]);
	cr_assert(counts[0] == 1 && counts[1] == 2 && counts[2] == 1 && counts[3] == 2 &&
	          counts[4] == 1);
	cr_expect(syncs[0].start_ns == 1 && syncs[0].end_ns == 2 && syncs[0].kind == 3 &&
	          syncs[0].correlation == 4 && syncs[0].context == 5 && syncs[0].stream == 6 &&
	          syncs[0].event == 7);
	/* The thread is only known where the object is one. */
	cr_expect(overheads[0].start_ns == 1 && overheads[0].end_ns == 2 &&
	          overheads[0].kind == 3 && overheads[0].tid == 0 && overheads[0].correlation == 6);
	cr_expect(eq(u32, overheads[1].tid, 5));
	cr_expect(devices[0].ordinal == 1 && devices[0].cc_major == 3 && devices[0].cc_minor == 4 &&
	          devices[0].sm_count == 5 && devices[0].sm_clock_khz == 6 &&
	          devices[0].memory_bytes == 7 && devices[0].l2_bytes == 8 &&
	          devices[0].warp_size == 9 && devices[0].max_threads_per_sm == 90 &&
	          devices[0].max_blocks_per_sm == 11 && devices[0].registers_per_sm == 12 &&
	          devices[0].registers_per_block == 13 && devices[0].shared_per_sm_bytes == 14 &&
	          devices[0].copy_engines == 15);
	cr_expect(contexts[0].id == 1 && contexts[0].device == 2 && contexts[0].null_stream == 3 &&
	          contexts[0].sm_count == 5);
	cr_expect(eq(u32, contexts[1].sm_count, 0));
	cr_expect(streams[0].id == 1 && streams[0].context == 2 && streams[0].priority == 3 &&
	          streams[0].flags == 4);
	free(syncs);
	free(overheads);
	free(devices);
	free(contexts);
	free(streams);
}

Test(drain, marks_what_is_not_finished)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	const uint32_t open_kind = 10 | GT_RAW_KIND_OPEN;
	struct gt_record_kernel *kernels;
	uint8_t *record;
	size_t count;

	add_raw_kernel(&test, slot, 1, 0);
	record = add_raw_kernel(&test, slot, 2, 0);
	memcpy(record, &open_kind, sizeof(open_kind)); /* open, whatever its times say */
	put_raw(&test, add_raw_kernel(&test, slot, 3, 0), GT_RAW_kernel_end_ns, 0);
	record = add_raw_kernel(&test, slot, 4, 0);
	memcpy(record, &open_kind, sizeof(open_kind));
	put_raw(&test, record, GT_RAW_kernel_start_ns, 0);
	put_raw(&test, record, GT_RAW_kernel_end_ns, 0);
	drain_slot(slot);
	kernels = read_all(GT_RECORD_kernel, &count);
	cr_assert(eq(sz, count, 4));
	cr_expect(eq(u32, kernels[0].flags, 0));
	for (size_t i = 1; i < 4; i++)
		cr_expect(eq(u32, kernels[i].flags, GT_RECORD_UNFINISHED));
	cr_expect(eq(u64, ledger(GT_LEDGER_activity_records), 4));
	cr_expect(eq(u64, ledger(GT_LEDGER_unknown_records), 0));
	free(kernels);
}

Test(drain, counts_a_kind_it_does_not_know)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	const uint32_t unknown = 4711;
	size_t count;
	uint8_t *record;

	add_raw_kernel(&test, slot, 1, 0);
	record = add_raw_kernel(&test, slot, 2, 0);
	memcpy(record, &unknown, sizeof(unknown));
	gt_drain_begin(drain, slot);
	gt_drain_activity(drain, gt_slot_memory(&test.arena, slot));
	gt_drain_activity(drain, record);
	cr_expect(eq(u64, ledger(GT_LEDGER_activity_records), 0), "not before it is drained");
	gt_drain_end(drain);
	cr_expect(eq(u64, ledger(GT_LEDGER_activity_records), 2));
	cr_expect(eq(u64, ledger(GT_LEDGER_unknown_records), 1));
	free(read_all(GT_RECORD_kernel, &count));
	cr_expect(eq(sz, count, 1));
}

Test(drain, knows_where_the_next_raw_record_is)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	const uint32_t size = test.arena.header->layout.sizes[GT_ACTIVITY_kernel];
	const uint32_t open_kind = 10 | GT_RAW_KIND_OPEN;
	const uint32_t bare_open = GT_RAW_KIND_OPEN;
	uint8_t *record = add_raw(&test, slot, GT_ACTIVITY_kernel);

	cr_expect(eq(u32, gt_raw_size(&test.arena, record, size), size));
	memcpy(record, &open_kind, sizeof(open_kind));
	cr_expect(eq(u32, gt_raw_size(&test.arena, record, size), size));
	for (uint32_t left = 0; left < size; left++)
		cr_expect(eq(u32, gt_raw_size(&test.arena, record, left), 0));
	memcpy(record, &bare_open, sizeof(bare_open));
	cr_expect(eq(u32, gt_raw_size(&test.arena, record, size), 0));
	memset(record, 0, size);
	cr_expect(eq(u32, gt_raw_size(&test.arena, record, size), 0));
}

Test(drain, splits_what_does_not_fit_one_chunk_and_numbers_the_parts)
{
	enum { COUNT = 2 * GT_CHUNK_MAX_RECORDS + 100 };
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	struct gt_reader reader;
	struct gt_chunk chunk;
	uint8_t *record = add_raw_kernel(&test, slot, 0, 0);
	struct gt_record_kernel *kernels;
	uint16_t part = 0;
	size_t count;

	gt_drain_begin(drain, slot);
	for (uint32_t i = 0; i < COUNT; i++) {
		put_raw(&test, record, GT_RAW_kernel_correlation, i);
		gt_drain_activity(drain, record);
	}
	gt_drain_end(drain);
	kernels = read_all(GT_RECORD_kernel, &count);
	cr_assert(eq(sz, count, COUNT));
	for (uint32_t i = 0; i < COUNT; i++)
		cr_assert(eq(u32, kernels[i].correlation, i));
	free(kernels);
	capture_read(&reader, capture.bytes, capture.size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0) {
		if (chunk.header.kind != GT_RECORD_kernel)
			continue;
		cr_expect(eq(u64, chunk.header.source, slot->sequence));
		cr_expect(eq(u16, chunk.header.part, part));
		part++;
	}
	cr_expect(eq(u16, part, 3));
}

Test(drain, gives_a_shape_one_id_until_its_table_is_full)
{
	enum { SHAPES = 14000 }; /* more than the table holds */
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	uint8_t *record = add_raw_kernel(&test, slot, 0, 0);
	static uint32_t grid_of[4 * SHAPES]; /* by shape id */
	struct gt_record_kernel *kernels;
	struct gt_record_shape *shapes;
	size_t shape_count;
	size_t count;

	gt_drain_begin(drain, slot);
	for (uint32_t i = 0; i < 2 * SHAPES; i++) {
		put_raw(&test, record, GT_RAW_kernel_correlation, i);
		put_raw(&test, record, GT_RAW_kernel_grid_x, i % SHAPES + 1);
		gt_drain_activity(drain, record);
		gt_drain_activity(drain, record);
	}
	gt_drain_end(drain);
	shapes = read_all(GT_RECORD_shape, &shape_count);
	cr_expect(ge(sz, shape_count, SHAPES));
	cr_expect(le(sz, shape_count, 2 * SHAPES + 4)); /* again after each of a few resets */
	for (size_t i = 0; i < shape_count; i++) {
		cr_assert(eq(u32, grid_of[shapes[i].id], 0), "an id is given once");
		grid_of[shapes[i].id] = shapes[i].grid_x;
	}
	kernels = read_all(GT_RECORD_kernel, &count);
	cr_assert(eq(sz, count, 4 * SHAPES));
	for (size_t i = 0; i < count; i++)
		cr_assert(eq(u32, grid_of[kernels[i].shape], kernels[i].correlation % SHAPES + 1));
	free(shapes);
	free(kernels);
}

Test(drain, interns_shapes_across_buffers)
{
	size_t count;

	for (int i = 0; i < 3; i++) {
		struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);

		add_raw_kernel(&test, slot, 1, 0);
		add_raw_kernel(&test, slot, 2, 0);
		drain_slot(slot);
	}
	free(read_all(GT_RECORD_shape, &count));
	cr_expect(eq(sz, count, 1));
	free(read_all(GT_RECORD_kernel, &count));
	cr_expect(eq(sz, count, 6));
}

/* Rows that a chunk refers to must stand before it: the process may die between any two. */
static void expect_references_before_use(void)
{
	static bool shape_known[100000];
	static struct gt_record_kernel kernels[GT_CHUNK_MAX_RECORDS];
	static struct gt_record_shape shapes[GT_CHUNK_MAX_RECORDS];
	uint32_t strings_known = 0;
	struct gt_reader reader;
	struct gt_chunk chunk;

	capture_read(&reader, capture.bytes, capture.size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0) {
		if (chunk.header.kind == GT_RECORD_STRINGS) {
			strings_known += chunk.header.count;
		} else if (chunk.header.kind == GT_RECORD_shape) {
			gt_columns_decode(gt_record_info(GT_RECORD_shape), chunk.payload,
			                  chunk.header.raw, shapes, chunk.header.count);
			for (uint32_t i = 0; i < chunk.header.count; i++) {
				cr_assert(le(u32, shapes[i].name, strings_known));
				shape_known[shapes[i].id] = true;
			}
		} else if (chunk.header.kind == GT_RECORD_kernel) {
			gt_columns_decode(gt_record_info(GT_RECORD_kernel), chunk.payload,
			                  chunk.header.raw, kernels, chunk.header.count);
			for (uint32_t i = 0; i < chunk.header.count; i++)
				cr_assert(shape_known[kernels[i].shape], "shape %u",
				          kernels[i].shape);
		}
	}
}

Test(drain, writes_strings_and_shapes_before_what_refers_to_them)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	uint8_t *record = add_raw_kernel(&test, slot, 0, 0);

	gt_drain_begin(drain, slot);
	for (uint32_t i = 0; i < 3 * GT_CHUNK_MAX_RECORDS; i++) {
		/* Every 40th kernel is a new function: shapes and kernels fill up at odd times. */
		const uint64_t pointer = 0x1000 + i / 40 * 16;
		const struct gt_name *name = gt_arena_name(&test.arena, pointer);

		if (name && !name->pointer)
			add_name(&test, pointer, "a kernel");
		put_raw(&test, record, GT_RAW_kernel_name, pointer);
		put_raw(&test, record, GT_RAW_kernel_grid_x, i / 3 % 1000);
		gt_drain_activity(drain, record);
	}
	gt_drain_end(drain);
	expect_references_before_use();
}

Test(drain, writes_a_shape_again_when_the_capture_does_not_have_it)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_ACTIVITY);
	struct gt_record_kernel *kernels;
	struct gt_record_shape *shapes;
	size_t shape_count;
	size_t count;

	add_raw_kernel(&test, slot, 1, 0);
	capture.limit = capture.size; /* the disk is full */
	drain_slot(slot);
	cr_expect(ge(u64, capture.writer.failed, 1));
	capture.limit = CAPTURE_UNLIMITED;
	drain_slot(slot);
	shapes = read_all(GT_RECORD_shape, &shape_count);
	kernels = read_all(GT_RECORD_kernel, &count);
	cr_assert(eq(sz, shape_count, 1));
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u32, shapes[0].id, kernels[0].shape));
	free(shapes);
	free(kernels);
}

Test(drain, turns_a_threads_slot_into_calls_and_a_thread)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
	struct gt_record_api_call *calls;
	struct gt_record_thread *threads;
	struct gt_record_api_call *open;
	size_t count;

	slot->tid = 77;
	memcpy(slot->thread_name, "sixteen letters!", 16); /* and no terminator */
	add_call(&test, slot, 1);
	add_call(&test, slot, 2);
	open = (struct gt_record_api_call *)(gt_slot_memory(&test.arena, slot) + slot->used) - 1;
	open->end_ns = 0;
	open->flags = GT_RECORD_DRIVER_API;
	slot->used += 3; /* not a whole record */
	begin_with(GT_RECORD_SALVAGED);
	drain_slot(slot);
	calls = read_all(GT_RECORD_api_call, &count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(u32, calls[0].thread, 77));
	cr_expect(eq(u32, calls[0].flags, GT_RECORD_SALVAGED));
	cr_expect(eq(u32, calls[1].flags,
	             GT_RECORD_SALVAGED | GT_RECORD_UNFINISHED | GT_RECORD_DRIVER_API));
	cr_expect(eq(u64, ledger(GT_LEDGER_api_calls), 2));
	threads = read_all(GT_RECORD_thread, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u32, threads[0].tid, 77));
	cr_expect(eq(u32, threads[0].name, GT_LEDGER_COUNT + 1));
	free(calls);
	free(threads);
}

Test(drain, makes_nanoseconds_of_a_threads_readings_of_the_counter)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
	struct gt_record_api_call *calls;
	struct gt_record_api_call *open;
	uint64_t start;
	uint64_t end;
	size_t count;

	test.arena.header->counter =
		(struct gt_ticks){.scale = 3ull << 32, .ticks = 10, .ns = 5000};
	add_call(&test, slot, 1);
	add_call(&test, slot, 2);
	open = (struct gt_record_api_call *)(gt_slot_memory(&test.arena, slot) + slot->used) - 1;
	start = open->start_ns;
	end = open->end_ns;
	open->end_ns = 0;
	drain_slot(slot);
	calls = read_all(GT_RECORD_api_call, &count);
	cr_assert(eq(sz, count, 2));
	cr_expect(eq(u64, calls[0].end_ns - calls[0].start_ns, 3 * (end - start)));
	cr_expect(eq(u64, calls[1].start_ns, 5000 + 3 * (start - 10)));
	cr_expect(eq(u64, calls[1].end_ns, 0)); /* not returned */
	free(calls);
}

Test(drain, makes_no_thread_of_a_slot_that_was_only_just_lent)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
	size_t count;

	slot->tid = 77; /* of the thread that had it before */
	drain_slot(slot);
	free(read_all(GT_RECORD_thread, &count));
	cr_expect(eq(sz, count, 0));
}

Test(drain, reads_no_more_of_a_slot_than_there_is)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
	size_t count;

	while (GT_RECORD_BYTES - slot->used >= CALL_ENTRY_BYTES)
		add_call(&test, slot, 1);
	slot->used = UINT32_MAX;
	drain_slot(slot);
	free(read_all(GT_RECORD_api_call, &count));
	cr_expect(eq(sz, count, GT_RECORD_BYTES / CALL_ENTRY_BYTES));
}

Test(drain, stops_at_an_entry_that_cannot_be_right)
{
	static const uint16_t wrong[] = {0, 7, GT_RECORD_BYTES - 8, UINT16_MAX};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
		struct gt_entry *entry;
		size_t count;

		add_call(&test, slot, 1);
		entry = (struct gt_entry *)(gt_slot_memory(&test.arena, slot) + slot->used);
		add_call(&test, slot, 2);
		entry->bytes = wrong[i];
		drain_slot(slot);
		free(read_all(GT_RECORD_api_call, &count));
		cr_expect(eq(sz, count, i + 1), "%u", wrong[i]);
	}
}

Test(drain, passes_over_entries_that_are_no_records_of_a_thread)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
	size_t count;

	add_entry(&test, slot, GT_RECORD_clock, 40); /* the header has these */
	add_entry(&test, slot, GT_RECORD_KIND_COUNT + 5, 8);
	add_entry(&test, slot, GT_RECORD_api_call, 8); /* shorter than the record */
	add_call(&test, slot, 3);
	drain_slot(slot);
	free(read_all(GT_RECORD_api_call, &count));
	cr_expect(eq(sz, count, 1));
	free(read_all(GT_RECORD_clock, &count));
	cr_expect(eq(sz, count, 0));
}

static size_t count_strings(uint32_t *last_id)
{
	struct gt_reader reader;
	struct gt_chunk chunk;
	size_t count = 0;

	capture_read(&reader, capture.bytes, capture.size, scratch);
	while (gt_reader_next(&reader, &chunk) > 0) {
		struct gt_text text;
		size_t offset = 0;

		while (chunk.header.kind == GT_RECORD_STRINGS &&
		       gt_chunk_next_string(&chunk, &offset, &text) > 0) {
			*last_id = text.id;
			count++;
		}
	}
	return count;
}

/* A counter whose name lies behind it; the text is where and so long as it says. */
static void add_counter(struct gt_slot *slot, uint32_t at, uint16_t size)
{
	struct gt_record_counter *counter = add_entry(&test, slot, GT_RECORD_counter,
	                                              sizeof(*counter) + 24); /* a multiple of 8 */

	counter->name = GT_TEXT_BEHIND | at;
	memcpy((uint8_t *)counter + sizeof(*counter), &size, sizeof(size));
	memcpy((uint8_t *)counter + sizeof(*counter) + sizeof(size), "power_mw", 8);
}

Test(drain, gives_texts_behind_a_record_an_id)
{
	const uint32_t behind = sizeof(struct gt_record_counter);
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
	struct gt_record_counter *counters;
	uint32_t last;
	size_t count;

	add_counter(slot, behind, 8);
	add_counter(slot, behind, 0);
	add_counter(slot, behind, 23);    /* longer than what is there */
	add_counter(slot, 0x7fffffff, 8); /* outside */
	drain_slot(slot);
	counters = read_all(GT_RECORD_counter, &count);
	cr_assert(eq(sz, count, 4));
	cr_expect(eq(u32, counters[0].name, GT_LEDGER_COUNT + 1));
	for (size_t i = 1; i < count; i++)
		cr_expect(eq(u32, counters[i].name, 0));
	cr_expect(gt(sz, count_strings(&last), 0));
	free(counters);
}

/* One sample of a series with two counters, both the number. */
static void add_sample(struct gt_slot *slot, uint16_t series, uint64_t number)
{
	struct gt_sample *sample =
		add_entry(&test, slot, GT_RECORD_SERIES, sizeof(*sample) + 2 * sizeof(double));

	sample->time_ns = 1000 + number;
	sample->series = series;
	sample->columns = 2;
	sample->values[0] = (double)number;
	sample->values[1] = (double)number + 0.5;
}

Test(drain, puts_samples_together_series_by_series)
{
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
	struct gt_reader reader;
	struct gt_chunk chunk;
	uint32_t seen[3] = {0};
	uint64_t times[8];
	double values[16];

	for (uint64_t i = 0; i < 6; i++)
		add_sample(slot, 1 + i % 2, i);
	drain_slot(slot);
	cr_assert(eq(int, capture_read(&reader, capture.bytes, capture.size, scratch), 0));
	while (gt_reader_next(&reader, &chunk) > 0) {
		struct gt_samples samples = {
			.count = chunk.header.count, .times_ns = times, .values = values};

		if (chunk.header.kind != GT_RECORD_SERIES)
			continue;
		cr_assert(eq(u32, chunk.header.count, 3));
		cr_assert(eq(int, gt_series_decode(chunk.payload, chunk.header.raw, &samples), 0));
		cr_expect(eq(u16, chunk.header.part, samples.series - 1));
		cr_expect(eq(u64, times[2], 1000 + 4 + samples.series - 1u));
		cr_expect(eq(dbl, values[4], 4.0 + samples.series - 1));
		cr_expect(eq(dbl, values[5], 4.5 + samples.series - 1));
		seen[samples.series]++;
	}
	cr_expect(seen[1] == 1 && seen[2] == 1);
}

/* The smallest there are: a slot holds more of them than are put together at a time. */
Test(drain, loses_no_sample_of_a_slot_that_is_full_of_them)
{
	static uint64_t times[GT_CHUNK_MAX_RECORDS];
	struct gt_slot *slot = gt_arena_take(&test.arena, GT_SLOT_RECORDS);
	struct gt_samples samples = {.times_ns = times};
	struct gt_reader reader;
	struct gt_chunk chunk;
	uint64_t added = 0;
	uint64_t found = 0;

	while (GT_RECORD_BYTES - slot->used >= sizeof(struct gt_entry) + sizeof(struct gt_sample)) {
		struct gt_sample *sample =
			add_entry(&test, slot, GT_RECORD_SERIES, sizeof(*sample));

		sample->time_ns = ++added;
		sample->series = 1;
	}
	drain_slot(slot);
	cr_assert(eq(int, capture_read(&reader, capture.bytes, capture.size, scratch), 0));
	while (gt_reader_next(&reader, &chunk) > 0) {
		if (chunk.header.kind != GT_RECORD_SERIES)
			continue;
		samples.count = chunk.header.count;
		cr_assert(eq(int, gt_series_decode(chunk.payload, chunk.header.raw, &samples), 0));
		for (uint32_t i = 0; i < samples.count; i++)
			cr_assert(eq(u64, times[i], ++found));
	}
	cr_expect(eq(u64, found, added));
}

Test(drain, writes_each_string_once)
{
	uint32_t last = 0;

	gt_drain_header(drain);
	cr_expect(eq(sz, count_strings(&last), GT_LEDGER_COUNT));
	gt_arena_add_string(&test.arena, "one more", 8);
	gt_drain_header(drain);
	gt_drain_header(drain);
	cr_expect(eq(sz, count_strings(&last), GT_LEDGER_COUNT + 1));
	cr_expect(eq(u32, last, GT_LEDGER_COUNT + 1));
}

Test(drain, writes_strings_later_when_they_could_not_be_written)
{
	uint32_t last = 0;

	capture.limit = capture.size;
	gt_drain_header(drain);
	capture.limit = CAPTURE_UNLIMITED;
	gt_drain_header(drain);
	cr_expect(eq(sz, count_strings(&last), GT_LEDGER_COUNT));
	cr_expect(eq(u32, last, GT_LEDGER_COUNT));
}

Test(drain, writes_a_whole_heap_of_the_longest_strings)
{
	static char text[GT_ARENA_MAX_STRING];
	uint32_t last = 0;
	uint32_t added = GT_LEDGER_COUNT;

	memset(text, 'x', sizeof(text));
	for (uint32_t size = GT_ARENA_MAX_STRING; size > 0; size /= 2)
		while (gt_arena_add_string(&test.arena, text, size))
			added++;
	gt_drain_header(drain);
	cr_expect(eq(sz, count_strings(&last), added));
	cr_expect(eq(u64, capture.writer.failed, 0));
}

static void read_clock(uint64_t number)
{
	struct gt_arena_header *header = test.arena.header;

	header->clocks[header->clock_count % GT_ARENA_CLOCKS].host_ns = number;
	header->clock_count++;
}

Test(drain, writes_each_clock_reading_once_and_the_latest_when_there_are_too_many)
{
	struct gt_record_clock *clocks;
	size_t count;
	uint64_t number = 0;

	test.arena.header->clock_count = test.arena.header->clocks_written = UINT32_MAX - 30;
	for (int i = 0; i < 50; i++)
		read_clock(number++);
	gt_drain_header(drain);
	gt_drain_header(drain);
	for (int i = 0; i < 100; i++)
		read_clock(number++); /* 36 of them are overwritten before they are written */
	gt_drain_header(drain);
	clocks = read_all(GT_RECORD_clock, &count);
	cr_assert(eq(sz, count, 50 + GT_ARENA_CLOCKS));
	for (uint64_t i = 0; i < 50; i++)
		cr_expect(eq(u64, clocks[i].host_ns, i));
	for (uint64_t i = 0; i < GT_ARENA_CLOCKS; i++)
		cr_expect(eq(u64, clocks[50 + i].host_ns, 86 + i));
	free(clocks);
}

Test(drain, writes_clock_readings_later_when_they_could_not_be_written)
{
	size_t count;

	read_clock(1);
	capture.limit = capture.size;
	gt_drain_header(drain);
	capture.limit = CAPTURE_UNLIMITED;
	gt_drain_header(drain);
	free(read_all(GT_RECORD_clock, &count));
	cr_expect(eq(sz, count, 1));
}

Test(drain, writes_the_ledger_by_name)
{
	struct gt_record_ledger *rows;
	size_t count;

	gt_ledger_add(&test.arena, GT_LEDGER_strings_lost, 5);
	gt_drain_header(drain);
	rows = read_all(GT_RECORD_ledger, &count);
	cr_assert(eq(sz, count, GT_LEDGER_COUNT));
	for (uint32_t i = 0; i < count; i++) {
		cr_expect(eq(u32, rows[i].name, i + 1)); /* as the arena's first strings */
		cr_expect(eq(u64, rows[i].value, i == GT_LEDGER_strings_lost ? 5 : 0));
	}
	free(rows);
}

Test(drain, writes_how_many_records_of_each_kind_were_written)
{
	uint64_t written[GT_RECORD_KIND_COUNT] = {0};
	struct gt_record_written *rows;
	size_t count;

	capture.writer.written = written;
	read_clock(1);
	read_clock(2);
	gt_drain_header(drain);
	rows = read_all(GT_RECORD_written, &count);
	cr_assert(eq(sz, count, 3));
	cr_expect(eq(u32, rows[0].kind, GT_RECORD_STRINGS));
	cr_expect(eq(u32, rows[1].kind, GT_RECORD_clock));
	cr_expect(eq(u64, rows[1].rows, 2));
	cr_expect(eq(u32, rows[2].kind, GT_RECORD_ledger));
	cr_expect(eq(u64, rows[2].rows, GT_LEDGER_COUNT));
	free(rows);
}

Test(drain, counts_no_record_that_could_not_be_written)
{
	uint64_t written[GT_RECORD_KIND_COUNT] = {0};

	capture.writer.written = written;
	capture.limit = capture.size;
	read_clock(1);
	gt_drain_header(drain);
	cr_expect(eq(u64, written[GT_RECORD_clock], 0));
	cr_expect(eq(u64, written[GT_RECORD_ledger], 0));
}

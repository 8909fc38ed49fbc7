/* SPDX-License-Identifier: Apache-2.0 */
#include "format/drain.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/bytes.h"
#include "format/activity.h"
#include "format/arena.h"
#include "format/chunk.h"
#include "format/records.h"
#include "format/writer.h"

#define SHAPE_TABLE     16384 /* a power of two */
#define SHAPE_TABLE_MAX (SHAPE_TABLE / 4 * 3)
#define NO_TID          0
#define OBJECT_THREAD   2 /* CUPTI_ACTIVITY_OBJECT_THREAD */
#define COPY_ASYNC      1 /* CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC, the same bit as for memset */

/* Records of one kind on their way into chunks, in the order in which chunks are written. */
enum batch_id {
	BATCH_thread,
	BATCH_device,
	BATCH_context,
	BATCH_stream,
	BATCH_shape,
	BATCH_kernel,
	BATCH_copy,
	BATCH_fill,
	BATCH_sync,
	BATCH_overhead,
	BATCH_api_call,
	BATCH_COUNT
};

struct batch {
	uint8_t *rows;
	uint32_t capacity;
	uint32_t count;
	uint16_t kind;
	uint16_t part; /* of the next chunk */
	uint32_t size; /* of a row */
};

static const struct {
	uint16_t kind;
	uint16_t capacity;
} batch_kinds[BATCH_COUNT] = {
	[BATCH_thread] = {GT_RECORD_thread, 16},
	[BATCH_device] = {GT_RECORD_device, 64},
	[BATCH_context] = {GT_RECORD_context, 64},
	[BATCH_stream] = {GT_RECORD_stream, 256},
	[BATCH_shape] = {GT_RECORD_shape, 512},
	[BATCH_kernel] = {GT_RECORD_kernel, GT_CHUNK_MAX_RECORDS},
	[BATCH_copy] = {GT_RECORD_copy, GT_CHUNK_MAX_RECORDS},
	[BATCH_fill] = {GT_RECORD_fill, GT_CHUNK_MAX_RECORDS},
	[BATCH_sync] = {GT_RECORD_sync, GT_CHUNK_MAX_RECORDS},
	[BATCH_overhead] = {GT_RECORD_overhead, 1024},
	[BATCH_api_call] = {GT_RECORD_api_call, GT_CHUNK_MAX_RECORDS},
};

struct gt_drain {
	struct gt_drain_config config;
	uint64_t source;
	/* Of the buffer at hand: a buffer is counted once it is drained, not while it is. */
	uint64_t activity_records;
	uint64_t unknown_records;
	uint64_t api_calls;
	uint32_t shapes; /* in the table */
	struct batch batches[BATCH_COUNT];
	struct gt_record_shape table[SHAPE_TABLE]; /* id 0: free */
};

size_t gt_drain_memory(void)
{
	size_t size = gt_align_64(sizeof(struct gt_drain));

	for (int i = 0; i < BATCH_COUNT; i++)
		size += gt_align_64((size_t)batch_kinds[i].capacity *
		                    gt_record_info(batch_kinds[i].kind)->size);
	return size;
}

/* A shape that comes again is then written again, with a new id. */
static void forget_shapes(struct gt_drain *drain)
{
	memset(drain->table, 0, sizeof(drain->table));
	drain->shapes = 0;
}

struct gt_drain *gt_drain_init(const struct gt_drain_config *config, void *memory, size_t size)
{
	struct gt_drain *drain = memory;
	uint8_t *at = (uint8_t *)memory + gt_align_64(sizeof(*drain));

	if (size < gt_drain_memory())
		return NULL;
	drain->config = *config;
	forget_shapes(drain);
	for (int i = 0; i < BATCH_COUNT; i++) {
		struct batch *batch = &drain->batches[i];

		*batch = (struct batch){
			.rows = at,
			.capacity = batch_kinds[i].capacity,
			.kind = batch_kinds[i].kind,
			.size = gt_record_info(batch_kinds[i].kind)->size,
		};
		at += gt_align_64((size_t)batch->capacity * batch->size);
	}
	return drain;
}

static void write_batch(struct gt_drain *drain, struct batch *batch)
{
	const struct gt_drain_config *config = &drain->config;
	const struct gt_origin origin = {.source = drain->source, .part = batch->part};
	int result = 0;

	if (batch->count == 0)
		return;
	/* Records that describe others may come twice; ids in them may differ between drains. */
	if (batch < &drain->batches[BATCH_kernel] || !config->written ||
	    !config->written(config->context, origin.source, batch->kind, origin.part))
		result = gt_writer_records(config->writer, batch->kind, batch->rows, batch->count,
		                           origin);
	if (result < 0 && batch == &drain->batches[BATCH_shape])
		forget_shapes(drain);
	batch->part++;
	batch->count = 0;
}

void gt_drain_begin(struct gt_drain *drain, const struct gt_slot *slot)
{
	drain->source = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
	drain->activity_records = drain->unknown_records = drain->api_calls = 0;
	for (int i = 0; i < BATCH_COUNT; i++) {
		drain->batches[i].count = 0;
		drain->batches[i].part = 0;
	}
}

static void write_strings(struct gt_drain *drain)
{
	struct gt_arena *arena = drain->config.arena;
	struct gt_writer *writer = drain->config.writer;
	uint32_t offset = atomic_load_explicit(&arena->header->heap_written, memory_order_relaxed);
	uint32_t id = atomic_load_explicit(&arena->header->strings_written, memory_order_relaxed);
	const char *text;
	uint32_t size;

	for (;;) {
		uint8_t *out = writer->raw;
		uint32_t next = offset;
		uint32_t count = 0;

		while (out < writer->raw + GT_CHUNK_MAX_RAW / 4 &&
		       gt_arena_next_string(arena, &next, &text, &size)) {
			out = gt_put_varint(out, ++id);
			out = gt_put_varint(out, size);
			memcpy(out, text, size);
			out += size;
			count++;
		}
		if (count == 0)
			return;
		if (gt_writer_payload(writer, GT_RECORD_STRINGS, writer->raw,
		                      (size_t)(out - writer->raw), count) < 0)
			return;
		offset = next;
		atomic_store_explicit(&arena->header->strings_written, id, memory_order_relaxed);
		atomic_store_explicit(&arena->header->heap_written, offset, memory_order_relaxed);
	}
}

/*
 * A zeroed row at the end of a batch, which is written first when it is full. What it refers
 * to goes before it, since the process may die right after. Which records share a chunk must
 * not depend on that: a salvager finds the chunks of a buffer by their numbers.
 */
static void *push(struct gt_drain *drain, enum batch_id id)
{
	struct batch *batch = &drain->batches[id];

	if (batch->count == batch->capacity) {
		write_strings(drain);
		for (int i = 0; i < BATCH_kernel; i++)
			write_batch(drain, &drain->batches[i]);
		write_batch(drain, batch);
	}
	return memset(batch->rows + (size_t)batch->count++ * batch->size, 0, batch->size);
}

void gt_drain_end(struct gt_drain *drain)
{
	struct gt_arena *arena = drain->config.arena;

	write_strings(drain);
	for (int i = 0; i < BATCH_COUNT; i++)
		write_batch(drain, &drain->batches[i]);
	gt_ledger_add(arena, GT_LEDGER_activity_records, drain->activity_records);
	gt_ledger_add(arena, GT_LEDGER_unknown_records, drain->unknown_records);
	gt_ledger_add(arena, GT_LEDGER_api_calls, drain->api_calls);
	drain->activity_records = drain->unknown_records = drain->api_calls = 0;
}

static uint32_t kind_of(const uint8_t *record)
{
	uint32_t kind;

	memcpy(&kind, record, sizeof(kind));
	return kind;
}

static uint64_t get(const struct gt_drain *drain, const uint8_t *record, enum gt_raw_field field)
{
	return gt_raw_get(&drain->config.arena->header->layout, record, field);
}

#define GET(activity, field)   get(drain, record, GT_RAW_##activity##_##field)
#define GET32(activity, field) ((uint32_t)GET(activity, field))

static uint32_t name_at(struct gt_drain *drain, uint64_t pointer)
{
	return pointer ? drain->config.name_of(drain->config.context, pointer) : 0;
}

/*
 * The id of a shape, new or known. Known shapes are forgotten when the table is full: a shape
 * may then get a second id, which the collector puts together again.
 */
static uint32_t intern_shape(struct gt_drain *drain, struct gt_record_shape *shape)
{
	const size_t skip =
		offsetof(struct gt_record_shape, name); /* the id itself is no part of it */
	uint64_t at = XXH3_64bits((const uint8_t *)shape + skip, sizeof(*shape) - skip);

	if (drain->shapes >= SHAPE_TABLE_MAX)
		forget_shapes(drain);
	for (;; at++) {
		struct gt_record_shape *entry = &drain->table[at % SHAPE_TABLE];

		if (entry->id == 0) {
			shape->id =
				atomic_fetch_add_explicit(&drain->config.arena->header->shape_count,
			                                  1, memory_order_relaxed) +
				1;
			*entry = *shape;
			*(struct gt_record_shape *)push(drain, BATCH_shape) = *shape;
			drain->shapes++;
			return shape->id;
		}
		if (memcmp((const uint8_t *)entry + skip, (const uint8_t *)shape + skip,
		           sizeof(*shape) - skip) == 0)
			return entry->id;
	}
}

static uint32_t shape_of(struct gt_drain *drain, const uint8_t *record)
{
	struct gt_record_shape shape = {
		.name = name_at(drain, GET(kernel, name)),
		.grid_x = GET32(kernel, grid_x),
		.grid_y = GET32(kernel, grid_y),
		.grid_z = GET32(kernel, grid_z),
		.block_x = GET32(kernel, block_x),
		.block_y = GET32(kernel, block_y),
		.block_z = GET32(kernel, block_z),
		.cluster_x = GET32(kernel, cluster_x),
		.cluster_y = GET32(kernel, cluster_y),
		.cluster_z = GET32(kernel, cluster_z),
		.registers = GET32(kernel, registers),
		.shared_static = GET32(kernel, shared_static),
		.shared_dynamic = GET32(kernel, shared_dynamic),
		.shared_executed = GET32(kernel, shared_executed),
		.local_per_thread = GET32(kernel, local_per_thread),
		.cache_config =
			GET32(kernel, cache_config) >> 4, /* the upper half: executed with */
	};

	return intern_shape(drain, &shape);
}

/* CUPTI leaves both times 0 until it knows them, and marks the record as open. */
static uint32_t flags_of(const struct gt_drain *drain, const uint8_t *record, uint64_t start,
                         uint64_t end)
{
	const bool open = start == 0 || end == 0 || kind_of(record) & GT_RAW_KIND_OPEN;

	return drain->config.record_flags | (open ? GT_RECORD_UNFINISHED : 0);
}

static void drain_kernel(struct gt_drain *drain, const uint8_t *record)
{
	const uint32_t shape = shape_of(drain, record);
	struct gt_record_kernel *kernel = push(drain, BATCH_kernel);

	kernel->start = GET(kernel, start);
	kernel->end = GET(kernel, end);
	kernel->graph_node = GET(kernel, graph_node);
	kernel->correlation = GET32(kernel, correlation);
	kernel->shape = shape;
	kernel->device = GET32(kernel, device);
	kernel->context = GET32(kernel, context);
	kernel->stream = GET32(kernel, stream);
	kernel->graph = GET32(kernel, graph);
	kernel->flags = flags_of(drain, record, kernel->start, kernel->end) |
	                (GET(kernel, device_launched) ? GT_RECORD_DEVICE_LAUNCHED : 0);
}

static void drain_memcpy(struct gt_drain *drain, const uint8_t *record)
{
	struct gt_record_copy *copy = push(drain, BATCH_copy);

	copy->start = GET(memcpy, start);
	copy->end = GET(memcpy, end);
	copy->bytes = GET(memcpy, bytes);
	copy->graph_node = GET(memcpy, graph_node);
	copy->correlation = GET32(memcpy, correlation);
	copy->device = GET32(memcpy, device);
	copy->context = GET32(memcpy, context);
	copy->stream = GET32(memcpy, stream);
	copy->graph = GET32(memcpy, graph);
	copy->kind = GET32(memcpy, kind);
	copy->src_kind = GET32(memcpy, src_kind);
	copy->dst_kind = GET32(memcpy, dst_kind);
	copy->flags = flags_of(drain, record, copy->start, copy->end) |
	              (GET(memcpy, flags) & COPY_ASYNC ? GT_RECORD_ASYNC : 0);
}

static void drain_memcpy2(struct gt_drain *drain, const uint8_t *record)
{
	struct gt_record_copy *copy = push(drain, BATCH_copy);

	copy->start = GET(memcpy2, start);
	copy->end = GET(memcpy2, end);
	copy->bytes = GET(memcpy2, bytes);
	copy->graph_node = GET(memcpy2, graph_node);
	copy->correlation = GET32(memcpy2, correlation);
	copy->device = GET32(memcpy2, device);
	copy->context = GET32(memcpy2, context);
	copy->stream = GET32(memcpy2, stream);
	copy->graph = GET32(memcpy2, graph);
	copy->src_device = GET32(memcpy2, src_device) + 1;
	copy->dst_device = GET32(memcpy2, dst_device) + 1;
	copy->kind = GET32(memcpy2, kind);
	copy->src_kind = GET32(memcpy2, src_kind);
	copy->dst_kind = GET32(memcpy2, dst_kind);
	copy->flags = flags_of(drain, record, copy->start, copy->end) |
	              (GET(memcpy2, flags) & COPY_ASYNC ? GT_RECORD_ASYNC : 0);
}

static void drain_memset(struct gt_drain *drain, const uint8_t *record)
{
	struct gt_record_fill *fill = push(drain, BATCH_fill);

	fill->start = GET(memset, start);
	fill->end = GET(memset, end);
	fill->bytes = GET(memset, bytes);
	fill->graph_node = GET(memset, graph_node);
	fill->correlation = GET32(memset, correlation);
	fill->device = GET32(memset, device);
	fill->context = GET32(memset, context);
	fill->stream = GET32(memset, stream);
	fill->graph = GET32(memset, graph);
	fill->value = GET32(memset, value);
	fill->memory_kind = GET32(memset, memory_kind);
	fill->flags = flags_of(drain, record, fill->start, fill->end) |
	              (GET(memset, flags) & COPY_ASYNC ? GT_RECORD_ASYNC : 0);
}

static void drain_sync(struct gt_drain *drain, const uint8_t *record)
{
	struct gt_record_sync *sync = push(drain, BATCH_sync);

	sync->start = GET(synchronization, start);
	sync->end = GET(synchronization, end);
	sync->correlation = GET32(synchronization, correlation);
	sync->context = GET32(synchronization, context);
	sync->stream = GET32(synchronization, stream);
	sync->event = GET32(synchronization, event);
	sync->kind = GET32(synchronization, kind);
	sync->flags = flags_of(drain, record, sync->start, sync->end);
}

static void drain_overhead(struct gt_drain *drain, const uint8_t *record)
{
	struct gt_record_overhead *overhead = push(drain, BATCH_overhead);

	overhead->start = GET(overhead, start);
	overhead->end = GET(overhead, end);
	overhead->correlation = GET32(overhead, correlation);
	overhead->tid =
		GET(overhead, object_kind) == OBJECT_THREAD ? GET32(overhead, object_tid) : NO_TID;
	overhead->kind = GET32(overhead, kind);
	overhead->flags = flags_of(drain, record, overhead->start, overhead->end);
}

static void drain_device(struct gt_drain *drain, const uint8_t *record)
{
	struct gt_record_device *device;

	/* CUPTI also describes the GPUs that CUDA_VISIBLE_DEVICES hides from the process. */
	if (!GET(device, visible))
		return;
	device = push(drain, BATCH_device);
	device->ordinal = GET32(device, id);
	device->name = name_at(drain, GET(device, name));
	device->cc_major = GET32(device, cc_major);
	device->cc_minor = GET32(device, cc_minor);
	device->sm_count = GET32(device, sm_count);
	device->sm_clock_khz = GET32(device, sm_clock_khz);
	device->memory_bytes = GET(device, memory_bytes);
	device->l2_bytes = GET(device, l2_bytes);
	device->warp_size = GET32(device, warp_size);
	device->max_threads_per_sm = GET32(device, max_warps) * GET32(device, warp_size);
	device->max_blocks_per_sm = GET32(device, max_blocks_per_sm);
	device->registers_per_sm = GET32(device, registers_per_sm);
	device->registers_per_block = GET32(device, registers_per_block);
	device->shared_per_sm_bytes = GET32(device, shared_per_sm_bytes);
	device->copy_engines = GET32(device, copy_engines);
}

static void drain_context(struct gt_drain *drain, const uint8_t *record)
{
	struct gt_record_context *context = push(drain, BATCH_context);

	context->id = GET32(context, id);
	context->device = GET32(context, device);
	context->null_stream = GET32(context, null_stream);
}

static void drain_stream(struct gt_drain *drain, const uint8_t *record)
{
	struct gt_record_stream *stream = push(drain, BATCH_stream);

	stream->id = GET32(stream, id);
	stream->context = GET32(stream, context);
	stream->priority = GET32(stream, priority);
	stream->flags = GET32(stream, flags);
}

void gt_drain_activity(struct gt_drain *drain, const uint8_t *record)
{
	static void (*const drains[GT_ACTIVITY_COUNT])(struct gt_drain *, const uint8_t *) = {
		[GT_ACTIVITY_kernel] = drain_kernel,        [GT_ACTIVITY_memcpy] = drain_memcpy,
		[GT_ACTIVITY_memcpy2] = drain_memcpy2,      [GT_ACTIVITY_memset] = drain_memset,
		[GT_ACTIVITY_synchronization] = drain_sync, [GT_ACTIVITY_overhead] = drain_overhead,
		[GT_ACTIVITY_device] = drain_device,        [GT_ACTIVITY_context] = drain_context,
		[GT_ACTIVITY_stream] = drain_stream,
	};
	const enum gt_activity activity = gt_activity_of_kind(kind_of(record) & ~GT_RAW_KIND_OPEN);

	drain->activity_records++;
	if (activity == GT_ACTIVITY_COUNT)
		drain->unknown_records++;
	else
		drains[activity](drain, record);
}

/* The thread itself becomes a record too; its name is cut at the size the slot has for it. */
static void drain_thread(struct gt_drain *drain, const struct gt_slot *slot)
{
	const size_t length = strnlen(slot->thread_name, sizeof(slot->thread_name));
	struct gt_record_thread *thread;
	uint32_t name = 0;

	if (length)
		name = drain->config.string_of(drain->config.context, slot->thread_name,
		                               (uint32_t)length);
	thread = push(drain, BATCH_thread);
	thread->tid = slot->tid;
	thread->name = name;
}

void gt_drain_records(struct gt_drain *drain, const struct gt_slot *slot, uint32_t used)
{
	const uint8_t *at = gt_slot_memory(drain->config.arena, slot);
	const size_t size = sizeof(struct gt_record_api_call);

	if (used > slot->size)
		used = slot->size;
	if (used < size)
		return; /* just lent: the thread in it may still be the one before */
	drain_thread(drain, slot);
	for (; used >= size; used -= (uint32_t)size, at += size) {
		struct gt_record_api_call *call = push(drain, BATCH_api_call);

		memcpy(call, at, size);
		call->tid = slot->tid;
		call->flags |=
			drain->config.record_flags | (call->end == 0 ? GT_RECORD_UNFINISHED : 0);
		drain->api_calls++;
	}
}

static void write_clocks(struct gt_drain *drain)
{
	struct gt_arena_header *header = drain->config.arena->header;
	const struct gt_origin none = {0};
	const uint32_t count = atomic_load_explicit(&header->clock_count, memory_order_acquire);
	uint32_t written = atomic_load_explicit(&header->clocks_written, memory_order_relaxed);

	if (count - written > GT_ARENA_CLOCKS)
		written = count - GT_ARENA_CLOCKS;
	while (written != count) {
		const uint32_t at = written % GT_ARENA_CLOCKS;
		const uint32_t to_end = GT_ARENA_CLOCKS - at;
		const uint32_t rows = count - written < to_end ? count - written : to_end;

		if (gt_writer_records(drain->config.writer, GT_RECORD_clock, &header->clocks[at],
		                      rows, none) < 0)
			break; /* the next time, if they are still there */
		written += rows;
	}
	atomic_store_explicit(&header->clocks_written, written, memory_order_relaxed);
}

static void write_ledger(struct gt_drain *drain)
{
	struct gt_arena_header *header = drain->config.arena->header;
	const struct gt_origin none = {0};
	struct gt_record_ledger rows[GT_LEDGER_COUNT] = {{0}};

	for (uint32_t i = 0; i < GT_LEDGER_COUNT; i++) {
		rows[i].name = i + 1; /* gt_arena_format made these strings first */
		rows[i].value = atomic_load_explicit(&header->ledger[i], memory_order_relaxed);
	}
	(void)gt_writer_records(drain->config.writer, GT_RECORD_ledger, rows, GT_LEDGER_COUNT,
	                        none);
}

void gt_drain_header(struct gt_drain *drain)
{
	write_strings(drain);
	write_clocks(drain);
	write_ledger(drain);
}

uint32_t gt_raw_size(const struct gt_arena *arena, const uint8_t *record, uint32_t left)
{
	if (left < sizeof(uint32_t))
		return 0;

	const enum gt_activity activity = gt_activity_of_kind(kind_of(record) & ~GT_RAW_KIND_OPEN);

	if (activity == GT_ACTIVITY_COUNT)
		return 0;

	const uint32_t size = arena->header->layout.sizes[activity];

	return size <= left ? size : 0;
}

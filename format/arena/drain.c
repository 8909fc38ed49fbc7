/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/drain.h"

#include <string.h>

#include "base/bytes.h"
#include "format/arena/arena.h"
#include "format/arena/header_chunks.h"
#include "format/arena/shapes.h"
#include "format/arena/staging.h"
#include "format/arena/translate.h"
#include "format/file/chunk.h"
#include "format/file/writer.h"
#include "format/records.h"

#define STATE_ROWS 512 /* of records that describe others; a chunk of events is a full one */

/* Records of one kind on their way into chunks. */
struct batch {
	uint8_t *rows;
	const struct gt_record_info *info; /* NULL: no kind that a buffer holds */
	uint32_t capacity;
	uint32_t count;
	uint16_t kind;
	uint16_t part; /* of the next chunk */
};

struct gt_drain {
	struct gt_drain_config config;
	struct gt_translator translator;
	struct gt_shapes *shapes;
	struct gt_staging *staging;
	uint16_t series_part; /* of the next chunk of samples */
	uint64_t source;
	/* Counts of the buffer at hand: a buffer is counted once it is drained, not while it is. */
	uint64_t activity_records;
	uint64_t activity_folded;
	uint64_t unknown_records;
	uint64_t api_calls;
	uint64_t nvtx_calls;
	struct batch batches[GT_RECORD_KIND_COUNT]; /* by kind */
	struct gt_graph_folds folds;
};

static uint32_t capacity_of(const struct gt_record_info *info)
{
	if (!info || info->becomes == GT_BECOMES_fact)
		return 0;
	return info->becomes == GT_BECOMES_state ? STATE_ROWS : GT_CHUNK_MAX_RECORDS;
}

static size_t batch_bytes(const struct gt_record_info *info)
{
	return info ? gt_align_64((size_t)capacity_of(info) * info->size) : 0;
}

size_t gt_drain_memory(void)
{
	size_t size = gt_align_64(sizeof(struct gt_drain)) + gt_align_64(gt_shapes_memory()) +
	              gt_align_64(gt_staging_memory());

	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		size += batch_bytes(gt_record_info(kind));
	return size;
}

static bool is_state(const struct batch *batch)
{
	return batch->info->becomes == GT_BECOMES_state;
}

static void write_batch(struct gt_drain *drain, struct batch *batch)
{
	const struct gt_drain_config *config = &drain->config;
	const struct gt_origin origin = {.source = drain->source, .part = batch->part};
	int result = 0;

	if (batch->count == 0)
		return;
	/* Records that describe others may come twice; ids in them may differ between drains. */
	if (is_state(batch) || !config->written ||
	    !config->written(config->context, origin.source, batch->kind, origin.part))
		result = gt_writer_records(config->writer, batch->kind, batch->rows, batch->count,
		                           origin);
	if (result < 0 && batch->kind == GT_RECORD_shape)
		gt_shapes_forget(drain->shapes);
	batch->part++;
	batch->count = 0;
}

void gt_drain_begin(struct gt_drain *drain, const struct gt_slot *slot)
{
	drain->source = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
	drain->activity_records = drain->activity_folded = drain->unknown_records = 0;
	drain->folds.count = 0;
	drain->api_calls = drain->nvtx_calls = 0;
	drain->series_part = 0;
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++) {
		drain->batches[kind].count = 0;
		drain->batches[kind].part = 0;
	}
}

void gt_drain_strings(struct gt_drain *drain)
{
	gt_write_strings(drain->config.arena, drain->config.writer);
}

static void write_state(struct gt_drain *drain)
{
	gt_write_strings(drain->config.arena, drain->config.writer);
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (drain->batches[kind].info && is_state(&drain->batches[kind]))
			write_batch(drain, &drain->batches[kind]);
}

/*
 * A zeroed row at the end of a batch, which is written first when it is full. Everything it refers
 * to goes before it, since the process may die right after. Which records share a chunk must not
 * depend on that: a salvager finds the chunks of a buffer by their numbers.
 */
static void *push(struct gt_drain *drain, uint32_t kind)
{
	struct batch *batch = &drain->batches[kind];

	if (batch->count == batch->capacity) {
		write_state(drain);
		write_batch(drain, batch);
	}
	return memset(batch->rows + (size_t)batch->count++ * batch->info->size, 0,
	              batch->info->size);
}

static uint32_t shape_of(void *context, struct gt_record_shape *shape)
{
	struct gt_drain *drain = context;

	if (gt_shapes_add(drain->shapes, shape, &drain->config.arena->header->shape_count))
		*(struct gt_record_shape *)push(drain, GT_RECORD_shape) = *shape;
	return shape->id;
}

static uint32_t name_of(void *context, uint64_t pointer)
{
	const struct gt_drain_config *config = &((struct gt_drain *)context)->config;

	return config->name_of(config->context, pointer);
}

struct gt_drain *gt_drain_init(const struct gt_drain_config *config, void *memory, size_t size)
{
	struct gt_drain *drain = memory;
	uint8_t *at = (uint8_t *)memory + gt_align_64(sizeof(*drain));

	if (size < gt_drain_memory())
		return NULL;
	memset(drain, 0, sizeof(*drain));
	drain->config = *config;
	drain->translator = (struct gt_translator){
		.layout = &config->arena->header->layout,
		.record_flags = config->record_flags,
		.name_of = name_of,
		.shape_of = shape_of,
		.context = drain,
	};
	drain->shapes = gt_shapes_init(at);
	at += gt_align_64(gt_shapes_memory());
	drain->staging = gt_staging_init(at);
	at += gt_align_64(gt_staging_memory());
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++) {
		const struct gt_record_info *info = gt_record_info(kind);

		if (capacity_of(info) == 0)
			continue;
		drain->batches[kind] = (struct batch){
			.rows = at,
			.info = info,
			.capacity = capacity_of(info),
			.kind = (uint16_t)kind,
		};
		at += batch_bytes(info);
	}
	return drain;
}

static void write_samples(struct gt_drain *drain)
{
	const struct gt_drain_config *config = &drain->config;
	struct gt_samples samples;

	while (gt_staging_next(drain->staging, &samples)) {
		const struct gt_origin origin = {drain->source, drain->series_part++};

		if (!config->written ||
		    !config->written(config->context, origin.source, GT_RECORD_SERIES, origin.part))
			(void)gt_writer_samples(config->writer, &samples, origin);
	}
}

static void empty_folds(struct gt_drain *drain)
{
	for (uint32_t i = 0; i < drain->folds.count; i++)
		*(struct gt_record_graph_trace *)push(drain, GT_RECORD_graph_trace) =
			drain->folds.rows[i];
	drain->folds.count = 0;
}

void gt_drain_end(struct gt_drain *drain)
{
	struct gt_arena *arena = drain->config.arena;

	empty_folds(drain);
	write_state(drain);
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (drain->batches[kind].info)
			write_batch(drain, &drain->batches[kind]);
	write_samples(drain);
	gt_ledger_add(arena, GT_LEDGER_activity_records, drain->activity_records);
	gt_ledger_add(arena, GT_LEDGER_activity_folded, drain->activity_folded);
	gt_ledger_add(arena, GT_LEDGER_unknown_records, drain->unknown_records);
	gt_ledger_add(arena, GT_LEDGER_api_calls, drain->api_calls);
	gt_ledger_add(arena, GT_LEDGER_nvtx_calls, drain->nvtx_calls);
	drain->activity_records = drain->activity_folded = drain->unknown_records = 0;
	drain->api_calls = drain->nvtx_calls = 0;
}

/* The row goes again: nothing has been pushed into its batch since. */
static void pop(struct gt_drain *drain, uint32_t kind)
{
	drain->batches[kind].count--;
}

/* Where only some launches of graphs are recorded node by node: whether the row is of another. */
static bool fold(struct gt_drain *drain, uint32_t kind, const void *row)
{
	if (gt_graph_folds_full(&drain->folds))
		empty_folds(drain);
	if (!gt_graph_folds_take(&drain->folds, &drain->config.arena->header->graph_samples, kind,
	                         row))
		return false;
	drain->activity_folded++;
	return true;
}

void gt_drain_activity(struct gt_drain *drain, const uint8_t *raw)
{
	const enum gt_cupti_activity activity = gt_raw_activity(raw);

	drain->activity_records++;
	if (activity == GT_ACTIVITY_COUNT) {
		drain->unknown_records++;
		return;
	}

	const uint16_t kind = gt_activity_record(activity);

	void *row = push(drain, kind);

	if (!gt_translate(&drain->translator, activity, raw, row) || fold(drain, kind, row))
		pop(drain, kind);
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
	thread = push(drain, GT_RECORD_thread);
	thread->tid = slot->tid;
	thread->name = name;
}

/* The id of a text that lies behind the record; 0 where the bytes say so much that is not there. */
static uint32_t text_behind(const struct gt_drain *drain, const uint8_t *record, uint32_t bytes,
                            uint32_t at)
{
	uint16_t size;

	if (at > bytes || bytes - at < sizeof(size))
		return 0;
	memcpy(&size, record + at, sizeof(size));
	if (size == 0 || size > bytes - at - sizeof(size))
		return 0;
	return drain->config.string_of(drain->config.context,
	                               (const char *)record + at + sizeof(size), size);
}

/* 0 is none: of an end that the call has not returned. */
static void make_nanoseconds(const struct gt_drain *drain, uint8_t *at)
{
	uint64_t time;

	memcpy(&time, at, sizeof(time));
	if (time)
		time = gt_ticks_ns(&drain->config.arena->header->counter, time);
	memcpy(at, &time, sizeof(time));
}

/*
 * Copies a record of a thread that may be writing its end just now, and what else is known at its
 * end only: the row has an end if the record had one before the rest of it was read. False: it has
 * none, though it is of a kind that ends.
 */
static bool copy_record(const struct gt_record_info *info, const uint8_t *record, uint8_t *row)
{
	uint64_t end;

	if (!gt_record_has_times(info)) {
		memcpy(row, record, info->size);
		return true;
	}
	/* Pairs with the release in gt_emit_set_end. */
	end = __atomic_load_n((const uint64_t *)(record + info->fields[1].offset),
	                      __ATOMIC_ACQUIRE);
	memcpy(row, record, info->size);
	memcpy(row + info->fields[1].offset, &end, sizeof(end));
	return end != 0;
}

/*
 * Makes the row of a record, with what its thread leaves for the drain to fill in: texts, the
 * thread itself, nanoseconds of readings of the clock, and that a call did not return.
 */
static void make_row(const struct gt_drain *drain, const struct gt_slot *slot,
                     const struct gt_record_info *info, const struct gt_entry *entry, uint8_t *row)
{
	const uint8_t *record = (const uint8_t *)(entry + 1);
	uint32_t flags = drain->config.record_flags;

	if (!copy_record(info, record, row))
		flags |= GT_RECORD_UNFINISHED;
	for (uint32_t i = 0; i < info->field_count; i++) {
		const enum gt_role role = info->fields[i].role;
		uint8_t *at = row + info->fields[i].offset;
		uint32_t value;

		if (role == GT_ROLE_host_time)
			make_nanoseconds(drain, at);
		if (role != GT_ROLE_string && role != GT_ROLE_thread && role != GT_ROLE_flags)
			continue;
		memcpy(&value, at, sizeof(value));
		if (role == GT_ROLE_flags)
			value |= flags;
		else if (role == GT_ROLE_thread && value == 0)
			value = slot->tid;
		else if (role == GT_ROLE_string && value & GT_TEXT_BEHIND)
			value = text_behind(drain, record, entry->bytes, value & ~GT_TEXT_BEHIND);
		memcpy(at, &value, sizeof(value));
	}
}

static void drain_sample(struct gt_drain *drain, const struct gt_entry *entry)
{
	const struct gt_sample *sample = (const struct gt_sample *)(entry + 1);

	if (entry->bytes < sizeof(*sample) ||
	    entry->bytes - sizeof(*sample) < sample->columns * sizeof(double))
		return;
	if (gt_staging_add(drain->staging, sample))
		return;
	write_state(drain);
	write_samples(drain);
	(void)gt_staging_add(drain->staging, sample);
}

static void drain_entry(struct gt_drain *drain, const struct gt_slot *slot,
                        const struct gt_entry *entry)
{
	const struct gt_record_info *info = gt_record_info(entry->kind);
	uint8_t *row;

	if (entry->kind == GT_RECORD_SERIES) {
		drain_sample(drain, entry);
		return;
	}
	if (capacity_of(info) == 0 || entry->bytes < info->size)
		return;
	row = push(drain, entry->kind);
	make_row(drain, slot, info, entry, row);
	drain->api_calls += entry->kind == GT_RECORD_api_call;
	drain->nvtx_calls += gt_record_is_nvtx(entry->kind);
}

void gt_drain_records(struct gt_drain *drain, const struct gt_slot *slot, uint32_t used)
{
	const uint8_t *at = gt_slot_memory(drain->config.arena, slot);
	const struct gt_entry *entry;

	if (used > slot->size)
		used = slot->size;
	if (used < sizeof(*entry))
		return; /* just lent: the thread in it may still be the one before */
	/* Threads of gputrace's own are none of the program's. */
	if (slot->tid)
		drain_thread(drain, slot);
	while (used >= sizeof(*entry)) {
		entry = (const struct gt_entry *)at;
		used -= (uint32_t)sizeof(*entry);
		if (entry->bytes == 0 || entry->bytes % 8 || entry->bytes > used)
			return;
		drain_entry(drain, slot, entry);
		at += sizeof(*entry) + entry->bytes;
		used -= entry->bytes;
	}
}

void gt_drain_header(struct gt_drain *drain)
{
	gt_write_header_chunks(drain->config.arena, drain->config.writer);
}

uint32_t gt_raw_size(const struct gt_arena *arena, const uint8_t *raw, uint32_t left)
{
	const uint32_t size =
		left < sizeof(uint32_t) ? 0 : gt_raw_bytes(&arena->header->layout, raw);

	return size <= left ? size : 0;
}

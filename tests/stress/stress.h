/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_STRESS_STRESS_H
#define GT_TESTS_STRESS_STRESS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/arena/arena.h"
#include "format/arena/drain.h"
#include "format/file/chunk.h"
#include "format/file/columns.h"
#include "format/file/reader.h"
#include "format/records.h"
#include "support/arena.h"

/* Ends the test: a fact that must hold does not. */
#define MUST(fact)                                                                                 \
	do {                                                                                       \
		if (!(fact)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #fact);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Memory for a writer or a drain. */
static inline void *aligned_memory(size_t size)
{
	void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);

	MUST(memory);
	return memory;
}

/* An API call as a thread puts it into its slot. */
static inline void put_call(uint8_t *bytes, const struct gt_record_api_call *call)
{
	const struct gt_entry entry = {.kind = GT_RECORD_api_call, .bytes = sizeof(*call)};

	memcpy(bytes, &entry, sizeof(entry));
	memcpy(bytes + sizeof(entry), call, sizeof(*call));
}

static inline uint32_t no_name(void *context, uint64_t pointer)
{
	(void)context;
	(void)pointer;
	return 0;
}

static inline uint32_t new_string(void *context, const char *text, uint32_t size)
{
	return gt_arena_add_string(context, text, size);
}

static inline struct gt_drain *new_drain(struct gt_arena *arena, struct gt_writer *writer)
{
	const struct gt_drain_config config = {.arena = arena,
	                                       .writer = writer,
	                                       .name_of = no_name,
	                                       .string_of = new_string,
	                                       .context = arena};
	struct gt_drain *drain =
		gt_drain_init(&config, aligned_memory(gt_drain_memory()), gt_drain_memory());

	MUST(drain);
	return drain;
}

/* The writer thread's work on a full slot, without CUPTI. */
static inline void drain_slot(struct gt_drain *drain, struct gt_arena *arena, struct gt_slot *slot)
{
	uint8_t *bytes = gt_slot_memory(arena, slot);
	const uint32_t used = atomic_load_explicit(&slot->used, memory_order_relaxed);
	uint32_t size;

	atomic_store_explicit(&slot->state, GT_SLOT_DRAINING, memory_order_relaxed);
	gt_drain_begin(drain, slot);
	if (slot->kind == GT_SLOT_RECORDS)
		gt_drain_records(drain, slot, used);
	else
		for (uint32_t at = 0; (size = gt_raw_size(arena, bytes + at, used - at));
		     at += size)
			gt_drain_activity(drain, bytes + at);
	gt_drain_end(drain);
	memset(bytes, 0, used);
	atomic_store_explicit(&slot->used, 0, memory_order_relaxed);
	/* Pairs with the acquire in gt_arena_take. */
	atomic_store_explicit(&slot->state, GT_SLOT_FREE, memory_order_release);
}

/* Drains every slot that is full; returns how many were. */
static inline unsigned drain_full(struct gt_drain *drain, struct gt_arena *arena)
{
	unsigned drained = 0;

	for (uint32_t i = 0; i < arena->header->slot_count; i++) {
		/* Pairs with the release in gt_slot_hand_over. */
		if (atomic_load_explicit(&arena->slots[i].state, memory_order_acquire) !=
		    GT_SLOT_FULL)
			continue;
		drain_slot(drain, arena, &arena->slots[i]);
		drained++;
	}
	return drained;
}

/* Counts how often each correlation id comes in the records of a kind; ids above most end it. */
static inline void count_ids(const uint8_t *bytes, size_t size, uint32_t kind, uint32_t *counts,
                             uint32_t most)
{
	const struct gt_record_info *info = gt_record_info(kind);
	uint8_t *scratch = aligned_memory(GT_CHUNK_MAX_RAW);
	uint8_t *rows = aligned_memory((size_t)GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE);
	struct gt_reader reader;
	struct gt_chunk chunk;

	memset(counts, 0, (most + 1) * sizeof(*counts));
	MUST(gt_reader_init(&reader, bytes, size, scratch, NULL) == 0);
	while (gt_reader_next(&reader, &chunk) > 0) {
		if (chunk.header.kind != kind)
			continue;
		MUST(gt_columns_decode(info, chunk.payload, chunk.header.raw, rows,
		                       chunk.header.count) == 0);
		for (uint32_t i = 0; i < chunk.header.count; i++) {
			const uint8_t *row = rows + (size_t)i * info->size;
			const uint32_t id =
				kind == GT_RECORD_kernel
					? ((const struct gt_record_kernel *)row)->correlation
					: ((const struct gt_record_api_call *)row)->correlation;

			MUST(id <= most);
			counts[id]++;
		}
	}
	MUST(!reader.torn && reader.skipped == 0);
	free(rows);
	free(scratch);
}

#endif

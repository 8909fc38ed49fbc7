/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/arena.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#define SMALL_SHARE    8u /* small buffers: so many for a large one, of its size together */
#define SMALLEST_BYTES (64u << 10) /* the least that a buffer may have */
#define PAGE           4096u
#define MAX_SLOTS      4096u
#define MAX_SLOT_SIZE  (64u << 20)
#define NAME_PROBES    64

static uint64_t to_page(uint64_t bytes)
{
	return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static uint32_t slot_count(const struct gt_arena_config *config)
{
	return config->activity_slots + config->small_slots + GT_RECORD_SLOTS + GT_DISCARD_SLOTS;
}

static uint64_t slots_offset(void)
{
	return to_page(sizeof(struct gt_arena_header));
}

static uint64_t names_offset(uint32_t count)
{
	return to_page(slots_offset() + (uint64_t)count * sizeof(struct gt_slot));
}

static uint64_t heap_offset(uint32_t count)
{
	return to_page(names_offset(count) + GT_ARENA_NAMES * sizeof(struct gt_name));
}

static uint32_t small_bytes(const struct gt_arena_config *config)
{
	return (uint32_t)to_page(config->activity_bytes / SMALL_SHARE);
}

struct gt_arena_config gt_arena_config_of(uint64_t buffer_count, uint64_t buffer_bytes,
                                          const char *capture)
{
	const bool large = buffer_bytes >= (uint64_t)SMALL_SHARE * SMALLEST_BYTES;

	return (struct gt_arena_config){
		.activity_slots = (uint32_t)buffer_count,
		.activity_bytes = (uint32_t)buffer_bytes,
		.small_slots = large ? (uint32_t)buffer_count * SMALL_SHARE : 0,
		.capture = capture,
	};
}

size_t gt_arena_bytes(const struct gt_arena_config *config)
{
	return heap_offset(slot_count(config)) + GT_ARENA_HEAP +
	       (uint64_t)config->activity_slots * config->activity_bytes +
	       (uint64_t)config->small_slots * small_bytes(config) +
	       (uint64_t)GT_RECORD_SLOTS * GT_RECORD_BYTES +
	       (uint64_t)GT_DISCARD_SLOTS * GT_DISCARD_BYTES;
}

static void point(struct gt_arena *arena, void *memory)
{
	arena->bytes = memory;
	arena->header = memory;
	arena->slots = (struct gt_slot *)(arena->bytes + arena->header->slots_offset);
	arena->names = (struct gt_name *)(arena->bytes + arena->header->names_offset);
	arena->heap = arena->bytes + arena->header->heap_offset;
}

/* Describes count slots of one kind; returns the offset behind their memory. */
static uint64_t lay_slots(struct gt_slot *slots, uint32_t count, enum gt_slot_kind kind,
                          uint32_t size, uint64_t offset)
{
	for (uint32_t i = 0; i < count; i++, offset += size) {
		slots[i].kind = kind;
		slots[i].size = size;
		slots[i].offset = offset;
	}
	return offset;
}

/* FNV-1a, 64 bits. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x100000001b3;
}

static uint64_t mix_record(uint64_t hash, uint32_t kind)
{
	const struct gt_record_info *info = gt_record_info(kind);

	if (!info)
		return hash;
	hash = mix(mix(hash, kind), info->size);
	for (uint32_t i = 0; i < info->field_count; i++)
		hash = mix(mix(mix(hash, info->fields[i].number), info->fields[i].offset),
		           info->fields[i].role);
	return hash;
}

uint64_t gt_arena_layout_hash(void)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		hash = mix_record(hash, kind);
	hash = mix(mix(hash, sizeof(struct gt_arena_header)), sizeof(struct gt_slot));
	hash = mix(mix(hash, sizeof(struct gt_name)), sizeof(struct gt_entry));
	hash = mix(mix(hash, GT_ARENA_HEAP), GT_LEDGER_COUNT);
#define ACTIVITY(name, number, kind, type, record, how) hash = mix(hash, number);
#define RAW(name, field, member)                        hash = mix(hash, GT_RAW_##name##_##field);
#include "format/activity.def"
	return hash;
}

void gt_arena_format(struct gt_arena *arena, void *memory, const struct gt_arena_config *config)
{
	struct gt_arena_header *header = memory;
	const uint32_t count = slot_count(config);
	uint64_t offset = heap_offset(count) + GT_ARENA_HEAP;

	header->layout_hash = gt_arena_layout_hash();
	header->bytes = gt_arena_bytes(config);
	header->slot_count = count;
	header->slots_offset = slots_offset();
	header->names_offset = names_offset(count);
	header->heap_offset = heap_offset(count);
	strncpy(header->capture, config->capture, sizeof(header->capture) - 1);
	point(arena, memory);
	struct gt_slot *slot = arena->slots;

	offset = lay_slots(slot, config->activity_slots, GT_SLOT_ACTIVITY, config->activity_bytes,
	                   offset);
	slot += config->activity_slots;
	offset =
		lay_slots(slot, config->small_slots, GT_SLOT_ACTIVITY, small_bytes(config), offset);
	slot += config->small_slots;
	offset = lay_slots(slot, GT_RECORD_SLOTS, GT_SLOT_RECORDS, GT_RECORD_BYTES, offset);
	slot += GT_RECORD_SLOTS;
	lay_slots(slot, GT_DISCARD_SLOTS, GT_SLOT_DISCARD, GT_DISCARD_BYTES, offset);
#define LEDGER(name, help) gt_arena_add_string(arena, #name, sizeof(#name) - 1);
#include "format/ledger.def"
}

void gt_arena_publish(struct gt_arena *arena)
{
	atomic_store_explicit(&arena->header->magic, GT_ARENA_MAGIC, memory_order_release);
}

/* Slots lie one behind the other from offset on, so that no byte is read twice. */
static bool slot_fits(const struct gt_arena_header *header, const struct gt_slot *slot,
                      uint64_t offset)
{
	return slot->kind <= GT_SLOT_DISCARD && slot->size <= MAX_SLOT_SIZE &&
	       slot->offset == offset && slot->size <= header->bytes - offset;
}

static bool header_fits(const struct gt_arena_header *header, size_t size)
{
	const uint32_t count = header->slot_count;

	return header->bytes == size && count > 0 && count <= MAX_SLOTS &&
	       header->slots_offset == slots_offset() &&
	       header->names_offset == names_offset(count) &&
	       header->heap_offset == heap_offset(count) &&
	       header->heap_offset + GT_ARENA_HEAP <= size && header->heap_used <= GT_ARENA_HEAP &&
	       header->capture[0] && memchr(header->capture, '\0', sizeof(header->capture)) &&
	       !strchr(header->capture, '/');
}

int gt_arena_open(struct gt_arena *arena, void *memory, size_t size, struct gt_error *err)
{
	struct gt_arena_header *header = memory;
	uint64_t magic = 0;

	if (size > 0)
		memcpy(&magic, memory, size < sizeof(magic) ? size : sizeof(magic));
	atomic_thread_fence(memory_order_acquire); /* pairs with the store in gt_arena_publish */
	if (magic == 0)
		return gt_fail(err, ENODATA, "the arena was never used");
	if (magic != GT_ARENA_MAGIC || size < sizeof(*header))
		return gt_fail(err, EBADMSG, "it is not an arena of gputrace");
	if (header->layout_hash != gt_arena_layout_hash())
		return gt_fail(
			err, EPROTO,
			"the arena was left by another version of gputrace, whose memory looks "
			"otherwise: open it with the gputrace that recorded it");
	if (!header_fits(header, size) || gt_activity_layout_check(&header->layout) < 0)
		return gt_fail(err, EBADMSG, "the arena's header is damaged");
	point(arena, memory);

	uint64_t offset = header->heap_offset + GT_ARENA_HEAP;

	for (uint32_t i = 0; i < header->slot_count; i++) {
		if (!slot_fits(header, &arena->slots[i], offset))
			return gt_fail(err, EBADMSG, "slot %u of the arena is damaged", i);
		offset += arena->slots[i].size;
	}
	return 0;
}

struct gt_slot *gt_arena_take(struct gt_arena *arena, enum gt_slot_kind kind)
{
	struct gt_slot *slot = arena->slots;
	struct gt_slot *const end = slot + arena->header->slot_count;

	/* The lowest free one, so that memory already touched is used again first. */
	for (; slot < end; slot++) {
		uint32_t free = GT_SLOT_FREE;

		if (slot->kind != kind ||
		    atomic_load_explicit(&slot->state, memory_order_relaxed) != GT_SLOT_FREE)
			continue;
		/* The acquire pairs with the release that freed it in the writer. */
		if (!atomic_compare_exchange_strong_explicit(&slot->state, &free, GT_SLOT_LENT,
		                                             memory_order_acquire,
		                                             memory_order_relaxed))
			continue;
		atomic_store_explicit(&slot->used, 0, memory_order_relaxed);
		atomic_store_explicit(&slot->sequence,
		                      atomic_fetch_add_explicit(&arena->header->sequence, 1,
		                                                memory_order_relaxed) +
		                              1,
		                      memory_order_release);
		return slot;
	}
	return NULL;
}

void gt_slot_hand_over(struct gt_slot *slot, uint32_t used)
{
	uint32_t lent = GT_SLOT_LENT;

	/* At the end of a recording it may have been taken from its thread, and be drained already.
	 */
	if (atomic_load_explicit(&slot->state, memory_order_relaxed) != GT_SLOT_LENT)
		return;
	atomic_store_explicit(&slot->used, used, memory_order_relaxed);
	/* Pairs with the acquire in the writer's search for full slots. */
	(void)atomic_compare_exchange_strong_explicit(&slot->state, &lent, GT_SLOT_FULL,
	                                              memory_order_release, memory_order_relaxed);
}

struct gt_slot *gt_arena_slot_at(struct gt_arena *arena, const void *memory)
{
	const uint64_t offset = (uint64_t)((const uint8_t *)memory - arena->bytes);

	for (uint32_t i = 0; i < arena->header->slot_count; i++)
		if (arena->slots[i].offset == offset)
			return &arena->slots[i];
	return NULL;
}

uint8_t *gt_slot_memory(const struct gt_arena *arena, const struct gt_slot *slot)
{
	return arena->bytes + slot->offset;
}

/* In the heap a string is its size in 4 bytes, then its bytes, padded to 4. */
static uint32_t padded(uint32_t size)
{
	return (uint32_t)sizeof(uint32_t) + ((size + 3) & ~3u);
}

int gt_arena_next_string(const struct gt_arena *arena, uint32_t *offset, const char **text,
                         uint32_t *size)
{
	uint32_t used = atomic_load_explicit(&arena->header->heap_used, memory_order_acquire);
	uint32_t length;

	if (used > GT_ARENA_HEAP)
		used = GT_ARENA_HEAP;
	if (*offset > used || used - *offset < sizeof(length))
		return 0;
	memcpy(&length, arena->heap + *offset, sizeof(length));
	if (length > GT_ARENA_MAX_STRING || padded(length) > used - *offset)
		return 0;
	*text = (const char *)arena->heap + *offset + sizeof(length);
	*size = length;
	*offset += padded(length);
	return 1;
}

uint32_t gt_arena_add_string(struct gt_arena *arena, const char *text, uint32_t size)
{
	struct gt_arena_header *header = arena->header;
	const uint32_t used = atomic_load_explicit(&header->heap_used, memory_order_relaxed);

	if (size > GT_ARENA_MAX_STRING || used > GT_ARENA_HEAP ||
	    padded(size) > GT_ARENA_HEAP - used)
		return 0;
	memcpy(arena->heap + used, &size, sizeof(size));
	memcpy(arena->heap + used + sizeof(size), text, size);
	/* Pairs with the acquire in gt_arena_next_string of a reader outside. */
	atomic_store_explicit(&header->heap_used, used + padded(size), memory_order_release);
	return atomic_fetch_add_explicit(&header->string_count, 1, memory_order_release) + 1;
}

void gt_arena_keep_strings(struct gt_arena *arena)
{
	struct gt_arena_header *header = arena->header;

	if (header->strings_dropped)
		return; /* what is in the heap now is not what came first */
	header->heap_kept = header->heap_used;
	header->strings_kept = header->string_count;
}

bool gt_arena_reuse_heap(struct gt_arena *arena)
{
	struct gt_arena_header *header = arena->header;

	if (header->heap_written != header->heap_used ||
	    header->strings_written != header->string_count)
		return false;
	/*
	 * In this order: a process that dies in between leaves ids that nobody has, but none that
	 * stands for two texts (recount_strings in format/arena/salvage.c).
	 */
	atomic_store(&header->strings_dropped, header->string_count - header->strings_kept);
	atomic_store(&header->heap_used, header->heap_kept);
	atomic_store(&header->heap_written, header->heap_kept);
	return true;
}

uint32_t gt_arena_next_id(const struct gt_arena *arena, uint32_t id)
{
	return id == arena->header->strings_kept ? id + arena->header->strings_dropped + 1 : id + 1;
}

struct gt_name *gt_arena_name(struct gt_arena *arena, uint64_t pointer)
{
	uint64_t at =
		(pointer * 0x9e3779b97f4a7c15u) >> 40; /* golden ratio: spreads aligned pointers */

	for (unsigned i = 0; i < NAME_PROBES; i++, at++) {
		struct gt_name *name = &arena->names[at % GT_ARENA_NAMES];
		const uint64_t there = atomic_load_explicit(&name->pointer, memory_order_acquire);

		if (there == pointer || there == 0)
			return name;
	}
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/salvage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/error.h"
#include "format/arena/arena.h"
#include "format/arena/drain.h"
#include "format/file/chunk.h"
#include "format/file/meta.h"
#include "format/file/reader.h"
#include "format/recording.h"

#define MAX_WRITTEN 65536 /* a buffer of 64 MiB makes fewer than 4096 */

/*
 * Ids that are given out here to what a running process has not named: it goes on giving out those
 * that come next, and the capture may have them already.
 */
#define IDS_APART 65536u

/* The chunks that the capture has of buffers that are in the arena too. */
struct written {
	uint32_t count;
	struct {
		uint64_t source;
		uint16_t kind;
		uint16_t part;
	} chunks[MAX_WRITTEN];
};

struct salvager {
	bool live;          /* the process runs: the arena is a copy of a moment ago */
	const char *end;    /* what is written of the end of the process; NULL: nothing */
	uint64_t dumped_ns; /* 0: it is no dump */
	struct gt_arena arena;
	struct gt_writer writer;
	struct gt_drain *drain;
	struct written written;
};

static uint32_t known_name(void *context, uint64_t pointer)
{
	struct salvager *salvager = context;
	const struct gt_name *name = gt_arena_name(&salvager->arena, pointer);

	return name && name->pointer == pointer ? name->string : 0;
}

static uint32_t new_string(void *context, const char *text, uint32_t size)
{
	struct salvager *salvager = context;
	const uint32_t id = gt_arena_add_string(&salvager->arena, text, size);

	if (id == 0)
		gt_ledger_add(&salvager->arena, GT_LEDGER_strings_lost, 1);
	return id;
}

static bool is_written(void *context, uint64_t source, uint16_t kind, uint16_t part)
{
	const struct written *written = &((const struct salvager *)context)->written;

	for (uint32_t i = 0; i < written->count; i++)
		if (written->chunks[i].source == source && written->chunks[i].kind == kind &&
		    written->chunks[i].part == part)
			return true;
	return false;
}

/*
 * Whether chunks of a buffer may be in the capture already: it was being drained when the process
 * died, or when the arena was copied, or has been since.
 */
static bool may_be_written(const struct salvager *salvager, uint64_t source)
{
	for (uint32_t i = 0; i < salvager->arena.header->slot_count; i++) {
		const struct gt_slot *slot = &salvager->arena.slots[i];
		const uint32_t state = atomic_load(&slot->state);

		if (atomic_load(&slot->sequence) == source &&
		    (state == GT_SLOT_DRAINING || (salvager->live && state != GT_SLOT_FREE)))
			return true;
	}
	return false;
}

/* Notes which chunks of such buffers are in a capture. */
static void find_written(struct salvager *salvager, const uint8_t *capture, size_t size)
{
	struct written *written = &salvager->written;
	struct gt_reader reader;
	struct gt_chunk chunk;

	if (gt_reader_init(&reader, capture, size, NULL, NULL) < 0)
		return;
	while (gt_reader_next_packed(&reader, &chunk) > 0) {
		if (written->count == MAX_WRITTEN || !may_be_written(salvager, chunk.header.source))
			continue;
		written->chunks[written->count].source = chunk.header.source;
		written->chunks[written->count].kind = chunk.header.kind;
		written->chunks[written->count].part = chunk.header.part;
		written->count++;
	}
}

/* All that was written is lost with the capture, but names and clocks are still here. */
static void forget_written(const struct gt_arena *arena)
{
	struct gt_arena_header *header = arena->header;

	atomic_store(&header->heap_written, 0);
	atomic_store(&header->strings_written, 0);
	atomic_store(&header->clocks_written, 0);
	header->written[GT_RECORD_STRINGS] = 0;
	header->written[GT_RECORD_clock] = 0;
}

/*
 * Numbers the strings of the heap again. The process may have died between storing a string
 * and counting it, or between writing some and noting it: ids must not shift.
 */
static void recount_strings(const struct gt_arena *arena)
{
	struct gt_arena_header *header = arena->header;
	const uint32_t written = atomic_load(&header->heap_written);
	uint32_t strings_written = 0;
	uint32_t heap_written = 0;
	uint32_t offset = 0;
	uint32_t count = 0;
	const char *text;
	uint32_t size;

	while (gt_arena_next_string(arena, &offset, &text, &size) > 0) {
		count = gt_arena_next_id(arena, count);
		if (offset == written) {
			strings_written = count;
			heap_written = offset;
		}
	}
	/* A heap that is used again may hold nothing yet. */
	if (count == header->strings_kept)
		count += header->strings_dropped;
	if (strings_written == header->strings_kept && heap_written == offset)
		strings_written = count;
	atomic_store(&header->heap_used, offset);
	atomic_store(&header->string_count, count);
	atomic_store(&header->heap_written, heap_written);
	atomic_store(&header->strings_written, strings_written);
}

/* Calls use() for each raw record of a slot. Data behind one of unknown size is only noted. */
static void each_record(struct salvager *salvager, const struct gt_slot *slot,
                        void (*use)(struct salvager *, const uint8_t *))
{
	const uint8_t *at = gt_slot_memory(&salvager->arena, slot);
	const uint32_t used = atomic_load(&slot->used);
	uint32_t left = slot->size;
	uint32_t kind = 0;
	uint32_t size;

	/* A buffer that CUPTI handed back says how much is valid; in a lent one zeros end it. */
	if (atomic_load(&slot->state) != GT_SLOT_LENT && used < left)
		left = used;
	while ((size = gt_raw_size(&salvager->arena, at, left)) > 0) {
		use(salvager, at);
		at += size;
		left -= size;
	}
	if (left >= sizeof(kind))
		memcpy(&kind, at, sizeof(kind));
	if (kind != 0)
		gt_ledger_add(&salvager->arena, GT_LEDGER_unknown_records, 1);
}

static void drain_record(struct salvager *salvager, const uint8_t *record)
{
	gt_drain_activity(salvager->drain, record);
}

static void discard_record(struct salvager *salvager, const uint8_t *record)
{
	(void)record;
	gt_ledger_add(&salvager->arena, GT_LEDGER_discarded_no_buffer, 1);
}

/* Bytes that came after a slot was closed are counted elsewhere. */
static uint32_t used_of(const struct gt_slot *slot)
{
	const uint32_t used = atomic_load(&slot->used);
	const uint32_t closed = atomic_load(&slot->scanned) & ~GT_SLOT_CLOSED;

	return atomic_load(&slot->scanned) & GT_SLOT_CLOSED && closed < used ? closed : used;
}

static void drain_slot(struct salvager *salvager, const struct gt_slot *slot)
{
	const uint32_t state = atomic_load(&slot->state);

	if (state != GT_SLOT_LENT && state != GT_SLOT_FULL && state != GT_SLOT_DRAINING)
		return;
	if (slot->kind == GT_SLOT_DISCARD) {
		each_record(salvager, slot, discard_record);
		return;
	}
	gt_drain_begin(salvager->drain, slot);
	if (slot->kind == GT_SLOT_ACTIVITY)
		each_record(salvager, slot, drain_record);
	else
		gt_drain_records(salvager->drain, slot, used_of(slot));
	gt_drain_end(salvager->drain);
}

/* Strings that the process gave ids are written; those that come now and shapes get ids apart. */
static void set_ids_apart(struct salvager *salvager)
{
	struct gt_arena_header *header = salvager->arena.header;

	gt_drain_strings(salvager->drain);
	if (gt_arena_reuse_heap(&salvager->arena)) {
		header->strings_dropped += IDS_APART;
		header->string_count += IDS_APART;
		header->strings_written += IDS_APART;
	}
	header->shape_count += IDS_APART;
}

/* The arena is open and the writer ready. */
static void salvage(struct salvager *salvager, void *memory, const void *capture,
                    size_t capture_size)
{
	const struct gt_drain_config config = {
		.arena = &salvager->arena,
		.writer = &salvager->writer,
		.name_of = known_name,
		.string_of = new_string,
		.written = is_written,
		.context = salvager,
		.record_flags = GT_RECORD_SALVAGED,
	};

	if (capture_size == 0)
		forget_written(&salvager->arena);
	recount_strings(&salvager->arena);
	salvager->drain = gt_drain_init(&config, memory, gt_drain_memory());
	find_written(salvager, capture, capture_size);
	if (salvager->live)
		set_ids_apart(salvager);
	for (uint32_t i = 0; i < salvager->arena.header->slot_count; i++)
		drain_slot(salvager, &salvager->arena.slots[i]);
	gt_drain_header(salvager->drain);
	if (salvager->dumped_ns) {
		char text[24];

		snprintf(text, sizeof(text), "%" PRIu64, salvager->dumped_ns);
		(void)gt_meta_write_one(&salvager->writer, GT_META_DUMPED, text);
	}
	if (salvager->end)
		(void)gt_meta_write_one(&salvager->writer, GT_META_END, salvager->end);
}

struct salvaged {
	bool live;
	const char *end;
	const struct gt_content *arena;
	const void *capture;
	size_t capture_size;
	uint64_t dumped_ns;
};

static int salvage_arena(const struct salvaged *from, struct gt_sink sink, struct gt_error *err)
{
	const size_t head = gt_align_64(sizeof(struct salvager));
	const size_t size = head + gt_writer_memory() + gt_drain_memory();
	uint8_t *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct salvager *salvager = (struct salvager *)memory;
	int result;

	if (memory == MAP_FAILED)
		return gt_fail(err, ENOMEM, "the arena could not be salvaged: out of memory");
	result = gt_arena_open(&salvager->arena, from->arena->bytes, from->arena->size, err);
	if (result == 0 &&
	    gt_writer_init(&salvager->writer, sink, memory + head, gt_writer_memory()) < 0)
		result = gt_fail(err, ENOMEM, "the arena could not be salvaged: out of memory");
	if (result == 0) {
		salvager->writer.flags = GT_CHUNK_SALVAGED;
		salvager->writer.written = salvager->arena.header->written;
		salvager->live = from->live;
		salvager->end = from->end;
		salvager->dumped_ns = from->dumped_ns;
		salvage(salvager, memory + head + gt_writer_memory(), from->capture,
		        from->capture_size);
		if (salvager->writer.failed)
			result = gt_fail(err, ENOSPC, "what was salvaged could not all be written");
	}
	munmap(memory, size);
	return result;
}

int gt_salvage_arena(void *arena, size_t arena_size, const void *capture, size_t capture_size,
                     struct gt_sink sink, struct gt_error *err)
{
	const struct gt_content content = {.bytes = arena, .size = arena_size};
	const struct salvaged from = {
		.end = GT_META_END_DIED,
		.arena = &content,
		.capture = capture,
		.capture_size = capture_size,
	};

	return salvage_arena(&from, sink, err);
}

int gt_salvage_live(const struct gt_content *arena, const struct gt_content *capture,
                    struct gt_sink sink, struct gt_error *err)
{
	const struct salvaged from = {
		.live = true,
		.arena = arena,
		.capture = capture->bytes,
		.capture_size = capture->size,
	};

	return salvage_arena(&from, sink, err);
}

int gt_salvage_dump(const struct gt_content *arena, const struct gt_content *capture,
                    uint64_t dumped_ns, struct gt_sink sink, struct gt_error *err)
{
	const struct salvaged from = {
		.live = true,
		.end = GT_META_END_DUMPED,
		.arena = arena,
		.capture = capture->bytes,
		.capture_size = capture->size,
		.dumped_ns = dumped_ns,
	};

	return salvage_arena(&from, sink, err);
}

int gt_capture_own_bytes(const void *capture, size_t size, size_t *own, struct gt_error *err)
{
	struct gt_reader reader;
	struct gt_chunk chunk;
	const int result = gt_reader_init(&reader, capture, size, NULL, err);

	if (result < 0)
		return result;
	*own = reader.good_bytes;
	while (gt_reader_next_packed(&reader, &chunk) > 0 &&
	       !(chunk.header.flags & GT_CHUNK_SALVAGED))
		*own = reader.good_bytes;
	return 0;
}

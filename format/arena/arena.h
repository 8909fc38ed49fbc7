/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_ARENA_H
#define GT_FORMAT_ARENA_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/activity.h"
#include "format/arena/graph_samples.h"
#include "format/arena/ticks.h"
#include "format/records.h"

struct gt_error;

/*
 * The memory in which a traced process keeps what it has not written to its capture yet: one
 * MAP_SHARED file per process, so that it outlives the process however that ends. It holds a
 * header, a table of slots (buffers lent to CUPTI or to a thread), a heap of strings, a map
 * from name pointers to strings, and the slots' memory. docs/capture-format.md describes it.
 *
 * Threads: slots are taken and handed over by any thread with atomics on their state; strings
 * and names are added by one thread at a time (starting up, then the writer thread).
 */

#define GT_ARENA_MAGIC      0x3241544755504721u
#define GT_ARENA_CLOCKS     64
#define GT_ARENA_NAMES      16384 /* a power of two */
#define GT_ARENA_HEAP       (4u << 20)
#define GT_ARENA_MAX_STRING (1u << 20)  /* bytes; a chunk holds it */
#define GT_RECORD_BYTES     (32u << 10) /* of one slot for a thread's own records */
#define GT_RECORD_SLOTS     512
#define GT_DISCARD_SLOTS    8
#define GT_DISCARD_BYTES    (64u << 10)

enum gt_ledger_id {
#define LEDGER(name, help) GT_LEDGER_##name,
#include "format/ledger.def"
	GT_LEDGER_COUNT
};

enum gt_slot_state {
	GT_SLOT_FREE,
	GT_SLOT_LENT,     /* to CUPTI, or to the thread tid */
	GT_SLOT_FULL,     /* handed back; used is final */
	GT_SLOT_DRAINING, /* the writer is at it */
};

enum gt_slot_kind {
	GT_SLOT_ACTIVITY, /* CUPTI's raw records */
	GT_SLOT_RECORDS,  /* records of one thread, each behind a struct gt_entry */
	GT_SLOT_DISCARD,  /* CUPTI's raw records that are counted and thrown away */
};

/*
 * The header of each record in a thread's slot, so that any source can put records of any kind
 * there and whoever finds the slot can walk it. A string field of such a record may name a text
 * that lies behind the record instead of one in the heap (GT_TEXT_BEHIND).
 */
struct gt_entry {
	uint16_t kind;  /* GT_RECORD_... */
	uint16_t bytes; /* of the record and what lies behind it: a multiple of 8 */
	uint32_t padding;
};

#define GT_ENTRY_MAX_BYTES 16384

/*
 * A string field with this bit is no id: the lower bits are the distance from the record's begin
 * to 2 bytes of size and the text.
 */
#define GT_TEXT_BEHIND 0x80000000u

#define GT_SLOT_CLOSED 0x80000000u /* in a slot's scanned */

struct gt_slot {
	_Atomic uint32_t state;
	uint32_t kind;
	_Atomic uint32_t used;     /* bytes that are filled; a lent activity slot's are not known */
	uint32_t tid;              /* RECORDS: the thread, 0: one of gputrace's */
	_Atomic uint64_t sequence; /* unique to each time the slot is lent, from 1 */
	uint64_t offset;           /* of its memory in the arena */
	uint32_t size;
	/*
	 * Written by the writer alone. ACTIVITY: bytes whose open records have had their names
	 * kept; 0 in a free slot. RECORDS: 0, and once the recording is complete GT_SLOT_CLOSED and
	 * the bytes that went into the capture: what is committed behind them came too late.
	 */
	_Atomic uint32_t scanned;
	char thread_name[16]; /* RECORDS: what the thread was called when it took the slot */
	uint64_t padding;     /* a cache line each: a thread writes used with every record */
};

_Static_assert(sizeof(struct gt_slot) == 64, "no two slots share a cache line");

/* Which string a name pointer of the process stood for when it was last seen. */
struct gt_name {
	_Atomic uint64_t pointer;
	uint32_t string;
	uint32_t hash; /* of the text, to notice that the pointer stands for another one now */
};

struct gt_arena_header {
	_Atomic uint64_t magic; /* written last: an arena without it was never used */
	uint64_t layout_hash;   /* gt_arena_layout_hash of who made it */
	uint64_t bytes;         /* of the whole arena */
	uint32_t slot_count;
	uint32_t padding;
	uint64_t slots_offset;
	uint64_t heap_offset;
	uint64_t names_offset;
	char capture[256]; /* name of the capture file in the same folder */
	struct gt_activity_layout layout;
	struct gt_ticks counter;          /* what the times in slots of records are readings of */
	_Atomic uint64_t sequence;        /* of the last slot lent */
	_Atomic uint32_t string_count;    /* ids that were given out, from 1 */
	_Atomic uint32_t heap_used;       /* bytes */
	_Atomic uint32_t strings_written; /* of them are in the capture already */
	_Atomic uint32_t heap_written;
	_Atomic uint32_t shape_count; /* shape ids given out */
	_Atomic uint32_t clock_count; /* readings made; the last GT_ARENA_CLOCKS are here */
	_Atomic uint32_t clocks_written;
	_Atomic uint32_t strings_kept; /* at the heap's begin: they stay when it is used again */
	_Atomic uint32_t heap_kept;
	_Atomic uint32_t strings_dropped; /* ids that came next and are in the capture alone */
	_Atomic uint64_t followed;        /* the last order (format/control/control.h), 0: none */
	_Atomic uint32_t paused;          /* 1: recording is */
	uint32_t unused;
	struct gt_graph_samples graph_samples;
	_Atomic uint64_t ledger[GT_LEDGER_COUNT];
	uint64_t written[GT_RECORD_KIND_COUNT]; /* records in the capture, by kind: the writer's */
	struct gt_record_clock clocks[GT_ARENA_CLOCKS];
};

struct gt_arena {
	struct gt_arena_header *header;
	struct gt_slot *slots;
	struct gt_name *names;
	uint8_t *heap;
	uint8_t *bytes; /* the whole arena */
};

struct gt_arena_config {
	uint32_t activity_slots;
	uint32_t activity_bytes; /* of one, a multiple of 4096 */
	uint32_t small_slots;    /* activity slots an eighth as large, lent when all others are */
	const char *capture;     /* file name, shorter than 256 bytes */
};

/*
 * The arena for so many activity buffers: CUPTI takes one for every thread, and large ones cost
 * it least, so that there are eight small ones beside each large one for programs of many threads.
 */
struct gt_arena_config gt_arena_config_of(uint64_t buffer_count, uint64_t buffer_bytes,
                                          const char *capture);

/*
 * The layout of an arena of this gputrace: its structs, and the records and activities that it
 * holds, as one number. One of another number is not to be read.
 */
uint64_t gt_arena_layout_hash(void);

/* Bytes that an arena of this kind takes. */
size_t gt_arena_bytes(const struct gt_arena_config *config);

/*
 * Fills zeroed memory of that many bytes. The names of the ledger's classes become the strings
 * 1 to GT_LEDGER_COUNT. The layout is the caller's to fill before publishing.
 */
void gt_arena_format(struct gt_arena *arena, void *memory, const struct gt_arena_config *config);

/* From now on a salvager finds something in it. */
void gt_arena_publish(struct gt_arena *arena);

/*
 * Looks at an arena somebody else wrote: checks everything that later reads rely on. Returns 0,
 * -ENODATA when it was never published, -EPROTO when it is of another gputrace, or -EBADMSG.
 */
int gt_arena_open(struct gt_arena *arena, void *memory, size_t size, struct gt_error *err);

/* A free slot of a kind, now lent, with a new sequence number; NULL when there is none. */
struct gt_slot *gt_arena_take(struct gt_arena *arena, enum gt_slot_kind kind);

/* Hands a lent slot to the writer. used bytes of it are filled. One that is not lent is left. */
void gt_slot_hand_over(struct gt_slot *slot, uint32_t used);

/* The slot whose memory begins at this address, or NULL. */
struct gt_slot *gt_arena_slot_at(struct gt_arena *arena, const void *memory);

uint8_t *gt_slot_memory(const struct gt_arena *arena, const struct gt_slot *slot);

static inline void gt_ledger_add(struct gt_arena *arena, enum gt_ledger_id id, uint64_t value)
{
	atomic_fetch_add_explicit(&arena->header->ledger[id], value, memory_order_relaxed);
}

/*
 * A string's text in the heap, by walking; *offset begins at 0 and moves on. 1 and the text, or
 * 0 at the end. The text is not terminated.
 */
int gt_arena_next_string(const struct gt_arena *arena, uint32_t *offset, const char **text,
                         uint32_t *size);

/*
 * Appends a text, without looking for an equal one. Its id, or 0 when it is longer than
 * GT_ARENA_MAX_STRING or the heap is full.
 */
uint32_t gt_arena_add_string(struct gt_arena *arena, const char *text, uint32_t size);

/* The strings so far are there for good. */
void gt_arena_keep_strings(struct gt_arena *arena);

/*
 * All others may be forgotten once they are in the capture: the heap is used again, and ids go on.
 * False, and nothing done, when some are not written yet.
 */
bool gt_arena_reuse_heap(struct gt_arena *arena);

/* The id of the string after the one with this id (0: of the first), walking the heap. */
uint32_t gt_arena_next_id(const struct gt_arena *arena, uint32_t id);

/* The entry of a name pointer, or a free one for it, or NULL when the map is full. */
struct gt_name *gt_arena_name(struct gt_arena *arena, uint64_t pointer);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_DRAIN_H
#define GT_FORMAT_ARENA_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_arena;
struct gt_slot;
struct gt_writer;

/*
 * Turns what lies in an arena into chunks: raw activity records through the arena's layout,
 * the threads' own records, strings, clock readings, the ledger. Used by the writer thread of
 * a traced process and, after its death, by whoever salvages the arena; both give the same
 * chunks for the same buffer. Works in the memory it is given; not thread-safe.
 */
struct gt_drain;

struct gt_drain_config {
	struct gt_arena *arena;
	struct gt_writer *writer;
	/* The string id of a name pointer found in a raw record, 0 when it is not known. */
	uint32_t (*name_of)(void *context, uint64_t pointer);
	/* The string id of a text, 0 when there is no room for it. */
	uint32_t (*string_of)(void *context, const char *text, uint32_t size);
	void *context;
	uint32_t record_flags; /* set in every record: GT_RECORD_SALVAGED */
	/* Whether a chunk of a buffer is in the capture already; NULL: none is. */
	bool (*written)(void *context, uint64_t source, uint16_t kind, uint16_t part);
};

size_t gt_drain_memory(void);

/* memory must be 64-byte aligned and outlive the drain; NULL when size is too small. */
struct gt_drain *gt_drain_init(const struct gt_drain_config *config, void *memory, size_t size);

/* Begins a buffer: its chunks carry its sequence number. */
void gt_drain_begin(struct gt_drain *drain, const struct gt_slot *slot);

/*
 * One raw activity record, open or finished. A record of a kind that is not read is counted.
 * Never fails: what the capture refuses is counted by the writer.
 */
void gt_drain_activity(struct gt_drain *drain, const uint8_t *raw);

/* The records in the first used bytes of a thread's slot. */
void gt_drain_records(struct gt_drain *drain, const struct gt_slot *slot, uint32_t used);

/*
 * Ends the buffer: writes strings and shapes first, then what uses them, and adds its records
 * to the ledger. Who marks the buffer as drained right after counts none of them twice.
 */
void gt_drain_end(struct gt_drain *drain);

/* Writes the strings that are not written yet. */
void gt_drain_strings(struct gt_drain *drain);

/*
 * Writes strings, clock readings and the ledger as they stand in the arena's header, and how many
 * records of each kind the writer has written, if it counts them.
 */
void gt_drain_header(struct gt_drain *drain);

/*
 * The bytes from here to the next raw record by the layout's sizes, or 0 when there is none:
 * the memory is zero, the kind is not known or the record would not fit.
 */
uint32_t gt_raw_size(const struct gt_arena *arena, const uint8_t *raw, uint32_t left);

#endif

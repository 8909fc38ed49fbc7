/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_ARENA_H
#define GT_TESTS_SUPPORT_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "format/arena/arena.h"

/*
 * An arena as a traced process would have it, and the means to fill it as the process and CUPTI
 * would. The raw records have a layout of our own: the kind, then every field in 8 bytes.
 */
struct test_arena {
	struct gt_arena arena;
	uint8_t *memory;
	size_t size;
	int fd; /* the file that the memory is of, as in a real process */
};

/* Formatted, with its layout, published. */
void test_arena_init(struct test_arena *test, uint32_t activity_slots, uint32_t activity_bytes,
                     const char *capture);
void test_arena_release(struct test_arena *test);

/* A private, writable copy, as a salvager has it; released on its own. */
void test_arena_copy(const struct test_arena *test, struct test_arena *copy);

/*
 * Appends a raw record, zero but for its kind, to a slot that was taken, as CUPTI would; returns
 * it. The slot's used grows, which a lent slot's does not in a real process.
 */
uint8_t *add_raw(struct test_arena *test, struct gt_slot *slot, enum gt_cupti_activity activity);

/* Sets a field of it. */
void put_raw(const struct test_arena *test, uint8_t *record, enum gt_raw_field field,
             uint64_t value);

/* A finished kernel record whose name is the string with this pointer. */
uint8_t *add_raw_kernel(struct test_arena *test, struct gt_slot *slot, uint32_t correlation,
                        uint64_t name);

/* Appends an entry of a kind to a thread's slot: the zeroed record with so many bytes. */
void *add_entry(struct test_arena *test, struct gt_slot *slot, uint32_t kind, uint32_t bytes);

/* Appends an API call to a thread's slot. */
void add_call(struct test_arena *test, struct gt_slot *slot, uint32_t correlation);

/* Says which string a name pointer stands for, as the writer thread does. */
void add_name(struct test_arena *test, uint64_t pointer, const char *text);

#endif

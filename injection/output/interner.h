/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_OUTPUT_INTERNER_H
#define GT_INJECTION_OUTPUT_INTERNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_arena;

/*
 * Gives every text of a process one id, and keeps the text in the arena. Two texts are taken
 * for equal when their 64-bit XXH3 hashes are. One thread at a time: the one that starts the
 * session, then the writer thread.
 */
struct gt_interner {
	struct gt_arena *arena;
	struct gt_interned *table;
	uint32_t count;
};

size_t gt_interner_memory(void);
void gt_interner_init(struct gt_interner *interner, struct gt_arena *arena, void *zeroed_memory);

/* 0 for the empty text, and, counted in the ledger, when there is no room for a new one. */
uint32_t gt_interner_add(struct gt_interner *interner, const char *text, size_t size);

/* The text that a name pointer stands for now; also noted in the arena for a salvager. */
uint32_t gt_interner_add_name(struct gt_interner *interner, uint64_t pointer, const char *text,
                              size_t size);

/*
 * Writer thread, between two buffers: when texts have come to fill it, those that are in the
 * capture are forgotten. Programs make up names as they go.
 */
bool gt_interner_is_crowded(const struct gt_interner *interner);
void gt_interner_forget(struct gt_interner *interner);

#endif

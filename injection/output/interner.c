/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/output/interner.h"

#include <stdatomic.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "format/arena/arena.h"

#define TABLE     65536u /* a power of two */
#define TABLE_MAX (TABLE / 4 * 3)

struct gt_interned {
	uint64_t hash;
	uint32_t id; /* 0: free */
	uint32_t padding;
};

size_t gt_interner_memory(void)
{
	return TABLE
	*sizeof(struct gt_interned);
}

void gt_interner_init(struct gt_interner *interner, struct gt_arena *arena, void *zeroed_memory)
{
	*interner = (struct gt_interner){.arena = arena, .table = zeroed_memory};
}

static uint32_t intern_hashed(struct gt_interner *interner, const char *text, size_t size,
                              uint64_t hash)
{
	for (uint64_t at = hash;; at++) {
		struct gt_interned *entry = &interner->table[at % TABLE];

		if (entry->id && entry->hash == hash)
			return entry->id;
		if (entry->id)
			continue;

		const uint32_t id =
			interner->count < TABLE_MAX
				? gt_arena_add_string(interner->arena, text, (uint32_t)size)
				: 0;

		if (id == 0) {
			gt_ledger_add(interner->arena, GT_LEDGER_strings_lost, 1);
			return 0;
		}
		*entry = (struct gt_interned){.hash = hash, .id = id};
		interner->count++;
		return id;
	}
}

uint32_t gt_interner_add(struct gt_interner *interner, const char *text, size_t size)
{
	return size ? intern_hashed(interner, text, size, XXH3_64bits(text, size)) : 0;
}

uint32_t gt_interner_add_name(struct gt_interner *interner, uint64_t pointer, const char *text,
                              size_t size)
{
	const uint64_t hash = XXH3_64bits(text, size);
	struct gt_name *name = gt_arena_name(interner->arena, pointer);
	uint32_t id;

	if (name && atomic_load_explicit(&name->pointer, memory_order_relaxed) == pointer &&
	    name->hash == (uint32_t)hash)
		return name->string;
	id = intern_hashed(interner, text, size, hash);
	if (name && id) {
		name->string = id;
		name->hash = (uint32_t)hash;
		/* Pairs with the acquire in gt_arena_name of a salvager. */
		atomic_store_explicit(&name->pointer, pointer, memory_order_release);
	}
	return id;
}

bool gt_interner_is_crowded(const struct gt_interner *interner)
{
	return interner->count > TABLE
	/ 2 || atomic_load_explicit(&interner->arena->header->heap_used, memory_order_relaxed) >
			GT_ARENA_HEAP / 2;
}

void gt_interner_forget(struct gt_interner *interner)
{
	if (!gt_arena_reuse_heap(interner->arena))
		return;
	memset(interner->table, 0, gt_interner_memory());
	interner->count = 0;
}

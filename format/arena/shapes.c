/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/shapes.h"

#include <stdatomic.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "format/records.h"

#define TABLE     16384 /* a power of two */
#define TABLE_MAX (TABLE / 4 * 3)

struct gt_shapes {
	uint32_t used;
	struct gt_record_shape table[TABLE]; /* id 0: free */
};

/* The id itself is no part of a shape. */
static const size_t skip = offsetof(struct gt_record_shape, name);

size_t gt_shapes_memory(void)
{
	return sizeof(struct gt_shapes);
}

void gt_shapes_forget(struct gt_shapes *shapes)
{
	memset(shapes, 0, sizeof(*shapes));
}

struct gt_shapes *gt_shapes_init(void *memory)
{
	gt_shapes_forget(memory);
	return memory;
}

bool gt_shapes_add(struct gt_shapes *shapes, struct gt_record_shape *shape, _Atomic uint32_t *count)
{
	const uint8_t *const bytes = (const uint8_t *)shape + skip;
	uint64_t at = XXH3_64bits(bytes, sizeof(*shape) - skip);

	if (shapes->used >= TABLE_MAX)
		gt_shapes_forget(shapes);
	for (;; at++) {
		struct gt_record_shape *entry = &shapes->table[at % TABLE];

		if (entry->id == 0) {
			shape->id = atomic_fetch_add_explicit(count, 1, memory_order_relaxed) + 1;
			*entry = *shape;
			shapes->used++;
			return true;
		}
		if (memcmp((const uint8_t *)entry + skip, bytes, sizeof(*shape) - skip) == 0) {
			shape->id = entry->id;
			return false;
		}
	}
}

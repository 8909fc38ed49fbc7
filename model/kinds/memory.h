/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_KINDS_MEMORY_H
#define GT_MODEL_KINDS_MEMORY_H

#include <stdint.h>

/* Values of "kind" in memory_calls and allocations; the numbers are those of captures. */
enum gt_memory_call_kind {
#define MEMORY_KIND(name, number, does, space, words) GT_MEMORY_CALL_##name = (number),
#include "format/kinds/memory.def"
};

/* Whether something is there after the call that was not there before, or is gone. */
enum gt_memory_does { GT_MEMORY_MAKES, GT_MEMORY_ENDS, GT_MEMORY_TELLS };

/* Space of its identifier: each space has numbers of its own. */
enum gt_memory_space {
	GT_MEMORY_SPACE_NONE,
	GT_MEMORY_SPACE_POINTER,
	GT_MEMORY_SPACE_HOST,
	GT_MEMORY_SPACE_REGISTERED,
	GT_MEMORY_SPACE_IMPORTED,
	GT_MEMORY_SPACE_ADDRESSES,
	GT_MEMORY_SPACE_MAPPING,
	GT_MEMORY_SPACE_HANDLE,
	GT_MEMORY_SPACE_ARRAY,
	GT_MEMORY_SPACE_POOL,
	GT_MEMORY_SPACE_EXTERNAL,
};

/* Where the memory of a pool is, and who told of it; the numbers are those of captures. */
enum gt_pool_place {
#define POOL_PLACE(name, number, words) GT_POOL_##name = (number),
#include "format/kinds/pools.def"
};

enum gt_pool_teller {
#define POOL_TELLER(name, number, words) GT_TELLER_##name = (number),
#include "format/kinds/pools.def"
};

/* TELLS and NONE for a number that is no kind. */
enum gt_memory_does gt_memory_does(uint32_t kind);
enum gt_memory_space gt_memory_space(uint32_t kind);

#endif

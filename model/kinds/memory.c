/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kinds/memory.h"

#include <stddef.h>

#include "base/array.h"

struct sort {
	enum gt_memory_space space; /* NONE: nothing is made or ended */
	enum gt_memory_does does;
};

static const struct sort sorts[] = {
#define MEMORY_KIND(name, number, does, space, words)                                              \
	[number] = {GT_MEMORY_SPACE_##space, GT_MEMORY_##does},
#include "format/kinds/memory.def"
};

static const struct sort *sort_of(uint32_t kind)
{
	const struct sort *sort = kind < GT_COUNT_OF(sorts) ? &sorts[kind] : NULL;

	return sort && sort->space != GT_MEMORY_SPACE_NONE ? sort : NULL;
}

enum gt_memory_does gt_memory_does(uint32_t kind)
{
	const struct sort *sort = sort_of(kind);

	return sort ? sort->does : GT_MEMORY_TELLS;
}

enum gt_memory_space gt_memory_space(uint32_t kind)
{
	const struct sort *sort = sort_of(kind);

	return sort ? sort->space : GT_MEMORY_SPACE_NONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_OUTPUT_NAMES_H
#define GT_INJECTION_OUTPUT_NAMES_H

#include <stddef.h>

struct gt_arena;
struct gt_interner;

struct gt_kept_names {
	struct gt_arena *arena; /* the buffers that are lent are in it */
	struct gt_interner *interner;
	char *text; /* memory for one name: longer ones are cut */
	size_t text_size;
};

/*
 * Keeps the names of kernels whose records still lie in a buffer of CUPTI's: if the process dies
 * now, the salvager has only their pointers. Writer thread.
 */
void gt_names_keep(const struct gt_kept_names *kept);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_MEMORY_LIBRARIES_H
#define GT_MODEL_MEMORY_LIBRARIES_H

#include <stdbool.h>

/* Whose memory it is, by the shared object that asked for it. */
struct gt_memory_library {
	const char *name; /* "NCCL"; constant; NULL: nobody's that is known */
	bool keeps;       /* it hands out pieces of what it takes: see memory_libraries.def */
};

/* file: with or without its folder. */
struct gt_memory_library gt_memory_library_of(const char *file);

#endif

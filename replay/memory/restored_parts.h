/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEMORY_RESTORED_PARTS_H
#define GT_REPLAY_MEMORY_RESTORED_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/memory/restored.h"

/* Helpers that restored.c (where memory is), contents.c and zones.c share. */

static inline bool gt_restored_is_array(const struct gt_restored *restored, size_t number)
{
	return restored->bundle->memory.rows[number].kind == GT_BUNDLE_MEMORY_array;
}

static inline CUdeviceptr gt_restored_address(const struct gt_restored *restored, size_t number)
{
	return restored->layout.places.rows[number].address;
}

/* Puts a copy into the GPU's stream. 0, or negative with err set. */
int gt_restored_copy(const struct gt_restored *restored, CUdeviceptr to, CUdeviceptr from,
                     size_t bytes, struct gt_error *err);

static inline CUdeviceptr gt_of_host(const void *bytes)
{
	return (CUdeviceptr)(uintptr_t)bytes;
}

#endif

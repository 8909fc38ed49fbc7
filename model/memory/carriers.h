/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_MEMORY_CARRIERS_H
#define GT_MODEL_MEMORY_CARRIERS_H

#include "model/trace.h"

struct gt_view;

/*
 * In which allocations the blocks of pools lie: memory that an allocator took from CUDA to hand it
 * out in pieces. Where blocks lie in a mapping, the physical memory behind it is what carries them.
 * By row of allocations: the pool, GT_NONE for those that carry none. The caller frees it with
 * gt_array_free.
 */
gt_id *gt_memory_carriers(const struct gt_view *view);

#endif

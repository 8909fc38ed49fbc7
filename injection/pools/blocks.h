/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_POOLS_BLOCKS_H
#define GT_INJECTION_POOLS_BLOCKS_H

#include <stdint.h>

#include "injection/pools/kept.h"

/*
 * The program's blocks in its pools, and its executables: functions of gputrace.h that become
 * records and of which nothing is kept.
 */

void gt_block_alloc(uint64_t pool, const void *address, uint64_t bytes, uint64_t requested,
                    void *stream);
void gt_block_free(uint64_t pool, const void *address, void *stream);

/* The same of a time that has passed, of CLOCK_MONOTONIC. */
void gt_block_alloc_at(uint64_t pool, const void *address, uint64_t bytes, uint64_t requested,
                       void *stream, uint64_t time_ns);
void gt_block_free_at(uint64_t pool, const void *address, void *stream, uint64_t time_ns);

void gt_executable(const struct gputrace_executable *what);

#endif

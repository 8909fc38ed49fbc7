/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_HOSTILE_MEMORY_H
#define GT_TESTS_HOSTILE_MEMORY_H

#include <stddef.h>

/*
 * How much memory something takes: what is allocated, under the address sanitizer, else what the
 * process has. Watched in a process from watch_memory() on.
 */
void watch_memory(void);

/* Bytes in use now; the peak begins anew. */
size_t memory_before(void);

/* The most that were in use since then. */
size_t memory_peak(void);

#endif

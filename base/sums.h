/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_SUMS_H
#define GT_BASE_SUMS_H

#include <stdint.h>

/* The most a count can be: whoever prints one takes it for a number with a sign. */
#define GT_MOST_COUNT ((uint64_t)INT64_MAX)

/* More of anything, or more nanoseconds, is no count of a process's: they are 104 days. */
#define GT_MOST_COUNTED ((uint64_t)1 << 53)

/* Adds to a count, which stays at GT_MOST_COUNT: counts that are read may be anything. */
static inline void gt_count_add(uint64_t *count, uint64_t more)
{
	if (__builtin_add_overflow(*count, more, count) || *count > GT_MOST_COUNT)
		*count = GT_MOST_COUNT;
}

/*
 * Adds to a sum of sizes, which stays at the largest number when it is more than fits: a report
 * shows that as not known. Sums from which is taken again what was added need no such care.
 */
static inline void gt_sum_add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

#endif

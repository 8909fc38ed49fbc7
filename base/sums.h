/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_SUMS_H
#define GT_BASE_SUMS_H

#include <stdint.h>

/* The most a count can be: whoever prints one takes it for a number with a sign. */
#define GT_MOST_COUNT ((uint64_t)INT64_MAX)

/* a + b, or GT_MOST_COUNT when it would be more: counts that are read may be anything. */
static inline uint64_t gt_count_sum(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) || sum > GT_MOST_COUNT ? GT_MOST_COUNT : sum;
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

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_SUM_H
#define GT_BASE_SUM_H

#include <stdint.h>

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

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_SEARCH_H
#define GT_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Binary search among rows that are in order, for what bsearch does not answer: where something
 * would stand. compare is that of qsort; it gets a row first and what is looked for second.
 */

typedef int gt_compare(const void *row, const void *wanted);

/* How many of the first rows compare less than the limit. */
static inline size_t gt_search(const void *rows, size_t count, size_t row_size, const void *wanted,
                               gt_compare *compare, int limit)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare((const uint8_t *)rows + middle * row_size, wanted) < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many rows of an array { rows, count } come before what is wanted, a pointer. */
#define gt_count_before(array, wanted, compare)                                                    \
	gt_search((array)->rows, (array)->count, sizeof(*(array)->rows), wanted, compare, 0)

/* And how many do not come after it. */
#define gt_count_up_to(array, wanted, compare)                                                     \
	gt_search((array)->rows, (array)->count, sizeof(*(array)->rows), wanted, compare, 1)

/* Compares rows of i64, times among them, with one that is wanted. */
static inline int gt_by_i64(const void *row, const void *wanted)
{
	const int64_t value = *(const int64_t *)row;
	const int64_t limit = *(const int64_t *)wanted;

	return (value > limit) - (value < limit);
}

#endif

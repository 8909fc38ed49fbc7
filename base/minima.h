/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_MINIMA_H
#define GT_BASE_MINIMA_H

#include <stddef.h>
#include <stdint.h>

/*
 * Many values, and which of them is the first that is small enough: a tree in which each node
 * holds the least of the two below it. Both calls take time by the logarithm of the count.
 * For programs only, as base/array.h is. All zero is an empty one.
 */
struct gt_minima {
	int64_t *nodes; /* 1 is the root, n has 2n and 2n + 1; the values are from room on */
	size_t count;
	size_t room; /* a power of two, or 0 */
};

/* Sets the value of a place; that of place count is added. */
void gt_minima_set(struct gt_minima *minima, size_t place, int64_t value);

/* The first place whose value is most at most; count when there is none. */
size_t gt_minima_find(const struct gt_minima *minima, int64_t most);

void gt_minima_release(struct gt_minima *minima);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_KNOWN_H
#define GT_MODEL_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Rows by a number of the capture's own: a tid, an ordinal, a handle. A program may have tens of
 * thousands, so it is a hash table; the one found last is tried first.
 */
struct gt_known_entry {
	uint64_t number;
	gt_id row; /* GT_NONE: free */
};

struct gt_known {
	struct gt_known_entry *entries;
	size_t mask; /* entries - 1 */
	size_t count;
	size_t last; /* entry that was found last */
};

/* The row of a number, GT_NONE when it is not known. A zeroed map knows none. */
gt_id gt_known_find(struct gt_known *known, uint64_t number);

/* The number, which was not known, is this row from now on. */
void gt_known_add(struct gt_known *known, uint64_t number, gt_id row);

/* The number is this row from now on, whether it was known or not. */
void gt_known_set(struct gt_known *known, uint64_t number, gt_id row);

/*
 * Gives the row of a number. One that was not known is the next row of a table from now on, of
 * which there are so many: returns true, and the caller adds it.
 */
bool gt_known_is_new(struct gt_known *known, uint64_t number, size_t next, gt_id *row);

void gt_known_release(struct gt_known *known);

#endif

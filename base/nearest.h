/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_NEAREST_H
#define GT_BASE_NEAREST_H

#include <stddef.h>

/* How many bytes both texts begin with. */
size_t gt_common_prefix(const char *a, const char *b);

/*
 * The word of a NULL-terminated list that someone who wrote "word" most likely meant: at most
 * two letters added, dropped, changed or swapped with their neighbour, and fewer than half of
 * the word's letters. Among equally near words it is the one with the longest beginning in
 * common, then the first; NULL when none is near enough.
 * Nothing is allocated.
 */
const char *gt_nearest(const char *word, const char *const *words);

/* "outer, all or none" of a NULL-terminated list of words, cut off where size ends. */
void gt_alternatives(const char *const *words, char *text, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_NEAREST_H
#define GT_BASE_NEAREST_H

/*
 * The word of a NULL-terminated list that someone who wrote "word" most likely meant: at most
 * two letters added, dropped, changed or swapped with their neighbour, and fewer than half of
 * the word's letters. The first of several equally near; NULL when none is near enough.
 * Nothing is allocated.
 */
const char *gt_nearest(const char *word, const char *const *words);

#endif

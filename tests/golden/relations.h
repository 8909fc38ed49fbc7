/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_GOLDEN_RELATIONS_H
#define GT_TESTS_GOLDEN_RELATIONS_H

#include <stddef.h>

/*
 * Reads a recording with filters that say the same in other words: a window that is open at one
 * side, and one with that side named; a moment counted from the begin, and from the end; one range
 * of several by its number, and by what is left out before it. All tables and reports have to be
 * the same. And rows that begin before a moment, and those that do not, are all that there are, of
 * what happens at one time. Nothing is kept: what is right is known.
 */
struct relations {
	size_t compared; /* pairs of filters */
	size_t differ;
};

void relations_check(struct relations *relations, const char *folder);

/*
 * A recording and a copy of it that has more calls in it, inside of others or ones that failed:
 * reports are the same but for those tables that are about such calls.
 */
void relations_check_copy(struct relations *relations, const char *folder, const char *copy);

#endif

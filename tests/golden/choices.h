/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_GOLDEN_CHOICES_H
#define GT_TESTS_GOLDEN_CHOICES_H

#include <stdbool.h>
#include <stddef.h>

struct gt_filter;
struct gt_trace;

/* Ways to choose a part of any recording; the first chooses all of it. */
extern const size_t choice_count;

/* The same with words that only the gallery has in it. */
extern const size_t all_choice_count;

/*
 * Adds to an empty filter what such a choice is in this recording; false: it has nothing that could
 * be chosen so.
 */
bool choose(size_t choice, struct gt_filter *filter, const struct gt_trace *trace);

#endif

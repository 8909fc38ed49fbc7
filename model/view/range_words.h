/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_VIEW_RANGE_WORDS_H
#define GT_MODEL_VIEW_RANGE_WORDS_H

#include <regex.h>
#include <stdbool.h>

#include "model/ranges/ranges.h"

/*
 * Text that someone writes for NVTX ranges: a path as reports show it, else the name of a range
 * wherever it stands, else either with # for numbers, else a POSIX extended regular expression that
 * fits in a path. Which of these it is only the recording tells: names may hold any characters.
 */
struct gt_range_word {
	char *text;
	regex_t regex;
	bool is_regex;
};

/* Freed with gt_range_word_free. */
struct gt_range_word *gt_range_word_new(const char *text);
void gt_range_word_free(struct gt_range_word *word);

/* Whether it may stand for names that differ in numbers alone, as reports show them. */
bool gt_range_word_is_folded(const struct gt_range_word *word);

/* Sets the paths that are meant, by row of paths, and leaves the others. Whether there are any. */
bool gt_range_word_match(const struct gt_range_word *word, const struct gt_ranges *ranges,
                         bool *paths);

#endif

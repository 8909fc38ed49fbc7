/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_WORDS_H
#define GT_CLI_OUTPUT_WORDS_H

#include <stddef.h>

#include "base/array.h"

/* A list of words that a slip is compared with. Zero-initialised is empty. */
struct gt_words {
	gt_array(char *) list;
};

/* Copies length bytes of text. */
void gt_words_add(struct gt_words *words, const char *text, size_t length);

/* The word that was most likely meant, as gt_nearest says; valid until the release. */
const char *gt_words_nearest(struct gt_words *words, const char *word);

void gt_words_release(struct gt_words *words);

#endif

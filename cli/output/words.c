/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

void gt_words_add(struct gt_words *words, const char *text, size_t length)
{
	char *copy = gt_allocate(length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	*gt_array_push(&words->list) = copy;
}

const char *gt_words_nearest(struct gt_words *words, const char *word)
{
	const char *nearest;

	*gt_array_push(&words->list) = NULL;
	nearest = gt_nearest(word, (const char *const *)words->list.rows);
	words->list.count--;
	return nearest;
}

void gt_words_release(struct gt_words *words)
{
	for (size_t i = 0; i < words->list.count; i++)
		free(words->list.rows[i]);
	gt_array_release(&words->list);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DISTANCE = 2, MAX_LENGTH = 63 };

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Optimal string alignment distance, row by row; a row holds the distances of one prefix of
 * a to every prefix of b. Words are at most MAX_LENGTH long.
 */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][MAX_LENGTH + 1];

	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3];
		const size_t *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			const size_t changed = above[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = smaller(changed, smaller(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = smaller(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

size_t gt_common_prefix(const char *a, const char *b)
{
	size_t length = 0;

	while (a[length] && a[length] == b[length])
		length++;
	return length;
}

const char *gt_nearest(const char *word, const char *const *words)
{
	const size_t length = strlen(word);
	size_t best = MAX_DISTANCE + 1;
	const char *nearest = NULL;

	if (length > MAX_LENGTH)
		return NULL;
	for (; *words; words++) {
		const size_t other_length = strlen(*words);

		if (other_length > MAX_LENGTH)
			continue;

		const size_t away = distance(word, length, *words, other_length);

		if (away * 2 >= length || away > best)
			continue;
		if (away < best ||
		    (nearest && gt_common_prefix(word, *words) > gt_common_prefix(word, nearest))) {
			best = away;
			nearest = *words;
		}
	}
	return nearest;
}

void gt_alternatives(const char *const *words, char *text, size_t size)
{
	size_t used = 0;

	if (size > 0)
		*text = '\0';
	for (size_t i = 0; words[i] && used < size; i++) {
		const char *between = i == 0 ? "" : words[i + 1] ? ", " : " or ";

		used += (size_t)snprintf(text + used, size - used, "%s%s", between, words[i]);
	}
}

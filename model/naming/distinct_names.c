/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/distinct_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/naming/short_name.h"

/*
 * The full names of a group are followed as far as they are the same. The words that stand where
 * they part are what is put back; those that still share one are followed further.
 */

enum {
	LABEL_MOST = 48, /* characters that are put back; beyond, names are numbered */
	CHAIN_MOST = 24, /* characters of one piece of them */
	DEPTH_MOST = 12, /* places where names part */
};

/* Underscores part words: whole names of cuBLAS and cuDNN are made of such words. */
static bool is_word(char letter)
{
	return isalnum((unsigned char)letter) || letter == '#';
}

/* As strcmp, but a word stands before all that it is the beginning of. */
static int compare_full(const char *left, const char *right)
{
	while (*left && *left == *right) {
		left++;
		right++;
	}
	if (is_word(*left) != is_word(*right))
		return is_word(*left) ? 1 : -1;
	return (unsigned char)*left - (unsigned char)*right;
}

static int by_text(const void *a, const void *b)
{
	const struct gt_distinct_name *left = a;
	const struct gt_distinct_name *right = b;
	const int order = strcmp(left->text, right->text);

	return order ? order : compare_full(left->full, right->full);
}

static int by_label(const void *a, const void *b)
{
	const struct gt_distinct_name *left = a;
	const struct gt_distinct_name *right = b;
	const int order = strcmp(left->label, right->label);

	return order ? order : compare_full(left->full, right->full);
}

/* Where the word begins in which the first and the last of sorted names part. */
static size_t parting(const char *first, const char *last)
{
	size_t at = 0;

	while (first[at] && first[at] == last[at])
		at++;
	while (at > 0 && is_word(first[at - 1]) && (is_word(first[at]) || is_word(last[at])))
		at--;
	return at;
}

static size_t word_length(const char *text)
{
	size_t length = 0;

	while (is_word(text[length]))
		length++;
	return length ? length : *text != '\0';
}

/* The word with what belongs to it: direct_copy_kernel, c10::Half; but not all of a long name. */
static size_t chain_length(const char *text)
{
	const size_t word = word_length(text);
	size_t length = word;

	for (;;) {
		const size_t joint = strncmp(text + length, "::", 2) == 0 ? 2 : text[length] == '_';
		if (!joint || !is_word(text[length + joint]))
			return length;
		length += joint + word_length(text + length + joint);
		if (length > CHAIN_MOST)
			return word;
	}
}

static void add_label(struct gt_distinct_name *name, size_t at)
{
	size_t before = strlen(name->label);
	size_t length;
	char word[GT_SHORT_NAME_MOST];
	char brief[GT_SHORT_NAME_MOST];

	while (name->full[at] && !is_word(name->full[at]))
		at++;
	length = chain_length(name->full + at);
	/* A name that ends here has nothing to put back; what belongs to a word was, with it. */
	if (length == 0 || length >= sizeof(word) || at < name->shown)
		return;
	name->shown = at + length;
	memcpy(word, name->full + at, length);
	word[length] = '\0';
	length = gt_short_name(word, brief, sizeof(brief));
	name->label = gt_array_resize(name->label, before + length + 3, 1);
	snprintf(name->label + before, length + 3, "%s%s", before ? ", " : "", brief);
}

/* Names of one group, sorted. */
static void label(struct gt_distinct_name *names, size_t count, unsigned depth)
{
	size_t first = 0;
	size_t at;

	if (count < 2 || depth == DEPTH_MOST)
		return;
	at = parting(names[0].full, names[count - 1].full);
	for (size_t i = 1; i <= count; i++) {
		const size_t length = word_length(names[first].full + at);

		if (i < count && word_length(names[i].full + at) == length &&
		    strncmp(names[i].full + at, names[first].full + at, length) == 0)
			continue;
		if (first == 0 && i == count)
			return; /* they do not part at all */
		for (size_t j = first; j < i; j++)
			add_label(&names[j], at);
		label(names + first, i - first, depth + 1);
		first = i;
	}
}

static bool are_distinct(const struct gt_distinct_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i].label) > LABEL_MOST ||
		    (i > 0 && strcmp(names[i].label, names[i - 1].label) == 0))
			return false;
	return true;
}

/* Names that have one text: brackets round what is put back; numbers where that does not do. */
static void part(struct gt_distinct_name *names, size_t count)
{
	bool distinct;

	for (size_t i = 0; i < count; i++)
		names[i].label = memset(gt_allocate(1), 0, 1);
	label(names, count, 0);
	qsort(names, count, sizeof(*names), by_label);
	distinct = are_distinct(names, count);
	if (!distinct)
		qsort(names, count, sizeof(*names), by_text);
	for (size_t i = 0; i < count; i++) {
		const size_t length = strlen(names[i].text);
		const size_t size = length + LABEL_MOST + 8;

		names[i].text = gt_array_resize(names[i].text, size, 1);
		if (!distinct)
			snprintf(names[i].text + length, size - length, " [%zu of %zu]", i + 1,
			         count);
		else if (*names[i].label)
			snprintf(names[i].text + length, size - length, " [%s]", names[i].label);
		free(names[i].label);
	}
}

void gt_distinct_names(struct gt_distinct_names *names)
{
	size_t first = 0;

	if (names->count < 2)
		return;
	qsort(names->rows, names->count, sizeof(*names->rows), by_text);
	for (size_t i = 1; i <= names->count; i++) {
		if (i < names->count && strcmp(names->rows[i].text, names->rows[first].text) == 0)
			continue;
		if (i - first > 1)
			part(names->rows + first, i - first);
		first = i;
	}
}

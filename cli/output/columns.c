/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/columns.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "base/array.h"
#include "base/nearest.h"
#include "base/utf8.h"

#define DOTS "..."

enum {
	DOTS_COLUMNS = sizeof(DOTS) - 1,
	ROUNDS = 8, /* in which texts that were cut alike are cut again */
	BEFORE = 3, /* columns shown before the place at which they differ */
};

/* One character: its bytes, and its columns, negative when it must not be printed. */
struct step {
	size_t bytes;
	int columns;
};

static struct step step_of(const char *text)
{
	mbstate_t state = {0};
	wchar_t character = 0;
	const size_t left = strnlen(text, MB_LEN_MAX);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the state is ours */
	const size_t bytes = mbrtowc(&character, text, left, &state);

	if (bytes == 0 || bytes > left)
		return (struct step){1, -1};
	if (gt_utf8_misleads(text))
		return (struct step){bytes, -1};
	return (struct step){bytes, iswprint((wint_t)character) ? wcwidth(character) : -1};
}

char *gt_printable(const char *text)
{
	const size_t size = 4 * strlen(text) + 1;
	char *copy = gt_allocate(size);
	char *at = copy;

	while (*text) {
		const struct step step = step_of(text);

		if (step.columns >= 0) {
			memcpy(at, text, step.bytes);
			at += step.bytes;
		}
		for (size_t i = 0; step.columns < 0 && i < step.bytes; i++)
			at += snprintf(at, size - (size_t)(at - copy), "\\x%02x",
			               (unsigned)(unsigned char)text[i]);
		text += step.bytes;
	}
	*at = '\0';
	return copy;
}

/* Bytes of as many characters as fit into so many columns, and what these take. */
static size_t bytes_in(const char *text, size_t columns, size_t *taken)
{
	size_t bytes = 0;

	*taken = 0;
	while (text[bytes]) {
		const struct step step = step_of(text + bytes);
		const size_t wide = step.columns > 0 ? (size_t)step.columns : 0;

		if (*taken + wide > columns)
			break;
		*taken += wide;
		bytes += step.bytes;
	}
	return bytes;
}

size_t gt_columns_of(const char *text)
{
	size_t columns;

	(void)bytes_in(text, SIZE_MAX, &columns);
	return columns;
}

static size_t fitting(const char *text, size_t columns)
{
	size_t taken;

	return bytes_in(text, columns, &taken);
}

/* Where the end of a text begins that takes at most so many columns. */
static size_t end_of(const char *text, size_t columns)
{
	const size_t all = gt_columns_of(text);
	size_t taken = all;
	size_t at = 0;

	while (text[at] && taken > columns) {
		const struct step step = step_of(text + at);

		taken -= step.columns > 0 ? (size_t)step.columns : 0;
		at += step.bytes;
	}
	return at;
}

/* ---- cutting ---- */

/* A text, what is left of it, and where what tells it from others begins. */
struct piece {
	const char *full;
	char *cut;
};

/* The beginning up to head, what begins at middle, and the end from tail on, with dots between. */
static char *join(const char *text, size_t head, size_t middle, size_t middle_bytes, size_t tail)
{
	const size_t size = strlen(text) + 2 * (size_t)DOTS_COLUMNS + 1;
	char *joined = gt_allocate(size);

	snprintf(joined, size, "%.*s" DOTS "%.*s%s%s", (int)head, text, (int)middle_bytes,
	         text + middle, middle_bytes ? DOTS : "", text + tail);
	return joined;
}

/* Kernels of one library begin alike, and end with what tells them apart. */
static char *cut_middle(const char *text, size_t columns)
{
	const size_t kept = columns > DOTS_COLUMNS ? columns - DOTS_COLUMNS : 0;
	const size_t tail = kept / 2;

	return join(text, fitting(text, kept - tail), 0, 0, end_of(text, tail));
}

/* With the place of a byte to be seen: a little of the beginning, then from there on. */
static char *cut_around(const char *text, size_t columns, size_t place)
{
	const size_t dots = 2 * (size_t)DOTS_COLUMNS;
	const size_t kept = columns > dots ? columns - dots : 0;
	const size_t head = fitting(text, kept / 4);
	size_t middle = place;
	size_t window;
	size_t taken;

	for (int i = 0; i < BEFORE && middle > head; i++)
		do
			middle--;
		while (middle > head && (text[middle] & 0xc0) == 0x80);
	if (middle <= head)
		return cut_middle(text, columns);
	window = bytes_in(text + middle, kept / 2, &taken);
	if (gt_columns_of(text + middle) <= columns - DOTS_COLUMNS - kept / 4) /* to its end */
		return join(text, head, 0, 0, middle);
	return join(text, head, middle, window, end_of(text, kept - kept / 4 - taken));
}

/* With a number at its end, where nothing else helps. */
static char *cut_numbered(const char *text, size_t columns, size_t number)
{
	char end[24];
	const size_t length = (size_t)snprintf(end, sizeof(end), "~%zu", number);
	char *cut = cut_middle(text, columns > length ? columns - length : 0);
	const size_t size = strlen(cut) + length + 1;
	char *numbered = gt_allocate(size);

	snprintf(numbered, size, "%s%s", cut, end);
	free(cut);
	return numbered;
}

static int by_full(const void *a, const void *b)
{
	return strcmp(((const struct piece *)a)->full, ((const struct piece *)b)->full);
}

static int by_cut(const void *a, const void *b)
{
	const int order = strcmp(((const struct piece *)a)->cut, ((const struct piece *)b)->cut);

	return order ? order : by_full(a, b);
}

/* How many from this one on were cut alike. */
static size_t alike(const struct piece *pieces, size_t count)
{
	size_t run = 1;

	while (run < count && strcmp(pieces[run].cut, pieces[0].cut) == 0)
		run++;
	return run;
}

/* Cuts those anew that were cut alike. Returns whether there were any. */
static bool tell_apart(struct piece *pieces, size_t count, size_t columns, size_t round)
{
	size_t number = 0;
	size_t run;

	qsort(pieces, count, sizeof(*pieces), by_cut);
	for (size_t i = 0; i < count; i += run) {
		size_t place;

		run = alike(pieces + i, count - i);
		place = gt_common_prefix(pieces[i].full, pieces[i + run - 1].full);
		for (size_t j = i; run > 1 && j < i + run; j++) {
			free(pieces[j].cut);
			pieces[j].cut = round < ROUNDS
			                        ? cut_around(pieces[j].full, columns, place)
			                        : cut_numbered(pieces[j].full, columns, ++number);
		}
		number += run > 1;
	}
	return number > 0;
}

/* The texts that are too wide, each once, by name. */
static size_t collect(struct piece *pieces, char **texts, size_t count, size_t columns)
{
	size_t wide = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (gt_columns_of(texts[i]) > columns)
			pieces[wide++].full = texts[i];
	qsort(pieces, wide, sizeof(*pieces), by_full);
	for (size_t i = 0; i < wide; i++)
		if (i == 0 || strcmp(pieces[i].full, pieces[kept - 1].full) != 0)
			pieces[kept++] = pieces[i];
	return kept;
}

void gt_cut_texts(char **texts, size_t count, size_t columns)
{
	struct piece *pieces = gt_allocate((count + 1) * sizeof(*pieces));
	const size_t wide = collect(pieces, texts, count, columns);
	char **cut = gt_allocate((count + 1) * sizeof(*cut));

	for (size_t i = 0; i < wide; i++)
		pieces[i].cut = cut_middle(pieces[i].full, columns);
	for (size_t round = 0; round <= ROUNDS; round++)
		if (!tell_apart(pieces, wide, columns, round))
			break;
	qsort(pieces, wide, sizeof(*pieces), by_full);
	for (size_t i = 0; i < count; i++) {
		const struct piece wanted = {.full = texts[i]};
		const struct piece *found =
			wide ? bsearch(&wanted, pieces, wide, sizeof(*pieces), by_full) : NULL;

		cut[i] = found ? gt_printable(found->cut) : NULL;
	}
	for (size_t i = 0; i < count; i++) {
		if (!cut[i])
			continue;
		free(texts[i]);
		texts[i] = cut[i];
	}
	for (size_t i = 0; i < wide; i++)
		free(pieces[i].cut);
	free(pieces);
	free(cut);
}

/* ---- wrapping ---- */

/* Where printing stands. */
struct line {
	FILE *out;
	size_t width; /* 0: without end */
	size_t indent;
	size_t column;
};

static void print_break(struct line *line)
{
	fprintf(line->out, "\n%*s", (int)line->indent, "");
	line->column = line->indent;
}

/* A word that is wider than a line goes on in the next. */
static void print_word(struct line *line, const char *word, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		const struct step step = step_of(word + i);
		const size_t wide = step.columns > 0 ? (size_t)step.columns : 0;

		if (line->width && line->column + wide > line->width && line->column > line->indent)
			print_break(line);
		(void)fwrite(word + i, 1, step.bytes, line->out);
		line->column += wide;
		i += step.bytes;
	}
}

/* Columns of a word that ends before the end of its text. */
static size_t columns_of_word(const char *word, size_t bytes)
{
	size_t columns = 0;

	for (size_t i = 0; i < bytes;) {
		const struct step step = step_of(word + i);

		columns += step.columns > 0 ? (size_t)step.columns : 0;
		i += step.bytes;
	}
	return columns;
}

/* "--name" or "--name=value", which people copy: also in brackets or quotes. */
static bool is_option(const char *word)
{
	word += strspn(word, "([\"'");
	return word[0] == '-' && word[1] == '-' && word[2] >= 'a' && word[2] <= 'z';
}

/* An option that the columns of its text have no room for, and the page has: it stands on a line of
 * its own, as far to the right as it can. Not the first word, which would leave its line empty. */
static bool print_option_apart(struct line *line, const char *word, size_t bytes)
{
	const size_t wide = columns_of_word(word, bytes);

	if (!is_option(word) || line->column <= line->indent ||
	    wide <= line->width - line->indent || wide > line->width)
		return false;
	fprintf(line->out, "\n%*s", (int)(line->width - wide), "");
	(void)fwrite(word, 1, bytes, line->out);
	line->column = line->width;
	return true;
}

static void print_next(struct line *line, const char *text, size_t blanks, size_t bytes)
{
	const char *word = text + blanks;
	const size_t wide = blanks + columns_of_word(word, bytes);

	if (line->width > line->indent && print_option_apart(line, word, bytes))
		return;
	if (line->width && line->column > line->indent && line->column + wide > line->width)
		print_break(line);
	else
		print_word(line, text, blanks);
	print_word(line, word, bytes);
}

void gt_print_wrapped(const char *text, size_t width, size_t indent, FILE *out)
{
	struct line line = {.out = out, .width = width, .indent = indent, .column = indent};

	while (*text) {
		const size_t blanks = strspn(text, " ");
		const size_t bytes = strcspn(text + blanks, " ");

		print_next(&line, text, blanks, bytes);
		text += blanks + bytes;
	}
}

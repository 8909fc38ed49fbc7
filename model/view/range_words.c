/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/range_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/ranges/folds.h"

struct gt_range_word *gt_range_word_new(const char *text)
{
	const size_t size = strlen(text) + 1;
	struct gt_range_word *word = gt_allocate(sizeof(*word));

	word->text = gt_allocate(size);
	memcpy(word->text, text, size);
	word->is_regex = regcomp(&word->regex, text, REG_EXTENDED | REG_NOSUB) == 0;
	return word;
}

void gt_range_word_free(struct gt_range_word *word)
{
	if (word->is_regex)
		regfree(&word->regex);
	free(word->text);
	free(word);
}

static bool match_path(const struct gt_range_word *word, const struct gt_ranges *ranges,
                       bool *paths)
{
	char text[GT_RANGE_PATH_BYTES];
	bool found = false;

	for (gt_id i = 0; i < ranges->paths.count; i++) {
		gt_range_path_text(ranges, i, text);
		if (strcmp(text, word->text) == 0)
			found = paths[i] = true;
	}
	return found;
}

static bool match_name(const struct gt_range_word *word, const struct gt_ranges *ranges,
                       bool *paths)
{
	bool *names = gt_allocate((ranges->names.count + 1) * sizeof(*names));
	char text[GT_RANGE_NAME_BYTES];
	bool found = false;

	for (size_t i = 0; i < ranges->names.count; i++) {
		gt_range_name_text(ranges->trace, ranges->names.rows[i], text);
		names[i] = strcmp(text, word->text) == 0 ||
		           strcmp(gt_trace_text(ranges->trace, ranges->names.rows[i].text),
		                  word->text) == 0;
	}
	for (size_t i = 0; i < ranges->paths.count; i++)
		if (names[ranges->paths.rows[i].name])
			found = paths[i] = true;
	gt_array_free(names);
	return found;
}

static bool match_regex(const struct gt_range_word *word, const struct gt_ranges *ranges,
                        bool *paths)
{
	char text[GT_RANGE_PATH_BYTES];
	bool found = false;

	for (gt_id i = 0; word->is_regex && i < ranges->paths.count; i++) {
		gt_range_path_text(ranges, i, text);
		if (regexec(&word->regex, text, 0, NULL, 0) == 0)
			found = paths[i] = true;
	}
	return found;
}

/* A path, else the name, of ranges that reports show as one: "train/step #". */
static bool match_folded(const struct gt_range_word *word, const struct gt_ranges *ranges,
                         bool *paths)
{
	char text[GT_RANGE_PATH_BYTES];
	bool found = false;

	if (!gt_range_word_is_folded(word))
		return false;
	for (gt_id i = 0; i < ranges->paths.count; i++) {
		gt_range_path_text(ranges, i, text);
		if (gt_fold_fits(word->text, text))
			found = paths[i] = true;
	}
	if (found)
		return true;
	for (gt_id i = 0; i < ranges->paths.count; i++) {
		gt_range_name_text(ranges->trace, ranges->names.rows[ranges->paths.rows[i].name],
		                   text);
		if (gt_fold_fits(word->text, text))
			found = paths[i] = true;
	}
	return found;
}

bool gt_range_word_is_folded(const struct gt_range_word *word)
{
	return strchr(word->text, GT_FOLD_SIGN) != NULL;
}

bool gt_range_word_match(const struct gt_range_word *word, const struct gt_ranges *ranges,
                         bool *paths)
{
	return match_path(word, ranges, paths) || match_name(word, ranges, paths) ||
	       match_folded(word, ranges, paths) || match_regex(word, ranges, paths);
}

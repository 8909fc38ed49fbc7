/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/folds.h"

#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"

enum { MOST_FOLDED = 4096 }; /* bytes of a name that are looked at */

static const char digits[] = "0123456789";

const char *const gt_fold_words[] = {"auto", "yes", "no", NULL};

/* Texts that are the same but for numbers. */
struct group {
	gt_string first;
	size_t names;
	size_t ranges;
	uint32_t varies;
};

enum gt_fold gt_fold_of(const char *word)
{
	size_t i = 0;

	while (gt_fold_words[i + 1] && strcmp(gt_fold_words[i], word) != 0)
		i++;
	return (enum gt_fold)i;
}

static bool is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

/* Numbers from the 32nd on have one bit. */
static uint32_t bit_of(unsigned number)
{
	return 1u << (number < 31 ? number : 31);
}

void gt_fold_text(const char *text, uint32_t numbers, char *folded, size_t size)
{
	size_t used = 0;
	unsigned number = 0;

	for (; *text && used + 1 < size; text++) {
		const bool ends = is_digit(*text) && !is_digit(text[1]);

		if (!is_digit(*text) || !(numbers & bit_of(number)))
			folded[used++] = *text;
		else if (ends)
			folded[used++] = GT_FOLD_SIGN;
		number += ends;
	}
	folded[used] = '\0';
}

/* Which numbers of two texts that are the same else are not. */
static uint32_t differences(const char *left, const char *right)
{
	uint32_t found = 0;
	unsigned number = 0;

	while (*left && *right) {
		const size_t length = strspn(left, digits);
		const size_t other = strspn(right, digits);

		if (length > 0) {
			if (length != other || memcmp(left, right, length) != 0)
				found |= bit_of(number);
			number++;
		}
		left += length;
		right += other;
		left += *left != '\0' && length == 0;
		right += *right != '\0' && length == 0;
	}
	return found;
}

bool gt_fold_fits(const char *folded, const char *text)
{
	for (; *folded; folded++) {
		if (*folded == GT_FOLD_SIGN && is_digit(*text))
			text += strspn(text, digits);
		else if (*folded != *text++)
			return false;
	}
	return *text == '\0';
}

static bool is_folded(const struct group *group, enum gt_fold how)
{
	if (how == GT_FOLD_YES)
		return group->names > 1;
	return group->names >= GT_FOLD_MANY && group->ranges < 2 * group->names;
}

/* How many ranges each string is the text of. */
static uint32_t *count_ranges(const struct gt_trace *trace, size_t count)
{
	uint32_t *ranges = gt_allocate_zeroed(count + 1, sizeof(*ranges));

	gt_array_each(const struct gt_range, range, &trace->ranges)
		if (range->text < count)
			ranges[range->text]++;
	return ranges;
}

/* first: which of the likes of it a text is, and 1; 0 where it has no numbers. */
static void find_groups(struct gt_range_folds *folds, const struct gt_trace *trace,
                        struct gt_strings *texts, struct group *groups)
{
	uint32_t *ranges = count_ranges(trace, folds->count);
	char folded[MOST_FOLDED];

	for (size_t i = 1; i < folds->count; i++) {
		const char *text = gt_trace_text(trace, (gt_string)i);
		struct group *group;

		if (ranges[i] == 0 || !text[strcspn(text, digits)])
			continue;
		gt_fold_text(text, GT_FOLD_ALL, folded, sizeof(folded));
		folds->first[i] = gt_strings_add(texts, folded);
		group = &groups[folds->first[i]];
		if (group->names++ == 0)
			group->first = (gt_string)i;
		else
			group->varies |= differences(gt_trace_text(trace, group->first), text);
		group->ranges += ranges[i];
	}
	gt_array_free(ranges);
}

void gt_range_folds_init(struct gt_range_folds *folds, const struct gt_trace *trace,
                         enum gt_fold how)
{
	const size_t count = gt_strings_count(trace->strings);
	struct gt_strings *texts;
	struct group *groups;

	*folds = (struct gt_range_folds){0};
	if (how == GT_FOLD_NO || trace->ranges.count == 0)
		return;
	texts = gt_strings_new();
	groups = gt_allocate_zeroed(count + 1, sizeof(*groups));
	folds->count = count;
	folds->first = gt_allocate_zeroed(count, sizeof(*folds->first));
	folds->varies = gt_allocate(count * sizeof(*folds->varies));
	find_groups(folds, trace, texts, groups);
	for (size_t i = 0; i < count; i++) {
		const struct group *group = &groups[folds->first[i]];

		if (folds->first[i] == 0)
			continue;
		folds->first[i] = is_folded(group, how) ? group->first : 0;
		folds->varies[i] = group->varies;
		folds->names += folds->first[i] != 0;
		folds->into += folds->first[i] == i;
	}
	gt_array_free(groups);
	gt_strings_free(texts);
}

void gt_range_folds_release(struct gt_range_folds *folds)
{
	gt_array_free(folds->first);
	gt_array_free(folds->varies);
	*folds = (struct gt_range_folds){0};
}

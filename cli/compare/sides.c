/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare/sides.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/compare/baseline.h"
#include "cli/recording/recording.h"

char gt_against[] = "against";

static void add(struct gt_sides *sides, const char *path)
{
	gt_words_add(&sides->paths, path, strlen(path));
}

/* A recording, or all of a folder. */
static int add_word(struct gt_sides *sides, const char *word, struct gt_error *err)
{
	char *found = gt_recording_find(word);
	int result = 0;

	if (found)
		add(sides, found);
	else if (gt_is_baseline(word))
		add(sides, word);
	else {
		const size_t before = sides->paths.list.count;

		gt_recording_inside(word, &sides->paths);
		if (sides->paths.list.count == before) {
			result = gt_recording_choose(word, &found, err);
			if (result == 0)
				add(sides, found);
		}
	}
	free(found);
	return result;
}

static bool begins(const char *path, const char *prefix)
{
	const char *name = strrchr(path, '/');

	return strncmp(name ? name + 1 : path, prefix, strlen(prefix)) == 0;
}

/* A folder of gputrace repeat --interleave: the names of the recordings say the side. */
static int read_folder(struct gt_sides *sides, const char *word, struct gt_error *err)
{
	struct gt_words paths = {0};

	gt_recording_inside(word, &paths);
	gt_array_each(char *const, path, &paths.list)
		if (begins(*path, "a-"))
			add(sides, *path);
	sides->a = sides->paths.list.count;
	gt_array_each(char *const, path, &paths.list)
		if (begins(*path, "b-"))
			add(sides, *path);
	gt_words_release(&paths);
	if (sides->a > 0 && sides->paths.list.count > sides->a)
		return 0;
	return gt_fail(err, EINVAL,
	               "compare needs two sides: gputrace compare BEFORE AFTER, or a folder that "
	               "gputrace repeat --interleave made");
}

static int find_against(int count, char **words)
{
	for (int i = 0; i < count; i++)
		if (words[i] == gt_against)
			return i;
	return -1;
}

int gt_sides_read(struct gt_sides *sides, int count, char **words, struct gt_error *err)
{
	const int against = find_against(count, words);
	int result = 0;

	*sides = (struct gt_sides){0};
	if (against < 0 && count == 1)
		return read_folder(sides, words[0], err);
	if (against < 0 && count > 2)
		return gt_fail(err, EINVAL,
		               "which of these are side B? Put --against before the first of them");
	if (count < 2 || against == 0 || against == count - 1)
		return gt_fail(err, EINVAL,
		               "compare needs two sides: gputrace compare BEFORE AFTER, or several "
		               "of each: BEFORE... --against AFTER...");
	for (int i = 0; result == 0 && i < count; i++) {
		if (i == (against < 0 ? 1 : against))
			sides->a = sides->paths.list.count;
		if (i != against)
			result = add_word(sides, words[i], err);
	}
	return result;
}

int gt_sides_read_one(struct gt_sides *sides, int count, char **words, struct gt_error *err)
{
	int result = 0;

	*sides = (struct gt_sides){0};
	for (int i = 0; result == 0 && i < count; i++)
		result = add_word(sides, words[i], err);
	return result;
}

void gt_sides_release(struct gt_sides *sides)
{
	gt_words_release(&sides->paths);
}

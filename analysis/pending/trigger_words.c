/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pending/triggers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"

/* A word of a list: not terminated. */
struct word {
	const char *text;
	int size;
};

static bool is(const struct word *word, const char *text)
{
	return (size_t)word->size == strlen(text) && memcmp(word->text, text, strlen(text)) == 0;
}

/* The rest of a word behind what it begins with; NULL: it does not. */
static const char *behind(const struct word *word, const char *begin)
{
	const size_t size = strlen(begin);

	return (size_t)word->size > size && memcmp(word->text, begin, size) == 0 ? word->text + size
	                                                                         : NULL;
}

static bool read_time(const char *text, int size, gt_time *time)
{
	char copy[64];
	uint64_t ns;

	snprintf(copy, sizeof(copy), "%.*s", size, text);
	if (size >= (int)sizeof(copy) || gt_parse_duration(copy, &ns) < 0 || ns > INT64_MAX)
		return false;
	*time = (gt_time)ns;
	return true;
}

static bool read_number(const char *text, int size, double *number)
{
	char copy[32];
	char *end;

	snprintf(copy, sizeof(copy), "%.*s", size, text);
	*number = strtod(copy, &end);
	return size > 0 && size < (int)sizeof(copy) && !*end && *number > 0 && *number < 1e6;
}

/* RANGE:LIMIT; the name may have colons in it. */
static bool read_slow(struct gt_triggers *triggers, const char *text, int size)
{
	const char *colon = memrchr(text, ':', (size_t)size);
	const int name = colon ? (int)(colon - text) : 0;
	const int rest = size - name - 1;

	if (name < 1 || name >= (int)sizeof(triggers->range))
		return false;
	snprintf(triggers->range, sizeof(triggers->range), "%.*s", name, text);
	return colon[1] == '+' ? read_number(colon + 2, rest - 1, &triggers->deviations)
	                       : read_time(colon + 1, rest, &triggers->limit_ns);
}

static bool read_word(struct gt_triggers *triggers, const struct word *word)
{
	const char *hang = behind(word, "hang=");
	const char *slow = behind(word, "slow=");

	if (hang)
		return read_time(hang, (int)(word->text + word->size - hang), &triggers->hang_ns) &&
		       triggers->hang_ns > 0;
	if (slow)
		return read_slow(triggers, slow, (int)(word->text + word->size - slow));
	triggers->errors |= is(word, "error");
	triggers->memory |= is(word, "memory");
	return is(word, "error") || is(word, "memory");
}

int gt_triggers_parse(struct gt_triggers *triggers, const char *text, struct gt_error *err)
{
	*triggers = (struct gt_triggers){0};
	for (;;) {
		const struct word word = {text, (int)strcspn(text, ",")};

		if (!read_word(triggers, &word))
			return gt_fail(
				err, EINVAL,
				"\"%.*s\" is none of error, memory, hang=TIME, slow=RANGE:TIME "
				"and slow=RANGE:+DEVIATIONS, as slow=step:500ms or slow=step:+6",
				word.size, word.text);
		text += word.size;
		if (!*text++)
			return 0;
	}
}

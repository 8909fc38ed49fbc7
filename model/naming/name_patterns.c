/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/name_patterns.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* One piece of a pattern, up to the next "*", at a place; what it took is *length. */
static bool fits_here(const char *at, const char *piece, size_t size, size_t *length)
{
	const char *from = at;

	for (size_t i = 0; i < size; i++) {
		if (piece[i] == '$') {
			if (*at)
				return false;
		} else if (piece[i] == '#') {
			const size_t digits = strspn(at, "0123456789");

			if (digits == 0)
				return false;
			at += digits;
		} else if (!*at || *at++ != piece[i]) {
			return false;
		}
	}
	*length = (size_t)(at - from);
	return true;
}

/* Each piece is looked for behind the one before it, the first place that fits it will do. */
static bool fits(const char *lower, const char *pattern)
{
	bool anchored = *pattern == '^';

	pattern += anchored;
	for (;;) {
		const size_t size = strcspn(pattern, "*");
		size_t length = 0;

		while (!fits_here(lower, pattern, size, &length))
			if (anchored || !*lower++)
				return false;
		lower += length;
		pattern += size;
		if (!*pattern)
			return true;
		pattern++;
		anchored = false;
	}
}

uint32_t gt_name_match(const struct gt_name_pattern *patterns, size_t count, const char *name,
                       uint32_t otherwise)
{
	char lower[GT_NAME_PATTERN_MOST];
	size_t length = 0;

	for (; length < sizeof(lower) - 1 && name[length]; length++)
		lower[length] = (char)tolower((unsigned char)name[length]);
	lower[length] = '\0';
	for (size_t i = 0; i < count; i++)
		if (fits(lower, patterns[i].pattern))
			return patterns[i].value;
	return otherwise;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/families.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "model/short_name.h"

static const char *const names[] = {
#define FAMILY(name, text) [GT_FAMILY_##name] = (text),
#include "model/families.def"
};

static const struct pattern {
	const char *piece;
	enum gt_family family;
} patterns[] = {
#define PATTERN(family, piece) {piece, GT_FAMILY_##family},
#include "model/families.def"
};

enum gt_family gt_family_of(const char *short_name)
{
	char lower[GT_SHORT_NAME_MOST];
	size_t length = 0;

	for (; length < sizeof(lower) - 1 && short_name[length]; length++)
		lower[length] = (char)tolower((unsigned char)short_name[length]);
	lower[length] = '\0';
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const char *piece = patterns[i].piece;
		const int anchored = *piece == '^';

		if (anchored ? strncmp(lower, piece + 1, strlen(piece) - 1) == 0
		             : strstr(lower, piece) != NULL)
			return patterns[i].family;
	}
	return GT_FAMILY_other;
}

const char *gt_family_name(uint32_t family)
{
	return names[family < GT_FAMILY_COUNT ? family : GT_FAMILY_other];
}

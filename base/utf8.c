/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Whether bytes from the second of a character on are what they must be. */
static bool continues(const unsigned char *at, size_t size)
{
	for (size_t i = 1; i < size; i++)
		if ((at[i] & 0xc0) != 0x80)
			return false;
	return true;
}

size_t gt_utf8_size(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	if (at[0] < 0x80)
		return at[0] != 0;
	if (at[0] >= 0xc2 && at[0] <= 0xdf)
		return continues(at, 2) ? 2 : 0;
	if (at[0] >= 0xe0 && at[0] <= 0xef) {
		if (!continues(at, 3) || (at[0] == 0xe0 && at[1] < 0xa0) ||
		    (at[0] == 0xed && at[1] > 0x9f))
			return 0;
		return 3;
	}
	if (at[0] >= 0xf0 && at[0] <= 0xf4) {
		if (!continues(at, 4) || (at[0] == 0xf0 && at[1] < 0x90) ||
		    (at[0] == 0xf4 && at[1] > 0x8f))
			return 0;
		return 4;
	}
	return 0;
}

bool gt_utf8_misleads(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	switch (at[0]) {
	case 0xc2: /* U+0080 to U+009F */
		return at[1] >= 0x80 && at[1] <= 0x9f;
	case 0xd8: /* U+061C */
		return at[1] == 0x9c;
	case 0xe2: /* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 */
		return (at[1] == 0x80 &&
		        (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae))) ||
		       (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);
	default:
		return (at[0] < ' ' && at[0] != 0) || at[0] == 0x7f;
	}
}

void gt_utf8_copy(char *to, size_t size, const char *text)
{
	size_t used = 0;

	while (gt_utf8_size(text + used) && used + gt_utf8_size(text + used) < size)
		used += gt_utf8_size(text + used);
	memcpy(to, text, used);
	to[used] = '\0';
}

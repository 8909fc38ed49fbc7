/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool is_utf8(const char *bytes, size_t size)
{
	json_t *string = json_stringn(bytes, size);
	const bool valid = string != NULL;

	json_decref(string);
	return valid;
}

/* How many bytes the character at text has, 0 when they are not UTF-8. */
static size_t character_size(const char *text)
{
	const size_t left = strnlen(text, 4);

	for (size_t size = 1; size <= left; size++)
		if (is_utf8(text, size))
			return size;
	return 0;
}

static json_t *repaired(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *copy = gt_allocate(strlen(text) * (sizeof(replacement) - 1) + 1);
	size_t length = 0;
	json_t *string;

	while (*text) {
		const size_t size = character_size(text);
		const size_t added = size ? size : sizeof(replacement) - 1;

		memcpy(copy + length, size ? text : replacement, added);
		length += added;
		text += size ? size : 1;
	}
	string = json_stringn(copy, length);
	free(copy);
	return string;
}

json_t *gt_json_text(const char *text)
{
	json_t *string;

	if (!text)
		return json_null();
	string = json_string(text);
	return string ? string : repaired(text);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"

static json_t *repaired(const char *text)
{
	static const char replacement[] = GT_UTF8_REPLACEMENT;
	char *copy = gt_allocate(strlen(text) * (sizeof(replacement) - 1) + 1);
	size_t length = 0;
	json_t *string;

	while (*text) {
		const size_t size = gt_utf8_size(text);
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

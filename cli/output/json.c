/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/json.h"

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

/* The number of a character of one to three bytes. */
static unsigned code_of(const char *text, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)text;

	if (bytes == 1)
		return at[0];
	if (bytes == 2)
		return (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
	return (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
}

/* Strings alone hold such characters, each in one piece. */
static int write_json(const char *text, size_t size, void *out)
{
	size_t written = 0;

	for (size_t i = 0; i < size; i++) {
		const size_t bytes = gt_utf8_size(text + i);

		if (text[i] == '\n' || bytes > size - i || !gt_utf8_misleads(text + i))
			continue;
		(void)fwrite(text + written, 1, i - written, out);
		fprintf(out, "\\u%04x", code_of(text + i, bytes));
		i += bytes - 1;
		written = i + 1;
	}
	(void)fwrite(text + written, 1, size - written, out);
	return 0;
}

void gt_json_print(const json_t *root, size_t flags, FILE *out)
{
	(void)json_dump_callback(root, write_json, out, flags);
	putc('\n', out);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define HASH_FUNCTION(key, size, hash) (hash) = (unsigned)gt_hash_bytes(key, size, strings)
#define uthash_fatal(msg)              abort()
#include <uthash.h>

struct text {
	UT_hash_handle hh;
	uint32_t id;
	char bytes[];
};

struct gt_strings {
	struct text *by_bytes;
	gt_array(struct text *) by_id;
};

struct gt_strings *gt_strings_new(void)
{
	struct gt_strings *strings = gt_allocate(sizeof(*strings));

	*strings = (struct gt_strings){0};
	gt_strings_add(strings, "");
	return strings;
}

void gt_strings_free(struct gt_strings *strings)
{
	if (!strings)
		return;
	HASH_CLEAR(hh, strings->by_bytes);
	gt_array_each(struct text *, text, &strings->by_id)
		free(*text);
	gt_array_release(&strings->by_id);
	free(strings);
}

uint32_t gt_strings_add_bytes(struct gt_strings *strings, const char *bytes, size_t size)
{
	const size_t length = strnlen(bytes, size);
	struct text *text;

	HASH_FIND(hh, strings->by_bytes, bytes, length, text);
	if (text)
		return text->id;

	text = gt_allocate(sizeof(*text) + length + 1);
	memcpy(text->bytes, bytes, length);
	text->bytes[length] = '\0';
	text->id = (uint32_t)strings->by_id.count;
	*gt_array_push(&strings->by_id) = text;
	HASH_ADD_KEYPTR(hh, strings->by_bytes, text->bytes, length, text);
	return text->id;
}

uint32_t gt_strings_add(struct gt_strings *strings, const char *text)
{
	return gt_strings_add_bytes(strings, text, strlen(text));
}

const char *gt_strings_get(const struct gt_strings *strings, uint32_t id)
{
	return id < strings->by_id.count ? strings->by_id.rows[id]->bytes : "";
}

size_t gt_strings_count(const struct gt_strings *strings)
{
	return strings->by_id.count;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/json/fields.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/array.h"
#include "base/error.h"
#include "base/utf8.h"

int gt_json_refuse(struct gt_json_reading *reading, const char *fmt, ...)
{
	char where[64] = "";
	char what[256];
	va_list list;

	if (reading->result < 0)
		return reading->result;
	if (reading->list)
		snprintf(where, sizeof(where), "%s %zu: ", reading->list, reading->number);
	va_start(list, fmt);
	vsnprintf(what, sizeof(what), fmt, list);
	va_end(list);
	reading->result =
		gt_fail(reading->err, EBADMSG, "%s is damaged: %s%s", reading->file, where, what);
	return reading->result;
}

/* Whether a value is a whole number in the field's range. */
static bool get_number(struct gt_json_reading *reading, const struct gt_json_field *field,
                       const json_t *value, int64_t *number)
{
	*number = json_integer_value(value);
	if (json_is_integer(value) && *number >= field->least && *number <= field->most)
		return true;
	gt_json_refuse(reading, "%s is not a whole number from %lld to %lld", field->key,
	               (long long)field->least, (long long)field->most);
	return false;
}

static void read_number(struct gt_json_reading *reading, const struct gt_json_field *field,
                        const json_t *value, void *to)
{
	int64_t number;
	const uint32_t small = get_number(reading, field, value, &number) ? (uint32_t)number : 0;

	if (reading->result < 0)
		return;
	if (field->type == GT_JSON_U32 || field->type == GT_JSON_I32)
		memcpy(to, &small, sizeof(small));
	else
		memcpy(to, &number, sizeof(number));
}

static void read_triple(struct gt_json_reading *reading, const struct gt_json_field *field,
                        const json_t *value, void *to)
{
	uint32_t values[3];

	if (!json_is_array(value) || json_array_size(value) != 3) {
		gt_json_refuse(reading, "%s is not a list of three numbers", field->key);
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		int64_t number;

		if (!get_number(reading, field, json_array_get(value, i), &number))
			return;
		values[i] = (uint32_t)number;
	}
	memcpy(to, values, sizeof(values));
}

static void read_address(struct gt_json_reading *reading, const struct gt_json_field *field,
                         const json_t *value, void *to)
{
	const char *text = json_string_value(value);
	const size_t digits =
		text && strncmp(text, "0x", 2) == 0 ? strspn(text + 2, "0123456789abcdef") : 0;
	uint64_t address;

	if (digits == 0 || digits > 16 || text[2 + digits]) {
		gt_json_refuse(reading, "%s is not an address, \"0x\" and digits", field->key);
		return;
	}
	address = strtoull(text + 2, NULL, 16);
	memcpy(to, &address, sizeof(address));
}

static void read_word(struct gt_json_reading *reading, const struct gt_json_field *field,
                      const char *text, void *to)
{
	for (uint32_t i = 0; field->words[i]; i++) {
		if (strcmp(field->words[i], text) == 0) {
			memcpy(to, &i, sizeof(i));
			return;
		}
	}
	gt_json_refuse(reading, "%s is \"%.40s\", which is not known here", field->key, text);
}

static void read_text(struct gt_json_reading *reading, const struct gt_json_field *field,
                      const json_t *value, void *to)
{
	const char *text = json_string_value(value);
	char *copy;

	if (!text) {
		gt_json_refuse(reading, "%s is not a text", field->key);
	} else if (field->type == GT_JSON_WORD) {
		read_word(reading, field, text, to);
	} else if (field->type == GT_JSON_CHARS) {
		gt_utf8_copy(to, field->size, text);
	} else {
		copy = gt_allocate(strlen(text) + 1);
		memcpy(copy, text, strlen(text) + 1);
		memcpy(to, &copy, sizeof(copy));
	}
}

static void read_flag(struct gt_json_reading *reading, const struct gt_json_field *field,
                      const json_t *value, void *to)
{
	const bool flag = json_is_true(value);

	if (json_is_boolean(value))
		memcpy(to, &flag, sizeof(flag));
	else
		gt_json_refuse(reading, "%s is neither true nor false", field->key);
}

static void read_field(struct gt_json_reading *reading, const struct gt_json_field *field,
                       const json_t *value, void *to)
{
	switch (field->type) {
	case GT_JSON_U32:
	case GT_JSON_I32:
	case GT_JSON_U64:
	case GT_JSON_I64:
		read_number(reading, field, value, to);
		break;
	case GT_JSON_FLAG:
		read_flag(reading, field, value, to);
		break;
	case GT_JSON_ADDRESS:
		read_address(reading, field, value, to);
		break;
	case GT_JSON_TEXT:
	case GT_JSON_CHARS:
	case GT_JSON_WORD:
		read_text(reading, field, value, to);
		break;
	case GT_JSON_TRIPLE:
		read_triple(reading, field, value, to);
		break;
	}
}

void gt_json_fields(struct gt_json_reading *reading, const struct json_t *object,
                    const struct gt_json_field *fields, size_t count, void *to)
{
	for (size_t i = 0; reading->result == 0 && i < count; i++) {
		const json_t *value = json_object_get(object, fields[i].key);

		if (value)
			read_field(reading, &fields[i], value, (uint8_t *)to + fields[i].offset);
		else if (fields[i].needed)
			gt_json_refuse(reading, "%s is missing", fields[i].key);
	}
}

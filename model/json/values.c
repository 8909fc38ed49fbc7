/* SPDX-License-Identifier: Apache-2.0 */
#include "model/json/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"

void gt_json_get_text(const json_t *object, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(object, key));

	gt_utf8_copy(text, size, value ? value : "");
}

uint32_t gt_json_get_count(const json_t *object, const char *key)
{
	const json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

double gt_json_get_real(const json_t *object, const char *key)
{
	const json_t *number = json_object_get(object, key);
	const double value = json_number_value(number);

	return json_is_number(number) && value >= 0 ? value : NAN;
}

void gt_json_set_text(json_t *object, const char *key, const char *text)
{
	if (*text)
		(void)json_object_set_new(object, key, json_string(text));
}

void gt_json_set_count(json_t *object, const char *key, uint32_t count)
{
	if (count)
		(void)json_object_set_new(object, key, json_integer(count));
}

void gt_json_set_real(json_t *object, const char *key, double value)
{
	if (isfinite(value))
		(void)json_object_set_new(object, key, json_real(value));
}

char *gt_json_file_text(json_t *root)
{
	char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	const size_t size = (text ? strlen(text) : 0) + 2;
	char *copy = gt_allocate(size);

	json_decref(root);
	snprintf(copy, size, "%s\n", text ? text : "");
	free(text);
	return copy;
}

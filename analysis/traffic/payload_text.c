/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/payload_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Behind the string that begins at the quote; the end of the text where it is cut off. */
static const char *skip_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

/* Whether the string that stands next is a key. */
static bool take_string(struct gt_payload_text *text)
{
	const char *begin = text->at;

	text->at = skip_string(begin);
	if (*text->at != ':')
		return false;
	text->key = begin + 1;
	text->key_length = (size_t)(text->at - begin) - 2;
	text->value = ++text->at;
	return true;
}

enum gt_payload_part gt_payload_next(struct gt_payload_text *text)
{
	while (*text->at) {
		if (*text->at == '"') {
			if (take_string(text))
				return GT_PAYLOAD_MEMBER;
			continue;
		}
		switch (*text->at++) {
		case '{':
			return GT_PAYLOAD_OPENS;
		case '}':
			return GT_PAYLOAD_CLOSES;
		default:
			break;
		}
	}
	return GT_PAYLOAD_END;
}

bool gt_payload_is(const struct gt_payload_text *text, const char *key)
{
	return text->key_length == strlen(key) && memcmp(text->key, key, text->key_length) == 0;
}

/* Whether a value is whole: what is cut off in its middle says something else. */
static bool ends_value(char letter)
{
	return letter == '"' || letter == ',' || letter == '}' || letter == ']';
}

bool gt_payload_number(const struct gt_payload_text *text, uint64_t *number)
{
	const char *at = text->value + (*text->value == '"');
	char *end;

	if (*at < '0' || *at > '9')
		return false;
	*number = strtoull(at, &end, 0);
	return ends_value(*end);
}

bool gt_payload_real(const struct gt_payload_text *text, double *real)
{
	char *end;

	if (*text->value < '0' || *text->value > '9')
		return false;
	*real = strtod(text->value, &end);
	return isfinite(*real) && ends_value(*end);
}

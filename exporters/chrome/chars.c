/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/chrome/chars.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static char *reserve(struct gt_chars *chars, size_t size)
{
	const size_t most = chars->text.count + size;

	if (most > chars->text.capacity) {
		chars->text.rows = gt_array_resize(chars->text.rows, 2 * most, 1);
		chars->text.capacity = 2 * most;
	}
	return chars->text.rows + chars->text.count;
}

void gt_chars_add_bytes(struct gt_chars *chars, const char *bytes, size_t size)
{
	memcpy(reserve(chars, size), bytes, size);
	chars->text.count += size;
}

void gt_chars_add(struct gt_chars *chars, const char *text)
{
	gt_chars_add_bytes(chars, text, strlen(text));
}

enum { DIGITS_MAX = 24 };

/* The digits of a number, at least so many, up to end; returns where they begin. */
static char *put_digits(char *end, uint64_t number, int least)
{
	for (; number > 0 || least > 0; number /= 10, least--)
		*--end = (char)('0' + number % 10);
	return end;
}

static void add_signed(struct gt_chars *chars, int64_t number, bool thousandths)
{
	char digits[DIGITS_MAX + 4];
	char *const end = digits + sizeof(digits);
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char *at = end;

	if (thousandths) {
		at = put_digits(at, left % 1000, 3);
		*--at = '.';
		left /= 1000;
	}
	at = put_digits(at, left, 1);
	if (number < 0)
		*--at = '-';
	gt_chars_add_bytes(chars, at, (size_t)(end - at));
}

void gt_chars_add_number(struct gt_chars *chars, int64_t number)
{
	add_signed(chars, number, false);
}

void gt_chars_add_us(struct gt_chars *chars, int64_t time_ns)
{
	add_signed(chars, time_ns, true);
}

void gt_chars_add_real(struct gt_chars *chars, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", value);
	gt_chars_add(chars, isfinite(value) ? text : "null");
}

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* One character that cannot stand as it is, or that must be looked at; returns what follows it. */
static const unsigned char *add_special(struct gt_chars *chars, const unsigned char *at)
{
	size_t size;

	if (*at < 0x80) {
		static const char digits[] = "0123456789abcdef";
		const char escape[] = {'\\', (char)*at};
		const char code[] = {'\\', 'u', '0', '0', digits[*at >> 4], digits[*at & 15]};

		if (*at == '"' || *at == '\\')
			gt_chars_add_bytes(chars, escape, sizeof(escape));
		else
			gt_chars_add_bytes(chars, code, sizeof(code));
		return at + 1;
	}
	size = gt_utf8_size((const char *)at);
	if (size > 0)
		gt_chars_add_bytes(chars, (const char *)at, size);
	else
		gt_chars_add(chars, "\\ufffd");
	return at + (size > 0 ? size : 1);
}

void gt_chars_add_quoted(struct gt_chars *chars, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end =
		at + (chars->room ? gt_text_room_take(chars->room, text) : strlen(text));

	gt_chars_add(chars, "\"");
	while (at < end) {
		const unsigned char *first = at;

		while (at < end && is_plain(*at))
			at++;
		gt_chars_add_bytes(chars, (const char *)first, (size_t)(at - first));
		if (at < end)
			at = add_special(chars, at);
	}
	gt_chars_add(chars, *at ? GT_TEXT_CUT "\"" : "\"");
}

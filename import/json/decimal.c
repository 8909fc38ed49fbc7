/* SPDX-License-Identifier: Apache-2.0 */
#include "import/json/decimal.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_DIGITS = 19, MOST_EXPONENT = 400 };

/* Digits of a number, without leading zeros, as many as count; the rest move the point. */
struct digits {
	uint64_t value;
	int count;
	int point; /* the value is times 10^point */
	int next;  /* first digit that was left out, -1: none was */
};

static void add_digit(struct digits *digits, int digit, bool behind_point)
{
	if (digits->count < MOST_DIGITS) {
		digits->value = digits->value * 10 + (unsigned)digit;
		digits->count += digits->value > 0;
		digits->point -= behind_point;
		return;
	}
	if (digits->next < 0)
		digits->next = digit;
	digits->point += !behind_point;
}

static bool read_exponent(const char *text, struct digits *digits)
{
	char *end;
	long exponent;

	if (*text == '\0')
		return true;
	if (*text != 'e' && *text != 'E')
		return false;
	text++;
	if (!isdigit((unsigned char)*text) &&
	    !((*text == '+' || *text == '-') && isdigit((unsigned char)text[1])))
		return false;
	exponent = strtol(text, &end, 10);
	if (*end || exponent > MOST_EXPONENT || exponent < -MOST_EXPONENT)
		return false;
	digits->point += (int)exponent;
	return true;
}

/* value times 10^point, halves away from 0. */
static bool shift(struct digits *digits, uint64_t *value)
{
	int left_out = digits->next;

	*value = digits->value;
	for (; digits->point < 0 && *value > 0; digits->point++) {
		left_out = (int)(*value % 10);
		*value /= 10;
	}
	if (digits->point < 0)
		left_out = 0;
	if (left_out >= 5)
		++*value;
	for (; digits->point > 0 && *value > 0; digits->point--) {
		if (*value > INT64_MAX / 10)
			return false;
		*value *= 10;
	}
	return *value <= INT64_MAX;
}

bool gt_decimal(const char *text, int scale, int64_t *value)
{
	struct digits digits = {.point = scale, .next = -1};
	const bool negative = *text == '-';
	bool behind_point = false;
	uint64_t result;

	text += negative;
	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text) || (*text == '.' && !behind_point); text++) {
		if (*text == '.')
			behind_point = true;
		else
			add_digit(&digits, *text - '0', behind_point);
	}
	if (!read_exponent(text, &digits) || !shift(&digits, &result))
		return false;
	*value = negative ? -(int64_t)result : (int64_t)result;
	return true;
}

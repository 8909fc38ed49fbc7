/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parse.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Behind the point of a size: what the largest unit times that many digits can hold. */
enum { MOST_DIGITS = 6 };

struct unit {
	const char *name;
	uint64_t factor;
};

/* Reads the digits at the start of text and leaves *rest at what follows them. */
static int parse_digits(const char *text, const char **rest, uint64_t *value)
{
	uint64_t sum = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		const uint64_t digit = (uint64_t)(*text - '0');

		if (sum > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		sum = sum * 10 + digit;
	}
	*rest = text;
	*value = sum;
	return 0;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcasecmp(units->name, name) == 0)
			return units;
	return NULL;
}

int gt_parse_count(const char *text, uint64_t *value)
{
	const char *rest;
	uint64_t number;
	const int result = parse_digits(text, &rest, &number);

	if (result < 0)
		return result;
	if (*rest)
		return -EINVAL;
	*value = number;
	return 0;
}

static const char *skip_digits(const char *text)
{
	while (*text >= '0' && *text <= '9')
		text++;
	return text;
}

/* The digits behind the point of a number whose unit is worth factor: they must come out whole. */
static int parse_fraction(const char *text, const char *end, uint64_t factor, uint64_t *value)
{
	uint64_t sum = 0;

	if (text == end)
		return -EINVAL;
	for (; text != end; text++) {
		if (*text != '0' && factor % 10 != 0)
			return -EINVAL;
		factor /= 10;
		sum += factor * (uint64_t)(*text - '0');
	}
	*value = sum;
	return 0;
}

/* The part of a unit that digits behind the point are, down to a whole one: 1.5M. */
static int parse_part(const char *text, const char *end, uint64_t factor, uint64_t *value)
{
	uint64_t part = 0;
	uint64_t scale = 1;

	if (text == end || end - text > MOST_DIGITS)
		return -EINVAL;
	for (; text != end; text++) {
		part = part * 10 + (uint64_t)(*text - '0');
		scale *= 10;
	}
	if (factor == 1)
		return -EINVAL;
	*value = part * factor / scale;
	return 0;
}

typedef int parse_behind_point(const char *text, const char *end, uint64_t factor, uint64_t *value);

static int parse_with_unit(const char *text, const struct unit *units, parse_behind_point *behind,
                           uint64_t *value)
{
	const struct unit *unit;
	const char *point;
	const char *rest;
	uint64_t whole;
	uint64_t part = 0;
	const int result = parse_digits(text, &point, &whole);

	if (result < 0)
		return result;
	rest = *point == '.' ? skip_digits(point + 1) : point;
	unit = find_unit(units, *rest == ' ' && rest[1] ? rest + 1 : rest);
	if (!unit || (rest != point && behind(point + 1, rest, unit->factor, &part) < 0))
		return -EINVAL;
	if (whole > (UINT64_MAX - part) / unit->factor)
		return -ERANGE;
	*value = whole * unit->factor + part;
	return 0;
}

int gt_parse_size(const char *text, uint64_t *bytes)
{
	static const struct unit units[] = {
		{"", 1},
		{"B", 1},
		{"K", 1 << 10},
		{"KB", 1 << 10},
		{"KiB", 1 << 10},
		{"M", 1 << 20},
		{"MB", 1 << 20},
		{"MiB", 1 << 20},
		{"G", 1 << 30},
		{"GB", 1 << 30},
		{"GiB", 1 << 30},
		{"T", UINT64_C(1) << 40},
		{"TB", UINT64_C(1) << 40},
		{"TiB", UINT64_C(1) << 40},
		{0},
	};

	return parse_with_unit(text, units, parse_part, bytes);
}

int gt_parse_duration(const char *text, uint64_t *ns)
{
	static const struct unit units[] = {
		{"ns", 1},
		{"us", 1000},
		{"\xc2\xb5s", 1000}, /* the micro sign of keyboards, */
		{"\xce\xbcs", 1000}, /* and the Greek letter */
		{"usec", 1000},
		{"ms", 1000000},
		{"msec", 1000000},
		{"s", 1000000000},
		{"sec", 1000000000},
		{"seconds", 1000000000},
		{"min", 60000000000},
		{"minutes", 60000000000},
		{"h", 3600000000000},
		{"hours", 3600000000000},
		{0},
	};

	return parse_with_unit(text, units, parse_fraction, ns);
}

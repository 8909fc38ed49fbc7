/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/parse.h"
#include "cli/command_line/option.h"

/* Expected form of a number's text. */
static const char *describe(enum gt_option_kind kind)
{
	if (kind == GT_OPTION_SIZE)
		return "a size such as 64K or 2M";
	if (kind == GT_OPTION_DURATION)
		return "a duration such as 500us, 20ms or 1s";
	if (kind == GT_OPTION_INTERVAL)
		return "a duration such as 20ms or 1s, or off";
	return "a number";
}

struct scale {
	uint64_t factor;
	const char *unit;
};

/* A limit as one would type it: in the largest unit that leaves no rest. */
static void format_limit(char *text, size_t size, enum gt_option_kind kind, uint64_t value)
{
	static const struct scale sizes[] = {
		{1u << 30, "G"}, {1u << 20, "M"}, {1u << 10, "K"}, {1, ""}};
	static const struct scale durations[] = {{3600000000000, "h"}, {60000000000, "min"},
	                                         {1000000000, "s"},    {1000000, "ms"},
	                                         {1000, "us"},         {1, "ns"}};
	static const struct scale counts[] = {{1, ""}};
	const bool is_time = kind == GT_OPTION_DURATION || kind == GT_OPTION_INTERVAL;
	const struct scale *scale = kind == GT_OPTION_SIZE ? sizes : is_time ? durations : counts;

	while (scale->factor > 1 && (value < scale->factor || value % scale->factor != 0))
		scale++;
	snprintf(text, size, "%" PRIu64 "%s", value / scale->factor, scale->unit);
}

static int out_of_range(const struct gt_option *option, const char *text, const char *what,
                        struct gt_error *err)
{
	char least[32];
	char most[32];

	if (!option->most)
		return gt_fail(err, EINVAL, "--%s: %s is too %s", option->name, text, what);
	format_limit(least, sizeof(least), option->kind, option->least);
	format_limit(most, sizeof(most), option->kind, option->most);
	return gt_fail(err, EINVAL, "--%s: %s is too %s; it can be %s to %s", option->name, text,
	               what, least, most);
}

static int store_number(const struct gt_option *option, const char *text, uint64_t *field,
                        struct gt_error *err)
{
	uint64_t value = 0;
	int result;

	if (option->kind == GT_OPTION_SIZE)
		result = gt_parse_size(text, &value);
	else if (option->kind == GT_OPTION_DURATION || option->kind == GT_OPTION_INTERVAL)
		result = gt_parse_duration(text, &value);
	else
		result = gt_parse_count(text, &value);

	if (result == -EINVAL)
		return gt_fail(err, EINVAL, "--%s needs %s, not '%s'", option->name,
		               describe(option->kind), text);
	if (result == -ERANGE || (option->most && value > option->most))
		return out_of_range(option, text, "large", err);
	if (value < option->least)
		return out_of_range(option, text, "small", err);
	*field = value;
	return 0;
}

static int store_choice(const struct gt_option *option, const char *text, const char **field,
                        struct gt_error *err)
{
	const char *nearest;
	char all[256];

	for (const char *const *choice = option->choices; *choice; choice++) {
		if (strcmp(*choice, text) == 0) {
			*field = *choice;
			return 0;
		}
	}
	nearest = gt_nearest(text, option->choices);
	if (nearest)
		return gt_fail(err, EINVAL, "--%s does not know '%s'; did you mean %s?",
		               option->name, text, nearest);
	gt_alternatives(option->choices, all, sizeof(all));
	return gt_fail(err, EINVAL, "--%s does not know '%s'; it can be %s", option->name, text,
	               all);
}

/* Reads COLUMN[:asc|:desc], length bytes long. */
static int store_sort_key(const struct gt_option *option, const char *text, size_t length,
                          struct gt_sort_key *key, struct gt_error *err)
{
	const char *colon = memchr(text, ':', length);
	const size_t name_length = colon ? (size_t)(colon - text) : length;
	const size_t order_length = length - name_length;

	*key = (struct gt_sort_key){0};
	if (name_length == 0 || name_length >= sizeof(key->column))
		return gt_fail(err, EINVAL, "--%s needs names of columns, not '%.*s'", option->name,
		               (int)length, text);
	memcpy(key->column, text, name_length);
	if (order_length == 0)
		return 0;
	if (order_length == strlen(":asc") && memcmp(colon, ":asc", order_length) == 0)
		key->order = GT_SORT_ASCENDING;
	else if (order_length == strlen(":desc") && memcmp(colon, ":desc", order_length) == 0)
		key->order = GT_SORT_DESCENDING;
	else
		return gt_fail(err, EINVAL, "--%s knows :asc and :desc, not '%.*s'", option->name,
		               (int)order_length, colon);
	return 0;
}

static int store_sort(const struct gt_option *option, const char *text, struct gt_sort *field,
                      struct gt_error *err)
{
	struct gt_sort sort = {0};

	for (;;) {
		const size_t length = strcspn(text, ",");
		int result;

		if (sort.count == sizeof(sort.keys) / sizeof(sort.keys[0]))
			return gt_fail(err, EINVAL, "--%s takes at most %zu columns", option->name,
			               sort.count);
		result = store_sort_key(option, text, length, &sort.keys[sort.count], err);
		if (result < 0)
			return result;
		sort.count++;
		if (!text[length])
			break;
		text += length + 1;
	}
	*field = sort;
	return 0;
}

static int store_in_list(const struct gt_option *option, const char *text,
                         struct gt_option_list *field, struct gt_error *err)
{
	const size_t most = sizeof(field->texts) / sizeof(field->texts[0]);

	if (option->choices && store_choice(option, text, &text, err) < 0)
		return -EINVAL;
	if (field->count == most)
		return gt_fail(err, EINVAL, "--%s can be given %zu times at most", option->name,
		               most);
	field->texts[field->count++] = text;
	return 0;
}

int gt_option_store(const struct gt_option *option, const char *text, void *args,
                    struct gt_error *err)
{
	void *field = (char *)args + option->offset;

	switch (option->kind) {
	case GT_OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case GT_OPTION_TEXT:
	case GT_OPTION_MAYBE:
		*(const char **)field = text ? text : "";
		return 0;
	case GT_OPTION_COUNT:
	case GT_OPTION_SIZE:
	case GT_OPTION_DURATION:
		return store_number(option, text, field, err);
	case GT_OPTION_INTERVAL:
		if (strcmp(text, "off") != 0)
			return store_number(option, text, field, err);
		*(uint64_t *)field = GT_OPTION_OFF;
		return 0;
	case GT_OPTION_CHOICE:
		return store_choice(option, text, field, err);
	case GT_OPTION_SORT:
		return store_sort(option, text, field, err);
	case GT_OPTION_LIST:
		return store_in_list(option, text, field, err);
	}
	return -EINVAL;
}

int gt_option_store_flag(const struct gt_option *option, const char *text, void *args,
                         struct gt_error *err)
{
	static const char *const words[] = {"false", "no", "off", "0", "true", "yes", "on", "1"};
	const size_t count = sizeof(words) / sizeof(words[0]);

	for (size_t i = 0; option != &gt_help_option && i < count; i++) {
		if (strcmp(words[i], text) != 0)
			continue;
		*(bool *)((char *)args + option->offset) = i >= count / 2;
		return 0;
	}
	return gt_fail(err, EINVAL, "--%s takes no value", option->name);
}

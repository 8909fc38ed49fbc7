/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"
#include "model/view/range_words.h"

static const char *const names[GT_FILTER_PARTS] = {
	[GT_FILTER_FROM] = "--from",       [GT_FILTER_TO] = "--to",
	[GT_FILTER_PROCESS] = "--process", [GT_FILTER_DEVICE] = "--device",
	[GT_FILTER_STREAM] = "--stream",   [GT_FILTER_KERNEL] = "--kernel",
	[GT_FILTER_RANGE] = "--range",     [GT_FILTER_SKIP] = "--skip",
	[GT_FILTER_TAKE] = "--take",       [GT_FILTER_INSTANCE] = "--instance",
};

void gt_filter_init(struct gt_filter *filter)
{
	*filter = (struct gt_filter){0};
}

static void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
}

void gt_filter_release(struct gt_filter *filter)
{
	free_texts(filter->processes.rows, filter->processes.count);
	free_texts(filter->devices.rows, filter->devices.count);
	gt_array_each(struct gt_pattern *, pattern, &filter->kernels) {
		regfree(&(*pattern)->regex);
		free((*pattern)->text);
		free(*pattern);
	}
	gt_array_each(struct gt_range_word *, word, &filter->ranges)
		gt_range_word_free(*word);
	gt_array_release(&filter->ranges);
	gt_array_release(&filter->processes);
	gt_array_release(&filter->devices);
	gt_array_release(&filter->streams);
	gt_array_release(&filter->kernels);
	free(filter->text);
	filter->text = NULL;
}

static char *copy(const char *text, size_t length)
{
	char *copied = gt_allocate(length + 1);

	memcpy(copied, text, length);
	copied[length] = '\0';
	return copied;
}

static void describe_by_name(struct gt_filter *filter, const char *name, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-.,:/+=@%";
	const char *before = filter->text ? filter->text : "";
	const bool quoted = !*value || value[strspn(value, plain)];
	const char *quote = quoted ? "'" : "";
	const size_t size = strlen(before) + strlen(name) + strlen(value) + 5;
	char *text = gt_allocate(size);

	snprintf(text, size, "%s%s%s %s%s%s", before, *before ? " " : "", name, quote, value,
	         quote);
	free(filter->text);
	filter->text = text;
}

/* Adds "--name value" to the text, in quotes where a shell would want them. */
static void describe(struct gt_filter *filter, enum gt_filter_part part, const char *value)
{
	describe_by_name(filter, names[part], value);
}

void gt_filter_own_threads(struct gt_filter *filter)
{
	filter->own_threads = true;
	if (filter->text)
		describe_by_name(filter, "--set", "threads=own");
}

static int read_time(struct gt_filter_time *time, enum gt_filter_part part, const char *value,
                     struct gt_error *err)
{
	struct gt_filter_time read = {.given = true, .before_end = value[0] == '-'};
	const char *duration = value + read.before_end;

	/* None of any unit is as long. */
	if (strcmp(duration, "0") != 0 && gt_parse_duration(duration, &read.ns) < 0)
		return gt_fail(err, EINVAL,
		               "%s needs a time such as 2s, 3.5ms or, before the end, -500ms, "
		               "not '%s'",
		               names[part], value);
	*time = read;
	return 0;
}

static int add_word(struct gt_filter *filter, enum gt_filter_part part, const char *word,
                    size_t length, struct gt_error *err)
{
	char *text = copy(word, length);
	uint64_t number;

	if (part == GT_FILTER_PROCESS) {
		*gt_array_push(&filter->processes) = text;
		return 0;
	}
	if (part == GT_FILTER_DEVICE) {
		*gt_array_push(&filter->devices) = text;
		return 0;
	}
	if (gt_parse_count(text, &number) < 0 || number > UINT32_MAX) {
		gt_fail(err, EINVAL, "%s needs numbers of streams, not '%s'", names[part], text);
		free(text);
		return -EINVAL;
	}
	*gt_array_push(&filter->streams) = (gt_count)number;
	free(text);
	return 0;
}

static int add_words(struct gt_filter *filter, enum gt_filter_part part, const char *value,
                     struct gt_error *err)
{
	for (;;) {
		const size_t length = strcspn(value, ",");
		int result;

		if (length == 0)
			return gt_fail(err, EINVAL, "%s names nothing", names[part]);
		result = add_word(filter, part, value, length, err);
		if (result < 0)
			return result;
		if (!value[length])
			return 0;
		value += length + 1;
	}
}

static int add_pattern(struct gt_filter *filter, const char *value, struct gt_error *err)
{
	struct gt_pattern *pattern = gt_allocate(sizeof(*pattern));
	const int failed = regcomp(&pattern->regex, value, REG_EXTENDED | REG_NOSUB);

	if (failed) {
		char why[128];

		regerror(failed, &pattern->regex, why, sizeof(why));
		free(pattern);
		return gt_fail(err, EINVAL, "--kernel '%s' is no regular expression: %s", value,
		               why);
	}
	pattern->text = copy(value, strlen(value));
	*gt_array_push(&filter->kernels) = pattern;
	return 0;
}

static int add_range(struct gt_filter *filter, const char *value, struct gt_error *err)
{
	if (!*value)
		return gt_fail(err, EINVAL, "%s names nothing", names[GT_FILTER_RANGE]);
	*gt_array_push(&filter->ranges) = gt_range_word_new(value);
	return 0;
}

/* Not less than least. */
static int read_ranges(uint64_t *count, uint64_t least, enum gt_filter_part part, const char *value,
                       struct gt_error *err)
{
	if (gt_parse_count(value, count) < 0 || *count < least)
		return gt_fail(err, EINVAL, "%s needs %s, not '%s'", names[part],
		               part == GT_FILTER_INSTANCE ? "the number of a range, from 1"
		               : least                    ? "a number of ranges, 1 or more"
		                                          : "a number of ranges",
		               value);
	return 0;
}

int gt_filter_add(struct gt_filter *filter, enum gt_filter_part part, const char *value,
                  struct gt_error *err)
{
	int result = -EINVAL;

	switch (part) {
	case GT_FILTER_FROM:
		result = read_time(&filter->from, part, value, err);
		break;
	case GT_FILTER_TO:
		result = read_time(&filter->to, part, value, err);
		break;
	case GT_FILTER_PROCESS:
	case GT_FILTER_DEVICE:
	case GT_FILTER_STREAM:
		result = add_words(filter, part, value, err);
		break;
	case GT_FILTER_KERNEL:
		result = add_pattern(filter, value, err);
		break;
	case GT_FILTER_RANGE:
		result = add_range(filter, value, err);
		break;
	case GT_FILTER_SKIP:
		result = read_ranges(&filter->skip, 0, part, value, err);
		break;
	case GT_FILTER_TAKE:
		result = read_ranges(&filter->take, 1, part, value, err);
		break;
	case GT_FILTER_INSTANCE:
		result = read_ranges(&filter->instance, 1, part, value, err);
		break;
	case GT_FILTER_PARTS:
		break;
	}
	if (result == 0)
		describe(filter, part, value);
	return result;
}

int gt_filter_sound(const struct gt_filter *filter, struct gt_error *err)
{
	if (filter->instance > 0 && (filter->skip > 0 || filter->take > 0))
		return gt_fail(err, EINVAL,
		               "--instance chooses one range: leave --skip and --take out");
	if (filter->ranges.count > 0)
		return 0;
	if (filter->instance > 0)
		return gt_fail(err, EINVAL,
		               "--instance chooses one of the ranges that --range names: add "
		               "--range");
	if (filter->skip > 0)
		return gt_fail(err, EINVAL,
		               "--skip leaves out the first of the ranges that --range names: add "
		               "--range");
	if (filter->take > 0)
		return gt_fail(err, EINVAL,
		               "--take chooses the first of the ranges that --range names: add "
		               "--range");
	return 0;
}

gt_time gt_filter_moment(const struct gt_filter_time *time, const struct gt_trace *trace)
{
	/* Times are never negative and far from the largest: neither sum leaves 64 bits. */
	const gt_time far = INT64_MAX / 2;
	const gt_time distance = time->ns < (uint64_t)far ? (gt_time)time->ns : far;

	return time->before_end ? trace->end_ns - distance : trace->start_ns + distance;
}

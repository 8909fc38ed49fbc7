/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"
#include "replay/tune/tune.h"

/* Larger values are nonsense on any GPU; what a GPU or a function refuses is found later. */
enum {
	MOST_THREADS = 1024,
	MOST_CLUSTER = 16,
	MOST_SHARED = 1 << 20,
	LEAST_REGISTERS = 16,
	MOST_REGISTERS = 255,
};

static const char *const names[GT_TUNE_WORD_COUNT] = {
#define WORD(name, field, help) name,
	GT_TUNE_WORDS(WORD)
#undef WORD
};

static const char *const helps[GT_TUNE_WORD_COUNT] = {
#define WORD(name, field, help) help,
	GT_TUNE_WORDS(WORD)
#undef WORD
};

/* One number; false: the word cannot be that. */
static bool set_number(struct gt_variant *variant, enum gt_tune_word word, uint64_t number)
{
	switch (word) {
	case GT_TUNE_block:
		variant->block[0] = (uint32_t)number;
		variant->block[1] = variant->block[2] = 1;
		return number > 0 && number <= MOST_THREADS;
	case GT_TUNE_cluster:
		variant->cluster[0] = (uint32_t)number;
		variant->cluster[1] = variant->cluster[2] = 1;
		return number > 0 && number <= MOST_CLUSTER;
	case GT_TUNE_shared_bytes:
		variant->shared_bytes = (int64_t)number;
		return number <= MOST_SHARED;
	case GT_TUNE_carveout:
		variant->carveout = (int32_t)number;
		return number <= 100;
	case GT_TUNE_max_registers:
		variant->max_registers = (uint32_t)number;
		return number >= LEAST_REGISTERS && number <= MOST_REGISTERS;
	case GT_TUNE_module:
	case GT_TUNE_WORD_COUNT:
		break;
	}
	return false;
}

static bool parse_number(enum gt_tune_word word, const char *text, uint64_t *number)
{
	return word == GT_TUNE_shared_bytes ? gt_parse_size(text, number) == 0
	                                    : gt_parse_count(text, number) == 0;
}

/* 16x16 or 8x8x4, none of them 0. The text is cut up. */
static bool parse_extent(char *text, uint32_t extent[3], uint64_t most)
{
	uint64_t product = 1;
	int axis = 0;

	extent[0] = extent[1] = extent[2] = 1;
	for (char *next = text; next; axis++) {
		char *part = strsep(&next, "x");
		uint64_t value;

		if (axis == 3 || gt_parse_count(part, &value) < 0 || value == 0 || value > most)
			return false;
		extent[axis] = (uint32_t)value;
		product *= value;
	}
	return product <= most;
}

/* One value that is no range. The text is cut up, but lives on as a file's name. */
static bool parse_value(struct gt_variant *variant, enum gt_tune_word word, char *text)
{
	uint64_t number;

	if (word == GT_TUNE_module) {
		variant->module = text;
		return *text != '\0';
	}
	if (word == GT_TUNE_carveout && strcmp(text, "default") == 0) {
		variant->carveout = GT_CARVEOUT_DEFAULT;
		return true;
	}
	if (word == GT_TUNE_block && strchr(text, 'x'))
		return parse_extent(text, variant->block, MOST_THREADS);
	if (word == GT_TUNE_cluster && strchr(text, 'x'))
		return parse_extent(text, variant->cluster, MOST_CLUSTER);
	return parse_number(word, text, &number) && set_number(variant, word, number);
}

static bool same(const struct gt_variant *there, const struct gt_variant *value)
{
	return memcmp(there->block, value->block, sizeof(there->block)) == 0 &&
	       memcmp(there->cluster, value->cluster, sizeof(there->cluster)) == 0 &&
	       there->shared_bytes == value->shared_bytes && there->carveout == value->carveout &&
	       there->max_registers == value->max_registers &&
	       (there->module == value->module ||
	        (there->module && value->module && strcmp(there->module, value->module) == 0));
}

static int add_value(struct gt_tune_axis *axis, const struct gt_variant *value,
                     struct gt_error *err)
{
	gt_array_each(const struct gt_variant, there, &axis->values)
		if (same(there, value))
			return 0;
	if (axis->values.count == GT_TUNE_MOST_VALUES)
		return gt_fail(err, EINVAL, "%s has more than %d values", names[axis->word],
		               GT_TUNE_MOST_VALUES);
	*gt_array_push(&axis->values) = *value;
	return 0;
}

/* FIRST..LAST/STEP or FIRST..LAST*FACTOR. */
struct range {
	uint64_t first;
	uint64_t last;
	uint64_t by;
	bool factor;
};

/* The text is cut up. */
static bool parse_range(struct range *range, enum gt_tune_word word, char *first, char *last)
{
	char *by = strpbrk(last, "/*");

	if (!by)
		return false;
	range->factor = *by == '*';
	*by++ = '\0';
	if (!parse_number(word, first, &range->first) || !parse_number(word, last, &range->last))
		return false;
	if (range->factor)
		return gt_parse_count(by, &range->by) == 0 && range->by >= 2 && range->first > 0;
	return parse_number(word, by, &range->by) && range->by > 0;
}

static int add_range(struct gt_tune_axis *axis, const struct range *range, const char *text,
                     struct gt_error *err)
{
	uint64_t number = range->first;
	int result = 0;

	while (result == 0 && number <= range->last) {
		struct gt_variant value = gt_variant_recorded();

		if (!set_number(&value, axis->word, number))
			return gt_fail(err, EINVAL, "%s takes %s: '%s' has %llu", names[axis->word],
			               helps[axis->word], text, (unsigned long long)number);
		result = add_value(axis, &value, err);
		number = range->factor ? number * range->by : number + range->by;
	}
	return result;
}

static int refuse_value(const struct gt_tune_axis *axis, const char *text, struct gt_error *err)
{
	return gt_fail(err, EINVAL, "%s takes %s, or a range as 64..1024*2 or 0..100/25, not '%s'",
	               names[axis->word], helps[axis->word], text);
}

static int read_value(struct gt_tune_axis *axis, char *text, struct gt_error *err)
{
	struct gt_variant value = gt_variant_recorded();
	char *dots = axis->word == GT_TUNE_module ? NULL : strstr(text, "..");
	char shown[64];
	struct range range;

	snprintf(shown, sizeof(shown), "%s", text);
	if (!dots)
		return parse_value(&value, axis->word, text) ? add_value(axis, &value, err)
		                                             : refuse_value(axis, shown, err);
	*dots = '\0';
	if (!parse_range(&range, axis->word, text, dots + 2))
		return refuse_value(axis, shown, err);
	if (range.first > range.last)
		return gt_fail(err, EINVAL, "%s: '%s' has no value", names[axis->word], shown);
	return add_range(axis, &range, shown, err);
}

static int find_word(const char *name, enum gt_tune_word *word, struct gt_error *err)
{
	for (unsigned i = 0; i < GT_TUNE_WORD_COUNT; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*word = (enum gt_tune_word)i;
		return 0;
	}
	return gt_fail(err, EINVAL,
	               "'%s' cannot be tuned: block, cluster, shared, carveout, max-registers and "
	               "module can",
	               name);
}

/* NAME=VALUE,VALUE: cut up. */
static int read_axis(struct gt_tune_space *space, char *text, struct gt_error *err)
{
	struct gt_tune_axis *axis = &space->axes[space->axis_count];
	char *values = strchr(text, '=');
	enum gt_tune_word word;
	int result;

	if (!values)
		return gt_fail(err, EINVAL, "'%s' is not as block=64,128,256", text);
	*values++ = '\0';
	result = find_word(text, &word, err);
	if (result < 0)
		return result;
	for (size_t i = 0; i < space->axis_count; i++)
		if (space->axes[i].word == word)
			return gt_fail(err, EINVAL, "%s is named twice", text);
	*axis = (struct gt_tune_axis){.word = word};
	space->axis_count++;
	for (char *next = values; next && result == 0;)
		result = read_value(axis, strsep(&next, ","), err);
	return result;
}

static int read_axes(struct gt_tune_space *space, char *text, struct gt_error *err)
{
	char *rest = NULL;
	int result = 0;

	for (char *word = strtok_r(text, "; \t\n", &rest); word && result == 0;
	     word = strtok_r(NULL, "; \t\n", &rest))
		result = read_axis(space, word, err);
	if (result == 0 && !space->axis_count)
		result = gt_fail(err, EINVAL, "there is nothing to tune: name it as block=64,128");
	if (result == 0 && gt_tune_count(space) > GT_TUNE_MOST)
		result =
			gt_fail(err, EINVAL, "these are more than %d configurations", GT_TUNE_MOST);
	return result;
}

int gt_tune_space_parse(struct gt_tune_space *space, const char *text, struct gt_error *err)
{
	const size_t size = strlen(text) + 1;
	char *copy = gt_allocate(size);
	int result;

	memcpy(copy, text, size);
	*space = (struct gt_tune_space){.text = copy};
	result = read_axes(space, copy, err);
	if (result < 0)
		gt_tune_space_release(space);
	return result;
}

void gt_tune_space_release(struct gt_tune_space *space)
{
	for (size_t i = 0; i < space->axis_count; i++)
		gt_array_release(&space->axes[i].values);
	free(space->text);
	*space = (struct gt_tune_space){0};
}

size_t gt_tune_count(const struct gt_tune_space *space)
{
	size_t count = space->axis_count ? 1 : 0;

	for (size_t i = 0; i < space->axis_count; i++) {
		count *= space->axes[i].values.count;
		if (count > GT_TUNE_MOST)
			return count;
	}
	return count;
}

void gt_tune_set(struct gt_variant *variant, const struct gt_tune_axis *axis, size_t number)
{
	const struct gt_variant *value = &axis->values.rows[number];

	switch (axis->word) {
	case GT_TUNE_block:
		memcpy(variant->block, value->block, sizeof(variant->block));
		break;
	case GT_TUNE_cluster:
		memcpy(variant->cluster, value->cluster, sizeof(variant->cluster));
		break;
	case GT_TUNE_shared_bytes:
		variant->shared_bytes = value->shared_bytes;
		break;
	case GT_TUNE_carveout:
		variant->carveout = value->carveout;
		break;
	case GT_TUNE_max_registers:
		variant->max_registers = value->max_registers;
		break;
	case GT_TUNE_module:
		variant->module = value->module;
		break;
	case GT_TUNE_WORD_COUNT:
		break;
	}
}

struct gt_variant gt_tune_configuration(const struct gt_tune_space *space, size_t number)
{
	struct gt_variant variant = gt_variant_recorded();

	for (size_t i = space->axis_count; i-- > 0;) {
		const struct gt_tune_axis *axis = &space->axes[i];

		gt_tune_set(&variant, axis, number % axis->values.count);
		number /= axis->values.count;
	}
	return variant;
}

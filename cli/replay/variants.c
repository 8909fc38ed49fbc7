/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/variants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"
#include "base/path.h"
#include "cli/replay/outcome.h"

enum { MOST_THREADS = 1024, MOST_CLUSTER = 16, MOST_SHARED = 1 << 20 };
enum { LEAST_REGISTERS = 16, MOST_REGISTERS = 255 };
enum { CARVEOUT_AS_RECORDED = -2, CARVEOUT_DEFAULT = -1 };

static const char *const names[GT_VARIANT_WORD_COUNT] = {
#define WORD(name, field, help) [GT_VARIANT_##field] = name,
	GT_VARIANT_WORDS(WORD)
#undef WORD
};

static const char *const helps[GT_VARIANT_WORD_COUNT] = {
#define WORD(name, field, help) [GT_VARIANT_##field] = help,
	GT_VARIANT_WORDS(WORD)
#undef WORD
};

struct gt_variant gt_variant_none(void)
{
	return (struct gt_variant){.shared_bytes = -1, .carveout = CARVEOUT_AS_RECORDED};
}

void gt_variants_init(struct gt_variants *variants)
{
	*variants = (struct gt_variants){0};
	*gt_array_push(&variants->list) =
		(struct gt_variant_row){gt_variant_none(), GT_OUTCOME_AS_RECORDED, false};
}

void gt_variants_release(struct gt_variants *variants)
{
	gt_array_each(char *, text, &variants->texts)
		free(*text);
	gt_array_release(&variants->texts);
	gt_array_release(&variants->list);
}

/* 256, 16x16 or 8x8x4, none of them 0, and no more in all than most. */
static bool read_extent(const char *text, uint32_t extent[3], uint64_t most)
{
	uint64_t product = 1;
	unsigned axis = 0;

	extent[0] = extent[1] = extent[2] = 1;
	for (const char *at = text; at && axis < 3; axis++) {
		const char *end = strchr(at, 'x');
		char digits[16];
		uint64_t value;

		snprintf(digits, sizeof(digits), "%.*s", end ? (int)(end - at) : 15, at);
		if (gt_parse_count(digits, &value) < 0 || value == 0 || value > most)
			return false;
		extent[axis] = (uint32_t)value;
		product *= value;
		at = end ? end + 1 : NULL;
		if (at && axis == 2)
			return false;
	}
	return product <= most;
}

static bool read_carveout(const char *text, int32_t *carveout)
{
	uint64_t percent;

	if (strcmp(text, "default") == 0) {
		*carveout = CARVEOUT_DEFAULT;
		return true;
	}
	if (gt_parse_count(text, &percent) < 0 || percent > 100)
		return false;
	*carveout = (int32_t)percent;
	return true;
}

/* Sets what the word says; false: that is no value of it. */
static bool set(struct gt_variant *variant, enum gt_variant_word word, const char *text)
{
	uint64_t value = 0;

	switch (word) {
	case GT_VARIANT_block:
		return read_extent(text, variant->block, MOST_THREADS);
	case GT_VARIANT_cluster:
		return read_extent(text, variant->cluster, MOST_CLUSTER);
	case GT_VARIANT_shared:
		if (gt_parse_size(text, &value) < 0 || value > MOST_SHARED)
			return false;
		variant->shared_bytes = (int64_t)value;
		return true;
	case GT_VARIANT_carveout:
		return read_carveout(text, &variant->carveout);
	case GT_VARIANT_max_registers:
		if (gt_parse_count(text, &value) < 0 || value < LEAST_REGISTERS ||
		    value > MOST_REGISTERS)
			return false;
		variant->max_registers = (uint32_t)value;
		return true;
	case GT_VARIANT_module:
		variant->module = text;
		return *text != '\0';
	case GT_VARIANT_WORD_COUNT:
		break;
	}
	return false;
}

/* What is tried of one word. */
struct axis {
	enum gt_variant_word word;
	gt_array(const char *) values;
};

struct axes {
	struct axis list[GT_VARIANT_WORD_COUNT];
	size_t count;
};

static void release_axes(struct axes *axes)
{
	for (size_t i = 0; i < axes->count; i++)
		gt_array_release(&axes->list[i].values);
}

/* Adds a value, which must outlive the variants. */
static int add_value(struct axis *axis, const char *value, struct gt_error *err)
{
	struct gt_variant ignored = gt_variant_none();

	if (!set(&ignored, axis->word, value))
		return gt_fail(err, EINVAL, "%s takes %s, and not '%s'", names[axis->word],
		               helps[axis->word], value);
	*gt_array_push(&axis->values) = value;
	return 0;
}

static void add_one(struct gt_variants *variants, const struct axes *axes, size_t number,
                    bool tuned)
{
	struct gt_variant_row row = {.variant = gt_variant_none(), .tuned = tuned};
	size_t used = 0;

	for (size_t i = 0; i < axes->count; i++) {
		const struct axis *axis = &axes->list[i];
		const char *value = axis->values.rows[number % axis->values.count];
		const char *shown = axis->word == GT_VARIANT_module ? gt_path_name(value) : value;

		number /= axis->values.count;
		(void)set(&row.variant, axis->word, value);
		if (used < sizeof(row.text))
			used += (size_t)snprintf(row.text + used, sizeof(row.text) - used,
			                         "%s%s=%s", used ? " " : "", names[axis->word],
			                         shown);
	}
	*gt_array_push(&variants->list) = row;
}

static int add_all(struct gt_variants *variants, const struct axes *axes, bool tuned,
                   struct gt_error *err)
{
	size_t count = axes->count > 0;

	for (size_t i = 0; i < axes->count; i++) {
		count *= axes->list[i].values.count;
		if (variants->list.count + count > GT_VARIANTS_MOST)
			return gt_fail(err, EINVAL,
			               "these are more than the %d variants that are tried at once",
			               GT_VARIANTS_MOST);
	}
	for (size_t i = 0; i < count; i++)
		add_one(variants, axes, i, tuned);
	return 0;
}

int gt_variants_add(struct gt_variants *variants,
                    const struct gt_option_list lists[GT_VARIANT_WORD_COUNT], struct gt_error *err)
{
	struct axes axes = {.count = 0};
	int result = 0;

	for (unsigned word = 0; result == 0 && word < GT_VARIANT_WORD_COUNT; word++) {
		struct axis *axis = &axes.list[axes.count];

		if (lists[word].count == 0)
			continue;
		axes.count++;
		axis->word = (enum gt_variant_word)word;
		for (size_t i = 0; result == 0 && i < lists[word].count; i++)
			result = add_value(axis, lists[word].texts[i], err);
	}
	if (result == 0)
		result = add_all(variants, &axes, false, err);
	release_axes(&axes);
	return result;
}

static int find_word(const char *name, enum gt_variant_word *word, struct gt_error *err)
{
	for (unsigned i = 0; i < GT_VARIANT_WORD_COUNT; i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*word = (enum gt_variant_word)i;
		return 0;
	}
	return gt_fail(err, EINVAL,
	               "--tune cannot change '%s': it takes block, cluster, shared, carveout, "
	               "max-registers and module, as in \"block=128,256 shared=0,16K\"",
	               name);
}

/* One NAME=VALUE,VALUE, which is cut up. */
static int read_axis(struct axes *axes, char *text, struct gt_error *err)
{
	char *equals = strchr(text, '=');
	struct axis *axis = &axes->list[axes->count];
	char *rest = NULL;
	int result;

	if (!equals || !equals[1])
		return gt_fail(err, EINVAL, "--tune takes NAME=VALUE,VALUE..., and not '%s'", text);
	*equals = '\0';
	result = find_word(text, &axis->word, err);
	if (result < 0)
		return result;
	for (size_t i = 0; i < axes->count; i++)
		if (axes->list[i].word == axis->word)
			return gt_fail(err, EINVAL, "--tune names %s twice", text);
	axes->count++;
	for (char *value = strtok_r(equals + 1, ",", &rest); value && result == 0;
	     value = strtok_r(NULL, ",", &rest))
		result = add_value(axis, value, err);
	if (result == 0 && axis->values.count == 0)
		result = gt_fail(err, EINVAL, "--tune names no value of %s", text);
	return result;
}

int gt_variants_add_space(struct gt_variants *variants, const char *space, struct gt_error *err)
{
	char *copy = gt_allocate(strlen(space) + 1);
	struct axes axes = {.count = 0};
	char *rest = NULL;
	int result = 0;

	memcpy(copy, space, strlen(space) + 1);
	*gt_array_push(&variants->texts) = copy;
	for (char *word = strtok_r(copy, " ", &rest); word && result == 0;
	     word = strtok_r(NULL, " ", &rest))
		result = read_axis(&axes, word, err);
	if (result == 0 && axes.count == 0)
		result = gt_fail(err, EINVAL, "--tune takes NAME=VALUE,VALUE..., and not nothing");
	if (result == 0)
		result = add_all(variants, &axes, true, err);
	release_axes(&axes);
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/families.h"

#include "model/name_patterns.h"

static const char *const names[] = {
#define FAMILY(name, text) [GT_FAMILY_##name] = (text),
#include "model/families.def"
};

static const struct gt_name_pattern patterns[] = {
#define PATTERN(family, pattern) {pattern, GT_FAMILY_##family},
#include "model/families.def"
};

enum gt_family gt_family_of(const char *short_name)
{
	const size_t count = sizeof(patterns) / sizeof(patterns[0]);

	return (enum gt_family)gt_name_match(patterns, count, short_name, GT_FAMILY_other);
}

const char *gt_family_name(uint32_t family)
{
	return names[family < GT_FAMILY_COUNT ? family : GT_FAMILY_other];
}

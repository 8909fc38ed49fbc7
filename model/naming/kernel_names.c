/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/kernel_names.h"

#include <string.h>

#include "base/array.h"
#include "model/naming/name_parts.h"
#include "model/naming/name_patterns.h"

static const char *const family_names[] = {
#define FAMILY(name, text) [GT_FAMILY_##name] = (text),
#include "model/naming/families.def"
};

static const struct gt_name_pattern family_patterns[] = {
#define PATTERN(family, pattern) {pattern, GT_FAMILY_##family},
#include "model/naming/families.def"
};

static const char *const origin_names[] = {
#define ORIGIN(name, text) [GT_ORIGIN_##name] = (text),
#include "model/naming/origins.def"
};

static const struct gt_name_pattern origin_patterns[] = {
#define PATTERN(origin, pattern) {pattern, GT_ORIGIN_##origin},
#include "model/naming/origins.def"
};

/* Behind the return type, which a template's name begins with. */
static const char *function_of(const char *full_name)
{
	struct gt_name name;
	size_t first = 0;

	if (!gt_name_init(&name, full_name))
		return full_name;
	first = gt_name_function(&name).first;
	gt_name_release(&name);
	return full_name + first;
}

/* A kernel whose name has parameters, or cannot be demangled, was compiled from C++. */
static enum gt_kernel_origin unmatched(const char *full_name)
{
	return strchr(full_name, '(') || strncmp(full_name, "_Z", 2) == 0 ? GT_ORIGIN_other
	                                                                  : GT_ORIGIN_unknown;
}

enum gt_family gt_family_of(const char *short_name)
{
	return (enum gt_family)gt_name_match(family_patterns, GT_COUNT_OF(family_patterns),
	                                     short_name, GT_FAMILY_other);
}

enum gt_kernel_origin gt_origin_of(const char *full_name)
{
	return (enum gt_kernel_origin)gt_name_match(origin_patterns, GT_COUNT_OF(origin_patterns),
	                                            function_of(full_name), unmatched(full_name));
}

const char *gt_family_name(uint32_t family)
{
	return family_names[family < GT_FAMILY_COUNT ? family : GT_FAMILY_other];
}

const char *gt_origin_name(uint32_t origin)
{
	return origin_names[origin < GT_ORIGIN_COUNT ? origin : GT_ORIGIN_unknown];
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_NAME_PATTERNS_H
#define GT_MODEL_NAMING_NAME_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Lists of patterns that say what a name stands for, as families.def and origins.def hold them. A
 * pattern is in lower case and fits a name in which it occurs, whatever case that is in: "^" stands
 * for the name's beginning, "$" for its end, "#" for a number, "*" for anything.
 */

/* Bytes of a name that are looked at. */
enum { GT_NAME_PATTERN_MOST = 512 };

struct gt_name_pattern {
	const char *pattern;
	uint32_t value;
};

/* The value of the first pattern of a list that fits a name; otherwise when none does. */
uint32_t gt_name_match(const struct gt_name_pattern *patterns, size_t count, const char *name,
                       uint32_t otherwise);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_DISTINCT_NAMES_H
#define GT_MODEL_NAMING_DISTINCT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/*
 * Short names that tell kernels apart: where several have the same, just enough is put back of what
 * their full names differ in: "pow<float> [#1]" and "pow<float> [#2]".
 */
struct gt_distinct_name {
	const char *full; /* no two names of a list have the same; the caller's */
	char *text;       /* the short name, on the heap; the caller frees it */
	uint32_t number;  /* whatever the caller wants to know a name by */
	char *label;      /* these two are zero before and of no use afterwards */
	size_t shown;
};

struct gt_distinct_names {
	struct gt_distinct_name *rows;
	size_t count;
	size_t capacity;
};

/* Makes the texts distinct. The names are in another order afterwards. */
void gt_distinct_names(struct gt_distinct_names *names);

#endif

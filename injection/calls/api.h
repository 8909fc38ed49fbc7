/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CALLS_API_H
#define GT_INJECTION_CALLS_API_H

#include <stdbool.h>

/* A line of format/kinds/api_calls.def. */
struct gt_api_call_line {
	const char *prefix;
	const char *kind;
	bool in_driver; /* CALL_IN_DRIVER */
};

/* The first line that fits a call of this name; NULL when none does, or one of kind NONE. */
const struct gt_api_call_line *gt_api_call_find(const char *name);

/* Whether a call of this name ends contexts, or may. */
bool gt_api_call_ends_context(const char *name);

#endif

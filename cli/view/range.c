/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/range.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

/* Digits up to the end of length bytes; a number that does not fit is the largest there is. */
static bool read_number(const char *text, size_t length, uint64_t *value)
{
	char digits[21];

	if (length == 0 || strspn(text, "0123456789") < length)
		return false;
	*value = UINT64_MAX;
	if (length < sizeof(digits)) {
		snprintf(digits, sizeof(digits), "%.*s", (int)length, text);
		(void)gt_parse_count(digits, value);
	}
	return true;
}

static enum gt_range_answer last_bytes(uint64_t count, uint64_t size, struct gt_range *range)
{
	if (count == 0 || size == 0)
		return GT_RANGE_OUTSIDE;
	*range = (struct gt_range){count < size ? size - count : 0, size};
	return GT_RANGE_PART;
}

enum gt_range_answer gt_range_read(const char *text, uint64_t size, struct gt_range *range)
{
	static const char unit[] = "bytes=";
	const char *dash;
	uint64_t first = 0;
	uint64_t last = UINT64_MAX;

	if (!text || strncmp(text, unit, strlen(unit)) != 0)
		return GT_RANGE_WHOLE;
	text += strlen(unit);
	dash = strchr(text, '-');
	if (!dash || (dash[1] && !read_number(dash + 1, strlen(dash + 1), &last)))
		return GT_RANGE_WHOLE;
	if (dash == text)
		return dash[1] ? last_bytes(last, size, range) : GT_RANGE_WHOLE;
	if (!read_number(text, (size_t)(dash - text), &first) || first > last)
		return GT_RANGE_WHOLE;
	if (first >= size)
		return GT_RANGE_OUTSIDE;
	*range = (struct gt_range){first, last < size ? last + 1 : size};
	return GT_RANGE_PART;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/program_path.h"

#include <string.h>

#include "model/naming/operations.h"

static bool is_program(const struct gt_ranges *ranges, gt_id path)
{
	const struct gt_range_name *name = &ranges->names.rows[ranges->paths.rows[path].name];
	const char *domain = gt_trace_text(ranges->trace, name->domain);

	return strcmp(domain, "TSL") != 0 &&
	       gt_operation_of(domain, gt_trace_text(ranges->trace, name->text)).kind ==
	               GT_OPERATION_NONE;
}

bool gt_is_program_path(const struct gt_ranges *ranges, gt_id path)
{
	for (; path != GT_NONE; path = ranges->paths.rows[path].outer)
		if (!is_program(ranges, path))
			return false;
	return true;
}

/* Names are put in front of what is there, as long as there is room: the innermost first. */
static void put_name(const struct gt_ranges *ranges, gt_id path, char text[GT_RANGE_PATH_BYTES])
{
	char name[GT_RANGE_NAME_BYTES];
	const size_t there = strlen(text);
	const size_t length = gt_range_name_text(
		ranges->trace, ranges->names.rows[ranges->paths.rows[path].name], name);
	const size_t more = length + (there > 0);

	if (there + more >= GT_RANGE_PATH_BYTES)
		return;
	memmove(text + more, text, there + 1);
	memcpy(text, name, length);
	if (there > 0)
		text[length] = GT_RANGE_SEPARATOR;
}

void gt_program_path_text(const struct gt_ranges *ranges, gt_id path,
                          char text[GT_RANGE_PATH_BYTES])
{
	*text = '\0';
	for (; path != GT_NONE; path = ranges->paths.rows[path].outer)
		if (is_program(ranges, path))
			put_name(ranges, path, text);
}

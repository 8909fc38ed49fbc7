/* SPDX-License-Identifier: Apache-2.0 */
#include "model/short_name.h"

#include <string.h>

size_t gt_short_name(const char *full, char *text, size_t size)
{
	const char *parameters = strchr(full, '(');
	size_t length =
		parameters && parameters > full ? (size_t)(parameters - full) : strlen(full);

	if (length >= size)
		length = size - 1;
	memcpy(text, full, length);
	text[length] = '\0';
	return length;
}

const char *gt_shape_text(const struct gt_trace *trace, const struct gt_launch_shape *shape,
                          enum gt_name_form form)
{
	const gt_string names[] = {
		[GT_NAMES_SHORT] = shape->short_name,
		[GT_NAMES_FULL] = shape->demangled,
		[GT_NAMES_MANGLED] = shape->name,
	};

	for (size_t i = form; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = gt_trace_text(trace, names[i]);

		if (*text)
			return text;
	}
	return "";
}

const char *gt_shape_name(const struct gt_trace *trace, gt_id shape)
{
	const char *name = "";

	if (shape < trace->launch_shapes.count)
		name = gt_shape_text(trace, &trace->launch_shapes.rows[shape], trace->names);
	return *name ? name : "(name not known)";
}

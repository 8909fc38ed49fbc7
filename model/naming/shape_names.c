/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/shape_names.h"

#include <stddef.h>

#include "base/array.h"

gt_string gt_shape_string(const struct gt_trace *trace, const struct gt_launch_shape *shape,
                          enum gt_name_form form)
{
	const gt_string names[] = {
		[GT_NAMES_SHORT] = shape->short_name,
		[GT_NAMES_FULL] = shape->demangled,
		[GT_NAMES_MANGLED] = shape->name,
	};

	for (size_t i = form; i < GT_COUNT_OF(names); i++)
		if (*gt_trace_text(trace, names[i]))
			return names[i];
	return 0;
}

const char *gt_shape_text(const struct gt_trace *trace, const struct gt_launch_shape *shape,
                          enum gt_name_form form)
{
	return gt_trace_text(trace, gt_shape_string(trace, shape, form));
}

const char *gt_shape_name(const struct gt_trace *trace, gt_id shape)
{
	const char *name = "";

	if (shape < trace->launch_shapes.count)
		name = gt_shape_text(trace, &trace->launch_shapes.rows[shape], trace->names);
	return *name ? name : "(name not known)";
}

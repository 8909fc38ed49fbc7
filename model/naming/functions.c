/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "model/naming/shape_names.h"

void gt_functions_init(struct gt_functions *functions, const struct gt_trace *trace)
{
	const size_t text_count = gt_strings_count(trace->strings);
	const size_t shape_count = trace->launch_shapes.count;
	uint32_t *of_text = gt_allocate(text_count * sizeof(*of_text));

	*functions = (struct gt_functions){
		.names = gt_allocate((shape_count + 1) * sizeof(*functions->names)),
		.of_shape = gt_allocate(shape_count * sizeof(*functions->of_shape)),
		.shape_count = shape_count,
	};
	memset(of_text, 0xff, text_count * sizeof(*of_text));
	for (size_t i = 0; i < shape_count; i++) {
		const gt_string name =
			gt_shape_string(trace, &trace->launch_shapes.rows[i], GT_NAMES_FULL);
		const gt_string text = name < text_count ? name : 0;

		if (of_text[text] == UINT32_MAX) {
			of_text[text] = (uint32_t)functions->count;
			functions->names[functions->count++] = gt_shape_name(trace, (gt_id)i);
		}
		functions->of_shape[i] = of_text[text];
	}
	functions->names[functions->count++] = gt_shape_name(trace, GT_NONE);
	free(of_text);
}

void gt_functions_release(struct gt_functions *functions)
{
	free(functions->names);
	free(functions->of_shape);
	*functions = (struct gt_functions){0};
}

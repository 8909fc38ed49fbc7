/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "collector/stage.h"
#include "model/naming/distinct_names.h"
#include "model/naming/kernel_names.h"
#include "model/naming/shape_names.h"
#include "model/naming/short_gemm.h"
#include "model/naming/short_name.h"

/*
 * Kernels get the names that people see, and what their names tell: families, origins, tiles. All
 * full names must be known: where two would be called the same, more is said of both.
 */

/* The names that all shapes of one full name share. */
struct called {
	bool listed;
	gt_string short_name;
	gt_string tile;
	gt_count family;
	gt_count origin;
};

static gt_string full_name(const struct gt_trace *trace, const struct gt_launch_shape *shape)
{
	return gt_shape_string(trace, shape, GT_NAMES_FULL);
}

static char *brief_of(const char *full)
{
	char text[GT_SHORT_NAME_MOST];
	const size_t length = gt_short_name(full, text, sizeof(text));
	char *brief = gt_allocate(length + 1);

	memcpy(brief, text, length + 1);
	return brief;
}

static gt_string tile_of(struct gt_trace *trace, const char *full)
{
	char text[GT_SHORT_NAME_MOST];

	return gt_gemm_tile(full, text, sizeof(text)) ? gt_strings_add(trace->strings, text) : 0;
}

static void name_shapes(struct gt_trace *trace, struct gt_distinct_names *names,
                        struct called *called)
{
	gt_array_each(const struct gt_launch_shape, shape, &trace->launch_shapes) {
		const gt_string text = full_name(trace, shape);
		const char *full = gt_trace_text(trace, text);

		if (text == 0 || called[text].listed)
			continue;
		called[text].listed = true;
		*gt_array_push(names) = (struct gt_distinct_name){
			.full = full, .text = brief_of(full), .number = text};
	}
	gt_array_each(const struct gt_distinct_name, name, names) {
		called[name->number].family = gt_family_of(name->text);
		called[name->number].origin = gt_origin_of(name->full);
	}
	gt_distinct_names(names);
	gt_array_each(const struct gt_distinct_name, name, names) {
		called[name->number].short_name = gt_strings_add(trace->strings, name->text);
		called[name->number].tile = tile_of(trace, name->full);
	}
	gt_array_each(struct gt_launch_shape, shape, &trace->launch_shapes) {
		const struct called *by = &called[full_name(trace, shape)];

		shape->short_name = by->short_name;
		shape->family = by->family;
		shape->origin = by->origin;
		shape->tile = by->tile;
	}
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct called *called =
		gt_allocate_zeroed(gt_strings_count(trace->strings), sizeof(*called));
	struct gt_distinct_names names = {0};

	(void)err;
	name_shapes(trace, &names, called);
	gt_array_each(struct gt_distinct_name, name, &names)
		free(name->text);
	gt_array_release(&names);
	free(called);
	return 0;
}

const struct gt_stage gt_stage_short_names = {.name = "short_names", .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gaps/places.h"

#include <stdbool.h>
#include <stddef.h>

#include "analysis/result.h"
#include "base/array.h"
#include "model/naming/operations.h"

static void find_ops(struct gt_wait_places *places)
{
	const struct gt_ranges *ranges = &places->ranges;

	places->ops = gt_strings_new();
	places->op_of_name = gt_allocate(ranges->names.count * sizeof(*places->op_of_name));
	for (size_t i = 0; i < ranges->names.count; i++) {
		const struct gt_range_name *name = &ranges->names.rows[i];
		const struct gt_operation operation =
			gt_operation_of(gt_trace_text(places->trace, name->domain),
		                        gt_trace_text(places->trace, name->text));
		const bool is_op = operation.kind == GT_OPERATION_OP ||
		                   operation.kind == GT_OPERATION_HLO ||
		                   operation.kind == GT_OPERATION_MODULE;

		places->op_of_name[i] = is_op ? gt_strings_add(places->ops, operation.name) : 0;
	}
}

void gt_wait_places_init(struct gt_wait_places *places, const struct gt_trace *trace)
{
	*places = (struct gt_wait_places){.trace = trace};
	gt_range_folds_init(&places->folds, trace, GT_FOLD_AUTO);
	gt_ranges_init_folded(&places->ranges, trace, &places->folds);
	find_ops(places);
}

void gt_wait_places_release(struct gt_wait_places *places)
{
	gt_strings_free(places->ops);
	gt_array_free(places->op_of_name);
	gt_ranges_release(&places->ranges);
	gt_range_folds_release(&places->folds);
}

uint32_t gt_wait_places_op(const struct gt_wait_places *places, const struct gt_owner *owner)
{
	const struct gt_ranges *ranges = &places->ranges;

	for (gt_id range = gt_owner_sure(*owner).range; range != GT_NONE;
	     range = gt_ranges_around_sure(ranges, range, owner->at_ns)) {
		const gt_id path = gt_ranges_path(ranges, range);
		const uint32_t op =
			path == GT_NONE ? 0 : places->op_of_name[ranges->paths.rows[path].name];

		if (op)
			return op;
	}
	return 0;
}

void gt_wait_places_add_path(const struct gt_wait_places *places, struct gt_result *result,
                             gt_id path)
{
	char text[GT_RANGE_PATH_BYTES];

	if (path == GT_NONE) {
		gt_result_add_unknown(result);
		return;
	}
	gt_range_path_text(&places->ranges, path, text);
	gt_result_add_format(result, "%s", text);
}

void gt_wait_places_add_op(const struct gt_wait_places *places, struct gt_result *result,
                           uint32_t op)
{
	if (op)
		gt_result_add_format(result, "%s", gt_strings_get(places->ops, op));
	else
		gt_result_add_unknown(result);
}

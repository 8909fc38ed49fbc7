/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/results.h"

#include "exporters/perfetto/tracks.h"
#include "exporters/perfetto/wire/names.h"
#include "model/names.h"

void gt_results_init(struct gt_results *results, struct gt_names *names)
{
	*results = (struct gt_results){
		.names = names,
		.code_name = gt_names_add(names, "code"),
		.result_name = gt_names_add(names, "result"),
		.function_name = gt_names_add(names, "function"),
	};
}

static bool has_result(const struct gt_api_call *call)
{
	return call->result != 0 && !(call->flags & GT_UNFINISHED);
}

bool gt_results_failed(const struct gt_api_call *call)
{
	return has_result(call) && gt_result_failed(call->result);
}

size_t gt_results_annotate(const struct gt_results *results, const struct gt_api_call *call,
                           struct gt_annotation *annotations)
{
	struct gt_names *names = results->names;
	const char *name;

	if (!has_result(call))
		return 0;
	name = gt_result_name(call->result, (call->flags & GT_DRIVER_API) != 0);
	annotations[0] = (struct gt_annotation){
		.type = GT_VALUE_NUMBER, .name = results->code_name, .number = call->result};
	annotations[1] = (struct gt_annotation){.type = GT_VALUE_TEXT,
	                                        .name = results->function_name,
	                                        .number = gt_names_of(names, call->function)};
	if (!name)
		return 2;
	annotations[2] = (struct gt_annotation){.type = GT_VALUE_TEXT,
	                                        .name = results->result_name,
	                                        .number = gt_names_add(names, name)};
	return GT_RESULT_ANNOTATIONS;
}

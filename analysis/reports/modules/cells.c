/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/modules/tables.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/demangle/demangle.h"
#include "model/naming/shape_names.h"

void gt_module_add_hash(struct gt_result *result, const struct gt_module *module)
{
	if (module->hash)
		gt_result_add_format(result, "%016" PRIx64, module->hash);
	else
		gt_result_add_unknown(result);
}

void gt_module_add_function_name(struct gt_result *result, const struct gt_module_tally *tally,
                                 gt_id id)
{
	const struct gt_function *function =
		id == GT_NONE ? NULL : &tally->trace->functions.rows[id];
	const char *name = function ? gt_trace_text(tally->trace, function->name) : "";
	char *demangled;

	if (!*name) {
		gt_result_add_unknown(result);
		return;
	}
	if (tally->uses.functions[id].kernels > 0) {
		gt_result_add_text(result,
		                   gt_shape_name(tally->trace, tally->uses.functions[id].shape));
		return;
	}
	demangled = gt_demangle(name);
	gt_result_add_format(result, "%s", demangled ? demangled : name);
	free(demangled);
}

int gt_module_by_amounts(const void *a, const void *b)
{
	const struct gt_module_place *left = a;
	const struct gt_module_place *right = b;

	if (left->first != right->first)
		return left->first < right->first ? 1 : -1;
	if (left->second != right->second)
		return left->second < right->second ? 1 : -1;
	return (left->id > right->id) - (left->id < right->id);
}

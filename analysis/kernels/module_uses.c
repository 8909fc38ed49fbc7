/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernels/module_uses.h"

#include "base/array.h"
#include "model/gpu/module_index.h"
#include "model/work/timed.h"

static void see_kernels(struct gt_module_uses *uses)
{
	const struct gt_trace *trace = uses->trace;
	struct gt_module_index index;

	gt_module_index_init(&index, trace);
	for (size_t i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		const gt_id function = gt_module_index_find(&index, kernel);

		if (function == GT_NONE) {
			uses->kernels_elsewhere++;
			continue;
		}
		uses->functions[function].kernels++;
		uses->functions[function].shape = kernel->shape;
		if (gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			uses->functions[function].kernel_ns +=
				(uint64_t)(kernel->end_ns - kernel->start_ns);
	}
	gt_module_index_release(&index);
}

static void see_functions(struct gt_module_uses *uses)
{
	const struct gt_trace *trace = uses->trace;

	for (size_t i = 0; i < trace->functions.count; i++) {
		const struct gt_function_use *use = &uses->functions[i];
		const gt_id id = trace->functions.rows[i].module;
		struct gt_module_use *module;

		if (id >= trace->modules.count)
			continue;
		module = &uses->modules[id];
		module->there++;
		module->kernels += use->kernels;
		module->kernel_ns += use->kernel_ns;
		module->used += use->kernels > 0;
		if (use->kernels > 0 && (module->main == GT_NONE ||
		                         use->kernel_ns > uses->functions[module->main].kernel_ns))
			module->main = (gt_id)i;
	}
}

/* Where some of the work is chosen, only modules that it is of are. */
static bool is_chosen(const struct gt_module_uses *uses, size_t id)
{
	return !uses->view->by_work || uses->modules[id].kernels > 0;
}

bool gt_module_is_loaded_in_view(const struct gt_module_uses *uses, size_t id)
{
	const struct gt_module *module = &uses->trace->modules.rows[id];

	return is_chosen(uses, id) && module->loaded_ns >= uses->view->start_ns &&
	       module->loaded_ns <= uses->view->end_ns;
}

bool gt_module_is_shown(const struct gt_module_uses *uses, size_t id)
{
	return uses->modules[id].kernels > 0 || gt_module_is_loaded_in_view(uses, id);
}

bool gt_module_is_unrecorded(const struct gt_module_uses *uses, size_t id)
{
	return uses->trace->modules.rows[id].api_call >= uses->trace->api_calls.count &&
	       gt_module_is_loaded_in_view(uses, id);
}

void gt_module_uses_init(struct gt_module_uses *uses, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;

	*uses = (struct gt_module_uses){
		.view = view,
		.trace = trace,
		.functions =
			gt_allocate_zeroed(trace->functions.count + 1, sizeof(*uses->functions)),
		.modules = gt_allocate((trace->modules.count + 1) * sizeof(*uses->modules)),
	};
	for (size_t i = 0; i < trace->modules.count; i++)
		uses->modules[i] = (struct gt_module_use){.main = GT_NONE};
	see_kernels(uses);
	see_functions(uses);
}

void gt_module_uses_release(struct gt_module_uses *uses)
{
	gt_array_free(uses->functions);
	gt_array_free(uses->modules);
}

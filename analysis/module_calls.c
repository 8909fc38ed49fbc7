/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/module_calls.h"

#include <math.h>
#include <string.h>

#include "model/index.h"
#include "model/timed.h"
#include "model/view.h"

/* CUpti_ActivityOverheadKind. */
enum { LAZY_FUNCTION_LOADING = 5 << 16 };

bool gt_overhead_loads_functions(const struct gt_overhead *overhead)
{
	return overhead->kind == LAZY_FUNCTION_LOADING &&
	       gt_timed(GT_TIMES_ANY, overhead->flags, overhead->start_ns, overhead->end_ns);
}

gt_time gt_module_call_ns(const struct gt_trace *trace, gt_id call)
{
	const struct gt_api_call *row = &trace->api_calls.rows[call];

	return gt_timed(GT_TIMES_ANY, row->flags, row->start_ns, row->end_ns)
	               ? row->end_ns - row->start_ns
	               : 0;
}

static struct gt_module_call *row_of(struct gt_module_calls *calls, gt_id call)
{
	const size_t number = gt_index_add(calls->numbers, &call);
	struct gt_module_call *fresh;

	if (number < calls->list.count)
		return &calls->list.rows[number];
	fresh = gt_array_push(&calls->list);
	*fresh = (struct gt_module_call){.call = call};
	return fresh;
}

/* Calls about modules load them or unload them. */
bool gt_call_takes_code(const struct gt_trace *trace, const struct gt_api_call *call)
{
	return call->kind == GT_API_MODULE &&
	       !strstr(gt_trace_text(trace, call->function), "Unload");
}

static bool hands_over(const struct gt_trace *trace, const struct gt_api_call *call)
{
	return call->thread < trace->threads.count &&
	       gt_timed(GT_TIMES_ANY, call->flags, call->start_ns, call->end_ns) &&
	       gt_call_takes_code(trace, call);
}

/* A call of the runtime's makes one of the driver's: the outer one counts. */
static void see_readers(struct gt_module_calls *calls, const struct gt_trace *trace)
{
	gt_time *ends = gt_allocate((trace->threads.count + 1) * sizeof(*ends));

	memset(ends, 0, trace->threads.count * sizeof(*ends));
	for (size_t i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];

		if (!hands_over(trace, call) || call->start_ns < ends[call->thread])
			continue;
		ends[call->thread] = call->end_ns;
		row_of(calls, (gt_id)i)->reads = true;
	}
	gt_array_free(ends);
}

/* Modules stay in a view for the sake of kernels; only those that were loaded in it count. */
static void see_modules(struct gt_module_calls *calls, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;

	gt_array_each(const struct gt_module, module, &trace->modules) {
		struct gt_module_call *call;

		if (module->api_call >= trace->api_calls.count ||
		    module->loaded_ns < view->start_ns || module->loaded_ns > view->end_ns)
			continue;
		call = row_of(calls, module->api_call);
		call->reads = false;
		call->modules++;
		if (isnan(module->load_ns))
			call->not_measured++;
		else
			call->load_ns += module->load_ns;
		if (module->noted_ns > module->loaded_ns)
			call->own_ns += module->noted_ns - module->loaded_ns;
	}
}

/* CUPTI names the call that the thread was in last: it need not be in it any more. */
static void see_functions(struct gt_module_calls *calls, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_overhead, overhead, &trace->overheads) {
		const gt_id call = overhead->api_call;

		if (gt_overhead_loads_functions(overhead) && call < trace->api_calls.count &&
		    overhead->start_ns < trace->api_calls.rows[call].end_ns)
			row_of(calls, call)->functions_ns += overhead->end_ns - overhead->start_ns;
	}
}

void gt_module_calls_init(struct gt_module_calls *calls, const struct gt_view *view)
{
	*calls = (struct gt_module_calls){.numbers = gt_index_new(sizeof(gt_id))};
	if (view->trace->modules.count == 0)
		return; /* recorded before modules were: how many were loaded in a call is not known
		         */
	see_readers(calls, view->trace);
	see_modules(calls, view);
	see_functions(calls, view->trace);
}

double gt_module_load_in(const struct gt_view *view, const struct gt_module *module)
{
	double since_start_ns;

	if (isnan(module->load_ns) || module->loaded_ns < view->start_ns ||
	    module->loaded_ns > view->end_ns)
		return 0;
	since_start_ns = (double)(module->loaded_ns - view->start_ns);
	return module->load_ns < since_start_ns ? module->load_ns : since_start_ns;
}

uint64_t gt_loading_ns(const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;
	struct gt_module_calls calls;
	double all_ns = 0;

	if (trace->modules.count == 0 || view->by_work)
		return 0;
	gt_module_calls_init(&calls, view);
	gt_array_each(const struct gt_module_call, call, &calls.list)
		if (call->reads)
			all_ns += (double)gt_module_call_ns(trace, call->call);
	gt_array_each(const struct gt_module, module, &trace->modules)
		all_ns += gt_module_load_in(view, module);
	gt_array_each(const struct gt_overhead, overhead, &trace->overheads)
		if (gt_overhead_loads_functions(overhead))
			all_ns += (double)(overhead->end_ns - overhead->start_ns);
	gt_module_calls_release(&calls);
	return (uint64_t)all_ns;
}

void gt_module_calls_release(struct gt_module_calls *calls)
{
	gt_index_free(calls->numbers);
	gt_array_release(&calls->list);
	*calls = (struct gt_module_calls){0};
}

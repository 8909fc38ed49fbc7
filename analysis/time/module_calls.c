/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/module_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/shares.h"
#include "model/index.h"
#include "model/view/view.h"
#include "model/work/timed.h"

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

/* A time in which a process loaded code. */
struct loading {
	struct gt_interval when;
	gt_id process;
};

struct loadings {
	gt_array(struct loading) list;
};

static void add_loading(struct loadings *loadings, gt_id process, gt_time start_ns, gt_time end_ns)
{
	*gt_array_push(&loadings->list) = (struct loading){{start_ns, end_ns}, process};
}

static int by_start(const void *a, const void *b)
{
	const struct loading *left = a;
	const struct loading *right = b;

	return (left->when.start_ns > right->when.start_ns) -
	       (left->when.start_ns < right->when.start_ns);
}

static void find_loadings(struct loadings *loadings, const struct gt_view *view)
{
	const struct gt_trace *trace = view->trace;
	struct gt_module_calls calls;

	gt_module_calls_init(&calls, view);
	gt_array_each(const struct gt_module_call, call, &calls.list) {
		const struct gt_api_call *row = &trace->api_calls.rows[call->call];

		if (call->reads)
			add_loading(loadings, gt_trace_thread_process(trace, row->thread),
			            row->start_ns, row->end_ns);
	}
	gt_array_each(const struct gt_module, module, &trace->modules) {
		const double load_ns = gt_module_load_in(view, module);

		if (load_ns > 0)
			add_loading(loadings, module->process, module->loaded_ns - (gt_time)load_ns,
			            module->loaded_ns);
	}
	gt_array_each(const struct gt_overhead, overhead, &trace->overheads)
		if (gt_overhead_loads_functions(overhead))
			add_loading(loadings, overhead->process, overhead->start_ns,
			            overhead->end_ns);
	gt_module_calls_release(&calls);
}

void gt_loading_times_init(struct gt_unit_times *times, const struct gt_view *view)
{
	struct loadings loadings = {0};

	gt_unit_times_init(times, view, GT_OF_PROCESS);
	if (view->trace->modules.count == 0)
		return; /* they were not recorded, or there were none */
	find_loadings(&loadings, view);
	if (loadings.list.count > 1)
		qsort(loadings.list.rows, loadings.list.count, sizeof(*loadings.list.rows),
		      by_start);
	gt_array_each(const struct loading, loading, &loadings.list)
		gt_unit_times_add(times, loading->process, loading->when);
	gt_array_release(&loadings.list);
}

void gt_module_calls_release(struct gt_module_calls *calls)
{
	gt_index_free(calls->numbers);
	gt_array_release(&calls->list);
	*calls = (struct gt_module_calls){0};
}

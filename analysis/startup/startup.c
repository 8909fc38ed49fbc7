/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/startup/startup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kernels/module_uses.h"
#include "analysis/ranges/steps/steps.h"
#include "analysis/time/module_calls.h"
#include "base/sums.h"
#include "model/index.h"
#include "model/whole.h"
#include "model/work/timed.h"

const char *gt_startup_part_name(enum gt_startup_part part)
{
	static const char *const names[] = {
#define PART(name, text) [GT_STARTUP_##name] = (text),
#include "analysis/startup/parts.def"
	};

	return names[part];
}

/* A part began, or ended. */
struct edge {
	gt_id process;
	gt_time time_ns;
	enum gt_startup_part part;
	int change;
};

struct work {
	const struct gt_trace *trace; /* all that happened */
	struct gt_startups *startups;
	gt_array(struct edge) edges;
};

/* ---- from when to when ---- */

static struct gt_startup *startup_of(const struct work *work, gt_id process)
{
	return process < work->startups->rows.count ? &work->startups->rows.rows[process] : NULL;
}

static void add_processes(struct work *work)
{
	gt_array_each(const struct gt_process, process, &work->trace->processes) {
		struct gt_startup *row = gt_array_push(&work->startups->rows);
		const gt_time started_ns = gt_process_started_ns(process);
		const bool known = started_ns > 0 && started_ns <= process->start_ns;

		*row = (struct gt_startup){
			.process = (gt_id)(process - work->trace->processes.rows),
			.start_ns = known ? started_ns : process->start_ns,
			.start_known = known,
			.until_ns = process->end_ns,
			.until = GT_STARTUP_END,
		};
	}
}

/* Steps are of a trace of their own, which may be a part of all that happened. */
static void add_steps(struct work *work, const struct gt_steps *steps)
{
	gt_array_each(const struct gt_step_group, group, &steps->groups) {
		const struct gt_step *step = &steps->rows.rows[group->first];
		struct gt_startup *row =
			startup_of(work, gt_whole_origin(steps->ranges.trace, GT_TABLE_processes,
		                                         step->process));
		const int64_t median = group->wall.spread.median;
		const size_t warm_up = gt_steps_warm_up(steps, group);
		uint64_t sum_ns = 0;

		if (!row)
			continue;
		for (size_t i = 0; i < warm_up; i++)
			gt_sum_add(&sum_ns, (uint64_t)(gt_step_wall(&step[i]) - median));
		row->until = GT_STARTUP_STEP;
		row->until_ns = step[warm_up].start_ns;
		row->steps = warm_up;
		row->first_step_ns = (uint64_t)gt_step_wall(step);
		row->median_ns = (uint64_t)median;
		row->beyond_ns = sum_ns;
	}
}

static void see_kernels(const struct work *work)
{
	gt_array_each(const struct gt_kernel, kernel, &work->trace->kernels) {
		struct gt_startup *row =
			startup_of(work, gt_trace_stream_process(work->trace, kernel->stream));

		if (!row || row->until == GT_STARTUP_STEP ||
		    !gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns) ||
		    (row->until == GT_STARTUP_KERNEL && row->until_ns <= kernel->start_ns))
			continue;
		row->until = GT_STARTUP_KERNEL;
		row->until_ns = kernel->start_ns;
	}
}

/* ---- the parts ---- */

static void add_stretch(struct work *work, gt_id process, enum gt_startup_part part,
                        gt_time start_ns, gt_time end_ns)
{
	const struct gt_startup *row = startup_of(work, process);

	if (!row)
		return;
	if (start_ns < row->start_ns)
		start_ns = row->start_ns;
	if (end_ns > row->until_ns)
		end_ns = row->until_ns;
	if (end_ns <= start_ns)
		return;
	*gt_array_push(&work->edges) = (struct edge){process, start_ns, part, 1};
	*gt_array_push(&work->edges) = (struct edge){process, end_ns, part, -1};
}

/* Calls that need no context, and make none. */
static bool needs_no_context(const char *function)
{
	static const char *const beginnings[] = {
		"cudaGetDevice",
		"cudaDeviceGetAttribute",
		"cudaDriverGetVersion",
		"cudaRuntimeGetVersion",
		"cudaGetLastError",
		"cudaPeekAtLastError",
		"cudaGetErrorName",
		"cudaGetErrorString",
		"cudaDeviceCanAccessPeer",
		"cudaDeviceGetPCIBusId",
		"cudaGetDriverEntryPoint",
		"cuInit",
		"cuDriverGetVersion",
		"cuDeviceGet",
		"cuDeviceTotalMem",
		"cuDeviceCanAccessPeer",
		"cuDevicePrimaryCtxGetState",
		"cuGetProcAddress",
		"cuGetError",
		"cuCtxGetCurrent",
	};

	for (size_t i = 0; i < GT_COUNT_OF(beginnings); i++)
		if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static bool makes_context(const char *function)
{
	return strncmp(function, "cuCtxCreate", 11) == 0 ||
	       strncmp(function, "cuGreenCtxCreate", 16) == 0 ||
	       strcmp(function, "cuDevicePrimaryCtxRetain") == 0 ||
	       strcmp(function, "cudaInitDevice") == 0;
}

static enum gt_startup_part part_of_call(const struct gt_api_call *call)
{
	switch ((enum gt_api_kind)call->kind) {
	case GT_API_LAUNCH:
	case GT_API_GRAPH_LAUNCH:
		return GT_STARTUP_launches;
	case GT_API_COPY:
	case GT_API_FILL:
		return GT_STARTUP_copies;
	case GT_API_ALLOCATE:
	case GT_API_FREE:
		return GT_STARTUP_memory;
	case GT_API_SYNCHRONIZE:
		return GT_STARTUP_waits;
	case GT_API_GRAPH:
		return GT_STARTUP_graphs;
	case GT_API_MODULE:
		return GT_STARTUP_loading;
	case GT_API_OTHER:
	case GT_API_STREAM:
	case GT_API_EVENT:
		break;
	}
	return GT_STARTUP_calls;
}

/*
 * The first call of a process that needs a context makes it. Calls come in the order of their
 * start; those inside others count as these.
 */
static void add_calls(struct work *work)
{
	const size_t count = work->startups->rows.count + 1;
	bool *has_context = gt_allocate_zeroed(count, sizeof(*has_context));
	bool *has_call = gt_allocate_zeroed(count, sizeof(*has_call));

	gt_array_each(const struct gt_api_call, call, &work->trace->api_calls) {
		const gt_id process = gt_trace_thread_process(work->trace, call->thread);
		const char *function = gt_trace_text(work->trace, call->function);
		struct gt_startup *row = startup_of(work, process);
		enum gt_startup_part part = part_of_call(call);

		if (!row || call->flags & GT_NESTED || call->start_ns >= row->until_ns)
			continue;
		if (!has_call[process])
			add_stretch(work, process, GT_STARTUP_driver,
			            work->trace->processes.rows[process].start_ns, call->start_ns);
		has_call[process] = true;
		if (makes_context(function) ||
		    (!has_context[process] && !needs_no_context(function))) {
			part = GT_STARTUP_contexts;
			has_context[process] = true;
		}
		row->calls[part]++;
		add_stretch(work, process, part, call->start_ns,
		            gt_known_end(call->flags, call->end_ns, row->until_ns));
	}
	gt_array_free(has_context);
	gt_array_free(has_call);
}

static void add_loading(struct work *work)
{
	gt_array_each(const struct gt_module, module, &work->trace->modules)
		if (!isnan(module->load_ns) && module->load_ns > 0 &&
		    module->load_ns <= (double)module->loaded_ns)
			add_stretch(work, module->process, GT_STARTUP_loading,
			            module->loaded_ns - (gt_time)module->load_ns,
			            module->loaded_ns);
	gt_array_each(const struct gt_overhead, overhead, &work->trace->overheads)
		if (gt_overhead_loads_functions(overhead))
			add_stretch(work, overhead->process, GT_STARTUP_loading, overhead->start_ns,
			            overhead->end_ns);
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct edge *left = a;
	const struct edge *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

static enum gt_startup_part first_open(const int64_t *open)
{
	enum gt_startup_part part = 0;

	while (part < GT_STARTUP_host && open[part] == 0)
		part++;
	return part;
}

static void sweep(const struct work *work)
{
	size_t at = 0;

	if (work->edges.count > 1)
		qsort(work->edges.rows, work->edges.count, sizeof(*work->edges.rows),
		      by_process_and_time);
	gt_array_each(struct gt_startup, row, &work->startups->rows) {
		int64_t open[GT_STARTUP_PARTS] = {0};
		gt_time now_ns = row->start_ns;

		for (; at < work->edges.count && work->edges.rows[at].process == row->process;
		     at++) {
			const struct edge *edge = &work->edges.rows[at];

			row->parts[first_open(open)] += (uint64_t)(edge->time_ns - now_ns);
			now_ns = edge->time_ns;
			open[edge->part] += edge->change;
		}
		if (row->until_ns > now_ns)
			row->parts[GT_STARTUP_host] += (uint64_t)(row->until_ns - now_ns);
	}
}

/* ---- what may be saved ---- */

static void see_modules(const struct work *work)
{
	const struct gt_view whole = gt_view_of(work->trace);
	struct gt_module_uses uses;

	gt_module_uses_init(&uses, &whole);
	for (size_t i = 0; i < work->trace->modules.count; i++) {
		const struct gt_module *module = &work->trace->modules.rows[i];
		struct gt_startup *row = startup_of(work, module->process);

		if (!row || isnan(module->load_ns) || module->loaded_ns > row->until_ns)
			continue;
		if (module->jit_ns > 0) {
			row->jit_modules++;
			gt_sum_add(&row->jit_ns, (uint64_t)module->jit_ns);
		}
		if (uses.modules[i].kernels == 0 && uses.kernels_elsewhere == 0) {
			row->unused_modules++;
			gt_sum_add(&row->unused_ns, (uint64_t)module->load_ns);
		}
	}
	gt_module_uses_release(&uses);
}

struct function_key {
	gt_id process;
	gt_string name;
};

/* Executions of a function in a process. */
struct function {
	uint64_t before;
	uint64_t before_ns;
	bool goes_on; /* it ran in the steady step, or behind it */
	gt_id process;
};

static void see_functions(const struct work *work)
{
	const struct gt_trace *trace = work->trace;
	struct gt_index *keys = gt_index_new(sizeof(struct function_key));
	gt_array(struct function) functions = {0};

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const gt_id process = gt_trace_stream_process(trace, kernel->stream);
		const struct gt_startup *row = startup_of(work, process);
		struct function_key key = {.process = process};
		struct function *function;
		size_t number;

		if (!row || row->until != GT_STARTUP_STEP ||
		    kernel->shape >= trace->launch_shapes.count ||
		    !gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		key.name = trace->launch_shapes.rows[kernel->shape].name;
		number = gt_index_add(keys, &key);
		if (number < functions.count) {
			function = &functions.rows[number];
		} else {
			function = gt_array_push(&functions);
			*function = (struct function){.process = process};
		}
		if (kernel->start_ns >= row->until_ns) {
			function->goes_on = true;
			continue;
		}
		function->before++;
		gt_sum_add(&function->before_ns, (uint64_t)(kernel->end_ns - kernel->start_ns));
	}
	gt_array_each(const struct function, function, &functions) {
		struct gt_startup *row = startup_of(work, function->process);

		if (function->goes_on)
			continue;
		row->alone_kernels += function->before;
		gt_sum_add(&row->alone_ns, function->before_ns);
	}
	gt_index_free(keys);
	gt_array_free(functions.rows);
}

static void find_steps(struct work *work, const struct gt_view *view)
{
	const struct gt_view all = gt_view_of(work->trace);
	struct gt_steps steps;

	gt_steps_init(&steps, view->by_ranges ? view : &all);
	gt_steps_name(&steps, work->startups->path);
	add_steps(work, &steps);
	gt_steps_release(&steps);
}

void gt_startups_init(struct gt_startups *startups, const struct gt_view *view)
{
	struct work work = {.trace = gt_whole_of(view->trace), .startups = startups};

	*startups = (struct gt_startups){.knows_modules = work.trace->modules.count > 0};
	add_processes(&work);
	find_steps(&work, view);
	see_kernels(&work);
	gt_array_each(const struct gt_startup, row, &startups->rows)
		add_stretch(&work, row->process, GT_STARTUP_before, row->start_ns,
		            work.trace->processes.rows[row->process].start_ns);
	add_calls(&work);
	add_loading(&work);
	sweep(&work);
	see_modules(&work);
	see_functions(&work);
	gt_array_release(&work.edges);
}

void gt_startups_release(struct gt_startups *startups)
{
	gt_array_release(&startups->rows);
}

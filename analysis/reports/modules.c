/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/shares.h"
#include "analysis/time/module_calls.h"
#include "base/array.h"
#include "base/demangle/demangle.h"
#include "base/sums.h"
#include "model/gpu/module_index.h"
#include "model/index.h"
#include "model/names.h"
#include "model/naming/short_name.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/timed.h"

static const struct gt_heading process_headings[] = {
	{"process", GT_UNIT_TEXT, "That loaded them", GT_WORTH_KEY},
	{"modules", GT_UNIT_COUNT, "Loadings of modules", GT_WORTH_KEY},
	{"different", GT_UNIT_COUNT, "Different modules among them, by their contents"},
	{"size_bytes", GT_UNIT_BYTES, "Sum of their sizes"},
	{"reading_ns", GT_UNIT_NS,
         "Calls that took code in of which nothing was loaded yet: cuLibraryLoadData and the like",
         GT_WORTH_KEY},
	{"load_ns", GT_UNIT_NS, "Sum of the times that loading took, at most", GT_WORTH_KEY},
	{"functions_ns", GT_UNIT_NS,
         "Loading functions of loaded modules when they were first needed, as the driver says"},
	{"load_percent", GT_UNIT_PERCENT,
         "When the process did any of these three, of the recording or of its window"},
	{"not_measured", GT_UNIT_COUNT, "Loadings whose time is not known, and in no sum"},
	{"jit_ns", GT_UNIT_NS, "Part of load_ns for compiling code or getting it out of the cache"},
	{"calls", GT_UNIT_COUNT, "API calls that waited for any of it", GT_WORTH_LITTLE},
	{"functions", GT_UNIT_COUNT, "Functions in the modules", GT_WORTH_LITTLE},
	{"functions_used", GT_UNIT_COUNT, "Those that were launched", GT_WORTH_LITTLE},
	{"gputrace_ns", GT_UNIT_NS, "Time that gputrace itself took for them, hashing and keeping",
         GT_WORTH_LITTLE},
};

static const struct gt_heading module_headings[] = {
	{"hash", GT_UNIT_TEXT, "Hash of the cubin's bytes: equal for equal modules", GT_WORTH_KEY},
	{"loaded_ns", GT_UNIT_TIME, "When it had been loaded", GT_WORTH_KEY},
	{"unloaded_ns", GT_UNIT_TIME, "When its unloading began", GT_WORTH_LEAST},
	{"process", GT_UNIT_TEXT, "That loaded it", GT_WORTH_LEAST},
	{"load_ns", GT_UNIT_NS, "How long that took, at most", GT_WORTH_KEY},
	{"jit_ns", GT_UNIT_NS, "Part of it for compiling code or getting it out of the cache",
         GT_WORTH_ORDINARY},
	{"call", GT_UNIT_TEXT, "API call that waited for it", GT_WORTH_LITTLE},
	{"size_bytes", GT_UNIT_BYTES, "Size of the cubin"},
	{"arch", GT_UNIT_TEXT, "Architecture of its machine code; sm_90a: of that one alone",
         GT_WORTH_LITTLE},
	{"ptx_arch", GT_UNIT_TEXT, "That its PTX was written for; of kept modules", GT_WORTH_LEAST},
	{"functions", GT_UNIT_COUNT, "Functions in it"},
	{"functions_used", GT_UNIT_COUNT, "Those that were launched"},
	{"kernels", GT_UNIT_COUNT, "Executions of kernels from it"},
	{"kernel_ns", GT_UNIT_NS, "Sum of their times on the GPU"},
	{"main_kernel", GT_UNIT_TEXT, "Its kernel that took most of that", GT_WORTH_NAME},
	{"file", GT_UNIT_TEXT, "Where the recording keeps it", GT_WORTH_DATA},
	{"compiler", GT_UNIT_TEXT, "Compiler that made it, as it says; of kept modules",
         GT_WORTH_DATA},
};

static const struct gt_heading call_headings[] = {
	{"call", GT_UNIT_TEXT,
         "API call that took code in, or during which modules or functions were loaded",
         GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "How many did", GT_WORTH_KEY},
	{"modules", GT_UNIT_COUNT, "Loadings of modules in them", GT_WORTH_KEY},
	{"load_ns", GT_UNIT_NS, "Sum of the times that these took, at most", GT_WORTH_KEY},
	{"not_measured", GT_UNIT_COUNT, "Loadings whose time is not known, and in no sum",
         GT_WORTH_LITTLE},
	{"functions_ns", GT_UNIT_NS, "Loading functions in them, as the driver says",
         GT_WORTH_ORDINARY},
	{"gputrace_ns", GT_UNIT_NS, "Time that gputrace itself took in them, hashing and keeping",
         GT_WORTH_LITTLE},
	{"call_ns", GT_UNIT_NS, "Sum of the calls' own times", GT_WORTH_ORDINARY},
	{"most_ns", GT_UNIT_NS, "The longest of these calls", GT_WORTH_ORDINARY},
};

static const struct gt_heading function_headings[] = {
	{"module", GT_UNIT_TEXT, "Hash of the module it is in", GT_WORTH_LITTLE},
	{"kernels", GT_UNIT_COUNT, "Executions", GT_WORTH_KEY},
	{"kernel_ns", GT_UNIT_NS, "Sum of their times on the GPU", GT_WORTH_KEY},
	{"registers", GT_UNIT_COUNT, "Registers of a thread, as its launches took them"},
	{"compiled_registers", GT_UNIT_COUNT,
         "That the compiler says a thread needs; of kept modules", GT_WORTH_LITTLE},
	{"shared_bytes", GT_UNIT_BINARY_BYTES, "Shared memory that it declares"},
	{"local_bytes", GT_UNIT_BINARY_BYTES, "Local memory of a thread, where it is known"},
	{"constant_bytes", GT_UNIT_BINARY_BYTES,
         "Constant memory of its own, parameters included; of kept modules", GT_WORTH_LITTLE},
	{"max_threads", GT_UNIT_COUNT, "Threads of a block it was compiled for; of kept modules",
         GT_WORTH_LITTLE},
	{"code_bytes", GT_UNIT_BYTES, "Its machine code", GT_WORTH_LITTLE},
	{"function", GT_UNIT_TEXT, "Function", GT_WORTH_NAME},
	{"source", GT_UNIT_TEXT, "File and line it was written at, where the kept module tells",
         GT_WORTH_LEAST},
	{"full_name", GT_UNIT_TEXT, "The function's name as the compiler mangled it",
         GT_WORTH_DATA},
};

static const struct gt_heading jit_headings[] = {
	{"operation", GT_UNIT_TEXT, "The operation", GT_WORTH_KEY},
	{"what", GT_UNIT_TEXT, "From what to what", GT_WORTH_KEY},
	{"count", GT_UNIT_COUNT, "How often"},
	{"total_ns", GT_UNIT_NS, "Sum of end - start, of those that have times"},
};

/* Kernels of one function that ran. */
struct use {
	uint64_t kernels;
	uint64_t kernel_ns;
	gt_id shape; /* of one of them */
};

/* Known facts of one loading. */
struct module_use {
	uint64_t kernels;
	uint64_t kernel_ns;
	uint64_t used;  /* functions that were launched */
	uint64_t there; /* functions that there are rows of */
	gt_id main;     /* its function that took longest; GT_NONE: none was launched */
};

struct tally {
	const struct gt_view *view;
	const struct gt_trace *trace;
	struct use *uses;           /* by function */
	struct module_use *modules; /* by module */
	struct gt_module_calls calls;
	uint64_t kernels_elsewhere; /* of modules that are not known */
};

static void see_kernels(struct tally *tally)
{
	const struct gt_trace *trace = tally->trace;
	struct gt_module_index index;

	gt_module_index_init(&index, trace);
	for (size_t i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];
		const gt_id function = gt_module_index_find(&index, kernel);

		if (function == GT_NONE) {
			tally->kernels_elsewhere++;
			continue;
		}
		tally->uses[function].kernels++;
		tally->uses[function].shape = kernel->shape;
		if (gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			tally->uses[function].kernel_ns +=
				(uint64_t)(kernel->end_ns - kernel->start_ns);
	}
	gt_module_index_release(&index);
}

static void see_functions(struct tally *tally)
{
	const struct gt_trace *trace = tally->trace;

	for (size_t i = 0; i < trace->functions.count; i++) {
		const struct use *use = &tally->uses[i];
		const gt_id id = trace->functions.rows[i].module;
		struct module_use *module;

		if (id >= trace->modules.count)
			continue;
		module = &tally->modules[id];
		module->there++;
		module->kernels += use->kernels;
		module->kernel_ns += use->kernel_ns;
		module->used += use->kernels > 0;
		if (use->kernels > 0 && (module->main == GT_NONE ||
		                         use->kernel_ns > tally->uses[module->main].kernel_ns))
			module->main = (gt_id)i;
	}
}

/* Where some of the work is chosen, only modules that it is of are. */
static bool is_chosen(const struct tally *tally, size_t id)
{
	return !tally->view->by_work || tally->modules[id].kernels > 0;
}

static bool is_loaded_in_view(const struct tally *tally, size_t id)
{
	const struct gt_module *module = &tally->trace->modules.rows[id];

	return is_chosen(tally, id) && module->loaded_ns >= tally->view->start_ns &&
	       module->loaded_ns <= tally->view->end_ns;
}

/* Kernels of a window may be of modules that were loaded before it. */
static bool is_shown(const struct tally *tally, size_t id)
{
	return tally->modules[id].kernels > 0 || is_loaded_in_view(tally, id);
}

/* Loaded in a call that is not recorded by itself, or of which the filter left none. */
static bool is_unrecorded(const struct tally *tally, size_t id)
{
	return tally->trace->modules.rows[id].api_call >= tally->trace->api_calls.count &&
	       is_loaded_in_view(tally, id);
}

/* ---- processes ---- */

struct sum {
	uint64_t modules;
	uint64_t different;
	uint64_t bytes;
	double load_ns;
	struct gt_share loading; /* when it loaded anything, in the window */
	double jit_ns;
	uint64_t not_measured;
	uint64_t calls;
	uint64_t functions;
	uint64_t used;
	gt_time own_ns;
	gt_time reading_ns;
	gt_time functions_ns;
};

static void add_to_sum(struct sum *sum, const struct tally *tally, size_t id)
{
	const struct gt_module *module = &tally->trace->modules.rows[id];

	sum->modules++;
	gt_sum_add(&sum->bytes, module->size_bytes);
	sum->functions += module->function_count;
	sum->used += tally->modules[id].used;
	if (module->noted_ns > module->loaded_ns)
		sum->own_ns += module->noted_ns - module->loaded_ns;
	if (isnan(module->load_ns))
		sum->not_measured++;
	else
		sum->load_ns += module->load_ns;
	if (isnan(sum->jit_ns))
		sum->jit_ns = module->jit_ns;
	else if (!isnan(module->jit_ns))
		sum->jit_ns += module->jit_ns;
}

/* A process and what tells loadings apart in it. */
struct seen {
	uint64_t process;
	uint64_t what;
};

static bool is_new(struct gt_index *index, const struct seen *seen)
{
	const size_t before = gt_index_count(index);

	return gt_index_add(index, seen) == before;
}

static struct sum *sum_of(const struct tally *tally, struct sum *sums, gt_id process)
{
	const size_t count = tally->trace->processes.count;

	return &sums[process < count ? process : count];
}

static void sum_modules(const struct tally *tally, struct sum *sums)
{
	const struct gt_trace *trace = tally->trace;
	struct gt_index *hashes = gt_index_new(sizeof(struct seen));

	for (size_t i = 0; i < trace->modules.count; i++) {
		const struct gt_module *module = &trace->modules.rows[i];
		const struct seen hash = {module->process, module->hash};
		struct sum *sum = sum_of(tally, sums, module->process);

		if (!is_loaded_in_view(tally, i))
			continue;
		add_to_sum(sum, tally, i);
		sum->different += is_new(hashes, &hash);
	}
	gt_index_free(hashes);
}

static void sum_calls(const struct tally *tally, struct sum *sums)
{
	const struct gt_trace *trace = tally->trace;

	gt_array_each(const struct gt_module_call, call, &tally->calls.list) {
		const gt_id thread = trace->api_calls.rows[call->call].thread;
		struct sum *sum = sum_of(tally, sums, gt_trace_thread_process(trace, thread));

		sum->calls++;
		if (call->reads)
			sum->reading_ns += gt_module_call_ns(trace, call->call);
	}
	gt_array_each(const struct gt_overhead, overhead, &trace->overheads)
		if (gt_overhead_loads_functions(overhead))
			sum_of(tally, sums, overhead->process)->functions_ns +=
				overhead->end_ns - overhead->start_ns;
}

static void add_process(struct gt_result *result, const struct sum *sum)
{
	const bool known = sum->modules > sum->not_measured;

	gt_result_add_count(result, (int64_t)sum->modules);
	gt_result_add_count(result, (int64_t)sum->different);
	gt_result_add_count(result, (int64_t)sum->bytes);
	gt_result_add_count(result, sum->reading_ns);
	gt_add_rounded(result, known ? sum->load_ns : (double)NAN);
	gt_result_add_count(result, sum->functions_ns);
	gt_result_add_real(result, known ? gt_share_percent(&sum->loading) : (double)NAN);
	gt_result_add_count(result, (int64_t)sum->not_measured);
	gt_add_rounded(result, sum->jit_ns);
	gt_result_add_count(result, (int64_t)sum->calls);
	gt_result_add_count(result, (int64_t)sum->functions);
	gt_result_add_count(result, (int64_t)sum->used);
	gt_result_add_count(result, sum->own_ns);
}

static void add_processes(const struct tally *tally, struct gt_result *result)
{
	const struct gt_trace *trace = tally->trace;
	struct sum *sums = gt_allocate((trace->processes.count + 1) * sizeof(*sums));
	struct gt_unit_times loading;

	gt_loading_times_init(&loading, tally->view);
	for (size_t i = 0; i <= trace->processes.count; i++)
		sums[i] = (struct sum){
			.jit_ns = (double)NAN,
			.loading = gt_unit_times_of(&loading, (gt_id)i),
		};
	gt_unit_times_release(&loading);
	sum_modules(tally, sums);
	sum_calls(tally, sums);
	gt_result_begin(result, "processes", process_headings, GT_COUNT_OF(process_headings));
	for (size_t i = 0; i < trace->processes.count; i++) {
		if (sums[i].modules == 0)
			continue;
		gt_add_process(result, trace, (gt_id)i);
		add_process(result, &sums[i]);
	}
	gt_array_free(sums);
}

/* ---- modules ---- */

static void add_hash(struct gt_result *result, const struct gt_module *module)
{
	if (module->hash)
		gt_result_add_format(result, "%016" PRIx64, module->hash);
	else
		gt_result_add_unknown(result);
}

/* Architectures: the one its code is for, and the one of the PTX that it was made from. */
static void add_arches(struct gt_result *result, const struct gt_module *module)
{
	if (module->arch) {
		char text[GT_MODULE_ARCH_SIZE];

		gt_result_add_format(result, "%s", gt_module_arch(module, text));
	} else {
		gt_result_add_unknown(result);
	}
	if (module->ptx_arch)
		gt_result_add_format(result, "compute_%u", module->ptx_arch);
	else
		gt_result_add_unknown(result);
}

static void add_call(struct gt_result *result, const struct gt_trace *trace, gt_id call)
{
	if (call < trace->api_calls.count)
		gt_add_string(result, trace, trace->api_calls.rows[call].function);
	else
		gt_result_add_unknown(result);
}

static void add_function_name(struct gt_result *result, const struct tally *tally, gt_id id)
{
	const struct gt_function *function =
		id == GT_NONE ? NULL : &tally->trace->functions.rows[id];
	const char *name = function ? gt_trace_text(tally->trace, function->name) : "";
	char *demangled;

	if (!*name) {
		gt_result_add_unknown(result);
		return;
	}
	if (tally->uses[id].kernels > 0) {
		gt_result_add_text(result, gt_shape_name(tally->trace, tally->uses[id].shape));
		return;
	}
	demangled = gt_demangle(name);
	gt_result_add_format(result, "%s", demangled ? demangled : name);
	free(demangled);
}

/* Kernels of a module that ran are only known where its functions are. */
static void add_uses(struct gt_result *result, const struct tally *tally, size_t id)
{
	const struct module_use *use = &tally->modules[id];
	const bool known = tally->trace->modules.rows[id].traits & GT_MODULE_READ || use->there > 0;

	if (!known) {
		for (int i = 0; i < 4; i++)
			gt_result_add_unknown(result);
		return;
	}
	gt_result_add_count(result, tally->trace->modules.rows[id].function_count);
	gt_result_add_count(result, (int64_t)use->used);
	gt_result_add_count(result, (int64_t)use->kernels);
	gt_result_add_count(result, (int64_t)use->kernel_ns);
}

static void add_module(const struct tally *tally, struct gt_result *result, size_t id)
{
	const struct gt_trace *trace = tally->trace;
	const struct gt_module *module = &trace->modules.rows[id];

	add_hash(result, module);
	gt_add_moment(result, trace, module->loaded_ns);
	if (module->unloaded_ns)
		gt_add_moment(result, trace, module->unloaded_ns);
	else
		gt_result_add_unknown(result);
	gt_add_process(result, trace, module->process);
	gt_add_rounded(result, module->load_ns);
	gt_add_rounded(result, module->jit_ns);
	add_call(result, trace, module->api_call);
	gt_result_add_count(result, (int64_t)module->size_bytes);
	add_arches(result, module);
	add_uses(result, tally, id);
	add_function_name(result, tally, tally->modules[id].main);
	gt_add_string(result, trace, module->file);
	gt_add_string(result, trace, module->compiler);
}

struct place {
	gt_id id;
	double first;  /* what is larger stands first */
	double second; /* of equal ones */
};

static int by_amounts(const void *a, const void *b)
{
	const struct place *left = a;
	const struct place *right = b;

	if (left->first != right->first)
		return left->first < right->first ? 1 : -1;
	if (left->second != right->second)
		return left->second < right->second ? 1 : -1;
	return (left->id > right->id) - (left->id < right->id);
}

/* The dearest first; of those whose time is not known, the largest. */
static void add_modules(const struct tally *tally, struct gt_result *result)
{
	const struct gt_trace *trace = tally->trace;
	struct place *places = gt_allocate((trace->modules.count + 1) * sizeof(*places));
	size_t count = 0;

	for (size_t i = 0; i < trace->modules.count; i++) {
		const double load_ns = trace->modules.rows[i].load_ns;

		if (is_shown(tally, i))
			places[count++] = (struct place){(gt_id)i, isnan(load_ns) ? -1 : load_ns,
			                                 (double)trace->modules.rows[i].size_bytes};
	}
	qsort(places, count, sizeof(*places), by_amounts);
	gt_result_begin(result, "modules", module_headings, GT_COUNT_OF(module_headings));
	for (size_t i = 0; i < count; i++)
		add_module(tally, result, places[i].id);
	gt_array_free(places);
}

/* ---- calls ---- */

/* Sums of all calls of one function. */
struct call_sum {
	uint64_t calls;
	uint64_t modules;
	uint64_t not_measured;
	double load_ns;
	gt_time functions_ns;
	gt_time own_ns;
	gt_time call_ns;
	gt_time most_ns;
};

struct call_sums {
	struct gt_index *functions; /* by the strings of their names */
	gt_array(struct call_sum) list;
};

static struct call_sum *sum_of_call(struct call_sums *sums, const struct gt_api_call *call)
{
	const size_t number = gt_index_add(sums->functions, &call->function);
	struct call_sum *fresh;

	if (number < sums->list.count)
		return &sums->list.rows[number];
	fresh = gt_array_push(&sums->list);
	*fresh = (struct call_sum){0};
	return fresh;
}

static void count_call(struct call_sums *sums, const struct gt_trace *trace,
                       const struct gt_module_call *call)
{
	struct call_sum *sum = sum_of_call(sums, &trace->api_calls.rows[call->call]);
	const gt_time call_ns = gt_module_call_ns(trace, call->call);

	sum->calls++;
	sum->modules += call->modules;
	sum->not_measured += call->not_measured;
	sum->load_ns += call->load_ns;
	sum->functions_ns += call->functions_ns;
	sum->own_ns += call->own_ns;
	sum->call_ns += call_ns;
	if (call_ns > sum->most_ns)
		sum->most_ns = call_ns;
}

static void add_call_rows(const struct call_sums *sums, const struct gt_trace *trace,
                          struct gt_result *result)
{
	struct place *places = gt_allocate((sums->list.count + 1) * sizeof(*places));

	for (size_t i = 0; i < sums->list.count; i++)
		places[i] = (struct place){(gt_id)i, (double)sums->list.rows[i].call_ns,
		                           sums->list.rows[i].load_ns};
	qsort(places, sums->list.count, sizeof(*places), by_amounts);
	for (size_t i = 0; i < sums->list.count; i++) {
		const struct call_sum *sum = &sums->list.rows[places[i].id];
		const bool unknown = sum->modules > 0 && sum->not_measured == sum->modules;

		gt_add_string(result, trace,
		              *(const gt_string *)gt_index_key(sums->functions, places[i].id));
		gt_result_add_count(result, (int64_t)sum->calls);
		gt_result_add_count(result, (int64_t)sum->modules);
		gt_add_rounded(result, unknown ? (double)NAN : sum->load_ns);
		gt_result_add_count(result, (int64_t)sum->not_measured);
		gt_result_add_count(result, sum->functions_ns);
		gt_result_add_count(result, sum->own_ns);
		gt_result_add_count(result, sum->call_ns);
		gt_result_add_count(result, sum->most_ns);
	}
	gt_array_free(places);
}

/* Modules loaded in calls that are not recorded stand last, so that nothing is missing. */
static void add_unrecorded(const struct tally *tally, struct gt_result *result)
{
	struct sum sum = {.jit_ns = (double)NAN};

	for (size_t i = 0; i < tally->trace->modules.count; i++)
		if (is_unrecorded(tally, i))
			add_to_sum(&sum, tally, i);
	if (sum.modules == 0)
		return;
	gt_result_add_unknown(result);
	gt_result_add_unknown(result);
	gt_result_add_count(result, (int64_t)sum.modules);
	gt_add_rounded(result, sum.not_measured < sum.modules ? sum.load_ns : (double)NAN);
	gt_result_add_count(result, (int64_t)sum.not_measured);
	gt_result_add_unknown(result);
	gt_result_add_count(result, sum.own_ns);
	gt_result_add_unknown(result);
	gt_result_add_unknown(result);
}

static void add_calls(const struct tally *tally, struct gt_result *result)
{
	struct call_sums sums = {.functions = gt_index_new(sizeof(gt_string))};

	gt_array_each(const struct gt_module_call, call, &tally->calls.list)
		count_call(&sums, tally->trace, call);
	gt_result_begin(result, "calls", call_headings, GT_COUNT_OF(call_headings));
	add_call_rows(&sums, tally->trace, result);
	add_unrecorded(tally, result);
	gt_index_free(sums.functions);
	gt_array_release(&sums.list);
}

/* ---- functions ---- */

static void add_source(struct gt_result *result, const struct gt_trace *trace,
                       const struct gt_function *function)
{
	if (function->source_line)
		gt_result_add_format(result, "%s:%u", gt_trace_text(trace, function->source_file),
		                     function->source_line);
	else
		gt_result_add_unknown(result);
}

/* A function of a module, however often that was loaded. */
struct function_key {
	uint64_t module; /* its hash; of one without its row, which no hash is likely to be */
	uint64_t name;
};

struct function_sum {
	gt_id first; /* row of functions that was launched */
	struct use use;
};

struct functions {
	struct gt_index *index; /* of struct function_key */
	gt_array(struct function_sum) sums;
};

static struct function_sum *sum_of_function(struct functions *functions,
                                            const struct gt_trace *trace, gt_id id)
{
	const struct gt_function *function = &trace->functions.rows[id];
	const uint64_t hash = trace->modules.rows[function->module].hash;
	const struct function_key key = {hash ? hash : function->module, function->name_hash};
	const size_t number = gt_index_add(functions->index, &key);
	struct function_sum *fresh;

	if (number < functions->sums.count)
		return &functions->sums.rows[number];
	fresh = gt_array_push(&functions->sums);
	*fresh = (struct function_sum){.first = id};
	return fresh;
}

static void count_function(struct functions *functions, const struct tally *tally, gt_id id)
{
	struct function_sum *sum = sum_of_function(functions, tally->trace, id);

	sum->use.shape = tally->uses[id].shape;
	sum->use.kernels += tally->uses[id].kernels;
	sum->use.kernel_ns += tally->uses[id].kernel_ns;
}

static void add_function(const struct tally *tally, struct gt_result *result,
                         const struct function_sum *sum)
{
	const struct gt_trace *trace = tally->trace;
	const struct gt_function *function = &trace->functions.rows[sum->first];
	const bool known = function->known != GT_FUNCTION_NOTED;
	const bool is_read = function->known == GT_FUNCTION_READ;

	add_hash(result, &trace->modules.rows[function->module]);
	gt_result_add_count(result, (int64_t)sum->use.kernels);
	gt_result_add_count(result, (int64_t)sum->use.kernel_ns);
	gt_result_add_count(result, trace->launch_shapes.rows[sum->use.shape].registers);
	gt_result_add_count_if(result, is_read && function->registers, function->registers);
	gt_result_add_count_if(result, known, (int64_t)function->shared_bytes);
	gt_result_add_count_if(result, known && function->local_known,
	                       (int64_t)function->local_bytes);
	gt_result_add_count_if(result, is_read, (int64_t)function->constant_bytes);
	gt_result_add_count_if(result, is_read && function->max_threads, function->max_threads);
	gt_result_add_count(result, (int64_t)function->code_bytes);
	add_function_name(result, tally, sum->first);
	add_source(result, trace, function);
	gt_add_string(result, trace, function->name);
}

/* Those that were launched, the busiest first; what else is in kept modules has no figures. */
static void add_functions(const struct tally *tally, struct gt_result *result)
{
	const struct gt_trace *trace = tally->trace;
	struct functions functions = {.index = gt_index_new(sizeof(struct function_key))};
	struct place *places;

	for (size_t i = 0; i < trace->functions.count; i++)
		if (tally->uses[i].kernels > 0)
			count_function(&functions, tally, (gt_id)i);
	places = gt_allocate((functions.sums.count + 1) * sizeof(*places));
	for (size_t i = 0; i < functions.sums.count; i++)
		places[i] = (struct place){(gt_id)i, (double)functions.sums.rows[i].use.kernel_ns,
		                           (double)functions.sums.rows[i].use.kernels};
	qsort(places, functions.sums.count, sizeof(*places), by_amounts);
	gt_result_begin(result, "functions", function_headings, GT_COUNT_OF(function_headings));
	for (size_t i = 0; i < functions.sums.count; i++)
		add_function(tally, result, &functions.sums.rows[places[i].id]);
	gt_index_free(functions.index);
	gt_array_release(&functions.sums);
	gt_array_free(places);
}

/* ---- compilations ---- */

/* Of CUpti_ActivityJitOperationType and CUpti_ActivityJitEntryType. */
enum { OPERATIONS = 4, ENTRIES = 3 };

static void add_compilation(const struct gt_trace *trace, struct gt_result *result,
                            uint32_t operation, uint32_t entry)
{
	int64_t count = 0;
	int64_t total_ns = 0;

	gt_array_each(const struct gt_jit, jit, &trace->jits) {
		if (jit->operation != operation || jit->entry != entry)
			continue;
		count++;
		if (gt_timed(GT_TIMES_ANY, jit->flags, jit->start_ns, jit->end_ns))
			total_ns += jit->end_ns - jit->start_ns;
	}
	if (count == 0)
		return;
	gt_result_add_text(result, gt_jit_operation_name(operation));
	gt_result_add_text(result, gt_jit_entry_name(entry));
	gt_result_add_count(result, count);
	gt_result_add_count(result, total_ns);
}

static void add_compilations(const struct gt_trace *trace, struct gt_result *result)
{
	gt_result_begin(result, "compilations", jit_headings, GT_COUNT_OF(jit_headings));
	for (uint32_t operation = 0; operation < OPERATIONS; operation++)
		for (uint32_t entry = 0; entry < ENTRIES; entry++)
			add_compilation(trace, result, operation, entry);
}

/* Traits that some of the modules have. */
struct traits {
	bool is_kept;
	bool is_cut;
	bool has_no_call;
	bool has_jit;
};

static struct traits traits_of(const struct tally *tally)
{
	const struct gt_trace *trace = tally->trace;
	struct traits all = {0};

	for (size_t i = 0; i < trace->modules.count; i++) {
		const struct gt_module *module = &trace->modules.rows[i];

		all.has_no_call |= is_unrecorded(tally, i);
		all.has_jit |= (module->traits & GT_MODULE_JIT) != 0;
		all.is_kept |= (module->traits & GT_MODULE_KEPT) != 0;
		all.is_cut |=
			module->traits & GT_MODULE_CUT && !*gt_trace_text(trace, module->file);
	}
	return all;
}

static void add_remarks(const struct tally *tally, struct gt_result *result)
{
	const struct traits all = traits_of(tally);

	if (tally->trace->modules.count == 0) {
		gt_result_remark_empty(result,
		                       "No modules were recorded: not measured. Recordings made "
		                       "before gputrace recorded modules have none.");
		return;
	}
	gt_result_remark(result,
	                 "Load times are from the begin of the call, or the end of what the thread "
	                 "did before, to the moment when the module was there: at most that.");
	if (all.has_no_call)
		gt_result_remark(
			result, "Modules without a call were loaded in calls that are not recorded "
				"or not chosen; run --api all records all.");
	if (!all.has_jit)
		gt_result_remark(result, "Compilations were not recorded: how much of it they "
		                         "took is not known (run --keep-modules).");
	if (!all.is_kept)
		gt_result_remark(
			result,
			"Registers and memory of functions are known for those that were launched; of "
			"all of them, with source lines, after run --keep-modules.");
	if (all.is_cut)
		gt_result_remark(result,
		                 "In modules with more than 2,048 functions the others were "
		                 "not noted: kernels of these are of no known module.");
	if (tally->kernels_elsewhere)
		gt_result_remark(result,
		                 "%s kernels are of no known module: two that were loaded have a "
		                 "function of that name, or it was loaded before recording began.",
		                 gt_grouped(tally->kernels_elsewhere).text);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const struct gt_trace *trace = view->trace;
	struct tally tally = {
		.view = view,
		.trace = trace,
		.uses = gt_allocate((trace->functions.count + 1) * sizeof(*tally.uses)),
		.modules = gt_allocate((trace->modules.count + 1) * sizeof(*tally.modules)),
	};

	(void)arguments;
	(void)err;
	memset(tally.uses, 0, trace->functions.count * sizeof(*tally.uses));
	for (size_t i = 0; i < trace->modules.count; i++)
		tally.modules[i] = (struct module_use){.main = GT_NONE};
	see_kernels(&tally);
	see_functions(&tally);
	gt_module_calls_init(&tally.calls, view);
	add_processes(&tally, result);
	add_modules(&tally, result);
	add_calls(&tally, result);
	add_functions(&tally, result);
	add_compilations(trace, result);
	add_remarks(&tally, result);
	gt_module_calls_release(&tally.calls);
	gt_array_free(tally.uses);
	gt_array_free(tally.modules);
	return 0;
}

const struct gt_report gt_report_modules = {
	.name = "modules",
	.summary =
		"GPU code that was loaded: when, how long it took, which calls waited, what ran of it",
	.run = run,
};

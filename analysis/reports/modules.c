/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/kernels/module_uses.h"
#include "analysis/report.h"
#include "analysis/reports/modules/tables.h"
#include "analysis/result.h"
#include "analysis/time/module_calls.h"
#include "base/array.h"
#include "model/gpu/module_index.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/timed.h"

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

static const struct gt_heading jit_headings[] = {
	{"operation", GT_UNIT_TEXT, "The operation", GT_WORTH_KEY},
	{"what", GT_UNIT_TEXT, "From what to what", GT_WORTH_KEY},
	{"count", GT_UNIT_COUNT, "How often"},
	{"total_ns", GT_UNIT_NS, "Sum of end - start, of those that have times"},
};

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

/* Kernels of a module that ran are only known where its functions are. */
static void add_uses(struct gt_result *result, const struct gt_module_tally *tally, size_t id)
{
	const struct gt_module_use *use = &tally->uses.modules[id];
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

static void add_module(const struct gt_module_tally *tally, struct gt_result *result, size_t id)
{
	const struct gt_trace *trace = tally->trace;
	const struct gt_module *module = &trace->modules.rows[id];

	gt_module_add_hash(result, module);
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
	gt_module_add_function_name(result, tally, tally->uses.modules[id].main);
	gt_add_string(result, trace, module->file);
	gt_add_string(result, trace, module->compiler);
}

/* The dearest first; of those whose time is not known, the largest. */
static void add_modules(const struct gt_module_tally *tally, struct gt_result *result)
{
	const struct gt_trace *trace = tally->trace;
	struct gt_module_place *places = gt_allocate((trace->modules.count + 1) * sizeof(*places));
	size_t count = 0;

	for (size_t i = 0; i < trace->modules.count; i++) {
		const double load_ns = trace->modules.rows[i].load_ns;

		if (gt_module_is_shown(&tally->uses, i))
			places[count++] =
				(struct gt_module_place){(gt_id)i, isnan(load_ns) ? -1 : load_ns,
			                                 (double)trace->modules.rows[i].size_bytes};
	}
	qsort(places, count, sizeof(*places), gt_module_by_amounts);
	gt_result_begin(result, "modules", module_headings, GT_COUNT_OF(module_headings));
	for (size_t i = 0; i < count; i++)
		add_module(tally, result, places[i].id);
	gt_array_free(places);
}

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

static struct traits traits_of(const struct gt_module_tally *tally)
{
	const struct gt_trace *trace = tally->trace;
	struct traits all = {0};

	for (size_t i = 0; i < trace->modules.count; i++) {
		const struct gt_module *module = &trace->modules.rows[i];

		all.has_no_call |= gt_module_is_unrecorded(&tally->uses, i);
		all.has_jit |= (module->traits & GT_MODULE_JIT) != 0;
		all.is_kept |= (module->traits & GT_MODULE_KEPT) != 0;
		all.is_cut |=
			module->traits & GT_MODULE_CUT && !*gt_trace_text(trace, module->file);
	}
	return all;
}

static void add_remarks(const struct gt_module_tally *tally, struct gt_result *result)
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
	if (tally->uses.kernels_elsewhere)
		gt_result_remark(result,
		                 "%s kernels are of no known module: two that were loaded have a "
		                 "function of that name, or it was loaded before recording began.",
		                 gt_grouped(tally->uses.kernels_elsewhere).text);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const struct gt_trace *trace = view->trace;
	struct gt_module_tally tally = {
		.view = view,
		.trace = trace,
	};

	(void)arguments;
	(void)err;
	gt_module_uses_init(&tally.uses, view);
	gt_module_calls_init(&tally.calls, view);
	gt_module_add_processes(&tally, result);
	add_modules(&tally, result);
	gt_module_add_calls(&tally, result);
	gt_module_add_functions(&tally, result);
	add_compilations(trace, result);
	add_remarks(&tally, result);
	gt_module_calls_release(&tally.calls);
	gt_module_uses_release(&tally.uses);
	return 0;
}

const struct gt_report gt_report_modules = {
	.name = "modules",
	.summary =
		"GPU code that was loaded: when, how long it took, which calls waited, what ran of it",
	.run = run,
};

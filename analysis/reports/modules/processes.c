/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/modules/tables.h"

#include <math.h>
#include <stdbool.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "base/sums.h"
#include "model/index.h"

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

void gt_module_add_to_sum(struct gt_module_sum *sum, const struct gt_module_tally *tally, size_t id)
{
	const struct gt_module *module = &tally->trace->modules.rows[id];

	sum->modules++;
	gt_sum_add(&sum->bytes, module->size_bytes);
	sum->functions += module->function_count;
	sum->used += tally->uses.modules[id].used;
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

static struct gt_module_sum *sum_of(const struct gt_module_tally *tally, struct gt_module_sum *sums,
                                    gt_id process)
{
	const size_t count = tally->trace->processes.count;

	return &sums[process < count ? process : count];
}

static void sum_modules(const struct gt_module_tally *tally, struct gt_module_sum *sums)
{
	const struct gt_trace *trace = tally->trace;
	struct gt_index *hashes = gt_index_new(sizeof(struct seen));

	for (size_t i = 0; i < trace->modules.count; i++) {
		const struct gt_module *module = &trace->modules.rows[i];
		const struct seen hash = {module->process, module->hash};
		struct gt_module_sum *sum = sum_of(tally, sums, module->process);

		if (!gt_module_is_loaded_in_view(&tally->uses, i))
			continue;
		gt_module_add_to_sum(sum, tally, i);
		sum->different += is_new(hashes, &hash);
	}
	gt_index_free(hashes);
}

static void sum_calls(const struct gt_module_tally *tally, struct gt_module_sum *sums)
{
	const struct gt_trace *trace = tally->trace;

	gt_array_each(const struct gt_module_call, call, &tally->calls.list) {
		const gt_id thread = trace->api_calls.rows[call->call].thread;
		struct gt_module_sum *sum =
			sum_of(tally, sums, gt_trace_thread_process(trace, thread));

		sum->calls++;
		if (call->reads)
			sum->reading_ns += gt_module_call_ns(trace, call->call);
	}
	gt_array_each(const struct gt_overhead, overhead, &trace->overheads)
		if (gt_overhead_loads_functions(overhead))
			sum_of(tally, sums, overhead->process)->functions_ns +=
				overhead->end_ns - overhead->start_ns;
}

static void add_process(struct gt_result *result, const struct gt_module_sum *sum)
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

void gt_module_add_processes(const struct gt_module_tally *tally, struct gt_result *result)
{
	const struct gt_trace *trace = tally->trace;
	struct gt_module_sum *sums = gt_allocate((trace->processes.count + 1) * sizeof(*sums));
	struct gt_unit_times loading;

	gt_loading_times_init(&loading, tally->view);
	for (size_t i = 0; i <= trace->processes.count; i++)
		sums[i] = (struct gt_module_sum){
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/modules/tables.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/index.h"

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
	struct gt_function_use use;
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

static void count_function(struct functions *functions, const struct gt_module_tally *tally,
                           gt_id id)
{
	struct function_sum *sum = sum_of_function(functions, tally->trace, id);

	sum->use.shape = tally->uses.functions[id].shape;
	sum->use.kernels += tally->uses.functions[id].kernels;
	sum->use.kernel_ns += tally->uses.functions[id].kernel_ns;
}

static void add_function(const struct gt_module_tally *tally, struct gt_result *result,
                         const struct function_sum *sum)
{
	const struct gt_trace *trace = tally->trace;
	const struct gt_function *function = &trace->functions.rows[sum->first];
	const bool known = function->known != GT_FUNCTION_NOTED;
	const bool is_read = function->known == GT_FUNCTION_READ;

	gt_module_add_hash(result, &trace->modules.rows[function->module]);
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
	gt_module_add_function_name(result, tally, sum->first);
	add_source(result, trace, function);
	gt_add_string(result, trace, function->name);
}

void gt_module_add_functions(const struct gt_module_tally *tally, struct gt_result *result)
{
	const struct gt_trace *trace = tally->trace;
	struct functions functions = {.index = gt_index_new(sizeof(struct function_key))};
	struct gt_module_place *places;

	for (size_t i = 0; i < trace->functions.count; i++)
		if (tally->uses.functions[i].kernels > 0)
			count_function(&functions, tally, (gt_id)i);
	places = gt_allocate((functions.sums.count + 1) * sizeof(*places));
	for (size_t i = 0; i < functions.sums.count; i++)
		places[i] = (struct gt_module_place){(gt_id)i,
		                                     (double)functions.sums.rows[i].use.kernel_ns,
		                                     (double)functions.sums.rows[i].use.kernels};
	qsort(places, functions.sums.count, sizeof(*places), gt_module_by_amounts);
	gt_result_begin(result, "functions", function_headings, GT_COUNT_OF(function_headings));
	for (size_t i = 0; i < functions.sums.count; i++)
		add_function(tally, result, &functions.sums.rows[places[i].id]);
	gt_index_free(functions.index);
	gt_array_release(&functions.sums);
	gt_array_free(places);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/ranges/operation_totals.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/time/profiled.h"
#include "base/array.h"
#include "base/units.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/whole.h"

/* Columns of each operation, after its name. */
#define FIGURES                                                                                    \
	{"calls", GT_UNIT_COUNT,                                                                   \
	 "Ranges that began; of modules in backward, stretches of autograd; of what graphs "       \
	 "run, launches",                                                                          \
	 GT_WORTH_LITTLE},                                                                         \
		{"own_ns", GT_UNIT_NS,                                                             \
	         "GPU time of what it asked for itself: sum of end - start of kernels, copies "    \
	         "and fills",                                                                      \
	         GT_WORTH_KEY},                                                                    \
		{"share_percent", GT_UNIT_PERCENT,                                                 \
	         "own_ns of the time of all kernels, copies and fills", GT_WORTH_KEY},             \
		{"inclusive_ns", GT_UNIT_NS,                                                       \
	         "own_ns, and that of the others of this table that were called inside"},          \
		{"own_wall_ns", GT_UNIT_NS,                                                        \
	         "Time of its ranges on their threads, without those of others of this table "     \
	         "inside",                                                                         \
	         GT_WORTH_KEY},                                                                    \
		{"own_api_ns", GT_UNIT_NS, "CUDA calls in own_wall_ns", GT_WORTH_LITTLE},          \
		{"wall_ns", GT_UNIT_NS,                                                            \
	         "Time of its ranges on their threads, with what is inside"},                      \
		{"mean_ns", GT_UNIT_NS, "GPU time of a call, with what is inside, on average"},    \
		{"median_ns", GT_UNIT_NS, "Half of the calls took no more", GT_WORTH_LITTLE},      \
		{"min_ns", GT_UNIT_NS, "Least", GT_WORTH_LEAST},                                   \
		{"max_ns", GT_UNIT_NS, "Most", GT_WORTH_LEAST},                                    \
		{"launches", GT_UNIT_COUNT, "Kernels, copies and fills of own_ns",                 \
	         GT_WORTH_LITTLE},                                                                 \
		{"launches_each", GT_UNIT_REAL, "launches / calls", GT_WORTH_LITTLE},              \
	{                                                                                          \
		"idle_ns", GT_UNIT_NS,                                                             \
			"GPU idle from first start to last end of its calls; not known in graphs " \
			"and in outer backward",                                                   \
			GT_WORTH_LITTLE                                                            \
	}

static const struct gt_heading module_headings[] = {
	{"module", GT_UNIT_TEXT, "Path of the module in its model, or optimizer", GT_WORTH_NAME},
	{"direction", GT_UNIT_TEXT, "Forward, or backward; not known of optimizers", GT_WORTH_KEY},
	FIGURES,
};

#define OP(worth_of_shapes)                                                                        \
	{"op", GT_UNIT_TEXT, "Operation of PyTorch", GT_WORTH_NAME},                               \
		{"direction", GT_UNIT_TEXT,                                                        \
	         "Forward, or backward with all that backward calls; not known of what "           \
	         "optimizers call",                                                                \
	         GT_WORTH_KEY},                                                                    \
		FIGURES,                                                                           \
		{"forward_op", GT_UNIT_TEXT,                                                       \
	         "Backward: operation that its sequence number, or that around it, ties it to",    \
	         GT_WORTH_LITTLE},                                                                 \
	{                                                                                          \
		"shapes", GT_UNIT_TEXT, "Shapes of its operands, with --by shape", worth_of_shapes \
	}

static const struct gt_heading op_headings[] = {OP(GT_WORTH_LESSER_NAME)};
/* Rows of one operation differ in their shapes alone. */
static const struct gt_heading shaped_headings[] = {OP(GT_WORTH_NAME)};

static const struct gt_heading hlo_headings[] = {
	{"instruction", GT_UNIT_TEXT,
         "Instruction of HLO, without XLA's ranges its kernel; not known of calls of libraries then",
         GT_WORTH_NAME},
	{"category", GT_UNIT_TEXT,
         "Sort of instruction, as its text, its name or its kernel tells"},
	FIGURES,
	{"kernel", GT_UNIT_TEXT, "The kernel that took most of own_ns"},
	{"hlo_module", GT_UNIT_TEXT, "Module of HLO that it is in", GT_WORTH_LITTLE},
};

/* The tables, and of whom each is. */
static const struct table {
	const char *title;
	enum gt_operation_kind kind;
	const struct gt_heading *headings;
	size_t count;
} tables[] = {
	{"nn_modules", GT_OPERATION_MODULE, module_headings, GT_COUNT_OF(module_headings)},
	{"ops", GT_OPERATION_OP, op_headings, GT_COUNT_OF(op_headings)},
	{"hlo", GT_OPERATION_HLO, hlo_headings, GT_COUNT_OF(hlo_headings)},
};

static const struct table shaped = {"ops", GT_OPERATION_OP, shaped_headings,
                                    GT_COUNT_OF(shaped_headings)};

static int by_own_time(const void *a, const void *b)
{
	const struct gt_operation_total *left = a;
	const struct gt_operation_total *right = b;
	const int order = strcmp(left->name, right->name);
	const int inner = strcmp(left->around, right->around);

	if (left->own_ns != right->own_ns)
		return left->own_ns < right->own_ns ? 1 : -1;
	if (left->inclusive_ns != right->inclusive_ns)
		return left->inclusive_ns < right->inclusive_ns ? 1 : -1;
	if (order)
		return order;
	return inner ? inner : (int)left->direction - (int)right->direction;
}

static void add_figures(const struct gt_operation_totals *totals, struct gt_result *result,
                        const struct gt_operation_total *row)
{
	const bool called = row->calls > 0;

	gt_result_add_count_if(result, called, (int64_t)row->calls);
	gt_result_add_count(result, (int64_t)row->own_ns);
	gt_result_add_real(result, gt_percent((double)row->own_ns, (double)totals->busy_ns));
	gt_result_add_count(result, (int64_t)row->inclusive_ns);
	gt_result_add_count_if(result, row->timed > 0, (int64_t)row->own_wall_ns);
	gt_result_add_count_if(result,
	                       row->timed > 0 && gt_trace_has_calls(gt_whole_of(totals->trace)),
	                       (int64_t)row->own_api_ns);
	gt_result_add_count_if(result, row->timed > 0 || row->wall_ns > 0, (int64_t)row->wall_ns);
	gt_add_rounded(result, row->each.mean);
	gt_result_add_count_if(result, called, row->each.median);
	gt_result_add_count_if(result, called, row->each.min);
	gt_result_add_count_if(result, called, row->each.max);
	gt_result_add_count(result, (int64_t)row->launches);
	if (called)
		gt_result_add_real(result, (double)row->launches / (double)row->calls);
	else
		gt_result_add_unknown(result);
	gt_result_add_count_if(result, called && !row->in_graphs && !row->has_inner,
	                       (int64_t)row->idle_ns);
}

static void add_row(const struct gt_operation_totals *totals, struct gt_result *result,
                    const struct gt_operation_total *row)
{
	gt_result_add_copy(result, row->name);
	if (row->kind == GT_OPERATION_HLO)
		gt_result_add_text(result, gt_hlo_category_name(row->category));
	else
		gt_result_add_copy(result, gt_direction_name(row->direction));
	add_figures(totals, result, row);
	if (row->kind == GT_OPERATION_HLO)
		gt_result_add_copy(result, row->kernel);
	if (row->kind != GT_OPERATION_MODULE)
		gt_result_add_copy(result, row->around);
	if (row->kind == GT_OPERATION_OP)
		gt_result_add_copy(result, row->sizes);
}

static void add_table(const struct gt_operation_totals *totals, struct gt_result *result,
                      const struct table *table)
{
	gt_result_begin(result, table->title, table->headings, table->count);
	gt_array_each(const struct gt_operation_total, row, &totals->rows)
		if (row->kind == table->kind && (row->calls || row->inclusive_ns))
			add_row(totals, result, row);
}

static void remark(const struct gt_operation_totals *totals, struct gt_result *result)
{
	static const char *const of[] = {
		[GT_OPERATION_MODULE] = "modules and optimizers",
		[GT_OPERATION_OP] = "operations",
		[GT_OPERATION_HLO] = "instructions of HLO",
	};

	gt_result_remark(result,
	                 "Shares are of %s: kernels, of which the report kernels tells, took %s, "
	                 "copies and fills %s.",
	                 gt_figure_ns((int64_t)totals->busy_ns).text,
	                 gt_figure_ns((int64_t)totals->kernels_ns).text,
	                 gt_figure_ns((int64_t)(totals->busy_ns - totals->kernels_ns)).text);
	for (size_t i = 0; i < GT_COUNT_OF(tables); i++)
		if (totals->owned_ns[tables[i].kind])
			gt_result_remark(result, "%.1f %% of the GPU time belongs to %s.",
			                 gt_percent((double)totals->owned_ns[tables[i].kind],
			                            (double)totals->busy_ns),
			                 of[tables[i].kind]);
	if (totals->buffers_ns)
		gt_result_remark(result,
		                 "%.1f %% is of command buffers, and of which instructions is not "
		                 "known.",
		                 gt_percent((double)totals->buffers_ns, (double)totals->busy_ns));
	gt_array_each(const struct gt_operation_total, row, &totals->rows)
		if (row->from_names) {
			gt_result_remark(result,
			                 "XLA's ranges are missing for some kernels: their "
			                 "instructions are told by their names, and calls of "
			                 "libraries belong to none.");
			return;
		}
}

enum { BY };

static const char *const by_words[] = {"name", "shape", NULL};

static const struct gt_parameter parameters[] = {
	{"by", GT_PARAMETER_CHOICE, "name",
         "Property by which operations of PyTorch are counted together: by their names, or the "
         "shapes of their operands too (run --pytorch shapes)",
         by_words},
	{0},
};

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const bool by_sizes = strcmp(arguments->values[BY].text, by_words[0]) != 0;
	struct gt_operation_totals totals;

	(void)err;
	gt_operation_totals_init(&totals, view->trace, by_sizes);
	if (totals.rows.count > 1)
		qsort(totals.rows.rows, totals.rows.count, sizeof(*totals.rows.rows), by_own_time);
	for (size_t i = 0; i < GT_COUNT_OF(tables); i++)
		add_table(&totals, result,
		          by_sizes && tables[i].kind == GT_OPERATION_OP ? &shaped : &tables[i]);
	if (totals.rows.count > 0) {
		remark(&totals, result);
		gt_remark_held_up(result, view->trace);
	} else {
		gt_result_remark_empty(result,
		                       "No operations of frameworks were recorded: gputrace run "
		                       "--pytorch modules names those of PyTorch, XLA names its "
		                       "own.");
	}
	gt_operation_totals_release(&totals);
	return 0;
}

const struct gt_report gt_report_ops = {
	.name = "ops",
	.summary = "Modules and operations of PyTorch, instructions of XLA: GPU time of each",
	.parameters = parameters,
	.run = run,
};

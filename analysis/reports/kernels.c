/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/kernels/each.h"
#include "analysis/kernels/family_shares.h"
#include "analysis/kernels/first_launches.h"
#include "analysis/kernels/groups.h"
#include "analysis/kernels/launch_uses.h"
#include "analysis/parameter.h"
#include "analysis/range_threads.h"
#include "analysis/report.h"
#include "analysis/reports/kernels/launch_shapes.h"
#include "analysis/reports/kernels/tally.h"
#include "analysis/result.h"
#include "analysis/statistics/spread.h"
#include "base/array.h"
#include "model/gpu/throttle.h"
#include "model/index.h"
#include "model/naming/kernel_names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/timed.h"

/* Columns of each group of executions, after its name. */
#define FIGURES                                                                                    \
	{"calls", GT_UNIT_COUNT, "Executions that have a start and an end", GT_WORTH_KEY},         \
		{"total_ns", GT_UNIT_NS, "Sum of end - start of its executions on the GPU",        \
	         GT_WORTH_KEY},                                                                    \
		{"share_percent", GT_UNIT_PERCENT, "total_ns of the total_ns of all kernels",      \
	         GT_WORTH_KEY},                                                                    \
		{"mean_ns", GT_UNIT_NS, "total_ns / calls"},                                       \
		{"median_ns", GT_UNIT_NS, "Half of the executions took no longer"},                \
		{"min_ns", GT_UNIT_NS, "Shortest execution", GT_WORTH_LITTLE},                     \
		{"max_ns", GT_UNIT_NS, "Longest execution", GT_WORTH_LITTLE},                      \
		{"deviation_ns", GT_UNIT_NS,                                                       \
	         "Standard deviation of the sample (n - 1); needs two executions",                 \
	         GT_WORTH_LITTLE, .label = "stddev"},                                              \
		{"shapes", GT_UNIT_COUNT,                                                          \
	         "Different launch shapes (grid, block, shared memory, registers) used",           \
	         GT_WORTH_LITTLE},                                                                 \
		{"unfinished", GT_UNIT_COUNT,                                                      \
	         "Queued or running when the process died: known by name, without times",          \
	         GT_WORTH_LEAST, true},                                                            \
		{"throttled_calls", GT_UNIT_COUNT,                                                 \
	         "Executions that began while something slowed the GPU down (telemetry); not "     \
	         "known without",                                                                  \
	         GT_WORTH_LEAST, true},                                                            \
		{"first_calls", GT_UNIT_COUNT,                                                     \
	         "Executions that were the first of their function in a process on a GPU",         \
	         GT_WORTH_LEAST},                                                                  \
		{"later_mean_ns", GT_UNIT_NS, "Mean of the others", GT_WORTH_LEAST},               \
		{"later_median_ns", GT_UNIT_NS, "Median of the others", GT_WORTH_LEAST},           \
	{                                                                                          \
		"profiled", GT_UNIT_COUNT,                                                         \
			"Run several times for their counters (run --kernel-counters): in no "     \
			"other figure",                                                            \
			GT_WORTH_LEAST                                                             \
	}
#define NAMED                                                                                      \
	{"family", GT_UNIT_TEXT, "Its purpose, as its name tells", GT_WORTH_LITTLE},               \
		{"origin", GT_UNIT_TEXT,                                                           \
	         "Library or compiler that it comes from, as its name tells", GT_WORTH_LEAST},     \
		{"tile", GT_UNIT_TEXT,                                                             \
	         "Tile of a matrix multiplication that a block works out, as its name tells",      \
	         GT_WORTH_DATA},                                                                   \
		{"full_name", GT_UNIT_TEXT,                                                        \
	         "Its name as C++ writes it; of one, where shapes of "                             \
	         "several are called the same",                                                    \
	         GT_WORTH_DATA},                                                                   \
	{                                                                                          \
		"mangled_name", GT_UNIT_TEXT, "The same as the compiler mangled it", GT_WORTH_DATA \
	}

static const struct gt_heading name_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name; instances that read alike are counted together",
         GT_WORTH_NAME},
	FIGURES,
	NAMED,
};

static const struct gt_heading shape_group_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name, with the grid, block and cluster of the launch",
         GT_WORTH_NAME},
	FIGURES,
	NAMED,
};

static const struct gt_heading base_headings[] = {
	{"base", GT_UNIT_TEXT, "Function name without template arguments, tile or number",
         GT_WORTH_NAME},
	FIGURES,
};

static const struct gt_heading stream_headings[] = {
	{"stream", GT_UNIT_TEXT, "CUDA stream that they ran on", GT_WORTH_NAME},
	FIGURES,
};

static const struct gt_heading family_headings[] = {
	{"family", GT_UNIT_TEXT, "Their purpose, as their names tell", GT_WORTH_NAME},
	FIGURES,
};

static const struct gt_heading origin_headings[] = {
	{"origin", GT_UNIT_TEXT, "Library or compiler that they come from, as their names tell",
         GT_WORTH_NAME},
	FIGURES,
};

static const struct gt_heading range_headings[] = {
	{"range", GT_UNIT_TEXT,
         "Path of the innermost NVTX range that they were asked for in; of a captured graph, "
         "that it was captured in",
         GT_WORTH_NAME},
	FIGURES,
};

static const struct {
	const struct gt_heading *headings;
	size_t count;
} group_headings[] = {
	[GT_BY_NAME] = {name_headings, GT_COUNT_OF(name_headings)},
	[GT_BY_BASE] = {base_headings, GT_COUNT_OF(base_headings)},
	[GT_BY_SHAPE] = {shape_group_headings, GT_COUNT_OF(shape_group_headings)},
	[GT_BY_STREAM] = {stream_headings, GT_COUNT_OF(stream_headings)},
	[GT_BY_FAMILY] = {family_headings, GT_COUNT_OF(family_headings)},
	[GT_BY_ORIGIN] = {origin_headings, GT_COUNT_OF(origin_headings)},
	[GT_BY_RANGE] = {range_headings, GT_COUNT_OF(range_headings)},
};

static const char *const each_words[] = {"no", "yes", NULL};

static const struct gt_parameter parameters[] = {
	{"by", GT_PARAMETER_CHOICE, "name", "Property by which executions are counted together",
         gt_group_words},
	{"each", GT_PARAMETER_CHOICE, "no",
         "Whether what each kernel takes of one NVTX range is shown, with its spread", each_words},
	{0},
};

enum { BY, EACH }; /* arguments, as above */

/* One row of the first table. */
struct group_row {
	const char *label;
	gt_id shape; /* one of its launch shapes, GT_NONE: none is known */
	struct gt_spread spread;
	struct gt_spread later;
	uint64_t first;
	uint64_t shapes;
	uint64_t unfinished;
	uint64_t profiled;
	struct gt_slowed_calls slowed;
};

/* Those without any times come last. */
static int by_total_of_group(const void *a, const void *b)
{
	const struct group_row *left = a;
	const struct group_row *right = b;
	const int64_t left_ns = left->spread.total;
	const int64_t right_ns = right->spread.total;

	if ((left->spread.count > 0) != (right->spread.count > 0))
		return left->spread.count > 0 ? -1 : 1;
	if (left_ns != right_ns)
		return left_ns < right_ns ? 1 : -1;
	if (left->unfinished != right->unfinished)
		return left->unfinished < right->unfinished ? 1 : -1;
	if (left->profiled != right->profiled)
		return left->profiled < right->profiled ? 1 : -1;
	return strcmp(left->label, right->label);
}

/* Launch shapes by group: a stream or range has those of what ran there, others are known by
 * theirs. */
static void count_shapes(const struct gt_kernel_tally *tally, struct group_row *rows)
{
	const size_t shapes = tally->trace->launch_shapes.count;
	struct gt_index *seen = gt_index_new(2 * sizeof(uint32_t));

	gt_array_each(const struct gt_kernel, kernel, &tally->trace->kernels) {
		const size_t group = gt_kernel_group_of(&tally->groups, kernel);
		const uint32_t key[] = {(uint32_t)group, kernel->shape};
		const size_t before = gt_index_count(seen);

		if (kernel->shape < shapes &&
		    gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			rows[group].shapes += gt_index_add(seen, key) == before;
	}
	gt_index_free(seen);
}

static struct group_row *make_group_rows(const struct gt_kernel_tally *tally)
{
	const size_t count = tally->groups.count;
	struct group_row *rows = gt_allocate(count * sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct group_row){
			.label = tally->groups.labels[i],
			.shape = tally->groups.shapes[i],
			.spread = gt_spread_of_group(&tally->durations, i),
			.later = gt_spread_of_group(&tally->later, i),
			.first = tally->first_of[i],
			.unfinished = tally->unfinished_of[i],
			.profiled = tally->profiled_of[i],
			.slowed = tally->slowed_of[i],
		};
	count_shapes(tally, rows);
	qsort(rows, count, sizeof(*rows), by_total_of_group);
	return rows;
}

static void add_times(struct gt_result *result, const struct gt_spread *spread, uint64_t total_ns)
{
	gt_result_add_count(result, spread->total);
	gt_result_add_real(result, gt_percent((double)spread->total, (double)total_ns));
	gt_add_rounded(result, spread->mean);
	gt_result_add_count(result, spread->median);
	gt_result_add_count(result, spread->min);
	gt_result_add_count(result, spread->max);
	gt_add_rounded(result, spread->deviation);
}

/* Facts that the name tells: family, origin, tile. */
static void add_told(const struct gt_trace *trace, struct gt_result *result, gt_id row)
{
	const struct gt_launch_shape *shape;

	if (row >= trace->launch_shapes.count) {
		gt_result_add_unknowns(result, 3);
		return;
	}
	shape = &trace->launch_shapes.rows[row];
	gt_result_add_text(result, gt_family_name(shape->family));
	if (shape->origin == GT_ORIGIN_unknown)
		gt_result_add_unknown(result);
	else
		gt_result_add_text(result, gt_origin_name(shape->origin));
	gt_add_string(result, trace, shape->tile);
}

static void add_group(const struct gt_kernel_tally *tally, struct gt_result *result,
                      const struct group_row *row)
{
	const enum gt_group_by by = tally->groups.by;

	/* The labels end with the tally, before the result. */
	gt_result_add_format(result, "%s", row->label);
	gt_result_add_count(result, (int64_t)row->spread.count);
	if (row->spread.count)
		add_times(result, &row->spread, tally->total_ns);
	else
		gt_result_add_unknowns(result, 7);
	gt_result_add_count_if(result, row->shapes > 0, (int64_t)row->shapes);
	gt_result_add_count(result, (int64_t)row->unfinished);
	gt_result_add_count_if(result, row->slowed.known, (int64_t)row->slowed.calls);
	gt_result_add_count(result, (int64_t)row->first);
	gt_add_rounded(result, row->later.mean);
	gt_result_add_count_if(result, row->later.count > 0, row->later.median);
	gt_result_add_count(result, (int64_t)row->profiled);
	if (by == GT_BY_NAME || by == GT_BY_SHAPE) {
		add_told(tally->trace, result, row->shape);
		gt_add_names(result, tally->trace, row->shape);
	}
}

static void add_groups(const struct gt_kernel_tally *tally, struct gt_result *result)
{
	const enum gt_group_by by = tally->groups.by;
	struct group_row *rows = make_group_rows(tally);

	gt_result_begin(result, "kernels", group_headings[by].headings, group_headings[by].count);
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < tally->groups.count; i++)
		if (rows[i].spread.count || rows[i].unfinished || rows[i].profiled)
			add_group(tally, result, &rows[i]);
	free(rows);
}

/* Names what held the clocks down: a wide spread of times may come from it. */
static void remark_slowed(const struct gt_kernel_tally *tally, struct gt_result *result)
{
	uint64_t reasons = tally->slowing;
	uint64_t calls = 0;
	char names[512] = "";
	size_t used = 0;

	if (!reasons)
		return;
	for (size_t i = 0; i < tally->groups.count; i++)
		calls += tally->slowed_of[i].calls;
	while (reasons && used < sizeof(names)) {
		const uint64_t reason = gt_throttle_next(&reasons);

		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s (%s)",
		                         used ? ", " : "", gt_throttle_name(reason),
		                         gt_throttle_help(reason));
	}
	gt_result_remark(
		result,
		"%s executions began while the GPU's clocks were held down and may have taken "
		"longer for it: %s. Report telemetry says when and how long.",
		gt_grouped(calls).text, names);
}

static void add_remarks(const struct gt_kernel_tally *tally, struct gt_result *result)
{
	const size_t kernels = tally->trace->kernels.count;

	if (kernels == 0) {
		gt_remark_no_kernels(result, tally->trace);
		return;
	}
	if (tally->unfinished)
		gt_result_remark(
			result,
			"%s of %s kernels have no end time and are in no time: they ran or were "
			"queued when their process ended.",
			gt_grouped(tally->unfinished).text, gt_grouped(kernels).text);
	if (tally->profiled)
		gt_result_remark(
			result,
			"%s of %s kernels were run several times for their counters (run "
			"--kernel-counters) and are in no time; report counters has what was counted.",
			gt_grouped(tally->profiled).text, gt_grouped(kernels).text);
	remark_slowed(tally, result);
	gt_result_remark_on(result, "total_ns",
	                    "Times are CUPTI's, from the first block's start to the last block's "
	                    "end. Kernels that ran at the same time each count in full, so total "
	                    "can exceed the time the GPU was busy (see summary).");
	gt_result_remark_on(result, "later_mean_ns later_median_ns",
	                    "In later_mean and later_median of a kernel its first launches are "
	                    "left out.");
	gt_remark_local_memory(result, tally->trace, &tally->uses);
	gt_result_remark_on(result, "occupancy_percent",
	                    "Occupancy is what could be resident by the device's limits and the "
	                    "launch shape, not what was.");
	gt_result_remark_on(result, "waves_per_sm",
	                    "waves_per_sm below 1 means that the launch does not fill the "
	                    "device.");
}

/* A kernel may be in a range that another thread opened. */
static void remark_threads(const struct gt_kernel_tally *tally, struct gt_result *result)
{
	const struct gt_range_threads threads = gt_range_threads_of(&tally->groups.ranges);

	gt_remark_range_threads(result, &threads);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct gt_kernel_tally tally;
	bool by_kernel;

	(void)err;
	gt_kernel_tally_init(&tally, view->trace, gt_group_by(arguments->values[BY].text));
	by_kernel = tally.groups.by == GT_BY_NAME || tally.groups.by == GT_BY_SHAPE;
	add_groups(&tally, result);
	if (arguments->values[EACH].text[0] == 'y')
		gt_add_kernels_each(result, &tally.groups);
	if (tally.groups.by != GT_BY_FAMILY)
		gt_add_families(result, view->trace);
	/* Who asks for other groups has these in --wide, and does not look for them. */
	gt_add_first_launches(result, view->trace, &tally.first);
	if (!by_kernel)
		gt_result_detail(result);
	gt_add_launch_shapes(result, view->trace, &tally.uses);
	if (!by_kernel)
		gt_result_detail(result);
	add_remarks(&tally, result);
	if (tally.groups.by == GT_BY_RANGE)
		remark_threads(&tally, result);
	gt_kernel_tally_release(&tally);
	return 0;
}

const struct gt_report gt_report_kernels = {
	.name = "kernels",
	.summary = "Kernels by time on the GPU, and what each launch shape leaves unused",
	.parameters = parameters,
	.run = run,
};

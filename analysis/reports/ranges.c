/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/range_threads.h"
#include "analysis/ranges/figures.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/index.h"
#include "model/ranges/owners.h"
#include "model/trace.h"
#include "model/view/view.h"

/* Columns of each group of ranges, after its name. */
#define FIGURES                                                                                        \
	{"ranges", GT_UNIT_COUNT, "How many of them began", GT_WORTH_KEY},                             \
		{"wall_ns", GT_UNIT_NS, "Sum of end - begin of those that ended", GT_WORTH_KEY},       \
		{"mean_ns", GT_UNIT_NS, "wall_ns / those that ended"},                                 \
		{"median_ns", GT_UNIT_NS, "Half of them took no longer", GT_WORTH_LITTLE},             \
		{"min_ns", GT_UNIT_NS, "Shortest", GT_WORTH_LEAST},                                    \
		{"max_ns", GT_UNIT_NS, "Longest", GT_WORTH_LITTLE},                                    \
		{"p95_ns", GT_UNIT_NS, "95 percent of them took no longer", GT_WORTH_LITTLE},          \
		{"quiet_percent", GT_UNIT_PERCENT,                                                     \
	         "Part of wall_ns in which no recorded GPU ran anything", GT_WORTH_LITTLE},            \
		{"busy_percent", GT_UNIT_PERCENT,                                                      \
	         "Share of wall_ns in which work of the range ran on any GPU"},                        \
		{"gpu_ns", GT_UNIT_NS,                                                                 \
	         "Time in which work of the range ran, also after its end; what overlaps counts once", \
	         GT_WORTH_KEY},                                                                        \
		{"by_time_ns", GT_UNIT_NS,                                                             \
	         "Part of gpu_ns that is tied to the range by time alone", GT_WORTH_LITTLE},           \
		{"span_ns", GT_UNIT_NS,                                                                \
	         "Sum of their spans on each GPU: from the first start to the last end of what "       \
	         "was launched inside",                                                                \
	         GT_WORTH_LITTLE},                                                                     \
		{"span_busy_percent", GT_UNIT_PERCENT,                                                 \
	         "Share of span_ns in which work of the range ran", GT_WORTH_LITTLE},                  \
		{"idle_ns", GT_UNIT_NS,                                                                \
	         "Launch gaps: of span_ns, time in which nothing at all ran on the GPU"},              \
		{"kernels", GT_UNIT_COUNT, "Executions with times that were asked for inside"},        \
		{"captured", GT_UNIT_COUNT,                                                            \
	         "Kernels that were captured inside and launched with their graph",                    \
	         GT_WORTH_LEAST},                                                                      \
		{"copies", GT_UNIT_COUNT, "Copies with times", GT_WORTH_LITTLE},                       \
		{"copied_bytes", GT_UNIT_BYTES, "Bytes of these copies", GT_WORTH_LITTLE},             \
		{"fills", GT_UNIT_COUNT, "Fills with times", GT_WORTH_LEAST},                          \
	{                                                                                              \
		"open", GT_UNIT_COUNT, "Ranges without an end", GT_WORTH_LEAST                         \
	}

/* Columns of one range of a group, on average and at most. */
#define FIGURES_OF_EACH                                                                            \
	{"ranges", GT_UNIT_COUNT, "How many of them began", GT_WORTH_KEY},                         \
		{"kernels", GT_UNIT_REAL,                                                          \
	         "Kernels of one, on average; what belongs to several counts for each"},           \
		{"gpu_mean_ns", GT_UNIT_NS, "GPU time of one, on average", GT_WORTH_KEY},          \
		{"gpu_median_ns", GT_UNIT_NS, "Half of them took no more", GT_WORTH_KEY},          \
		{"gpu_min_ns", GT_UNIT_NS, "Least", GT_WORTH_LITTLE},                              \
		{"gpu_max_ns", GT_UNIT_NS, "Most"},                                                \
		{"gpu_p95_ns", GT_UNIT_NS, "95 percent of them took no more", GT_WORTH_LITTLE},    \
		{"gpu_deviation_ns", GT_UNIT_NS,                                                   \
	         "Standard deviation of the sample (n - 1); needs two ranges", GT_WORTH_LITTLE},   \
		{"idle_mean_ns", GT_UNIT_NS, "Launch gaps of one, on average"},                    \
		{"idle_median_ns", GT_UNIT_NS, "Half of them had no more", GT_WORTH_LITTLE},       \
		{"idle_max_ns", GT_UNIT_NS, "Most", GT_WORTH_LITTLE},                              \
		{"wall_mean_ns", GT_UNIT_NS, "Wall time of one, on average"},                      \
		{"wall_median_ns", GT_UNIT_NS, "Half of them took no longer", GT_WORTH_LITTLE},    \
	{                                                                                          \
		"wall_deviation_ns", GT_UNIT_NS, "Standard deviation of it", GT_WORTH_LITTLE       \
	}

#define PATH                                                                                       \
	{                                                                                          \
		"range", GT_UNIT_TEXT,                                                             \
			"Names from the outermost range to this one, as --range takes them",       \
			GT_WORTH_NAME                                                              \
	}
#define NAME                                                                                       \
	{                                                                                          \
		"range", GT_UNIT_TEXT, "Name, wherever it stands in a path", GT_WORTH_NAME         \
	}
#define DOMAIN                                                                                     \
	{                                                                                          \
		"domain", GT_UNIT_TEXT, "NVTX domain, as the library that made it calls it",       \
			GT_WORTH_NAME                                                              \
	}

static const struct gt_heading path_headings[] = {PATH, FIGURES};
static const struct gt_heading name_headings[] = {NAME, FIGURES};
static const struct gt_heading domain_headings[] = {DOMAIN, FIGURES};
static const struct gt_heading path_each_headings[] = {PATH, FIGURES_OF_EACH};
static const struct gt_heading name_each_headings[] = {NAME, FIGURES_OF_EACH};
static const struct gt_heading domain_each_headings[] = {DOMAIN, FIGURES_OF_EACH};

static const struct gt_heading mark_headings[] = {
	{"mark", GT_UNIT_TEXT, "Its text, behind its domain", GT_WORTH_NAME},
	{"marks", GT_UNIT_COUNT, "How many", GT_WORTH_KEY},
	{"first_time_ns", GT_UNIT_TIME, "When the first was, since the recording began",
         GT_WORTH_KEY},
	{"last_time_ns", GT_UNIT_TIME, "When the last was, since the recording began"},
	{"range", GT_UNIT_TEXT, "Path of the range that the first was in", GT_WORTH_NAME},
};

static const struct {
	const struct gt_heading *headings;
	const struct gt_heading *each;
} group_headings[] = {
	[GT_RANGES_BY_PATH] = {path_headings, path_each_headings},
	[GT_RANGES_BY_NAME] = {name_headings, name_each_headings},
	[GT_RANGES_BY_DOMAIN] = {domain_headings, domain_each_headings},
};

static const char *const each_words[] = {"no", "yes", NULL};

static const struct gt_parameter parameters[] = {
	{"by", GT_PARAMETER_CHOICE, "path", "Property by which ranges are counted together",
         gt_ranges_words},
	{"each", GT_PARAMETER_CHOICE, "no",
         "Whether text shows the figures of one range, with their spread", each_words},
	{"fold", GT_PARAMETER_CHOICE, "auto",
         "Whether names that differ in numbers alone are one, with # for the numbers; auto: where "
         "there are 32 or more that mostly come once",
         gt_fold_words},
	{0},
};

enum { BY, EACH, FOLD }; /* arguments, as above */

static void add_text(const struct gt_range_totals *totals, struct gt_result *result, gt_id group)
{
	char text[GT_RANGE_PATH_BYTES];

	gt_range_totals_text(totals, group, text);
	gt_result_add_format(result, "%s", text);
}

/* Nothing is known of ranges that all are open. */
static void add_wall(struct gt_result *result, const struct gt_range_spread *wall)
{
	const bool known = wall->spread.count > 0;

	gt_result_add_count_if(result, known, wall->spread.total);
	gt_add_rounded(result, wall->spread.mean);
	gt_result_add_count_if(result, known, wall->spread.median);
	gt_result_add_count_if(result, known, wall->spread.min);
	gt_result_add_count_if(result, known, wall->spread.max);
	gt_result_add_count_if(result, known, wall->p95);
}

/* Whether GPU work and the calls that asked for it were recorded: 0 then is 0. */
static bool gpu_is_known(const struct gt_trace *trace)
{
	return gt_trace_has_calls(trace) && gt_trace_has_work(trace);
}

static void add_group(const struct gt_range_totals *totals, struct gt_result *result, gt_id group)
{
	const struct gt_range_figures *row = &totals->rows[group];
	const bool known = gpu_is_known(totals->ranges.trace);
	const bool launched = row->span_ns > 0;

	add_text(totals, result, group);
	gt_result_add_count(result, (int64_t)row->ranges);
	add_wall(result, &row->wall);
	if (gt_trace_has_work(totals->ranges.trace))
		gt_result_add_real(result,
		                   gt_percent((double)row->quiet_ns, (double)row->shown_ns));
	else
		gt_result_add_unknown(result);
	if (known)
		gt_result_add_real(result, gt_percent((double)row->busy_ns, (double)row->shown_ns));
	else
		gt_result_add_unknown(result);
	gt_result_add_count_if(result, known, (int64_t)row->gpu_ns);
	gt_result_add_count_if(result, known, (int64_t)row->by_time_ns);
	gt_result_add_count_if(result, launched, (int64_t)row->span_ns);
	gt_result_add_real(result, gt_percent((double)row->span_busy_ns, (double)row->span_ns));
	gt_result_add_count_if(result, launched, row->idle.spread.total);
	gt_result_add_count_if(result, known, (int64_t)row->kernels);
	gt_result_add_count_if(result, known, (int64_t)row->captured);
	gt_result_add_count_if(result, known, (int64_t)row->copies);
	gt_result_add_count_if(result, known, (int64_t)row->copied_bytes);
	gt_result_add_count_if(result, known, (int64_t)row->fills);
	gt_result_add_count(result, (int64_t)row->open);
}

static void add_groups(const struct gt_range_totals *totals, struct gt_result *result)
{
	gt_result_begin(result, "ranges", group_headings[totals->by].headings,
	                GT_COUNT_OF(path_headings));
	for (size_t i = 0; i < totals->count; i++)
		if (totals->rows[totals->order[i]].ranges > 0)
			add_group(totals, result, totals->order[i]);
}

static void add_gpu_of_each(struct gt_result *result, const struct gt_range_figures *row,
                            bool known)
{
	const struct gt_range_spread *gpu = &row->gpu;
	const struct gt_range_spread *idle = &row->idle;

	if (!known) {
		for (size_t i = 0; i < 10; i++)
			gt_result_add_unknown(result);
		return;
	}
	gt_result_add_real(result, (double)row->kernels_each / (double)row->ranges);
	gt_add_rounded(result, gpu->spread.mean);
	gt_result_add_count(result, gpu->spread.median);
	gt_result_add_count(result, gpu->spread.min);
	gt_result_add_count(result, gpu->spread.max);
	gt_result_add_count(result, gpu->p95);
	gt_add_rounded(result, gpu->spread.deviation);
	gt_add_rounded(result, idle->spread.mean);
	gt_result_add_count(result, idle->spread.median);
	gt_result_add_count(result, idle->spread.max);
}

static void add_each(const struct gt_range_totals *totals, struct gt_result *result)
{
	gt_result_begin(result, "each", group_headings[totals->by].each,
	                GT_COUNT_OF(path_each_headings));
	for (size_t i = 0; i < totals->count; i++) {
		const struct gt_range_figures *row = &totals->rows[totals->order[i]];

		if (row->ranges == 0)
			continue;
		add_text(totals, result, totals->order[i]);
		gt_result_add_count(result, (int64_t)row->ranges);
		add_gpu_of_each(result, row, gpu_is_known(totals->ranges.trace));
		gt_add_rounded(result, row->wall.spread.mean);
		gt_result_add_count_if(result, row->wall.spread.count > 0, row->wall.spread.median);
		gt_add_rounded(result, row->wall.spread.deviation);
	}
}

/* Marks of one text in one domain. */
struct mark_group {
	const struct gt_mark *first;
	const struct gt_mark *last;
	uint64_t count;
};

static struct gt_range_name name_of_mark(const struct gt_trace *trace, const struct gt_mark *mark)
{
	return (struct gt_range_name){
		.domain = mark->domain < trace->domains.count
	                          ? trace->domains.rows[mark->domain].name
	                          : 0,
		.text = mark->text,
	};
}

static int by_count(const void *a, const void *b)
{
	const struct mark_group *left = a;
	const struct mark_group *right = b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return (left->first > right->first) - (left->first < right->first);
}

static void add_mark(const struct gt_ranges *ranges, struct gt_result *result,
                     const struct mark_group *group)
{
	char text[GT_RANGE_NAME_BYTES];

	gt_range_name_text(ranges->trace, name_of_mark(ranges->trace, group->first), text);
	gt_result_add_format(result, "%s", text);
	gt_result_add_count(result, (int64_t)group->count);
	gt_add_moment(result, ranges->trace, group->first->start_ns);
	gt_add_moment(result, ranges->trace, group->last->start_ns);
	gt_add_range(result, ranges, group->first->range);
}

static void add_marks(const struct gt_ranges *ranges, struct gt_result *result)
{
	const struct gt_trace *trace = ranges->trace;
	struct gt_index *names = gt_index_new(sizeof(struct gt_range_name));
	gt_array(struct mark_group) groups = {0};

	gt_array_each(const struct gt_mark, mark, &trace->marks) {
		const struct gt_range_name name = name_of_mark(trace, mark);
		const size_t number = gt_index_add(names, &name);

		struct mark_group *group;

		if (number < groups.count) {
			group = &groups.rows[number];
		} else {
			group = gt_array_push(&groups);
			*group = (struct mark_group){.first = mark};
		}
		group->last = mark;
		group->count++;
	}
	if (groups.count > 1)
		qsort(groups.rows, groups.count, sizeof(*groups.rows), by_count);
	gt_result_begin(result, "marks", mark_headings, GT_COUNT_OF(mark_headings));
	gt_array_each(const struct mark_group, group, &groups)
		add_mark(ranges, result, group);
	if (groups.count == 0)
		gt_result_detail(result);
	gt_array_free(groups.rows);
	gt_index_free(names);
}

/* Kernels of which nobody said what they are for. */
static void remark_rest(const struct gt_trace *trace, struct gt_result *result)
{
	uint64_t without = 0;

	for (gt_id i = 0; i < trace->kernels.count; i++)
		without += gt_owner_of(trace, GT_ACTIVITY_KERNEL, i).range == GT_NONE;
	if (without > 0)
		gt_result_remark(result, "%s of %s kernels were asked for in no range.",
		                 gt_grouped(without).text, gt_grouped(trace->kernels.count).text);
}

static void remark_calls(const struct gt_range_totals *totals, struct gt_result *result)
{
	const struct gt_range_threads threads = gt_range_threads_of(&totals->ranges);

	remark_rest(totals->ranges.trace, result);
	gt_remark_range_threads(result, &threads);
}

static void add_remarks(const struct gt_range_totals *totals, struct gt_result *result)
{
	const struct gt_trace *trace = totals->ranges.trace;

	if (trace->ranges.count == 0) {
		gt_result_remark_empty(result, "No NVTX ranges were recorded%s.",
		                       trace->marks.count > 0 ? ", only marks" : "");
		return;
	}
	if (!gt_trace_has_calls(trace))
		gt_result_remark(result,
		                 "%s: which work was asked for inside which range is not known.",
		                 gt_no_calls(trace));
	else if (!gt_trace_has_work(trace))
		gt_result_remark(result, "No GPU activity was recorded: the figures of GPUs for "
		                         "these ranges are not known.");
	else
		remark_calls(totals, result);
	if (totals->folds.names > 0)
		gt_result_remark(result,
		                 "%s names that differ in numbers alone are counted as %s, with # "
		                 "for the numbers; --set fold=no shows each.",
		                 gt_grouped(totals->folds.names).text,
		                 gt_grouped(totals->folds.into).text);
	gt_result_remark(
		result,
		"Wall time is the host's, from begin to end. GPU time covers the work that was "
		"launched inside the range or in ranges below it, also by other threads for it, "
		"whenever that ran; it is summed over GPUs. Busy is the part of the wall time in "
		"which such work ran on any GPU.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const bool each = arguments->values[EACH].text[0] == 'y';
	struct gt_range_totals totals;

	(void)err;
	gt_range_totals_init(&totals, view, gt_ranges_by(arguments->values[BY].text),
	                     gt_fold_of(arguments->values[FOLD].text));
	add_groups(&totals, result);
	add_each(&totals, result);
	if (!each)
		gt_result_detail(result);
	add_marks(&totals.ranges, result);
	add_remarks(&totals, result);
	gt_range_totals_release(&totals);
	return 0;
}

const struct gt_report gt_report_ranges = {
	.name = "ranges",
	.summary = "What NVTX ranges took: wall time, GPU time and launch gaps of each path",
	.parameters = parameters,
	.run = run,
};

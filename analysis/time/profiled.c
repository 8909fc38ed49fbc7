/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/profiled.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/kernels/groups.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/units.h"
#include "model/index.h"
#include "model/trace.h"
#include "model/work/pauses.h"

static const struct gt_heading launch_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
	{"launches", GT_UNIT_COUNT, "That were profiled", GT_WORTH_KEY},
	{"passes", GT_UNIT_COUNT, "How often each was run for that", GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "How long one run took, as the GPU counted it", GT_WORTH_KEY},
	{"held_ns", GT_UNIT_NS, "How long the program was held up for one launch, mean",
         GT_WORTH_KEY},
	{"slowdown", GT_UNIT_REAL, "held_ns over mean_ns", GT_WORTH_ORDINARY},
};

static const struct gt_heading value_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
	{"counter", GT_UNIT_TEXT, "Name of the count", GT_WORTH_KEY},
	{"unit", GT_UNIT_TEXT, "Unit of the figures in this row", GT_WORTH_KEY},
	{"launches", GT_UNIT_COUNT, "In which it was counted", GT_WORTH_ORDINARY},
	{"mean", GT_UNIT_REAL, "Mean of these launches", GT_WORTH_KEY, .row_unit = GT_ROW_UNIT},
	{"min", GT_UNIT_REAL, "Least of any of them", GT_WORTH_ORDINARY, .row_unit = GT_ROW_UNIT},
	{"max", GT_UNIT_REAL, "Most of any of them", GT_WORTH_ORDINARY, .row_unit = GT_ROW_UNIT},
	{"metric", GT_UNIT_TEXT, "CUPTI's name of it", GT_WORTH_DATA},
};

static const char graph_label[] = "(launch of a graph)";

/* Figures of one kernel, or of graphs. */
struct group {
	const char *label;
	uint64_t launches;
	uint64_t passes;
	int64_t held_ns;
	uint64_t timed; /* launches whose time was counted, */
	double time_ns; /* and that of all of them */
};

struct cell {
	size_t group;
	const struct gt_kernel_counter *counter; /* one of its rows */
	uint64_t count;
	double sum;
	double least;
	double most;
};

struct table {
	const struct gt_trace *trace;
	const struct gt_kernel_groups *kernels;
	struct gt_index *group_keys;
	gt_array(struct group) groups; /* in the order in which they were first launched */
	struct gt_index *cell_keys;
	gt_array(struct cell) cells;
};

/* A graph's counters belong to no kernel of it. */
static size_t group_of(struct table *table, gt_id kernel)
{
	const struct gt_trace *trace = table->trace;
	const bool known = kernel < trace->kernels.count;
	const uint32_t key =
		known ? (uint32_t)gt_kernel_group_of(table->kernels, &trace->kernels.rows[kernel])
		      : UINT32_MAX;
	const size_t number = gt_index_add(table->group_keys, &key);

	if (number == table->groups.count)
		*gt_array_push(&table->groups) =
			(struct group){.label = known ? table->kernels->labels[key] : graph_label};
	return number;
}

static void count_launches(struct table *table)
{
	gt_array_each(const struct gt_profiled_launch, launch, &table->trace->profiled_launches) {
		const size_t number = group_of(table, launch->kernel);
		struct group *group;

		assert(number < table->groups.count && table->groups.rows);
		group = &table->groups.rows[number];
		group->launches++;
		group->passes = launch->passes > group->passes ? launch->passes : group->passes;
		if (launch->end_ns > launch->start_ns)
			group->held_ns += launch->end_ns - launch->start_ns;
	}
}

static void count_value(struct table *table, const struct gt_kernel_counter *counter)
{
	const size_t group = group_of(table, counter->kernel);
	const uint32_t key[] = {(uint32_t)group, counter->metric};
	const size_t number = gt_index_add(table->cell_keys, key);
	struct cell *cell;

	if (number == table->cells.count)
		*gt_array_push(&table->cells) = (struct cell){
			.group = group, .counter = counter, .least = INFINITY, .most = -INFINITY};
	assert(number < table->cells.count && table->cells.rows);
	cell = &table->cells.rows[number];
	cell->count++;
	cell->sum += counter->value;
	cell->least = fmin(cell->least, counter->value);
	cell->most = fmax(cell->most, counter->value);
	if (strcmp(gt_trace_text(table->trace, counter->name), "duration_ns") != 0)
		return;
	table->groups.rows[group].timed++;
	table->groups.rows[group].time_ns += counter->value;
}

static void add_launches(struct gt_result *result, const struct table *table)
{
	gt_array_each(const struct group, group, &table->groups) {
		const double mean_ns = group->timed ? group->time_ns / (double)group->timed : NAN;
		const double mean_held_ns =
			group->launches ? (double)group->held_ns / (double)group->launches : NAN;

		gt_result_add_format(result, "%s", group->label);
		gt_result_add_count(result, (int64_t)group->launches);
		gt_result_add_count(result, (int64_t)group->passes);
		gt_result_add_count_if(result, isfinite(mean_ns),
		                       isfinite(mean_ns) ? llround(mean_ns) : 0);
		gt_result_add_count_if(result, isfinite(mean_held_ns),
		                       isfinite(mean_held_ns) ? llround(mean_held_ns) : 0);
		gt_result_add_real(result, mean_ns > 0 ? mean_held_ns / mean_ns : NAN);
	}
}

static void add_values(struct gt_result *result, const struct table *table)
{
	for (size_t group = 0; group < table->groups.count; group++) {
		gt_array_each(const struct cell, cell, &table->cells) {
			const struct gt_kernel_counter *counter = cell->counter;

			if (cell->group != group)
				continue;
			gt_result_add_format(result, "%s", table->groups.rows[group].label);
			gt_result_add_text(result, gt_trace_text(table->trace, counter->name));
			gt_result_add_text(result, gt_trace_text(table->trace, counter->unit));
			gt_result_add_count(result, (int64_t)cell->count);
			gt_result_add_real(result, cell->sum / (double)cell->count);
			gt_result_add_real(result, cell->least);
			gt_result_add_real(result, cell->most);
			gt_result_add_text(result, gt_trace_text(table->trace, counter->metric));
		}
	}
}

void gt_add_profiled(struct gt_result *result, const struct gt_trace *trace,
                     const struct gt_kernel_groups *groups)
{
	struct table table = {.trace = trace, .kernels = groups};

	table.group_keys = gt_index_new(sizeof(uint32_t));
	table.cell_keys = gt_index_new(2 * sizeof(uint32_t));
	count_launches(&table);
	gt_array_each(const struct gt_kernel_counter, counter, &trace->kernel_counters)
		count_value(&table, counter);
	gt_result_begin(result, "profiled", launch_headings, GT_COUNT_OF(launch_headings));
	add_launches(result, &table);
	gt_result_begin(result, "profiled_counters", value_headings, GT_COUNT_OF(value_headings));
	add_values(result, &table);
	gt_array_release(&table.groups);
	gt_array_release(&table.cells);
	gt_index_free(table.group_keys);
	gt_index_free(table.cell_keys);
}

void gt_remark_profiled(struct gt_result *result, const struct gt_trace *trace)
{
	gt_array_each(const struct gt_note, note, &trace->notes)
		if (strcmp(gt_trace_text(trace, note->topic), "kernel_counters") == 0)
			gt_result_remark(result, "Noted: %s.", gt_trace_text(trace, note->text));
}

static int64_t held_ns(const struct gt_trace *trace)
{
	int64_t sum_ns = 0;

	gt_array_each(const struct gt_profiled_launch, launch, &trace->profiled_launches)
		if (launch->end_ns > launch->start_ns)
			sum_ns += launch->end_ns - launch->start_ns;
	gt_array_each(const struct gt_captured_launch, launch, &trace->captured_launches)
		if (launch->end_ns > launch->start_ns)
			sum_ns += launch->end_ns - launch->start_ns;
	return sum_ns;
}

void gt_remark_held_up(struct gt_result *result, const struct gt_trace *trace)
{
	const size_t launches = trace->profiled_launches.count + trace->captured_launches.count;

	if (launches > 0)
		gt_result_remark(
			result,
			"%s launches were held up, for their counters (run --kernel-counters) or "
			"to be captured, %s in all. That is in these times: take times from a "
			"recording without.",
			gt_grouped(launches).text, gt_figure_ns(held_ns(trace)).text);
}

/* Pauses of all processes, without those that stand for what was dropped; and the most of one. */
struct pauses {
	uint64_t processes;
	uint64_t count;
	gt_time sum_ns;
	uint64_t dropped; /* processes that keep the last alone */
};

static struct pauses count_pauses(const struct gt_trace *trace)
{
	struct pauses *of = gt_allocate_zeroed(trace->processes.count, sizeof(*of));
	struct pauses most = {0};

	gt_array_each(const struct gt_pause, pause, &trace->pauses) {
		if (gt_pause_is_dropped(pause)) {
			most.dropped++;
			continue;
		}
		of[pause->process].count++;
		of[pause->process].sum_ns += pause->end_ns - pause->start_ns;
	}
	for (size_t i = 0; i < trace->processes.count; i++) {
		most.processes += of[i].count > 0;
		if (of[i].count > most.count)
			most.count = of[i].count;
		if (of[i].sum_ns > most.sum_ns)
			most.sum_ns = of[i].sum_ns;
	}
	gt_array_free(of);
	return most;
}

static void remark_dropped(struct gt_result *result, const struct gt_trace *trace,
                           const char *columns)
{
	uint64_t kernels = 0;

	(void)gt_trace_ledger(trace, "kernels_gone", &kernels);
	gt_result_remark_on(
		result, columns,
		"Only the last part was kept, as --keep-last asks: %s kernels before it "
		"were dropped. That time is neither busy nor idle.",
		gt_grouped(kernels).text);
}

static void remark_pauses(struct gt_result *result, const struct gt_trace *trace,
                          const char *columns)
{
	const struct pauses pauses = count_pauses(trace);

	if (pauses.dropped > 0)
		remark_dropped(result, trace, columns);
	if (pauses.processes == 1 && pauses.count == 1)
		gt_result_remark_on(result, columns,
		                    "Recording was paused once, for %s. That time is neither busy "
		                    "nor idle: nobody knows what ran in it.",
		                    gt_figure_ns(pauses.sum_ns).text);
	else if (pauses.processes == 1)
		gt_result_remark_on(result, columns,
		                    "Recording was paused %s times, %s in all. That time is "
		                    "neither busy nor idle: nobody knows what ran in it.",
		                    gt_grouped(pauses.count).text,
		                    gt_figure_ns(pauses.sum_ns).text);
	else if (pauses.processes > 1)
		gt_result_remark_on(
			result, columns,
			"Recording was paused in %s processes, in each at most %s times "
			"and for %s. That time is neither busy nor idle: nobody knows what "
			"ran in it.",
			gt_grouped(pauses.processes).text, gt_grouped(pauses.count).text,
			gt_figure_ns(pauses.sum_ns).text);
}

void gt_remark_not_measured(struct gt_result *result, const struct gt_trace *trace,
                            const char *columns)
{
	const size_t launches = trace->profiled_launches.count + trace->captured_launches.count;

	if (launches > 0)
		gt_result_remark_on(
			result, columns,
			"%s launches were held up, for their counters (run --kernel-counters) or "
			"to be captured, %s in all. That time is neither busy nor idle: it is in "
			"no window.",
			gt_grouped(launches).text, gt_figure_ns(held_ns(trace)).text);
	remark_pauses(result, trace, columns);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/device_events/tables.h"

#include <math.h>
#include <stdbool.h>

#include "analysis/figures.h"
#include "analysis/statistics/spread.h"
#include "base/array.h"

static const struct gt_heading range_headings[] = {
	{"name", GT_UNIT_TEXT, "As the program named it", GT_WORTH_NAME},
	{"kernel", GT_UNIT_TEXT, "Function that told it", GT_WORTH_NAME},
	{"count", GT_UNIT_COUNT, "Ranges, of all writers: a writer is a thread of a launch",
         GT_WORTH_KEY},
	{"launches", GT_UNIT_COUNT, "That have such a range", GT_WORTH_LEAST},
	{"total_ns", GT_UNIT_NS, "Sum of end - start, of all writers", GT_WORTH_KEY},
	{"own_ns", GT_UNIT_NS, "The same without what ranges right inside them took",
         GT_WORTH_ORDINARY},
	{"mean_ns", GT_UNIT_NS, "Mean of end - start", GT_WORTH_LITTLE},
	{"p50_ns", GT_UNIT_NS, "Half of them took no longer", GT_WORTH_ORDINARY},
	{"p95_ns", GT_UNIT_NS, "95 % of them took no longer", GT_WORTH_LEAST},
	{"p99_ns", GT_UNIT_NS, "99 % of them took no longer", GT_WORTH_LITTLE},
	{"share_percent", GT_UNIT_PERCENT,
         "total_ns of the time of the launches that have it, each times its writers", GT_WORTH_KEY},
	{"sm_imbalance", GT_UNIT_REAL,
         "Time on the slowest multiprocessor of a launch / on the mean one", GT_WORTH_ORDINARY},
	{"block_imbalance", GT_UNIT_REAL, "The same of blocks", GT_WORTH_ORDINARY},
	{"unended", GT_UNIT_COUNT, "Whose begin or end is not there: only count has them",
         GT_WORTH_LEAST, true},
};

static const struct gt_heading mark_headings[] = {
	{"name", GT_UNIT_TEXT, "As the program named it", GT_WORTH_NAME},
	{"kernel", GT_UNIT_TEXT, "Function that told it", GT_WORTH_NAME},
	{"count", GT_UNIT_COUNT, "Marks, of all writers", GT_WORTH_KEY},
	{"launches", GT_UNIT_COUNT, "That have such a mark", GT_WORTH_LITTLE},
	{"first_ns", GT_UNIT_NS, "After the kernel began, the least", GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "After the kernel began, the mean", GT_WORTH_KEY},
	{"last_ns", GT_UNIT_NS, "After the kernel began, the most", GT_WORTH_KEY},
};

static const struct gt_heading value_headings[] = {
	{"name", GT_UNIT_TEXT, "As the program named it", GT_WORTH_NAME},
	{"kernel", GT_UNIT_TEXT, "Function that told it", GT_WORTH_NAME},
	{"count", GT_UNIT_COUNT, "Values, of all writers", GT_WORTH_KEY},
	{"launches", GT_UNIT_COUNT, "That have such a value", GT_WORTH_LITTLE},
	{"min", GT_UNIT_REAL, "The least", GT_WORTH_KEY},
	{"mean", GT_UNIT_REAL, "Mean of all", GT_WORTH_KEY},
	{"max", GT_UNIT_REAL, "The most", GT_WORTH_KEY},
};

static const struct gt_device_name *name_at(const struct gt_device_tally *tally, size_t place)
{
	return &tally->phases.names.rows[tally->order[place]];
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static void add_percentiles(struct gt_result *result, int64_t *values, size_t count)
{
	static const double percents[] = {50, 95, 99};

	for (size_t i = 0; i < GT_COUNT_OF(percents); i++)
		if (count > 0)
			gt_result_add_count(result, gt_percentile(values, count, percents[i]));
		else
			gt_result_add_unknown(result);
}

/* First cells of the rows of all three tables. */
static void add_name(struct gt_result *result, const struct gt_device_tally *tally,
                     const struct gt_device_name *name)
{
	gt_result_add_text(result, gt_trace_text(tally->trace, name->name));
	gt_result_add_text(result, tally->phases.functions.names[name->function]);
	gt_result_add_count(result, (int64_t)name->count);
	gt_result_add_count(result, (int64_t)name->launches);
}

static void add_range(struct gt_result *result, struct gt_device_tally *tally, uint32_t number)
{
	const struct gt_device_name *name = &tally->phases.names.rows[number];
	size_t count;
	int64_t *values = gt_groups_get(&tally->durations, number, number, &count);

	add_name(result, tally, name);
	gt_result_add_count_if(result, count > 0, (int64_t)name->total_ns);
	gt_result_add_count_if(result, count > 0, (int64_t)name->own_ns);
	gt_add_rounded(result, ratio((double)name->total_ns, (double)count));
	add_percentiles(result, values, count);
	gt_result_add_real(result,
	                   count > 0 ? gt_percent((double)name->total_ns, name->writers_ns) : NAN);
	gt_result_add_real(result, ratio(name->sms.slowest_ns, name->sms.mean_ns));
	gt_result_add_real(result, ratio(name->blocks.slowest_ns, name->blocks.mean_ns));
	gt_result_add_count(result, (int64_t)name->unended);
}

static void add_mark(struct gt_result *result, const struct gt_device_tally *tally,
                     const struct gt_device_name *name)
{
	const bool known = name->valued > 0;

	add_name(result, tally, name);
	gt_add_rounded(result, known ? name->least : NAN);
	gt_add_rounded(result, ratio(name->sum, (double)name->valued));
	gt_add_rounded(result, known ? name->most : NAN);
}

static void add_value(struct gt_result *result, const struct gt_device_tally *tally,
                      const struct gt_device_name *name)
{
	const bool known = name->valued > 0;

	add_name(result, tally, name);
	gt_result_add_real(result, known ? name->least : NAN);
	gt_result_add_real(result, ratio(name->sum, (double)name->valued));
	gt_result_add_real(result, known ? name->most : NAN);
}

/* The three tables of names. */
enum sort { RANGES, MARKS, VALUES };

static enum sort sort_of(const struct gt_device_name *name)
{
	switch ((enum gt_device_kind)name->kind) {
	case GT_DEVICE_MARK:
		return MARKS;
	case GT_DEVICE_INT:
	case GT_DEVICE_REAL:
		return VALUES;
	case GT_DEVICE_RANGE:
		break;
	}
	return RANGES;
}

static void add_names(struct gt_result *result, struct gt_device_tally *tally, enum sort sort,
                      uint64_t most)
{
	const size_t count = tally->phases.names.count;
	uint64_t all = 0;
	uint64_t shown = 0;

	for (size_t i = 0; i < count; i++)
		all += sort_of(name_at(tally, i)) == sort;
	gt_result_order(result, sort == RANGES ? "total_ns" : "count");
	gt_result_top(result, all, most);
	for (size_t i = 0; i < count && shown < most; i++) {
		if (sort_of(name_at(tally, i)) != sort)
			continue;
		if (sort == RANGES)
			add_range(result, tally, tally->order[i]);
		else if (sort == MARKS)
			add_mark(result, tally, name_at(tally, i));
		else
			add_value(result, tally, name_at(tally, i));
		shown++;
	}
}

void gt_device_add_names(struct gt_result *result, struct gt_device_tally *tally, uint64_t most)
{
	gt_result_begin(result, "ranges", range_headings, GT_COUNT_OF(range_headings));
	add_names(result, tally, RANGES, most);
	gt_result_begin(result, "marks", mark_headings, GT_COUNT_OF(mark_headings));
	add_names(result, tally, MARKS, most);
	gt_result_begin(result, "values", value_headings, GT_COUNT_OF(value_headings));
	add_names(result, tally, VALUES, most);
}

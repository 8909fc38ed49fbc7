/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernels/each.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/kernels/groups.h"
#include "analysis/result.h"
#include "analysis/statistics/groups.h"
#include "analysis/statistics/spread.h"
#include "base/array.h"
#include "model/index.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/work/timed.h"

static const struct gt_heading headings[] = {
	{"kernel", GT_UNIT_TEXT, "As above", GT_WORTH_NAME},
	{"ranges", GT_UNIT_COUNT, "NVTX ranges that figures are of", GT_WORTH_LITTLE},
	{"calls", GT_UNIT_REAL, "Executions in one of them, on average", GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "Their time in one of them, on average", GT_WORTH_KEY},
	{"median_ns", GT_UNIT_NS, "In half of the ranges they took no more", GT_WORTH_KEY},
	{"min_ns", GT_UNIT_NS, "Least"},
	{"max_ns", GT_UNIT_NS, "Most"},
	{"p95_ns", GT_UNIT_NS, "In 95 percent of the ranges they took no more", GT_WORTH_LITTLE},
	{"deviation_ns", GT_UNIT_NS, "Standard deviation of the sample (n - 1); needs two ranges",
         .label = "stddev"},
};

/* Time of the kernels of one group in one range. */
struct cell {
	uint32_t group;
	gt_id range;
	uint64_t calls;
	uint64_t total_ns;
};

struct each {
	const struct gt_trace *trace;
	const struct gt_kernel_groups *groups;
	struct gt_ranges ranges;
	struct gt_index *keys;
	gt_array(struct cell) cells; /* by number of the key */
	size_t range_count;
};

/* The outermost of the chain that is chosen; GT_NONE: none is. */
static gt_id outermost(const struct each *each, struct gt_owner owner)
{
	enum { MOST_AROUND = 1 << 10 };
	gt_id found = GT_NONE;
	gt_id range = owner.range;

	for (size_t i = 0; range != GT_NONE && i < MOST_AROUND; i++) {
		if (!(each->trace->ranges.rows[range].flags & GT_AROUND))
			found = range;
		range = gt_ranges_around(&each->ranges, range, owner.at_ns);
	}
	return found;
}

static void count_ranges(struct each *each)
{
	const struct gt_trace *trace = each->trace;

	for (gt_id i = 0; i < trace->ranges.count; i++)
		each->range_count +=
			outermost(each,
		                  (struct gt_owner){.range = i,
		                                    .at_ns = trace->ranges.rows[i].start_ns}) == i;
}

static void count_kernel(struct each *each, gt_id row)
{
	const struct gt_kernel *kernel = &each->trace->kernels.rows[row];
	const struct gt_owners owners = gt_owners_of(each->trace, GT_ACTIVITY_KERNEL, row);
	gt_id range = outermost(each, owners.launched);
	uint32_t key[2];
	size_t number;

	if (range == GT_NONE)
		range = outermost(each, owners.captured);
	if (range == GT_NONE ||
	    !gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
		return;
	key[0] = (uint32_t)gt_kernel_group_of(each->groups, kernel);
	key[1] = range;
	number = gt_index_add(each->keys, key);
	if (number == each->cells.count)
		*gt_array_push(&each->cells) = (struct cell){.group = key[0], .range = range};
	each->cells.rows[number].calls++;
	each->cells.rows[number].total_ns += (uint64_t)(kernel->end_ns - kernel->start_ns);
}

/* One row of the table: of ranges without such a kernel only how many there are is kept. */
struct row {
	size_t group;
	uint64_t calls;
	uint64_t total_ns;
};

static int by_time(const void *a, const void *b)
{
	const struct row *left = a;
	const struct row *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return (left->group > right->group) - (left->group < right->group);
}

static int ascending(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a;
	const int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* The value at a place in the order of all, of which the first are 0. */
static int64_t value_at(const int64_t *values, size_t zeros, size_t place)
{
	return place < zeros ? 0 : values[place - zeros];
}

static double deviation_of(const int64_t *values, size_t count, size_t all, double mean)
{
	double squares = (double)(all - count) * mean * mean;

	if (all < 2)
		return NAN;
	for (size_t i = 0; i < count; i++)
		squares += ((double)values[i] - mean) * ((double)values[i] - mean);
	return sqrt(squares / (double)(all - 1));
}

static void add_row(const struct each *each, struct gt_result *result, const struct row *row,
                    const struct gt_groups *times)
{
	const size_t all = each->range_count;
	size_t count;
	int64_t *values = gt_groups_get(times, row->group, row->group, &count);
	const size_t zeros = all - count;
	const double mean = (double)row->total_ns / (double)all;
	const size_t half = all / 2;
	int64_t median;

	qsort(values, count, sizeof(*values), ascending);
	median = value_at(values, zeros, half);
	if (all % 2 == 0) {
		const int64_t lower = value_at(values, zeros, half - 1);

		median = lower + (median - lower) / 2;
	}
	gt_result_add_format(result, "%s", each->groups->labels[row->group]);
	gt_result_add_count(result, (int64_t)all);
	gt_result_add_real(result, (double)row->calls / (double)all);
	gt_add_rounded(result, mean);
	gt_result_add_count(result, median);
	gt_result_add_count(result, value_at(values, zeros, 0));
	gt_result_add_count(result, value_at(values, zeros, all - 1));
	gt_result_add_count(result, value_at(values, zeros, (size_t)ceil(0.95 * (double)all) - 1));
	gt_add_rounded(result, deviation_of(values, count, all, mean));
}

static void add_rows(const struct each *each, struct gt_result *result)
{
	const size_t count = each->groups->count;
	struct row *rows = gt_allocate(count * sizeof(*rows));
	struct gt_groups times;

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct row){.group = i};
	gt_groups_init(&times, count);
	gt_array_each(const struct cell, cell, &each->cells)
		gt_groups_expect(&times, cell->group);
	gt_groups_begin(&times);
	gt_array_each(const struct cell, cell, &each->cells) {
		gt_groups_add(&times, cell->group, (int64_t)cell->total_ns);
		rows[cell->group].calls += cell->calls;
		rows[cell->group].total_ns += cell->total_ns;
	}
	if (count > 1)
		qsort(rows, count, sizeof(*rows), by_time);
	for (size_t i = 0; i < count && rows[i].calls > 0; i++)
		add_row(each, result, &rows[i], &times);
	gt_groups_release(&times);
	gt_array_free(rows);
}

void gt_add_kernels_each(struct gt_result *result, const struct gt_kernel_groups *groups)
{
	struct each each = {
		.trace = groups->trace,
		.groups = groups,
		.keys = gt_index_new(2 * sizeof(uint32_t)),
	};

	gt_ranges_init(&each.ranges, groups->trace);
	count_ranges(&each);
	for (gt_id i = 0; i < groups->trace->kernels.count; i++)
		count_kernel(&each, i);
	gt_result_begin(result, "each", headings, sizeof(headings) / sizeof(headings[0]));
	add_rows(&each, result);
	gt_ranges_release(&each.ranges);
	gt_index_free(each.keys);
	gt_array_release(&each.cells);
}

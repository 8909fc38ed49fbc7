/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/device_events/tables.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "base/array.h"

static const struct gt_heading kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"launches", GT_UNIT_COUNT, "That told events", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "How long these ran, by CUPTI", GT_WORTH_KEY},
	{"events", GT_UNIT_COUNT, "Ranges, marks and values", GT_WORTH_ORDINARY},
	{"writers", GT_UNIT_REAL, "Threads of a launch that told any, a mean", GT_WORTH_LITTLE},
	{"blocks", GT_UNIT_REAL, "Blocks of a launch that told any, a mean", GT_WORTH_LITTLE},
	{"multiprocessors", GT_UNIT_REAL, "That told any in a launch, a mean", GT_WORTH_LITTLE,
         .label = "SMs"},
	{"late_ns", GT_UNIT_NS,
         "From the first event of the first block to that of the last one, a mean",
         GT_WORTH_ORDINARY},
	{"tail_ns", GT_UNIT_NS,
         "From when half of the multiprocessors were done to the last event of all, a mean",
         GT_WORTH_KEY},
	{"tail_percent", GT_UNIT_PERCENT, "Tails of total_ns", GT_WORTH_KEY},
	{"idle_percent", GT_UNIT_PERCENT,
         "Time between each multiprocessor's last event and the last one of all, of their time",
         GT_WORTH_ORDINARY},
};

struct function_row {
	size_t function;
	uint64_t launches;
	uint64_t timed; /* of them, those whose kernel has a time: the sums with it below */
	double total_ns;
	double events, writers, blocks, sms;
	double late_ns;
	double tail_ns;
	double timed_tail_ns;
	double idle_ns;
	double room_ns; /* time of all multiprocessors */
};

static void add_facts(struct function_row *row, const struct gt_device_launch_facts *facts,
                      int64_t kernel_ns)
{
	const double tail_ns = (double)(facts->end_ns - facts->half_ns);

	row->launches++;
	row->events += (double)facts->events;
	row->writers += (double)facts->writers;
	row->blocks += (double)facts->blocks;
	row->sms += (double)facts->sms;
	row->late_ns += (double)facts->late_ns;
	row->tail_ns += tail_ns;
	if (kernel_ns < 0)
		return;
	row->timed++;
	row->total_ns += (double)kernel_ns;
	row->timed_tail_ns += tail_ns;
	row->idle_ns += (double)facts->idle_ns;
	row->room_ns += (double)kernel_ns * (double)facts->sms;
}

static int by_total(const void *a, const void *b)
{
	const struct function_row *left = a;
	const struct function_row *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return (left->function > right->function) - (left->function < right->function);
}

static void add_function(struct gt_result *result, const struct gt_device_tally *tally,
                         const struct function_row *row)
{
	const double launches = (double)row->launches;

	gt_result_add_text(result, tally->phases.functions.names[row->function]);
	gt_result_add_count(result, (int64_t)row->launches);
	gt_add_rounded(result, row->timed > 0 ? row->total_ns : NAN);
	gt_result_add_count(result, (int64_t)row->events);
	gt_result_add_real(result, row->writers / launches);
	gt_result_add_real(result, row->blocks / launches);
	gt_result_add_real(result, row->sms / launches);
	gt_add_rounded(result, row->late_ns / launches);
	gt_add_rounded(result, row->tail_ns / launches);
	gt_result_add_real(result, gt_percent(row->timed_tail_ns, row->total_ns));
	gt_result_add_real(result, gt_percent(row->idle_ns, row->room_ns));
}

void gt_device_add_kernels(struct gt_result *result, const struct gt_device_tally *tally)
{
	const struct gt_device_phases *phases = &tally->phases;
	const size_t count = phases->functions.count;
	struct function_row *rows = gt_allocate((count + 1) * sizeof(*rows));

	gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct function_row){.function = i};
	for (size_t i = 0; i < phases->writers.launches.count; i++) {
		const struct gt_device_launch *launch = &phases->writers.launches.rows[i];

		if (launch->kernel < tally->trace->kernels.count)
			add_facts(&rows[gt_device_function(phases, launch)], &phases->facts[i],
			          gt_device_kernel_ns(tally->trace, launch));
	}
	qsort(rows, count, sizeof(*rows), by_total);
	for (size_t i = 0; i < count; i++)
		if (rows[i].launches > 0)
			add_function(result, tally, &rows[i]);
	gt_array_free(rows);
}

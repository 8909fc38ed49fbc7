/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/statistics/groups.h"
#include "analysis/statistics/spread.h"
#include "analysis/time/beside.h"
#include "analysis/time/throttles.h"
#include "base/array.h"
#include "base/units.h"
#include "model/gpu/throttle.h"
#include "model/naming/first_launches.h"
#include "model/naming/functions.h"
#include "model/naming/shape_names.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/whole.h"
#include "model/work/timed.h"

static const struct gt_heading kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Executions that have a start and an end"},
	{"outliers", GT_UNIT_COUNT, "Those that took far longer than the median", GT_WORTH_KEY},
	{"excess_ns", GT_UNIT_NS, "Sum of what they took longer than the median", GT_WORTH_KEY},
	{"excess_percent", GT_UNIT_PERCENT, "excess_ns of the time of all executions"},
	{"first", GT_UNIT_COUNT, "Outliers that were the first launch of the function"},
	{"throttled", GT_UNIT_COUNT, "That began while the GPU's clocks were held down"},
	{"copies", GT_UNIT_COUNT, "That ran beside a copy for a tenth of their time or more"},
	{"kernels", GT_UNIT_COUNT, "That ran beside another kernel for that long"},
	{"processes", GT_UNIT_COUNT, "That ran beside work of another process for that long"},
	{"unexplained", GT_UNIT_COUNT, "That nothing of this is known of"},
};

static const struct gt_heading outlier_headings[] = {
	{"start_time_ns", GT_UNIT_TIME, "When it began, since the recording began", GT_WORTH_KEY},
	{"duration_ns", GT_UNIT_NS, "How long it took", GT_WORTH_KEY},
	{"median_ns", GT_UNIT_NS, "Median of the same kernel in the same launch shape",
         GT_WORTH_KEY},
	{"times", GT_UNIT_REAL, "duration_ns / median_ns", GT_WORTH_LITTLE},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LITTLE},
	{"stream", GT_UNIT_TEXT, "CUPTI's number of the stream", GT_WORTH_LITTLE},
	{"range", GT_UNIT_TEXT, "Path of the NVTX range that it was asked for in", GT_WORTH_LITTLE},
	{"beside", GT_UNIT_TEXT, "Event that stood beside it", GT_WORTH_NAME},
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"copies_ns", GT_UNIT_NS, "Time of it in which a copy ran on the GPU", GT_WORTH_LEAST},
	{"kernels_ns", GT_UNIT_NS, "Time of it in which another kernel ran on the GPU",
         GT_WORTH_LEAST},
	{"processes_ns", GT_UNIT_NS,
         "Time of it in which something of another process ran on the GPU", GT_WORTH_LEAST},
};

static const struct gt_parameter parameters[] = {
	{"factor", GT_PARAMETER_COUNT, "2", "An outlier takes so many times the median or more"},
	{"least", GT_PARAMETER_DURATION, "5us", "And so much longer than it"},
	{"calls", GT_PARAMETER_COUNT, "10",
         "Kernels that were launched less often have no outliers"},
	{"top", GT_PARAMETER_ROWS, "20", "Rows of outliers, those that took most longer first"},
	{0},
};

enum { FACTOR, LEAST, CALLS, TOP }; /* arguments, as above */

/* Why an execution may have been slow; bits. */
enum reason { FIRST = 1, THROTTLED = 2, COPIES = 4, KERNELS = 8, PROCESSES = 16 };

struct outlier {
	gt_id kernel;
	int64_t median_ns;
	uint64_t throttles;
	unsigned reasons;
	struct gt_beside beside;
};

struct tally {
	const struct gt_view *view;
	const struct gt_trace *trace;
	const struct gt_arguments *arguments;
	struct gt_functions functions;
	struct gt_throttles throttles;
	struct gt_ranges ranges;
	int64_t *medians; /* by launch shape and one more; -1: too few executions */
	gt_array(struct outlier) outliers;
	uint32_t *outlier_of; /* by row of kernels: its number + 1, 0: none */
};

static bool is_timed(const struct gt_kernel *kernel)
{
	return gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns);
}

static size_t shape_of(const struct tally *tally, const struct gt_kernel *kernel)
{
	const size_t count = tally->trace->launch_shapes.count;

	return kernel->shape < count ? kernel->shape : count;
}

static void find_medians(struct tally *tally)
{
	const size_t shapes = tally->trace->launch_shapes.count;
	struct gt_groups durations;

	gt_groups_init(&durations, shapes + 1);
	gt_array_each(const struct gt_kernel, kernel, &tally->trace->kernels)
		if (is_timed(kernel))
			gt_groups_expect(&durations, shape_of(tally, kernel));
	gt_groups_begin(&durations);
	gt_array_each(const struct gt_kernel, kernel, &tally->trace->kernels)
		if (is_timed(kernel))
			gt_groups_add(&durations, shape_of(tally, kernel),
			              kernel->end_ns - kernel->start_ns);
	tally->medians = gt_allocate((shapes + 1) * sizeof(*tally->medians));
	for (size_t i = 0; i <= shapes; i++) {
		const struct gt_spread spread = gt_spread_of_group(&durations, i);
		const uint64_t least = tally->arguments->values[CALLS].number;

		/* Kernels of unknown shape are of several. */
		tally->medians[i] = i < shapes && spread.count > 0 && spread.count >= least
		                            ? spread.median
		                            : -1;
	}
	gt_groups_release(&durations);
}

static bool is_outlier(const struct tally *tally, const struct gt_kernel *kernel)
{
	const int64_t median_ns = tally->medians[shape_of(tally, kernel)];
	const int64_t duration_ns = kernel->end_ns - kernel->start_ns;
	const double factor = (double)tally->arguments->values[FACTOR].number;

	return median_ns >= 0 && duration_ns > median_ns &&
	       (double)duration_ns >= factor * (double)median_ns &&
	       (uint64_t)(duration_ns - median_ns) >= tally->arguments->values[LEAST].number;
}

static void add_outlier(struct tally *tally, gt_id row, bool first)
{
	const struct gt_kernel *kernel = &tally->trace->kernels.rows[row];
	const uint64_t throttles = gt_throttle_slowing(
		gt_throttles_at(&tally->throttles, kernel->device, kernel->start_ns));

	*gt_array_push(&tally->outliers) = (struct outlier){
		.kernel = row,
		.median_ns = tally->medians[shape_of(tally, kernel)],
		.throttles = throttles,
		.reasons = (first ? FIRST : 0u) | (throttles ? THROTTLED : 0u),
	};
	tally->outlier_of[row] = (uint32_t)tally->outliers.count;
}

static void find_outliers(struct tally *tally)
{
	const struct gt_trace *trace = tally->trace;
	struct gt_first_launches first;

	gt_first_launches_init(&first, trace, &tally->functions);
	tally->outlier_of =
		gt_allocate_zeroed(trace->kernels.count + 1, sizeof(*tally->outlier_of));
	for (size_t i = 0; i < trace->kernels.count; i++) {
		const struct gt_kernel *kernel = &trace->kernels.rows[i];

		if (is_timed(kernel) && is_outlier(tally, kernel))
			add_outlier(tally, (gt_id)i, first.is_first[i]);
	}
	gt_first_launches_release(&first);
}

static bool is_tenth(uint64_t part_ns, const struct gt_activity *activity)
{
	return part_ns > 0 && part_ns >= (uint64_t)(activity->end_ns - activity->start_ns) / 10;
}

static void see(void *context, const struct gt_activity *activity, const struct gt_beside *beside)
{
	struct tally *tally = context;
	const gt_id kernel = activity->type == GT_ACTIVITY_KERNEL
	                             ? gt_whole_shown(tally->trace, GT_TABLE_kernels, activity->row)
	                             : GT_NONE;
	const uint32_t number = kernel == GT_NONE ? 0 : tally->outlier_of[kernel];

	if (!number)
		return;

	struct outlier *outlier = &tally->outliers.rows[number - 1];

	outlier->beside = *beside;
	outlier->reasons |= (is_tenth(beside->copies_ns, activity) ? COPIES : 0u) |
	                    (is_tenth(beside->kernels_ns, activity) ? KERNELS : 0u) |
	                    (is_tenth(beside->processes_ns, activity) ? PROCESSES : 0u);
}

static int64_t duration_of(const struct tally *tally, const struct outlier *outlier)
{
	const struct gt_kernel *kernel = &tally->trace->kernels.rows[outlier->kernel];

	return kernel->end_ns - kernel->start_ns;
}

static int64_t excess_of(const struct tally *tally, const struct outlier *outlier)
{
	return duration_of(tally, outlier) - outlier->median_ns;
}

/* One row of the first table. */
struct function_row {
	const char *name;
	uint64_t calls;
	uint64_t total_ns;
	uint64_t outliers;
	uint64_t excess_ns;
	uint64_t of_reason[5]; /* in the order of their bits */
	uint64_t unexplained;
};

static int by_excess_of_function(const void *a, const void *b)
{
	const struct function_row *left = a;
	const struct function_row *right = b;

	if (left->excess_ns != right->excess_ns)
		return left->excess_ns < right->excess_ns ? 1 : -1;
	return strcmp(left->name, right->name);
}

static struct function_row *make_rows(const struct tally *tally)
{
	const size_t count = tally->functions.count;
	struct function_row *rows = gt_allocate(count * sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct function_row){.name = tally->functions.names[i]};
	gt_array_each(const struct gt_kernel, kernel, &tally->trace->kernels) {
		struct function_row *row = &rows[gt_function_of(&tally->functions, kernel->shape)];

		if (!is_timed(kernel))
			continue;
		row->calls++;
		row->total_ns += (uint64_t)(kernel->end_ns - kernel->start_ns);
	}
	gt_array_each(const struct outlier, outlier, &tally->outliers) {
		const gt_id shape = tally->trace->kernels.rows[outlier->kernel].shape;
		struct function_row *row = &rows[gt_function_of(&tally->functions, shape)];

		row->outliers++;
		row->excess_ns += (uint64_t)excess_of(tally, outlier);
		for (unsigned bit = 0; bit < 5; bit++)
			row->of_reason[bit] += (outlier->reasons >> bit) & 1;
		row->unexplained += outlier->reasons == 0;
	}
	qsort(rows, count, sizeof(*rows), by_excess_of_function);
	return rows;
}

static void add_functions(const struct tally *tally, struct gt_result *result)
{
	struct function_row *rows = make_rows(tally);

	gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	gt_result_order(result, "excess_ns");
	for (size_t i = 0; i < tally->functions.count && rows[i].outliers > 0; i++) {
		const struct function_row *row = &rows[i];

		gt_result_add_text(result, row->name);
		gt_result_add_count(result, (int64_t)row->calls);
		gt_result_add_count(result, (int64_t)row->outliers);
		gt_result_add_count(result, (int64_t)row->excess_ns);
		gt_result_add_real(result,
		                   gt_percent((double)row->excess_ns, (double)row->total_ns));
		for (unsigned bit = 0; bit < 5; bit++)
			gt_result_add_count(result, (int64_t)row->of_reason[bit]);
		gt_result_add_count(result, (int64_t)row->unexplained);
	}
	free(rows);
}

static int by_excess(const void *a, const void *b, void *context)
{
	const int64_t left_ns = excess_of(context, a);
	const int64_t right_ns = excess_of(context, b);
	const gt_id left = ((const struct outlier *)a)->kernel;
	const gt_id right = ((const struct outlier *)b)->kernel;

	if (left_ns != right_ns)
		return left_ns < right_ns ? 1 : -1;
	return (left > right) - (left < right);
}

/* Adds one reason, and of those that overlap how much of the execution they did. */
static void add_reason(char *text, size_t size, const char *reason, uint64_t part_ns,
                       int64_t whole_ns)
{
	const size_t used = strlen(text);
	char share[32] = "";

	if (part_ns)
		snprintf(share, sizeof(share), " (%.0f%%)",
		         gt_percent((double)part_ns, (double)whole_ns));
	snprintf(text + used, size - used, "%s%s%s", used ? ", " : "", reason, share);
}

static void add_beside(const struct tally *tally, struct gt_result *result,
                       const struct outlier *outlier)
{
	const int64_t duration_ns = duration_of(tally, outlier);
	uint64_t throttles = outlier->throttles;
	char text[512] = "";

	if (outlier->reasons & FIRST)
		add_reason(text, sizeof(text), "first launch", 0, 1);
	while (throttles)
		add_reason(text, sizeof(text), gt_throttle_name(gt_throttle_next(&throttles)), 0,
		           1);
	if (outlier->reasons & COPIES)
		add_reason(text, sizeof(text), "copies", outlier->beside.copies_ns, duration_ns);
	if (outlier->reasons & KERNELS)
		add_reason(text, sizeof(text), "kernels", outlier->beside.kernels_ns, duration_ns);
	if (outlier->reasons & PROCESSES)
		add_reason(text, sizeof(text), "another process", outlier->beside.processes_ns,
		           duration_ns);
	gt_result_add_copy(result, text);
}

static void add_outliers(struct tally *tally, struct gt_result *result)
{
	const uint64_t top = tally->arguments->values[TOP].number;

	gt_result_begin(result, "outliers", outlier_headings, GT_COUNT_OF(outlier_headings));
	/* From here on outlier_of does not hold any more. */
	if (tally->outliers.count > 1)
		qsort_r(tally->outliers.rows, tally->outliers.count, sizeof(*tally->outliers.rows),
		        by_excess, tally);
	for (size_t i = 0; i < tally->outliers.count && i < top; i++) {
		const struct outlier *outlier = &tally->outliers.rows[i];
		const struct gt_kernel *kernel = &tally->trace->kernels.rows[outlier->kernel];
		const int64_t duration_ns = duration_of(tally, outlier);

		gt_add_moment(result, tally->trace, kernel->start_ns);
		gt_result_add_count(result, duration_ns);
		gt_result_add_count(result, outlier->median_ns);
		gt_result_add_real(result, outlier->median_ns ? (double)duration_ns /
		                                                        (double)outlier->median_ns
		                                              : NAN);
		gt_add_device(result, tally->trace, kernel->device);
		gt_add_stream(result, tally->trace, kernel->stream);
		gt_add_range(result, &tally->ranges,
		             gt_owner_of(tally->trace, GT_ACTIVITY_KERNEL, outlier->kernel).range);
		add_beside(tally, result, outlier);
		gt_result_add_text(result, gt_shape_name(tally->trace, kernel->shape));
		gt_result_add_count(result, (int64_t)outlier->beside.copies_ns);
		gt_result_add_count(result, (int64_t)outlier->beside.kernels_ns);
		gt_result_add_count(result, (int64_t)outlier->beside.processes_ns);
	}
	gt_result_top(result, tally->outliers.count, top);
}

static void add_remarks(const struct tally *tally, struct gt_result *result)
{
	const struct gt_arguments *arguments = tally->arguments;
	bool measured = false;

	if (tally->trace->kernels.count == 0) {
		gt_remark_no_kernels(result, tally->trace);
		return;
	}
	if (tally->outliers.count == 0)
		gt_result_remark_empty(result, "No launch was an outlier.");
	for (size_t i = 0; i < tally->trace->devices.count; i++)
		measured |= gt_throttles_measured(&tally->throttles, (gt_id)i);
	gt_result_remark(result,
	                 "An outlier took %s times the median of its kernel in the same launch "
	                 "shape or more, and %s longer; kernels launched less than %s times in a "
	                 "shape have none (--set factor, least, calls).",
	                 gt_grouped(arguments->values[FACTOR].number).text,
	                 gt_figure_ns((int64_t)arguments->values[LEAST].number).text,
	                 gt_grouped(arguments->values[CALLS].number).text);
	gt_result_remark(result, "An event beside an outlier need not be why it was slow. Work of "
	                         "programs that were not recorded is not seen.");
	if (!measured)
		gt_result_remark(result, "Whether clocks were held down is not known: no telemetry "
		                         "was recorded (run --telemetry 100ms).");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct tally tally = {.view = view, .trace = view->trace, .arguments = arguments};
	struct gt_beside_totals totals;

	(void)err;
	gt_functions_init(&tally.functions, view->trace);
	gt_throttles_init(&tally.throttles, view->trace);
	gt_ranges_init(&tally.ranges, view->trace);
	find_medians(&tally);
	find_outliers(&tally);
	gt_beside_walk(&totals, gt_whole_of(view->trace), NULL, see, &tally);
	add_functions(&tally, result);
	add_outliers(&tally, result);
	add_remarks(&tally, result);
	gt_beside_release(&totals);
	gt_functions_release(&tally.functions);
	gt_throttles_release(&tally.throttles);
	gt_ranges_release(&tally.ranges);
	gt_array_release(&tally.outliers);
	gt_array_free(tally.medians);
	gt_array_free(tally.outlier_of);
	return 0;
}

const struct gt_report gt_report_outliers = {
	.name = "outliers",
	.summary =
		"Launches that took far longer than their kernel's median, and what stood beside",
	.parameters = parameters,
	.run = run,
};

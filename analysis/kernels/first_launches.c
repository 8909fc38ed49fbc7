/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/kernels/first_launches.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "analysis/statistics/groups.h"
#include "analysis/statistics/spread.h"
#include "base/array.h"
#include "base/units.h"
#include "model/naming/first_launches.h"
#include "model/naming/functions.h"
#include "model/work/timed.h"

static const struct gt_heading first_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name", GT_WORTH_NAME},
	{"first_calls", GT_UNIT_COUNT, "First launches: one in each process on each GPU"},
	{"first_ns", GT_UNIT_NS, "Mean of these executions on the GPU"},
	{"later_median_ns", GT_UNIT_NS, "Median of the other executions"},
	{"first_host_ns", GT_UNIT_NS, "Mean time of the CUDA calls that launched the first",
         GT_WORTH_KEY},
	{"later_host_median_ns", GT_UNIT_NS, "Median time of the CUDA calls that launched others",
         GT_WORTH_KEY},
};

/* First launches of a function against the others. */
struct first_row {
	size_t function;
	uint64_t launches;
	uint64_t gpu_ns;
	uint64_t calls; /* API calls of first launches that are known */
	uint64_t host_ns;
	int64_t later_host_ns; /* median of the others, -1: none */
};

static int by_host_time(const void *a, const void *b)
{
	const struct first_row *left = a;
	const struct first_row *right = b;

	if (left->host_ns != right->host_ns)
		return left->host_ns < right->host_ns ? 1 : -1;
	if (left->gpu_ns != right->gpu_ns)
		return left->gpu_ns < right->gpu_ns ? 1 : -1;
	return (left->function > right->function) - (left->function < right->function);
}

/* How long the host was in the call that launched a kernel alone; -1: not known, or a graph. */
static int64_t host_time_of(const struct gt_trace *trace, const struct gt_kernel *kernel)
{
	const struct gt_api_call *call = kernel->api_call < trace->api_calls.count
	                                         ? &trace->api_calls.rows[kernel->api_call]
	                                         : NULL;

	if (!call || call->kind != GT_API_LAUNCH ||
	    !gt_timed(GT_TIMES_FIGURES, call->flags, call->start_ns, call->end_ns))
		return -1;
	return call->end_ns - call->start_ns;
}

/* By function, whatever the report groups by. */
struct first_tally {
	const struct gt_first_launches *first;
	struct gt_functions functions;
	struct gt_groups later;      /* executions */
	struct gt_groups later_host; /* calls */
	struct first_row *rows;
};

static void count_launches(const struct gt_trace *trace, struct first_tally *first, bool adding)
{
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const bool is_first = first->first->is_first[kernel - trace->kernels.rows];
		const size_t function = gt_function_of(&first->functions, kernel->shape);
		const int64_t host_ns = host_time_of(trace, kernel);
		struct first_row *row = &first->rows[function];

		if (!gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			continue;
		if (is_first && adding) {
			row->launches++;
			row->gpu_ns += (uint64_t)(kernel->end_ns - kernel->start_ns);
			row->calls += host_ns >= 0;
			row->host_ns += host_ns >= 0 ? (uint64_t)host_ns : 0;
		} else if (!is_first && adding) {
			gt_groups_add(&first->later, function, kernel->end_ns - kernel->start_ns);
			if (host_ns >= 0)
				gt_groups_add(&first->later_host, function, host_ns);
		} else if (!is_first) {
			gt_groups_expect(&first->later, function);
			if (host_ns >= 0)
				gt_groups_expect(&first->later_host, function);
		}
	}
}

static void add_first_row(const struct first_tally *first, struct gt_result *result,
                          const struct first_row *row)
{
	const struct gt_spread later = gt_spread_of_group(&first->later, row->function);

	gt_result_add_text(result, first->functions.names[row->function]);
	gt_result_add_count(result, (int64_t)row->launches);
	gt_add_rounded(result, (double)row->gpu_ns / (double)row->launches);
	gt_result_add_count_if(result, later.count > 0, later.median);
	gt_add_rounded(result, row->calls ? (double)row->host_ns / (double)row->calls : NAN);
	gt_result_add_count_if(result, row->later_host_ns >= 0, row->later_host_ns);
}

/* Time that the host's calls for first launches took, and that later ones would have. */
static void remark_first(const struct first_tally *first, struct gt_result *result)
{
	uint64_t host_ns = 0;
	uint64_t ordinary_ns = 0;
	uint64_t launches = 0;

	for (size_t i = 0; i < first->functions.count; i++) {
		const struct first_row *row = &first->rows[i];

		if (row->calls == 0 || row->later_host_ns < 0)
			continue;
		launches += row->calls;
		host_ns += row->host_ns;
		ordinary_ns += row->calls * (uint64_t)row->later_host_ns;
	}
	if (launches && host_ns > 2 * ordinary_ns)
		gt_result_remark(
			result,
			"The CUDA calls of %s first launch%s took %s, where later calls of the "
			"same kernels would have taken %s: code is loaded, or compiled, then "
			"(--section first_launches).",
			gt_grouped(launches).text, launches == 1 ? "" : "es",
			gt_figure_ns((int64_t)host_ns).text,
			gt_figure_ns((int64_t)ordinary_ns).text);
}

void gt_add_first_launches(struct gt_result *result, const struct gt_trace *trace,
                           const struct gt_first_launches *launches)
{
	struct first_tally first = {.first = launches};
	size_t functions;

	gt_functions_init(&first.functions, trace);
	functions = first.functions.count;
	gt_groups_init(&first.later, functions);
	gt_groups_init(&first.later_host, functions);
	first.rows = gt_allocate_zeroed(functions, sizeof(*first.rows));
	count_launches(trace, &first, false);
	gt_groups_begin(&first.later);
	gt_groups_begin(&first.later_host);
	count_launches(trace, &first, true);
	for (size_t i = 0; i < functions; i++) {
		const struct gt_spread host = gt_spread_of_group(&first.later_host, i);

		first.rows[i].function = i;
		first.rows[i].later_host_ns = host.count ? host.median : -1;
	}
	qsort(first.rows, functions, sizeof(*first.rows), by_host_time);
	gt_result_begin(result, "first_launches", first_headings, GT_COUNT_OF(first_headings));
	gt_result_detail(result);
	gt_result_order(result, "first_host_ns");
	for (size_t i = 0; i < functions; i++)
		if (first.rows[i].launches)
			add_first_row(&first, result, &first.rows[i]);
	remark_first(&first, result);
	free(first.rows);
	gt_groups_release(&first.later);
	gt_groups_release(&first.later_host);
	gt_functions_release(&first.functions);
}

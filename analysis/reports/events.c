/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/reports/events/rows.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/activity.h"

static const char *const of_words[] = {"gpu", "api", "ranges", "all", NULL};
static const unsigned of_word[] = {
	GT_EVENTS_OF_GPUS,
	GT_EVENTS_OF_CALLS,
	GT_EVENTS_OF_RANGES,
	GT_EVENTS_OF_GPUS | GT_EVENTS_OF_CALLS | GT_EVENTS_OF_RANGES,
};

static const struct gt_parameter parameters[] = {
	{"of", GT_PARAMETER_CHOICE, "gpu",
         "Rows: work of GPUs, API calls, NVTX ranges, or all of these", of_words},
	{0},
};

/* The rows that come next, one of each sort. */
struct heads {
	struct gt_activity_walk walk;
	struct gt_activity activity;
	bool working; /* activity is one */
	gt_id call;   /* at the end the count of its table */
	gt_id range;
};

/* A range that only stands around chosen ones is none of the chosen rows. */
static gt_id next_range(const struct gt_trace *trace, gt_id range)
{
	while (range < trace->ranges.count && trace->ranges.rows[range].flags & GT_AROUND)
		range++;
	return range;
}

static void heads_init(struct heads *heads, const struct gt_trace *trace, unsigned of)
{
	gt_activity_walk_init(&heads->walk, trace,
	                      of & GT_EVENTS_OF_GPUS ? GT_WORK_ALL : (enum gt_work)0);
	heads->working = gt_activity_next(&heads->walk, &heads->activity) == 1;
	heads->call = of & GT_EVENTS_OF_CALLS ? 0 : (gt_id)trace->api_calls.count;
	heads->range = of & GT_EVENTS_OF_RANGES ? next_range(trace, 0) : (gt_id)trace->ranges.count;
}

/* Adds the row that began first, a range before a call and a call before work; false: all are. */
static bool add_next(struct gt_event_rows *rows, struct heads *heads)
{
	const struct gt_trace *trace = rows->trace;
	const bool ranges = heads->range < trace->ranges.count;
	const bool calls = heads->call < trace->api_calls.count;
	const gt_time range_ns = ranges ? trace->ranges.rows[heads->range].start_ns : INT64_MAX;
	const gt_time call_ns = calls ? trace->api_calls.rows[heads->call].start_ns : INT64_MAX;
	const bool working = heads->working;
	const gt_time work_ns = working ? heads->activity.start_ns : INT64_MAX;

	if (ranges && range_ns <= call_ns && range_ns <= work_ns) {
		gt_event_rows_add_range(rows, heads->range);
		heads->range = next_range(trace, heads->range + 1);
	} else if (calls && call_ns <= work_ns) {
		gt_event_rows_add_call(rows, heads->call++);
	} else if (working) {
		gt_event_rows_add_work(rows, &heads->activity);
		heads->working = gt_activity_next(&heads->walk, &heads->activity) == 1;
	}
	return ranges || calls || working;
}

static void remark_empty(struct gt_result *result, const struct gt_view *view, unsigned of)
{
	if (of == GT_EVENTS_OF_CALLS)
		gt_result_remark_empty(result, "%s.", gt_no_calls(view->trace));
	else
		gt_result_remark_empty(
			result, "%s %s.",
			of == GT_EVENTS_OF_RANGES ? "No NVTX ranges" : "No events with times",
			view->restriction ? "are in what was chosen" : "were recorded");
}

/* Work that has no row, and rows without a duration. */
static void remark_work(struct gt_result *result, const struct gt_trace *trace)
{
	size_t unfinished = 0;
	size_t profiled = 0;

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		unfinished += (kernel->flags & GT_UNFINISHED) != 0;
		profiled += (kernel->flags & GT_PROFILED) != 0;
	}
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		unfinished += (copy->flags & GT_UNFINISHED) != 0;
	gt_array_each(const struct gt_fill, fill, &trace->fills)
		unfinished += (fill->flags & GT_UNFINISHED) != 0;
	if (unfinished)
		gt_result_remark(result,
		                 "Without a row: %s kernels, copies and fills that had not ended "
		                 "when their process did. Their times are not known.",
		                 gt_grouped(unfinished).text);
	if (profiled)
		gt_result_remark_on(result, "duration_ns",
		                    "Without a duration: %s kernels that ran several times for "
		                    "their counters.",
		                    gt_grouped(profiled).text);
}

static unsigned chosen(const char *word)
{
	size_t i = 0;

	while (strcmp(of_words[i], word) != 0)
		i++;
	return of_word[i];
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const unsigned of = chosen(arguments->values[0].text);
	struct gt_event_rows rows;
	struct heads heads;
	bool more;

	(void)err;
	gt_event_rows_init(&rows, view->trace, of, result);
	heads_init(&heads, view->trace, of);
	do {
		more = add_next(&rows, &heads);
	} while (more);
	if (gt_section_row_count(gt_result_find(result, "events")) == 0)
		remark_empty(result, view, of);
	if (of & GT_EVENTS_OF_GPUS)
		remark_work(result, view->trace);
	gt_event_rows_release(&rows);
	return 0;
}

const struct gt_report gt_report_events = {
	.name = "events",
	.summary = "Every kernel, copy, fill, call or range with its times: a row each",
	.apart = true,
	.parameters = parameters,
	.run = run,
};

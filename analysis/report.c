/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/range_threads.h"
#include "analysis/result.h"
#include "base/error.h"
#include "base/text_room.h"
#include "base/units.h"
#include "model/view/view.h"

void gt_remark_restriction(struct gt_result *result, const char *restriction)
{
	if (restriction)
		gt_result_remark(result,
		                 "Only what %s chooses; the ledger and the notes are of the whole "
		                 "recording.",
		                 restriction);
}

static bool has_by_time(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		if (call->flags & GT_BY_TIME)
			return true;
	gt_array_each(const struct gt_range, range, &trace->ranges)
		if (range->flags & GT_BY_TIME)
			return true;
	return false;
}

/* Says how much of what --range chose is a guess. */
static void remark_by_time(const struct gt_trace *trace, struct gt_result *result)
{
	struct gt_range_threads threads;
	struct gt_ranges ranges;

	if (!has_by_time(trace))
		return;
	gt_ranges_init(&ranges, trace);
	threads = gt_range_threads_of(&ranges);
	if (threads.by_time_ns > 0)
		gt_result_remark(result,
		                 "%s of the %s of GPU time belong to the ranges by time alone: "
		                 "another thread launched that; --set threads=own leaves it out.",
		                 gt_figure_ns((int64_t)threads.by_time_ns).text,
		                 gt_figure_ns((int64_t)threads.all_ns).text);
	gt_ranges_release(&ranges);
}

int gt_report_run(const struct gt_report *report, const struct gt_view *view,
                  const struct gt_arguments *arguments, struct gt_result *result,
                  struct gt_error *err)
{
	struct gt_arguments initial;
	struct gt_error why = {0};
	int done;

	gt_arguments_init(&initial, report->parameters);
	gt_remark_restriction(result, view->restriction);
	/* The report ranges says more of it. */
	if (view->by_ranges && strcmp(report->name, "ranges") != 0)
		remark_by_time(view->trace, result);
	done = report->run(view, arguments ? arguments : &initial, result, err);
	if (result->room.cut)
		gt_result_remark(result,
		                 "%s texts were cut to %d bytes each, as all of them in full would "
		                 "be too much.",
		                 gt_grouped(result->room.cut).text, GT_TEXT_SHORT);
	if (done == 0 && gt_result_check(result, &why) < 0)
		done = gt_fail(err, why.code, "report %s is made wrongly: %s", report->name,
		               why.text);
	gt_result_mark_further(result);
	return done;
}

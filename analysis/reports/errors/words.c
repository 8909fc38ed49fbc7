/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/errors/words.h"

#include <stdio.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/pending/operation.h"
#include "analysis/reports/errors/failures.h"
#include "analysis/reports/errors/in_flight.h"
#include "analysis/reports/errors/xids.h"
#include "analysis/result.h"
#include "base/units.h"
#include "model/names.h"
#include "model/naming/labels.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"

enum { MOST_STREAMS = 3, PLACE_BYTES = GT_RANGE_PATH_BYTES + 512 };

/* " on thread loader (7)"; nothing of the one that the process began with. */
static void thread_text(const struct gt_trace *trace, gt_id thread, char *text, size_t size)
{
	const struct gt_thread *row = &trace->threads.rows[thread];

	if (row->process >= trace->processes.count ||
	    row->tid != trace->processes.rows[row->process].pid)
		snprintf(text, size, " on thread %.100s (%u)", gt_trace_text(trace, row->name),
		         row->tid);
}

/* " on thread loader (7) of app (4711), in range train/step", as far as it is known. */
static void place_text(const struct gt_ranges *ranges, gt_id api_call, char text[PLACE_BYTES])
{
	const struct gt_trace *trace = ranges->trace;
	const gt_id thread = trace->api_calls.rows[api_call].thread;
	const gt_id process = gt_trace_thread_process(trace, thread);
	const gt_id path = gt_ranges_path(ranges, gt_owner_of_call(trace, api_call).range);
	char path_text[GT_RANGE_PATH_BYTES];
	size_t used;

	text[0] = '\0';
	if (thread < trace->threads.count)
		thread_text(trace, thread, text, PLACE_BYTES);
	used = strlen(text);
	if (process < trace->processes.count)
		used += (size_t)snprintf(text + used, PLACE_BYTES - used, " of %.100s (%u)",
		                         gt_trace_text(trace, trace->processes.rows[process].name),
		                         trace->processes.rows[process].pid);
	if (path == GT_NONE)
		return;
	gt_range_path_text(ranges, path, path_text);
	snprintf(text + used, PLACE_BYTES - used, ", in range %s", path_text);
}

static void remark_call(struct gt_result *result, const struct gt_failures *failures,
                        const struct gt_failure *failure, const char *what)
{
	const struct gt_api_call *call = gt_failure_call(failures, failure);
	const char *name = gt_failure_name(failures, failure);
	struct gt_ranges ranges;
	char place[PLACE_BYTES];

	gt_ranges_init(&ranges, failures->trace);
	place_text(&ranges, failure->call, place);
	gt_result_remark(result, "The first %s%s: %s%s returned %s (%d: %s) at %s.", what,
	                 failures->hidden > 0 ? ", of those chosen" : "",
	                 gt_trace_text(failures->trace, call->function), place,
	                 name ? name : "a result that is not known", failure->code,
	                 gt_result_class_name(gt_result_class(failure->code)),
	                 gt_figure_time(call->end_ns - failures->trace->start_ns).text);
	gt_ranges_release(&ranges);
}

static void work_text(const struct gt_in_flight *flight, const struct gt_in_flight_work *row,
                      const struct gt_ranges *ranges, char *text, size_t size)
{
	const struct gt_trace *whole = flight->whole;
	char room[GT_PENDING_NAME_BYTES];
	char stream[GT_LABEL_BYTES];
	char place[PLACE_BYTES];

	gt_stream_label(whole, row->work.stream, stream, sizeof(stream));
	place_text(ranges, row->work.api_call, place);
	snprintf(text, size, "%.200s on stream %s, launched by %s%s",
	         gt_pending_work_name(whole, &row->work, room), stream,
	         gt_trace_text(whole, whole->api_calls.rows[row->work.api_call].function), place);
}

/* The first work without an end of some streams, of a row of the failures. */
static void remark_work(struct gt_result *result, const struct gt_in_flight *flight,
                        const struct gt_ranges *ranges, size_t failure)
{
	char text[MOST_STREAMS * (PLACE_BYTES + 1024)] = "";
	size_t used = 0;
	size_t said = 0;
	size_t more = 0;

	gt_array_each(const struct gt_in_flight_work, row, &flight->rows) {
		if (row->failure != failure)
			continue;
		if (said == MOST_STREAMS || row->state != GT_IN_FLIGHT_FIRST) {
			more++;
			continue;
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used, said++ ? "; " : "");
		work_text(flight, row, ranges, text + used, sizeof(text) - used);
		used += strlen(text + used);
	}
	if (said > 0)
		gt_result_remark(result, "In flight then, without an end: %s%s.", text,
		                 more > 0 ? "; and more" : "");
	else if (more > 0)
		gt_result_remark(result,
		                 "All work that was in flight then has an end in the recording: "
		                 "see report errors.");
	else
		gt_result_remark(result, "No work that was in flight then is in the recording.");
}

static void remark_log(struct gt_result *result, const struct gt_failures *failures,
                       const struct gt_failure *failure)
{
	struct gt_xids xids;

	gt_xids_init(&xids, failures->trace);
	gt_array_each(const struct gt_xid, xid, &xids.rows)
		if (gt_xid_fits(&xids, xid, failure->process)) {
			gt_result_remark(result, "The kernel log has Xid %u of it: %s.", xid->code,
			                 xid->message);
			break;
		}
	gt_xids_release(&xids);
}

static void remark_failure_of_work(struct gt_result *result, const struct gt_failures *failures,
                                   size_t row)
{
	struct gt_in_flight flight;
	struct gt_ranges ranges;

	gt_in_flight_init(&flight, failures, 1);
	gt_ranges_init(&ranges, flight.whole);
	remark_work(result, &flight, &ranges, row);
	remark_log(result, failures, &failures->rows.rows[row]);
	gt_ranges_release(&ranges);
	gt_in_flight_release(&flight);
}

/* The row of the first failure of work; as many as there are: none is. */
static size_t find_of_work(const struct gt_failures *failures)
{
	size_t row = 0;

	while (row < failures->rows.count && !gt_failure_is_of_work(&failures->rows.rows[row]))
		row++;
	return row;
}

void gt_failures_remark(struct gt_result *result, const struct gt_trace *trace)
{
	struct gt_failures failures;
	size_t of_work;

	gt_failures_init(&failures, trace);
	of_work = find_of_work(&failures);
	if (failures.rows.count > 0)
		remark_call(result, &failures, &failures.rows.rows[0], "CUDA call that failed");
	if (of_work > 0 && of_work < failures.rows.count)
		remark_call(result, &failures, &failures.rows.rows[of_work], "error of work");
	if (of_work < failures.rows.count)
		remark_failure_of_work(result, &failures, of_work);
	gt_failures_release(&failures);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/pending/operation.h"
#include "analysis/report.h"
#include "analysis/reports/errors/failures.h"
#include "analysis/reports/errors/in_flight.h"
#include "analysis/reports/errors/xids.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/names.h"
#include "model/naming/job_rank.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading error_headings[] = {
	{"first", GT_UNIT_TEXT, "Whether no call of its process failed before", GT_WORTH_KEY},
	{"time_ns", GT_UNIT_TIME, "When the first call that returned it did so", GT_WORTH_KEY},
	{"result", GT_UNIT_TEXT, "Name of the result, as CUDA 13.0 has it", GT_WORTH_KEY},
	{"code", GT_UNIT_COUNT, "Its number: a cudaError_t or a CUresult", GT_WORTH_LITTLE},
	{"class", GT_UNIT_TEXT, "Kind of the error", GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "Calls of the process that returned it", GT_WORTH_KEY, true},
	{"function", GT_UNIT_TEXT, "The first call that returned it", GT_WORTH_NAME},
	{"process", GT_UNIT_TEXT, "Of that call"},
	{"rank", GT_UNIT_COUNT, "Of the process in its job", GT_WORTH_LITTLE},
	{"thread", GT_UNIT_TEXT, "Of that call"},
	{"range", GT_UNIT_TEXT, "NVTX range that was open at the call", GT_WORTH_LESSER_NAME},
	{"xid", GT_UNIT_TEXT,
         "Xid messages of the kernel log that name the process, or its GPU and no process known",
         GT_WORTH_LITTLE},
	{"correlation", GT_UNIT_COUNT, "CUPTI's correlation id", GT_WORTH_DATA},
};

static const struct gt_heading flight_headings[] = {
	{"pid", GT_UNIT_COUNT, "Process of the failed call", GT_WORTH_KEY},
	{"stream", GT_UNIT_TEXT, "That it was given to", GT_WORTH_KEY},
	{"state", GT_UNIT_TEXT, "Why it has no end, or that it has one", GT_WORTH_KEY},
	{"operation", GT_UNIT_TEXT,
         "Kernel, copy or fill; of a launch of a graph its first node that has not ended",
         GT_WORTH_NAME},
	{"call", GT_UNIT_TEXT, "That launched it"},
	{"thread", GT_UNIT_TEXT, "That called"},
	{"range", GT_UNIT_TEXT, "NVTX range that was open at the launch", GT_WORTH_LESSER_NAME},
	{"launch_time_ns", GT_UNIT_TIME, "When the call was entered", GT_WORTH_LITTLE},
	{"end_time_ns", GT_UNIT_TIME, "When it ended", GT_WORTH_LITTLE},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LEAST},
	{"correlation", GT_UNIT_COUNT, "CUPTI's correlation id", GT_WORTH_DATA},
};

static const struct gt_heading xid_headings[] = {
	{"xid", GT_UNIT_COUNT, "Number of the message", GT_WORTH_KEY},
	{"device", GT_UNIT_TEXT, "GPU that it is about, of those that were used", GT_WORTH_KEY},
	{"pid", GT_UNIT_COUNT, "Process that it names, as the kernel numbers processes"},
	{"process", GT_UNIT_TEXT, "That process, where it was recorded", GT_WORTH_KEY},
	{"message", GT_UNIT_TEXT, "The message, behind the kernel's time", GT_WORTH_PROSE},
};

static const struct gt_parameter parameters[] = {
	{"ended", GT_PARAMETER_COUNT, "3",
         "Kernels of each stream that are shown of those that had ended"},
	{0},
};

enum { ENDED }; /* arguments, as above */

struct writer {
	struct gt_result *result;
	const struct gt_trace *trace;
	struct gt_failures failures;
	struct gt_in_flight flight;
	struct gt_xids xids;
};

static void add_rank(const struct writer *writer, gt_id process)
{
	struct gt_job_rank rank = {.rank = -1};

	if (process < writer->trace->processes.count)
		rank = gt_job_rank_of(writer->trace, &writer->trace->processes.rows[process]);
	gt_result_add_count_if(writer->result, rank.rank >= 0, rank.rank);
}

/* Whether a message has the number of one before it that fits, too. */
static bool is_said(const struct gt_xids *xids, size_t row, gt_id process)
{
	for (size_t i = 0; i < row; i++)
		if (xids->rows.rows[i].code == xids->rows.rows[row].code &&
		    gt_xid_fits(xids, &xids->rows.rows[i], process))
			return true;
	return false;
}

/* The numbers of the messages that fit, each once, in the order of the log; "" for none. */
static void add_xids(const struct writer *writer, const struct gt_failure *failure)
{
	const struct gt_xids *xids = &writer->xids;
	char text[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < xids->rows.count && used < sizeof(text) - 16; i++)
		if (gt_failure_is_of_work(failure) &&
		    gt_xid_fits(xids, &xids->rows.rows[i], failure->process) &&
		    !is_said(xids, i, failure->process))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u",
			                         used ? ", " : "", xids->rows.rows[i].code);
	gt_result_add_copy(writer->result, text);
}

static void add_error(const struct writer *writer, const struct gt_failure *failure,
                      const struct gt_ranges *ranges)
{
	const struct gt_api_call *call = gt_failure_call(&writer->failures, failure);
	const char *name = gt_failure_name(&writer->failures, failure);
	struct gt_result *result = writer->result;

	gt_result_add_text(result, failure->is_first ? "first" : "later");
	gt_add_moment(result, writer->trace, call->end_ns);
	gt_result_add_copy(result, name ? name : "");
	gt_result_add_count(result, failure->code);
	gt_result_add_text(result, gt_result_class_name(gt_result_class(failure->code)));
	gt_result_add_count(result, (int64_t)failure->calls);
	gt_add_string(result, writer->trace, call->function);
	gt_add_process(result, writer->trace, failure->process);
	add_rank(writer, failure->process);
	gt_add_thread(result, writer->trace, call->thread);
	gt_add_range(result, ranges, gt_owner_of_call(writer->trace, failure->call).range);
	add_xids(writer, failure);
	gt_result_add_count(result, call->correlation);
}

static void add_errors(const struct writer *writer)
{
	struct gt_ranges ranges;

	gt_ranges_init(&ranges, writer->trace);
	gt_result_begin(writer->result, "errors", error_headings, GT_COUNT_OF(error_headings));
	gt_result_order(writer->result, "time_ns");
	gt_array_each(const struct gt_failure, failure, &writer->failures.rows)
		add_error(writer, failure, &ranges);
	gt_ranges_release(&ranges);
}

static void add_work(const struct writer *writer, const struct gt_in_flight_work *row,
                     const struct gt_ranges *ranges)
{
	const struct gt_trace *whole = writer->flight.whole;
	const struct gt_api_call *call = &whole->api_calls.rows[row->work.api_call];
	const gt_id device = gt_stream_device(whole, row->work.stream);
	struct gt_result *result = writer->result;
	char room[GT_PENDING_NAME_BYTES];

	gt_result_add_count(result, whole->processes.rows[row->work.process].pid);
	gt_add_stream(result, whole, row->work.stream);
	gt_result_add_text(result, gt_in_flight_state_name(row));
	gt_result_add_copy(result, gt_pending_work_name(whole, &row->work, room));
	gt_add_string(result, whole, call->function);
	gt_add_thread(result, whole, call->thread);
	gt_add_range(result, ranges, gt_owner_of_call(whole, row->work.api_call).range);
	gt_add_moment(result, whole, call->start_ns);
	gt_result_add_count_if(result, row->state == GT_IN_FLIGHT_ENDED,
	                       row->end_ns - whole->start_ns);
	if (device < whole->devices.count)
		gt_add_device_number(result, whole, device);
	else
		gt_result_add_unknown(result);
	gt_result_add_count(result, row->work.correlation);
}

static void add_in_flight(const struct writer *writer)
{
	struct gt_ranges ranges;

	gt_ranges_init(&ranges, writer->flight.whole);
	gt_result_begin(writer->result, "in_flight", flight_headings, GT_COUNT_OF(flight_headings));
	gt_array_each(const struct gt_in_flight_work, row, &writer->flight.rows)
		add_work(writer, row, &ranges);
	gt_ranges_release(&ranges);
}

static void add_log(const struct writer *writer)
{
	struct gt_result *result = writer->result;

	gt_result_begin(result, "xids", xid_headings, GT_COUNT_OF(xid_headings));
	gt_array_each(const struct gt_xid, xid, &writer->xids.rows) {
		gt_result_add_count(result, xid->code);
		if (xid->device < writer->trace->devices.count)
			gt_add_device_number(result, writer->trace, xid->device);
		else
			gt_result_add_unknown(result);
		gt_result_add_count_if(result, xid->pid >= 0, xid->pid);
		gt_add_process(result, writer->trace, xid->process);
		gt_result_add_text(result, xid->message);
	}
}

static void remark_log(const struct writer *writer)
{
	const char *state = gt_trace_text(writer->trace, writer->trace->kernel_log);
	struct gt_result *result = writer->result;

	if (!*state && writer->flight.was_asked)
		gt_result_remark(result, "Nobody read the kernel log, which may have Xid messages: "
		                         "gputrace run does so at the end of a program.");
	else if (*state && strcmp(state, GT_KERNEL_LOG_READ) != 0)
		gt_result_remark(result, "The kernel log %s. There may be Xid messages.", state);
	else if (*state && writer->xids.rows.count == 0)
		gt_result_remark(result,
		                 "The kernel log has no Xid message of the time of the run.");
}

static void remark_flight(const struct writer *writer)
{
	const struct gt_in_flight *flight = &writer->flight;
	struct gt_result *result = writer->result;

	if (flight->rows.count > 0)
		gt_result_remark(result,
		                 "An error of work comes up in a later call. The first work of a "
		                 "stream that has no end is the suspect; what is behind it, "
		                 "where the error took ends of work along.");
	if (flight->ended_more > 0)
		gt_result_remark(
			result,
			"Kernels that ended after the last wait that returned well, and are "
			"left out: %s. --set ended shows more.",
			gt_grouped(flight->ended_more).text);
	if (flight->missing > 0)
		gt_result_remark(
			result,
			"Launches before the error whose kernels are not in the recording, "
			"and may have caused it: %s.",
			gt_grouped(flight->missing).text);
}

static void remark_none(const struct writer *writer)
{
	struct gt_result *result = writer->result;

	if (writer->trace->api_calls.count == 0)
		gt_result_remark_empty(result, "%s.", gt_no_calls(writer->trace));
	else
		gt_result_remark_empty(result, "No CUDA call that was recorded returned an error.");
	if (writer->xids.rows.count > 0)
		gt_result_remark(result,
		                 "The driver found something wrong all the same, as the kernel log "
		                 "says: no call may have waited for the work.");
}

static void add_remarks(const struct writer *writer)
{
	const struct gt_failures *failures = &writer->failures;
	struct gt_result *result = writer->result;

	if (failures->rows.count == 0) {
		remark_none(writer);
		return;
	}
	if (failures->hidden > 0)
		gt_result_remark(result,
		                 "In %s %s the first call that failed is not in what was chosen.",
		                 gt_grouped(failures->hidden).text,
		                 failures->hidden == 1 ? "process" : "processes");
	if (failures->nested > 0)
		gt_result_remark(
			result,
			"Failed calls that were made inside other calls are not counted: %s.",
			gt_grouped(failures->nested).text);
	remark_flight(writer);
	remark_log(writer);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct writer writer = {.result = result, .trace = view->trace};

	(void)err;
	gt_failures_init(&writer.failures, view->trace);
	gt_in_flight_init(&writer.flight, &writer.failures, arguments->values[ENDED].number);
	gt_xids_init(&writer.xids, view->trace);
	add_errors(&writer);
	add_in_flight(&writer);
	add_log(&writer);
	add_remarks(&writer);
	gt_xids_release(&writer.xids);
	gt_in_flight_release(&writer.flight);
	gt_failures_release(&writer.failures);
	return 0;
}

const struct gt_report gt_report_errors = {
	.name = "errors",
	.summary = "CUDA calls that failed: which one first, and what ran meanwhile",
	.parameters = parameters,
	.run = run,
};

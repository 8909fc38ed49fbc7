/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/advice/findings.h"
#include "analysis/advice/overview.h"
#include "analysis/figures.h"
#include "analysis/kernels/family_shares.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/reports/errors/words.h"
#include "analysis/reports/summary/busiest.h"
#include "analysis/result.h"
#include "analysis/time/busy.h"
#include "base/array.h"
#include "base/strings.h"
#include "base/sums.h"
#include "model/ledger.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/whole.h"
#include "model/work/timed.h"

static const struct gt_heading recording_headings[] = {
	{"duration_ns", GT_UNIT_NS,
         "From the first to the last instant of the recording, or of its window"},
	{"processes", GT_UNIT_COUNT, "Processes that were recorded"},
	{"devices", GT_UNIT_COUNT, "GPUs they could see"},
	{"kernels", GT_UNIT_COUNT, "Executions of kernels, unfinished ones included"},
	{"copies", GT_UNIT_COUNT, "Memory copies by GPUs, unfinished ones included"},
	{"copied_bytes", GT_UNIT_BYTES, "Sum of the sizes of these copies"},
	{"fills", GT_UNIT_COUNT, "Fills of memory by GPUs, unfinished ones included"},
	{"api_calls", GT_UNIT_COUNT, "CUDA API calls of the program that were recorded"},
	{"errors", GT_UNIT_COUNT, "API calls that returned an error", GT_WORTH_ORDINARY, true},
	{"unfinished", GT_UNIT_COUNT, "Kernels, copies, fills and whole graphs without an end time",
         GT_WORTH_ORDINARY, true},
	{"profiled", GT_UNIT_COUNT,
         "Kernels that ran several times for their counters: their times count nowhere",
         GT_WORTH_ORDINARY, true},
	{"ledger", GT_UNIT_TEXT,
         "complete: nothing is missing and the end of every process is known"},
};

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"busy_ns", GT_UNIT_NS, "Time in which at least one kernel ran", GT_WORTH_KEY},
	{"busy_percent", GT_UNIT_PERCENT,
         "busy_ns of the duration of the recording, or of its window", GT_WORTH_KEY},
	{"busy_in_use_percent", GT_UNIT_PERCENT,
         "busy_ns of the time from the first kernel, copy or fill to the end of the last"},
	{"copy_ns", GT_UNIT_NS, "Time in which at least one copy ran"},
	{"overlap_ns", GT_UNIT_NS, "Time in which a kernel and a copy ran at once"},
	{"kernels", GT_UNIT_COUNT, "Executions whose times are figures: finished, not profiled",
         GT_WORTH_LITTLE},
};

static const struct gt_heading process_headings[] = {
	{"process", GT_UNIT_TEXT, "Name and process id", GT_WORTH_KEY},
	{"duration_ns", GT_UNIT_NS, "From the start of recording in it to the last thing known"},
	{"ended", GT_UNIT_TEXT, "How its recording ended", GT_WORTH_KEY},
	{"command", GT_UNIT_TEXT, "Its command line", GT_WORTH_PROSE},
};

static const struct gt_heading ledger_headings[] = {
	{"class", GT_UNIT_TEXT, "Name of the count", GT_WORTH_NAME},
	{"value", GT_UNIT_COUNT,
         "How many, all processes together; nanoseconds for names ending in _ns"},
	{"is_loss", GT_UNIT_TEXT, "yes: what it counts is not in the recording, or has no times"},
};

static const struct gt_heading note_headings[] = {
	{"process", GT_UNIT_TEXT, "Process it is about; not known for the whole recording",
         GT_WORTH_LITTLE},
	{"topic", GT_UNIT_TEXT, "Source, stage or file it is about", GT_WORTH_LITTLE},
	{"note", GT_UNIT_TEXT, "A note for the reader", GT_WORTH_PROSE},
};

static const struct gt_parameter parameters[] = {
	{"top", GT_PARAMETER_ROWS, "5",
         "Rows of the lists of the busiest kernels, calls and ranges"},
	{0},
};

enum { TOP }; /* arguments, as above */

/* "incomplete: ..." and how many parts that has so far. */
struct ledger_state {
	char text[352]; /* the five parts with numbers of 26 digits each take less */
	unsigned parts;
};

static uint64_t copied_bytes(const struct gt_trace *trace)
{
	uint64_t bytes = 0;

	gt_array_each(const struct gt_copy, copy, &trace->copies)
		gt_sum_add(&bytes, copy->size_bytes);
	return bytes;
}

static uint64_t unfinished(const struct gt_trace *trace)
{
	uint64_t sum = 0;

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		sum += !gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns);
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		sum += !gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns);
	gt_array_each(const struct gt_fill, fill, &trace->fills)
		sum += !gt_timed(GT_TIMES_ANY, fill->flags, fill->start_ns, fill->end_ns);
	gt_array_each(const struct gt_graph_trace, graph, &trace->graph_traces)
		sum += !gt_timed(GT_TIMES_ANY, graph->flags, graph->start_ns, graph->end_ns);
	return sum;
}

static uint64_t profiled(const struct gt_trace *trace)
{
	uint64_t sum = 0;

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		sum += (kernel->flags & GT_PROFILED) != 0;
	return sum;
}

static uint64_t errors(const struct gt_trace *trace)
{
	uint64_t sum = 0;

	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		sum += gt_api_failed(call);
	return sum;
}

/* Adds "12 records ..." to a list, unless there are none. */
__attribute__((format(printf, 3, 4))) static void add_part(struct ledger_state *state,
                                                           uint64_t count, const char *fmt, ...)
{
	const size_t length = strlen(state->text);
	const char *separator = state->parts ? ", " : ": ";
	va_list args;

	if (count == 0)
		return;
	state->parts++;
	snprintf(state->text + length, sizeof(state->text) - length, "%s", separator);
	va_start(args, fmt);
	vsnprintf(state->text + length + 2, sizeof(state->text) - length - 2, fmt, args);
	va_end(args);
}

static void add_ledger_state(const struct gt_view *view, struct gt_result *result)
{
	const struct gt_ledger_state *recording = &view->recording;
	const uint64_t lost = recording->lost;
	const uint64_t failed = recording->sources_failed;
	struct ledger_state state = {.text = "incomplete"};

	if (recording->processes == 0) {
		gt_result_add_unknown(result);
		return;
	}
	add_part(&state, lost, "%s %s lost or without times", gt_grouped(lost).text,
	         lost == 1 ? "record" : "records");
	add_part(&state, failed, "%s %s could not start", gt_grouped(failed).text,
	         failed == 1 ? "source" : "sources");
	add_part(&state, recording->cut_short, "%s of %s processes cut short",
	         gt_grouped(recording->cut_short).text, gt_grouped(recording->processes).text);
	add_part(&state, recording->unread, "%s of %s processes not readable",
	         gt_grouped(recording->unread).text, gt_grouped(recording->processes).text);
	add_part(&state, recording->running, "%s of %s processes still running",
	         gt_grouped(recording->running).text, gt_grouped(recording->processes).text);
	add_part(&state, recording->imported,
	         "%s of %s processes imported, and what they lack not known",
	         gt_grouped(recording->imported).text, gt_grouped(recording->processes).text);
	add_part(&state, recording->unrecorded, "%s of %s processes not recorded",
	         gt_grouped(recording->unrecorded).text, gt_grouped(recording->processes).text);
	if (state.parts)
		gt_result_add_format(result, "%s", state.text);
	else
		gt_result_add_text(result, "complete");
}

static void add_recording(const struct gt_view *view, struct gt_result *result)
{
	const struct gt_trace *trace = view->trace;

	gt_result_begin(result, "recording", recording_headings, GT_COUNT_OF(recording_headings));
	gt_result_single(result);
	gt_result_add_count(result, (int64_t)gt_view_lasts_ns(view));
	gt_result_add_count(result, (int64_t)trace->processes.count);
	gt_result_add_count(result, (int64_t)gt_whole_devices(trace));
	gt_result_add_count(result, (int64_t)trace->kernels.count);
	gt_result_add_count(result, (int64_t)trace->copies.count);
	gt_result_add_count(result, (int64_t)copied_bytes(trace));
	gt_result_add_count(result, (int64_t)trace->fills.count);
	gt_result_add_count(result, (int64_t)trace->api_calls.count);
	gt_result_add_count(result, (int64_t)errors(trace));
	gt_result_add_count(result, (int64_t)unfinished(trace));
	gt_result_add_count(result, (int64_t)profiled(trace));
	add_ledger_state(view, result);
}

static void add_device_row(const struct gt_view *view, struct gt_result *result, gt_id id,
                           const struct gt_busy *busy)
{
	const uint64_t busy_ns = busy->kernels.covered_ns;
	const uint64_t copy_ns = busy->copies.covered_ns;

	gt_add_device(result, view->trace, id);
	gt_result_add_count(result, (int64_t)busy_ns);
	gt_result_add_real(result, gt_busy_percent(view, &busy->kernels));
	gt_result_add_real(result,
	                   gt_percent((double)busy_ns, (double)gt_busy_span_ns(view, busy)));
	gt_result_add_count(result, (int64_t)copy_ns);
	gt_result_add_count(result, (int64_t)gt_busy_overlap(busy));
	gt_result_add_count(result, (int64_t)busy->kernel_count);
}

static void add_devices(const struct gt_facts *facts, struct gt_result *result)
{
	gt_result_begin(result, "devices", device_headings, GT_COUNT_OF(device_headings));
	for (gt_id i = 0; i < facts->view->trace->devices.count; i++)
		if (gt_whole_has_rows(facts->view->trace, i))
			add_device_row(facts->view, result, i, &facts->busy[i]);
}

static void add_processes(const struct gt_trace *trace, struct gt_result *result)
{
	gt_result_begin(result, "processes", process_headings, GT_COUNT_OF(process_headings));
	for (size_t i = 0; i < trace->processes.count; i++) {
		const struct gt_process *process = &trace->processes.rows[i];

		gt_add_process(result, trace, (gt_id)i);
		if (process->start_ns)
			gt_result_add_count(result, process->end_ns - process->start_ns);
		else
			gt_result_add_unknown(result);
		gt_result_add_text(result, gt_end_name(process->ended));
		gt_add_string(result, trace, process->command);
	}
}

static void add_loss(struct gt_result *result, const struct gt_ledger_class *class)
{
	if (class)
		gt_result_add_text(result, gt_ledger_class_is_loss(class) ? "yes" : "no");
	else
		gt_result_add_unknown(result);
}

/* One row a class, in the order in which the first process counts them. */
static void add_ledger(const struct gt_trace *trace, struct gt_result *result)
{
	const size_t size = gt_strings_count(trace->strings);
	bool *seen = gt_allocate_zeroed(size, sizeof(*seen));
	uint64_t *sums = gt_ledger_sums(trace);

	gt_result_begin(result, "ledger", ledger_headings, GT_COUNT_OF(ledger_headings));
	gt_result_whole(result);
	gt_array_each(const struct gt_ledger, row, &trace->ledgers) {
		const char *name = gt_trace_text(trace, row->name);

		if (row->name >= size || seen[row->name])
			continue;
		seen[row->name] = true;
		gt_result_add_text(result, name);
		gt_result_add_count(result, (int64_t)sums[row->name]);
		add_loss(result, gt_ledger_class_find(name));
	}
	free(seen);
	free(sums);
}

static void add_notes(const struct gt_trace *trace, struct gt_result *result)
{
	gt_result_begin(result, "notes", note_headings, GT_COUNT_OF(note_headings));
	gt_array_each(const struct gt_note, note, &trace->notes) {
		gt_add_process(result, trace, note->process);
		gt_add_string(result, trace, note->topic);
		gt_add_string(result, trace, note->text);
	}
}

static void add_remarks(const struct gt_facts *facts, struct gt_result *result)
{
	const struct gt_view *view = facts->view;
	const struct gt_ledger_state *recording = &view->recording;
	const struct gt_trace *trace = view->trace;

	if (trace->kernels.count + trace->copies.count + trace->fills.count +
	            trace->graph_traces.count ==
	    0) {
		gt_result_remark_empty(result, "No GPU activity was recorded%s.",
		                       view->restriction         ? " in this part of the recording"
		                       : trace->pauses.count > 0 ? " outside of the times in which "
		                                                   "recording was paused"
		                                                 : "");
		return;
	}
	gt_remark_busy(result, gt_whole_of(trace), NULL);
	gt_remark_other_work(result, trace, facts->busy);
	if (trace->device_events.count > 0)
		gt_result_remark(result,
		                 "Kernels told %s events of themselves: gputrace report "
		                 "device-events.",
		                 gt_grouped(trace->device_events.count).text);
	if (recording->lost || recording->sources_failed || recording->cut_short ||
	    recording->unread || recording->running)
		gt_result_remark(
			result,
			"The recording is incomplete: figures are those of what is in it (gputrace info says "
			"what is missing).");
}

/* The table that was begun last. */
static void hide_if_empty(struct gt_result *result, const char *title)
{
	if (gt_section_row_count(gt_result_find(result, title)) == 0)
		gt_result_detail(result);
}

/* The page that people read first; the tables of figures are behind it. */
static void add_page(const struct gt_facts *facts, struct gt_result *result, uint64_t top)
{
	struct gt_advice advice;

	gt_advice_init(&advice, facts);
	gt_add_overview(result, facts);
	gt_add_findings(result, &advice);
	gt_summary_add_top_ranges(&facts->ranges, result, top);
	gt_advice_release(&advice);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const struct gt_trace *trace = view->trace;
	const uint64_t top = arguments->values[TOP].number;
	struct gt_facts facts;

	(void)err;
	result->is_page = true;
	gt_facts_init(&facts, view);
	add_recording(view, result);
	gt_result_detail(result);
	add_devices(&facts, result);
	gt_result_detail(result);
	add_page(&facts, result, top);
	gt_summary_add_top_kernels(trace, result, top);
	hide_if_empty(result, "top_kernels");
	gt_add_families(result, trace);
	gt_result_detail(result);
	gt_summary_add_top_api_calls(trace, result, top);
	gt_result_detail(result);
	gt_summary_add_copies(trace, result);
	hide_if_empty(result, "copies");
	add_processes(trace, result);
	gt_result_detail(result);
	add_ledger(trace, result);
	gt_result_detail(result);
	add_notes(trace, result);
	gt_result_detail(result);
	add_remarks(&facts, result);
	gt_failures_remark(result, trace);
	gt_facts_release(&facts);
	return 0;
}

const struct gt_report gt_report_summary = {
	.name = "summary",
	.summary =
		"Contents of a recording, the work that kept the GPUs busy and whether anything is missing",
	.parameters = parameters,
	.run = run,
};

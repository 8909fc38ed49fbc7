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
#include "analysis/result.h"
#include "analysis/time/busy.h"
#include "base/array.h"
#include "base/strings.h"
#include "base/sums.h"
#include "model/ledger.h"
#include "model/names.h"
#include "model/naming/functions.h"
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
	{"errors", GT_UNIT_COUNT, "API calls that returned neither success nor \"not ready\"",
         GT_WORTH_ORDINARY, true},
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

static const struct gt_heading top_kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Function name; instances that read alike are counted together",
         GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Executions that have a start and an end", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of end - start of its executions on the GPU", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of the total_ns of all kernels", GT_WORTH_KEY},
};

static const struct gt_heading top_api_headings[] = {
	{"function", GT_UNIT_TEXT, "Function of the CUDA runtime (cuda...) or driver (cu...) API",
         GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Calls that returned", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of return - entry on the host", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of the total_ns of all calls", GT_WORTH_KEY},
};

static const struct gt_heading copy_headings[] = {
	{"kind", GT_UNIT_TEXT, "Direction: H host, D device, A array, P another GPU", GT_WORTH_KEY},
	{"host_memory", GT_UNIT_TEXT,
         "Kind of the memory of the host that was read or written; not known where there is none",
         GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "Copies that have a start and an end", GT_WORTH_LITTLE},
	{"bytes", GT_UNIT_BYTES, "Sum of their sizes"},
	{"total_ns", GT_UNIT_NS, "Sum of end - start on the GPU"},
	{"achieved_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "bytes / total_ns", GT_WORTH_KEY},
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

static const struct gt_heading top_range_headings[] = {
	{"ranges", GT_UNIT_COUNT, "How many of this path began", GT_WORTH_KEY},
	{"wall_ns", GT_UNIT_NS, "Sum of end - begin of those that ended", GT_WORTH_KEY},
	{"gpu_ns", GT_UNIT_NS, "Time in which something ran that was asked for inside",
         GT_WORTH_KEY},
	{"busy_percent", GT_UNIT_PERCENT,
         "Part of the wall time inside the window in which work of the range ran on any GPU"},
	{"range", GT_UNIT_TEXT, "Path of NVTX ranges", GT_WORTH_NAME},
};

static const struct gt_parameter parameters[] = {
	{"top", GT_PARAMETER_ROWS, "5",
         "Rows of the lists of the busiest kernels, calls and ranges"},
	{0},
};

enum { TOP }; /* arguments, as above */

enum {
	COPY_KIND_COUNT = GT_COPY_PEER_TO_PEER + 1,  /* 0: all kinds that are not known */
	MEMORY_COUNT = GT_MEMORY_MANAGED_STATIC + 1, /* 0: none, and those */
};

/* Amounts of one function, kind or class. */
struct total {
	const char *name;
	uint32_t host_memory; /* of copies */
	uint64_t calls;
	uint64_t bytes;
	uint64_t total_ns;
};

/* "incomplete: ..." and how many parts that has so far. */
struct ledger_state {
	char text[352]; /* the five parts with numbers of 26 digits each take less */
	unsigned parts;
};

static int by_total(const void *a, const void *b)
{
	const struct total *left = a;
	const struct total *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->host_memory != right->host_memory)
		return left->host_memory > right->host_memory ? 1 : -1;
	return strcmp(left->name, right->name);
}

static struct total *new_totals(size_t count)
{
	struct total *totals = gt_allocate(count * sizeof(*totals));

	for (size_t i = 0; i < count; i++)
		totals[i] = (struct total){.name = ""};
	return totals;
}

static void count(struct total *total, gt_time start_ns, gt_time end_ns, gt_size bytes)
{
	total->calls++;
	total->total_ns += (uint64_t)(end_ns - start_ns);
	total->bytes += bytes;
}

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

/* The busiest rows of a list whose headings are name, calls, total_ns, share_percent. */
static void add_busiest(struct gt_result *result, struct total *totals, size_t size, uint64_t top)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < size; i++)
		sum_ns += totals[i].total_ns;
	qsort(totals, size, sizeof(*totals), by_total);
	for (size_t i = 0, rows = 0; i < size && rows < top; i++) {
		if (totals[i].calls == 0)
			continue;
		rows++;
		gt_result_add_text(result, totals[i].name);
		gt_result_add_count(result, (int64_t)totals[i].calls);
		gt_result_add_count(result, (int64_t)totals[i].total_ns);
		gt_result_add_real(result, gt_percent((double)totals[i].total_ns, (double)sum_ns));
	}
}

static void add_top_kernels(const struct gt_trace *trace, struct gt_result *result, uint64_t top)
{
	struct gt_functions functions;

	gt_functions_init(&functions, trace);

	struct total *totals = new_totals(functions.count);

	for (size_t i = 0; i < functions.count; i++)
		totals[i].name = functions.names[i];
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		if (gt_timed(GT_TIMES_FIGURES, kernel->flags, kernel->start_ns, kernel->end_ns))
			count(&totals[gt_function_of(&functions, kernel->shape)], kernel->start_ns,
			      kernel->end_ns, 0);
	gt_result_begin(result, "top_kernels", top_kernel_headings,
	                GT_COUNT_OF(top_kernel_headings));
	gt_result_order(result, "total_ns");
	add_busiest(result, totals, functions.count, top);
	free(totals);
	gt_functions_release(&functions);
}

static void add_top_api_calls(const struct gt_trace *trace, struct gt_result *result, uint64_t top)
{
	const size_t size = gt_strings_count(trace->strings);
	struct total *totals = new_totals(size);

	totals[0].name = "unknown function";
	for (size_t i = 1; i < size; i++)
		totals[i].name = gt_trace_text(trace, (gt_string)i);
	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		if (gt_timed(GT_TIMES_FIGURES, call->flags, call->start_ns, call->end_ns))
			count(&totals[call->function < size ? call->function : 0], call->start_ns,
			      call->end_ns, 0);
	gt_result_begin(result, "top_api_calls", top_api_headings, GT_COUNT_OF(top_api_headings));
	gt_result_order(result, "total_ns");
	add_busiest(result, totals, size, top);
	free(totals);
}

static struct total *total_of_copy(struct total totals[COPY_KIND_COUNT][MEMORY_COUNT],
                                   const struct gt_copy *copy)
{
	const uint32_t memory = gt_copy_host_memory(copy);

	return &totals[copy->kind < COPY_KIND_COUNT ? copy->kind : 0]
	              [memory < MEMORY_COUNT ? memory : 0];
}

static void add_copies(const struct gt_trace *trace, struct gt_result *result)
{
	struct total totals[COPY_KIND_COUNT][MEMORY_COUNT] = {0};

	for (uint32_t kind = 0; kind < COPY_KIND_COUNT; kind++)
		for (uint32_t memory = 0; memory < MEMORY_COUNT; memory++)
			totals[kind][memory] = (struct total){.name = gt_copy_kind_name(kind),
			                                      .host_memory = memory};
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		if (gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns))
			count(total_of_copy(totals, copy), copy->start_ns, copy->end_ns,
			      copy->size_bytes);
	qsort(totals, (size_t)COPY_KIND_COUNT * MEMORY_COUNT, sizeof(totals[0][0]), by_total);
	gt_result_begin(result, "copies", copy_headings, GT_COUNT_OF(copy_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < (size_t)COPY_KIND_COUNT * MEMORY_COUNT; i++) {
		const struct total *total = &totals[0][0] + i;

		if (total->calls == 0)
			continue;
		gt_result_add_text(result, total->name);
		gt_add_host_memory(result, total->host_memory);
		gt_result_add_count(result, (int64_t)total->calls);
		gt_result_add_count(result, (int64_t)total->bytes);
		gt_result_add_count(result, (int64_t)total->total_ns);
		gt_result_add_real(result, gt_bytes_per_second((double)total->bytes,
		                                               (double)total->total_ns));
	}
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
		                       view->restriction ? " in this part of the recording" : "");
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

/* A path and what it is put in order by. */
struct range_place {
	gt_id path;
	uint64_t gpu_ns;
	int64_t wall_ns;
};

static int by_gpu_time(const void *a, const void *b)
{
	const struct range_place *left = a;
	const struct range_place *right = b;

	if (left->gpu_ns != right->gpu_ns)
		return left->gpu_ns < right->gpu_ns ? 1 : -1;
	if (left->wall_ns != right->wall_ns)
		return left->wall_ns < right->wall_ns ? 1 : -1;
	return (left->path > right->path) - (left->path < right->path);
}

static void add_top_range(const struct gt_range_totals *totals, struct gt_result *result,
                          gt_id path)
{
	const struct gt_range_figures *row = &totals->rows[path];
	char text[GT_RANGE_PATH_BYTES];

	gt_range_brief_text(&totals->ranges, path, text);
	gt_result_add_count(result, (int64_t)row->ranges);
	if (row->wall.spread.count > 0)
		gt_result_add_count(result, row->wall.spread.total);
	else
		gt_result_add_unknown(result);
	if (gt_trace_has_calls(totals->ranges.trace))
		gt_result_add_count(result, (int64_t)row->gpu_ns);
	else
		gt_result_add_unknown(result);
	gt_result_add_real(result, gt_percent((double)row->busy_ns, (double)row->shown_ns));
	gt_result_add_format(result, "%s", text);
}

static void add_top_ranges(const struct gt_range_totals *totals, struct gt_result *result,
                           uint64_t top)
{
	struct range_place *places = gt_allocate(totals->count * sizeof(*places));
	size_t used = 0;

	for (gt_id i = 0; i < totals->count; i++)
		if (totals->rows[i].ranges > 0)
			places[used++] = (struct range_place){i, totals->rows[i].gpu_ns,
			                                      totals->rows[i].wall.spread.total};
	if (used > 1)
		qsort(places, used, sizeof(*places), by_gpu_time);
	gt_result_begin(result, "top_ranges", top_range_headings, GT_COUNT_OF(top_range_headings));
	for (size_t i = 0; i < used && i < top; i++)
		add_top_range(totals, result, places[i].path);
	if (used == 0)
		gt_result_detail(result);
	gt_array_free(places);
}

/* The page that people read first; the tables of figures are behind it. */
static void add_page(const struct gt_facts *facts, struct gt_result *result, uint64_t top)
{
	struct gt_advice advice;

	gt_advice_init(&advice, facts);
	gt_add_overview(result, facts);
	gt_add_findings(result, &advice);
	add_top_ranges(&facts->ranges, result, top);
	gt_advice_release(&advice);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const struct gt_trace *trace = view->trace;
	const uint64_t top = arguments->values[TOP].number;
	struct gt_facts facts;

	(void)err;
	gt_facts_init(&facts, view);
	add_recording(view, result);
	gt_result_detail(result);
	add_devices(&facts, result);
	gt_result_detail(result);
	add_page(&facts, result, top);
	add_top_kernels(trace, result, top);
	hide_if_empty(result, "top_kernels");
	gt_add_families(result, trace);
	gt_result_detail(result);
	add_top_api_calls(trace, result, top);
	gt_result_detail(result);
	add_copies(trace, result);
	hide_if_empty(result, "copies");
	add_processes(trace, result);
	gt_result_detail(result);
	add_ledger(trace, result);
	gt_result_detail(result);
	add_notes(trace, result);
	gt_result_detail(result);
	add_remarks(&facts, result);
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

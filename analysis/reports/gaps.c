/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/gaps/cause.h"
#include "analysis/gaps/idle.h"
#include "analysis/gaps/totals.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/statistics/spread.h"
#include "analysis/time/busy.h"
#include "analysis/time/host_calls.h"
#include "analysis/time/latency.h"
#include "base/array.h"
#include "model/names.h"
#include "model/naming/shape_names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/whole.h"
#include "model/work/activity.h"
#include "model/work/intervals.h"

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"busy_ns", GT_UNIT_NS, "Time in which at least one kernel ran, as in summary",
         GT_WORTH_LITTLE},
	{"busy_percent", GT_UNIT_PERCENT,
         "busy_ns of the duration of the recording, or of its window, as in summary", GT_WORTH_KEY},
	{"idle_ns", GT_UNIT_NS, "The rest of that duration: no kernel ran", GT_WORTH_LITTLE},
	{"idle_percent", GT_UNIT_PERCENT, "idle_ns of that duration: 100 - busy_percent",
         GT_WORTH_KEY},
	{"span_ns", GT_UNIT_NS,
         "In use: from its first kernel, copy or fill to the end of its last", GT_WORTH_ORDINARY,
         .label = "in_use"},
	{"active_ns", GT_UNIT_NS, "Time in which at least one kernel, copy or fill ran",
         GT_WORTH_LEAST},
	{"gaps", GT_UNIT_COUNT, "Times within span_ns in which nothing ran that was recorded",
         GT_WORTH_KEY},
	{"gap_ns", GT_UNIT_NS, "Sum of their lengths: span_ns - active_ns", GT_WORTH_KEY},
	{"gap_percent", GT_UNIT_PERCENT, "gap_ns of span_ns", GT_WORTH_ORDINARY},
	{"mean_gap_ns", GT_UNIT_NS, "gap_ns / gaps", GT_WORTH_LITTLE},
};

static const struct gt_heading host_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU on which nothing ran", GT_WORTH_LITTLE},
	{"gaps", GT_UNIT_COUNT, "Gaps in which that was so, for some of their time", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS,
         "How long, all gaps together: the rows of a device add up to its gap_ns", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of gap_ns", GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "total_ns / gaps"},
	{"host_call", GT_UNIT_TEXT,
         "Call that the thread which asked for what came after was in, or what else was so",
         GT_WORTH_NAME, .label = "meanwhile"},
};

static const struct gt_heading gap_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU on which nothing ran", GT_WORTH_KEY},
	{"start_time_ns", GT_UNIT_TIME, "When the gap began, since the recording began",
         GT_WORTH_LITTLE},
	{"duration_ns", GT_UNIT_NS, "How long nothing ran", GT_WORTH_KEY},
	{"host_call_ns", GT_UNIT_NS,
         "How much of the gap that was so; where it is no call, all calls of the thread",
         GT_WORTH_KEY, .label = "host_time"},
	{"host_call", GT_UNIT_TEXT,
         "Call that took half of the gap or more, on the thread that asked for what came after",
         GT_WORTH_NAME},
	{"before", GT_UNIT_TEXT, "The work that ended last before the gap", GT_WORTH_LESSER_NAME,
         .label = "previous"},
	{"after", GT_UNIT_TEXT, "The work that ended the gap", GT_WORTH_NAME, .label = "next"},
};

static const struct gt_heading size_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"from_ns", GT_UNIT_NS, "Shortest gap of the class", GT_WORTH_KEY},
	{"below_ns", GT_UNIT_NS, "The class ends before this length: ten times from_ns",
         GT_WORTH_KEY},
	{"gaps", GT_UNIT_COUNT, "Gaps of such a length", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of their lengths", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "total_ns of all gaps of the device"},
};

static const struct gt_heading latency_headings[] = {
	{"process", GT_UNIT_TEXT, "Process that launched", GT_WORTH_NAME},
	{"launches", GT_UNIT_TEXT,
         "all, or only those that found the device idle: all that started before had ended",
         GT_WORTH_KEY},
	{"calls", GT_UNIT_COUNT, "Kernels launched one by one whose call is known", GT_WORTH_KEY},
	{"share_percent", GT_UNIT_PERCENT, "calls of all such kernels of the process"},
	{"min_ns", GT_UNIT_NS, "Least time from the entry of the call to the start of the kernel",
         GT_WORTH_LITTLE},
	{"p50_ns", GT_UNIT_NS, "Half of the launches took no longer", GT_WORTH_KEY},
	{"p90_ns", GT_UNIT_NS, "90 percent of the launches took no longer", GT_WORTH_LITTLE},
	{"p99_ns", GT_UNIT_NS, "99 percent of the launches took no longer"},
	{"max_ns", GT_UNIT_NS, "Most time from the entry of the call to the start of the kernel"},
	{"mean_ns", GT_UNIT_NS, "Sum of these times / calls", GT_WORTH_LITTLE},
};

static const struct gt_parameter parameters[] = {
	{"largest", GT_PARAMETER_ROWS, "20", "Gaps that are listed, longest first"},
	{0},
};

enum { LARGEST }; /* arguments, as above */

/* The report's questions, each with what it is answered from. */
struct tally {
	const struct gt_view *view;
	const struct gt_trace *trace; /* whose devices and processes are shown */
	const struct gt_trace
		*whole;       /* all that happened: what gaps, and their causes, are made of */
	struct gt_busy *busy; /* by device */
	struct gt_idle *idle; /* by device */
	struct gt_thread_calls calls;
	struct gt_gap_totals totals;
	struct gt_latency latency;
};

static void tally_init(struct tally *tally, const struct gt_view *view, uint64_t largest)
{
	const struct gt_trace *trace = view->trace;
	const size_t devices = trace->devices.count;

	*tally = (struct tally){
		.view = view,
		.trace = trace,
		.whole = gt_whole_of(trace),
		.busy = gt_busy_new(view),
		.idle = gt_allocate(devices * sizeof(*tally->idle)),
	};
	for (size_t i = 0; i < devices; i++)
		tally->idle[i] = (struct gt_idle){
			.largest_count = largest < SIZE_MAX ? (size_t)largest : SIZE_MAX,
			.window = gt_window_of(view),
			.hear = gt_gap_totals_hear,
			.hearer = &tally->totals,
			.device = (gt_id)i,
		};
	gt_thread_calls_init(&tally->calls, tally->whole);
	gt_gap_totals_init(&tally->totals, &tally->calls);
	gt_latency_init(&tally->latency, trace);
}

static void tally_release(struct tally *tally)
{
	for (size_t i = 0; i < tally->trace->devices.count; i++)
		gt_idle_release(&tally->idle[i]);
	gt_array_free(tally->busy);
	gt_array_free(tally->idle);
	gt_gap_totals_release(&tally->totals);
	gt_thread_calls_release(&tally->calls);
	gt_latency_release(&tally->latency);
}

static void walk(struct tally *tally)
{
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, tally->whole, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id device = gt_whole_device(tally->trace, activity.device);

		gt_latency_see(&tally->latency, &activity);
		gt_busy_see(tally->busy, tally->view, &activity);
		if (device < tally->trace->devices.count)
			gt_idle_see(&tally->idle[device], &activity);
	}
	for (size_t i = 0; i < tally->trace->devices.count; i++)
		gt_idle_end(&tally->idle[i]);
}

/* Busy and idle, which are all of the window. */
static void add_busy(const struct tally *tally, struct gt_result *result,
                     const struct gt_cover *kernels)
{
	const struct gt_view *view = tally->view;
	const double busy_percent = gt_busy_percent(view, kernels);

	gt_result_add_count(result, (int64_t)kernels->covered_ns);
	gt_result_add_real(result, busy_percent);
	gt_result_add_count(result, (int64_t)(gt_view_lasts_ns(view) - kernels->covered_ns));
	gt_result_add_real(result, 100 - busy_percent);
}

static void add_devices(const struct tally *tally, struct gt_result *result)
{
	gt_result_begin(result, "devices", device_headings, GT_COUNT_OF(device_headings));
	for (size_t i = 0; i < tally->trace->devices.count; i++) {
		const struct gt_idle *idle = &tally->idle[i];
		const uint64_t span_ns = gt_idle_span_ns(idle);
		const uint64_t gap_ns = gt_idle_ns(idle);

		if (!idle->cover.begun)
			continue;
		gt_add_device(result, tally->trace, (gt_id)i);
		add_busy(tally, result, &tally->busy[i].kernels);
		gt_result_add_count(result, (int64_t)span_ns);
		gt_result_add_count(result, (int64_t)idle->active.covered_ns);
		gt_result_add_count(result, (int64_t)idle->gap_count);
		gt_result_add_count(result, (int64_t)gap_ns);
		gt_result_add_real(result, gt_percent((double)gap_ns, (double)span_ns));
		if (idle->gap_count)
			gt_add_rounded(result, (double)gap_ns / (double)idle->gap_count);
		else
			gt_result_add_unknown(result);
	}
}

static void add_activity(const struct gt_trace *trace, struct gt_result *result,
                         const struct gt_activity *activity)
{
	switch (activity->type) {
	case GT_ACTIVITY_KERNEL:
		gt_result_add_text(result,
		                   gt_shape_name(trace, trace->kernels.rows[activity->row].shape));
		break;
	case GT_ACTIVITY_COPY:
		gt_result_add_format(result, "copy %s",
		                     gt_copy_kind_name(trace->copies.rows[activity->row].kind));
		break;
	case GT_ACTIVITY_FILL:
		gt_result_add_text(result, "fill");
		break;
	case GT_ACTIVITY_GRAPH:
		gt_result_add_text(result, "graph launch");
		break;
	}
}

static void add_host_call(const struct tally *tally, struct gt_result *result,
                          const struct gt_gap *gap)
{
	const struct gt_gap_cause cause = gt_gap_cause_of(&tally->calls, gap);
	char text[256];

	gt_gap_cause_text(&cause, tally->whole, text, sizeof(text));
	if (!*text) {
		gt_result_add_unknown(result);
		gt_result_add_unknown(result);
		return;
	}
	gt_result_add_count(result, cause.host_ns);
	gt_result_add_format(result, "%s", text);
}

/* All gaps together: what the GPUs waited for. */
static void add_waited_for(struct tally *tally, struct gt_result *result)
{
	gt_result_begin(result, "waited_for", host_headings, GT_COUNT_OF(host_headings));
	gt_result_order(result, "total_ns");
	gt_gap_totals_sort(&tally->totals);
	gt_array_each(const struct gt_gap_total, total, &tally->totals.all) {
		const uint64_t gap_ns = gt_idle_ns(&tally->idle[total->device]);
		char text[256];

		gt_gap_total_text(total, tally->whole, text, sizeof(text));
		gt_add_device(result, tally->trace, total->device);
		gt_result_add_count(result, (int64_t)total->gaps);
		gt_result_add_count(result, (int64_t)total->total_ns);
		gt_result_add_real(result, gt_percent((double)total->total_ns, (double)gap_ns));
		gt_add_rounded(result, (double)total->total_ns / (double)total->gaps);
		gt_result_add_format(result, "%s", text);
	}
}

/* The longest gap of all that are not listed yet; NULL: there is none. */
static const struct gt_gap *next_largest(const struct tally *tally, size_t *listed, size_t *device)
{
	const struct gt_gap *longest = NULL;

	for (size_t i = 0; i < tally->trace->devices.count; i++) {
		const struct gt_idle *idle = &tally->idle[i];
		const struct gt_gap *gap =
			listed[i] < idle->largest.count ? &idle->largest.rows[listed[i]] : NULL;

		if (!gap || (longest && gt_gap_ns(gap) <= gt_gap_ns(longest)))
			continue;
		longest = gap;
		*device = i;
	}
	if (longest)
		listed[*device]++;
	return longest;
}

static void add_largest(const struct tally *tally, struct gt_result *result, uint64_t most)
{
	const size_t devices = tally->trace->devices.count;
	size_t *listed = gt_allocate((devices + 1) * sizeof(*listed));
	const struct gt_gap *gap;
	uint64_t all = 0;
	size_t device = 0;

	for (size_t i = 0; i < devices; i++) {
		listed[i] = 0;
		all += tally->idle[i].gap_count;
	}
	gt_result_begin(result, "largest_gaps", gap_headings, GT_COUNT_OF(gap_headings));
	gt_result_order(result, "duration_ns");
	for (uint64_t i = 0; i < most && (gap = next_largest(tally, listed, &device)); i++) {
		gt_add_device(result, tally->trace, (gt_id)device);
		gt_add_moment(result, tally->trace, gap->start_ns);
		gt_result_add_count(result, (int64_t)gt_gap_ns(gap));
		add_host_call(tally, result, gap);
		add_activity(tally->whole, result, &gap->before);
		add_activity(tally->whole, result, &gap->after);
	}
	gt_result_top(result, all, most);
	gt_array_free(listed);
}

static void add_sizes_of(const struct tally *tally, struct gt_result *result, size_t number)
{
	const struct gt_idle *device = &tally->idle[number];
	const uint64_t gap_ns = gt_idle_ns(device);
	int64_t from_ns = 1;

	for (unsigned decade = 0; decade < GT_GAP_DECADES; decade++) {
		const int64_t below_ns = from_ns <= INT64_MAX / 10 ? from_ns * 10 : INT64_MAX;

		if (device->gaps_of_decade[decade] > 0) {
			gt_add_device(result, tally->trace, (gt_id)number);
			gt_result_add_count(result, from_ns);
			gt_result_add_count(result, below_ns);
			gt_result_add_count(result, (int64_t)device->gaps_of_decade[decade]);
			gt_result_add_count(result, (int64_t)device->idle_of_decade[decade]);
			gt_result_add_real(result,
			                   gt_percent((double)device->idle_of_decade[decade],
			                              (double)gap_ns));
		}
		from_ns = below_ns;
	}
}

/* All cells of a row but the first; count > 0. */
static void add_latency(struct gt_result *result, const char *launches, int64_t *values,
                        size_t count, size_t all)
{
	const struct gt_spread spread = gt_spread_of(values, count);

	gt_result_add_text(result, launches);
	gt_result_add_count(result, (int64_t)count);
	gt_result_add_real(result, gt_percent((double)count, (double)all));
	gt_result_add_count(result, spread.min);
	gt_result_add_count(result, gt_percentile(values, count, 50));
	gt_result_add_count(result, gt_percentile(values, count, 90));
	gt_result_add_count(result, gt_percentile(values, count, 99));
	gt_result_add_count(result, spread.max);
	gt_add_rounded(result, spread.mean);
}

static void add_latencies(struct tally *tally, struct gt_result *result)
{
	gt_result_begin(result, "launch_latency", latency_headings, GT_COUNT_OF(latency_headings));
	for (size_t i = 0; i < tally->trace->processes.count; i++) {
		struct gt_latencies *latencies = &tally->latency.processes[i];
		const size_t idle = latencies->idle.count;
		const size_t all = idle + latencies->queued.count;

		gt_array_each(const int64_t, latency_ns, &latencies->idle)
			*gt_array_push(&latencies->queued) = *latency_ns;
		if (all > 0) {
			gt_add_process(result, tally->trace, (gt_id)i);
			add_latency(result, "all", latencies->queued.rows, all, all);
		}
		if (idle > 0) {
			gt_add_process(result, tally->trace, (gt_id)i);
			add_latency(result, "found device idle", latencies->idle.rows, idle, all);
		}
	}
}

static void add_remarks(const struct tally *tally, struct gt_result *result)
{
	const struct gt_trace *trace = tally->whole;

	if (trace->kernels.count + trace->copies.count + trace->fills.count +
	            trace->graph_traces.count ==
	    0) {
		gt_result_remark_empty(
			result,
			"No GPU activity was recorded, so there is no idle time to speak of.");
		return;
	}
	gt_remark_busy(result, tally->whole, "busy_percent idle_percent");
	gt_remark_other_work(result, tally->trace, tally->busy);
	gt_result_remark_on(
		result, "gaps duration_ns",
		"A gap is time between the first and the last work of a GPU in which no "
		"kernel, copy or fill that was recorded runs; what other programs did on "
		"it is not seen.");
	if (trace->api_calls.count == 0)
		gt_result_remark_on(
			result, "host_call p50_ns",
			"%s: what the host did in a gap and how long launches took is not known.",
			gt_no_calls(trace));
	if (trace->clocks.count > 0 && gt_trace_clock_bound(trace) == 0)
		gt_result_remark_on(
			result, "host_call p50_ns",
			"Host and GPU times are compared; how well their clocks agree is "
			"not known.");
	else if (trace->clocks.count > 0)
		gt_result_remark_on(
			result, "host_call p50_ns",
			"Host and GPU times are compared; the clocks behind them were read within "
			"%s ns of each other.",
			gt_grouped(gt_trace_clock_bound(trace)).text);
	if (tally->latency.early)
		gt_result_remark_on(
			result, "p50_ns",
			"%s kernels start before their call was entered: an error of the clocks, "
			"left in as negative times.",
			gt_grouped(tally->latency.early).text);
	if (tally->latency.from_graphs)
		gt_result_remark_on(
			result, "p50_ns",
			"%s kernels came from graphs or were launched by the GPU; they are not in "
			"launch_latency.",
			gt_grouped(tally->latency.from_graphs).text);
	if (trace->api_calls.count > 0 && tally->latency.without_call)
		gt_result_remark_on(
			result, "p50_ns",
			"Not in launch_latency, as their calls are not recorded: %s of the kernels.",
			gt_grouped(tally->latency.without_call).text);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct tally tally;

	(void)err;
	tally_init(&tally, view, arguments->values[LARGEST].number);
	walk(&tally);
	add_devices(&tally, result);
	add_waited_for(&tally, result);
	add_largest(&tally, result, arguments->values[LARGEST].number);
	gt_result_begin(result, "gap_sizes", size_headings, GT_COUNT_OF(size_headings));
	for (size_t i = 0; i < view->trace->devices.count; i++)
		add_sizes_of(&tally, result, i);
	add_latencies(&tally, result);
	add_remarks(&tally, result);
	tally_release(&tally);
	return 0;
}

const struct gt_report gt_report_gaps = {
	.name = "gaps",
	.summary = "When the GPU had nothing to do and what the host did then; launch latency",
	.parameters = parameters,
	.run = run,
};

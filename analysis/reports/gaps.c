/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/functions.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/spread.h"
#include "base/array.h"
#include "model/activity.h"
#include "model/intervals.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view.h"

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU"},
	{"span_ns", GT_UNIT_NS, "From its first kernel, copy or fill to the end of its last"},
	{"busy_ns", GT_UNIT_NS, "Time in which at least one kernel, copy or fill ran"},
	{"idle_ns", GT_UNIT_NS, "span_ns - busy_ns: nothing ran that was recorded"},
	{"idle_percent", GT_UNIT_PERCENT, "idle_ns of span_ns"},
	{"gaps", GT_UNIT_COUNT, "Pieces that idle_ns consists of"},
	{"mean_gap_ns", GT_UNIT_NS, "idle_ns / gaps"},
};

static const struct gt_heading gap_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU that was idle"},
	{"start_time_ns", GT_UNIT_TIME, "When the gap began, since the recording began"},
	{"duration_ns", GT_UNIT_NS, "How long nothing ran"},
	{"before", GT_UNIT_TEXT, "What ended last before the gap"},
	{"after", GT_UNIT_TEXT, "What ended the gap"},
	{"host_call", GT_UNIT_TEXT,
         "Call that took half of the gap or more, on the thread that asked for what came after"},
	{"host_call_ns", GT_UNIT_NS,
         "How much of the gap that call took; where none is named, all calls of the thread"},
};

static const struct gt_heading size_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU that was idle"},
	{"from_ns", GT_UNIT_NS, "Shortest gap of the class"},
	{"below_ns", GT_UNIT_NS, "The class ends before this length: ten times from_ns"},
	{"gaps", GT_UNIT_COUNT, "Gaps of such a length"},
	{"idle_ns", GT_UNIT_NS, "Sum of their lengths"},
	{"share_percent", GT_UNIT_PERCENT, "idle_ns of all idle time of the device"},
};

static const struct gt_heading latency_headings[] = {
	{"process", GT_UNIT_TEXT, "Process that launched"},
	{"launches", GT_UNIT_TEXT,
         "all, or only those that found the device idle: all that started before had ended"},
	{"calls", GT_UNIT_COUNT, "Kernels launched one by one whose call is known"},
	{"share_percent", GT_UNIT_PERCENT, "calls of all such kernels of the process"},
	{"min_ns", GT_UNIT_NS, "Least time from the entry of the call to the start of the kernel"},
	{"p50_ns", GT_UNIT_NS, "Half of the launches took no longer"},
	{"p90_ns", GT_UNIT_NS, "90 percent of the launches took no longer"},
	{"p99_ns", GT_UNIT_NS, "99 percent of the launches took no longer"},
	{"max_ns", GT_UNIT_NS, "Most time from the entry of the call to the start of the kernel"},
	{"mean_ns", GT_UNIT_NS, "Sum of these times / calls"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	LARGEST_COUNT = 20, /* gaps a device has its largest listed of */
	DECADE_COUNT = 20,  /* powers of ten in 64 bits */
};

struct gap {
	gt_time start_ns;
	gt_time end_ns;
	struct gt_activity before;
	struct gt_activity after;
};

struct device {
	struct gt_cover cover;
	struct gt_activity latest; /* what ended last so far */
	uint64_t gap_count;
	struct gap largest[LARGEST_COUNT]; /* longest first */
	size_t largest_count;
	uint64_t gaps_of_decade[DECADE_COUNT]; /* 10^n ns up to 10^(n + 1) */
	uint64_t idle_of_decade[DECADE_COUNT];
};

/* From the entry of a launching call to the start of its kernel, by what the device did then. */
struct latencies {
	gt_array(int64_t) idle;   /* nothing ran or waited ahead of the kernel */
	gt_array(int64_t) queued; /* something did */
};

struct tally {
	const struct gt_trace *trace;
	struct device *devices;
	struct latencies *processes;
	size_t *first_call; /* by thread: its first row of api_calls */
	uint64_t from_graphs;
	uint64_t early; /* kernels that start before their call was entered */
	uint64_t without_call;
};

static void tally_init(struct tally *tally, const struct gt_trace *trace)
{
	const size_t devices = trace->devices.count;
	const size_t processes = trace->processes.count;
	const size_t threads = trace->threads.count;

	*tally = (struct tally){
		.trace = trace,
		.devices = gt_allocate(devices * sizeof(*tally->devices)),
		.processes = gt_allocate(processes * sizeof(*tally->processes)),
		.first_call = gt_allocate(threads * sizeof(*tally->first_call)),
	};
	for (size_t i = 0; i < devices; i++)
		tally->devices[i] = (struct device){0};
	for (size_t i = 0; i < processes; i++)
		tally->processes[i] = (struct latencies){0};
	for (size_t i = 0; i < threads; i++)
		tally->first_call[i] = SIZE_MAX;
	for (size_t i = trace->api_calls.count; i-- > 0;)
		if (trace->api_calls.rows[i].thread < threads)
			tally->first_call[trace->api_calls.rows[i].thread] = i;
}

static void tally_release(struct tally *tally)
{
	for (size_t i = 0; i < tally->trace->processes.count; i++) {
		gt_array_release(&tally->processes[i].idle);
		gt_array_release(&tally->processes[i].queued);
	}
	free(tally->devices);
	free(tally->processes);
	free(tally->first_call);
}

static uint64_t length(const struct gap *gap)
{
	return (uint64_t)(gap->end_ns - gap->start_ns);
}

/* Keeps the list sorted; the shortest falls out at its end. */
static void keep_largest(struct device *device, const struct gap *gap)
{
	size_t place = device->largest_count;

	while (place > 0 && length(&device->largest[place - 1]) < length(gap)) {
		if (place < LARGEST_COUNT)
			device->largest[place] = device->largest[place - 1];
		place--;
	}
	if (place == LARGEST_COUNT)
		return;
	device->largest[place] = *gap;
	if (device->largest_count < LARGEST_COUNT)
		device->largest_count++;
}

static unsigned decade_of(uint64_t ns)
{
	unsigned decade = 0;

	for (; ns >= 10; ns /= 10)
		decade++;
	return decade;
}

/*
 * How long a kernel took to start. All that started before it has been seen by now, so if all
 * of that had ended when the call was entered, the device had nothing to do at that moment.
 */
static void see_launch(struct tally *tally, const struct gt_cover *before,
                       const struct gt_activity *activity)
{
	const struct gt_trace *trace = tally->trace;
	const struct gt_kernel *kernel = &trace->kernels.rows[activity->row];
	const gt_id process = gt_api_process(trace, activity->api_call);

	if (process >= trace->processes.count) {
		tally->without_call++;
		return;
	}

	const struct gt_api_call *call = &trace->api_calls.rows[activity->api_call];

	if (kernel->graph || call->kind == GT_API_GRAPH_LAUNCH ||
	    kernel->flags & GT_DEVICE_LAUNCHED) {
		tally->from_graphs++;
		return;
	}

	struct latencies *latencies = &tally->processes[process];

	tally->early += call->start_ns > kernel->start_ns;
	if (!before->begun || before->end_ns <= call->start_ns)
		*gt_array_push(&latencies->idle) = kernel->start_ns - call->start_ns;
	else
		*gt_array_push(&latencies->queued) = kernel->start_ns - call->start_ns;
}

static void see_activity(struct device *device, const struct gt_activity *activity)
{
	const struct gt_interval interval = {activity->start_ns, activity->end_ns};
	const gt_time busy_until = device->cover.end_ns;
	const bool first = !device->cover.begun;
	const uint64_t gap_ns = gt_cover_add(&device->cover, interval);

	if (gap_ns > 0) {
		const struct gap gap = {busy_until, activity->start_ns, device->latest, *activity};
		const unsigned decade = decade_of(gap_ns);

		keep_largest(device, &gap);
		device->gap_count++;
		device->gaps_of_decade[decade]++;
		device->idle_of_decade[decade] += gap_ns;
	}
	if (first || activity->end_ns >= busy_until)
		device->latest = *activity;
}

static void walk(struct tally *tally)
{
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, tally->trace);
	while (gt_activity_next(&walk, &activity)) {
		if (activity.device >= tally->trace->devices.count)
			continue;

		struct device *device = &tally->devices[activity.device];

		if (activity.type == GT_ACTIVITY_KERNEL)
			see_launch(tally, &device->cover, &activity);
		see_activity(device, &activity);
	}
}

static void add_devices(const struct tally *tally, struct gt_result *result)
{
	gt_result_begin(result, "devices", device_headings, COUNT(device_headings));
	for (size_t i = 0; i < tally->trace->devices.count; i++) {
		const struct device *device = &tally->devices[i];
		const uint64_t span_ns = gt_cover_span(&device->cover);
		const uint64_t idle_ns = span_ns - device->cover.covered_ns;

		if (!device->cover.begun)
			continue;
		gt_add_device(result, tally->trace, (gt_id)i);
		gt_result_add_count(result, (int64_t)span_ns);
		gt_result_add_count(result, (int64_t)device->cover.covered_ns);
		gt_result_add_count(result, (int64_t)idle_ns);
		gt_result_add_real(result, gt_percent((double)idle_ns, (double)span_ns));
		gt_result_add_count(result, (int64_t)device->gap_count);
		if (device->gap_count)
			gt_add_rounded(result, (double)idle_ns / (double)device->gap_count);
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
	}
}

/* The first row of api_calls that does not start before that time. */
static size_t first_call_from(const struct gt_trace *trace, gt_time time)
{
	size_t low = 0;
	size_t high = trace->api_calls.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (trace->api_calls.rows[middle].start_ns < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How much of the gap the call took; one that never returned lasts to its end. */
static gt_time overlap(const struct gap *gap, const struct gt_api_call *call)
{
	const gt_time start = call->start_ns > gap->start_ns ? call->start_ns : gap->start_ns;
	const gt_time end = call->flags & GT_UNFINISHED || call->end_ns > gap->end_ns
	                            ? gap->end_ns
	                            : call->end_ns;

	return end > start ? end - start : 0;
}

/* What a thread's calls took of a gap. */
struct host_calls {
	const struct gt_api_call *longest; /* NULL: there was none */
	gt_time longest_ns;
	gt_time all_ns;
};

static void consider(struct host_calls *found, const struct gap *gap,
                     const struct gt_api_call *call)
{
	const gt_time overlap_ns = overlap(gap, call);

	found->all_ns += overlap_ns;
	if (overlap_ns > found->longest_ns) {
		found->longest = call;
		found->longest_ns = overlap_ns;
	}
}

/*
 * What the thread did in the gap. Its outermost calls follow each other, so of those entered
 * before the gap only the last can reach into it.
 */
static struct host_calls find_host_calls(const struct tally *tally, const struct gap *gap,
                                         gt_id thread)
{
	const struct gt_trace *trace = tally->trace;
	const struct gt_api_call *calls = trace->api_calls.rows;
	const size_t first_in_gap = first_call_from(trace, gap->start_ns);
	struct host_calls found = {0};

	for (size_t i = first_in_gap; i < trace->api_calls.count && calls[i].start_ns < gap->end_ns;
	     i++)
		if (calls[i].thread == thread && !(calls[i].flags & GT_NESTED))
			consider(&found, gap, &calls[i]);
	for (size_t i = first_in_gap; i > tally->first_call[thread]; i--) {
		const struct gt_api_call *call = &calls[i - 1];

		if (call->thread == thread && !(call->flags & GT_NESTED)) {
			consider(&found, gap, call);
			break;
		}
	}
	return found;
}

/* Whether that is half of the gap or more. */
static bool is_half(gt_time part_ns, const struct gap *gap)
{
	const uint64_t gap_ns = length(gap);

	return (uint64_t)part_ns >= gap_ns - gap_ns / 2;
}

/* A call that took a small part of the gap does not explain it, though it be the longest. */
static void add_found(const struct gt_trace *trace, struct gt_result *result, const struct gap *gap,
                      const struct host_calls *found)
{
	const struct gt_api_call *call = found->longest;

	if (!call || !is_half(found->longest_ns, gap)) {
		gt_result_add_text(result, is_half(found->all_ns, gap) ? "several CUDA calls"
		                                                       : "no CUDA call");
		gt_result_add_count(result, found->all_ns);
		return;
	}
	if (call->kind == GT_API_SYNCHRONIZE)
		gt_result_add_format(result, "waiting in %s", gt_trace_text(trace, call->function));
	else
		gt_add_string(result, trace, call->function);
	gt_result_add_count(result, found->longest_ns);
}

static void add_host_call(const struct tally *tally, struct gt_result *result,
                          const struct gap *gap)
{
	const struct gt_trace *trace = tally->trace;
	const gt_id asked = gap->after.api_call;

	if (asked >= trace->api_calls.count ||
	    trace->api_calls.rows[asked].thread >= trace->threads.count) {
		gt_result_add_unknown(result);
		gt_result_add_unknown(result);
		return;
	}

	const struct host_calls found =
		find_host_calls(tally, gap, trace->api_calls.rows[asked].thread);

	add_found(trace, result, gap, &found);
}

static void add_largest(const struct tally *tally, struct gt_result *result)
{
	gt_result_begin(result, "largest_gaps", gap_headings, COUNT(gap_headings));
	for (size_t i = 0; i < tally->trace->devices.count; i++) {
		const struct device *device = &tally->devices[i];

		for (size_t j = 0; j < device->largest_count; j++) {
			const struct gap *gap = &device->largest[j];

			gt_add_device(result, tally->trace, (gt_id)i);
			gt_add_moment(result, tally->trace, gap->start_ns);
			gt_result_add_count(result, (int64_t)length(gap));
			add_activity(tally->trace, result, &gap->before);
			add_activity(tally->trace, result, &gap->after);
			add_host_call(tally, result, gap);
		}
	}
}

static void add_sizes_of(const struct tally *tally, struct gt_result *result, size_t number)
{
	const struct device *device = &tally->devices[number];
	const uint64_t idle_ns = gt_cover_span(&device->cover) - device->cover.covered_ns;
	int64_t from_ns = 1;

	for (unsigned decade = 0; decade < DECADE_COUNT; decade++) {
		const int64_t below_ns = from_ns <= INT64_MAX / 10 ? from_ns * 10 : INT64_MAX;

		if (device->gaps_of_decade[decade] > 0) {
			gt_add_device(result, tally->trace, (gt_id)number);
			gt_result_add_count(result, from_ns);
			gt_result_add_count(result, below_ns);
			gt_result_add_count(result, (int64_t)device->gaps_of_decade[decade]);
			gt_result_add_count(result, (int64_t)device->idle_of_decade[decade]);
			gt_result_add_real(result,
			                   gt_percent((double)device->idle_of_decade[decade],
			                              (double)idle_ns));
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
	gt_result_begin(result, "launch_latency", latency_headings, COUNT(latency_headings));
	for (size_t i = 0; i < tally->trace->processes.count; i++) {
		struct latencies *latencies = &tally->processes[i];
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

static uint64_t clock_bound(const struct gt_trace *trace)
{
	uint64_t bound_ns = 0;

	gt_array_each(const struct gt_clock, clock, &trace->clocks)
		if (clock->bound_ns > bound_ns)
			bound_ns = clock->bound_ns;
	return bound_ns;
}

static void add_remarks(const struct tally *tally, struct gt_result *result)
{
	const struct gt_trace *trace = tally->trace;

	if (trace->kernels.count + trace->copies.count + trace->fills.count == 0) {
		gt_result_remark(
			result,
			"No GPU activity was recorded, so there is no idle time to speak of.");
		return;
	}
	gt_result_remark(result,
	                 "Busy means that a kernel, copy or fill that was recorded ran; what other "
	                 "programs did on the GPU is not seen.");
	if (trace->api_calls.count == 0)
		gt_result_remark(
			result,
			"No API calls were recorded: what the host did in a gap and how long "
			"launches took is not known.");
	if (trace->clocks.count > 0)
		gt_result_remark(
			result,
			"Host and GPU times are compared; the clocks behind them were read within "
			"%s ns of each other.",
			gt_grouped(clock_bound(trace)).text);
	if (tally->early)
		gt_result_remark(
			result,
			"%s kernels start before their call was entered: an error of the clocks, "
			"left in as negative times.",
			gt_grouped(tally->early).text);
	if (tally->from_graphs)
		gt_result_remark(
			result,
			"%s kernels came from graphs or were launched by the GPU; they are not in "
			"launch_latency.",
			gt_grouped(tally->from_graphs).text);
	if (trace->api_calls.count > 0 && tally->without_call)
		gt_result_remark(result,
		                 "%s kernels have no recorded call and are not in launch_latency.",
		                 gt_grouped(tally->without_call).text);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const struct gt_trace *trace = view->trace;
	struct tally tally;

	(void)arguments;
	(void)err;
	tally_init(&tally, trace);
	walk(&tally);
	add_devices(&tally, result);
	add_largest(&tally, result);
	gt_result_begin(result, "gap_sizes", size_headings, COUNT(size_headings));
	for (size_t i = 0; i < trace->devices.count; i++)
		add_sizes_of(&tally, result, i);
	add_latencies(&tally, result);
	add_remarks(&tally, result);
	tally_release(&tally);
	return 0;
}

const struct gt_report gt_report_gaps = {
	.name = "gaps",
	.summary = "When the GPU had nothing to do and what the host did then; launch latency",
	.run = run,
};

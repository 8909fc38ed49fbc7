/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/time/beside.h"
#include "analysis/time/busy.h"
#include "base/array.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/whole.h"

static const struct gt_heading device_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"streams", GT_UNIT_COUNT, "Streams on which something ran"},
	{"most_at_once", GT_UNIT_COUNT, "Most streams that had something running at a time"},
	{"active_ns", GT_UNIT_NS, "Time in which at least one kernel, copy or fill ran",
         GT_WORTH_LITTLE},
	{"overlap_ns", GT_UNIT_NS, "Time in which two streams or more had something running",
         GT_WORTH_LITTLE},
	{"overlap_percent", GT_UNIT_PERCENT, "overlap_ns of active_ns", GT_WORTH_KEY},
	{"copy_ns", GT_UNIT_NS, "Time in which at least one copy ran"},
	{"hidden_copy_ns", GT_UNIT_NS, "Part of it in which a kernel ran as well", GT_WORTH_LITTLE},
	{"hidden_copy_percent", GT_UNIT_PERCENT, "hidden_copy_ns of copy_ns", GT_WORTH_KEY},
};

static const struct gt_heading stream_headings[] = {
	{"stream", GT_UNIT_TEXT, "CUPTI's number of the stream", GT_WORTH_KEY},
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_LITTLE},
	{"process", GT_UNIT_TEXT, "Process that it belongs to", GT_WORTH_KEY},
	{"priority", GT_UNIT_COUNT, "Lower is more urgent", GT_WORTH_LEAST},
	{"kernels", GT_UNIT_COUNT, "Executions with times", GT_WORTH_KEY},
	{"copies", GT_UNIT_COUNT, "Copies with times", GT_WORTH_LITTLE},
	{"fills", GT_UNIT_COUNT, "Fills with times", GT_WORTH_LEAST},
	{"busy_ns", GT_UNIT_NS, "Time in which at least one kernel ran on it"},
	{"busy_percent", GT_UNIT_PERCENT,
         "busy_ns of the duration of the recording, or of its window", GT_WORTH_KEY},
	{"copy_ns", GT_UNIT_NS, "Time in which at least one copy ran on it"},
	{"hidden_copy_ns", GT_UNIT_NS,
         "Time of its copies in which a kernel ran on the GPU as well", GT_WORTH_LITTLE},
	{"overlap_ns", GT_UNIT_NS,
         "Time in which something ran on it and on another stream of the GPU", GT_WORTH_LITTLE},
	{"overlap_percent", GT_UNIT_PERCENT, "overlap_ns of the time in which anything ran on it",
         GT_WORTH_KEY},
};

static const struct gt_heading overlap_headings[] = {
	{"stream", GT_UNIT_TEXT, "One stream", GT_WORTH_KEY},
	{"other_stream", GT_UNIT_TEXT, "The other", GT_WORTH_KEY},
	{"overlap_ns", GT_UNIT_NS, "Time in which something ran on both", GT_WORTH_KEY},
	{"stream_percent", GT_UNIT_PERCENT, "overlap_ns of the time of the one", GT_WORTH_KEY},
	{"other_percent", GT_UNIT_PERCENT, "overlap_ns of the time of the other", GT_WORTH_KEY},
};

static const struct gt_parameter parameters[] = {
	{"pairs", GT_PARAMETER_ROWS, "20",
         "Rows of streams that ran at the same time, the longest first"},
	{0},
};

enum { PAIRS }; /* arguments, as above */

/* Work that ran on a stream. */
struct use {
	uint64_t kernels;
	uint64_t copies;
	uint64_t fills;
	uint64_t graphs;              /* recorded as a whole */
	struct gt_cover kernel_cover; /* these too */
	struct gt_cover copy_cover;
	uint64_t hidden_copy_ns;
};

struct tally {
	const struct gt_view *view;
	const struct gt_trace *trace; /* all that happened */
	struct use *uses;             /* by row of its streams */
	struct gt_busy *busy;         /* by row of devices that are shown */
	struct gt_beside_totals totals;
	uint64_t on_no_stream;
};

/* How busy a stream was goes by all that happened; activities end in another order than they begin.
 */
static void see_busy(struct tally *tally)
{
	const struct gt_inside window = gt_window_of(tally->view);
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, tally->trace, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id stream = gt_activity_stream(tally->trace, &activity);
		const struct gt_interval interval = {activity.start_ns, activity.end_ns};

		gt_busy_see(tally->busy, tally->view, &activity);
		if (stream >= tally->trace->streams.count)
			continue;
		if (gt_activity_is_work(activity.type))
			gt_cover_add_inside(&tally->uses[stream].kernel_cover, &window, interval);
		if (activity.type == GT_ACTIVITY_COPY)
			gt_cover_add_inside(&tally->uses[stream].copy_cover, &window, interval);
	}
}

/* By row of the streams of the whole: the row of those that are shown. The caller frees it. */
static gt_id *rows_of_shown(const struct tally *tally)
{
	const struct gt_trace *shown = tally->view->trace;
	gt_id *rows = gt_allocate((shown->streams.count + 1) * sizeof(*rows));

	for (gt_id i = 0; i < tally->trace->streams.count; i++) {
		const gt_id row = gt_whole_shown(shown, GT_TABLE_streams, i);

		if (row < shown->streams.count)
			rows[row] = i;
	}
	return rows;
}

/* Counts are of what is shown. */
static void count_shown(struct tally *tally)
{
	const struct gt_trace *shown = tally->view->trace;
	gt_id *rows = rows_of_shown(tally);
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, shown, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id stream = gt_activity_stream(shown, &activity);
		struct use *use;

		if (stream >= shown->streams.count) {
			tally->on_no_stream++;
			continue;
		}
		use = &tally->uses[rows[stream]];
		use->kernels += activity.type == GT_ACTIVITY_KERNEL;
		use->copies += activity.type == GT_ACTIVITY_COPY;
		use->fills += activity.type == GT_ACTIVITY_FILL;
		use->graphs += activity.type == GT_ACTIVITY_GRAPH;
	}
	gt_array_free(rows);
}

static void see_end(void *context, const struct gt_activity *activity,
                    const struct gt_beside *beside)
{
	struct tally *tally = context;
	const gt_id stream = gt_activity_stream(tally->trace, activity);

	if (activity->type == GT_ACTIVITY_COPY && stream < tally->trace->streams.count)
		tally->uses[stream].hidden_copy_ns += beside->kernels_ns;
}

static uint64_t uses_of(const struct use *use)
{
	return use->kernels + use->copies + use->fills + use->graphs;
}

/* By row of devices: streams on which something ran. The caller frees it. */
static uint64_t *count_streams(const struct tally *tally)
{
	const size_t devices = tally->trace->devices.count;
	uint64_t *used = gt_allocate_zeroed(devices + 1, sizeof(*used));

	for (size_t i = 0; i < tally->trace->streams.count; i++) {
		const gt_id device = gt_stream_device(tally->trace, (gt_id)i);

		if (device < devices)
			used[device] += tally->totals.streams[i].active_ns > 0;
	}
	return used;
}

static void add_devices(const struct tally *tally, struct gt_result *result)
{
	const struct gt_trace *shown = tally->view->trace;
	uint64_t *used = count_streams(tally);

	gt_result_begin(result, "devices", device_headings, GT_COUNT_OF(device_headings));
	for (size_t i = 0; i < tally->trace->devices.count; i++) {
		const struct gt_device_beside *device = &tally->totals.devices[i];
		const gt_id row = gt_whole_device(shown, (gt_id)i);
		const struct gt_busy *busy = row < shown->devices.count ? &tally->busy[row] : NULL;
		const uint64_t active_ns = busy ? busy->all.covered_ns : 0;
		const uint64_t copy_ns = busy ? busy->copies.covered_ns : 0;
		const uint64_t hidden_ns = busy ? gt_busy_overlap(busy) : 0;

		if (!busy || !busy->all.begun)
			continue;
		gt_add_device(result, tally->trace, (gt_id)i);
		gt_result_add_count(result, (int64_t)used[i]);
		gt_result_add_count(result, device->most_streams);
		gt_result_add_count(result, (int64_t)active_ns);
		gt_result_add_count(result, (int64_t)device->streams_ns);
		gt_result_add_real(result,
		                   gt_percent((double)device->streams_ns, (double)active_ns));
		gt_result_add_count(result, (int64_t)copy_ns);
		gt_result_add_count(result, (int64_t)hidden_ns);
		gt_result_add_real(result, gt_percent((double)hidden_ns, (double)copy_ns));
	}
	gt_array_free(used);
}

/* A stream that is shown is called as in all that is shown. */
static void add_name(const struct tally *tally, struct gt_result *result, gt_id id)
{
	const struct gt_trace *shown = tally->view->trace;
	const gt_id row = gt_whole_shown(shown, GT_TABLE_streams, id);

	if (row == GT_NONE)
		gt_add_stream(result, tally->trace, id);
	else
		gt_add_stream(result, shown, row);
}

static void add_stream(const struct tally *tally, struct gt_result *result, gt_id id)
{
	const struct gt_trace *trace = tally->trace;
	const struct use *use = &tally->uses[id];
	const struct gt_stream_beside *beside = &tally->totals.streams[id];

	add_name(tally, result, id);
	gt_add_device(result, trace, gt_stream_device(trace, id));
	gt_add_process(result, trace, gt_trace_stream_process(trace, id));
	gt_result_add_count(result, trace->streams.rows[id].priority);
	gt_result_add_count(result, (int64_t)use->kernels);
	gt_result_add_count(result, (int64_t)use->copies);
	gt_result_add_count(result, (int64_t)use->fills);
	gt_result_add_count(result, (int64_t)use->kernel_cover.covered_ns);
	gt_result_add_real(result, gt_busy_percent(tally->view, &use->kernel_cover));
	gt_result_add_count(result, (int64_t)use->copy_cover.covered_ns);
	gt_result_add_count(result, (int64_t)use->hidden_copy_ns);
	gt_result_add_count(result, (int64_t)beside->streams_ns);
	gt_result_add_real(result,
	                   gt_percent((double)beside->streams_ns, (double)beside->active_ns));
}

/* A stream and what it is put in order by. */
struct place {
	gt_id stream;
	uint64_t active_ns;
};

static int by_active_time(const void *a, const void *b)
{
	const struct place *left = a;
	const struct place *right = b;

	if (left->active_ns != right->active_ns)
		return left->active_ns < right->active_ns ? 1 : -1;
	return (left->stream > right->stream) - (left->stream < right->stream);
}

static bool is_shown(const struct tally *tally, gt_id stream)
{
	return gt_whole_shown(tally->view->trace, GT_TABLE_streams, stream) != GT_NONE;
}

/* With something to show in the window, also where that began before it. */
static bool is_used(const struct tally *tally, gt_id stream)
{
	return uses_of(&tally->uses[stream]) > 0 ||
	       (!tally->view->splits_streams && tally->totals.streams[stream].active_ns > 0);
}

static void add_streams(const struct tally *tally, struct gt_result *result)
{
	const size_t count = tally->trace->streams.count;
	struct place *places = gt_allocate((count + 1) * sizeof(*places));

	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){(gt_id)i, tally->totals.streams[i].active_ns};
	qsort(places, count, sizeof(*places), by_active_time);
	gt_result_begin(result, "streams", stream_headings, GT_COUNT_OF(stream_headings));
	for (size_t i = 0; i < count; i++)
		if (is_shown(tally, places[i].stream) && is_used(tally, places[i].stream))
			add_stream(tally, result, places[i].stream);
	gt_array_free(places);
}

static int by_overlap(const void *a, const void *b)
{
	const struct gt_beside_pair *left = a;
	const struct gt_beside_pair *right = b;

	if (left->both_ns != right->both_ns)
		return left->both_ns < right->both_ns ? 1 : -1;
	if (left->stream != right->stream)
		return left->stream > right->stream ? 1 : -1;
	return (left->other > right->other) - (left->other < right->other);
}

static double share_of(const struct tally *tally, uint64_t both_ns, gt_id stream)
{
	return gt_percent((double)both_ns, (double)tally->totals.streams[stream].active_ns);
}

static void add_overlaps(struct tally *tally, struct gt_result *result, uint64_t most)
{
	struct gt_beside_totals *totals = &tally->totals;
	size_t count = 0;

	for (size_t i = 0; i < totals->pair_count; i++)
		if (is_shown(tally, totals->pairs[i].stream) ||
		    is_shown(tally, totals->pairs[i].other))
			totals->pairs[count++] = totals->pairs[i];
	if (count > 1)
		qsort(totals->pairs, count, sizeof(*totals->pairs), by_overlap);
	gt_result_begin(result, "overlaps", overlap_headings, GT_COUNT_OF(overlap_headings));
	gt_result_order(result, "overlap_ns");
	for (size_t i = 0; i < count && i < most; i++) {
		const struct gt_beside_pair *pair = &totals->pairs[i];

		add_name(tally, result, pair->stream);
		add_name(tally, result, pair->other);
		gt_result_add_count(result, (int64_t)pair->both_ns);
		gt_result_add_real(result, share_of(tally, pair->both_ns, pair->stream));
		gt_result_add_real(result, share_of(tally, pair->both_ns, pair->other));
	}
	gt_result_top(result, count, most);
}

static void add_remarks(const struct tally *tally, struct gt_result *result)
{
	const struct gt_trace *trace = tally->trace;

	if (trace->kernels.count + trace->copies.count + trace->fills.count +
	            trace->graph_traces.count ==
	    0) {
		gt_result_remark_empty(result,
		                       "No GPU activity was recorded, so no stream was used.");
		return;
	}
	gt_remark_whole_graphs(result, trace, "busy_ns busy_percent");
	gt_remark_other_work(result, tally->view->trace, tally->busy);
	if (tally->trace->graph_launches.count > 0)
		gt_result_remark(
			result, "Kernels of a graph count on the stream that CUPTI names for them, "
				"also where they ran at the same time.");
	if (tally->on_no_stream)
		gt_result_remark(result, "%s activities are on no known stream and in no row.",
		                 gt_grouped(tally->on_no_stream).text);
	if (tally->totals.pairs_left_out)
		gt_result_remark_on(
			result, "other_stream",
			"More than %d streams ran at a time: some of their overlaps are not "
			"in table overlaps.",
			GT_BESIDE_PAIRS);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const struct gt_trace *whole = gt_whole_of(view->trace);
	const size_t size = (whole->streams.count + 1) * sizeof(struct use);
	const struct gt_inside window = gt_window_of(view);
	struct tally tally = {
		.view = view,
		.trace = whole,
		.uses = gt_allocate(size),
		.busy = gt_busy_new(view),
	};

	(void)err;
	memset(tally.uses, 0, size);
	see_busy(&tally);
	count_shown(&tally);
	gt_beside_walk(&tally.totals, whole, &window, see_end, &tally);
	add_devices(&tally, result);
	add_streams(&tally, result);
	add_overlaps(&tally, result, arguments->values[PAIRS].number);
	add_remarks(&tally, result);
	gt_beside_release(&tally.totals);
	gt_array_free(tally.uses);
	gt_array_free(tally.busy);
	return 0;
}

const struct gt_report gt_report_streams = {
	.name = "streams",
	.summary = "How busy each stream was, which ran at the same time, copies under kernels",
	.parameters = parameters,
	.run = run,
};

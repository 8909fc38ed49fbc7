/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "collector/stage.h"

/*
 * Puts every time on the common timeline, CLOCK_BOOTTIME of the machine. A capture holds pairs
 * of readings of its clocks; between two pairs a time is interpolated, which takes drift into
 * account, before the first and after the last it keeps their distance. This is the only place
 * that converts.
 */

/* One source clock of one capture: where it stood when BOOTTIME stood where. */
struct pair {
	int64_t from;
	int64_t to;
};

struct line {
	gt_array(struct pair) pairs; /* sorted by from */
	size_t at;                   /* the pair that was used last: times come nearly in order */
};

static int by_from(const void *a, const void *b)
{
	const struct pair *left = a;
	const struct pair *right = b;

	return (left->from > right->from) - (left->from < right->from);
}

static int64_t convert(struct line *line, int64_t time)
{
	const struct pair *pairs = line->pairs.rows;
	const size_t count = line->pairs.count;

	if (time == 0 || count == 0)
		return 0; /* not known, or on a clock that was never read */
	while (line->at + 1 < count && pairs[line->at + 1].from <= time)
		line->at++;
	while (line->at > 0 && pairs[line->at].from > time)
		line->at--;

	const struct pair *left = &pairs[line->at];

	if (time <= left->from || line->at + 1 == count)
		return left->to + (time - left->from);

	const struct pair *right = left + 1;
	const double share = (double)(time - left->from) / (double)(right->from - left->from);
	const int64_t drift = (right->to - left->to) - (right->from - left->from);

	return left->to + (time - left->from) + (int64_t)(share * (double)drift);
}

static void add_pair(struct line *line, uint64_t from, uint64_t to)
{
	if (from)
		*gt_array_push(&line->pairs) = (struct pair){(int64_t)from, (int64_t)to};
}

static void sort(struct line *line)
{
	if (line->pairs.count)
		qsort(line->pairs.rows, line->pairs.count, sizeof(struct pair), by_from);
}

static void fill_lines(const struct gt_capture *capture, struct line *cupti, struct line *monotonic)
{
	gt_array_each(const struct gt_record_clock, clock, &capture->clocks) {
		add_pair(cupti, clock->cupti_ns, clock->boottime_ns);
		add_pair(monotonic, clock->monotonic_ns, clock->boottime_ns);
	}
	sort(cupti);
	sort(monotonic);
}

static void add_rows(struct gt_trace *trace, const struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_clock, clock, &capture->clocks)
		*gt_array_push(&trace->clocks) = (struct gt_clock){
			.boottime_ns = (gt_time)clock->boottime_ns,
			.monotonic_ns = clock->monotonic_ns,
			.realtime_ns = clock->realtime_ns,
			.cupti_ns = clock->cupti_ns,
			.bound_ns = clock->bound_ns,
			.process = capture->process,
		};
}

static void widen(struct gt_process *process, gt_time start_ns, gt_time end_ns)
{
	if (start_ns && (process->start_ns == 0 || start_ns < process->start_ns))
		process->start_ns = start_ns;
	if (end_ns > process->end_ns)
		process->end_ns = end_ns;
	if (start_ns > process->end_ns)
		process->end_ns = start_ns;
}

#define CONVERT(table, line)                                                                       \
	for (size_t i = 0; i < capture->table.count; i++) {                                        \
		const size_t row = capture->table.first + i;                                       \
                                                                                                   \
		trace->table.rows[row].start_ns = convert(line, trace->table.rows[row].start_ns);  \
		trace->table.rows[row].end_ns = convert(line, trace->table.rows[row].end_ns);      \
		widen(process, trace->table.rows[row].start_ns, trace->table.rows[row].end_ns);    \
	}

static void convert_capture(struct gt_trace *trace, const struct gt_capture *capture)
{
	struct gt_process *process = &trace->processes.rows[capture->process];
	struct line cupti = {.at = 0};
	struct line monotonic = {.at = 0};

	fill_lines(capture, &cupti, &monotonic);
	add_rows(trace, capture);
	gt_array_each(const struct gt_record_clock, clock, &capture->clocks)
		widen(process, (gt_time)clock->boottime_ns, (gt_time)clock->boottime_ns);
	CONVERT(kernels, &cupti)
	CONVERT(copies, &cupti)
	CONVERT(fills, &cupti)
	CONVERT(syncs, &cupti)
	CONVERT(overheads, &cupti)
	CONVERT(api_calls, &monotonic)
	gt_array_release(&cupti.pairs);
	gt_array_release(&monotonic.pairs);
}

static bool has_gpu_work(const struct gt_capture *capture)
{
	return capture->kernels.count || capture->copies.count || capture->fills.count;
}

static bool has_cupti_clock(const struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_clock, clock, &capture->clocks)
		if (clock->cupti_ns)
			return true;
	return false;
}

static void check(struct gt_collection *collection, const struct gt_capture *capture)
{
	if (capture->clocks.count == 0 && (has_gpu_work(capture) || capture->api_calls.count))
		gt_collection_note(collection, capture->process, "clocks",
		                   "%s holds no clock reading: nothing in it can be placed in time",
		                   capture->name);
	else if (has_gpu_work(capture) && !has_cupti_clock(capture))
		gt_collection_note(collection, capture->process, "clocks",
		                   "%s holds no reading of CUPTI's clock: its GPU work cannot be "
		                   "placed in time",
		                   capture->name);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;

	(void)err;
	gt_array_each(const struct gt_capture, capture, &collection->captures) {
		convert_capture(trace, capture);
		check(collection, capture);
	}
	gt_array_each(const struct gt_process, process, &trace->processes) {
		if (process->start_ns &&
		    (trace->start_ns == 0 || process->start_ns < trace->start_ns))
			trace->start_ns = process->start_ns;
		if (process->end_ns > trace->end_ns)
			trace->end_ns = process->end_ns;
	}
	return 0;
}

const struct gt_stage gt_stage_clocks = {.name = "clocks", .run = run};

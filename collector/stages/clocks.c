/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strings.h"
#include "collector/clocks/line.h"
#include "collector/kinds.h"
#include "collector/stage.h"
#include "format/file/series.h"
#include "model/trace.h"

/*
 * Puts every time on the common timeline, CLOCK_BOOTTIME of the machine. A capture holds pairs
 * of readings of its clocks; between two pairs a time is interpolated, which takes drift into
 * account. Before the first and after the last it keeps their distance; a clock whose nanosecond
 * is only nearly one, the processor's counter, goes on at the rate that it had. This is the only
 * place that converts, and the only one that times from a file come in by: what leaves it lies in a
 * range in which no later difference or sum of durations can overflow. The rest is counted.
 */

/* Two readings that disagree by more than this, as a share and in nanoseconds, are no drift. */
#define JUMP_SHARE 0.01
#define JUMP_NS    1000000

/*
 * No machine is up for nine years: readings beyond are damage, as are those far from the capture's
 * first.
 */
#define MOST_UPTIME_NS ((int64_t)1 << 58)
#define RECORDING_NS   ((int64_t)1000 * 86400 * 1000000000)

/* A capture's own times are on CLOCK_MONOTONIC where its readings have no other one of that. */
static bool is_scaled(const struct gt_record_clock *clock)
{
	return clock->monotonic_ns != 0;
}

static uint64_t monotonic_of(const struct gt_record_clock *clock)
{
	return is_scaled(clock) ? clock->monotonic_ns : clock->host_ns;
}

static bool is_sensible(const struct gt_record_clock *clock, const struct gt_record_clock *first)
{
	return clock->boottime_ns > 0 && clock->boottime_ns <= MOST_UPTIME_NS &&
	       clock->host_ns <= GT_MOST_CLOCK_NS && clock->cupti_ns <= GT_MOST_CLOCK_NS &&
	       clock->realtime_ns <= GT_MOST_CLOCK_NS && clock->monotonic_ns <= GT_MOST_CLOCK_NS &&
	       clock->bound_ns <= MOST_UPTIME_NS &&
	       llabs((int64_t)clock->boottime_ns - (int64_t)first->boottime_ns) <= RECORDING_NS;
}

/* Takes out the readings that cannot be right. Returns how many there were. */
static size_t sift_readings(struct gt_capture *capture)
{
	const size_t count = capture->clocks.count;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct gt_record_clock clock = capture->clocks.rows[i];

		if (is_sensible(&clock, kept ? &capture->clocks.rows[0] : &clock))
			capture->clocks.rows[kept++] = clock;
	}
	capture->clocks.count = kept;
	return count - kept;
}

static void fill_lines(const struct gt_capture *capture, struct gt_clock_line *cupti,
                       struct gt_clock_line *host)
{
	gt_array_each(const struct gt_record_clock, clock, &capture->clocks) {
		gt_clock_line_add(cupti, clock->cupti_ns, clock->boottime_ns);
		gt_clock_line_add(host, clock->host_ns, clock->boottime_ns);
		host->is_scaled = is_scaled(clock);
	}
	gt_clock_line_prepare(cupti);
	gt_clock_line_prepare(host);
}

static void add_rows(struct gt_trace *trace, const struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_clock, clock, &capture->clocks)
		*gt_array_push(&trace->clocks) = (struct gt_clock){
			.boottime_ns = (gt_time)clock->boottime_ns,
			.monotonic_ns = monotonic_of(clock),
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

/* The lines of the clocks that times of a capture can be of, by role. */
struct lines {
	struct gt_clock_line of[GT_ROLE_COUNT];
	uint64_t *work_left_ns; /* of GT_MOST_WORK_NS, of all captures */
	uint64_t too_long;      /* rows that would have taken more */
	uint64_t backward;      /* rows that end before they begin */
};

/* NULL for a role that is no time to be converted. */
static struct gt_clock_line *line_of(struct lines *lines, enum gt_role role)
{
	return role == GT_ROLE_cupti_time || role == GT_ROLE_host_time ? &lines->of[role] : NULL;
}

static void convert_column(const struct gt_rows *rows, const struct gt_segment *segment,
                           const struct gt_column *column, struct gt_clock_line *line)
{
	uint8_t *at = rows->rows + segment->first * rows->row_size + column->offset;

	for (size_t i = 0; i < segment->count; i++, at += rows->row_size) {
		gt_time time;

		memcpy(&time, at, sizeof(time));
		time = gt_clock_line_convert(line, time);
		memcpy(at, &time, sizeof(time));
	}
}

/* Whether a row's times can stay; both are known to be on the common timeline, or 0. */
static bool has_room(struct lines *lines, gt_time start_ns, gt_time end_ns)
{
	if (start_ns == 0 || end_ns == 0)
		return true;
	if (end_ns < start_ns) {
		lines->backward++;
		return true;
	}
	if ((uint64_t)(end_ns - start_ns) > *lines->work_left_ns) {
		lines->too_long++;
		return false;
	}
	*lines->work_left_ns -= (uint64_t)(end_ns - start_ns);
	return true;
}

/* The flags of a kind of work that CUPTI timed; NULL: it is none, or has no flags. */
static const struct gt_column *flags_of_work(const struct gt_kind *kind)
{
	if (kind->bindings[0].field->role != GT_ROLE_cupti_time)
		return NULL;
	for (size_t i = 0; i < kind->binding_count; i++)
		if (kind->bindings[i].field->role == GT_ROLE_flags)
			return kind->bindings[i].column;
	return NULL;
}

/* Work whose times cannot be right has none: it counts as work that did not end. */
static void mark_untimed(uint8_t *row, const struct gt_column *column, const gt_time times[2])
{
	gt_count flags;

	if (!column || (times[0] != 0 && times[1] >= times[0]))
		return;
	memcpy(&flags, row + column->offset, sizeof(flags));
	flags |= GT_UNFINISHED;
	memcpy(row + column->offset, &flags, sizeof(flags));
}

/* The first two columns of what has times are its start and end: read from one clock. */
static void convert_times(const struct gt_rows *rows, const struct gt_segment *segment,
                          struct lines *lines, const struct gt_kind *kind,
                          struct gt_process *process)
{
	struct gt_clock_line *line = line_of(lines, kind->bindings[0].field->role);
	const struct gt_column *flags = flags_of_work(kind);
	uint8_t *at = rows->rows + segment->first * rows->row_size;

	for (size_t i = 0; i < segment->count; i++, at += rows->row_size) {
		gt_time times[2];

		memcpy(times, at, sizeof(times));
		times[0] = gt_clock_line_convert(line, times[0]);
		times[1] = gt_clock_line_convert(line, times[1]);
		if (!has_room(lines, times[0], times[1]))
			times[0] = times[1] = 0;
		memcpy(at, times, sizeof(times));
		mark_untimed(at, flags, times);
		widen(process, times[0], times[1]);
	}
}

static void convert_segment(struct gt_trace *trace, const struct gt_kind *kind,
                            const struct gt_segment *segment, struct lines *lines,
                            struct gt_process *process)
{
	const struct gt_rows rows = gt_trace_rows(trace, kind->table);

	if (kind->has_times)
		convert_times(&rows, segment, lines, kind, process);
	for (size_t i = kind->has_times ? 2 : 0; i < kind->binding_count; i++) {
		const struct gt_binding *binding = &kind->bindings[i];
		struct gt_clock_line *line = line_of(lines, binding->field->role);

		if (line)
			convert_column(&rows, segment, binding->column, line);
	}
}

static void convert_series(struct gt_trace *trace, const struct gt_raw_series *raw,
                           struct lines *lines, struct gt_process *process)
{
	struct gt_series *series = &trace->series.rows[raw->place];
	struct gt_clock_line *line = line_of(
		lines, raw->clock == GT_SERIES_CUPTI ? GT_ROLE_cupti_time : GT_ROLE_host_time);

	for (size_t i = 0; i < series->count; i++) {
		series->times_ns[i] = gt_clock_line_convert(line, series->times_ns[i]);
		widen(process, series->times_ns[i], series->times_ns[i]);
	}
}

/* The times of records that are kept as they are. */
static void convert_records(const struct gt_record_info *info, void *records, size_t count,
                            struct lines *lines)
{
	for (uint32_t i = 0; i < info->field_count; i++) {
		struct gt_clock_line *line = line_of(lines, info->fields[i].role);

		for (size_t row = 0; line && row < count; row++) {
			uint8_t *at =
				(uint8_t *)records + row * info->size + info->fields[i].offset;
			gt_time time;

			memcpy(&time, at, sizeof(time));
			time = gt_clock_line_convert(line, time);
			memcpy(at, &time, sizeof(time));
		}
	}
}

static void convert_kept(struct gt_capture *capture, struct lines *lines,
                         struct gt_process *process)
{
#define KEPT(record, list)                                                                         \
	convert_records(gt_record_info(GT_RECORD_##record), capture->list.rows,                    \
	                capture->list.count, lines);
#include "collector/kept.def"
	gt_array_each(struct gt_own_kernel, kernel, &capture->own_kernels) {
		kernel->start_ns =
			gt_clock_line_convert(&lines->of[GT_ROLE_cupti_time], kernel->start_ns);
		kernel->end_ns =
			gt_clock_line_convert(&lines->of[GT_ROLE_cupti_time], kernel->end_ns);
	}
	gt_array_each(const struct gt_record_range_begin, begin, &capture->raw_range_begins)
		widen(process, (gt_time)begin->time_ns, (gt_time)begin->time_ns);
	gt_array_each(const struct gt_record_range_end, end, &capture->raw_range_ends)
		widen(process, (gt_time)end->time_ns, (gt_time)end->time_ns);
	gt_array_each(const struct gt_record_block_begin, begin, &capture->raw_block_begins)
		widen(process, (gt_time)begin->time_ns, (gt_time)begin->time_ns);
	gt_array_each(const struct gt_record_block_end, end, &capture->raw_block_ends)
		widen(process, (gt_time)end->time_ns, (gt_time)end->time_ns);
}

static void remark(struct gt_collection *collection, const struct gt_capture *capture,
                   const struct lines *lines, size_t readings)
{
	const uint64_t refused = lines->of[GT_ROLE_cupti_time].refused +
	                         lines->of[GT_ROLE_host_time].refused + 2 * lines->too_long;

	if (readings)
		gt_collection_note(collection, capture->process, "clocks",
		                   "%s holds %zu clock readings that cannot be right: they were "
		                   "left out",
		                   capture->name, readings);
	if (refused)
		gt_collection_note(collection, capture->process, "clocks",
		                   "%s holds %llu times that cannot be right, far from every "
		                   "clock reading or too long: they count as not known",
		                   capture->name, (unsigned long long)refused);
	if (lines->backward)
		gt_collection_note(collection, capture->process, "clocks",
		                   "%s holds %llu events that end before they begin: they take "
		                   "no time",
		                   capture->name, (unsigned long long)lines->backward);
}

/* A machine that was moved or suspended: its counter began anew, or time went on without it. */
static bool jumps(const struct gt_clock_pair *left, const struct gt_clock_pair *right)
{
	return fabs(gt_clock_excess(left, right)) > JUMP_SHARE &&
	       llabs(right->to - left->to - (right->from - left->from)) > JUMP_NS;
}

static void check_host(struct gt_collection *collection, const struct gt_capture *capture,
                       const struct gt_clock_line *host)
{
	const struct gt_clock_pair *pairs = host->pairs.rows;

	for (size_t i = 1; host->is_scaled && i < host->pairs.count; i++) {
		if (!jumps(&pairs[i - 1], &pairs[i]))
			continue;
		gt_collection_note(
			collection, capture->process, "clocks",
			"%s: the processor's counter jumped between two readings (was "
			"the machine suspended or moved?): times of API calls near there "
			"are wrong",
			capture->name);
		return;
	}
}

/* Where a look left out work or calls, all that ended later is there. */
static void note_passed(struct gt_trace *trace, const struct gt_capture *capture,
                        struct lines *lines)
{
	const gt_time times_ns[] = {
		gt_clock_line_convert(&lines->of[GT_ROLE_cupti_time],
	                              (gt_time)capture->passed_cupti_ns),
		gt_clock_line_convert(&lines->of[GT_ROLE_host_time],
	                              (gt_time)capture->passed_host_ns),
	};

	for (size_t i = 0; i < 2; i++)
		if (times_ns[i] > trace->known_from_ns)
			trace->known_from_ns = times_ns[i];
}

/* NOLINTBEGIN(readability-non-const-parameter): has_room takes from it */
static void convert_capture(struct gt_collection *collection, struct gt_capture *capture,
                            uint64_t *work_left_ns)
{
	struct gt_trace *trace = collection->trace;
	struct gt_process *process = &trace->processes.rows[capture->process];
	struct lines lines = {.work_left_ns = work_left_ns};
	const size_t left_out = sift_readings(capture);

	fill_lines(capture, &lines.of[GT_ROLE_cupti_time], &lines.of[GT_ROLE_host_time]);
	check_host(collection, capture, &lines.of[GT_ROLE_host_time]);
	add_rows(trace, capture);
	gt_array_each(const struct gt_record_clock, clock, &capture->clocks)
		widen(process, (gt_time)clock->boottime_ns, (gt_time)clock->boottime_ns);
	gt_array_each(const struct gt_segment, segment, &capture->segments)
		convert_segment(trace, gt_kind_find(collection->kinds, segment->kind), segment,
		                &lines, process);
	gt_array_each(const struct gt_raw_series, raw, &capture->raw_series)
		convert_series(trace, raw, &lines, process);
	convert_kept(capture, &lines, process);
	note_passed(trace, capture, &lines);
	remark(collection, capture, &lines, left_out);
	gt_array_release(&lines.of[GT_ROLE_cupti_time].pairs);
	gt_array_release(&lines.of[GT_ROLE_host_time].pairs);
}

/* NOLINTEND(readability-non-const-parameter) */

static bool has_gpu_work(const struct gt_capture *capture)
{
	return gt_capture_count(capture, GT_RECORD_kernel) ||
	       gt_capture_count(capture, GT_RECORD_copy) ||
	       gt_capture_count(capture, GT_RECORD_fill);
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
	if (capture->clocks.count == 0 &&
	    (has_gpu_work(capture) || gt_capture_count(capture, GT_RECORD_api_call) ||
	     capture->raw_range_begins.count || capture->raw_block_begins.count))
		gt_collection_note(collection, capture->process, "clocks",
		                   "%s holds no clock reading: nothing in it can be placed in time",
		                   capture->name);
	else if (has_gpu_work(capture) && !has_cupti_clock(capture))
		gt_collection_note(collection, capture->process, "clocks",
		                   "%s holds no reading of CUPTI's clock: its GPU work cannot be "
		                   "placed in time",
		                   capture->name);
}

enum { MOST_NAMED = 3 };

/* The captures that are the first of their boot of a machine: how many, and the first of these. */
static size_t find_boots(const struct gt_collection *collection, const struct gt_capture **first)
{
	bool *seen = calloc(gt_strings_count(collection->trace->strings) + 1, sizeof(*seen));
	size_t count = 0;

	gt_array_each(const struct gt_capture, capture, &collection->captures) {
		if (!seen || !capture->boot || seen[capture->boot])
			continue;
		seen[capture->boot] = true;
		if (count < MOST_NAMED)
			first[count] = capture;
		count++;
	}
	free(seen);
	return count;
}

/* CLOCK_BOOTTIME begins when a machine does: times of two are on two timelines, here laid over each
 * other. */
static void check_machines(struct gt_collection *collection)
{
	const struct gt_trace *trace = collection->trace;
	const struct gt_capture *first[MOST_NAMED];
	const size_t count = find_boots(collection, first);
	char names[3 * 80] = "";
	size_t length = 0;

	if (count < 2)
		return;
	for (size_t i = 0; i < count && i < MOST_NAMED; i++)
		length += (size_t)snprintf(
			names + length, sizeof(names) - length, "%s%.64s", i ? ", " : "",
			gt_trace_text(trace, trace->processes.rows[first[i]->process].host));
	gt_collection_note(
		collection, GT_NONE, "clocks",
		"the processes ran on %zu machines, or on one that was started again "
		"(%s%s): each counts time from its own start, so that times of different "
		"ones cannot be compared",
		count, names, count > MOST_NAMED ? ", ..." : "");
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	uint64_t work_left_ns = GT_MOST_WORK_NS;

	(void)err;
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		convert_capture(collection, capture, &work_left_ns);
		check(collection, capture);
	}
	gt_array_each(const struct gt_process, process, &trace->processes) {
		if (process->start_ns &&
		    (trace->start_ns == 0 || process->start_ns < trace->start_ns))
			trace->start_ns = process->start_ns;
		if (process->end_ns > trace->end_ns)
			trace->end_ns = process->end_ns;
	}
	check_machines(collection);
	return 0;
}

const struct gt_stage gt_stage_clocks = {.name = "clocks", .run = run};

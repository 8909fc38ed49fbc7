/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path_spans.h"

#include <string.h>

#include "model/ranges.h"

static bool by_ranges(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_range, range, &trace->ranges)
		if (range->flags & GT_CHOSEN)
			return true;
	return false;
}

static bool is_chosen(const struct gt_range *range)
{
	return (range->flags & GT_CHOSEN) != 0;
}

static gt_id *numbers(size_t count)
{
	gt_id *made = gt_allocate((count + 1) * sizeof(*made));

	memset(made, 0xff, (count + 1) * sizeof(*made));
	return made;
}

/* What is around a chosen range is not asked for where that is chosen itself. */
static void find_ranges(struct gt_path_spans *spans, const struct gt_trace *trace)
{
	struct gt_ranges ranges;

	gt_ranges_init(&ranges, trace);
	spans->of_range = numbers(trace->ranges.count);
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const gt_id row = ranges.order[i];
		const struct gt_range *range = &trace->ranges.rows[row];
		const gt_id around = ranges.around[row];
		const gt_time end_ns = gt_range_end(range);

		if (around != GT_NONE)
			spans->of_range[row] = spans->of_range[around];
		if (spans->of_range[row] != GT_NONE || !is_chosen(range))
			continue;
		spans->of_range[row] = (gt_id)spans->list.count;
		*gt_array_push(&spans->list) = (struct gt_path_span){
			.window = {range->start_ns,
		                   end_ns < trace->end_ns ? end_ns : trace->end_ns},
			.end = GT_POINT_NONE,
			.before = GT_POINT_NONE,
			.host = GT_POINT_NONE,
			.process = range->thread < trace->threads.count
		                           ? trace->threads.rows[range->thread].process
		                           : GT_NONE,
			.range = row,
		};
	}
	gt_ranges_release(&ranges);
}

static void find_processes(struct gt_path_spans *spans, const struct gt_trace *trace)
{
	spans->of_process = numbers(trace->processes.count);
	for (gt_id i = 0; i < trace->processes.count; i++) {
		spans->of_process[i] = i;
		*gt_array_push(&spans->list) = (struct gt_path_span){
			.window = {INT64_MAX, INT64_MIN},
			.end = GT_POINT_NONE,
			.before = GT_POINT_NONE,
			.host = GT_POINT_NONE,
			.process = i,
			.range = GT_NONE,
		};
	}
}

gt_id gt_path_span_of(const struct gt_path_spans *spans, const struct gt_path *path, gt_id item)
{
	const struct gt_trace *trace = path->trace;
	gt_id call;

	if (spans->of_process) {
		const gt_id process = gt_path_process(path, item);

		return process < trace->processes.count ? spans->of_process[process] : GT_NONE;
	}
	call = gt_path_call_of(path, item);
	if (call >= trace->api_calls.count ||
	    trace->api_calls.rows[call].range >= trace->ranges.count)
		return GT_NONE;
	return spans->of_range[trace->api_calls.rows[call].range];
}

static void see_whole(struct gt_path_span *span, const struct gt_path *path, gt_id item)
{
	const gt_time start_ns = gt_path_time(path, 2 * item);
	const gt_time end_ns = gt_path_time(path, 2 * item + 1);

	if (start_ns < span->window.start_ns)
		span->window.start_ns = start_ns;
	if (end_ns > span->window.end_ns) {
		span->window.end_ns = end_ns;
		span->end = 2 * item + 1;
	}
}

/* The host's last call in it comes last; work that was asked for in it may end later. */
static void see_part(struct gt_path_span *span, const struct gt_path *path, gt_id item)
{
	const struct gt_trace *trace = path->trace;
	const gt_point end = 2 * item + 1;

	if (item >= trace->api_calls.count) {
		if (gt_path_time(path, end) > span->window.end_ns) {
			span->window.end_ns = gt_path_time(path, end);
			span->end = end;
		}
		return;
	}
	if (trace->api_calls.rows[item].thread != trace->ranges.rows[span->range].thread)
		return;
	if (span->host == GT_POINT_NONE && path->earlier[item] != GT_NONE)
		span->before = 2 * path->earlier[item] + 1;
	span->host = end;
}

static void see_items(struct gt_path_spans *spans, const struct gt_path *path)
{
	for (gt_id item = 0; item < gt_path_points(path) / 2; item++) {
		const gt_id number =
			gt_path_has(path, item) ? gt_path_span_of(spans, path, item) : GT_NONE;

		if (number == GT_NONE)
			continue;
		if (spans->of_process)
			see_whole(&spans->list.rows[number], path, item);
		else
			see_part(&spans->list.rows[number], path, item);
	}
}

/* A path through what there is: nothing was called, nothing is known. */
static void drop_empty(struct gt_path_spans *spans, const struct gt_trace *trace)
{
	gt_id *renamed = numbers(spans->list.count);
	gt_id *of = spans->of_range ? spans->of_range : spans->of_process;
	const size_t count = spans->of_range ? trace->ranges.count : trace->processes.count;
	gt_id kept = 0;

	for (size_t i = 0; i < spans->list.count; i++) {
		struct gt_path_span *span = &spans->list.rows[i];

		if (span->end == GT_POINT_NONE)
			span->end = span->host;
		if (span->end == GT_POINT_NONE)
			continue;
		renamed[i] = kept;
		spans->list.rows[kept++] = *span;
	}
	spans->empty = spans->of_range ? spans->list.count - kept : 0;
	spans->list.count = kept;
	for (size_t i = 0; i < count; i++)
		if (of[i] != GT_NONE)
			of[i] = renamed[of[i]];
	gt_array_free(renamed);
}

void gt_path_spans_init(struct gt_path_spans *spans, const struct gt_path *path)
{
	*spans = (struct gt_path_spans){.of_range = NULL};
	if (by_ranges(path->trace))
		find_ranges(spans, path->trace);
	else
		find_processes(spans, path->trace);
	see_items(spans, path);
	drop_empty(spans, path->trace);
}

void gt_path_spans_release(struct gt_path_spans *spans)
{
	gt_array_release(&spans->list);
	gt_array_free(spans->of_range);
	gt_array_free(spans->of_process);
	*spans = (struct gt_path_spans){.of_range = NULL};
}

/* As much later or earlier as a point of its thread that stands before it. */
static gt_time moved(const struct gt_path *path, const gt_time *times_ns, gt_point point,
                     gt_time at_ns)
{
	return point == GT_POINT_NONE ? at_ns : at_ns + times_ns[point] - gt_path_time(path, point);
}

void gt_path_spans_last(const struct gt_path_spans *spans, const struct gt_path *path,
                        const gt_time *times_ns, gt_time *lasts_ns)
{
	const struct gt_range *ranges = path->trace->ranges.rows;

	for (size_t i = 0; i < spans->list.count; i++) {
		const struct gt_path_span *span = &spans->list.rows[i];
		const gt_time end_ns =
			span->range == GT_NONE ? INT64_MIN : gt_range_end(&ranges[span->range]);

		/* Until all are seen: when it ends. */
		lasts_ns[i] = span->range == GT_NONE || end_ns > path->trace->end_ns
		                      ? INT64_MIN
		                      : moved(path, times_ns, span->host, end_ns);
	}
	for (gt_id item = 0; item < gt_path_points(path) / 2; item++) {
		const gt_id number =
			gt_path_has(path, item) ? gt_path_span_of(spans, path, item) : GT_NONE;

		if (number != GT_NONE && times_ns[2 * item + 1] > lasts_ns[number])
			lasts_ns[number] = times_ns[2 * item + 1];
	}
	for (size_t i = 0; i < spans->list.count; i++) {
		const struct gt_path_span *span = &spans->list.rows[i];

		lasts_ns[i] -= moved(path, times_ns, span->before, span->window.start_ns);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/path/spans.h"

#include <string.h>

#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"

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

/* A chosen range inside another chosen range is not asked for by itself. */
static void find_ranges(struct gt_path_spans *spans, const struct gt_trace *trace)
{
	struct gt_ranges ranges;

	gt_ranges_init(&ranges, trace);
	spans->of_range = numbers(trace->ranges.count);
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const gt_id row = ranges.order[i];
		const struct gt_range *range = &trace->ranges.rows[row];
		const gt_id around = ranges.around[row] == GT_NONE ? gt_ranges_for(&ranges, row)
		                                                   : ranges.around[row];
		const gt_time open_ns = gt_range_end(range);
		const gt_time end_ns = open_ns < trace->end_ns ? open_ns : trace->end_ns;

		if (around != GT_NONE)
			spans->of_range[row] = spans->of_range[around];
		if (spans->of_range[row] != GT_NONE || !is_chosen(range))
			continue;
		spans->of_range[row] = (gt_id)spans->list.count;
		*gt_array_push(&spans->list) = (struct gt_path_span){
			.window = {range->start_ns, end_ns},
			.end = GT_POINT_NONE,
			.host = GT_POINT_NONE,
			.other = GT_POINT_NONE,
			.ended_ns = end_ns,
			.process = range->thread < trace->threads.count
		                           ? trace->threads.rows[range->thread].process
		                           : GT_NONE,
			.range = row,
		};
	}
	gt_ranges_release(&ranges);
}

static void find_processes(struct gt_path_spans *spans, const struct gt_trace *trace,
                           const struct gt_path_shown *shown)
{
	spans->of_process = numbers(trace->processes.count);
	for (gt_id i = 0; i < trace->processes.count; i++) {
		if (shown && !shown->is(shown->context, (struct gt_step){GT_TABLE_processes, i}))
			continue;
		spans->of_process[i] = (gt_id)spans->list.count;
		*gt_array_push(&spans->list) = (struct gt_path_span){
			.window = {INT64_MAX, INT64_MIN},
			.end = GT_POINT_NONE,
			.host = GT_POINT_NONE,
			.other = GT_POINT_NONE,
			.process = i,
			.range = GT_NONE,
		};
	}
}

gt_id gt_path_span_of(const struct gt_path_spans *spans, const struct gt_path *path, gt_id item)
{
	const struct gt_trace *trace = path->trace;
	gt_id range;

	if (spans->of_process) {
		const gt_id process = gt_path_process(path, item);
		const gt_time start_ns = gt_path_time(path, 2 * item);

		if (start_ns < spans->window.start_ns || start_ns >= spans->window.end_ns)
			return GT_NONE;
		return process < trace->processes.count ? spans->of_process[process] : GT_NONE;
	}
	range = gt_owner_of_call(trace, gt_path_call_of(path, item)).range;
	return range == GT_NONE ? GT_NONE : spans->of_range[range];
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
	if (trace->api_calls.rows[item].thread == trace->ranges.rows[span->range].thread)
		span->host = end;
	else if (span->other == GT_POINT_NONE ||
	         gt_path_time(path, end) > gt_path_time(path, span->other))
		span->other = end;
}

/*
 * Where another thread made calls for a range up to shortly before its end, and its own thread none
 * for much longer, that one waited for the other one: as of other threads that hand over.
 */
static void hand_over(struct gt_path_span *span, const struct gt_path *path)
{
	enum { LONG_NS = 50000, MOST_OF_IT = 4 };
	gt_time own_ns = span->window.start_ns;
	gt_time other_ns;

	if (span->other == GT_POINT_NONE || !path->assumes)
		return;
	other_ns = gt_path_time(path, span->other);
	if (span->host != GT_POINT_NONE)
		own_ns = gt_path_time(path, span->host);
	if (other_ns <= own_ns || other_ns > span->ended_ns || span->ended_ns - own_ns < LONG_NS ||
	    (span->ended_ns - other_ns) * MOST_OF_IT > span->ended_ns - own_ns)
		return;
	span->host = span->other;
	span->handed = true;
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
static void drop_empty(struct gt_path_spans *spans, const struct gt_path *path)
{
	const struct gt_trace *trace = path->trace;
	gt_id *renamed = numbers(spans->list.count);
	gt_id *of = spans->of_range ? spans->of_range : spans->of_process;
	const size_t count = spans->of_range ? trace->ranges.count : trace->processes.count;
	gt_id kept = 0;

	for (size_t i = 0; i < spans->list.count; i++) {
		struct gt_path_span *span = &spans->list.rows[i];

		if (span->range != GT_NONE)
			hand_over(span, path);
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

void gt_path_spans_init(struct gt_path_spans *spans, const struct gt_path *path,
                        const struct gt_path_shown *shown)
{
	*spans = (struct gt_path_spans){.window = {INT64_MIN, INT64_MAX}};
	if (shown)
		spans->window = shown->window;
	if (by_ranges(path->trace))
		find_ranges(spans, path->trace);
	else
		find_processes(spans, path->trace, shown);
	see_items(spans, path);
	drop_empty(spans, path);
}

void gt_path_spans_release(struct gt_path_spans *spans)
{
	gt_array_release(&spans->list);
	gt_array_free(spans->of_range);
	gt_array_free(spans->of_process);
	*spans = (struct gt_path_spans){.of_range = NULL};
}

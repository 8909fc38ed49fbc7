/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/activity.h"
#include "model/chosen.h"
#include "model/filter.h"
#include "model/intervals.h"
#include "model/owners.h"

/* A trace being made smaller. */
struct cut {
	struct gt_trace *trace;
	const struct gt_filter *filter;
	struct gt_window window;
	struct gt_chosen chosen;
};

/* Moves what stays to the front and says where every row went. */
static void shrink(struct cut *cut, size_t table, gt_id *renamed)
{
	const struct gt_rows rows = gt_trace_rows(cut->trace, table);
	uint8_t *to = rows.rows;
	gt_id kept = 0;

	for (size_t i = 0; i < *rows.count; i++) {
		if (!gt_chosen_stays(&cut->chosen, table, i)) {
			renamed[i] = GT_NONE;
			continue;
		}
		renamed[i] = kept++;
		if (to != rows.rows + i * rows.row_size)
			memcpy(to, rows.rows + i * rows.row_size, rows.row_size);
		to += rows.row_size;
	}
	*rows.count = kept;
}

/* What ran on GPUs that are not chosen goes. */
static void rename_work(struct gt_trace *trace, const gt_id *renamed)
{
	size_t kept = 0;

	gt_array_each(const struct gt_stretch, work, &trace->whole.work) {
		trace->whole.work.rows[kept] = *work;
		trace->whole.work.rows[kept].device = renamed[work->device];
		kept += renamed[work->device] != GT_NONE;
	}
	trace->whole.work.count = kept;
}

static void shrink_all(struct cut *cut)
{
	gt_id *renamed[GT_TABLE_COUNT];

	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		renamed[i] = gt_allocate(cut->chosen.counts[i] * sizeof(**renamed));
		shrink(cut, i, renamed[i]);
	}
	rename_work(cut->trace, renamed[GT_TABLE_devices]);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		if (*gt_trace_rows(cut->trace, i).count < cut->chosen.counts[i])
			gt_trace_rename(cut->trace, (int)i,
			                &(struct gt_renamed){renamed[i], cut->chosen.counts[i]});
		gt_array_free(renamed[i]);
	}
}

/* The samples of a window; none of a series without counters. */
static void shrink_series(const struct cut *cut, struct gt_series *series, bool has_counters)
{
	size_t kept = 0;

	for (size_t i = 0; has_counters && i < series->count; i++) {
		const gt_time time_ns = series->times_ns[i];

		if (cut->window.given &&
		    (time_ns < cut->window.from_ns || time_ns >= cut->window.to_ns))
			continue;
		series->times_ns[kept] = time_ns;
		for (size_t column = 0; column < series->column_count; column++)
			series->columns[column][kept] = series->columns[column][i];
		kept++;
	}
	series->count = kept;
}

static void shrink_samples(const struct cut *cut)
{
	const struct gt_trace *trace = cut->trace;

	for (size_t i = 0; i < trace->series.count; i++) {
		bool has_counters = false;

		gt_array_each(const struct gt_counter, counter, &trace->counters)
			has_counters = has_counters || counter->series == i;
		shrink_series(cut, &cut->trace->series.rows[i], has_counters);
	}
}

/* Anything that happened: rows by time, or samples of counters that stay. */
static bool has_something(const struct cut *cut)
{
	for (size_t i = 0; i < GT_TABLE_COUNT; i++) {
		const struct gt_table table = gt_trace_table(cut->trace, i);

		for (size_t row = 0; table.order == GT_ORDER_by_time && row < table.row_count;
		     row++)
			if (gt_chosen_stays(&cut->chosen, i, row))
				return true;
	}
	for (size_t i = 0; !cut->chosen.by_work && i < cut->trace->counters.count; i++)
		if (gt_chosen_stays(&cut->chosen, GT_TABLE_counters, i))
			return true;
	return false;
}

static int set_window(struct gt_view *view, struct cut *cut, struct gt_error *err)
{
	const struct gt_filter *filter = cut->filter;
	const struct gt_trace *trace = cut->trace;
	const double lasts_s = (double)(trace->end_ns - trace->start_ns) / 1e9;

	cut->window.given = filter->from.given || filter->to.given;
	cut->window.from_ns =
		filter->from.given ? gt_filter_moment(&filter->from, trace) : INT64_MIN;
	cut->window.to_ns = filter->to.given ? gt_filter_moment(&filter->to, trace) : INT64_MAX;
	if (filter->from.given && filter->to.given && cut->window.from_ns >= cut->window.to_ns)
		return gt_fail(err, EINVAL, "the window ends before it begins: %s", filter->text);
	if (cut->window.from_ns > trace->end_ns)
		return gt_fail(err, ENODATA,
		               "the window begins after the recording ends, which lasts %.6g s",
		               lasts_s);
	if (cut->window.to_ns <= trace->start_ns)
		return gt_fail(err, ENODATA,
		               "the window ends before the recording begins, which lasts %.6g s",
		               lasts_s);
	if (cut->window.from_ns > view->start_ns)
		view->start_ns = cut->window.from_ns;
	if (cut->window.to_ns < view->end_ns)
		view->end_ns = cut->window.to_ns;
	return 0;
}

/* When a chosen range was open, and when GPUs did what was launched in it. */
struct busy_range {
	gt_time start_ns; /* on GPUs; INT64_MAX: nothing was launched */
	gt_time end_ns;
};

static void add_part(struct cut *cut, struct gt_interval part)
{
	if (part.start_ns < cut->window.from_ns)
		part.start_ns = cut->window.from_ns;
	if (part.end_ns > cut->window.to_ns)
		part.end_ns = cut->window.to_ns;
	*gt_array_push(&cut->trace->parts) = part;
}

/* Work of a captured graph is part of each launch of that, and so is a part for itself. */
static void see_work(struct cut *cut, struct busy_range *ranges, const struct gt_activity *activity)
{
	static const int tables[] = {
		[GT_ACTIVITY_KERNEL] = GT_TABLE_kernels,
		[GT_ACTIVITY_COPY] = GT_TABLE_copies,
		[GT_ACTIVITY_FILL] = GT_TABLE_fills,
		[GT_ACTIVITY_GRAPH] = GT_TABLE_graph_traces,
	};
	const struct gt_owners owners = gt_owners_of(cut->trace, activity->type, activity->row);
	const gt_id range = gt_range_choice_of(&cut->chosen.ranges, owners.launched);

	if (!gt_chosen_stays(&cut->chosen, (size_t)tables[activity->type], activity->row))
		return;
	if (range == GT_NONE) {
		add_part(cut, (struct gt_interval){activity->start_ns, activity->end_ns});
		return;
	}
	if (activity->start_ns < ranges[range].start_ns)
		ranges[range].start_ns = activity->start_ns;
	if (activity->end_ns > ranges[range].end_ns)
		ranges[range].end_ns = activity->end_ns;
}

/* What overlaps on a GPU is one stretch. */
static void keep_whole(struct gt_trace *trace)
{
	gt_id *latest = gt_allocate((trace->devices.count + 1) * sizeof(*latest));
	struct gt_activity_walk walk;
	struct gt_activity activity;

	for (size_t i = 0; i < trace->devices.count; i++)
		latest[i] = GT_NONE;
	gt_activity_walk_init(&walk, trace);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id device = activity.device;
		struct gt_stretch *last;

		if (device >= trace->devices.count)
			continue;
		last = latest[device] == GT_NONE ? NULL : &trace->whole.work.rows[latest[device]];
		if (!last || last->end_ns < activity.start_ns) {
			latest[device] = (gt_id)trace->whole.work.count;
			*gt_array_push(&trace->whole.work) =
				(struct gt_stretch){activity.start_ns, activity.end_ns, device};
		} else if (activity.end_ns > last->end_ns) {
			last->end_ns = activity.end_ns;
		}
	}
	gt_array_free(latest);
	trace->whole.cut = true;
}

static void find_parts(struct cut *cut)
{
	struct gt_trace *trace = cut->trace;
	const struct gt_range_choice *choice = &cut->chosen.ranges;
	struct busy_range *ranges;
	struct gt_activity_walk walk;
	struct gt_activity activity;

	if (!choice->given)
		return;
	keep_whole(trace);
	ranges = gt_allocate((trace->ranges.count + 1) * sizeof(*ranges));
	for (size_t i = 0; i < trace->ranges.count; i++)
		ranges[i] = (struct busy_range){INT64_MAX, INT64_MIN};
	gt_activity_walk_init(&walk, trace);
	while (gt_activity_next(&walk, &activity))
		see_work(cut, ranges, &activity);
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];
		const gt_time end_ns = gt_range_end(range);

		if (!choice->named[i] || choice->skipped[i])
			continue;
		add_part(cut,
		         (struct gt_interval){range->start_ns,
		                              end_ns < trace->end_ns ? end_ns : trace->end_ns});
		add_part(cut, (struct gt_interval){ranges[i].start_ns, ranges[i].end_ns});
	}
	gt_array_free(ranges);
	trace->parts.count = gt_intervals_merge(trace->parts.rows, trace->parts.count);
}

static void mark_around(struct cut *cut)
{
	for (size_t i = 0; cut->chosen.around && i < cut->trace->ranges.count; i++)
		if (cut->chosen.around[i])
			cut->trace->ranges.rows[i].flags |= GT_AROUND;
}

static int apply(struct cut *cut, struct gt_error *err)
{
	gt_chosen_init(&cut->chosen, cut->trace, cut->filter, &cut->window);
	if (!has_something(cut))
		return gt_fail(err, ENODATA, "nothing of the recording is in %s",
		               cut->filter->text);
	cut->trace->whole.has_calls = gt_trace_recorded_calls(cut->trace);
	find_parts(cut);
	mark_around(cut);
	shrink_all(cut);
	shrink_samples(cut);
	return 0;
}

uint64_t gt_view_lasts_ns(const struct gt_view *view)
{
	uint64_t lasts_ns = 0;

	if (view->trace->parts.count == 0)
		return (uint64_t)(view->end_ns - view->start_ns);
	gt_array_each(const struct gt_interval, part, &view->trace->parts)
		lasts_ns += (uint64_t)(part->end_ns - part->start_ns);
	return lasts_ns;
}

struct gt_view gt_view_of(const struct gt_trace *trace)
{
	return (struct gt_view){
		.trace = trace,
		.start_ns = trace->start_ns,
		.end_ns = trace->end_ns,
		.recording = gt_ledger_state(trace),
	};
}

static void mark_chosen(struct gt_trace *trace, const struct gt_filter *filter)
{
	struct gt_range_choice choice;

	gt_range_choice_init(&choice, trace, filter);
	for (size_t i = 0; choice.given && i < trace->ranges.count; i++)
		if (choice.named[i] && !choice.skipped[i])
			trace->ranges.rows[i].flags |= GT_CHOSEN;
	gt_range_choice_release(&choice);
}

/* Counts work only to ranges of the thread that did it. */
static void forget_for_ranges(struct gt_trace *trace)
{
	const uint32_t told = GT_BY_TIME | GT_UNTOLD;

	gt_array_each(struct gt_api_call, call, &trace->api_calls) {
		call->for_range = GT_NONE;
		call->flags &= ~told;
	}
	gt_array_each(struct gt_range, range, &trace->ranges) {
		range->for_range = GT_NONE;
		range->flags &= ~told;
	}
}

int gt_view_cut(struct gt_view *view, struct gt_trace *trace, const struct gt_filter *filter,
                struct gt_error *err)
{
	struct gt_view made = gt_view_of(trace);
	struct gt_filter rest = *filter;
	struct cut cut = {.trace = trace, .filter = filter};
	int result = 0;

	if (filter->own_threads)
		forget_for_ranges(trace);
	if (filter->text) {
		made.restriction = filter->text;
		result = gt_filter_check(filter, trace, err);
		if (result == 0)
			result = set_window(&made, &cut, err);
		if (result == 0 && filter->marks_ranges) {
			mark_chosen(trace, filter);
			rest.ranges.count = 0;
			rest.skip = 0;
			cut.filter = &rest;
		}
		if (result == 0)
			result = apply(&cut, err);
		made.by_work = cut.chosen.by_work;
		gt_chosen_release(&cut.chosen);
	}
	if (result == 0)
		*view = made;
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/view.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/known.h"
#include "model/ranges/owners.h"
#include "model/view/chosen.h"
#include "model/view/filter.h"
#include "model/whole.h"
#include "model/work/activity.h"
#include "model/work/intervals.h"
#include "model/work/unmeasured.h"

/* A trace being made smaller. */
struct cut {
	struct gt_trace *trace;
	const struct gt_filter *filter;
	struct gt_window window;
	struct gt_chosen chosen;
};

/* Copies the rows that stay out of the whole, and says where every row went and came from. */
static void take_rows(struct gt_whole *whole, const struct cut *cut, size_t table)
{
	const struct gt_table all = gt_trace_table(&whole->trace, table);
	const uint8_t *from = all.rows;
	gt_id *shown = gt_allocate((all.row_count + 1) * sizeof(*shown));
	gt_id kept = 0;
	uint8_t *to;

	for (size_t i = 0; i < all.row_count; i++)
		shown[i] = gt_chosen_stays(&cut->chosen, table, i) ? kept++ : GT_NONE;
	whole->shown[table] = shown;
	whole->origins[table] = gt_allocate(((size_t)kept + 1) * sizeof(*shown));
	if (kept == 0)
		return;
	to = gt_trace_extend(cut->trace, table, kept);
	for (gt_id i = 0; i < all.row_count; i++)
		if (shown[i] != GT_NONE) {
			whole->origins[table][shown[i]] = i;
			memcpy(to + shown[i] * all.row_size, from + i * all.row_size, all.row_size);
		}
}

/* The trace's contents become the whole, and the trace has no rows. */
static struct gt_whole *put_aside(struct gt_trace *trace)
{
	struct gt_whole *whole = gt_allocate(sizeof(*whole));

	*whole = (struct gt_whole){.trace = *trace};
	memset(&trace->series, 0, sizeof(trace->series));
	memset(&whole->trace.parts, 0, sizeof(whole->trace.parts));
#define TABLE(name, plural, order, kept, help) memset(&trace->plural, 0, sizeof(trace->plural));
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
	return whole;
}

/* Notes what the filter says of whole GPUs. */
static void note_devices(struct gt_whole *whole, const struct cut *cut)
{
	const gt_id *shown = whole->shown[GT_TABLE_devices];
	const size_t count = whole->trace.devices.count;

	whole->asked_about = gt_allocate((count + 1) * sizeof(*whole->asked_about));
	whole->named = gt_allocate((count + 1) * sizeof(*whole->named));
	for (size_t i = 0; i < count; i++) {
		whole->asked_about[i] =
			gt_filter_device(cut->filter, &whole->trace, &whole->trace.devices.rows[i]);
		if (shown[i] != GT_NONE)
			whole->named[shown[i]] = cut->chosen.named[i];
	}
}

static void shrink_all(struct cut *cut)
{
	struct gt_whole *whole = put_aside(cut->trace);

	cut->trace->whole = whole;
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		take_rows(whole, cut, i);
	note_devices(whole, cut);
	whole->until_ns = cut->window.given ? cut->window.to_ns : INT64_MAX;
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		if (*gt_trace_rows(cut->trace, i).count < cut->chosen.counts[i])
			gt_trace_rename(cut->trace, (int)i,
			                &(struct gt_renamed){whole->shown[i],
			                                     cut->chosen.counts[i]});
}

/* The samples of a window, which stay where they are. */
static struct gt_series series_within(const struct gt_series *all, const struct gt_window *window)
{
	struct gt_series series = *all;
	size_t from = 0;

	series.columns = gt_allocate(all->column_count * sizeof(*series.columns));
	while (window->given && from < all->count && all->times_ns[from] < window->from_ns)
		from++;
	series.count = from;
	while (series.count < all->count &&
	       (!window->given || all->times_ns[series.count] < window->to_ns))
		series.count++;
	series.count -= from;
	series.capacity = series.count;
	series.times_ns = from ? &all->times_ns[from] : all->times_ns;
	for (size_t i = 0; i < all->column_count; i++)
		series.columns[i] = from ? &all->columns[i][from] : all->columns[i];
	return series;
}

/* A series without counters has no samples. */
static void take_samples(const struct cut *cut)
{
	struct gt_trace *trace = cut->trace;

	gt_array_each(const struct gt_series, all, &trace->whole->trace.series)
		*gt_array_push(&trace->series) = series_within(all, &cut->window);
	for (size_t i = 0; i < trace->series.count; i++) {
		bool has_counters = false;

		gt_array_each(const struct gt_counter, counter, &trace->counters)
			has_counters = has_counters || counter->series == i;
		if (!has_counters)
			trace->series.rows[i].count = 0;
	}
}

/* One that was still open was so as long as anything is known of its process. */
static gt_time open_until(const struct gt_trace *trace, const struct gt_range *range)
{
	const gt_id process = gt_trace_thread_process(trace, range->thread);
	const gt_time known_ns = process < trace->processes.count
	                                 ? trace->processes.rows[process].end_ns
	                                 : trace->end_ns;
	const gt_time end_ns = gt_range_end(range);

	return end_ns < INT64_MAX ? end_ns : known_ns;
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

/* From the first start to the last end of what was launched in a chosen range, on one GPU. */
struct busy_ranges {
	struct gt_known places; /* of list, by range and device */
	gt_array(struct gt_interval) list;
};

static void see_launched(struct busy_ranges *busy, gt_id range, const struct gt_activity *activity)
{
	const uint64_t key = (uint64_t)range << 32 | activity->device;
	struct gt_interval *span;
	gt_id place;

	if (gt_known_is_new(&busy->places, key, busy->list.count, &place))
		*gt_array_push(&busy->list) =
			(struct gt_interval){activity->start_ns, activity->end_ns};
	span = &busy->list.rows[place];
	if (activity->start_ns < span->start_ns)
		span->start_ns = activity->start_ns;
	if (activity->end_ns > span->end_ns)
		span->end_ns = activity->end_ns;
}

static void add_part(struct cut *cut, struct gt_interval part)
{
	if (part.start_ns < cut->window.from_ns)
		part.start_ns = cut->window.from_ns;
	if (part.end_ns > cut->window.to_ns)
		part.end_ns = cut->window.to_ns;
	*gt_array_push(&cut->trace->parts) = part;
}

/*
 * Work of a captured graph is part of each launch of that, and so is a part for itself. Which
 * kernels and streams are shown does not matter.
 */
static void see_work(struct cut *cut, struct busy_ranges *busy, const struct gt_activity *activity)
{
	const struct gt_owners owners = gt_owners_of(cut->trace, activity->type, activity->row);
	const gt_id range = gt_range_choice_of(&cut->chosen.ranges, owners.launched);

	/* A graph that begins on the host is on no GPU. */
	if (activity->device != GT_NONE &&
	    (!gt_chosen_stays(&cut->chosen, GT_TABLE_devices, activity->device) ||
	     cut->chosen.named[activity->device]))
		return;
	if (range == GT_NONE) {
		if (gt_range_choice_of(&cut->chosen.ranges, owners.captured) != GT_NONE)
			add_part(cut, (struct gt_interval){activity->start_ns, activity->end_ns});
		return;
	}
	see_launched(busy, range, activity);
}

static void find_parts_of_ranges(struct cut *cut)
{
	struct gt_trace *trace = cut->trace;
	const struct gt_range_choice *choice = &cut->chosen.ranges;
	struct busy_ranges busy = {.list = {0}};
	struct gt_activity_walk walk;
	struct gt_activity activity;

	gt_activity_walk_init(&walk, trace, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity))
		see_work(cut, &busy, &activity);
	gt_array_each(const struct gt_interval, span, &busy.list)
		add_part(cut, *span);
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];
		const gt_time end_ns = open_until(trace, range);

		if (!choice->named[i] || choice->skipped[i])
			continue;
		add_part(cut,
		         (struct gt_interval){range->start_ns,
		                              end_ns < trace->end_ns ? end_ns : trace->end_ns});
	}
	gt_array_release(&busy.list);
	gt_known_release(&busy.places);
	trace->parts.count = gt_intervals_merge(trace->parts.rows, trace->parts.count);
}

/* Takes the stretches, which are in order and apart, out of the parts. */
static void take_out(struct gt_trace *trace, const struct gt_interval *stretches, size_t count)
{
	gt_array(struct gt_interval) left = {0};
	size_t at = 0;

	gt_array_each(const struct gt_interval, part, &trace->parts) {
		gt_time from_ns = part->start_ns;

		while (at < count && stretches[at].end_ns <= part->start_ns)
			at++;
		for (size_t i = at; i < count && stretches[i].start_ns < part->end_ns; i++) {
			if (stretches[i].start_ns > from_ns)
				*gt_array_push(&left) =
					(struct gt_interval){from_ns, stretches[i].start_ns};
			from_ns = stretches[i].end_ns;
		}
		if (from_ns < part->end_ns)
			*gt_array_push(&left) = (struct gt_interval){from_ns, part->end_ns};
	}
	gt_array_release(&trace->parts);
	trace->parts.rows = left.rows;
	trace->parts.count = left.count;
	trace->parts.capacity = left.capacity;
}

/* None is left, which is not "all". */
static void keep_none(struct gt_trace *trace, const struct gt_view *view)
{
	if (trace->parts.count == 0)
		*gt_array_push(&trace->parts) =
			(struct gt_interval){view->start_ns, view->start_ns};
}

/* Nothing can be said of how busy the GPU was by itself in stretches that are not measured. */
static void leave_out_held(struct gt_trace *trace, const struct gt_view *view)
{
	struct gt_unmeasured held;

	gt_unmeasured_init(&held, trace);
	if (held.list.count > 0 && trace->parts.count == 0)
		*gt_array_push(&trace->parts) = (struct gt_interval){view->start_ns, view->end_ns};
	if (held.list.count > 0) {
		take_out(trace, held.list.rows, held.list.count);
		keep_none(trace, view);
	}
	gt_unmeasured_release(&held);
}

static void find_parts(struct cut *cut, const struct gt_view *view)
{
	if (cut->chosen.ranges.given) {
		find_parts_of_ranges(cut);
		keep_none(cut->trace, view);
	} else if (cut->window.given) {
		*gt_array_push(&cut->trace->parts) =
			(struct gt_interval){view->start_ns, view->end_ns};
	}
	leave_out_held(cut->trace, view);
}

/* For questions about the time of chosen ranges that are asked of all that happened. */
static void mark_chosen(struct cut *cut)
{
	const struct gt_range_choice *choice = &cut->chosen.ranges;

	for (size_t i = 0; choice->given && i < cut->trace->ranges.count; i++)
		if (choice->named[i] && !choice->skipped[i] &&
		    gt_chosen_stays(&cut->chosen, GT_TABLE_ranges, i))
			cut->trace->ranges.rows[i].flags |= GT_CHOSEN;
}

/* Behind shrink_all: in the whole nothing is there for others alone. */
static void mark_around(struct cut *cut)
{
	const gt_id *shown = cut->trace->whole->shown[GT_TABLE_ranges];

	for (size_t i = 0; cut->chosen.around && i < cut->chosen.counts[GT_TABLE_ranges]; i++)
		if (cut->chosen.around[i] && shown[i] != GT_NONE)
			cut->trace->ranges.rows[shown[i]].flags |= GT_AROUND;
}

static int apply(struct cut *cut, const struct gt_view *view, struct gt_error *err)
{
	const struct gt_range_choice *ranges = &cut->chosen.ranges;

	gt_chosen_init(&cut->chosen, cut->trace, cut->filter, &cut->window);
	if (ranges->most > 0 && ranges->left == 0)
		return gt_fail(err, ENODATA,
		               "nothing of the recording is in %s: no thread has more than %llu of "
		               "these ranges of one path",
		               cut->filter->text, (unsigned long long)ranges->most);
	if (!has_something(cut))
		return gt_fail(err, ENODATA, "nothing of the recording is in %s",
		               cut->filter->text);
	find_parts(cut, view);
	mark_chosen(cut);
	shrink_all(cut);
	mark_around(cut);
	take_samples(cut);
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

static void forget_range(const struct gt_trace *trace, gt_id thread, gt_id *range, gt_count *flags)
{
	if (*range < trace->ranges.count && trace->ranges.rows[*range].thread != thread)
		*range = GT_NONE;
	*flags &= ~(gt_count)GT_BY_TIME;
}

/* Counts work only to ranges of the thread that did it. */
static void forget_for_ranges(struct gt_trace *trace)
{
	const uint32_t told = GT_BY_TIME | GT_UNTOLD;

	gt_array_each(struct gt_api_call, call, &trace->api_calls) {
		call->for_range = GT_NONE;
		call->flags &= ~told;
	}
	gt_array_each(struct gt_graph_node, node, &trace->graph_nodes) {
		node->for_range = GT_NONE;
		node->flags &= ~told;
	}
	gt_array_each(struct gt_range, range, &trace->ranges) {
		range->for_range = GT_NONE;
		range->flags &= ~told;
	}
	gt_array_each(struct gt_allocation, allocation, &trace->allocations) {
		const gt_id thread = allocation->made_by < trace->memory_calls.count
		                             ? trace->memory_calls.rows[allocation->made_by].thread
		                             : GT_NONE;

		forget_range(trace, thread, &allocation->range, &allocation->flags);
	}
	gt_array_each(struct gt_pool_block, block, &trace->pool_blocks)
		forget_range(trace, block->thread, &block->range, &block->flags);
}

int gt_view_cut(struct gt_view *view, struct gt_trace *trace, const struct gt_filter *filter,
                struct gt_error *err)
{
	struct gt_view made = gt_view_of(trace);
	struct cut cut = {.trace = trace, .filter = filter};
	int result = 0;

	if (filter->own_threads)
		forget_for_ranges(trace);
	if (!filter->text) {
		leave_out_held(trace, &made);
		*view = made;
		return 0;
	}
	made.restriction = filter->text;
	result = gt_filter_check(filter, trace, err);
	if (result == 0)
		result = set_window(&made, &cut, err);
	if (result == 0)
		result = apply(&cut, &made, err);
	made.by_work = cut.chosen.by_work;
	made.by_ranges = cut.chosen.ranges.given;
	made.splits_streams = filter->kernels.count + filter->ranges.count > 0;
	gt_chosen_release(&cut.chosen);
	if (result == 0)
		*view = made;
	return result;
}

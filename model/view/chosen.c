/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/chosen.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/ranges/owners.h"
#include "model/view/filter.h"
#include "model/view/rules.h"
#include "model/work/activity.h"

static void choose(struct gt_cut *cut, int number)
{
	const struct gt_table table = gt_trace_table(cut->trace, (size_t)number);
	const uint8_t *at = table.rows;
	bool *chosen = gt_allocate(table.row_count * sizeof(*chosen));

	for (size_t row = 0; row < table.row_count; row++, at += table.row_size)
		chosen[row] = (table.order != GT_ORDER_by_time || gt_cut_in_window(cut, at) ||
		               gt_cut_has_its_work(number, at)) &&
		              gt_cut_row_stays(cut, number, &table, at, row);
	cut->chosen->stays[number] = chosen;
}

/* Calls and waits in the window are for work that fits, also where that began after it. */
static void choose_work(struct gt_cut *cut, enum gt_activity_type type)
{
	const int number = gt_activity_tables[type];
	const struct gt_table table = gt_trace_table(cut->trace, (size_t)number);
	const uint8_t *at = table.rows;
	bool *fits = gt_allocate(table.row_count * sizeof(*fits));
	bool *chosen = gt_allocate(table.row_count * sizeof(*chosen));

	for (size_t row = 0; row < table.row_count; row++, at += table.row_size) {
		fits[row] = gt_cut_row_stays(cut, number, &table, at, row);
		chosen[row] = fits[row] && gt_cut_in_window(cut, at);
	}
	cut->fits[type] = fits;
	cut->chosen->stays[number] = chosen;
}

static bool *flags(size_t count)
{
	bool *rows = gt_allocate_zeroed(count, sizeof(*rows));

	return rows;
}

static void see_work(struct gt_cut *cut, bool fits, gt_id stream, gt_id api_call)
{
	if (!fits)
		return;
	if (stream < cut->trace->streams.count)
		cut->used_streams[stream] = true;
	if (api_call < cut->trace->api_calls.count)
		cut->asked[api_call] = true;
}

/*
 * Calls that were made inside chosen ranges. Where nothing else is chosen they stay, whether they
 * asked for work or not.
 */
static void follow_ranges(struct gt_cut *cut)
{
	const struct gt_filter *filter = cut->filter;
	const size_t calls = cut->trace->api_calls.count;
	const bool alone =
		filter->devices.count + filter->streams.count + filter->kernels.count == 0;

	if (!cut->chosen->ranges.given)
		return;
	cut->inside = flags(calls);
	for (gt_id i = 0; i < calls; i++) {
		cut->inside[i] = gt_cut_is_in_range(cut, gt_owner_of_call(cut->trace, i));
		cut->asked[i] = alone && cut->inside[i];
	}
}

/*
 * API calls that asked for the work that fits, and its streams and contexts. Waits are for a stream
 * that is chosen; where kernels are chosen, for one that they are on.
 */
static void follow_work(struct gt_cut *cut)
{
	const struct gt_trace *trace = cut->trace;

	for (size_t i = 0; i < trace->kernels.count; i++)
		see_work(cut, cut->fits[GT_ACTIVITY_KERNEL][i], trace->kernels.rows[i].stream,
		         trace->kernels.rows[i].api_call);
	for (size_t i = 0; i < trace->copies.count; i++)
		see_work(cut, cut->fits[GT_ACTIVITY_COPY][i], trace->copies.rows[i].stream,
		         trace->copies.rows[i].api_call);
	for (size_t i = 0; i < trace->fills.count; i++)
		see_work(cut, cut->fits[GT_ACTIVITY_FILL][i], trace->fills.rows[i].stream,
		         trace->fills.rows[i].api_call);
	for (size_t i = 0; i < trace->graph_traces.count; i++)
		see_work(cut, cut->fits[GT_ACTIVITY_GRAPH][i], trace->graph_traces.rows[i].stream,
		         trace->graph_traces.rows[i].api_call);
	for (size_t i = 0; i < trace->streams.count; i++) {
		const gt_id context = trace->streams.rows[i].context;

		if (cut->filter->kernels.count == 0)
			cut->used_streams[i] = cut->chosen->stays[GT_TABLE_streams][i];
		if (cut->used_streams[i] && context < trace->contexts.count)
			cut->used_contexts[context] = true;
	}
}

/* A wait that stays keeps its call, and queries of its event. */
static void follow_syncs(struct gt_cut *cut)
{
	const struct gt_trace *trace = cut->trace;

	for (size_t i = 0; i < trace->syncs.count; i++) {
		const struct gt_sync *sync = &trace->syncs.rows[i];

		if (!cut->chosen->stays[GT_TABLE_syncs][i])
			continue;
		if (sync->api_call < trace->api_calls.count)
			cut->asked[sync->api_call] = true;
		if (sync->event < trace->events.count)
			cut->used_events[sync->event] = true;
	}
}

/* The calls that overheads can belong to. */
static void follow_calls(struct gt_cut *cut)
{
	const struct gt_trace *trace = cut->trace;

	if (!cut->chosen->by_work || trace->overheads.count == 0)
		return;
	cut->calls = gt_allocate(trace->api_calls.count * sizeof(*cut->calls));
	for (size_t i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];

		if (cut->chosen->stays[GT_TABLE_api_calls][i] &&
		    call->thread < trace->threads.count)
			cut->calls[cut->call_count++] = gt_cut_call_key(
				trace->threads.rows[call->thread].process, call->correlation);
	}
	if (cut->call_count > 1)
		qsort(cut->calls, cut->call_count, sizeof(*cut->calls), gt_cut_compare_wide);
}

static void name_device(struct gt_cut *cut, gt_id device)
{
	bool *kept = cut->chosen->stays[GT_TABLE_devices];

	if (device >= cut->trace->devices.count || kept[device])
		return;
	kept[device] = true;
	cut->chosen->named[device] = true;
}

/* Devices that copies name stay: they are where the bytes went. */
static void follow_copies(struct gt_cut *cut)
{
	const struct gt_trace *trace = cut->trace;

	cut->chosen->named = flags(trace->devices.count);
	for (size_t i = 0; i < trace->copies.count; i++) {
		if (!cut->chosen->stays[GT_TABLE_copies][i])
			continue;
		name_device(cut, trace->copies.rows[i].src_device);
		name_device(cut, trace->copies.rows[i].dst_device);
	}
}

/* Without what is around it, or around what names it, a range would have another path. */
static void follow_around(struct gt_cut *cut, gt_id range)
{
	const struct gt_trace *trace = cut->trace;
	bool *kept = cut->chosen->stays[GT_TABLE_ranges];

	while (range < trace->ranges.count && !cut->chosen->around[range] &&
	       gt_cut_is_kept(cut, GT_TABLE_threads, trace->ranges.rows[range].thread)) {
		cut->chosen->around[range] = true;
		kept[range] = true;
		range = trace->ranges.rows[range].parent;
	}
}

/* The same for all rows of a table that stay and name a range in a column. */
#define FOLLOW_AROUND(cut, table, column)                                                          \
	do {                                                                                       \
		for (size_t i = 0; i < (cut)->trace->table.count; i++)                             \
			if ((cut)->chosen->stays[GT_TABLE_##table][i])                             \
				follow_around(cut, (cut)->trace->table.rows[i].column);            \
	} while (0)

/* Work that began in a window may have been asked for before that. */
static void follow_owners(struct gt_cut *cut, enum gt_activity_type type)
{
	const int table = gt_activity_tables[type];

	for (gt_id row = 0; row < cut->chosen->counts[table]; row++) {
		struct gt_owners owners;

		if (!cut->chosen->stays[table][row])
			continue;
		owners = gt_owners_of(cut->trace, type, row);
		follow_around(cut, owners.launched.range);
		follow_around(cut, owners.captured.range);
	}
}

static void keep_paths(struct gt_cut *cut)
{
	const struct gt_trace *trace = cut->trace;
	const bool *kept = cut->chosen->stays[GT_TABLE_ranges];
	bool *chosen = flags(trace->ranges.count);

	cut->chosen->around = flags(trace->ranges.count);
	for (size_t i = 0; i < trace->ranges.count; i++)
		chosen[i] = kept[i];
	for (size_t i = 0; i < trace->ranges.count; i++)
		if (chosen[i])
			follow_around(cut, trace->ranges.rows[i].parent);
	FOLLOW_AROUND(cut, api_calls, range);
	FOLLOW_AROUND(cut, api_calls, for_range);
	FOLLOW_AROUND(cut, marks, range);
	FOLLOW_AROUND(cut, graph_nodes, range);
	FOLLOW_AROUND(cut, graph_nodes, for_range);
	follow_owners(cut, GT_ACTIVITY_KERNEL);
	follow_owners(cut, GT_ACTIVITY_COPY);
	follow_owners(cut, GT_ACTIVITY_FILL);
	follow_owners(cut, GT_ACTIVITY_GRAPH);
	for (size_t i = 0; i < trace->ranges.count; i++)
		cut->chosen->around[i] = cut->chosen->around[i] && !chosen[i];
	gt_array_free(chosen);
}

/* Every table once, after those that its rows are decided by. */
static void choose_all(struct gt_cut *cut)
{
	for (size_t i = 0; i < GT_CUT_THINGS; i++)
		choose(cut, gt_cut_things[i]);
	follow_ranges(cut);
	choose_work(cut, GT_ACTIVITY_KERNEL);
	choose_work(cut, GT_ACTIVITY_COPY);
	choose_work(cut, GT_ACTIVITY_FILL);
	choose_work(cut, GT_ACTIVITY_GRAPH);
	follow_work(cut);
	choose(cut, GT_TABLE_syncs);
	follow_syncs(cut);
	choose(cut, GT_TABLE_api_calls);
	follow_calls(cut);
	for (int table = 0; table < GT_TABLE_COUNT; table++)
		if (!cut->chosen->stays[table])
			choose(cut, table);
	follow_copies(cut);
	keep_paths(cut);
}

void gt_chosen_init(struct gt_chosen *chosen, const struct gt_trace *trace,
                    const struct gt_filter *filter, const struct gt_window *window)
{
	struct gt_cut cut = {
		.trace = trace,
		.filter = filter,
		.window = window,
		.chosen = chosen,
		.used_streams = flags(trace->streams.count),
		.used_contexts = flags(trace->contexts.count),
		.used_events = flags(trace->events.count),
		.asked = flags(trace->api_calls.count),
	};

	*chosen = (struct gt_chosen){
		.by_work = filter->devices.count + filter->streams.count + filter->kernels.count +
	                           filter->ranges.count >
	                   0,
	};
	gt_range_choice_init(&chosen->ranges, trace, filter);
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		chosen->counts[i] = gt_trace_table(trace, i).row_count;
	choose_all(&cut);
	for (size_t type = 0; type < GT_ACTIVITY_TYPES; type++)
		gt_array_free(cut.fits[type]);
	gt_array_free(cut.used_streams);
	gt_array_free(cut.used_contexts);
	gt_array_free(cut.used_events);
	gt_array_free(cut.asked);
	gt_array_free(cut.inside);
	gt_array_free(cut.calls);
}

void gt_chosen_release(struct gt_chosen *chosen)
{
	for (size_t i = 0; i < GT_TABLE_COUNT; i++)
		gt_array_free(chosen->stays[i]);
	gt_array_free(chosen->around);
	gt_array_free(chosen->named);
	gt_range_choice_release(&chosen->ranges);
	*chosen = (struct gt_chosen){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/view/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/allocations.h"
#include "model/work/sync.h"

static bool stays(const struct gt_cut *cut, int table, gt_id row)
{
	return row < cut->chosen->counts[table] && cut->chosen->stays[table][row];
}

bool gt_cut_is_kept(const struct gt_cut *cut, int table, gt_id row)
{
	return row >= cut->chosen->counts[table] || cut->chosen->stays[table][row];
}

/* Things to choose, and what they are part of: decided first, rows of other tables go with them. */
const int gt_cut_things[GT_CUT_THINGS] = {GT_TABLE_processes, GT_TABLE_threads,
                                          GT_TABLE_devices,   GT_TABLE_contexts,
                                          GT_TABLE_streams,   GT_TABLE_launch_shapes};

static bool is_thing(int table)
{
	for (size_t i = 0; i < GT_CUT_THINGS; i++)
		if (gt_cut_things[i] == table)
			return true;
	return false;
}

/* The tables kept by_refs. */
static bool refs_stay(const struct gt_cut *cut, const struct gt_table *table, const uint8_t *row)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct gt_column *column = &table->columns[i];
		gt_id named;

		if (!is_thing(column->target))
			continue;
		memcpy(&named, row + column->offset, sizeof(named));
		if (!gt_cut_is_kept(cut, column->target, named))
			return false;
	}
	return true;
}

/*
 * The tables kept by_rule: one function each, NAME_stays. The rows of a table by time have been
 * found to be in the window when they are asked about.
 */
static bool process_stays(const struct gt_cut *cut, const struct gt_process *process, size_t row)
{
	(void)row;
	return gt_filter_process(cut->filter, cut->trace, process);
}

/* One that a chosen process used. */
static bool is_used(const struct gt_cut *cut, size_t device)
{
	gt_array_each(const struct gt_context, context, &cut->trace->contexts)
		if (context->device == device && stays(cut, GT_TABLE_processes, context->process))
			return true;
	return cut->filter->processes.count == 0;
}

static bool device_stays(const struct gt_cut *cut, const struct gt_device *device, size_t row)
{
	return gt_filter_device(cut->filter, cut->trace, device) && is_used(cut, row);
}

static bool stream_stays(const struct gt_cut *cut, const struct gt_stream *stream, size_t row)
{
	(void)row;
	return gt_cut_is_kept(cut, GT_TABLE_contexts, stream->context) &&
	       gt_filter_stream(cut->filter, stream);
}

static bool launch_shape_stays(const struct gt_cut *cut, const struct gt_launch_shape *launch_shape,
                               size_t row)
{
	(void)row;
	return gt_filter_shape(cut->filter, cut->trace, launch_shape);
}

/* A row that does not say where it ran is not where someone asks for. */
static bool ran_there(const struct gt_cut *cut, gt_id stream, gt_id device)
{
	const struct gt_filter *filter = cut->filter;

	if (filter->processes.count + filter->streams.count > 0 &&
	    !stays(cut, GT_TABLE_streams, stream))
		return false;
	return filter->devices.count == 0 || stays(cut, GT_TABLE_devices, device);
}

bool gt_cut_is_in_range(const struct gt_cut *cut, struct gt_owner owner)
{
	const struct gt_range_choice *ranges = &cut->chosen->ranges;

	return !ranges->given || gt_range_choice_of(ranges, owner) != GT_NONE;
}

/* Asked for inside a chosen range, when it was launched or when its graph was captured. */
static bool is_work_in_range(const struct gt_cut *cut, enum gt_activity_type type, size_t row)
{
	struct gt_owners owners;

	if (!cut->chosen->ranges.given)
		return true;
	owners = gt_owners_of(cut->trace, type, (gt_id)row);
	return gt_cut_is_in_range(cut, owners.launched) || gt_cut_is_in_range(cut, owners.captured);
}

static bool is_call_in_range(const struct gt_cut *cut, gt_id api_call)
{
	return !cut->inside || (api_call < cut->trace->api_calls.count && cut->inside[api_call]);
}

static bool kernel_stays(const struct gt_cut *cut, const struct gt_kernel *kernel, size_t row)
{
	return ran_there(cut, kernel->stream, kernel->device) &&
	       is_work_in_range(cut, GT_ACTIVITY_KERNEL, row) &&
	       (cut->filter->kernels.count == 0 ||
	        stays(cut, GT_TABLE_launch_shapes, kernel->shape));
}

static bool copy_stays(const struct gt_cut *cut, const struct gt_copy *copy, size_t row)
{
	return cut->filter->kernels.count == 0 && ran_there(cut, copy->stream, copy->device) &&
	       is_work_in_range(cut, GT_ACTIVITY_COPY, row);
}

static bool fill_stays(const struct gt_cut *cut, const struct gt_fill *fill, size_t row)
{
	return cut->filter->kernels.count == 0 && ran_there(cut, fill->stream, fill->device) &&
	       is_work_in_range(cut, GT_ACTIVITY_FILL, row);
}

/* Whether it is of a chosen process; an unknown thread or context is of none. */
static bool is_of_process(const struct gt_cut *cut, gt_id thread, gt_id context)
{
	return cut->filter->processes.count == 0 || stays(cut, GT_TABLE_threads, thread) ||
	       stays(cut, GT_TABLE_contexts, context);
}

/* Whether a wait for a stream, or for all of a context, is for work that stays. */
static bool waits_for_kept(const struct gt_cut *cut, gt_id stream, gt_id context)
{
	if (stream < cut->trace->streams.count)
		return cut->used_streams[stream];
	return context < cut->trace->contexts.count && cut->used_contexts[context];
}

static bool sync_stays(const struct gt_cut *cut, const struct gt_sync *sync, size_t row)
{
	(void)row;
	if (!is_of_process(cut, sync->thread, sync->context) ||
	    !is_call_in_range(cut, sync->api_call))
		return false;
	return !cut->chosen->by_work ||
	       waits_for_kept(cut, gt_sync_stream(cut->trace, sync), sync->context) ||
	       (sync->api_call < cut->trace->api_calls.count && cut->asked[sync->api_call]);
}

static bool api_call_stays(const struct gt_cut *cut, const struct gt_api_call *api_call, size_t row)
{
	return gt_cut_is_kept(cut, GT_TABLE_threads, api_call->thread) &&
	       (cut->filter->processes.count == 0 ||
	        stays(cut, GT_TABLE_threads, api_call->thread)) &&
	       (!cut->chosen->by_work || cut->asked[row]);
}

/* A range that is named is in itself. */
static bool range_stays(const struct gt_cut *cut, const struct gt_range *range, size_t row)
{
	return gt_cut_is_kept(cut, GT_TABLE_threads, range->thread) &&
	       gt_cut_is_in_range(cut,
	                          (struct gt_owner){.range = (gt_id)row, .at_ns = range->start_ns});
}

static bool mark_stays(const struct gt_cut *cut, const struct gt_mark *mark, size_t row)
{
	(void)row;
	return gt_cut_is_kept(cut, GT_TABLE_threads, mark->thread) &&
	       gt_cut_is_in_range(cut,
	                          (struct gt_owner){.range = mark->range, .at_ns = mark->start_ns});
}

static bool query_stays(const struct gt_cut *cut, const struct gt_query *query, size_t row)
{
	(void)row;
	/* Those of a loop are one row, whichever ranges they were made in. */
	if (!is_of_process(cut, query->thread, query->context) || cut->chosen->ranges.given)
		return false;
	if (query->event < cut->trace->events.count)
		return !cut->chosen->by_work || cut->used_events[query->event];
	return !cut->chosen->by_work || waits_for_kept(cut, query->stream, query->context);
}

static bool edge_stays(const struct gt_cut *cut, const struct gt_edge *edge, size_t row)
{
	(void)row;
	return edge->from_table < GT_TABLE_COUNT && edge->to_table < GT_TABLE_COUNT &&
	       stays(cut, (int)edge->from_table, edge->from_row) &&
	       stays(cut, (int)edge->to_table, edge->to_row);
}

static bool graph_trace_stays(const struct gt_cut *cut, const struct gt_graph_trace *graph_trace,
                              size_t row)
{
	return cut->filter->kernels.count == 0 &&
	       ran_there(cut, graph_trace->stream, graph_trace->device) &&
	       is_work_in_range(cut, GT_ACTIVITY_GRAPH, row);
}

/* The API call says what became of the launch, so that it goes with the work of its nodes. */
static bool graph_launch_stays(const struct gt_cut *cut, const struct gt_graph_launch *graph_launch,
                               size_t row)
{
	(void)row;
	if (!is_of_process(cut, graph_launch->thread, graph_launch->context))
		return false;
	return !cut->chosen->by_work || (graph_launch->api_call < cut->trace->api_calls.count &&
	                                 cut->asked[graph_launch->api_call]);
}

static bool graph_call_stays(const struct gt_cut *cut, const struct gt_graph_call *graph_call,
                             size_t row)
{
	(void)row;
	return is_of_process(cut, graph_call->thread, GT_NONE);
}

/* Whose context, stream or GPU stays; the host's memory is its process's. */
static bool is_there(const struct gt_cut *cut, gt_id context, gt_id stream, gt_id device)
{
	return gt_cut_is_kept(cut, GT_TABLE_contexts, context) &&
	       gt_cut_is_kept(cut, GT_TABLE_streams, stream) &&
	       gt_cut_is_kept(cut, GT_TABLE_devices, device);
}

static bool memory_call_stays(const struct gt_cut *cut, const struct gt_memory_call *memory_call,
                              size_t row)
{
	(void)row;
	return is_of_process(cut, memory_call->thread, memory_call->context) &&
	       is_there(cut, memory_call->context, memory_call->stream, memory_call->place) &&
	       is_call_in_range(cut, memory_call->api_call);
}

static bool access_stays(const struct gt_cut *cut, const struct gt_access *access, size_t row)
{
	(void)row;
	return is_of_process(cut, access->thread, access->context) &&
	       is_there(cut, access->context, access->stream, GT_NONE) &&
	       is_call_in_range(cut, access->api_call);
}

/* Memory that was there for a while of the window, whenever it was allocated. */
static bool was_there(const struct gt_window *window, gt_time start_ns, gt_time end_ns,
                      gt_count flags)
{
	const bool ended = !(flags & GT_UNFINISHED);

	return !window->given || (start_ns < window->to_ns && (!ended || end_ns > window->from_ns));
}

static bool allocation_stays(const struct gt_cut *cut, const struct gt_allocation *allocation,
                             size_t row)
{
	(void)row;
	if (!was_there(cut->window, gt_memory_begin(cut->trace, allocation), allocation->end_ns,
	               allocation->flags))
		return false;
	return gt_cut_is_kept(cut, GT_TABLE_processes, allocation->process) &&
	       is_there(cut, allocation->context, allocation->stream, allocation->device) &&
	       gt_cut_is_in_range(cut, (struct gt_owner){.range = allocation->range,
	                                                 .at_ns = allocation->start_ns});
}

static bool pool_block_stays(const struct gt_cut *cut, const struct gt_pool_block *block,
                             size_t row)
{
	(void)row;
	return was_there(cut->window, block->start_ns, block->end_ns, block->flags) &&
	       gt_cut_is_kept(cut, GT_TABLE_pools, block->pool) &&
	       is_there(cut, GT_NONE, block->stream, GT_NONE) &&
	       gt_cut_is_in_range(cut, (struct gt_owner){.range = block->range,
	                                                 .at_ns = block->start_ns});
}

int gt_cut_compare_wide(const void *a, const void *b)
{
	const gt_wide left = *(const gt_wide *)a;
	const gt_wide right = *(const gt_wide *)b;

	return (left > right) - (left < right);
}

gt_wide gt_cut_call_key(gt_id process, gt_count correlation)
{
	return (gt_wide)process << 32 | correlation;
}

static bool overhead_stays(const struct gt_cut *cut, const struct gt_overhead *overhead, size_t row)
{
	const gt_wide key = gt_cut_call_key(overhead->process, overhead->correlation);

	(void)row;
	if (cut->filter->processes.count > 0 && !stays(cut, GT_TABLE_processes, overhead->process))
		return false;
	return !cut->chosen->by_work ||
	       (cut->call_count > 0 && bsearch(&key, cut->calls, cut->call_count,
	                                       sizeof(*cut->calls), gt_cut_compare_wide) != NULL);
}

/* Any process may be the one that sampled a GPU. */
static bool counter_stays(const struct gt_cut *cut, const struct gt_counter *counter, size_t row)
{
	(void)row;
	if (counter->pool < cut->trace->pools.count)
		return cut->chosen->stays[GT_TABLE_pools][counter->pool];
	if (counter->device < cut->trace->devices.count)
		return cut->chosen->stays[GT_TABLE_devices][counter->device];
	return gt_cut_is_kept(cut, GT_TABLE_processes, counter->process);
}

/* Measurements of a launch go where the launch goes. */
static bool profiled_launch_stays(const struct gt_cut *cut,
                                  const struct gt_profiled_launch *profiled_launch, size_t row)
{
	(void)row;
	return gt_cut_is_kept(cut, GT_TABLE_processes, profiled_launch->process) &&
	       gt_cut_is_kept(cut, GT_TABLE_kernels, profiled_launch->kernel) &&
	       gt_cut_is_kept(cut, GT_TABLE_graph_launches, profiled_launch->graph_launch);
}

/* A refused launch has no kernel, and goes where nothing is chosen by kernel or stream. */
static bool captured_launch_stays(const struct gt_cut *cut,
                                  const struct gt_captured_launch *captured_launch, size_t row)
{
	(void)row;
	if (captured_launch->kernel != GT_NONE)
		return gt_cut_is_kept(cut, GT_TABLE_kernels, captured_launch->kernel);
	return !cut->chosen->by_work &&
	       gt_cut_is_kept(cut, GT_TABLE_processes, captured_launch->process);
}

/* Whose kernel cannot be told goes where nothing is chosen by kernel or stream. */
static bool device_event_stays(const struct gt_cut *cut, const struct gt_device_event *device_event,
                               size_t row)
{
	(void)row;
	if (device_event->kernel != GT_NONE)
		return gt_cut_is_kept(cut, GT_TABLE_kernels, device_event->kernel);
	return !cut->chosen->by_work &&
	       gt_cut_is_kept(cut, GT_TABLE_processes, device_event->process) &&
	       gt_cut_is_kept(cut, GT_TABLE_devices, device_event->device);
}

static bool kernel_counter_stays(const struct gt_cut *cut,
                                 const struct gt_kernel_counter *kernel_counter, size_t row)
{
	(void)row;
	return gt_cut_is_kept(cut, GT_TABLE_kernels, kernel_counter->kernel) &&
	       gt_cut_is_kept(cut, GT_TABLE_profiled_launches, kernel_counter->launch);
}

bool gt_cut_in_window(const struct gt_cut *cut, const uint8_t *row)
{
	gt_time start_ns;

	memcpy(&start_ns, row, sizeof(start_ns));
	return !cut->window->given ||
	       (start_ns > 0 && start_ns >= cut->window->from_ns && start_ns < cut->window->to_ns);
}

bool gt_cut_has_its_work(int number, const void *row)
{
	const struct gt_profiled_launch *profiled = row;
	const struct gt_captured_launch *captured = row;

	if (number == GT_TABLE_profiled_launches)
		return profiled->kernel != GT_NONE || profiled->graph_launch != GT_NONE;
	return number == GT_TABLE_captured_launches && captured->kernel != GT_NONE;
}

/* clang-format off */
#define RULE_all(name, plural)
#define RULE_by_refs(name, plural)
#define RULE_by_rule(name, plural) case GT_TABLE_##plural: return name##_stays(cut, at, row);

/* clang-format on */

static bool rule_keeps(const struct gt_cut *cut, int number, const void *at, size_t row)
{
	switch (number) {
#define TABLE(name, plural, order, kept, help) RULE_##kept(name, plural)
#define COLUMN(table, type, name, help)
#define END(name)
#include "model/tables.def"
	default:
		return true;
	}
}

bool gt_cut_row_stays(const struct gt_cut *cut, int number, const struct gt_table *table,
                      const void *at, size_t row)
{
	switch (table->kept) {
	case GT_KEPT_all:
		return true;
	case GT_KEPT_by_refs:
		return refs_stay(cut, table, at);
	case GT_KEPT_by_rule:
		return rule_keeps(cut, number, at, row);
	}
	return true;
}

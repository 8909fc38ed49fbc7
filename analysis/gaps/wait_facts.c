/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gaps/wait_facts.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/search.h"
#include "model/kinds/memory.h"
#include "model/names.h"
#include "model/work/sync.h"
#include "model/work/timed.h"

gt_time gt_wait_step_end(const struct gt_trace *trace, gt_count table, gt_id row)
{
	gt_time start_ns;
	gt_time end_ns;

	gt_step_times(trace, (struct gt_step){table, row}, &start_ns, &end_ns);
	return end_ns;
}

static bool is_step(const struct gt_trace *trace, gt_count table, gt_id row)
{
	return (table == GT_TABLE_kernels && row < trace->kernels.count) ||
	       (table == GT_TABLE_copies && row < trace->copies.count) ||
	       (table == GT_TABLE_fills && row < trace->fills.count);
}

const struct gt_edge *gt_wait_edge(const struct gt_wait_facts *facts, gt_id sync)
{
	const gt_id edge = facts->edge_of_sync[sync];
	const size_t count = facts->trace->edges.count;

	if (edge == GT_NONE)
		return NULL;
	return edge < count ? &facts->trace->edges.rows[edge]
	                    : &facts->from_graphs.rows[edge - count];
}

/* A blocking copy of several pieces has several edges. */
static void find_edges(struct gt_wait_facts *facts)
{
	const struct gt_trace *trace = facts->trace;

	facts->edge_of_sync = gt_allocate(trace->syncs.count * sizeof(*facts->edge_of_sync));
	for (size_t i = 0; i < trace->syncs.count; i++)
		facts->edge_of_sync[i] = GT_NONE;
	for (gt_id i = 0; i < trace->edges.count; i++) {
		const struct gt_edge *edge = &trace->edges.rows[i];
		const struct gt_edge *other;

		if (edge->kind != GT_EDGE_HOST || edge->sync >= trace->syncs.count ||
		    !is_step(trace, edge->from_table, edge->from_row))
			continue;
		other = gt_wait_edge(facts, edge->sync);
		if (!other || gt_wait_step_end(trace, edge->from_table, edge->from_row) >
		                      gt_wait_step_end(trace, other->from_table, other->from_row))
			facts->edge_of_sync[edge->sync] = i;
	}
}

/* The table of edges has none of graphs that were recorded as a whole. */
static void see_graph(struct gt_wait_facts *facts, gt_id sync, gt_id row)
{
	const struct gt_trace *trace = facts->trace;
	const struct gt_graph_trace *graph = &trace->graph_traces.rows[row];
	const struct gt_edge *edge = gt_wait_edge(facts, sync);

	if (!gt_timed(GT_TIMES_ANY, graph->flags, graph->start_ns, graph->end_ns) ||
	    graph->end_ns > trace->syncs.rows[sync].end_ns + facts->bound_ns ||
	    (edge && gt_wait_step_end(trace, edge->from_table, edge->from_row) > graph->end_ns))
		return;
	facts->edge_of_sync[sync] = (gt_id)(trace->edges.count + facts->from_graphs.count);
	*gt_array_push(&facts->from_graphs) = (struct gt_edge){
		.from_table = GT_TABLE_graph_traces,
		.from_row = row,
		.to_table = GT_TABLE_syncs,
		.to_row = sync,
		.sync = sync,
		.kind = GT_EDGE_HOST,
	};
}

/* Graphs on all streams of the context. */
static void see_graphs_of_context(struct gt_wait_facts *facts, gt_id row)
{
	const struct gt_sync *sync = &facts->trace->syncs.rows[row];
	const struct gt_trace *trace = facts->trace;

	for (gt_id i = 0; i < facts->graph_streams.count; i++) {
		const gt_id stream = facts->graph_streams.rows[i];
		struct gt_step step;

		if (trace->streams.rows[stream].context == sync->context &&
		    gt_stream_order_before(&facts->order, stream, sync->start_ns, &step) &&
		    step.table == GT_TABLE_graph_traces)
			see_graph(facts, row, step.row);
	}
}

static void find_graph_streams(struct gt_wait_facts *facts)
{
	const struct gt_trace *trace = facts->trace;
	bool *found = gt_allocate_zeroed(trace->streams.count + 1, sizeof(*found));

	gt_array_each(const struct gt_graph_trace, graph, &trace->graph_traces) {
		if (graph->stream >= trace->streams.count || found[graph->stream])
			continue;
		found[graph->stream] = true;
		*gt_array_push(&facts->graph_streams) = graph->stream;
	}
	gt_array_free(found);
}

/* A wait for a whole graph is found as one for other work is: by the order of its stream. */
static void find_graphs(struct gt_wait_facts *facts)
{
	const struct gt_trace *trace = facts->trace;

	find_graph_streams(facts);
	for (gt_id row = 0; row < trace->syncs.count; row++) {
		const struct gt_sync *sync = &trace->syncs.rows[row];
		gt_id stream = sync->stream;
		gt_time given_ns = sync->start_ns;
		struct gt_step step;

		if (sync->kind == GT_SYNC_CONTEXT_SYNCHRONIZE) {
			see_graphs_of_context(facts, row);
			continue;
		}
		if (sync->kind == GT_SYNC_EVENT_SYNCHRONIZE && sync->record < trace->syncs.count) {
			stream = trace->syncs.rows[sync->record].stream;
			given_ns = trace->syncs.rows[sync->record].start_ns;
		} else if (sync->kind != GT_SYNC_STREAM_SYNCHRONIZE) {
			continue;
		}
		if (gt_stream_order_before(&facts->order, stream, given_ns, &step) &&
		    step.table == GT_TABLE_graph_traces)
			see_graph(facts, row, step.row);
	}
}

static void see_work(struct gt_wait_facts *facts, gt_id api_call, gt_id stream)
{
	if (api_call < facts->trace->api_calls.count)
		facts->stream_of_call[api_call] = stream;
}

static void find_work(struct gt_wait_facts *facts)
{
	const struct gt_trace *trace = facts->trace;

	facts->stream_of_call =
		gt_allocate(trace->api_calls.count * sizeof(*facts->stream_of_call));
	for (size_t i = 0; i < trace->api_calls.count; i++)
		facts->stream_of_call[i] = GT_NONE;
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		see_work(facts, kernel->api_call, kernel->stream);
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		see_work(facts, copy->api_call, copy->stream);
	gt_array_each(const struct gt_fill, fill, &trace->fills)
		see_work(facts, fill->api_call, fill->stream);
	gt_array_each(const struct gt_graph_launch, launch, &trace->graph_launches)
		see_work(facts, launch->api_call, launch->stream);
	gt_array_each(const struct gt_graph_trace, graph, &trace->graph_traces)
		see_work(facts, graph->api_call, graph->stream);
}

bool gt_wait_is_of_devices(gt_count kind)
{
	return kind == GT_MEMORY_DEVICE || kind == GT_MEMORY_ARRAY ||
	       kind == GT_MEMORY_DEVICE_STATIC;
}

static int by_context_and_time(const void *a, const void *b)
{
	const struct gt_host_copy *left = a;
	const struct gt_host_copy *right = b;

	if (left->context != right->context)
		return left->context < right->context ? -1 : 1;
	return (left->given_ns > right->given_ns) - (left->given_ns < right->given_ns);
}

/* Those of blocking calls are left out: when the call returned the host was done with them. */
static void find_host_copies(struct gt_wait_facts *facts)
{
	const struct gt_trace *trace = facts->trace;
	bool *blocking = gt_allocate_zeroed(trace->api_calls.count, sizeof(*blocking));

	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		if (sync->kind == GT_SYNC_BLOCKING_COPY && sync->api_call < trace->api_calls.count)
			blocking[sync->api_call] = true;
	gt_array_each(const struct gt_copy, copy, &trace->copies) {
		const bool called = copy->api_call < trace->api_calls.count;

		if ((gt_wait_is_of_devices(copy->src_kind) &&
		     gt_wait_is_of_devices(copy->dst_kind)) ||
		    (called && blocking[copy->api_call]) || copy->stream >= trace->streams.count)
			continue;
		*gt_array_push(&facts->host_copies) = (struct gt_host_copy){
			.context = trace->streams.rows[copy->stream].context,
			.given_ns = called ? trace->api_calls.rows[copy->api_call].start_ns
		                           : copy->start_ns,
		};
	}
	gt_array_free(blocking);
	if (facts->host_copies.count > 1)
		qsort(facts->host_copies.rows, facts->host_copies.count,
		      sizeof(*facts->host_copies.rows), by_context_and_time);
}

bool gt_wait_copied_between(const struct gt_wait_facts *facts, gt_id context, gt_time from_ns,
                            gt_time to_ns)
{
	const struct gt_host_copy from = {context, from_ns};
	const struct gt_host_copy to = {context, to_ns};

	if (facts->host_copies.count == 0)
		return false;
	return gt_count_before(&facts->host_copies, &from, by_context_and_time) <
	       gt_count_before(&facts->host_copies, &to, by_context_and_time);
}

static bool has_managed(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_allocation, allocation, &trace->allocations)
		if (allocation->kind == GT_MEMORY_CALL_ALLOCATE_MANAGED)
			return true;
	return false;
}

static void find_given(struct gt_wait_facts *facts)
{
	const struct gt_trace *trace = facts->trace;

	facts->given_ns = gt_allocate((trace->contexts.count + 1) * sizeof(*facts->given_ns));
	for (size_t i = 0; i < trace->contexts.count; i++)
		facts->given_ns[i] = INT64_MAX;
	for (gt_id i = 0; i < trace->streams.count; i++) {
		const gt_id context = trace->streams.rows[i].context;
		gt_time given_ns;

		if (context >= trace->contexts.count ||
		    gt_stream_order_count(&facts->order, i) == 0)
			continue;
		given_ns = gt_stream_order_given(&facts->order, i, 0);
		if (given_ns < facts->given_ns[context])
			facts->given_ns[context] = given_ns;
	}
}

void gt_wait_facts_init(struct gt_wait_facts *facts, const struct gt_trace *trace)
{
	*facts = (struct gt_wait_facts){
		.trace = trace,
		.bound_ns = (gt_time)gt_trace_clock_bound(trace),
		.has_managed = has_managed(trace),
	};
	gt_thread_calls_init(&facts->calls, trace);
	gt_stream_order_init_whole(&facts->order, trace);
	find_given(facts);
	find_edges(facts);
	if (trace->graph_traces.count > 0)
		find_graphs(facts);
	find_work(facts);
	find_host_copies(facts);
}

void gt_wait_facts_release(struct gt_wait_facts *facts)
{
	gt_thread_calls_release(&facts->calls);
	gt_stream_order_release(&facts->order);
	gt_array_free(facts->edge_of_sync);
	gt_array_release(&facts->from_graphs);
	gt_array_release(&facts->graph_streams);
	gt_array_free(facts->stream_of_call);
	gt_array_free(facts->given_ns);
	gt_array_release(&facts->host_copies);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/graphs/memory.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/search.h"
#include "model/kinds/memory.h"
#include "model/known.h"
#include "model/work/timed.h"

/* A node of an executable graph that allocates or frees memory. */
struct memory_node {
	gt_id exec;
	gt_id node;
	gt_id call; /* row of memory_calls that made its origin */
	bool frees;
	uint64_t address;
};

/* When the work of an API call ran. */
struct span {
	gt_time start_ns; /* 0: none has times */
	gt_time end_ns;
};

struct finder {
	struct gt_trace *trace;
	gt_array(struct memory_node) nodes; /* by executable graph, address and node */
	struct span *spans;                 /* by row of api_calls */
	struct gt_graph_memories *memories;
};

static uint64_t call_key(gt_id process, uint32_t correlation)
{
	return (uint64_t)process << 32 | correlation;
}

static bool is_free(uint32_t kind)
{
	return kind == GT_MEMORY_CALL_FREE_ORDERED || kind == GT_MEMORY_CALL_FREE_NODE;
}

/* Calls that made a node which allocates or frees. */
static bool made_node(const struct gt_memory_call *call)
{
	return call->flags & GT_GRAPH_NODE && call->result == 0 && call->correlation &&
	       call->address &&
	       (is_free(call->kind) || call->kind == GT_MEMORY_CALL_ALLOCATE_ORDERED ||
	        call->kind == GT_MEMORY_CALL_ALLOCATE_NODE);
}

static void know_calls(const struct gt_trace *trace, struct gt_known *calls)
{
	for (size_t i = 0; i < trace->memory_calls.count; i++) {
		const struct gt_memory_call *call = &trace->memory_calls.rows[i];
		const gt_id process = gt_trace_thread_process(trace, call->thread);
		const uint64_t key = call_key(process, call->correlation);

		if (made_node(call) && process != GT_NONE && gt_known_find(calls, key) == GT_NONE)
			gt_known_add(calls, key, (gt_id)i);
	}
}

/* The call that made the node, or what it is a clone of; GT_NONE: it has to do with no memory. */
static gt_id call_of(const struct gt_trace *trace, struct gt_known *calls, gt_id row)
{
	const struct gt_graph_node *node = &trace->graph_nodes.rows[row];

	if (node->origin < trace->graph_nodes.count)
		node = &trace->graph_nodes.rows[node->origin];
	return gt_known_find(calls, call_key(node->process, node->correlation));
}

static void tell_nodes(struct finder *finder)
{
	struct gt_trace *trace = finder->trace;
	struct gt_known calls = {0};

	know_calls(trace, &calls);
	for (size_t i = 0; i < trace->graph_nodes.count && calls.count; i++) {
		struct gt_graph_node *node = &trace->graph_nodes.rows[i];
		const gt_id row = call_of(trace, &calls, (gt_id)i);
		const struct gt_memory_call *call =
			row == GT_NONE ? NULL : &trace->memory_calls.rows[row];

		if (!call)
			continue;
		node->memory_address = call->address;
		node->memory_bytes = is_free(call->kind) ? 0 : call->size_bytes;
		if (node->exec < trace->graph_execs.count)
			*gt_array_push(&finder->nodes) = (struct memory_node){
				.exec = node->exec,
				.node = (gt_id)i,
				.call = row,
				.frees = is_free(call->kind),
				.address = call->address,
			};
	}
	gt_known_release(&calls);
}

static int by_exec_and_address(const void *a, const void *b)
{
	const struct memory_node *left = a;
	const struct memory_node *right = b;

	if (left->exec != right->exec)
		return left->exec < right->exec ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->node > right->node) - (left->node < right->node);
}

static int by_exec(const void *row, const void *wanted)
{
	const struct memory_node *node = row;
	const gt_id *exec = wanted;

	return (node->exec > *exec) - (node->exec < *exec);
}

static void stretch(struct finder *finder, gt_id api_call, uint32_t flags, struct span work)
{
	struct span *span;

	if (api_call >= finder->trace->api_calls.count ||
	    !gt_timed(GT_TIMES_ANY, flags, work.start_ns, work.end_ns))
		return;
	span = &finder->spans[api_call];
	if (!span->start_ns || work.start_ns < span->start_ns)
		span->start_ns = work.start_ns;
	if (work.end_ns > span->end_ns)
		span->end_ns = work.end_ns;
}

static void measure(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;

	finder->spans = gt_allocate_zeroed(trace->api_calls.count + 1, sizeof(*finder->spans));
#define STRETCH(type, rows)                                                                        \
	gt_array_each(const type, row, &trace->rows)                                               \
		stretch(finder, row->api_call, row->flags,                                         \
		        (struct span){row->start_ns, row->end_ns});
	STRETCH(struct gt_kernel, kernels)
	STRETCH(struct gt_copy, copies)
	STRETCH(struct gt_fill, fills)
	STRETCH(struct gt_graph_trace, graph_traces)
#undef STRETCH
}

static void add(struct finder *finder, struct gt_graph_memory memory)
{
	if (finder->memories->list.count < GT_MOST_GRAPH_MEMORY)
		*gt_array_push(&finder->memories->list) = memory;
	else
		finder->memories->cut = true;
}

/* It is there as long as the graph runs: from its first work to its last, or while the call was. */
static void add_inner(struct finder *finder, struct gt_graph_memory memory)
{
	const struct gt_graph_launch *launch = &finder->trace->graph_launches.rows[memory.launch];
	struct span span = {launch->start_ns, launch->end_ns};

	if (launch->api_call < finder->trace->api_calls.count &&
	    finder->spans[launch->api_call].start_ns)
		span = finder->spans[launch->api_call];
	memory.start_ns = span.start_ns;
	memory.end_ns = span.end_ns;
	add(finder, memory);
}

/* The nodes of one launch: those with the same address follow each other as they were made. */
static void follow_launch(struct finder *finder, gt_id row)
{
	const struct gt_graph_launch *launch = &finder->trace->graph_launches.rows[row];
	size_t at = gt_count_before(&finder->nodes, &launch->exec, by_exec);

	while (at < finder->nodes.count && finder->nodes.rows[at].exec == launch->exec) {
		const struct memory_node *node = &finder->nodes.rows[at++];
		const struct memory_node *next =
			at < finder->nodes.count ? &finder->nodes.rows[at] : NULL;
		struct gt_graph_memory memory = {.launch = row,
		                                 .made_by = node->frees ? GT_NONE : node->call,
		                                 .ended_by = node->frees ? node->call : GT_NONE,
		                                 .start_ns = launch->start_ns};

		if (!node->frees && next && next->exec == node->exec &&
		    next->address == node->address && next->frees) {
			memory.ended_by = next->call;
			at++;
			add_inner(finder, memory);
		} else {
			add(finder, memory);
		}
		if (finder->memories->cut)
			return;
	}
}

void gt_graph_memory_find(struct gt_trace *trace, struct gt_graph_memories *memories)
{
	struct finder finder = {.trace = trace, .memories = memories};

	*memories = (struct gt_graph_memories){0};
	tell_nodes(&finder);
	if (finder.nodes.count) {
		qsort(finder.nodes.rows, finder.nodes.count, sizeof(*finder.nodes.rows),
		      by_exec_and_address);
		measure(&finder);
		for (size_t i = 0; i < trace->graph_launches.count && !memories->cut; i++)
			if (trace->graph_launches.rows[i].result == 0)
				follow_launch(&finder, (gt_id)i);
	}
	gt_array_free(finder.spans);
	gt_array_release(&finder.nodes);
}

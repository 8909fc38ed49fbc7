/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/graphs/tables.h"

#include <stdlib.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/kinds/graph.h"
#include "model/names.h"

static const struct gt_heading graph_headings[] = {
	{"graph", GT_UNIT_TEXT, "CUPTI's number of it", GT_WORTH_KEY},
	{"made", GT_UNIT_TEXT, "How it was made", GT_WORTH_KEY},
	{"nodes", GT_UNIT_COUNT, "In it", GT_WORTH_KEY},
	{"kernels", GT_UNIT_COUNT, "Nodes that are kernels", GT_WORTH_KEY},
	{"copies", GT_UNIT_COUNT, "Nodes that copy memory"},
	{"fills", GT_UNIT_COUNT, "Nodes that fill memory"},
	{"host", GT_UNIT_COUNT, "Nodes that call a function of the host"},
	{"memory", GT_UNIT_COUNT, "Nodes that allocate or free memory"},
	{"children", GT_UNIT_COUNT, "Nodes that run another graph"},
	{"conditional", GT_UNIT_COUNT, "Nodes that run one while, or if, a value is set"},
	{"other", GT_UNIT_COUNT, "Other nodes: events, semaphores, empty ones"},
	{"dependencies", GT_UNIT_COUNT, "Dependencies of one node on another"},
	{"threads", GT_UNIT_COUNT, "Threads whose calls made its nodes"},
	{"create_ns", GT_UNIT_NS, "Time in the calls that made it and its nodes"},
	{"clone_of", GT_UNIT_TEXT, "Graph that it is a clone of", GT_WORTH_LITTLE},
	{"inside_of", GT_UNIT_TEXT, "Graph with the node that it is inside of", GT_WORTH_LITTLE},
	{"process", GT_UNIT_TEXT, "Process that it belongs to", GT_WORTH_LITTLE},
};

struct contents {
	uint64_t nodes;
	uint64_t of_type[GT_GRAPH_NODE_TYPES + 1];
	uint64_t dependencies;
	uint64_t threads;
	uint64_t create_ns;
	gt_id thread; /* of the node that was looked at last */
};

/* A node or a graph and the call that made it; each call counts once for a graph. */
struct maker {
	gt_id graph;
	gt_id api_call;
	gt_id thread;
};

static int by_graph_and_call(const void *a, const void *b)
{
	const struct maker *left = a;
	const struct maker *right = b;

	if (left->graph != right->graph)
		return left->graph < right->graph ? -1 : 1;
	return (left->api_call > right->api_call) - (left->api_call < right->api_call);
}

static int by_graph_and_thread(const void *a, const void *b)
{
	const struct maker *left = a;
	const struct maker *right = b;

	if (left->graph != right->graph)
		return left->graph < right->graph ? -1 : 1;
	return (left->thread > right->thread) - (left->thread < right->thread);
}

static uint64_t lasts_ns(const struct gt_trace *trace, gt_id call)
{
	const struct gt_api_call *row = &trace->api_calls.rows[call];

	return row->end_ns > row->start_ns ? (uint64_t)(row->end_ns - row->start_ns) : 0;
}

static void count_makers(const struct gt_trace *trace, struct contents *contents,
                         struct maker *makers, size_t count)
{
	if (count > 1)
		qsort(makers, count, sizeof(*makers), by_graph_and_call);
	for (size_t i = 0; i < count; i++)
		if (makers[i].api_call < trace->api_calls.count &&
		    (i == 0 || by_graph_and_call(&makers[i], &makers[i - 1]) != 0))
			contents[makers[i].graph].create_ns += lasts_ns(trace, makers[i].api_call);
	if (count > 1)
		qsort(makers, count, sizeof(*makers), by_graph_and_thread);
	for (size_t i = 0; i < count; i++)
		if (makers[i].thread < trace->threads.count &&
		    (i == 0 || by_graph_and_thread(&makers[i], &makers[i - 1]) != 0))
			contents[makers[i].graph].threads++;
}

static void find_makers(const struct gt_trace *trace, struct contents *contents)
{
	struct maker *makers =
		gt_allocate((trace->graph_nodes.count + trace->graphs.count) * sizeof(*makers));
	size_t count = 0;

	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes)
		if (node->graph < trace->graphs.count)
			makers[count++] = (struct maker){node->graph, node->api_call, node->thread};
	for (gt_id i = 0; i < trace->graphs.count; i++)
		makers[count++] = (struct maker){i, trace->graphs.rows[i].api_call,
		                                 trace->graphs.rows[i].thread};
	count_makers(trace, contents, makers, count);
	gt_array_free(makers);
}

/* By row of graphs; the caller frees it. */
static struct contents *contents_of(const struct gt_trace *trace)
{
	struct contents *contents = gt_allocate_zeroed(trace->graphs.count, sizeof(*contents));

	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes) {
		if (node->graph >= trace->graphs.count || node->end_ns)
			continue;
		contents[node->graph].nodes++;
		contents[node->graph]
			.of_type[node->type < GT_GRAPH_NODE_TYPES ? node->type
		                                                  : GT_GRAPH_NODE_TYPES]++;
	}
	gt_array_each(const struct gt_graph_dependency, dependency, &trace->graph_dependencies) {
		const gt_id graph = dependency->after < trace->graph_nodes.count
		                            ? trace->graph_nodes.rows[dependency->after].graph
		                            : GT_NONE;

		if (graph < trace->graphs.count)
			contents[graph].dependencies++;
	}
	find_makers(trace, contents);
	return contents;
}

static void add_contents(struct gt_result *result, const struct contents *contents)
{
	const uint64_t *of_type = contents->of_type;
	const uint64_t memory = of_type[GT_GRAPH_NODE_MEM_ALLOC] + of_type[GT_GRAPH_NODE_MEM_FREE];
	const uint64_t shown = of_type[GT_GRAPH_NODE_KERNEL] + of_type[GT_GRAPH_NODE_MEMCPY] +
	                       of_type[GT_GRAPH_NODE_MEMSET] + of_type[GT_GRAPH_NODE_HOST] +
	                       of_type[GT_GRAPH_NODE_GRAPH] + of_type[GT_GRAPH_NODE_CONDITIONAL] +
	                       memory;

	gt_result_add_count(result, (int64_t)contents->nodes);
	gt_result_add_count(result, (int64_t)of_type[GT_GRAPH_NODE_KERNEL]);
	gt_result_add_count(result, (int64_t)of_type[GT_GRAPH_NODE_MEMCPY]);
	gt_result_add_count(result, (int64_t)of_type[GT_GRAPH_NODE_MEMSET]);
	gt_result_add_count(result, (int64_t)of_type[GT_GRAPH_NODE_HOST]);
	gt_result_add_count(result, (int64_t)memory);
	gt_result_add_count(result, (int64_t)of_type[GT_GRAPH_NODE_GRAPH]);
	gt_result_add_count(result, (int64_t)of_type[GT_GRAPH_NODE_CONDITIONAL]);
	gt_result_add_count(result, (int64_t)(contents->nodes - shown));
}

static void add_graph(const struct gt_trace *trace, gt_id row, const struct contents *contents,
                      struct gt_result *result)
{
	const struct gt_graph *graph = &trace->graphs.rows[row];
	const gt_id outer = graph->parent < trace->graph_nodes.count
	                            ? trace->graph_nodes.rows[graph->parent].graph
	                            : GT_NONE;

	gt_graphs_add_graph_name(result, trace, row);
	gt_result_add_text(result, gt_graph_kind_name(graph->kind));
	add_contents(result, contents);
	gt_result_add_count(result, (int64_t)contents->dependencies);
	gt_result_add_count(result, (int64_t)contents->threads);
	gt_graphs_add_time(result, contents->create_ns > 0, contents->create_ns);
	gt_graphs_add_graph_name(result, trace, graph->original);
	gt_graphs_add_graph_name(result, trace, outer);
	gt_add_process(result, trace, graph->process);
}

void gt_graphs_add_contents(const struct gt_shown_graphs *graphs, struct gt_result *result)
{
	const struct gt_trace *trace = graphs->trace;
	struct contents *contents = contents_of(trace);
	size_t rows = 0;

	gt_result_begin(result, "graphs", graph_headings, GT_COUNT_OF(graph_headings));
	for (gt_id i = 0; i < trace->graphs.count; i++)
		if (trace->graphs.rows[i].kind != GT_GRAPH_INSIDE && rows++ < graphs->top)
			add_graph(trace, i, &contents[i], result);
	gt_result_top(result, rows, graphs->top);
	gt_array_free(contents);
}

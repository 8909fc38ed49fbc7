/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/time/graph_others.h"
#include "base/array.h"
#include "model/graphs/path.h"
#include "model/graphs/runs.h"
#include "model/kinds/graph.h"
#include "model/names.h"
#include "model/naming/short_name.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading run_headings[] = {
	{"exec", GT_UNIT_TEXT, "Executable graph: CUPTI's number of it, or its handle",
         GT_WORTH_KEY},
	{"graph", GT_UNIT_TEXT, "Graph that it was made from", GT_WORTH_KEY},
	{"launches", GT_UNIT_COUNT, "That did not fail", GT_WORTH_KEY},
	{"launch_ns", GT_UNIT_NS, "Mean time of the host in the call that launches", GT_WORTH_KEY},
	{"span_ns", GT_UNIT_NS,
         "Mean of a launch: from the start of its first kernel, copy or fill to the end of the last",
         GT_WORTH_KEY},
	{"busy_ns", GT_UNIT_NS,
         "Mean of the launches recorded node by node: when anything of the launch ran"},
	{"gap_ns", GT_UNIT_NS, "Mean of the same: their span less busy_ns, when nothing of it ran"},
	{"critical_ns", GT_UNIT_NS,
         "Longest way through the dependencies, each node as long as it runs at the mean"},
	{"lost_ns", GT_UNIT_NS, "Mean: busy_ns and gap_ns less critical_ns", GT_WORTH_KEY},
	{"lost_percent", GT_UNIT_PERCENT, "lost_ns of busy_ns and gap_ns", GT_WORTH_KEY},
	{"at_once", GT_UNIT_REAL, "Kernels, copies and fills that ran at a time while any did"},
	{"width", GT_UNIT_COUNT,
         "Most of them that are so many steps from the start: what could run at a time"},
	{"activities", GT_UNIT_REAL, "Kernels, copies and fills of a launch"},
	{"total_ns", GT_UNIT_NS,
         "busy_ns of all launches together; not known where some were recorded as a whole"},
	{"process", GT_UNIT_TEXT, "Process that it belongs to", GT_WORTH_LITTLE},
};

static const struct gt_heading exec_headings[] = {
	{"exec", GT_UNIT_TEXT, "Executable graph: CUPTI's number of it, or its handle",
         GT_WORTH_KEY},
	{"graph", GT_UNIT_TEXT, "Graph that it was made from", GT_WORTH_KEY},
	{"nodes", GT_UNIT_COUNT, "In it, also inside of child graphs and conditional nodes"},
	{"nodes_added", GT_UNIT_COUNT,
         "Nodes that the driver added for itself; they are in no other figure", GT_WORTH_LITTLE},
	{"instantiate_ns", GT_UNIT_NS, "Time of the call that made it", GT_WORTH_KEY},
	{"uploads", GT_UNIT_COUNT, "Calls that brought it to the GPU", GT_WORTH_LITTLE},
	{"upload_ns", GT_UNIT_NS, "Time in them"},
	{"updates", GT_UNIT_COUNT, "Calls that updated it from a graph", GT_WORTH_KEY},
	{"updates_failed", GT_UNIT_COUNT, "Those among them that failed", GT_WORTH_ORDINARY, true},
	{"update_ns", GT_UNIT_NS, "Time in them"},
	{"outcome", GT_UNIT_TEXT, "Why the last one that failed did", GT_WORTH_LITTLE},
	{"sets", GT_UNIT_COUNT, "Calls that set one of its nodes"},
	{"set_ns", GT_UNIT_NS, "Time in them", GT_WORTH_LITTLE},
	{"nodes_changed", GT_UNIT_COUNT, "Nodes that CUPTI said all these changed",
         GT_WORTH_LITTLE},
	{"process", GT_UNIT_TEXT, "Process that it belongs to", GT_WORTH_LITTLE},
};

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

static const struct gt_heading node_headings[] = {
	{"exec", GT_UNIT_TEXT, "Executable graph that it is in", GT_WORTH_KEY},
	{"node", GT_UNIT_TEXT, "CUPTI's number of it", GT_WORTH_LITTLE},
	{"type", GT_UNIT_TEXT, "Its action"},
	{"runs", GT_UNIT_COUNT, "Executions with times", GT_WORTH_KEY},
	{"per_launch", GT_UNIT_REAL, "runs, by the launches of its graph that ran something"},
	{"mean_ns", GT_UNIT_NS, "Time of one", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Time of all", GT_WORTH_KEY},
	{"critical", GT_UNIT_TEXT, "yes: on the longest way through its graph"},
	{"made_by", GT_UNIT_TEXT, "API call that made its origin: the launch that was captured"},
	{"thread", GT_UNIT_TEXT, "Thread id of that call", GT_WORTH_LITTLE},
	{"kernel", GT_UNIT_TEXT, "Kernel that it ran first", GT_WORTH_NAME},
};

static const struct gt_parameter parameters[] = {
	{"top", GT_PARAMETER_ROWS, "20",
         "Rows of tables runs, execs, graphs, nodes, compared and between"},
	{0},
};

enum { TOP }; /* arguments, as above */

/* Calls on an executable graph and their effects. */
struct changes {
	uint64_t calls[GT_GRAPH_CALL_LAUNCH + 1];
	uint64_t total_ns[GT_GRAPH_CALL_LAUNCH + 1];
	uint64_t updates_failed;
	uint64_t nodes_changed;
	int32_t outcome; /* of the last that failed */
};

struct exec {
	gt_id row;
	struct gt_exec_runs runs;
	struct gt_critical_path path;
	size_t first_node; /* in nodes_of_execs */
	size_t node_count;
};

struct graphs {
	const struct gt_trace *trace;
	uint64_t top;
	struct gt_graph_runs runs;
	struct exec *execs; /* as rows of the tables */
	size_t exec_count;
	gt_id *nodes;            /* of each of them, one behind the other */
	struct changes *changes; /* by row of graph_execs */
	bool *on_path;           /* by row of graph_nodes */
};

static double mean(uint64_t total, uint64_t count)
{
	return count ? (double)total / (double)count : NAN;
}

/* ---- what there is ---- */

static int by_time(const void *a, const void *b)
{
	const struct exec *left = a;
	const struct exec *right = b;

	if (left->runs.span_ns != right->runs.span_ns)
		return left->runs.span_ns < right->runs.span_ns ? 1 : -1;
	if (left->runs.launches != right->runs.launches)
		return left->runs.launches < right->runs.launches ? 1 : -1;
	return (left->row > right->row) - (left->row < right->row);
}

static void find_execs(struct graphs *graphs)
{
	const struct gt_trace *trace = graphs->trace;
	struct gt_exec_runs *runs = gt_exec_runs_of(&graphs->runs, trace);
	size_t *counts = gt_allocate_zeroed(trace->graph_execs.count, sizeof(*counts));
	size_t first = 0;

	graphs->exec_count = trace->graph_execs.count;
	graphs->execs = gt_allocate(graphs->exec_count * sizeof(*graphs->execs));
	graphs->nodes = gt_allocate(trace->graph_nodes.count * sizeof(*graphs->nodes));
	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes)
		if (node->exec < trace->graph_execs.count)
			counts[node->exec]++;
	for (size_t i = 0; i < graphs->exec_count; i++) {
		graphs->execs[i] =
			(struct exec){.row = (gt_id)i, .runs = runs[i], .first_node = first};
		first += counts[i];
	}
	for (gt_id i = 0; i < trace->graph_nodes.count; i++) {
		const gt_id exec = trace->graph_nodes.rows[i].exec;

		if (exec < trace->graph_execs.count)
			graphs->nodes[graphs->execs[exec].first_node +
			              graphs->execs[exec].node_count++] = i;
	}
	if (graphs->exec_count > 1)
		qsort(graphs->execs, graphs->exec_count, sizeof(*graphs->execs), by_time);
	gt_array_free(runs);
	gt_array_free(counts);
}

/* Paths of the executable graphs that are shown; each node as long as it ran in a launch. */
static void find_paths(struct graphs *graphs)
{
	const struct gt_trace *trace = graphs->trace;
	struct gt_critical_paths *paths = gt_critical_paths_new(trace);
	double *times_ns = gt_allocate_zeroed(trace->graph_nodes.count, sizeof(*times_ns));

	for (size_t i = 0; i < graphs->exec_count && i < graphs->top; i++) {
		struct exec *exec = &graphs->execs[i];
		const gt_id *nodes = &graphs->nodes[exec->first_node];

		for (size_t n = 0; n < exec->node_count && exec->runs.ran; n++)
			times_ns[nodes[n]] = (double)graphs->runs.of_node[nodes[n]].launched_ns /
			                     (double)exec->runs.ran;
		exec->path = gt_critical_path_of(paths, nodes, exec->node_count, times_ns,
		                                 graphs->on_path);
	}
	gt_array_free(times_ns);
	gt_critical_paths_free(paths);
}

static void find_changes(struct graphs *graphs)
{
	const struct gt_trace *trace = graphs->trace;

	graphs->changes = gt_allocate_zeroed(trace->graph_execs.count, sizeof(*graphs->changes));
	gt_array_each(const struct gt_graph_call, call, &trace->graph_calls) {
		struct changes *changes;

		if (call->exec >= trace->graph_execs.count || call->kind > GT_GRAPH_CALL_LAUNCH)
			continue;
		changes = &graphs->changes[call->exec];
		changes->calls[call->kind]++;
		if (call->end_ns > call->start_ns)
			changes->total_ns[call->kind] += (uint64_t)(call->end_ns - call->start_ns);
		changes->nodes_changed += call->nodes;
		if (call->kind == GT_GRAPH_CALL_UPDATE && call->result != 0) {
			changes->updates_failed++;
			changes->outcome = call->outcome;
		}
	}
}

/* ---- cells ---- */

static void add_exec_name(struct gt_result *result, const struct gt_trace *trace, gt_id row)
{
	const struct gt_graph_exec *exec;

	if (row >= trace->graph_execs.count) {
		gt_result_add_unknown(result);
		return;
	}
	exec = &trace->graph_execs.rows[row];
	if (exec->number)
		gt_result_add_format(result, "%u", exec->number);
	else
		gt_result_add_format(result, "0x%llx", (unsigned long long)exec->handle);
}

static void add_graph_name(struct gt_result *result, const struct gt_trace *trace, gt_id row)
{
	if (row < trace->graphs.count)
		gt_result_add_format(result, "%u", trace->graphs.rows[row].number);
	else
		gt_result_add_unknown(result);
}

static void add_time(struct gt_result *result, bool known, uint64_t ns)
{
	if (known)
		gt_result_add_count(result, (int64_t)ns);
	else
		gt_result_add_unknown(result);
}

/* Without dependencies the path is that of nodes that may all run at once, if there are several. */
static bool has_path(const struct graphs *graphs, const struct exec *exec)
{
	return exec->runs.ran > 0 && exec->node_count > 0 &&
	       (graphs->trace->graph_dependencies.count > 0 || exec->node_count == 1);
}

static void add_run(const struct graphs *graphs, const struct exec *exec, struct gt_result *result)
{
	const struct gt_graph_exec *row = &graphs->trace->graph_execs.rows[exec->row];
	const struct gt_exec_runs *runs = &exec->runs;
	const double critical_ns = has_path(graphs, exec) ? exec->path.length_ns : NAN;
	/* Mean of the launches that the path is of: with --graphs sampled they are few of all. */
	const double ran_ns = mean(runs->busy_ns + runs->gap_ns, runs->ran);

	add_exec_name(result, graphs->trace, exec->row);
	add_graph_name(result, graphs->trace, row->graph);
	gt_result_add_count(result, (int64_t)runs->launches);
	gt_add_rounded(result, mean(runs->call_ns, runs->called));
	gt_add_rounded(result, mean(runs->span_ns, runs->spanned));
	gt_add_rounded(result, mean(runs->busy_ns, runs->ran));
	gt_add_rounded(result, mean(runs->gap_ns, runs->ran));
	gt_add_rounded(result, critical_ns);
	gt_add_rounded(result, ran_ns - critical_ns);
	gt_result_add_real(result, gt_percent(ran_ns - critical_ns, ran_ns));
	gt_result_add_real(result, mean(runs->work_ns, runs->busy_ns));
	add_time(result, has_path(graphs, exec), exec->path.width);
	gt_result_add_real(result, mean(runs->activities, runs->ran));
	add_time(result, runs->ran > 0 && runs->ran == runs->spanned, runs->busy_ns);
	gt_add_process(result, graphs->trace, row->process);
}

static void add_runs(const struct graphs *graphs, struct gt_result *result)
{
	gt_result_begin(result, "runs", run_headings, GT_COUNT_OF(run_headings));
	for (size_t i = 0; i < graphs->exec_count && i < graphs->top; i++)
		add_run(graphs, &graphs->execs[i], result);
	gt_result_top(result, graphs->exec_count, graphs->top);
}

static void add_calls(struct gt_result *result, const struct changes *changes,
                      enum gt_graph_call_kind kind, bool known)
{
	gt_result_add_count_if(result, known, (int64_t)changes->calls[kind]);
	add_time(result, changes->calls[kind] > 0, changes->total_ns[kind]);
}

static void add_exec(const struct graphs *graphs, const struct exec *exec, struct gt_result *result)
{
	const struct gt_graph_exec *row = &graphs->trace->graph_execs.rows[exec->row];
	const struct changes *changes = &graphs->changes[exec->row];
	/* A recording from before graphs were recorded has none of these calls by itself. */
	const bool known = graphs->trace->graph_calls.count > 0 || !row->is_unknown;

	add_exec_name(result, graphs->trace, exec->row);
	add_graph_name(result, graphs->trace, row->graph);
	add_time(result, !row->is_unknown, exec->node_count);
	gt_result_add_count_if(result, !row->is_unknown, row->added_nodes);
	add_time(result, changes->calls[GT_GRAPH_CALL_INSTANTIATE] > 0,
	         changes->total_ns[GT_GRAPH_CALL_INSTANTIATE]);
	add_calls(result, changes, GT_GRAPH_CALL_UPLOAD, known);
	gt_result_add_count_if(result, known, (int64_t)changes->calls[GT_GRAPH_CALL_UPDATE]);
	gt_result_add_count_if(result, known, (int64_t)changes->updates_failed);
	add_time(result, changes->calls[GT_GRAPH_CALL_UPDATE] > 0,
	         changes->total_ns[GT_GRAPH_CALL_UPDATE]);
	if (changes->updates_failed)
		gt_result_add_text(result, gt_graph_outcome_name((uint32_t)changes->outcome));
	else
		gt_result_add_unknown(result);
	add_calls(result, changes, GT_GRAPH_CALL_SET_NODE, known);
	gt_result_add_count_if(result, known, (int64_t)changes->nodes_changed);
	gt_add_process(result, graphs->trace, row->process);
}

static void add_execs(const struct graphs *graphs, struct gt_result *result)
{
	gt_result_begin(result, "execs", exec_headings, GT_COUNT_OF(exec_headings));
	for (size_t i = 0; i < graphs->exec_count && i < graphs->top; i++)
		add_exec(graphs, &graphs->execs[i], result);
	gt_result_top(result, graphs->exec_count, graphs->top);
}

/* ---- graphs ---- */

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

	add_graph_name(result, trace, row);
	gt_result_add_text(result, gt_graph_kind_name(graph->kind));
	add_contents(result, contents);
	gt_result_add_count(result, (int64_t)contents->dependencies);
	gt_result_add_count(result, (int64_t)contents->threads);
	add_time(result, contents->create_ns > 0, contents->create_ns);
	add_graph_name(result, trace, graph->original);
	add_graph_name(result, trace, outer);
	gt_add_process(result, trace, graph->process);
}

/* Contents of executable graphs are their own affair: the graph they were made from is shown. */
static void add_graphs(const struct graphs *graphs, struct gt_result *result)
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

/* ---- nodes ---- */

struct shown_node {
	gt_id row;
	uint64_t total_ns;
};

static int by_total(const void *a, const void *b)
{
	const struct shown_node *left = a;
	const struct shown_node *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return (left->row > right->row) - (left->row < right->row);
}

static void add_origin(const struct gt_trace *trace, const struct gt_graph_node *node,
                       struct gt_result *result)
{
	const struct gt_graph_node *origin = node->origin < trace->graph_nodes.count
	                                             ? &trace->graph_nodes.rows[node->origin]
	                                             : node;

	gt_add_string(result, trace, origin->made_by);
	if (origin->thread < trace->threads.count)
		gt_result_add_format(result, "%u", trace->threads.rows[origin->thread].tid);
	else
		gt_result_add_unknown(result);
	if (node->shape < trace->launch_shapes.count)
		gt_result_add_text(result, gt_shape_name(trace, node->shape));
	else
		gt_result_add_unknown(result);
}

static void add_node(const struct graphs *graphs, gt_id row, const uint64_t *ran,
                     struct gt_result *result)
{
	const struct gt_trace *trace = graphs->trace;
	const struct gt_graph_node *node = &trace->graph_nodes.rows[row];
	const struct gt_node_runs *runs = &graphs->runs.of_node[row];

	add_exec_name(result, trace, node->exec);
	gt_result_add_format(result, "%llu", (unsigned long long)node->number);
	gt_result_add_text(result, gt_graph_node_type_name(node->type));
	gt_result_add_count(result, (int64_t)runs->runs);
	gt_result_add_real(result, node->exec < trace->graph_execs.count
	                                   ? mean(runs->runs, ran[node->exec])
	                                   : NAN);
	gt_add_rounded(result, mean(runs->total_ns, runs->runs));
	gt_result_add_count(result, (int64_t)runs->total_ns);
	if (graphs->on_path[row])
		gt_result_add_text(result, "yes");
	else
		gt_result_add_unknown(result);
	add_origin(trace, node, result);
}

static void add_nodes(const struct graphs *graphs, struct gt_result *result)
{
	const struct gt_trace *trace = graphs->trace;
	struct shown_node *nodes = gt_allocate(trace->graph_nodes.count * sizeof(*nodes));
	uint64_t *ran = gt_allocate_zeroed(trace->graph_execs.count, sizeof(*ran));
	size_t count = 0;

	for (size_t i = 0; i < graphs->exec_count; i++)
		ran[graphs->execs[i].row] = graphs->execs[i].runs.ran;
	for (gt_id i = 0; i < trace->graph_nodes.count; i++)
		if (graphs->runs.of_node[i].runs > 0)
			nodes[count++] = (struct shown_node){i, graphs->runs.of_node[i].total_ns};
	if (count > 1)
		qsort(nodes, count, sizeof(*nodes), by_total);
	gt_result_begin(result, "nodes", node_headings, GT_COUNT_OF(node_headings));
	for (size_t i = 0; i < count && i < graphs->top; i++)
		add_node(graphs, nodes[i].row, ran, result);
	gt_result_top(result, count, graphs->top);
	gt_array_free(nodes);
	gt_array_free(ran);
}

static void remark_wholes(const struct gt_trace *trace, struct gt_result *result)
{
	uint64_t activities = 0;
	uint64_t work_ns = 0;

	gt_array_each(const struct gt_graph_trace, whole, &trace->graph_traces) {
		activities += whole->activities;
		work_ns += whole->work_ns;
	}
	if (activities)
		gt_result_remark(result,
		                 "%s launches were recorded as a whole (--graphs sampled): their "
		                 "span_ns is known, and that %s kernels, copies and fills ran in "
		                 "them for %.3f ms together.",
		                 gt_grouped(trace->graph_traces.count).text,
		                 gt_grouped(activities).text, (double)work_ns / 1e6);
	else if (trace->graph_traces.count > 0)
		gt_result_remark(result,
		                 "%s launches were recorded as a whole (--graphs graph): their "
		                 "span_ns is known, what ran in them is not.",
		                 gt_grouped(trace->graph_traces.count).text);
}

static void add_remarks(const struct graphs *graphs, struct gt_result *result)
{
	const struct gt_trace *trace = graphs->trace;
	uint64_t unknown = 0;

	if (trace->graph_launches.count + trace->graph_execs.count + trace->graphs.count == 0) {
		gt_result_remark_empty(result, "No CUDA graph was recorded.");
		return;
	}
	gt_array_each(const struct gt_graph_exec, exec, &trace->graph_execs)
		unknown += exec->is_unknown;
	if (unknown)
		gt_result_remark(result,
		                 "What %s executable graph%s of is not known: made before "
		                 "recording began, or recorded before gputrace recorded graphs.",
		                 gt_grouped(unknown).text,
		                 unknown == 1 ? " consists" : "s consist");
	remark_wholes(trace, result);
	if (trace->graph_launches.count > 0 && trace->api_calls.count == 0)
		gt_result_remark(result,
		                 "%s: what a launch ran, and how long its call took, is not "
		                 "measured.",
		                 gt_no_calls(trace));
	if (trace->graph_nodes.count > 0 && trace->graph_dependencies.count == 0)
		gt_result_remark(result, "Dependencies of nodes are not in the recording: "
		                         "critical_ns, lost_ns and width are not measured.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct graphs graphs = {.trace = view->trace, .top = arguments->values[TOP].number};

	(void)err;
	gt_graph_runs_init(&graphs.runs, graphs.trace);
	graphs.on_path =
		gt_allocate_zeroed(graphs.trace->graph_nodes.count, sizeof(*graphs.on_path));
	find_execs(&graphs);
	find_paths(&graphs);
	find_changes(&graphs);
	gt_add_graph_share(result, graphs.trace);
	add_runs(&graphs, result);
	add_execs(&graphs, result);
	add_graphs(&graphs, result);
	add_nodes(&graphs, result);
	gt_add_graph_compared(result, graphs.trace, &graphs.runs, graphs.top);
	gt_add_graph_between(result, graphs.trace, graphs.top);
	add_remarks(&graphs, result);
	gt_graph_runs_release(&graphs.runs);
	gt_array_free(graphs.on_path);
	gt_array_free(graphs.execs);
	gt_array_free(graphs.nodes);
	gt_array_free(graphs.changes);
	return 0;
}

const struct gt_report gt_report_graphs = {
	.name = "graphs",
	.summary =
		"What CUDA graphs cost to make and to launch, how long they ran and what is lost in them",
	.parameters = parameters,
	.run = run,
};

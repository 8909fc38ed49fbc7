/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/graphs/tables.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/kinds/graph.h"
#include "model/names.h"

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

static int by_time(const void *a, const void *b)
{
	const struct gt_shown_exec *left = a;
	const struct gt_shown_exec *right = b;

	if (left->runs.span_ns != right->runs.span_ns)
		return left->runs.span_ns < right->runs.span_ns ? 1 : -1;
	if (left->runs.launches != right->runs.launches)
		return left->runs.launches < right->runs.launches ? 1 : -1;
	return (left->row > right->row) - (left->row < right->row);
}

void gt_graphs_find_execs(struct gt_shown_graphs *graphs)
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
		graphs->execs[i] = (struct gt_shown_exec){
			.row = (gt_id)i, .runs = runs[i], .first_node = first};
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

void gt_graphs_find_paths(struct gt_shown_graphs *graphs)
{
	const struct gt_trace *trace = graphs->trace;
	struct gt_critical_paths *paths = gt_critical_paths_new(trace);
	double *times_ns = gt_allocate_zeroed(trace->graph_nodes.count, sizeof(*times_ns));

	for (size_t i = 0; i < graphs->exec_count && i < graphs->top; i++) {
		struct gt_shown_exec *exec = &graphs->execs[i];
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

void gt_graphs_find_changes(struct gt_shown_graphs *graphs)
{
	const struct gt_trace *trace = graphs->trace;

	graphs->changes = gt_allocate_zeroed(trace->graph_execs.count, sizeof(*graphs->changes));
	gt_array_each(const struct gt_graph_call, call, &trace->graph_calls) {
		struct gt_exec_changes *changes;

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

/* Without dependencies the path is that of nodes that may all run at once, if there are several. */
static bool has_path(const struct gt_shown_graphs *graphs, const struct gt_shown_exec *exec)
{
	return exec->runs.ran > 0 && exec->node_count > 0 &&
	       (graphs->trace->graph_dependencies.count > 0 || exec->node_count == 1);
}

static void add_run(const struct gt_shown_graphs *graphs, const struct gt_shown_exec *exec,
                    struct gt_result *result)
{
	const struct gt_graph_exec *row = &graphs->trace->graph_execs.rows[exec->row];
	const struct gt_exec_runs *runs = &exec->runs;
	const double critical_ns = has_path(graphs, exec) ? exec->path.length_ns : NAN;
	/* Mean of the launches that the path is of: with --graphs sampled they are few of all. */
	const double ran_ns = gt_graphs_mean(runs->busy_ns + runs->gap_ns, runs->ran);

	gt_graphs_add_exec_name(result, graphs->trace, exec->row);
	gt_graphs_add_graph_name(result, graphs->trace, row->graph);
	gt_result_add_count(result, (int64_t)runs->launches);
	gt_add_rounded(result, gt_graphs_mean(runs->call_ns, runs->called));
	gt_add_rounded(result, gt_graphs_mean(runs->span_ns, runs->spanned));
	gt_add_rounded(result, gt_graphs_mean(runs->busy_ns, runs->ran));
	gt_add_rounded(result, gt_graphs_mean(runs->gap_ns, runs->ran));
	gt_add_rounded(result, critical_ns);
	gt_add_rounded(result, ran_ns - critical_ns);
	gt_result_add_real(result, gt_percent(ran_ns - critical_ns, ran_ns));
	gt_result_add_real(result, gt_graphs_mean(runs->work_ns, runs->busy_ns));
	gt_graphs_add_time(result, has_path(graphs, exec), exec->path.width);
	gt_result_add_real(result, gt_graphs_mean(runs->activities, runs->ran));
	gt_graphs_add_time(result, runs->ran > 0 && runs->ran == runs->spanned, runs->busy_ns);
	gt_add_process(result, graphs->trace, row->process);
}

void gt_graphs_add_runs(const struct gt_shown_graphs *graphs, struct gt_result *result)
{
	gt_result_begin(result, "runs", run_headings, GT_COUNT_OF(run_headings));
	for (size_t i = 0; i < graphs->exec_count && i < graphs->top; i++)
		add_run(graphs, &graphs->execs[i], result);
	gt_result_top(result, graphs->exec_count, graphs->top);
}

static void add_calls(struct gt_result *result, const struct gt_exec_changes *changes,
                      enum gt_graph_call_kind kind, bool known)
{
	gt_result_add_count_if(result, known, (int64_t)changes->calls[kind]);
	gt_graphs_add_time(result, changes->calls[kind] > 0, changes->total_ns[kind]);
}

static void add_exec(const struct gt_shown_graphs *graphs, const struct gt_shown_exec *exec,
                     struct gt_result *result)
{
	const struct gt_graph_exec *row = &graphs->trace->graph_execs.rows[exec->row];
	const struct gt_exec_changes *changes = &graphs->changes[exec->row];
	/* A recording from before graphs were recorded has none of these calls by itself. */
	const bool known = graphs->trace->graph_calls.count > 0 || !row->is_unknown;

	gt_graphs_add_exec_name(result, graphs->trace, exec->row);
	gt_graphs_add_graph_name(result, graphs->trace, row->graph);
	gt_graphs_add_time(result, !row->is_unknown, exec->node_count);
	gt_result_add_count_if(result, !row->is_unknown, row->added_nodes);
	gt_graphs_add_time(result, changes->calls[GT_GRAPH_CALL_INSTANTIATE] > 0,
	                   changes->total_ns[GT_GRAPH_CALL_INSTANTIATE]);
	add_calls(result, changes, GT_GRAPH_CALL_UPLOAD, known);
	gt_result_add_count_if(result, known, (int64_t)changes->calls[GT_GRAPH_CALL_UPDATE]);
	gt_result_add_count_if(result, known, (int64_t)changes->updates_failed);
	gt_graphs_add_time(result, changes->calls[GT_GRAPH_CALL_UPDATE] > 0,
	                   changes->total_ns[GT_GRAPH_CALL_UPDATE]);
	if (changes->updates_failed)
		gt_result_add_text(result, gt_graph_outcome_name((uint32_t)changes->outcome));
	else
		gt_result_add_unknown(result);
	add_calls(result, changes, GT_GRAPH_CALL_SET_NODE, known);
	gt_result_add_count_if(result, known, (int64_t)changes->nodes_changed);
	gt_add_process(result, graphs->trace, row->process);
}

void gt_graphs_add_execs(const struct gt_shown_graphs *graphs, struct gt_result *result)
{
	gt_result_begin(result, "execs", exec_headings, GT_COUNT_OF(exec_headings));
	for (size_t i = 0; i < graphs->exec_count && i < graphs->top; i++)
		add_exec(graphs, &graphs->execs[i], result);
	gt_result_top(result, graphs->exec_count, graphs->top);
}

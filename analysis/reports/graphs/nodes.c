/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/graphs/tables.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/names.h"
#include "model/naming/shape_names.h"

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

static void add_node(const struct gt_shown_graphs *graphs, gt_id row, const uint64_t *ran,
                     struct gt_result *result)
{
	const struct gt_trace *trace = graphs->trace;
	const struct gt_graph_node *node = &trace->graph_nodes.rows[row];
	const struct gt_node_runs *runs = &graphs->runs.of_node[row];

	gt_graphs_add_exec_name(result, trace, node->exec);
	gt_result_add_format(result, "%llu", (unsigned long long)node->number);
	gt_result_add_text(result, gt_graph_node_type_name(node->type));
	gt_result_add_count(result, (int64_t)runs->runs);
	gt_result_add_real(result, node->exec < trace->graph_execs.count
	                                   ? gt_graphs_mean(runs->runs, ran[node->exec])
	                                   : NAN);
	gt_add_rounded(result, gt_graphs_mean(runs->total_ns, runs->runs));
	gt_result_add_count(result, (int64_t)runs->total_ns);
	if (graphs->on_path[row])
		gt_result_add_text(result, "yes");
	else
		gt_result_add_unknown(result);
	add_origin(trace, node, result);
}

void gt_graphs_add_nodes(const struct gt_shown_graphs *graphs, struct gt_result *result)
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

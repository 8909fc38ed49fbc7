/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/reports/graphs/tables.h"
#include "analysis/result.h"
#include "analysis/time/graph_others.h"
#include "base/array.h"
#include "model/graphs/runs.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_parameter parameters[] = {
	{"top", GT_PARAMETER_ROWS, "20",
         "Rows of tables runs, execs, graphs, nodes, compared and between"},
	{0},
};

enum { TOP }; /* arguments, as above */

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

static void add_remarks(const struct gt_shown_graphs *graphs, struct gt_result *result)
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
	struct gt_shown_graphs graphs = {.trace = view->trace,
	                                 .top = arguments->values[TOP].number};

	(void)err;
	gt_graph_runs_init(&graphs.runs, graphs.trace);
	graphs.on_path =
		gt_allocate_zeroed(graphs.trace->graph_nodes.count, sizeof(*graphs.on_path));
	gt_graphs_find_execs(&graphs);
	gt_graphs_find_paths(&graphs);
	gt_graphs_find_changes(&graphs);
	gt_add_graph_share(result, graphs.trace);
	gt_graphs_add_runs(&graphs, result);
	gt_graphs_add_nodes(&graphs, result);
	gt_graphs_add_execs(&graphs, result);
	gt_graphs_add_contents(&graphs, result);
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

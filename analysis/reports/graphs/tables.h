/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_GRAPHS_TABLES_H
#define GT_ANALYSIS_REPORTS_GRAPHS_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/result.h"
#include "model/graphs/path.h"
#include "model/graphs/runs.h"
#include "model/kinds/graph.h"
#include "model/trace.h"

/* Tables of the report graphs. Each is a section of the result. */

/* Calls on an executable graph and their effects. */
struct gt_exec_changes {
	uint64_t calls[GT_GRAPH_CALL_LAUNCH + 1];
	uint64_t total_ns[GT_GRAPH_CALL_LAUNCH + 1];
	uint64_t updates_failed;
	uint64_t nodes_changed;
	int32_t outcome; /* of the last that failed */
};

struct gt_shown_exec {
	gt_id row;
	struct gt_exec_runs runs;
	struct gt_critical_path path;
	size_t first_node; /* in nodes_of_execs */
	size_t node_count;
};

struct gt_shown_graphs {
	const struct gt_trace *trace;
	uint64_t top;
	struct gt_graph_runs runs;
	struct gt_shown_exec *execs; /* as rows of the tables */
	size_t exec_count;
	gt_id *nodes;                    /* of each of them, one behind the other */
	struct gt_exec_changes *changes; /* by row of graph_execs */
	bool *on_path;                   /* by row of graph_nodes */
};

/* NAN where there is nothing to divide by. */
double gt_graphs_mean(uint64_t total, uint64_t count);

/* Cells. */
void gt_graphs_add_exec_name(struct gt_result *result, const struct gt_trace *trace, gt_id row);
void gt_graphs_add_graph_name(struct gt_result *result, const struct gt_trace *trace, gt_id row);
void gt_graphs_add_time(struct gt_result *result, bool known, uint64_t ns);

/* Executable graphs, those that ran longest first. */
void gt_graphs_find_execs(struct gt_shown_graphs *graphs);

/* Paths of the executable graphs that are shown; each node as long as it ran in a launch. */
void gt_graphs_find_paths(struct gt_shown_graphs *graphs);

/* Calls on executable graphs. */
void gt_graphs_find_changes(struct gt_shown_graphs *graphs);

/* The tables runs and execs. */
void gt_graphs_add_runs(const struct gt_shown_graphs *graphs, struct gt_result *result);
void gt_graphs_add_execs(const struct gt_shown_graphs *graphs, struct gt_result *result);

/* Contents of executable graphs are their own affair: the graph they were made from is shown. */
void gt_graphs_add_contents(const struct gt_shown_graphs *graphs, struct gt_result *result);
void gt_graphs_add_nodes(const struct gt_shown_graphs *graphs, struct gt_result *result);

#endif

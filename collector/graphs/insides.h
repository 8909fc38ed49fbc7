/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_GRAPHS_INSIDES_H
#define GT_COLLECTOR_GRAPHS_INSIDES_H

#include "model/trace.h"

/*
 * The nodes inside of child graphs and conditional nodes of an executable graph. CUPTI tells of
 * those nodes when the graph becomes executable, with a graph of their own; in the records of
 * activity they have other numbers, which it never tells: they follow those of the nodes on top.
 * For each node on top, in its order, come all nodes of the graph inside of it, and after them, for
 * each of these, all that is inside of it. (Seen with CUPTI 13.0 and driver 580.159 on an H200;
 * samples/graph_nested.cu shows it.) Where an activity contradicts, because it ran on a node that
 * cannot run, nothing is said of that executable graph.
 */
struct gt_graph_insides;

/* The trace's graphs, nodes and types must be linked. The caller frees the result. */
struct gt_graph_insides *gt_graph_insides_new(const struct gt_trace *trace);

/* The row of the node that activity of a process calls number; GT_NONE: it is none of these. */
gt_id gt_graph_insides_find(const struct gt_graph_insides *insides, gt_id process, gt_wide number);

void gt_graph_insides_free(struct gt_graph_insides *insides);

#endif

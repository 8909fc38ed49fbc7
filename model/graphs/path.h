/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GRAPHS_PATH_H
#define GT_MODEL_GRAPHS_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * How long an executable CUDA graph takes at the least, and how much of it could run at a time: the
 * longest way through the dependencies of its nodes, each as long as it ran. The nodes of an
 * executable graph are clones: they depend on each other as their originals do. Nodes inside of a
 * child graph or a conditional node are a way through that node.
 */
struct gt_critical_paths;

struct gt_critical_path {
	double length_ns;
	uint64_t width; /* most kernels, copies and fills that are so many steps from the start */
	uint64_t dependencies; /* between the nodes; 0: all may run at once, or nobody told of them */
};

/* Places of nodes in a list. */
struct gt_graph_edge {
	gt_id from;
	gt_id to;
};

/* For qsort: by where they lead to, then by where they come from. */
int gt_graph_edge_by_to(const void *a, const void *b);

struct gt_graph_edges {
	gt_array(struct gt_graph_edge) list;
};

struct gt_critical_paths *gt_critical_paths_new(const struct gt_trace *trace);
void gt_critical_paths_free(struct gt_critical_paths *paths);

/*
 * The path through some nodes, rows of graph_nodes that are one executable graph. times_ns, by row
 * of graph_nodes: what the node ran in a launch. on_path, likewise: set for nodes on the path, left
 * as it is for the others.
 */
struct gt_critical_path gt_critical_path_of(struct gt_critical_paths *paths, const gt_id *nodes,
                                            size_t count, const double *times_ns, bool *on_path);

/*
 * Which of the nodes that run on the GPU wait for which, through those that do not, into and out of
 * child graphs and conditional nodes: added to the edges, each once. The nodes are as above.
 */
void gt_graph_edges_add(struct gt_critical_paths *paths, const gt_id *nodes, size_t count,
                        struct gt_graph_edges *edges);

#endif

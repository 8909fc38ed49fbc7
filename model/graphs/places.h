/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GRAPHS_PLACES_H
#define GT_MODEL_GRAPHS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/graphs/path.h"

/*
 * Nodes of one executable graph at hand, by place: what each is inside of, and the edges between
 * them. For model/graphs/path.c and edges.c alone.
 */

struct gt_critical_paths {
	const struct gt_trace *trace;
	size_t *ends;   /* by origin of the node after: where its part of earlier ends */
	gt_id *earlier; /* origins of the nodes before */
	gt_id *places;  /* by node: where its clone stands in the path at hand; GT_NONE */
};

struct gt_graph_place {
	gt_id node;
	gt_id graph; /* that the original is in */
	gt_id origin;
	gt_id parent; /* place of the node that this one is inside of; GT_NONE: none */
	uint32_t depth;
	uint32_t level;   /* steps from the start of its graph */
	uint32_t waiting; /* for so many others */
	double own_ns;
	double inside_ns; /* longest way through what is inside of it */
	double end_ns;    /* of the longest way to and through it */
	gt_id last;       /* place before it on that way */
	uint64_t width;   /* of what is inside of it; 1: it runs itself */
	bool on_path;
};

/* A path in the making. */
struct gt_graph_path {
	struct gt_critical_paths *paths;
	struct gt_index *index;
	struct gt_graph_place *places;
	size_t count;
	gt_array(struct gt_graph_edge) edges; /* sorted by from */
	size_t *first_edges;                  /* by place; one more than there are */
	gt_id *queue;
	struct gt_critical_path found;
};

void gt_graph_path_init(struct gt_graph_path *path, struct gt_critical_paths *paths, size_t count);
void gt_graph_path_release(struct gt_graph_path *path);

/* times_ns: what each node ran; NULL: that is not asked. */
void gt_graph_path_add_places(struct gt_graph_path *path, const gt_id *nodes,
                              const double *times_ns);

/*
 * Returns how deep places are inside of others. A place inside of nothing, or of itself as damage
 * has it, is on top.
 */
uint32_t gt_graph_path_find_parents(struct gt_graph_path *path);

/* Edges between places, sorted by from. */
void gt_graph_path_add_edges(struct gt_graph_path *path);

#endif

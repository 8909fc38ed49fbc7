/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_PATH_EDGES_H
#define GT_MODEL_PATH_EDGES_H

#include "model/path/path.h"

/* How the edges of a path are found. For model/path/ alone. */

/* An edge from the end of an item to a point; not in order until gt_path_sort_extras. */
void gt_path_add_edge(struct gt_path *path, gt_id from, gt_point to, enum gt_path_edge_kind kind,
                      bool assumed);
void gt_path_sort_extras(struct gt_path *path);

/* Medians of what clear edges take, from all over the trace; once extras are in order. */
void gt_path_find_typical(struct gt_path *path);

/* Whether an item is an API call. */
bool gt_path_is_call(const struct gt_path *path, gt_id item);

/* The item that ended last of the graph that a call launched; GT_NONE: it launched none. */
gt_id gt_path_last_of_launch(const struct gt_path *path, gt_id api_call);

/* Streams, graphs and the default stream's rules. */
void gt_path_add_streams(struct gt_path *path);

/* Waits of calls and streams. */
void gt_path_add_waits(struct gt_path *path);

/*
 * Edges that nobody recorded: threads that hand over to each other; once extras are in order, room
 * on the GPU, and what waits were for where that is not known.
 */
void gt_path_add_threads(struct gt_path *path);
void gt_path_add_room(struct gt_path *path);
void gt_path_add_unlinked(struct gt_path *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/graphs/path.h"

#include <stdlib.h>

#include "model/graphs/places.h"

static void finish_place(struct gt_graph_path *path, struct gt_graph_place *place)
{
	place->end_ns += place->own_ns + place->inside_ns;
	if (place->parent == GT_NONE) {
		if (place->end_ns > path->found.length_ns)
			path->found.length_ns = place->end_ns;
	} else if (place->end_ns > path->places[place->parent].inside_ns) {
		path->places[place->parent].inside_ns = place->end_ns;
	}
}

static void tell_next(struct gt_graph_path *path, gt_id from, gt_id to)
{
	struct gt_graph_place *next = &path->places[to];

	/* At first the end of the way to it. */
	if (next->last == GT_NONE || path->places[from].end_ns > next->end_ns) {
		next->end_ns = path->places[from].end_ns;
		next->last = from;
	}
	if (path->places[from].level + 1 > next->level)
		next->level = path->places[from].level + 1;
}

/* One after the other, each when all before it are done; what goes in circles never is. */
static void walk(struct gt_graph_path *path, uint32_t depth)
{
	size_t first = 0;
	size_t end = 0;

	for (gt_id i = 0; i < path->count; i++)
		if (path->places[i].depth == depth && path->places[i].waiting == 0)
			path->queue[end++] = i;
	while (first < end) {
		const gt_id from = path->queue[first++];

		finish_place(path, &path->places[from]);
		for (size_t i = path->first_edges[from]; i < path->first_edges[from + 1]; i++) {
			const gt_id to = path->edges.rows[i].to;

			tell_next(path, from, to);
			if (--path->places[to].waiting == 0 && path->places[to].depth == depth)
				path->queue[end++] = to;
		}
	}
}

/* Places at one level of one graph. */
struct row {
	gt_id parent;
	uint32_t level;
	uint64_t width;
};

static int by_parent_and_level(const void *a, const void *b)
{
	const struct row *left = a;
	const struct row *right = b;

	if (left->parent != right->parent)
		return left->parent < right->parent ? -1 : 1;
	return (left->level > right->level) - (left->level < right->level);
}

static void find_width(struct gt_graph_path *path, uint32_t depth)
{
	struct row *rows = gt_allocate(path->count * sizeof(*rows));
	size_t count = 0;
	uint64_t width = 0;

	for (size_t i = 0; i < path->count; i++)
		if (path->places[i].depth == depth)
			rows[count++] = (struct row){path->places[i].parent, path->places[i].level,
			                             path->places[i].width};
	if (count > 1)
		qsort(rows, count, sizeof(*rows), by_parent_and_level);
	for (size_t i = 0; i < count; i++) {
		uint64_t *most = rows[i].parent == GT_NONE ? &path->found.width
		                                           : &path->places[rows[i].parent].width;

		width = i > 0 && by_parent_and_level(&rows[i], &rows[i - 1]) == 0
		                ? width + rows[i].width
		                : rows[i].width;
		if (width > *most)
			*most = width;
	}
	gt_array_free(rows);
}

static double goal_of(const struct gt_graph_path *path, const struct gt_graph_place *place)
{
	return place->parent == GT_NONE ? path->found.length_ns
	                                : path->places[place->parent].inside_ns;
}

static bool is_entered(const struct gt_graph_path *path, const struct gt_graph_place *place)
{
	return place->parent == GT_NONE || path->places[place->parent].on_path;
}

/* From the last place of each graph on the path back to its first. */
static void mark(struct gt_graph_path *path, uint32_t depth, bool *on_path)
{
	for (gt_id i = 0; i < path->count; i++) {
		struct gt_graph_place *place = &path->places[i];

		if (place->depth != depth || place->end_ns <= 0 || !is_entered(path, place) ||
		    place->end_ns < goal_of(path, place))
			continue;
		for (gt_id at = i; at != GT_NONE && !path->places[at].on_path;
		     at = path->places[at].last) {
			path->places[at].on_path = true;
			on_path[path->places[at].node] = true;
		}
	}
}

struct gt_critical_path gt_critical_path_of(struct gt_critical_paths *paths, const gt_id *nodes,
                                            size_t count, const double *times_ns, bool *on_path)
{
	struct gt_graph_path path;
	uint32_t deepest;

	gt_graph_path_init(&path, paths, count);
	gt_graph_path_add_places(&path, nodes, times_ns);
	deepest = gt_graph_path_find_parents(&path);
	gt_graph_path_add_edges(&path);
	for (uint32_t depth = deepest + 1; depth-- > 0;) {
		walk(&path, depth);
		find_width(&path, depth);
	}
	for (uint32_t depth = 0; depth <= deepest; depth++)
		mark(&path, depth, on_path);
	path.found.dependencies = path.edges.count;
	gt_graph_path_release(&path);
	return path.found;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/graphs/places.h"

#include <stdlib.h>
#include <string.h>

#include "model/index.h"
#include "model/kinds/graph.h"

enum { DEEPEST = 32 }; /* graphs inside graphs that are followed; CUDA's own limit is less */

/* Nodes are told apart by the graph that their originals are in, and the origins. */
struct key {
	gt_id graph;
	gt_id origin;
};

static gt_id origin_of(const struct gt_trace *trace, gt_id node)
{
	const gt_id origin = trace->graph_nodes.rows[node].origin;

	return origin < trace->graph_nodes.count ? origin : node;
}

static bool are_known(const struct gt_trace *trace, const struct gt_graph_dependency *dependency)
{
	return dependency->before < trace->graph_nodes.count &&
	       dependency->after < trace->graph_nodes.count;
}

struct gt_critical_paths *gt_critical_paths_new(const struct gt_trace *trace)
{
	struct gt_critical_paths *paths = gt_allocate(sizeof(*paths));
	const size_t count = trace->graph_nodes.count;
	size_t sum = 0;

	*paths = (struct gt_critical_paths){
		.trace = trace,
		.ends = gt_allocate((count + 1) * sizeof(*paths->ends)),
		.earlier = gt_allocate(trace->graph_dependencies.count * sizeof(*paths->earlier)),
		.places = gt_allocate(count * sizeof(*paths->places)),
	};
	memset(paths->ends, 0, (count + 1) * sizeof(*paths->ends));
	memset(paths->places, 0xff, count * sizeof(*paths->places));
	gt_array_each(const struct gt_graph_dependency, dependency, &trace->graph_dependencies)
		if (are_known(trace, dependency))
			paths->ends[origin_of(trace, dependency->after)]++;
	for (size_t i = 0; i < count; i++) {
		const size_t own = paths->ends[i];

		paths->ends[i] = sum; /* until all are in: where the next goes */
		sum += own;
	}
	gt_array_each(const struct gt_graph_dependency, dependency, &trace->graph_dependencies)
		if (are_known(trace, dependency))
			paths->earlier[paths->ends[origin_of(trace, dependency->after)]++] =
				origin_of(trace, dependency->before);
	return paths;
}

void gt_critical_paths_free(struct gt_critical_paths *paths)
{
	if (!paths)
		return;
	gt_array_free(paths->ends);
	gt_array_free(paths->earlier);
	gt_array_free(paths->places);
	gt_array_free(paths);
}

void gt_graph_path_add_places(struct gt_graph_path *path, const gt_id *nodes,
                              const double *times_ns)
{
	const struct gt_trace *trace = path->paths->trace;

	for (size_t i = 0; i < path->count; i++) {
		const struct gt_graph_node *node = &trace->graph_nodes.rows[nodes[i]];
		const gt_id original =
			node->original < trace->graph_nodes.count ? node->original : nodes[i];

		path->places[i] = (struct gt_graph_place){
			.node = nodes[i],
			.graph = trace->graph_nodes.rows[original].graph,
			.origin = origin_of(trace, nodes[i]),
			.parent = GT_NONE,
			.own_ns = times_ns ? times_ns[nodes[i]] : 0,
			.last = GT_NONE,
			.width = gt_graph_node_runs(node->type),
		};
		path->paths->places[original] = (gt_id)i;
	}
}

static gt_id parent_of(const struct gt_graph_path *path, const struct gt_graph_place *place)
{
	const struct gt_trace *trace = path->paths->trace;
	const gt_id node = place->graph < trace->graphs.count
	                           ? trace->graphs.rows[place->graph].parent
	                           : GT_NONE;

	return node < trace->graph_nodes.count ? path->paths->places[node] : GT_NONE;
}

uint32_t gt_graph_path_find_parents(struct gt_graph_path *path)
{
	uint32_t deepest = 0;

	for (size_t i = 0; i < path->count; i++)
		path->places[i].parent = parent_of(path, &path->places[i]);
	for (size_t i = 0; i < path->count; i++) {
		struct gt_graph_place *place = &path->places[i];
		gt_id up = place->parent;

		while (up != GT_NONE && place->depth < DEEPEST) {
			place->depth++;
			up = path->places[up].parent;
		}
		if (place->depth > deepest)
			deepest = place->depth;
	}
	return deepest;
}

static int by_from(const void *a, const void *b)
{
	const struct gt_graph_edge *left = a;
	const struct gt_graph_edge *right = b;

	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return (left->to > right->to) - (left->to < right->to);
}

static void add_edges_to(struct gt_graph_path *path, const gt_id *place_of_number, size_t numbers,
                         gt_id to)
{
	const struct gt_critical_paths *paths = path->paths;
	const struct gt_graph_place *place = &path->places[to];
	const size_t end = paths->ends[place->origin];

	for (size_t i = place->origin ? paths->ends[place->origin - 1] : 0; i < end; i++) {
		const struct key key = {place->graph, paths->earlier[i]};
		const size_t number = gt_index_add(path->index, &key);

		if (number < numbers && place_of_number[number] != to)
			*gt_array_push(&path->edges) =
				(struct gt_graph_edge){place_of_number[number], to};
	}
}

/* Each edge once: clones may have brought those of their originals with them. */
static void sort_edges(struct gt_graph_path *path)
{
	struct gt_graph_edge *rows = path->edges.rows;
	size_t kept = 0;
	size_t at = 0;

	if (path->edges.count > 1)
		qsort(rows, path->edges.count, sizeof(*rows), by_from);
	for (size_t i = 0; i < path->edges.count; i++)
		if (i == 0 || by_from(&rows[i], &rows[kept - 1]) != 0)
			rows[kept++] = rows[i];
	path->edges.count = kept;
	for (gt_id place = 0; place <= path->count; place++) {
		while (at < kept && rows[at].from < place)
			at++;
		path->first_edges[place] = at;
	}
	for (size_t i = 0; i < kept; i++)
		path->places[rows[i].to].waiting++;
}

void gt_graph_path_add_edges(struct gt_graph_path *path)
{
	gt_id *place_of_number = gt_allocate(path->count * sizeof(*place_of_number));
	size_t numbers;

	for (gt_id i = 0; i < path->count; i++) {
		const struct key key = {path->places[i].graph, path->places[i].origin};

		place_of_number[gt_index_add(path->index, &key)] = i;
	}
	numbers = gt_index_count(path->index);
	for (gt_id i = 0; i < path->count; i++)
		add_edges_to(path, place_of_number, numbers, i);
	sort_edges(path);
	gt_array_free(place_of_number);
}

static void forget_places(struct gt_graph_path *path)
{
	const struct gt_trace *trace = path->paths->trace;

	for (size_t i = 0; i < path->count; i++) {
		const gt_id node = path->places[i].node;
		const gt_id original = trace->graph_nodes.rows[node].original;

		path->paths->places[original < trace->graph_nodes.count ? original : node] =
			GT_NONE;
	}
}

void gt_graph_path_init(struct gt_graph_path *path, struct gt_critical_paths *paths, size_t count)
{
	*path = (struct gt_graph_path){
		.paths = paths,
		.index = gt_index_new(sizeof(struct key)),
		.places = gt_allocate(count * sizeof(*path->places)),
		.count = count,
		.first_edges = gt_allocate((count + 1) * sizeof(*path->first_edges)),
		.queue = gt_allocate(count * sizeof(*path->queue)),
	};
}

void gt_graph_path_release(struct gt_graph_path *path)
{
	forget_places(path);
	gt_index_free(path->index);
	gt_array_free(path->places);
	gt_array_release(&path->edges);
	gt_array_free(path->first_edges);
	gt_array_free(path->queue);
}

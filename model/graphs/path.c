/* SPDX-License-Identifier: Apache-2.0 */
#include "model/graphs/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/index.h"
#include "model/kinds/graph.h"

enum { DEEPEST = 32 }; /* graphs inside graphs that are followed; CUDA's own limit is less */

struct gt_critical_paths {
	const struct gt_trace *trace;
	size_t *ends;   /* by origin of the node after: where its part of earlier ends */
	gt_id *earlier; /* origins of the nodes before */
	gt_id *places;  /* by node: where its clone stands in the path at hand; GT_NONE */
};

/* Nodes are told apart by the graph that their originals are in, and the origins. */
struct key {
	gt_id graph;
	gt_id origin;
};

struct place {
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
struct path {
	struct gt_critical_paths *paths;
	struct gt_index *index;
	struct place *places;
	size_t count;
	gt_array(struct gt_graph_edge) edges; /* sorted by from */
	size_t *first_edges;                  /* by place; one more than there are */
	gt_id *queue;
	struct gt_critical_path found;
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

static void add_places(struct path *path, const gt_id *nodes, const double *times_ns)
{
	const struct gt_trace *trace = path->paths->trace;

	for (size_t i = 0; i < path->count; i++) {
		const struct gt_graph_node *node = &trace->graph_nodes.rows[nodes[i]];
		const gt_id original =
			node->original < trace->graph_nodes.count ? node->original : nodes[i];

		path->places[i] = (struct place){
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

static gt_id parent_of(const struct path *path, const struct place *place)
{
	const struct gt_trace *trace = path->paths->trace;
	const gt_id node = place->graph < trace->graphs.count
	                           ? trace->graphs.rows[place->graph].parent
	                           : GT_NONE;

	return node < trace->graph_nodes.count ? path->paths->places[node] : GT_NONE;
}

/* A place inside of nothing, or of itself as damage has it, is on top. */
static uint32_t find_parents(struct path *path)
{
	uint32_t deepest = 0;

	for (size_t i = 0; i < path->count; i++)
		path->places[i].parent = parent_of(path, &path->places[i]);
	for (size_t i = 0; i < path->count; i++) {
		struct place *place = &path->places[i];
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

static void add_edges_to(struct path *path, const gt_id *place_of_number, size_t numbers, gt_id to)
{
	const struct gt_critical_paths *paths = path->paths;
	const struct place *place = &path->places[to];
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
static void sort_edges(struct path *path)
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

static void add_edges(struct path *path)
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

static void finish_place(struct path *path, struct place *place)
{
	place->end_ns += place->own_ns + place->inside_ns;
	if (place->parent == GT_NONE) {
		if (place->end_ns > path->found.length_ns)
			path->found.length_ns = place->end_ns;
	} else if (place->end_ns > path->places[place->parent].inside_ns) {
		path->places[place->parent].inside_ns = place->end_ns;
	}
}

static void tell_next(struct path *path, gt_id from, gt_id to)
{
	struct place *next = &path->places[to];

	/* At first the end of the way to it. */
	if (next->last == GT_NONE || path->places[from].end_ns > next->end_ns) {
		next->end_ns = path->places[from].end_ns;
		next->last = from;
	}
	if (path->places[from].level + 1 > next->level)
		next->level = path->places[from].level + 1;
}

/* One after the other, each when all before it are done; what goes in circles never is. */
static void walk(struct path *path, uint32_t depth)
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

static void find_width(struct path *path, uint32_t depth)
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

static double goal_of(const struct path *path, const struct place *place)
{
	return place->parent == GT_NONE ? path->found.length_ns
	                                : path->places[place->parent].inside_ns;
}

static bool is_entered(const struct path *path, const struct place *place)
{
	return place->parent == GT_NONE || path->places[place->parent].on_path;
}

/* From the last place of each graph on the path back to its first. */
static void mark(struct path *path, uint32_t depth, bool *on_path)
{
	for (gt_id i = 0; i < path->count; i++) {
		struct place *place = &path->places[i];

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

static void forget_places(struct path *path)
{
	const struct gt_trace *trace = path->paths->trace;

	for (size_t i = 0; i < path->count; i++) {
		const gt_id node = path->places[i].node;
		const gt_id original = trace->graph_nodes.rows[node].original;

		path->paths->places[original < trace->graph_nodes.count ? original : node] =
			GT_NONE;
	}
}

static void path_init(struct path *path, struct gt_critical_paths *paths, size_t count)
{
	*path = (struct path){
		.paths = paths,
		.index = gt_index_new(sizeof(struct key)),
		.places = gt_allocate(count * sizeof(*path->places)),
		.count = count,
		.first_edges = gt_allocate((count + 1) * sizeof(*path->first_edges)),
		.queue = gt_allocate(count * sizeof(*path->queue)),
	};
}

static void path_release(struct path *path)
{
	forget_places(path);
	gt_index_free(path->index);
	gt_array_free(path->places);
	gt_array_release(&path->edges);
	gt_array_free(path->first_edges);
	gt_array_free(path->queue);
}

struct gt_critical_path gt_critical_path_of(struct gt_critical_paths *paths, const gt_id *nodes,
                                            size_t count, const double *times_ns, bool *on_path)
{
	struct path path;
	uint32_t deepest;

	path_init(&path, paths, count);
	add_places(&path, nodes, times_ns);
	deepest = find_parents(&path);
	add_edges(&path);
	for (uint32_t depth = deepest + 1; depth-- > 0;) {
		walk(&path, depth);
		find_width(&path, depth);
	}
	for (uint32_t depth = 0; depth <= deepest; depth++)
		mark(&path, depth, on_path);
	path.found.dependencies = path.edges.count;
	path_release(&path);
	return path.found;
}

/* ---- what waits for what, of nodes that run ---- */

/* The ends of a node: what does not run, or has others inside, is passed through. */
struct passage {
	const struct path *path;
	size_t *first_inside; /* by place, and one more: where the places inside it begin */
	gt_id *inside;
	gt_id *seen;          /* by place and end: for which place it was asked last */
	gt_array(gt_id) left; /* ends that are still to be asked */
};

enum { BEGIN, END }; /* a place twice: before and after what is inside of it */

static void passage_init(struct passage *passage, const struct path *path)
{
	size_t sum = 0;

	*passage = (struct passage){
		.path = path,
		.first_inside = gt_allocate((path->count + 1) * sizeof(*passage->first_inside)),
		.inside = gt_allocate(path->count * sizeof(*passage->inside)),
		.seen = gt_allocate(2 * path->count * sizeof(*passage->seen)),
	};
	memset(passage->first_inside, 0, (path->count + 1) * sizeof(*passage->first_inside));
	memset(passage->seen, 0xff, 2 * path->count * sizeof(*passage->seen));
	for (size_t i = 0; i < path->count; i++)
		if (path->places[i].parent != GT_NONE)
			passage->first_inside[path->places[i].parent]++;
	for (size_t i = 0; i <= path->count; i++) {
		const size_t own = passage->first_inside[i];

		passage->first_inside[i] = sum;
		sum += own;
	}
	for (gt_id i = 0; i < path->count; i++)
		if (path->places[i].parent != GT_NONE)
			passage->inside[passage->first_inside[path->places[i].parent]++] = i;
	for (size_t i = path->count; i > 0; i--)
		passage->first_inside[i] = passage->first_inside[i - 1];
	passage->first_inside[0] = 0;
}

static void passage_release(struct passage *passage)
{
	gt_array_free(passage->first_inside);
	gt_array_free(passage->inside);
	gt_array_free(passage->seen);
	gt_array_release(&passage->left);
}

/* Asks for one end of a place on behalf of another one, once. */
static void ask(struct passage *passage, gt_id place, unsigned end, gt_id whom)
{
	gt_id *seen = &passage->seen[2 * place + end];

	if (*seen == whom)
		return;
	*seen = whom;
	*gt_array_push(&passage->left) = 2 * place + end;
}

/* Asks for all that the begin of a place waits for; edges are in the order of to here. */
static void ask_before(struct passage *passage, const struct gt_graph_edge *by_to,
                       const size_t *first_to, gt_id place, gt_id whom)
{
	for (size_t i = first_to[place]; i < first_to[place + 1]; i++)
		ask(passage, by_to[i].from, END, whom);
	if (passage->path->places[place].parent != GT_NONE)
		ask(passage, passage->path->places[place].parent, BEGIN, whom);
}

int gt_graph_edge_by_to(const void *a, const void *b)
{
	const struct gt_graph_edge *left = a;
	const struct gt_graph_edge *right = b;

	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	return (left->from > right->from) - (left->from < right->from);
}

static void pass(struct passage *passage, const struct gt_graph_edge *rows, const size_t *first_to,
                 gt_id place, struct gt_graph_edges *edges)
{
	const struct path *path = passage->path;

	ask_before(passage, rows, first_to, place, place);
	while (passage->left.count > 0) {
		const gt_id end = passage->left.rows[--passage->left.count];
		const gt_id at = end / 2;
		const uint32_t type =
			path->paths->trace->graph_nodes.rows[path->places[at].node].type;

		if (end % 2 == END && gt_graph_node_runs(type)) {
			*gt_array_push(&edges->list) = (struct gt_graph_edge){at, place};
			continue;
		}
		if (end % 2 == END)
			for (size_t i = passage->first_inside[at];
			     i < passage->first_inside[at + 1]; i++)
				ask(passage, passage->inside[i], END, place);
		ask_before(passage, rows, first_to, at, place);
	}
}

static void pass_all(struct path *path, struct gt_graph_edges *edges)
{
	struct passage passage;
	size_t *first_to = gt_allocate((path->count + 1) * sizeof(*first_to));
	size_t at = 0;

	if (path->edges.count > 1)
		qsort(path->edges.rows, path->edges.count, sizeof(*path->edges.rows),
		      gt_graph_edge_by_to);
	for (gt_id place = 0; place <= path->count; place++) {
		while (at < path->edges.count && path->edges.rows[at].to < place)
			at++;
		first_to[place] = at;
	}
	passage_init(&passage, path);
	for (gt_id place = 0; place < path->count; place++)
		if (gt_graph_node_runs(
			    path->paths->trace->graph_nodes.rows[path->places[place].node].type))
			pass(&passage, path->edges.rows, first_to, place, edges);
	passage_release(&passage);
	gt_array_free(first_to);
}

void gt_graph_edges_add(struct gt_critical_paths *paths, const gt_id *nodes, size_t count,
                        struct gt_graph_edges *edges)
{
	struct path path;

	path_init(&path, paths, count);
	add_places(&path, nodes, NULL);
	(void)find_parents(&path);
	add_edges(&path);
	pass_all(&path, edges);
	path_release(&path);
}

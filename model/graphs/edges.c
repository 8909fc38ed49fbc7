/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "model/graphs/path.h"
#include "model/graphs/places.h"
#include "model/kinds/graph.h"

/* The ends of a node: what does not run, or has others inside, is passed through. */
struct passage {
	const struct gt_graph_path *path;
	size_t *first_inside; /* by place, and one more: where the places inside it begin */
	gt_id *inside;
	gt_id *seen;          /* by place and end: for which place it was asked last */
	gt_array(gt_id) left; /* ends that are still to be asked */
};

enum { BEGIN, END }; /* a place twice: before and after what is inside of it */

static void passage_init(struct passage *passage, const struct gt_graph_path *path)
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
	const struct gt_graph_path *path = passage->path;

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

static void pass_all(struct gt_graph_path *path, struct gt_graph_edges *edges)
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
	struct gt_graph_path path;

	gt_graph_path_init(&path, paths, count);
	gt_graph_path_add_places(&path, nodes, NULL);
	(void)gt_graph_path_find_parents(&path);
	gt_graph_path_add_edges(&path);
	pass_all(&path, edges);
	gt_graph_path_release(&path);
}

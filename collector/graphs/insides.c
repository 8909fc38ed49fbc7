/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/graphs/insides.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "model/kinds/graph.h"

struct number {
	gt_wide number;
	gt_id process;
	gt_id node;
	gt_id exec;
};

/* A row and what it is found by: its graph, or the node that it is inside of. */
struct member {
	gt_id above;
	gt_id row;
	gt_wide number;
};

struct gt_graph_insides {
	const struct gt_trace *trace;
	gt_array(struct number) numbers; /* sorted */
};

struct search {
	struct gt_graph_insides *insides;
	gt_array(struct member) nodes;  /* of executable graphs, by graph */
	gt_array(struct member) graphs; /* inside of nodes, by node */
	gt_array(gt_id) waiting;        /* graphs, the next one last */
	bool *is_seen;                  /* by row of graphs: damaged ones may go in circles */
};

static int by_number(const void *a, const void *b)
{
	const struct number *left = a;
	const struct number *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static int by_member(const void *a, const void *b)
{
	const struct member *left = a;
	const struct member *right = b;

	if (left->above != right->above)
		return left->above < right->above ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static int member_to_above(const void *row, const void *wanted)
{
	const struct member *member = row;
	const gt_id *above = wanted;

	return (member->above > *above) - (member->above < *above);
}

static void find_members(struct search *search)
{
	const struct gt_trace *trace = search->insides->trace;

	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes)
		if (node->exec != GT_NONE && node->original != GT_NONE && node->graph != GT_NONE)
			*gt_array_push(&search->nodes) = (struct member){
				node->graph, (gt_id)(node - trace->graph_nodes.rows), node->number};
	gt_array_each(const struct gt_graph, graph, &trace->graphs)
		if (graph->exec != GT_NONE && graph->parent != GT_NONE)
			*gt_array_push(&search->graphs) = (struct member){
				graph->parent, (gt_id)(graph - trace->graphs.rows), graph->number};
	if (search->nodes.count > 1)
		qsort(search->nodes.rows, search->nodes.count, sizeof(struct member), by_member);
	if (search->graphs.count > 1)
		qsort(search->graphs.rows, search->graphs.count, sizeof(struct member), by_member);
}

/* The graphs inside of the nodes of a graph wait for their turn, the first one on top. */
static void push_insides(struct search *search, size_t first_node, size_t end_node)
{
	const struct member *graphs = search->graphs.rows;

	for (size_t n = end_node; n-- > first_node;) {
		const gt_id node = search->nodes.rows[n].row;
		const size_t first = gt_count_before(&search->graphs, &node, member_to_above);
		size_t end = first;

		while (end < search->graphs.count && graphs[end].above == node)
			end++;
		while (end-- > first)
			*gt_array_push(&search->waiting) = graphs[end].row;
	}
}

static size_t end_of_graph(const struct search *search, size_t first, gt_id graph)
{
	while (first < search->nodes.count && search->nodes.rows[first].above == graph)
		first++;
	return first;
}

/* All nodes of a graph that is inside, in a row. Returns the number after them. */
static gt_wide number_graph(struct search *search, gt_id graph, gt_wide next)
{
	const struct gt_trace *trace = search->insides->trace;
	const size_t first = gt_count_before(&search->nodes, &graph, member_to_above);
	const size_t end = end_of_graph(search, first, graph);

	for (size_t i = first; i < end; i++) {
		const gt_id node = search->nodes.rows[i].row;

		*gt_array_push(&search->insides->numbers) =
			(struct number){next++, trace->graph_nodes.rows[node].process, node,
		                        trace->graph_nodes.rows[node].exec};
	}
	push_insides(search, first, end);
	return next;
}

static void number_exec(struct search *search, gt_id top)
{
	const size_t first = gt_count_before(&search->nodes, &top, member_to_above);
	const size_t end = end_of_graph(search, first, top);
	gt_wide next;

	if (first == end)
		return;
	next = search->nodes.rows[end - 1].number + 1;
	search->is_seen[top] = true;
	push_insides(search, first, end);
	while (search->waiting.count > 0) {
		const gt_id graph = search->waiting.rows[--search->waiting.count];

		if (search->is_seen[graph])
			continue;
		search->is_seen[graph] = true;
		next = number_graph(search, graph, next);
	}
}

static const struct number *find_number(const struct gt_graph_insides *insides, gt_id process,
                                        gt_wide number)
{
	const struct number key = {.number = number, .process = process};

	return insides->numbers.count == 0
	               ? NULL
	               : bsearch(&key, insides->numbers.rows, insides->numbers.count, sizeof(key),
	                         by_number);
}

static void check(const struct gt_graph_insides *insides, gt_id stream, gt_wide number,
                  bool *is_wrong)
{
	const struct number *found =
		number ? find_number(insides, gt_trace_stream_process(insides->trace, stream),
	                             number)
		       : NULL;

	if (found && !gt_graph_node_runs(insides->trace->graph_nodes.rows[found->node].type))
		is_wrong[found->exec] = true;
}

static void drop_contradicted(struct gt_graph_insides *insides)
{
	const struct gt_trace *trace = insides->trace;
	bool *is_wrong = gt_allocate_zeroed(trace->graph_execs.count, sizeof(*is_wrong));
	size_t kept = 0;

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		check(insides, kernel->stream, kernel->graph_node, is_wrong);
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		check(insides, copy->stream, copy->graph_node, is_wrong);
	gt_array_each(const struct gt_fill, fill, &trace->fills)
		check(insides, fill->stream, fill->graph_node, is_wrong);
	for (size_t i = 0; i < insides->numbers.count; i++)
		if (!is_wrong[insides->numbers.rows[i].exec])
			insides->numbers.rows[kept++] = insides->numbers.rows[i];
	insides->numbers.count = kept;
	gt_array_free(is_wrong);
}

struct gt_graph_insides *gt_graph_insides_new(const struct gt_trace *trace)
{
	struct gt_graph_insides *insides = gt_allocate(sizeof(*insides));
	struct search search = {.insides = insides};

	*insides = (struct gt_graph_insides){.trace = trace};
	search.is_seen = gt_allocate_zeroed(trace->graphs.count, sizeof(*search.is_seen));
	find_members(&search);
	if (search.graphs.count > 0)
		gt_array_each(const struct gt_graph, graph, &trace->graphs)
			if (graph->exec != GT_NONE &&
			    trace->graph_execs.rows[graph->exec].number == graph->number)
				number_exec(&search, (gt_id)(graph - trace->graphs.rows));
	if (insides->numbers.count > 1)
		qsort(insides->numbers.rows, insides->numbers.count, sizeof(struct number),
		      by_number);
	if (insides->numbers.count > 0)
		drop_contradicted(insides);
	gt_array_release(&search.nodes);
	gt_array_release(&search.graphs);
	gt_array_release(&search.waiting);
	gt_array_free(search.is_seen);
	return insides;
}

gt_id gt_graph_insides_find(const struct gt_graph_insides *insides, gt_id process, gt_wide number)
{
	const struct number *found = find_number(insides, process, number);

	return found ? found->node : GT_NONE;
}

void gt_graph_insides_free(struct gt_graph_insides *insides)
{
	if (!insides)
		return;
	gt_array_release(&insides->numbers);
	gt_array_free(insides);
}

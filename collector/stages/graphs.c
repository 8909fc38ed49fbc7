/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "collector/graphs/bodies.h"
#include "collector/graphs/insides.h"
#include "collector/graphs/linker.h"
#include "collector/graphs/node_types.h"
#include "collector/graphs/ranges.h"
#include "collector/stage.h"
#include "model/kinds/graph.h"

/*
 * Puts CUDA graphs together from the ids and handles of their records. The parts of a graph are
 * told once or twice, when it was made and when it became a clone: both become one row. Activity
 * names the node of the executable graph; from there the chain of originals leads to the node that
 * a launch made while its stream was captured, or that was added by hand, with the API call, the
 * thread, and all else that was the case then. A graph made before recording began is a row without
 * nodes, one for each handle that was launched.
 */

/* ---- one row for each graph, node and executable graph ---- */

/* The row that was first told of with this number; that is this one, if none was. GT_NONE: of 0. */
static gt_id first_told(struct gt_known *known, uint64_t number, gt_id row)
{
	gt_graph_learn(known, number, row);
	return gt_graph_find(known, number);
}

static void merge_graphs(struct gt_graph_linker *linker)
{
	struct gt_graph *rows = linker->trace->graphs.rows;
	gt_id kept = 0;

	for (size_t i = 0; i < linker->trace->graphs.count; i++) {
		struct gt_graph_ids *ids = gt_graph_ids_of(linker, rows[i].process);
		const gt_id at = ids ? first_told(&ids->graphs, rows[i].number, kept) : GT_NONE;

		if (at == kept)
			rows[kept++] = rows[i];
		else if (at != GT_NONE && rows[at].original_number == 0)
			rows[at].original_number = rows[i].original_number;
	}
	linker->trace->graphs.count = kept;
}

static void merge_nodes(struct gt_graph_linker *linker)
{
	struct gt_graph_node *rows = linker->trace->graph_nodes.rows;
	gt_id kept = 0;

	for (size_t i = 0; i < linker->trace->graph_nodes.count; i++) {
		struct gt_graph_ids *ids = gt_graph_ids_of(linker, rows[i].process);
		const gt_id at = ids ? first_told(&ids->nodes, rows[i].number, kept) : GT_NONE;

		if (at == kept)
			rows[kept++] = rows[i];
		else if (at != GT_NONE && rows[at].original_number == 0)
			rows[at].original_number = rows[i].original_number;
	}
	linker->trace->graph_nodes.count = kept;
}

/* ---- what names what ---- */

static uint64_t clone_key(gt_id original, gt_count correlation)
{
	return (uint64_t)original << 32 | correlation;
}

static void link_nodes(struct gt_graph_linker *linker)
{
	gt_array_each(struct gt_graph_node, node, &linker->trace->graph_nodes) {
		struct gt_graph_ids *ids = &linker->ids[node->process];

		node->graph = gt_graph_find(&ids->graphs, node->graph_number);
		node->exec = gt_graph_find(&ids->execs, node->graph_number);
		node->original = gt_graph_find(&ids->nodes, node->original_number);
		/* A graph inside of an executable one has an id of its own. */
		if (node->exec == GT_NONE && node->original_number)
			node->exec = gt_graph_find(&ids->execs_of_calls, node->correlation);
	}
}

/* Nodes that are clones of nothing although a graph became executable are the driver's own. */
static void set_added_aside(struct gt_graph_linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_node, node, &trace->graph_nodes) {
		const gt_id exec =
			node->original_number
				? GT_NONE
				: gt_graph_find(&linker->ids[node->process].execs_of_calls,
		                                node->correlation);

		if (exec == GT_NONE)
			continue;
		trace->graph_execs.rows[exec].added_nodes++;
		node->exec = GT_NONE;
		node->type = GT_GRAPH_NODE_EMPTY;
	}
}

/* Nodes with graphs inside, by what the graphs have in common with them. Types must be known. */
static void learn_parents(struct gt_graph_linker *linker)
{
	gt_array_each(const struct gt_graph_node, node, &linker->trace->graph_nodes) {
		struct gt_graph_ids *ids = &linker->ids[node->process];
		const gt_id row = (gt_id)(node - linker->trace->graph_nodes.rows);

		if (node->type != GT_GRAPH_NODE_GRAPH && node->type != GT_GRAPH_NODE_CONDITIONAL)
			continue;
		if (node->original_number == 0)
			gt_graph_learn(&ids->parents_of_calls, node->correlation, row);
		else if (node->original != GT_NONE)
			gt_graph_learn(&ids->clones, clone_key(node->original, node->correlation),
			               row);
	}
}

/* Nodes may be in a graph that CUPTI did not tell of by itself. */
static void add_missing_graphs(struct gt_graph_linker *linker)
{
	gt_array_each(struct gt_graph_node, node, &linker->trace->graph_nodes) {
		struct gt_graph_ids *ids = &linker->ids[node->process];

		if (node->graph != GT_NONE || node->exec != GT_NONE || node->graph_number == 0)
			continue;
		node->graph = gt_graph_find(&ids->graphs, node->graph_number);
		if (node->graph != GT_NONE)
			continue;
		node->graph = (gt_id)linker->trace->graphs.count;
		gt_known_add(&ids->graphs, node->graph_number, node->graph);
		*gt_array_push(&linker->trace->graphs) = (struct gt_graph){
			.made_ns = node->made_ns,
			.process = node->process,
			.thread = node->thread,
			.api_call = node->api_call,
			.original = GT_NONE,
			.parent = GT_NONE,
			.exec = GT_NONE,
			.number = node->graph_number,
			.correlation = node->correlation,
		};
	}
}

static const char *name_of_call(const struct gt_trace *trace, gt_id call)
{
	return call < trace->api_calls.count
	               ? gt_trace_text(trace, trace->api_calls.rows[call].function)
	               : "";
}

/* CUPTI 13.0 leaves the type of every node 0: the call that made it tells what it is. */
static void find_types(struct gt_trace *trace)
{
	gt_array_each(struct gt_graph_node, node, &trace->graph_nodes)
		if (node->type == 0)
			node->type = gt_graph_node_type_of(name_of_call(trace, node->api_call));
}

/* Chains of clones end at their origin; damaged ones may go in circles, which end anywhere. */
static void find_origins(struct gt_trace *trace)
{
	struct gt_graph_node *rows = trace->graph_nodes.rows;
	const size_t count = trace->graph_nodes.count;
	bool *passed = gt_allocate_zeroed(count, sizeof(*passed));

	for (gt_id i = 0; i < count; i++) {
		gt_id at = i;
		gt_id origin;

		while (rows[at].origin == GT_NONE && rows[at].original != GT_NONE && !passed[at]) {
			passed[at] = true;
			at = rows[at].original;
		}
		origin = rows[at].origin == GT_NONE ? at : rows[at].origin;
		for (at = i; passed[at]; at = rows[at].original) {
			passed[at] = false;
			rows[at].origin = origin;
		}
		rows[origin].origin = origin;
		rows[i].type = rows[origin].type;
	}
	gt_array_free(passed);
}

static gt_count kind_of_graph(const struct gt_trace *trace, const struct gt_graph *graph)
{
	static const struct {
		const char *words;
		enum gt_graph_kind kind;
	} calls[] = {
		{"Capture", GT_GRAPH_CAPTURED},  {"Instantiate", GT_GRAPH_INSIDE},
		{"GraphClone", GT_GRAPH_CLONED}, {"AddChildGraph", GT_GRAPH_CHILD},
		{"GraphCreate", GT_GRAPH_BUILT},
	};
	const char *name = name_of_call(trace, graph->api_call);

	if (graph->exec != GT_NONE)
		return GT_GRAPH_INSIDE;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strstr(name, calls[i].words))
			return calls[i].kind;
	if (strstr(name, "AddNode"))
		return graph->original != GT_NONE ? GT_GRAPH_CHILD : GT_GRAPH_BODY;
	return graph->original_number ? GT_GRAPH_CLONED : GT_GRAPH_UNKNOWN;
}

/* Only their nodes tell the originals of graphs in nodes and in executable graphs. */
static void find_originals(struct gt_graph_linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph, graph, &trace->graphs)
		graph->original =
			gt_graph_find(&linker->ids[graph->process].graphs, graph->original_number);
	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes)
		if (node->graph != GT_NONE && node->original != GT_NONE &&
		    trace->graphs.rows[node->graph].original == GT_NONE)
			trace->graphs.rows[node->graph].original =
				trace->graph_nodes.rows[node->original].graph;
}

/*
 * Where a graph is cloned with all that is in it, the clone of the node has that of the graph;
 * else the node that the call made has it.
 */
static gt_id find_parent(struct gt_graph_linker *linker, const struct gt_graph *graph)
{
	struct gt_graph_ids *ids = &linker->ids[graph->process];
	const gt_id above = graph->original == GT_NONE
	                            ? GT_NONE
	                            : linker->trace->graphs.rows[graph->original].parent;
	const gt_id parent = above == GT_NONE ? GT_NONE
	                                      : gt_graph_find(&ids->clones,
	                                                      clone_key(above, graph->correlation));

	if (parent != GT_NONE)
		return parent;
	return graph->kind == GT_GRAPH_CHILD || graph->kind == GT_GRAPH_BODY
	               ? gt_graph_find(&ids->parents_of_calls, graph->correlation)
	               : GT_NONE;
}

static void link_graphs(struct gt_graph_linker *linker)
{
	struct gt_trace *trace = linker->trace;

	find_originals(linker);
	gt_array_each(struct gt_graph, graph, &trace->graphs) {
		struct gt_graph_ids *ids = &linker->ids[graph->process];

		graph->exec = gt_graph_find(&ids->execs, graph->number);
		graph->kind = kind_of_graph(trace, graph);
		if (graph->exec == GT_NONE && graph->kind == GT_GRAPH_INSIDE)
			graph->exec = gt_graph_find(&ids->execs_of_calls, graph->correlation);
		graph->parent = find_parent(linker, graph); /* originals come before their clones */
	}
	/* Some captures are known by their launches alone. */
	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes)
		if (node->graph < trace->graphs.count && node->original_number == 0 &&
		    node->api_call < trace->api_calls.count &&
		    trace->graphs.rows[node->graph].kind == GT_GRAPH_UNKNOWN &&
		    trace->api_calls.rows[node->api_call].kind != GT_API_GRAPH)
			trace->graphs.rows[node->graph].kind = GT_GRAPH_CAPTURED;
}

/* A filter may leave the node and not the call: the name stays with the node. */
static void name_makers(struct gt_trace *trace)
{
	gt_array_each(struct gt_graph_node, node, &trace->graph_nodes)
		if (node->api_call < trace->api_calls.count)
			node->made_by = trace->api_calls.rows[node->api_call].function;
}

/* ---- ends ---- */

static void apply_ends(struct gt_graph_linker *linker, const struct gt_capture *capture)
{
	struct gt_trace *trace = linker->trace;
	struct gt_graph_ids *ids = gt_graph_ids_of(linker, capture->process);

	gt_array_each(const struct gt_record_graph_end, end, &capture->raw_graph_ends) {
		const gt_time time_ns = (gt_time)end->time_ns;
		gt_id row;

		if (end->kind == GT_GRAPH_END_GRAPH &&
		    (row = gt_graph_find(&ids->graphs, end->number)) != GT_NONE)
			trace->graphs.rows[row].end_ns = time_ns;
		else if (end->kind == GT_GRAPH_END_EXEC &&
		         (row = gt_graph_find(&ids->execs, end->number)) != GT_NONE)
			trace->graph_execs.rows[row].end_ns = time_ns;
		else if (end->kind == GT_GRAPH_END_NODE &&
		         (row = gt_graph_find(&ids->nodes, end->number)) != GT_NONE)
			trace->graph_nodes.rows[row].end_ns = time_ns;
	}
}

/* ---- activity ---- */

static gt_id node_of(const struct gt_graph_linker *linker, gt_id stream, gt_wide number)
{
	const gt_id process = gt_trace_stream_process(linker->trace, stream);
	struct gt_graph_ids *ids = gt_graph_ids_of(linker, process);
	const gt_id node = ids ? gt_graph_find(&ids->nodes, number) : GT_NONE;

	return node != GT_NONE || !ids ? node
	                               : gt_graph_insides_find(linker->insides, process, number);
}

static void link_kernels(struct gt_graph_linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_kernel, kernel, &trace->kernels) {
		struct gt_graph_node *node;

		if (kernel->graph_node == 0)
			continue;
		kernel->node = node_of(linker, kernel->stream, kernel->graph_node);
		if (kernel->node == GT_NONE)
			continue;
		node = &trace->graph_nodes.rows[kernel->node];
		if (node->shape == GT_NONE)
			node->shape = kernel->shape;
		if (trace->graph_nodes.rows[node->origin].shape == GT_NONE)
			trace->graph_nodes.rows[node->origin].shape = kernel->shape;
	}
	gt_array_each(struct gt_copy, copy, &trace->copies)
		if (copy->graph_node)
			copy->node = node_of(linker, copy->stream, copy->graph_node);
	gt_array_each(struct gt_fill, fill, &trace->fills)
		if (fill->graph_node)
			fill->node = node_of(linker, fill->stream, fill->graph_node);
}

/* A graph trace put together from the activities of a launch may be in several parts. */
static void merge_traces(struct gt_graph_linker *linker)
{
	struct gt_graph_trace *rows = linker->trace->graph_traces.rows;
	gt_id kept = 0;

	for (size_t i = 0; i < linker->trace->graph_traces.count; i++) {
		struct gt_graph_ids *ids = gt_graph_ids_of(
			linker, gt_trace_stream_process(linker->trace, rows[i].stream));
		const uint64_t key = (uint64_t)rows[i].graph << 32 | rows[i].correlation;
		const gt_id at =
			ids && rows[i].activities ? first_told(&ids->wholes, key, kept) : GT_NONE;
		struct gt_graph_trace *whole;

		/* Without a graph and a call there is nothing that two could have in common. */
		if (at == kept || at == GT_NONE) {
			rows[kept++] = rows[i];
			continue;
		}
		whole = &rows[at];
		whole->start_ns =
			rows[i].start_ns < whole->start_ns ? rows[i].start_ns : whole->start_ns;
		whole->end_ns = rows[i].end_ns > whole->end_ns ? rows[i].end_ns : whole->end_ns;
		whole->work_ns += rows[i].work_ns;
		whole->activities += rows[i].activities;
	}
	linker->trace->graph_traces.count = kept;
}

static void link_traces(struct gt_graph_linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_trace, whole, &trace->graph_traces) {
		struct gt_graph_ids *ids =
			gt_graph_ids_of(linker, gt_trace_stream_process(trace, whole->stream));

		if (ids)
			whole->exec = gt_graph_find(&ids->execs, whole->graph);
	}
}

static void remark_unknown(struct gt_collection *collection, const struct gt_graph_linker *linker)
{
	gt_array_each(const struct gt_capture, capture, &collection->captures) {
		const struct gt_graph_ids *ids = gt_graph_ids_of(linker, capture->process);

		if (!ids || ids->unknown.count == 0)
			continue;
		gt_trace_add_ledger(linker->trace, capture->process, "graphs_unknown",
		                    ids->unknown.count);
		gt_collection_note(collection, capture->process, "graphs",
		                   "%zu of the executable graphs that were launched are unknown: "
		                   "they were made before recording began, or CUPTI did not tell "
		                   "of them; their kernels name no node",
		                   ids->unknown.count);
	}
}

static void release(struct gt_graph_linker *linker)
{
	for (size_t i = 0; i < linker->trace->processes.count; i++) {
		gt_known_release(&linker->ids[i].graphs);
		gt_known_release(&linker->ids[i].nodes);
		gt_known_release(&linker->ids[i].execs);
		gt_known_release(&linker->ids[i].execs_of_calls);
		gt_known_release(&linker->ids[i].parents_of_calls);
		gt_known_release(&linker->ids[i].clones);
		gt_known_release(&linker->ids[i].unknown);
		gt_known_release(&linker->ids[i].wholes);
	}
	gt_array_free(linker->ids);
	gt_array_release(&linker->holders);
	gt_graph_insides_free(linker->insides);
}

static void link_all(struct gt_graph_linker *linker, struct gt_collection *collection)
{
	merge_graphs(linker);
	merge_nodes(linker);
	gt_graph_execs_merge(linker);
	gt_graph_execs_instantiate(linker);
	link_nodes(linker);
	add_missing_graphs(linker);
	find_types(linker->trace);
	set_added_aside(linker);
	find_origins(linker->trace);
	learn_parents(linker);
	name_makers(linker->trace);
	link_graphs(linker);
	gt_graph_execs_link(linker);
	gt_array_each(const struct gt_capture, capture, &collection->captures)
		apply_ends(linker, capture);
	gt_graph_execs_link_calls(linker);
	gt_graph_execs_link_launches(linker);
	gt_graph_dependencies_link(linker);
	linker->insides = gt_graph_insides_new(linker->trace);
	link_kernels(linker);
	gt_graph_bodies_link(linker->trace);
	gt_graph_ranges_link(linker->trace);
	merge_traces(linker);
	link_traces(linker);
	gt_graph_execs_number(linker->trace);
	remark_unknown(collection, linker);
}

static bool tells_of_graphs(const struct gt_trace *trace)
{
	return trace->graphs.count + trace->graph_nodes.count + trace->graph_execs.count +
	               trace->graph_calls.count + trace->graph_launches.count >
	       0;
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct gt_graph_linker linker = {.trace = trace};

	(void)err;
	linker.ids = gt_allocate_zeroed(trace->processes.count, sizeof(*linker.ids));
	if (tells_of_graphs(trace))
		link_all(&linker, collection);
	else
		gt_graph_execs_add_of_calls(&linker);
	release(&linker);
	return 0;
}

const struct gt_stage gt_stage_graphs = {.name = "graphs", .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "collector/graph_bodies.h"
#include "collector/graph_insides.h"
#include "collector/graph_node_types.h"
#include "collector/graph_ranges.h"
#include "collector/stage.h"
#include "model/graph.h"

/*
 * Puts CUDA graphs together from the ids and handles of their records. What a graph was made of is
 * told once or twice, when it was made and when it became a clone: both become one row. Activity
 * names the node of the executable graph; from there the chain of originals leads to the node that
 * a launch made while its stream was captured, or that was added by hand, with the API call, the
 * thread, and all else that was the case then. What was made before recording began is a row
 * without nodes, one for each handle that was launched.
 */

/* What the ids of one process stand for: rows. */
struct ids {
	struct gt_known graphs;
	struct gt_known nodes;
	struct gt_known execs;
	struct gt_known execs_of_calls;   /* by correlation id of the call that made them */
	struct gt_known parents_of_calls; /* nodes with graphs inside, likewise */
	struct gt_known clones;  /* nodes, by original and correlation id of the call that cloned */
	struct gt_known unknown; /* execs that nobody saw being made, by handle */
	struct gt_known wholes;  /* launches as a whole, by graph and correlation id */
};

/* Who has a handle from some moment on. */
struct holder {
	uint64_t handle;
	gt_time made_ns;
	gt_id process;
	gt_id exec;
};

struct linker {
	struct gt_trace *trace;
	struct ids *ids; /* by process */
	gt_array(struct holder) holders;
	struct gt_graph_insides *insides;
};

/* NULL for what is of no process. */
static struct ids *ids_of(const struct linker *linker, gt_id process)
{
	return process < linker->trace->processes.count ? &linker->ids[process] : NULL;
}

static gt_id process_of_thread(const struct gt_trace *trace, gt_id thread)
{
	return thread < trace->threads.count ? trace->threads.rows[thread].process : GT_NONE;
}

/* 0 stands for none. */
static gt_id find(struct gt_known *known, uint64_t number)
{
	return number ? gt_known_find(known, number) : GT_NONE;
}

/* The first holds; an id that is 0 is none. */
static void learn(struct gt_known *known, uint64_t number, gt_id row)
{
	if (number && gt_known_find(known, number) == GT_NONE)
		gt_known_add(known, number, row);
}

/* ---- one row for each graph, node and executable graph ---- */

/* The row that was first told of with this number; that is this one, if none was. GT_NONE: of 0. */
static gt_id first_told(struct gt_known *known, uint64_t number, gt_id row)
{
	learn(known, number, row);
	return find(known, number);
}

static void merge_graphs(struct linker *linker)
{
	struct gt_graph *rows = linker->trace->graphs.rows;
	gt_id kept = 0;

	for (size_t i = 0; i < linker->trace->graphs.count; i++) {
		struct ids *ids = ids_of(linker, rows[i].process);
		const gt_id at = ids ? first_told(&ids->graphs, rows[i].number, kept) : GT_NONE;

		if (at == kept)
			rows[kept++] = rows[i];
		else if (at != GT_NONE && rows[at].original_number == 0)
			rows[at].original_number = rows[i].original_number;
	}
	linker->trace->graphs.count = kept;
}

static void merge_nodes(struct linker *linker)
{
	struct gt_graph_node *rows = linker->trace->graph_nodes.rows;
	gt_id kept = 0;

	for (size_t i = 0; i < linker->trace->graph_nodes.count; i++) {
		struct ids *ids = ids_of(linker, rows[i].process);
		const gt_id at = ids ? first_told(&ids->nodes, rows[i].number, kept) : GT_NONE;

		if (at == kept)
			rows[kept++] = rows[i];
		else if (at != GT_NONE && rows[at].original_number == 0)
			rows[at].original_number = rows[i].original_number;
	}
	linker->trace->graph_nodes.count = kept;
}

static void add_holder(struct linker *linker, gt_id exec)
{
	const struct gt_graph_exec *row = &linker->trace->graph_execs.rows[exec];

	if (row->handle)
		*gt_array_push(&linker->holders) =
			(struct holder){row->handle, row->made_ns, row->process, exec};
}

static void merge_execs(struct linker *linker)
{
	struct gt_graph_exec *rows = linker->trace->graph_execs.rows;
	gt_id kept = 0;

	for (size_t i = 0; i < linker->trace->graph_execs.count; i++) {
		struct ids *ids = ids_of(linker, rows[i].process);

		if (!ids || find(&ids->execs, rows[i].number) != GT_NONE)
			continue;
		rows[kept] = rows[i];
		learn(&ids->execs, rows[kept].number, kept);
		learn(&ids->execs_of_calls, rows[kept].correlation, kept);
		add_holder(linker, kept);
		kept++;
	}
	linker->trace->graph_execs.count = kept;
}

/* ---- calls that instantiate ---- */

/* An executable graph that CUPTI did not tell of is known by the call that returned it. */
static gt_id add_exec(struct linker *linker, struct ids *ids, const struct gt_graph_call *call)
{
	const gt_id row = (gt_id)linker->trace->graph_execs.count;

	*gt_array_push(&linker->trace->graph_execs) = (struct gt_graph_exec){
		.made_ns = call->end_ns ? call->end_ns : call->start_ns,
		.handle = call->handle,
		.process = process_of_thread(linker->trace, call->thread),
		.thread = call->thread,
		.api_call = call->api_call,
		.graph = GT_NONE,
		.correlation = call->correlation,
	};
	learn(&ids->execs_of_calls, call->correlation, row);
	add_holder(linker, row);
	return row;
}

static void take_instantiation(struct linker *linker, gt_id row)
{
	struct gt_graph_call *call = &linker->trace->graph_calls.rows[row];
	struct ids *ids = ids_of(linker, process_of_thread(linker->trace, call->thread));
	struct gt_graph_exec *exec;

	if (!ids || call->kind != GT_GRAPH_CALL_INSTANTIATE)
		return;
	call->graph = find(&ids->graphs, call->graph_number);
	call->exec = find(&ids->execs_of_calls, call->correlation);
	if (call->exec == GT_NONE && call->handle && call->result == 0)
		call->exec = add_exec(linker, ids, call);
	if (call->exec == GT_NONE)
		return;
	exec = &linker->trace->graph_execs.rows[call->exec];
	exec->instantiation = row;
	/* The parameters say it for certain. */
	if (call->graph_number)
		exec->graph_number = call->graph_number;
}

/* ---- what names what ---- */

static uint64_t clone_key(gt_id original, gt_count correlation)
{
	return (uint64_t)original << 32 | correlation;
}

static void link_nodes(struct linker *linker)
{
	gt_array_each(struct gt_graph_node, node, &linker->trace->graph_nodes) {
		struct ids *ids = &linker->ids[node->process];

		node->graph = find(&ids->graphs, node->graph_number);
		node->exec = find(&ids->execs, node->graph_number);
		node->original = find(&ids->nodes, node->original_number);
		/* A graph inside of an executable one has an id of its own. */
		if (node->exec == GT_NONE && node->original_number)
			node->exec = find(&ids->execs_of_calls, node->correlation);
	}
}

/* Nodes that are clones of nothing although a graph became executable are the driver's own. */
static void set_added_aside(struct linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_node, node, &trace->graph_nodes) {
		const gt_id exec = node->original_number
		                           ? GT_NONE
		                           : find(&linker->ids[node->process].execs_of_calls,
		                                  node->correlation);

		if (exec == GT_NONE)
			continue;
		trace->graph_execs.rows[exec].added_nodes++;
		node->exec = GT_NONE;
		node->type = GT_GRAPH_NODE_EMPTY;
	}
}

/* Nodes with graphs inside, by what the graphs have in common with them. Types must be known. */
static void learn_parents(struct linker *linker)
{
	gt_array_each(const struct gt_graph_node, node, &linker->trace->graph_nodes) {
		struct ids *ids = &linker->ids[node->process];
		const gt_id row = (gt_id)(node - linker->trace->graph_nodes.rows);

		if (node->type != GT_GRAPH_NODE_GRAPH && node->type != GT_GRAPH_NODE_CONDITIONAL)
			continue;
		if (node->original_number == 0)
			learn(&ids->parents_of_calls, node->correlation, row);
		else if (node->original != GT_NONE)
			learn(&ids->clones, clone_key(node->original, node->correlation), row);
	}
}

/* Nodes may be in a graph that CUPTI did not tell of by itself. */
static void add_missing_graphs(struct linker *linker)
{
	gt_array_each(struct gt_graph_node, node, &linker->trace->graph_nodes) {
		struct ids *ids = &linker->ids[node->process];

		if (node->graph != GT_NONE || node->exec != GT_NONE || node->graph_number == 0)
			continue;
		node->graph = find(&ids->graphs, node->graph_number);
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
	bool *passed = gt_allocate(count * sizeof(*passed));

	memset(passed, 0, count * sizeof(*passed));
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

/* What graphs in nodes and in executable graphs are clones of, their nodes tell alone. */
static void find_originals(struct linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph, graph, &trace->graphs)
		graph->original = find(&linker->ids[graph->process].graphs, graph->original_number);
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
static gt_id find_parent(struct linker *linker, const struct gt_graph *graph)
{
	struct ids *ids = &linker->ids[graph->process];
	const gt_id above = graph->original == GT_NONE
	                            ? GT_NONE
	                            : linker->trace->graphs.rows[graph->original].parent;
	const gt_id parent = above == GT_NONE
	                             ? GT_NONE
	                             : find(&ids->clones, clone_key(above, graph->correlation));

	if (parent != GT_NONE)
		return parent;
	return graph->kind == GT_GRAPH_CHILD || graph->kind == GT_GRAPH_BODY
	               ? find(&ids->parents_of_calls, graph->correlation)
	               : GT_NONE;
}

static void link_graphs(struct linker *linker)
{
	struct gt_trace *trace = linker->trace;

	find_originals(linker);
	gt_array_each(struct gt_graph, graph, &trace->graphs) {
		struct ids *ids = &linker->ids[graph->process];

		graph->exec = find(&ids->execs, graph->number);
		graph->kind = kind_of_graph(trace, graph);
		if (graph->exec == GT_NONE && graph->kind == GT_GRAPH_INSIDE)
			graph->exec = find(&ids->execs_of_calls, graph->correlation);
		graph->parent = find_parent(linker, graph); /* originals come before their clones */
	}
	/* Of some captures only the launches tell that they were. */
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

/* From the call's parameters, from CUPTI's words for it, or from what its nodes are clones of. */
static void link_execs(struct linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_exec, exec, &trace->graph_execs) {
		struct ids *ids = ids_of(linker, exec->process);

		if (ids && exec->graph_number != exec->number)
			exec->graph = find(&ids->graphs, exec->graph_number);
	}
	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes)
		if (node->exec != GT_NONE && node->original != GT_NONE &&
		    trace->graph_execs.rows[node->exec].graph == GT_NONE)
			trace->graph_execs.rows[node->exec].graph =
				trace->graph_nodes.rows[node->original].graph;
}

/* ---- handles of executable graphs ---- */

static int by_handle(const void *a, const void *b)
{
	const struct holder *left = a;
	const struct holder *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->handle != right->handle)
		return left->handle < right->handle ? -1 : 1;
	return (left->made_ns > right->made_ns) - (left->made_ns < right->made_ns);
}

/* The last that got the handle before that, if it was still there. */
static gt_id find_holder(const struct linker *linker, gt_id process, uint64_t handle,
                         gt_time time_ns)
{
	const struct holder asked = {.handle = handle, .made_ns = time_ns, .process = process};
	const size_t before = gt_count_up_to(&linker->holders, &asked, by_handle);
	const struct holder *last;
	gt_time end_ns;

	if (!linker->holders.rows || before == 0)
		return GT_NONE;
	last = &linker->holders.rows[before - 1];
	if (last->handle != handle || last->process != process)
		return GT_NONE;
	end_ns = linker->trace->graph_execs.rows[last->exec].end_ns;
	return end_ns && end_ns < time_ns ? GT_NONE : last->exec;
}

static gt_id find_unknown(struct linker *linker, struct ids *ids, gt_id process, uint64_t handle)
{
	gt_id row = find(&ids->unknown, handle);

	if (row != GT_NONE || handle == 0)
		return row;
	row = (gt_id)linker->trace->graph_execs.count;
	gt_known_add(&ids->unknown, handle, row);
	*gt_array_push(&linker->trace->graph_execs) = (struct gt_graph_exec){
		.handle = handle,
		.process = process,
		.thread = GT_NONE,
		.api_call = GT_NONE,
		.graph = GT_NONE,
		.instantiation = GT_NONE,
		.is_unknown = 1,
	};
	return row;
}

static gt_id exec_of(struct linker *linker, gt_id thread, uint64_t handle, gt_time time_ns)
{
	const gt_id process = process_of_thread(linker->trace, thread);
	struct ids *ids = ids_of(linker, process);
	const gt_id found = ids ? find_holder(linker, process, handle, time_ns) : GT_NONE;

	return found != GT_NONE || !ids ? found : find_unknown(linker, ids, process, handle);
}

static void link_calls(struct linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_call, call, &trace->graph_calls) {
		struct ids *ids = ids_of(linker, process_of_thread(trace, call->thread));

		if (!ids || call->kind == GT_GRAPH_CALL_INSTANTIATE)
			continue;
		if (call->handle)
			call->exec = exec_of(linker, call->thread, call->handle, call->start_ns);
		call->graph = find(&ids->graphs, call->graph_number);
		call->node = find(&ids->nodes, call->node_number);
		if (call->node != GT_NONE && call->kind == GT_GRAPH_CALL_SET_NODE &&
		    call->result == 0)
			trace->graph_nodes.rows[call->node].changes++;
	}
}

static void link_launches(struct linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_launch, launch, &trace->graph_launches) {
		launch->exec = exec_of(linker, launch->thread, launch->handle, launch->start_ns);
		if (launch->api_call >= trace->api_calls.count)
			continue;

		const struct gt_api_call *call = &trace->api_calls.rows[launch->api_call];

		launch->end_ns = call->end_ns;
		launch->result = call->result;
		launch->flags |= call->flags & GT_UNFINISHED;
	}
}

static void apply_ends(struct linker *linker, const struct gt_capture *capture)
{
	struct gt_trace *trace = linker->trace;
	struct ids *ids = ids_of(linker, capture->process);

	gt_array_each(const struct gt_record_graph_end, end, &capture->raw_graph_ends) {
		const gt_time time_ns = (gt_time)end->time_ns;
		gt_id row;

		if (end->kind == GT_GRAPH_END_GRAPH &&
		    (row = find(&ids->graphs, end->number)) != GT_NONE)
			trace->graphs.rows[row].end_ns = time_ns;
		else if (end->kind == GT_GRAPH_END_EXEC &&
		         (row = find(&ids->execs, end->number)) != GT_NONE)
			trace->graph_execs.rows[row].end_ns = time_ns;
		else if (end->kind == GT_GRAPH_END_NODE &&
		         (row = find(&ids->nodes, end->number)) != GT_NONE)
			trace->graph_nodes.rows[row].end_ns = time_ns;
	}
}

/* ---- dependencies ---- */

/*
 * CUPTI's header does not say which of both nodes waits for the other. A node that is made with
 * its dependencies is the one that waits: what most of them say holds for all.
 */
static bool is_backward(const struct gt_trace *trace)
{
	size_t forward = 0;
	size_t backward = 0;

	gt_array_each(const struct gt_graph_dependency, dependency, &trace->graph_dependencies) {
		if (dependency->before == GT_NONE || dependency->after == GT_NONE ||
		    dependency->correlation == 0)
			continue;

		const bool from_made = trace->graph_nodes.rows[dependency->before].correlation ==
		                       dependency->correlation;
		const bool to_made = trace->graph_nodes.rows[dependency->after].correlation ==
		                     dependency->correlation;

		forward += to_made && !from_made;
		backward += from_made && !to_made;
	}
	return backward > forward;
}

static int by_nodes(const void *a, const void *b)
{
	const struct gt_graph_dependency *left = a;
	const struct gt_graph_dependency *right = b;

	if (left->before != right->before)
		return left->before < right->before ? -1 : 1;
	return (left->after > right->after) - (left->after < right->after);
}

/* One row for each dependency that was not taken away again, between nodes that are known. */
static void sift_dependencies(struct gt_trace *trace)
{
	struct gt_graph_dependency *rows = trace->graph_dependencies.rows;
	const size_t count = trace->graph_dependencies.count;
	size_t kept = 0;
	size_t next;

	if (count > 1)
		qsort(rows, count, sizeof(*rows), by_nodes);
	for (size_t i = 0; i < count; i = next) {
		size_t removed = 0;

		for (next = i; next < count && by_nodes(&rows[next], &rows[i]) == 0; next++)
			removed += rows[next].removed != 0;
		if (rows[i].before == GT_NONE || rows[i].after == GT_NONE ||
		    next - i <= 2 * removed)
			continue;
		rows[kept] = rows[i];
		rows[kept++].removed = 0;
	}
	trace->graph_dependencies.count = kept;
}

static void link_dependencies(struct linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_dependency, dependency, &trace->graph_dependencies) {
		struct ids *ids = ids_of(linker, dependency->process);

		dependency->before = ids ? find(&ids->nodes, dependency->from_number) : GT_NONE;
		dependency->after = ids ? find(&ids->nodes, dependency->to_number) : GT_NONE;
	}
	if (is_backward(trace)) {
		gt_array_each(struct gt_graph_dependency, dependency, &trace->graph_dependencies) {
			const struct gt_graph_dependency was = *dependency;

			dependency->from_number = was.to_number;
			dependency->to_number = was.from_number;
			dependency->before = was.after;
			dependency->after = was.before;
		}
	}
	sift_dependencies(trace);
}

/* ---- activity ---- */

static gt_id node_of(const struct linker *linker, gt_id stream, gt_wide number)
{
	const gt_id process = gt_trace_stream_process(linker->trace, stream);
	struct ids *ids = ids_of(linker, process);
	const gt_id node = ids ? find(&ids->nodes, number) : GT_NONE;

	return node != GT_NONE || !ids ? node
	                               : gt_graph_insides_find(linker->insides, process, number);
}

static void link_kernels(struct linker *linker)
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

/* What was put together from the activities of a launch may be in several parts. */
static void merge_traces(struct linker *linker)
{
	struct gt_graph_trace *rows = linker->trace->graph_traces.rows;
	gt_id kept = 0;

	for (size_t i = 0; i < linker->trace->graph_traces.count; i++) {
		struct ids *ids =
			ids_of(linker, gt_trace_stream_process(linker->trace, rows[i].stream));
		const uint64_t key = (uint64_t)rows[i].graph << 32 | rows[i].correlation;
		const gt_id at =
			ids && rows[i].activities ? first_told(&ids->wholes, key, kept) : kept;
		struct gt_graph_trace *whole = &rows[at];

		if (at == kept) {
			rows[kept++] = rows[i];
			continue;
		}
		whole->start_ns =
			rows[i].start_ns < whole->start_ns ? rows[i].start_ns : whole->start_ns;
		whole->end_ns = rows[i].end_ns > whole->end_ns ? rows[i].end_ns : whole->end_ns;
		whole->work_ns += rows[i].work_ns;
		whole->activities += rows[i].activities;
	}
	linker->trace->graph_traces.count = kept;
}

static void link_traces(struct linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_trace, whole, &trace->graph_traces) {
		struct ids *ids = ids_of(linker, gt_trace_stream_process(trace, whole->stream));

		if (ids)
			whole->exec = find(&ids->execs, whole->graph);
	}
}

/* Of executable graphs that nobody saw being made, their kernels tell the ids. */
static void number_unknown(struct gt_trace *trace)
{
	gt_id *exec_of_call = gt_allocate(trace->api_calls.count * sizeof(*exec_of_call));

	memset(exec_of_call, 0xff, trace->api_calls.count * sizeof(*exec_of_call));
	gt_array_each(const struct gt_graph_launch, launch, &trace->graph_launches)
		if (launch->api_call < trace->api_calls.count)
			exec_of_call[launch->api_call] = launch->exec;
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels) {
		const gt_id exec = kernel->api_call < trace->api_calls.count
		                           ? exec_of_call[kernel->api_call]
		                           : GT_NONE;

		if (exec < trace->graph_execs.count && trace->graph_execs.rows[exec].number == 0)
			trace->graph_execs.rows[exec].number = kernel->graph;
	}
	gt_array_free(exec_of_call);
}

/* ---- recordings made before graphs were recorded ---- */

/* There the API calls tell of launches, and kernels the number of what was launched. */
static gt_id exec_with_number(struct linker *linker, gt_id process, gt_count number)
{
	struct ids *ids = ids_of(linker, process);
	gt_id row = ids ? find(&ids->execs, number) : GT_NONE;

	if (row != GT_NONE || !ids || number == 0)
		return row;
	row = (gt_id)linker->trace->graph_execs.count;
	gt_known_add(&ids->execs, number, row);
	*gt_array_push(&linker->trace->graph_execs) = (struct gt_graph_exec){
		.process = process,
		.thread = GT_NONE,
		.api_call = GT_NONE,
		.graph = GT_NONE,
		.instantiation = GT_NONE,
		.number = number,
		.is_unknown = 1,
	};
	return row;
}

static void add_launches_of_calls(struct linker *linker)
{
	struct gt_trace *trace = linker->trace;
	gt_count *numbers = gt_allocate(trace->api_calls.count * sizeof(*numbers));

	memset(numbers, 0, trace->api_calls.count * sizeof(*numbers));
	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		if (kernel->graph && kernel->api_call < trace->api_calls.count)
			numbers[kernel->api_call] = kernel->graph;
	for (gt_id i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];

		if (call->kind != GT_API_GRAPH_LAUNCH || call->flags & GT_NESTED)
			continue;
		*gt_array_push(&trace->graph_launches) = (struct gt_graph_launch){
			.start_ns = call->start_ns,
			.end_ns = call->end_ns,
			.thread = call->thread,
			.context = GT_NONE,
			.stream = GT_NONE,
			.api_call = i,
			.exec = exec_with_number(linker, process_of_thread(trace, call->thread),
		                                 numbers[i]),
			.correlation = call->correlation,
			.result = call->result,
			.flags = call->flags,
		};
	}
	gt_array_free(numbers);
}

static void remark_unknown(struct gt_collection *collection, const struct linker *linker)
{
	gt_array_each(const struct gt_capture, capture, &collection->captures) {
		const struct ids *ids = ids_of(linker, capture->process);

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

static void release(struct linker *linker)
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

static void link_all(struct linker *linker, struct gt_collection *collection)
{
	merge_graphs(linker);
	merge_nodes(linker);
	merge_execs(linker);
	for (gt_id row = 0; row < linker->trace->graph_calls.count; row++)
		take_instantiation(linker, row);
	if (linker->holders.count > 1)
		qsort(linker->holders.rows, linker->holders.count, sizeof(struct holder),
		      by_handle);
	link_nodes(linker);
	add_missing_graphs(linker);
	find_types(linker->trace);
	set_added_aside(linker);
	find_origins(linker->trace);
	learn_parents(linker);
	name_makers(linker->trace);
	link_graphs(linker);
	link_execs(linker);
	gt_array_each(const struct gt_capture, capture, &collection->captures)
		apply_ends(linker, capture);
	link_calls(linker);
	link_launches(linker);
	link_dependencies(linker);
	linker->insides = gt_graph_insides_new(linker->trace);
	link_kernels(linker);
	gt_graph_bodies_link(linker->trace);
	gt_graph_ranges_link(linker->trace);
	merge_traces(linker);
	link_traces(linker);
	number_unknown(linker->trace);
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
	struct linker linker = {.trace = trace};

	(void)err;
	linker.ids = gt_allocate(trace->processes.count * sizeof(*linker.ids));
	memset(linker.ids, 0, trace->processes.count * sizeof(*linker.ids));
	if (tells_of_graphs(trace))
		link_all(&linker, collection);
	else
		add_launches_of_calls(&linker);
	release(&linker);
	return 0;
}

const struct gt_stage gt_stage_graphs = {.name = "graphs", .run = run};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "collector/graphs/linker.h"
#include "model/kinds/graph.h"

static void add_holder(struct gt_graph_linker *linker, gt_id exec)
{
	const struct gt_graph_exec *row = &linker->trace->graph_execs.rows[exec];

	if (row->handle)
		*gt_array_push(&linker->holders) =
			(struct gt_graph_holder){row->handle, row->made_ns, row->process, exec};
}

void gt_graph_execs_merge(struct gt_graph_linker *linker)
{
	struct gt_graph_exec *rows = linker->trace->graph_execs.rows;
	gt_id kept = 0;

	for (size_t i = 0; i < linker->trace->graph_execs.count; i++) {
		struct gt_graph_ids *ids = gt_graph_ids_of(linker, rows[i].process);

		if (!ids || gt_graph_find(&ids->execs, rows[i].number) != GT_NONE)
			continue;
		rows[kept] = rows[i];
		gt_graph_learn(&ids->execs, rows[kept].number, kept);
		gt_graph_learn(&ids->execs_of_calls, rows[kept].correlation, kept);
		add_holder(linker, kept);
		kept++;
	}
	linker->trace->graph_execs.count = kept;
}

/* An executable graph that CUPTI did not tell of is known by the call that returned it. */
static gt_id add_exec(struct gt_graph_linker *linker, struct gt_graph_ids *ids,
                      const struct gt_graph_call *call)
{
	const gt_id row = (gt_id)linker->trace->graph_execs.count;

	*gt_array_push(&linker->trace->graph_execs) = (struct gt_graph_exec){
		.made_ns = call->end_ns ? call->end_ns : call->start_ns,
		.handle = call->handle,
		.process = gt_trace_thread_process(linker->trace, call->thread),
		.thread = call->thread,
		.api_call = call->api_call,
		.graph = GT_NONE,
		.correlation = call->correlation,
	};
	gt_graph_learn(&ids->execs_of_calls, call->correlation, row);
	add_holder(linker, row);
	return row;
}

static void take_instantiation(struct gt_graph_linker *linker, gt_id row)
{
	struct gt_graph_call *call = &linker->trace->graph_calls.rows[row];
	struct gt_graph_ids *ids =
		gt_graph_ids_of(linker, gt_trace_thread_process(linker->trace, call->thread));
	struct gt_graph_exec *exec;

	if (!ids || call->kind != GT_GRAPH_CALL_INSTANTIATE)
		return;
	call->graph = gt_graph_find(&ids->graphs, call->graph_number);
	call->exec = gt_graph_find(&ids->execs_of_calls, call->correlation);
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

static int by_handle(const void *a, const void *b)
{
	const struct gt_graph_holder *left = a;
	const struct gt_graph_holder *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->handle != right->handle)
		return left->handle < right->handle ? -1 : 1;
	return (left->made_ns > right->made_ns) - (left->made_ns < right->made_ns);
}

void gt_graph_execs_instantiate(struct gt_graph_linker *linker)
{
	for (gt_id row = 0; row < linker->trace->graph_calls.count; row++)
		take_instantiation(linker, row);
	if (linker->holders.count > 1)
		qsort(linker->holders.rows, linker->holders.count, sizeof(struct gt_graph_holder),
		      by_handle);
}

void gt_graph_execs_link(struct gt_graph_linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_exec, exec, &trace->graph_execs) {
		struct gt_graph_ids *ids = gt_graph_ids_of(linker, exec->process);

		if (ids && exec->graph_number != exec->number)
			exec->graph = gt_graph_find(&ids->graphs, exec->graph_number);
	}
	gt_array_each(const struct gt_graph_node, node, &trace->graph_nodes)
		if (node->exec != GT_NONE && node->original != GT_NONE &&
		    trace->graph_execs.rows[node->exec].graph == GT_NONE)
			trace->graph_execs.rows[node->exec].graph =
				trace->graph_nodes.rows[node->original].graph;
}

/* ---- handles ---- */

/* The last that got the handle before that, if it was still there. */
static gt_id find_holder(const struct gt_graph_linker *linker, gt_id process, uint64_t handle,
                         gt_time time_ns)
{
	const struct gt_graph_holder asked = {
		.handle = handle, .made_ns = time_ns, .process = process};
	const size_t before = gt_count_up_to(&linker->holders, &asked, by_handle);
	const struct gt_graph_holder *last;
	gt_time end_ns;

	if (!linker->holders.rows || before == 0)
		return GT_NONE;
	last = &linker->holders.rows[before - 1];
	if (last->handle != handle || last->process != process)
		return GT_NONE;
	end_ns = linker->trace->graph_execs.rows[last->exec].end_ns;
	return end_ns && end_ns < time_ns ? GT_NONE : last->exec;
}

static gt_id find_unknown(struct gt_graph_linker *linker, struct gt_graph_ids *ids, gt_id process,
                          uint64_t handle)
{
	gt_id row = gt_graph_find(&ids->unknown, handle);

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

static gt_id exec_of(struct gt_graph_linker *linker, gt_id thread, uint64_t handle, gt_time time_ns)
{
	const gt_id process = gt_trace_thread_process(linker->trace, thread);
	struct gt_graph_ids *ids = gt_graph_ids_of(linker, process);
	const gt_id found = ids ? find_holder(linker, process, handle, time_ns) : GT_NONE;

	return found != GT_NONE || !ids ? found : find_unknown(linker, ids, process, handle);
}

void gt_graph_execs_link_calls(struct gt_graph_linker *linker)
{
	struct gt_trace *trace = linker->trace;

	gt_array_each(struct gt_graph_call, call, &trace->graph_calls) {
		struct gt_graph_ids *ids =
			gt_graph_ids_of(linker, gt_trace_thread_process(trace, call->thread));

		if (!ids || call->kind == GT_GRAPH_CALL_INSTANTIATE)
			continue;
		if (call->handle)
			call->exec = exec_of(linker, call->thread, call->handle, call->start_ns);
		call->graph = gt_graph_find(&ids->graphs, call->graph_number);
		call->node = gt_graph_find(&ids->nodes, call->node_number);
		if (call->node != GT_NONE && call->kind == GT_GRAPH_CALL_SET_NODE &&
		    call->result == 0)
			trace->graph_nodes.rows[call->node].changes++;
	}
}

void gt_graph_execs_link_launches(struct gt_graph_linker *linker)
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

void gt_graph_execs_number(struct gt_trace *trace)
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
static gt_id exec_with_number(struct gt_graph_linker *linker, gt_id process, gt_count number)
{
	struct gt_graph_ids *ids = gt_graph_ids_of(linker, process);
	gt_id row = ids ? gt_graph_find(&ids->execs, number) : GT_NONE;

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

void gt_graph_execs_add_of_calls(struct gt_graph_linker *linker)
{
	struct gt_trace *trace = linker->trace;
	gt_count *numbers = gt_allocate_zeroed(trace->api_calls.count, sizeof(*numbers));

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
			.exec = exec_with_number(
				linker, gt_trace_thread_process(trace, call->thread), numbers[i]),
			.correlation = call->correlation,
			.result = call->result,
			.flags = call->flags,
		};
	}
	gt_array_free(numbers);
}

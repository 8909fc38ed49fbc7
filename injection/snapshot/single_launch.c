/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/single_launch.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "injection/session/services.h"
#include "injection/snapshot/graph_steps.h"

/* With the turn: what is captured is new. */
static void begin_bundle(struct gt_session *session, struct gt_single_launch *kernels,
                         struct gt_call call, const char *name)
{
	struct gt_launch_capture *capture = kernels->thread.capture;

	gt_capture_lists_empty(&capture->lists);
	gt_graph_steps_begin(kernels->thread.graphs);
	capture->context = call.data->context;
	capture->has_focus = false;
	capture->most = gt_capture_thread_left(session, &kernels->thread);
	gt_capture_folder(capture->folder, sizeof(capture->folder), kernels->number, name);
}

/* All that is done before the launch of a kernel. */
static int capture_kernel(struct gt_session *session, struct gt_single_launch *kernels,
                          const struct gt_launch *launch, struct gt_call call, struct gt_error *err)
{
	struct gt_launch_capture *capture = kernels->thread.capture;
	struct gt_capture_stream stream;
	int result = gt_capture_thread_open(&kernels->thread, err);

	capture->name = call.data->symbolName ? call.data->symbolName : "";
	begin_bundle(session, kernels, call, capture->name);
	capture->step = (struct gt_capture_step){.kind = GT_BUNDLE_STEP_launch,
	                                         .correlation = call.data->correlationId,
	                                         .event = GT_CAPTURE_NONE};
	if (result == 0 && !gt_launch_describe(call.id, call.data, &capture->step.launch))
		result = gt_fail(err, EINVAL, "its call has no parameters");
	if (result == 0)
		result = gt_capture_read_launch(session, &kernels->thread, err);
	if (result < 0)
		return result;
	stream = gt_capture_read_stream(session, &kernels->thread, gt_single_launch_stream(launch));
	capture->step.stream = (uint32_t)gt_capture_number_stream(&capture->lists, &stream, err);
	return gt_capture_thread_do(session, &kernels->thread, GT_CAPTURE_BEFORE, err);
}

/* With the turn: the nth node of the name, in the order in which they are captured. */
static uint32_t find_focus(struct gt_single_launch *kernels, const struct gt_chosen_launch *chosen,
                           struct gt_error *err)
{
	const struct gt_graph_nodes *nodes = &chosen->graph->nodes;
	struct gt_graph_order *order = &kernels->thread.graphs->order;
	uint32_t seen = 0;

	if (gt_graph_order(order, nodes, err) < 0)
		return GT_CAPTURE_NONE;
	for (uint32_t i = 0; i < order->count; i++)
		if (gt_single_launch_is_wanted(kernels, nodes, order->order[i]) &&
		    seen++ == chosen->nth)
			return order->order[i];
	(void)gt_fail(err, EINVAL, "its node was not found");
	return GT_CAPTURE_NONE;
}

/* Drops all that came of it before it failed. */
static void drop(struct gt_session *session, struct gt_single_launch *kernels)
{
	struct gt_error err = {0};

	if (atomic_load_explicit(&kernels->thread.abandoned, memory_order_relaxed))
		return;
	if (kernels->thread.capture->writer.folder >= 0)
		(void)gt_capture_thread_do(session, &kernels->thread, GT_CAPTURE_DROP, &err);
	else
		gt_capture_lists_empty(&kernels->thread.capture->lists);
}

/* The same of the launch of a graph, which is taken. */
static int capture_graph(struct gt_session *session, struct gt_single_launch *kernels,
                         const struct gt_chosen_launch *chosen, struct gt_call call,
                         struct gt_error *err)
{
	struct gt_graph_launch launch = {.stream = gt_single_launch_stream(chosen->launch),
	                                 .correlation = call.data->correlationId,
	                                 .focus = GT_CAPTURE_NONE};
	const struct gt_graph_nodes *nodes = &chosen->graph->nodes;
	const bool is_of_node = kernels->thread.choice.wanted == GT_LAUNCH_KERNEL;
	int result = gt_capture_thread_open(&kernels->thread, err);

	if (result == 0 && is_of_node) {
		launch.focus = find_focus(kernels, chosen, err);
		result = launch.focus == GT_CAPTURE_NONE ? -EINVAL : 0;
	}
	if (result < 0)
		return result;
	(void)snprintf(kernels->node, sizeof(kernels->node), "%s",
	               is_of_node ? gt_graph_node_name(nodes, launch.focus) : "*");
	begin_bundle(session, kernels, call, is_of_node ? kernels->node : "graph");
	result = gt_graph_steps_add(session, &kernels->thread, kernels->thread.graphs, &launch,
	                            chosen->graph, err);
	if (result == 0 && !gt_capture_has_work(&kernels->thread.capture->lists))
		result = gt_fail(err, ENOTSUP, "it has no launch, copy or fill");
	if (result < 0)
		drop(session, kernels);
	return result;
}

static int capture_before(struct gt_session *session, struct gt_single_launch *kernels,
                          const struct gt_chosen_launch *chosen, struct gt_call call,
                          struct gt_error *err)
{
	struct gt_kept_graphs *kept = gt_kept_graphs_of(session);
	struct gt_chosen_launch whole = *chosen;
	int result;

	(void)snprintf(kernels->node, sizeof(kernels->node), "%s", chosen->node);
	if (chosen->launch->kind == GT_LAUNCH_KERNEL)
		return capture_kernel(session, kernels, chosen->launch, call, err);
	if (chosen->graph)
		return capture_graph(session, kernels, chosen, call, err);
	result = gt_kept_graphs_take(kept, chosen->launch->exec, &whole.graph, err);
	if (result < 0)
		return result;
	result = capture_graph(session, kernels, &whole, call, err);
	gt_capture_give_graph(session, &kernels->thread, whole.graph);
	return result;
}

struct gt_record_captured_launch gt_single_launch_told(struct gt_call call, uint64_t number)
{
	const uint64_t now = gt_stamp();

	return (struct gt_record_captured_launch){
		.start_ns = now,
		.end_ns = now,
		.correlation = call.data->correlationId,
		.context = call.data->contextUid,
		.number = number,
	};
}

/* True: the launch is captured, and has the turn until it returns. */
bool gt_single_launch_begin(struct gt_session *session, struct gt_single_launch *kernels,
                            const struct gt_chosen_launch *chosen, struct gt_call call)
{
	struct gt_record_captured_launch told = gt_single_launch_told(call, chosen->number);
	struct gt_error err = {0};

	switch (gt_launch_turn_take(&kernels->thread.turn)) {
	case GT_TURN_TAKEN:
		break;
	case GT_TURN_LATE:
		gt_capture_emit_refused(session, &kernels->thread, &told, chosen->node,
		                        "another launch was being captured");
		return false;
	case GT_TURN_NOISY:
		gt_capture_emit_refused(
			session, &kernels->thread, &told, chosen->node,
			"another thread's launch did not return within two seconds");
		return false;
	}
	kernels->number = chosen->number;
	kernels->began_ns = gt_stamp();
	kernels->began_at_ns = gt_now();
	if (capture_before(session, kernels, chosen, call, &err) == 0)
		return true;
	told.start_ns = kernels->began_ns;
	told.end_ns = gt_stamp();
	kernels->thread.held_ns += gt_now() - kernels->began_at_ns;
	gt_capture_emit_refused(session, &kernels->thread, &told, kernels->node, err.text);
	gt_launch_turn_end(&kernels->thread.turn);
	return false;
}

void gt_single_launch_end(struct gt_session *session, struct gt_single_launch *kernels,
                          struct gt_call call)
{
	struct gt_record_captured_launch told = gt_single_launch_told(call, kernels->number);
	const uint32_t failed = gt_call_result(call);
	struct gt_error err = {0};
	int result;

	if (*kernels->node)
		told.steps = kernels->thread.capture->lists.step_count;
	result = gt_capture_thread_do(session, &kernels->thread,
	                              failed ? GT_CAPTURE_DROP : GT_CAPTURE_AFTER, &err);
	if (failed)
		result = gt_fail(&err, EINVAL, "the launch failed");
	told.start_ns = kernels->began_ns;
	told.end_ns = gt_stamp();
	if (result == 0)
		gt_capture_emit(session, &kernels->thread, &told, kernels->node);
	else
		gt_capture_emit_refused(session, &kernels->thread, &told, kernels->node, err.text);
	kernels->thread.held_ns += gt_now() - kernels->began_at_ns;
	gt_launch_turn_end(&kernels->thread.turn);
}

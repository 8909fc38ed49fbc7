/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/choose_launch.h"

#include <stdio.h>

#include "base/error.h"
#include "injection/calls/launch.h"
#include "injection/session/services.h"

/* ---- kernels that are nodes ---- */

static void note_unknown(struct gt_session *session, struct gt_single_launch *kernels,
                         const char *reason)
{
	char note[384];

	if (atomic_exchange_explicit(&kernels->unknown, true, memory_order_relaxed))
		return;
	(void)snprintf(note, sizeof(note),
	               "CUDA graphs were launched in which kernels are not looked for, the first "
	               "one because %s",
	               reason);
	gt_note(session, kernels->thread.topic, note);
}

/* The nth node of the name as they were made, which is mostly the order in which they run. */
static const char *find_name(const struct gt_single_launch *kernels,
                             const struct gt_graph_nodes *nodes, uint64_t nth)
{
	for (uint32_t i = 0; i < nodes->node_count; i++)
		if (gt_single_launch_is_wanted(kernels, nodes, i) && nth-- == 0)
			return gt_graph_node_name(nodes, i);
	return "";
}

/* A launch is captured for one of its nodes: the others that are chosen would need another one. */
static void refuse_others(struct gt_session *session, struct gt_single_launch *kernels,
                          const struct gt_chosen_launch *chosen, struct gt_call call, uint64_t end)
{
	for (uint64_t number = chosen->number + 1; number < end; number++) {
		const struct gt_record_captured_launch told = gt_single_launch_told(call, number);
		const uint64_t nth = chosen->nth + number - chosen->number;

		gt_capture_emit_refused(session, &kernels->thread, &told,
		                        find_name(kernels, &chosen->graph->nodes, nth),
		                        "this launch of its CUDA graph was taken for another node, "
		                        "which was chosen before");
	}
}

/* True: the launch of the graph is captured for one of its nodes. */
static bool begin_node(struct gt_session *session, struct gt_single_launch *kernels,
                       const struct gt_launch *launch, struct gt_call call,
                       struct gt_kept_graph *graph)
{
	const struct gt_launch_choice *choice = &kernels->thread.choice;
	struct gt_chosen_launch chosen = {.launch = launch, .graph = graph};
	uint64_t count = 0;
	uint64_t first;
	uint64_t end;
	bool is_begun;

	for (uint32_t i = 0; i < graph->nodes.node_count; i++)
		count += gt_single_launch_is_wanted(kernels, &graph->nodes, i);
	if (count == 0)
		return false;
	first = gt_launch_choice_count(&kernels->thread.choice, count);
	end = first + count < choice->end ? first + count : choice->end;
	chosen.number = first > choice->first ? first : choice->first;
	if (chosen.number >= end)
		return false;
	chosen.nth = (uint32_t)(chosen.number - first);
	chosen.node = find_name(kernels, &graph->nodes, chosen.nth);
	is_begun = gt_single_launch_begin(session, kernels, &chosen, call);
	refuse_others(session, kernels, &chosen, call, end);
	return is_begun;
}

static bool enter_graph(struct gt_session *session, struct gt_single_launch *kernels,
                        const struct gt_launch *launch, struct gt_call call)
{
	struct gt_kept_graphs *kept = gt_kept_graphs_of(session);
	struct gt_kept_graph *graph = NULL;
	struct gt_error err = {0};
	bool is_begun;

	if (!gt_launch_choice_is_open(session, &kernels->thread.choice) ||
	    gt_launch_choice_is_captured(&kernels->thread.choice, gt_single_launch_stream(launch)))
		return false;
	if (gt_kept_graphs_take(kept, launch->exec, &graph, &err) < 0) {
		note_unknown(session, kernels, err.text);
		return false;
	}
	is_begun = begin_node(session, kernels, launch, call, graph);
	gt_capture_give_graph(session, &kernels->thread, graph);
	return is_begun;
}

/* ---- calls ---- */

static bool begin_launch(struct gt_session *session, struct gt_single_launch *kernels,
                         const struct gt_launch *launch, struct gt_call call)
{
	struct gt_chosen_launch chosen = {.launch = launch,
	                                  .node = launch->kind == GT_LAUNCH_GRAPH ? "*" : ""};
	struct gt_record_captured_launch told;

	switch (gt_launch_choice_ask(session, &kernels->thread.choice, launch, call,
	                             &chosen.number)) {
	case GT_LAUNCH_OTHER:
		break;
	case GT_LAUNCH_CAPTURED:
		told = gt_single_launch_told(call, 0);
		gt_capture_emit_refused(
			session, &kernels->thread, &told, chosen.node,
			"a stream was being captured into a CUDA graph: as its node it runs "
			"later, and is chosen when the graph is launched");
		break;
	case GT_LAUNCH_TAKEN:
		return gt_single_launch_begin(session, kernels, &chosen, call);
	}
	return false;
}

static void *enter_launch(struct gt_session *session, struct gt_single_launch *kernels,
                          const struct gt_launch *launch, struct gt_call call)
{
	const bool has_nodes = launch->kind == GT_LAUNCH_GRAPH &&
	                       kernels->thread.choice.wanted == GT_LAUNCH_KERNEL;

	if (has_nodes ? enter_graph(session, kernels, launch, call)
	              : begin_launch(session, kernels, launch, call))
		return &kernels->thread;
	return gt_capture_thread_pass(session, &kernels->thread) ? &kernels->thread.turn : NULL;
}

/* An array does not end while a launch is captured, which may use it: the driver is asked of it. */
static void *enter_foreign(struct gt_session *session, struct gt_single_launch *kernels,
                           struct gt_call call)
{
	const bool passes =
		gt_foreign_ends_array(call) && gt_capture_thread_pass(session, &kernels->thread);

	gt_foreign_enter(&kernels->thread.foreign, call);
	return passes ? (void *)&kernels->thread.turn : &kernels->thread.foreign;
}

void *gt_choose_launch(struct gt_session *session, struct gt_single_launch *kernels,
                       struct gt_call call)
{
	struct gt_launch launch;

	if (gt_foreign_is_call(call))
		return enter_foreign(session, kernels, call);
	if (!gt_launch_read(call.id, call.data, &launch))
		return gt_capture_step(call.id) ? &kernels->thread.choice : NULL;
	return gt_launch_turn_is_on(&kernels->thread.turn)
	               ? enter_launch(session, kernels, &launch, call)
	               : NULL;
}

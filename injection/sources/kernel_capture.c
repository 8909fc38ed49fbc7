/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "injection/calls/launch.h"
#include "injection/counters/launch_choice.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/snapshot/graph_steps.h"
#include "injection/snapshot/graphs/kept.h"
#include "injection/snapshot/thread.h"

/*
 * Single launches with all that running them again needs: code, parameters, and the memory that
 * they can reach, before and after. One launch is captured at a time, and no other one of the
 * process goes to a GPU meanwhile. Off unless GPUTRACE_CAPTURE_KERNELS says which, or
 * GPUTRACE_CAPTURE_GRAPHS that it is those of CUDA graphs. A kernel that is a node of a graph is
 * captured with all of the graph's launch.
 *
 * At the entry of the driver's call the program's thread reads what is launched and waits for a
 * thread of ours (capture_thread.h), which waits for the GPU, copies memory and writes the bundle;
 * at its return once more.
 */

struct kernel_capture {
	struct gt_capture_thread thread;
	struct gt_launch_choice choice;
	_Atomic bool
		unknown; /* graphs were launched whose nodes are not known, and a note says so */
	struct gt_graph_steps *graphs;
	/* With the turn: */
	uint64_t number;   /* of the launch that is being captured */
	uint64_t began_ns; /* gt_stamp */
	uint64_t began_at_ns;
	char node[4096]; /* as the record has it */
};

extern const struct gt_source gt_source_kernel_capture;

static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	gt_capture_thread_run(session, &((struct kernel_capture *)state)->thread, waiter);
}

/* The work that is captured in a call. */
struct chosen {
	const struct gt_launch *launch;
	uint64_t number;
	const char *node;            /* as the record has it; empty: it is no launch of a graph */
	struct gt_kept_graph *graph; /* of a node: what is launched, */
	uint32_t nth;                /* and of its nodes of the name so many come before it */
};

/* ---- one launch ---- */

static CUstream stream_of(const struct gt_launch *launch)
{
	return !launch->stream && launch->per_thread ? CU_STREAM_PER_THREAD : launch->stream;
}

/* With the turn: what is captured is new. */
static void begin_bundle(struct gt_session *session, struct kernel_capture *kernels,
                         struct gt_call call, const char *name)
{
	struct gt_launch_capture *capture = kernels->thread.capture;

	gt_capture_lists_empty(&capture->lists);
	gt_graph_steps_begin(kernels->graphs);
	capture->context = call.data->context;
	capture->has_focus = false;
	capture->most = gt_capture_thread_left(session, &kernels->thread);
	gt_capture_folder(capture->folder, sizeof(capture->folder), kernels->number, name);
}

/* All that is done before the launch of a kernel. */
static int capture_kernel(struct gt_session *session, struct kernel_capture *kernels,
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
	stream = gt_capture_read_stream(session, &kernels->thread, stream_of(launch));
	capture->step.stream = (uint32_t)gt_capture_number_stream(&capture->lists, &stream, err);
	return gt_capture_thread_do(session, &kernels->thread, GT_CAPTURE_BEFORE, err);
}

static const char *name_of(const struct gt_graph_nodes *nodes, uint32_t number)
{
	return (const char *)nodes->bytes + nodes->nodes[number].name;
}

/* For a graph that is taken: its nodes keep the answer, as it is launched again and again. */
static bool is_wanted(const struct kernel_capture *kernels, const struct gt_graph_nodes *nodes,
                      uint32_t number)
{
	struct gt_graph_node *node = &nodes->nodes[number];

	if (node->kind != GT_GRAPH_NODE_KERNEL || node->disabled)
		return false;
	if (node->named == GT_GRAPH_NODE_UNASKED)
		node->named = gt_launch_choice_has_name(&kernels->choice, name_of(nodes, number))
		                      ? GT_GRAPH_NODE_WANTED
		                      : GT_GRAPH_NODE_UNWANTED;
	return node->named == GT_GRAPH_NODE_WANTED;
}

/* With the turn: the nth node of the name, in the order in which they are captured. */
static uint32_t find_focus(struct kernel_capture *kernels, const struct chosen *chosen,
                           struct gt_error *err)
{
	const struct gt_graph_nodes *nodes = &chosen->graph->nodes;
	struct gt_graph_order *order = &kernels->graphs->order;
	uint32_t seen = 0;

	if (gt_graph_order(order, nodes, err) < 0)
		return GT_CAPTURE_NONE;
	for (uint32_t i = 0; i < order->count; i++)
		if (is_wanted(kernels, nodes, order->order[i]) && seen++ == chosen->nth)
			return order->order[i];
	(void)gt_fail(err, EINVAL, "its node was not found");
	return GT_CAPTURE_NONE;
}

/* Drops all that came of it before it failed. */
static void drop(struct gt_session *session, struct kernel_capture *kernels)
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
static int capture_graph(struct gt_session *session, struct kernel_capture *kernels,
                         const struct chosen *chosen, struct gt_call call, struct gt_error *err)
{
	struct gt_graph_launch launch = {.stream = stream_of(chosen->launch),
	                                 .correlation = call.data->correlationId,
	                                 .focus = GT_CAPTURE_NONE};
	const struct gt_graph_nodes *nodes = &chosen->graph->nodes;
	const bool is_of_node = kernels->choice.wanted == GT_LAUNCH_KERNEL;
	int result = gt_capture_thread_open(&kernels->thread, err);

	if (result == 0 && is_of_node) {
		launch.focus = find_focus(kernels, chosen, err);
		result = launch.focus == GT_CAPTURE_NONE ? -EINVAL : 0;
	}
	if (result < 0)
		return result;
	(void)snprintf(kernels->node, sizeof(kernels->node), "%s",
	               is_of_node ? name_of(nodes, launch.focus) : "*");
	begin_bundle(session, kernels, call, is_of_node ? kernels->node : "graph");
	result = gt_graph_steps_add(session, &kernels->thread, kernels->graphs, &launch,
	                            chosen->graph, err);
	if (result == 0 && !gt_capture_has_work(&kernels->thread.capture->lists))
		result = gt_fail(err, ENOTSUP, "it has no launch, copy or fill");
	if (result < 0)
		drop(session, kernels);
	return result;
}

static int capture_before(struct gt_session *session, struct kernel_capture *kernels,
                          const struct chosen *chosen, struct gt_call call, struct gt_error *err)
{
	struct gt_kept_graphs *kept = gt_kept_graphs_of(session);
	struct chosen whole = *chosen;
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

static struct gt_record_captured_launch told_of(struct gt_call call, uint64_t number)
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
static bool begin_capture(struct gt_session *session, struct kernel_capture *kernels,
                          const struct chosen *chosen, struct gt_call call)
{
	struct gt_record_captured_launch told = told_of(call, chosen->number);
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

static void end_capture(struct gt_session *session, struct kernel_capture *kernels,
                        struct gt_call call)
{
	struct gt_record_captured_launch told = told_of(call, kernels->number);
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

/* ---- kernels that are nodes ---- */

static void note_unknown(struct gt_session *session, struct kernel_capture *kernels,
                         const char *reason)
{
	char note[384];

	if (atomic_exchange_explicit(&kernels->unknown, true, memory_order_relaxed))
		return;
	(void)snprintf(note, sizeof(note),
	               "CUDA graphs were launched in which kernels are not looked for, the first "
	               "one because %s",
	               reason);
	gt_note(session, "kernel_capture", note);
}

/* The nth node of the name as they were made, which is mostly the order in which they run. */
static const char *find_name(const struct kernel_capture *kernels,
                             const struct gt_graph_nodes *nodes, uint64_t nth)
{
	for (uint32_t i = 0; i < nodes->node_count; i++)
		if (is_wanted(kernels, nodes, i) && nth-- == 0)
			return name_of(nodes, i);
	return "";
}

/* A launch is captured for one of its nodes: the others that are chosen would need another one. */
static void refuse_others(struct gt_session *session, struct kernel_capture *kernels,
                          const struct chosen *chosen, struct gt_call call, uint64_t end)
{
	for (uint64_t number = chosen->number + 1; number < end; number++) {
		const struct gt_record_captured_launch told = told_of(call, number);
		const uint64_t nth = chosen->nth + number - chosen->number;

		gt_capture_emit_refused(session, &kernels->thread, &told,
		                        find_name(kernels, &chosen->graph->nodes, nth),
		                        "this launch of its CUDA graph was taken for another node, "
		                        "which was chosen before");
	}
}

/* True: the launch of the graph is captured for one of its nodes. */
static bool begin_node(struct gt_session *session, struct kernel_capture *kernels,
                       const struct gt_launch *launch, struct gt_call call,
                       struct gt_kept_graph *graph)
{
	const struct gt_launch_choice *choice = &kernels->choice;
	struct chosen chosen = {.launch = launch, .graph = graph};
	uint64_t count = 0;
	uint64_t first;
	uint64_t end;
	bool is_begun;

	for (uint32_t i = 0; i < graph->nodes.node_count; i++)
		count += is_wanted(kernels, &graph->nodes, i);
	if (count == 0)
		return false;
	first = gt_launch_choice_count(&kernels->choice, count);
	end = first + count < choice->end ? first + count : choice->end;
	chosen.number = first > choice->first ? first : choice->first;
	if (chosen.number >= end)
		return false;
	chosen.nth = (uint32_t)(chosen.number - first);
	chosen.node = find_name(kernels, &graph->nodes, chosen.nth);
	is_begun = begin_capture(session, kernels, &chosen, call);
	refuse_others(session, kernels, &chosen, call, end);
	return is_begun;
}

static bool enter_graph(struct gt_session *session, struct kernel_capture *kernels,
                        const struct gt_launch *launch, struct gt_call call)
{
	struct gt_kept_graphs *kept = gt_kept_graphs_of(session);
	struct gt_kept_graph *graph = NULL;
	struct gt_error err = {0};
	bool is_begun;

	if (!gt_launch_choice_is_open(session, &kernels->choice) ||
	    gt_launch_choice_is_captured(&kernels->choice, stream_of(launch)))
		return false;
	if (gt_kept_graphs_take(kept, launch->exec, &graph, &err) < 0) {
		note_unknown(session, kernels, err.text);
		return false;
	}
	is_begun = begin_node(session, kernels, launch, call, graph);
	gt_capture_give_graph(session, &kernels->thread, graph);
	return is_begun;
}

/* ---- callbacks ---- */

static bool begin_launch(struct gt_session *session, struct kernel_capture *kernels,
                         const struct gt_launch *launch, struct gt_call call)
{
	struct chosen chosen = {.launch = launch,
	                        .node = launch->kind == GT_LAUNCH_GRAPH ? "*" : ""};
	struct gt_record_captured_launch told;

	switch (gt_launch_choice_ask(session, &kernels->choice, launch, call, &chosen.number)) {
	case GT_LAUNCH_OTHER:
		break;
	case GT_LAUNCH_CAPTURED:
		told = told_of(call, 0);
		gt_capture_emit_refused(
			session, &kernels->thread, &told, chosen.node,
			"a stream was being captured into a CUDA graph: as its node it runs "
			"later, and is chosen when the graph is launched");
		break;
	case GT_LAUNCH_TAKEN:
		return begin_capture(session, kernels, &chosen, call);
	}
	return false;
}

static void *enter_launch(struct gt_session *session, struct kernel_capture *kernels,
                          const struct gt_launch *launch, struct gt_call call)
{
	const bool has_nodes =
		launch->kind == GT_LAUNCH_GRAPH && kernels->choice.wanted == GT_LAUNCH_KERNEL;

	if (has_nodes ? enter_graph(session, kernels, launch, call)
	              : begin_launch(session, kernels, launch, call))
		return &kernels->thread;
	return gt_capture_thread_pass(session, &kernels->thread) ? &kernels->thread.turn : NULL;
}

/* An array does not end while a launch is captured, which may use it: the driver is asked of it. */
static void *enter_foreign(struct gt_session *session, struct kernel_capture *kernels,
                           struct gt_call call)
{
	const bool passes =
		gt_foreign_ends_array(call) && gt_capture_thread_pass(session, &kernels->thread);

	gt_foreign_enter(&kernels->thread.foreign, call);
	return passes ? (void *)&kernels->thread.turn : &kernels->thread.foreign;
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct kernel_capture *kernels = state;
	const int saved = errno;
	struct gt_launch launch;
	void *kept = NULL;

	if (gt_foreign_is_call(call)) {
		kept = enter_foreign(session, kernels, call);
		errno = saved;
		return kept;
	}
	if (!gt_launch_read(call.id, call.data, &launch))
		return gt_capture_step(call.id) ? &kernels->choice : NULL;
	if (gt_launch_turn_is_on(&kernels->thread.turn))
		kept = enter_launch(session, kernels, &launch, call);
	errno = saved;
	return kept;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct kernel_capture *kernels = state;
	const int saved = errno;

	if (kept == &kernels->thread.turn)
		gt_launch_turn_leave(&kernels->thread.turn);
	else if (kept == &kernels->choice)
		gt_launch_choice_follow(&kernels->choice, call);
	else if (kept == &kernels->thread.foreign)
		gt_foreign_follow(session, &kernels->thread.foreign, call);
	else if (kept)
		end_capture(session, kernels, call);
	errno = saved;
}

static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	struct kernel_capture *kernels = state;

	(void)session;
	(void)domain;
	(void)id;
	(void)kept;
	gt_foreign_end_context(&kernels->thread.foreign,
	                       ((const CUpti_ResourceData *)data)->context);
}

/* ---- its life ---- */

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const struct gt_settings *settings = gt_settings_of(session);
	struct kernel_capture *kernels = state;
	int result;

	if (!*settings->capture_kernels && !settings->capture_graphs)
		return 0;
	if (*settings->capture_kernels && settings->capture_graphs)
		return gt_fail(
			err, EINVAL,
			"no launches are captured: of kernels and of CUDA graphs only one is "
			"done");
	if (*settings->kernel_counters)
		return gt_fail(err, EINVAL,
		               "no launches are captured: GPUTRACE_KERNEL_COUNTERS has launches "
		               "run several times, and only one of both is done");
	kernels->choice.wanted = gt_captured_work(session) == GT_CAPTURED_GRAPHS ? GT_LAUNCH_GRAPH
	                                                                         : GT_LAUNCH_KERNEL;
	kernels->graphs = gt_graph_steps_new();
	if (!kernels->graphs)
		return gt_fail(err, ENOMEM, "no launches are captured: there is no memory for it");
	result = gt_launch_choice_init(session, &kernels->choice, settings->capture_kernels,
	                               "no launches are captured", err);
	if (result == 0)
		result =
			gt_capture_thread_init(session, &kernels->thread, &gt_source_kernel_capture,
		                               settings->launches_range, err);
	if (result == 0)
		gt_launch_choice_want(session);
	return result;
}

static bool pause_for(struct gt_session *session, void *state, uint32_t times)
{
	struct kernel_capture *kernels = state;

	(void)session;
	return gt_launch_turn_pause(&kernels->thread.turn, &kernels->choice, times);
}

static void stop(struct gt_session *session, void *state)
{
	const struct kernel_capture *kernels = state;
	const struct gt_capture_thread *thread = &kernels->thread;
	char note[256];

	if (!thread->capture)
		return;
	if (thread->count == 0)
		(void)snprintf(note, sizeof(note),
		               "no launch was captured, of %llu that were chosen by name and range",
		               (unsigned long long)atomic_load(&kernels->choice.chosen));
	else
		(void)snprintf(
			note, sizeof(note),
			"%llu launches were captured into launches/, %.1f MiB, which held the "
			"program up for %.0f ms: what ran beside them is disturbed",
			(unsigned long long)thread->count, (double)thread->bytes / (1 << 20),
			(double)thread->held_ns / 1e6);
	gt_note(session, "kernel_capture", note);
}

const struct gt_source gt_source_kernel_capture = {
	.name = "kernel_capture",
	.state_size = sizeof(struct kernel_capture),
	.start = start,
	.pause = pause_for,
	.stop = stop,
	.run = run,
	.runs_when_asked = true,
	.end_ns = GT_CAPTURE_END_NS,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

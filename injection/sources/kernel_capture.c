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
#include "injection/snapshot/single_launch.h"
#include "injection/snapshot/thread.h"

/*
 * Single launches with all that running them again needs: code, parameters, and the memory that
 * they can reach, before and after. One launch is captured at a time, and no other one of the
 * process goes to a GPU meanwhile. Off unless GPUTRACE_CAPTURE_KERNELS says which, or
 * GPUTRACE_CAPTURE_GRAPHS that it is those of CUDA graphs. A kernel that is a node of a graph is
 * captured with all of the graph's launch.
 *
 * At the entry of the driver's call the program's thread reads what is launched and waits for a
 * thread of ours (snapshot/thread.h), which waits for the GPU, copies memory and writes the bundle;
 * at its return once more.
 */

extern const struct gt_source gt_source_kernel_capture;

static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	gt_capture_thread_run(session, &((struct gt_single_launch *)state)->thread, waiter);
}

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
	gt_note(session, "kernel_capture", note);
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
	const struct gt_launch_choice *choice = &kernels->choice;
	struct gt_chosen_launch chosen = {.launch = launch, .graph = graph};
	uint64_t count = 0;
	uint64_t first;
	uint64_t end;
	bool is_begun;

	for (uint32_t i = 0; i < graph->nodes.node_count; i++)
		count += gt_single_launch_is_wanted(kernels, &graph->nodes, i);
	if (count == 0)
		return false;
	first = gt_launch_choice_count(&kernels->choice, count);
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

	if (!gt_launch_choice_is_open(session, &kernels->choice) ||
	    gt_launch_choice_is_captured(&kernels->choice, gt_single_launch_stream(launch)))
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

static bool begin_launch(struct gt_session *session, struct gt_single_launch *kernels,
                         const struct gt_launch *launch, struct gt_call call)
{
	struct gt_chosen_launch chosen = {.launch = launch,
	                                  .node = launch->kind == GT_LAUNCH_GRAPH ? "*" : ""};
	struct gt_record_captured_launch told;

	switch (gt_launch_choice_ask(session, &kernels->choice, launch, call, &chosen.number)) {
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
	const bool has_nodes =
		launch->kind == GT_LAUNCH_GRAPH && kernels->choice.wanted == GT_LAUNCH_KERNEL;

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

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct gt_single_launch *kernels = state;
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
	struct gt_single_launch *kernels = state;
	const int saved = errno;

	if (kept == &kernels->thread.turn)
		gt_launch_turn_leave(&kernels->thread.turn);
	else if (kept == &kernels->choice)
		gt_launch_choice_follow(&kernels->choice, call);
	else if (kept == &kernels->thread.foreign)
		gt_foreign_follow(session, &kernels->thread.foreign, call);
	else if (kept)
		gt_single_launch_end(session, kernels, call);
	errno = saved;
}

static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	struct gt_single_launch *kernels = state;

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
	struct gt_single_launch *kernels = state;
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
	struct gt_single_launch *kernels = state;

	(void)session;
	return gt_launch_turn_pause(&kernels->thread.turn, &kernels->choice, times);
}

static void stop(struct gt_session *session, void *state)
{
	const struct gt_single_launch *kernels = state;
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
	.state_size = sizeof(struct gt_single_launch),
	.start = start,
	.pause = pause_for,
	.stop = stop,
	.run = run,
	.runs_when_asked = true,
	.end_ns = GT_CAPTURE_END_NS,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

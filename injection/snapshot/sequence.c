/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/sequence.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/error.h"
#include "injection/calls/launch.h"
#include "injection/session/services.h"
#include "injection/snapshot/bundle/host_steps.h"
#include "injection/snapshot/bundle/steps.h"
#include "injection/snapshot/graph_steps.h"
#include "injection/snapshot/graphs/kept.h"
#include "injection/snapshot/memory/arrays.h"

struct gt_record_captured_launch gt_sequence_told(const struct gt_sequence *sequences,
                                                  uint32_t occurrence)
{
	const struct gt_capture_lists *lists = &sequences->thread.capture->lists;

	return (struct gt_record_captured_launch){
		.start_ns = sequences->began_ns,
		.end_ns = gt_stamp(),
		.correlation = lists->step_count ? lists->steps[0].correlation : 0,
		.context = sequences->context,
		.number = occurrence,
		.steps = lists->step_count,
	};
}

void gt_sequence_refuse(struct gt_session *session, struct gt_sequence *sequences,
                        const char *reason)
{
	struct gt_launch_capture *capture = sequences->thread.capture;
	const uint32_t occurrence = atomic_load_explicit(&sequences->open, memory_order_relaxed);
	const struct gt_record_captured_launch told = gt_sequence_told(sequences, occurrence);
	struct gt_error err = {0};

	/* Where nothing got on, our thread still has it, and drops it when it gets on. */
	if (!atomic_load_explicit(&sequences->thread.abandoned, memory_order_relaxed)) {
		if (capture->writer.folder >= 0)
			(void)gt_capture_thread_do(session, &sequences->thread, GT_CAPTURE_DROP,
			                           &err);
		else
			gt_capture_lists_empty(&capture->lists);
	}
	atomic_store_explicit(&sequences->refused, occurrence, memory_order_relaxed);
	atomic_store_explicit(&sequences->open, 0, memory_order_release);
	gt_capture_emit_refused(session, &sequences->thread, &told, "", reason);
}

void gt_sequence_begin(struct gt_session *session, struct gt_sequence *sequences,
                       uint32_t occurrence, struct gt_call call)
{
	struct gt_launch_capture *capture = sequences->thread.capture;

	gt_capture_lists_empty(&capture->lists);
	gt_graph_steps_begin(sequences->thread.graphs);
	capture->context = call.data->context;
	capture->has_focus = false;
	capture->most = gt_capture_thread_left(session, &sequences->thread);
	gt_capture_folder(capture->folder, sizeof(capture->folder), occurrence, capture->range);
	sequences->context = call.data->contextUid;
	sequences->began_ns = gt_stamp();
	atomic_fetch_add_explicit(&sequences->occurrences, 1, memory_order_relaxed);
	atomic_store_explicit(&sequences->open, occurrence, memory_order_release);
}

/* After the last step of the occurrence that is open. */
void gt_sequence_finish(struct gt_session *session, struct gt_sequence *sequences)
{
	const uint32_t occurrence = atomic_load_explicit(&sequences->open, memory_order_relaxed);
	struct gt_record_captured_launch told = gt_sequence_told(sequences, occurrence);
	const uint64_t began_ns = gt_now();
	struct gt_error err = {0};

	if (!gt_capture_has_work(&sequences->thread.capture->lists)) {
		gt_sequence_refuse(session, sequences, "it has no launch, copy or fill");
		return;
	}
	/* Waiting for the GPU would make that fail. */
	if (atomic_load_explicit(&sequences->thread.choice.captures, memory_order_relaxed) > 0) {
		gt_sequence_refuse(
			session, sequences,
			"a stream was being captured into a CUDA graph when the range ended");
		return;
	}
	if (gt_capture_thread_do(session, &sequences->thread, GT_CAPTURE_AFTER, &err) < 0) {
		gt_sequence_refuse(session, sequences, err.text);
	} else {
		told.end_ns = gt_stamp();
		gt_capture_emit(session, &sequences->thread, &told, "");
		atomic_store_explicit(&sequences->open, 0, memory_order_release);
	}
	sequences->thread.held_ns += gt_now() - began_ns;
}

static int set_event(struct gt_sequence *sequences, const struct gt_step_call *asked,
                     struct gt_error *err)
{
	struct gt_launch_capture *capture = sequences->thread.capture;
	int number;

	if (!asked->event)
		return 0;
	number = gt_capture_number_event(&capture->lists, asked->event, err);
	capture->step.event = (uint32_t)number;
	return number < 0 ? number : 0;
}

static int set_stream(struct gt_session *session, struct gt_sequence *sequences,
                      const struct gt_step_call *asked, struct gt_error *err)
{
	struct gt_launch_capture *capture = sequences->thread.capture;
	struct gt_capture_stream stream;
	int number;

	if (!asked->has_stream)
		return 0;
	stream = gt_capture_read_stream(session, &sequences->thread, asked->stream);
	number = gt_capture_number_stream(&capture->lists, &stream, err);
	capture->step.stream = (uint32_t)number;
	return number < 0 ? number : 0;
}

static int set_launch(struct gt_session *session, struct gt_sequence *sequences,
                      struct gt_call call, struct gt_error *err)
{
	struct gt_launch_capture *capture = sequences->thread.capture;

	capture->name = call.data->symbolName ? call.data->symbolName : "";
	if (!gt_launch_describe(call.id, call.data, &capture->step.launch))
		return gt_fail(err, EINVAL, "a launch has no parameters");
	return gt_capture_read_launch(session, &sequences->thread, err);
}

static void begin_named(struct gt_sequence *sequences, struct gt_call call)
{
	sequences->named = call.data->correlationId;
	sequences->seen = false;
	/* Read by this thread alone, and by others to find that it is not they. */
	atomic_store_explicit(&sequences->naming, pthread_self(), memory_order_relaxed);
}

static int add_step(struct gt_session *session, struct gt_sequence *sequences, struct gt_call call,
                    const struct gt_step_call *asked, struct gt_error *err)
{
	struct gt_launch_capture *capture = sequences->thread.capture;
	int result = gt_capture_thread_open(&sequences->thread, err);

	capture->step = gt_step_of_call(asked);
	capture->step.correlation =
		gt_sequence_is_naming(sequences) ? sequences->named : call.data->correlationId;
	if (result == 0)
		result = set_stream(session, sequences, asked, err);
	if (result == 0)
		result = set_event(sequences, asked, err);
	if (result == 0 && asked->step == GT_BUNDLE_STEP_launch)
		result = set_launch(session, sequences, call, err);
	if (result < 0)
		return result;
	if (gt_capture_is_work(asked->step))
		return gt_capture_thread_do(session, &sequences->thread, GT_CAPTURE_BEFORE, err);
	result = gt_capture_add_step(&capture->lists, &capture->step, err);
	return result < 0 ? result : 0;
}

/* The nodes of a graph that is launched. */
static int add_graph(struct gt_session *session, struct gt_sequence *sequences, struct gt_call call,
                     const struct gt_step_call *asked, struct gt_error *err)
{
	struct gt_kept_graphs *kept = gt_kept_graphs_of(session);
	const struct gt_graph_launch launch = {.stream = asked->stream,
	                                       .correlation = call.data->correlationId,
	                                       .focus = GT_CAPTURE_NONE};
	struct gt_kept_graph *graph = NULL;
	int result = gt_capture_thread_open(&sequences->thread, err);

	if (result == 0)
		result = gt_kept_graphs_take(kept, asked->exec, &graph, err);
	if (result < 0)
		return result;
	result = gt_graph_steps_add(session, &sequences->thread, sequences->thread.graphs, &launch,
	                            graph, err);
	gt_capture_give_graph(session, &sequences->thread, graph);
	return result;
}

/* Each copy of a call that makes several is a step; none of them can use what another one makes. */
static int add_steps(struct gt_session *session, struct gt_sequence *sequences, struct gt_call call,
                     struct gt_step_call asked, struct gt_error *err)
{
	int result = 0;

	do
		result = asked.kind == GT_STEP_CALL_REFUSED
		                 ? gt_fail(err, ENOTSUP, "%s", asked.reason)
		                 : add_step(session, sequences, call, &asked, err);
	while (result == 0 && gt_step_call_next(call.driver, call.id, call.data, &asked));
	return result;
}

/* Memory that steps use goes with the call: what is left in it is kept now. */
static int end_memory(struct gt_session *session, struct gt_sequence *sequences,
                      const struct gt_step_call *asked, struct gt_error *err)
{
	struct gt_launch_capture *capture = sequences->thread.capture;

	if (capture->writer.folder >= 0 &&
	    gt_capture_objects_has(&capture->objects, asked->address))
		return gt_fail(err, ENOTSUP,
		               "an array that its steps use is destroyed before the range ends");
	capture->freed = (struct gt_freed){asked->address, asked->freed_bytes};
	if (!gt_capture_uses(capture, &capture->freed))
		return 0;
	if (atomic_load_explicit(&sequences->thread.choice.captures, memory_order_relaxed) > 0)
		return gt_fail(err, ENOTSUP,
		               "memory that its steps use is freed while a stream is being "
		               "captured into a CUDA graph");
	return gt_capture_thread_do(session, &sequences->thread, GT_CAPTURE_FREE, err);
}

/* Without a context the driver cannot be asked of the stream. */
static bool is_captured(struct gt_sequence *sequences, struct gt_call call,
                        const struct gt_step_call *asked)
{
	if (call.data->context)
		return gt_launch_choice_is_captured(&sequences->thread.choice, asked->stream);
	return atomic_load_explicit(&sequences->thread.choice.captures, memory_order_relaxed) > 0;
}

static int check_call(struct gt_sequence *sequences, struct gt_call call,
                      const struct gt_step_call *asked, struct gt_error *err)
{
	struct gt_launch_capture *capture = sequences->thread.capture;

	if (asked->kind == GT_STEP_CALL_REFUSED)
		return gt_fail(err, ENOTSUP, "%s", asked->reason);
	if (is_captured(sequences, call, asked))
		return gt_fail(err, ENOTSUP,
		               "a stream was being captured into a CUDA graph, whose nodes run "
		               "later");
	if (!capture->context)
		capture->context = call.data->context;
	if (call.data->context && call.data->context != capture->context)
		return gt_fail(err, ENOTSUP, "it works in more than one context");
	if (!call.data->context &&
	    (asked->kind == GT_STEP_CALL_GRAPH || gt_capture_is_work(asked->step)))
		return gt_fail(err, ENOTSUP, "the context of a call of it is not known");
	return 0;
}

/* True: the call keeps the turn until it returns. */
bool gt_sequence_take_step(struct gt_session *session, struct gt_sequence *sequences,
                           struct gt_call call, const struct gt_step_call *asked)
{
	const uint64_t began_ns = gt_now();
	struct gt_error err = {0};
	int result = asked->kind == GT_STEP_CALL_END ? end_memory(session, sequences, asked, &err)
	                                             : check_call(sequences, call, asked, &err);

	if (result == 0 && asked->kind == GT_STEP_CALL_STEP)
		result = add_steps(session, sequences, call, *asked, &err);
	else if (result == 0 && asked->kind == GT_STEP_CALL_GRAPH)
		result = add_graph(session, sequences, call, asked, &err);
	if (result == 0 && asked->kind == GT_STEP_CALL_NAMED)
		begin_named(sequences, call);
	if (result < 0)
		gt_sequence_refuse(session, sequences, err.text);
	sequences->thread.held_ns += gt_now() - began_ns;
	sequences->blocks = asked->blocks;
	return result == 0 &&
	       (asked->kind == GT_STEP_CALL_NAMED || asked->kind == GT_STEP_CALL_GRAPH ||
	        (asked->kind == GT_STEP_CALL_STEP && asked->step != GT_BUNDLE_STEP_host_wait));
}

/* With the turn, which the call around it has: what it copies by name, by address. */
void gt_sequence_take_inside(struct gt_session *session, struct gt_sequence *sequences,
                             struct gt_call call)
{
	const uint64_t began_ns = gt_now();
	struct gt_error err = {0};
	struct gt_step_call asked;
	int result;

	gt_step_call_read(call.driver, call.id, call.data, &asked);
	if (asked.kind != GT_STEP_CALL_STEP || asked.step != GT_BUNDLE_STEP_copy ||
	    atomic_load_explicit(&sequences->open, memory_order_relaxed) == 0)
		return;
	sequences->seen = true;
	result = check_call(sequences, call, &asked, &err);
	if (result == 0)
		result = add_steps(session, sequences, call, asked, &err);
	if (result < 0)
		gt_sequence_refuse(session, sequences, err.text);
	sequences->thread.held_ns += gt_now() - began_ns;
}

/* ---- when the call returns ---- */

/* The host goes on when the copy is made. */
static int add_wait(struct gt_sequence *sequences, struct gt_error *err)
{
	struct gt_capture_lists *lists = &sequences->thread.capture->lists;
	const struct gt_capture_step copy = sequences->thread.capture->step;
	const struct gt_capture_step wait = {.kind = GT_BUNDLE_STEP_host_wait,
	                                     .correlation = copy.correlation,
	                                     .stream = copy.stream,
	                                     .event = GT_CAPTURE_NONE};

	if (!sequences->blocks || (copy.to && copy.from))
		return 0;
	return gt_capture_add_step(lists, &wait, err);
}

/* Tells the GPU's writes from those that the host will have made at the next step. */
static int settle_host(struct gt_session *session, struct gt_sequence *sequences,
                       struct gt_error *err)
{
	const struct gt_launch_capture *capture = sequences->thread.capture;
	const uint64_t began_ns = gt_now();
	int result;

	if (!gt_capture_is_work(capture->step.kind) || !gt_capture_has_host_memory(capture))
		return 0;
	/* Since the step began another thread may have begun to: waiting would make that fail. */
	if (atomic_load_explicit(&sequences->thread.choice.captures, memory_order_relaxed) > 0)
		return gt_fail(err, ENOTSUP,
		               "a stream was being captured into a CUDA graph when a step of it "
		               "returned");
	result = gt_capture_thread_do(session, &sequences->thread, GT_CAPTURE_SETTLE, err);
	sequences->thread.held_ns += gt_now() - began_ns;
	return result;
}

/* Checks the call, now that it has returned; negative with a sentence. */
static int check_return(struct gt_session *session, struct gt_sequence *sequences,
                        struct gt_call call, bool is_named, struct gt_error *err)
{
	int result;

	if (gt_call_result(call) != 0)
		return gt_fail(err, ENOTSUP, "a call of it failed");
	if (is_named && !sequences->seen)
		return gt_fail(err, ENOTSUP,
		               "it copies a variable by its name, and the driver's copy in it was "
		               "not heard of");
	result = add_wait(sequences, err);
	return result < 0 ? result : settle_host(session, sequences, err);
}

void gt_sequence_end_step(struct gt_session *session, struct gt_sequence *sequences,
                          struct gt_call call)
{
	const bool is_named = gt_sequence_is_naming(sequences);
	struct gt_error err = {0};

	atomic_store_explicit(&sequences->naming, 0, memory_order_relaxed);
	/* The driver's copy in a copy by name may have refused it. */
	if (atomic_load_explicit(&sequences->open, memory_order_relaxed) != 0 &&
	    check_return(session, sequences, call, is_named, &err) < 0)
		gt_sequence_refuse(session, sequences, err.text);
	gt_launch_turn_end(&sequences->thread.turn);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "injection/calls/launch.h"
#include "injection/counters/launch_choice.h"
#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/watch.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/snapshot/bundle/host_steps.h"
#include "injection/snapshot/bundle/steps.h"
#include "injection/snapshot/graph_steps.h"
#include "injection/snapshot/graphs/kept.h"
#include "injection/snapshot/launch/step_calls.h"
#include "injection/snapshot/thread.h"

/*
 * Occurrences of a range as sequences: all that the process has the GPU do while a range of the
 * name is open on any thread, with the memory that it reaches before its first step and after its
 * last. Off unless GPUTRACE_CAPTURE_SEQUENCE names one.
 *
 * Each step waits for the GPU, as a single launch does that is captured (kernel_capture.c), and has
 * the turn from its entry to its return, so that the steps are in the order in which they came to
 * the GPU. Memory is copied before the first step that reaches it; what is left in it at the end of
 * the range. Anything that no sequence can have ends it with the reason, and the rest of the
 * occurrence runs as if nobody looked.
 */

struct sequence_capture {
	struct gt_capture_thread thread;
	struct gt_launch_choice choice; /* its numbers, and captures of streams that are under way */
	_Atomic uint32_t open;          /* occurrence that has steps and has not ended; 0: none */
	_Atomic uint32_t refused;       /* the last occurrence that was */
	_Atomic uint32_t broken;        /* the last one of which a step was not captured */
	_Atomic uint32_t occurrences;   /* of those that are chosen, that had steps */
	_Atomic pthread_t naming;       /* in a copy by name, with the turn; 0: nobody is */
	/* With the turn: */
	uint32_t named;    /* CUPTI's number of that call */
	bool seen;         /* the driver's copy in it was */
	uint64_t began_ns; /* gt_stamp */
	uint32_t context;  /* CUPTI's number */
	bool blocks;       /* the call that has the turn is a copy that the host waits for */
	struct gt_graph_steps *graphs;
};

extern const struct gt_source gt_source_sequence_capture;

static struct gt_record_captured_launch told_of(const struct sequence_capture *sequences,
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

/* ---- with the turn ---- */

static void refuse(struct gt_session *session, struct sequence_capture *sequences,
                   const char *reason)
{
	struct gt_launch_capture *capture = sequences->thread.capture;
	const uint32_t occurrence = atomic_load_explicit(&sequences->open, memory_order_relaxed);
	const struct gt_record_captured_launch told = told_of(sequences, occurrence);
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

static void begin(struct gt_session *session, struct sequence_capture *sequences,
                  uint32_t occurrence, struct gt_call call)
{
	struct gt_launch_capture *capture = sequences->thread.capture;

	gt_capture_lists_empty(&capture->lists);
	gt_graph_steps_begin(sequences->graphs);
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
static void finish(struct gt_session *session, struct sequence_capture *sequences)
{
	const uint32_t occurrence = atomic_load_explicit(&sequences->open, memory_order_relaxed);
	struct gt_record_captured_launch told = told_of(sequences, occurrence);
	const uint64_t began_ns = gt_now();
	struct gt_error err = {0};

	if (!gt_capture_has_work(&sequences->thread.capture->lists)) {
		refuse(session, sequences, "it has no launch, copy or fill");
		return;
	}
	/* Waiting for the GPU would make that fail. */
	if (atomic_load_explicit(&sequences->choice.captures, memory_order_relaxed) > 0) {
		refuse(session, sequences,
		       "a stream was being captured into a CUDA graph when the range ended");
		return;
	}
	if (gt_capture_thread_do(session, &sequences->thread, GT_CAPTURE_AFTER, &err) < 0) {
		refuse(session, sequences, err.text);
	} else {
		told.end_ns = gt_stamp();
		gt_capture_emit(session, &sequences->thread, &told, "");
		atomic_store_explicit(&sequences->open, 0, memory_order_release);
	}
	sequences->thread.held_ns += gt_now() - began_ns;
}

static int set_event(struct sequence_capture *sequences, const struct gt_step_call *asked,
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

static int set_stream(struct gt_session *session, struct sequence_capture *sequences,
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

static int set_launch(struct gt_session *session, struct sequence_capture *sequences,
                      struct gt_call call, struct gt_error *err)
{
	struct gt_launch_capture *capture = sequences->thread.capture;

	capture->name = call.data->symbolName ? call.data->symbolName : "";
	if (!gt_launch_describe(call.id, call.data, &capture->step.launch))
		return gt_fail(err, EINVAL, "a launch has no parameters");
	return gt_capture_read_launch(session, &sequences->thread, err);
}

static void begin_named(struct sequence_capture *sequences, struct gt_call call)
{
	sequences->named = call.data->correlationId;
	sequences->seen = false;
	/* Read by this thread alone, and by others to find that it is not they. */
	atomic_store_explicit(&sequences->naming, pthread_self(), memory_order_relaxed);
}

static bool is_naming(const struct sequence_capture *sequences)
{
	return pthread_equal(atomic_load_explicit(&sequences->naming, memory_order_relaxed),
	                     pthread_self());
}

static int add_step(struct gt_session *session, struct sequence_capture *sequences,
                    struct gt_call call, const struct gt_step_call *asked, struct gt_error *err)
{
	struct gt_launch_capture *capture = sequences->thread.capture;
	int result = gt_capture_thread_open(&sequences->thread, err);

	capture->step = gt_step_of_call(asked);
	capture->step.correlation =
		is_naming(sequences) ? sequences->named : call.data->correlationId;
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
static int add_graph(struct gt_session *session, struct sequence_capture *sequences,
                     struct gt_call call, const struct gt_step_call *asked, struct gt_error *err)
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
	result = gt_graph_steps_add(session, &sequences->thread, sequences->graphs, &launch, graph,
	                            err);
	gt_capture_give_graph(session, &sequences->thread, graph);
	return result;
}

/* Each copy of a call that makes several is a step; none of them can use what another one makes. */
static int add_steps(struct gt_session *session, struct sequence_capture *sequences,
                     struct gt_call call, struct gt_step_call asked, struct gt_error *err)
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
static int end_memory(struct gt_session *session, struct sequence_capture *sequences,
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
	if (atomic_load_explicit(&sequences->choice.captures, memory_order_relaxed) > 0)
		return gt_fail(err, ENOTSUP,
		               "memory that its steps use is freed while a stream is being "
		               "captured into a CUDA graph");
	return gt_capture_thread_do(session, &sequences->thread, GT_CAPTURE_FREE, err);
}

/* Without a context the driver cannot be asked of the stream. */
static bool is_captured(struct sequence_capture *sequences, struct gt_call call,
                        const struct gt_step_call *asked)
{
	if (call.data->context)
		return gt_launch_choice_is_captured(&sequences->choice, asked->stream);
	return atomic_load_explicit(&sequences->choice.captures, memory_order_relaxed) > 0;
}

static int check_call(struct sequence_capture *sequences, struct gt_call call,
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
static bool take_step(struct gt_session *session, struct sequence_capture *sequences,
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
		refuse(session, sequences, err.text);
	sequences->thread.held_ns += gt_now() - began_ns;
	sequences->blocks = asked->blocks;
	return result == 0 &&
	       (asked->kind == GT_STEP_CALL_NAMED || asked->kind == GT_STEP_CALL_GRAPH ||
	        (asked->kind == GT_STEP_CALL_STEP && asked->step != GT_BUNDLE_STEP_host_wait));
}

/* With the turn, which the call around it has: what it copies by name, by address. */
static void take_inside(struct gt_session *session, struct sequence_capture *sequences,
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
		refuse(session, sequences, err.text);
	sequences->thread.held_ns += gt_now() - began_ns;
}

/* ---- which occurrence ---- */

/* The occurrence that is open and to be captured; 0: none. */
static uint32_t chosen(const struct sequence_capture *sequences)
{
	const uint32_t occurrence = gt_nvtx_watch_occurrence(&gt_nvtx.watch);

	return occurrence >= sequences->choice.first && occurrence < sequences->choice.end
	               ? occurrence
	               : 0;
}

static bool take_turn(struct gt_session *session, struct sequence_capture *sequences,
                      uint32_t occurrence)
{
	struct gt_record_captured_launch told = {.number = occurrence};
	const char *reason = "another thread's launch beside it did not return within two seconds";

	switch (gt_launch_turn_take(&sequences->thread.turn)) {
	case GT_TURN_TAKEN:
		return true;
	case GT_TURN_LATE:
		reason = "another thread's step of it did not return";
		break;
	case GT_TURN_NOISY:
		break;
	}
	/* Whoever has the turn next finds that the occurrence is refused, and drops what there is. */
	atomic_store_explicit(&sequences->broken,
	                      atomic_load_explicit(&sequences->open, memory_order_relaxed),
	                      memory_order_relaxed);
	told.start_ns = told.end_ns = gt_stamp();
	if (atomic_exchange_explicit(&sequences->refused, occurrence, memory_order_relaxed) !=
	    occurrence)
		gt_capture_emit_refused(session, &sequences->thread, &told, "", reason);
	return false;
}

/* With the turn: what is left of an occurrence that ended, or was refused without the turn. */
static void settle(struct gt_session *session, struct sequence_capture *sequences,
                   uint32_t occurrence)
{
	const uint32_t open = atomic_load_explicit(&sequences->open, memory_order_relaxed);
	struct gt_error err = {0};

	if (open == 0 || open == occurrence)
		return;
	if (open != atomic_load_explicit(&sequences->refused, memory_order_relaxed) &&
	    open != atomic_load_explicit(&sequences->broken, memory_order_relaxed)) {
		finish(session, sequences);
		return;
	}
	if (sequences->thread.capture->writer.folder >= 0)
		(void)gt_capture_thread_do(session, &sequences->thread, GT_CAPTURE_DROP, &err);
	atomic_store_explicit(&sequences->open, 0, memory_order_release);
}

/* An occurrence has ended, on the thread that ended it. */
static void end_occurrence(void *context, uint32_t occurrence)
{
	struct gt_session *session = context;
	struct sequence_capture *sequences = gt_source_state(session, &gt_source_sequence_capture);
	const int saved = errno;

	if (gt_is_recording(session) && gt_launch_turn_is_on(&sequences->thread.turn) &&
	    atomic_load_explicit(&sequences->open, memory_order_acquire) == occurrence &&
	    take_turn(session, sequences, occurrence)) {
		/* Whoever had the turn before may have settled it, and begun the next one. */
		if (atomic_load_explicit(&sequences->open, memory_order_relaxed) == occurrence)
			settle(session, sequences, 0);
		gt_launch_turn_end(&sequences->thread.turn);
	}
	errno = saved;
}

/* ---- callbacks ---- */

/* For calls that are not to be captured: launches wait while a step has the turn. */
static void *pass(struct gt_session *session, struct sequence_capture *sequences,
                  struct gt_call call)
{
	struct gt_launch launch;
	const bool launches = call.driver && gt_launch_read(call.id, call.data, &launch);

	return launches && gt_capture_thread_pass(session, &sequences->thread)
	               ? &sequences->thread.turn
	               : NULL;
}

/* With the turn; true: the call keeps it until it returns. */
static bool enter_step(struct gt_session *session, struct sequence_capture *sequences,
                       uint32_t occurrence, struct gt_call call, const struct gt_step_call *asked)
{
	settle(session, sequences, occurrence);
	if (!occurrence ||
	    occurrence == atomic_load_explicit(&sequences->refused, memory_order_relaxed))
		return false;
	if (atomic_load_explicit(&sequences->open, memory_order_relaxed) == 0) {
		if (asked->kind == GT_STEP_CALL_END)
			return false;
		begin(session, sequences, occurrence, call);
	}
	return take_step(session, sequences, call, asked);
}

static void *enter_call(struct gt_session *session, struct sequence_capture *sequences,
                        struct gt_call call)
{
	const uint32_t occurrence = chosen(sequences);
	const uint32_t open = atomic_load_explicit(&sequences->open, memory_order_acquire);
	struct gt_step_call asked;

	if ((!occurrence && !open) ||
	    (occurrence &&
	     occurrence == atomic_load_explicit(&sequences->refused, memory_order_relaxed)))
		return pass(session, sequences, call);
	gt_step_call_read(call.driver, call.id, call.data, &asked);
	if (asked.kind == GT_STEP_CALL_NONE ||
	    !take_turn(session, sequences, occurrence ? occurrence : open))
		return NULL;
	/* It may have ended while the turn was another thread's. */
	if (enter_step(session, sequences, chosen(sequences), call, &asked))
		return &sequences->thread;
	gt_launch_turn_end(&sequences->thread.turn);
	return NULL;
}

/* The end of an array may be that of one which steps use: that keeps nothing for its return. */
static void enter_foreign(struct gt_session *session, struct sequence_capture *sequences,
                          struct gt_call call)
{
	if (gt_launch_turn_is_on(&sequences->thread.turn))
		(void)enter_call(session, sequences, call);
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct sequence_capture *sequences = state;
	const int saved = errno;
	void *kept = NULL;

	if (gt_foreign_is_call(call)) {
		/* First, so that no step takes the array from when it was looked for. */
		gt_foreign_end_objects(&sequences->thread.foreign, call);
		enter_foreign(session, sequences, call);
		gt_foreign_enter(&sequences->thread.foreign, call);
		errno = saved;
		return &sequences->thread.foreign;
	}
	if (call.depth > 0) {
		if (is_naming(sequences))
			take_inside(session, sequences, call);
		errno = saved;
		return NULL;
	}
	if (call.driver && gt_capture_step(call.id))
		return &sequences->choice;
	if (gt_launch_turn_is_on(&sequences->thread.turn))
		kept = enter_call(session, sequences, call);
	errno = saved;
	return kept;
}

/* The host goes on when the copy is made. */
static int add_wait(struct sequence_capture *sequences, struct gt_error *err)
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
static int settle_host(struct gt_session *session, struct sequence_capture *sequences,
                       struct gt_error *err)
{
	const struct gt_launch_capture *capture = sequences->thread.capture;
	const uint64_t began_ns = gt_now();
	int result;

	if (!gt_capture_is_work(capture->step.kind) || !gt_capture_has_host_memory(capture))
		return 0;
	/* Since the step began another thread may have begun to: waiting would make that fail. */
	if (atomic_load_explicit(&sequences->choice.captures, memory_order_relaxed) > 0)
		return gt_fail(err, ENOTSUP,
		               "a stream was being captured into a CUDA graph when a step of it "
		               "returned");
	result = gt_capture_thread_do(session, &sequences->thread, GT_CAPTURE_SETTLE, err);
	sequences->thread.held_ns += gt_now() - began_ns;
	return result;
}

/* Checks the call, now that it has returned; negative with a sentence. */
static int check_return(struct gt_session *session, struct sequence_capture *sequences,
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

static void end_step(struct gt_session *session, struct sequence_capture *sequences,
                     struct gt_call call)
{
	const bool is_named = is_naming(sequences);
	struct gt_error err = {0};

	atomic_store_explicit(&sequences->naming, 0, memory_order_relaxed);
	/* The driver's copy in a copy by name may have refused it. */
	if (atomic_load_explicit(&sequences->open, memory_order_relaxed) != 0 &&
	    check_return(session, sequences, call, is_named, &err) < 0)
		refuse(session, sequences, err.text);
	gt_launch_turn_end(&sequences->thread.turn);
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct sequence_capture *sequences = state;
	const int saved = errno;

	if (kept == &sequences->thread.turn)
		gt_launch_turn_leave(&sequences->thread.turn);
	else if (kept == &sequences->choice)
		gt_launch_choice_follow(&sequences->choice, call);
	else if (kept == &sequences->thread.foreign)
		gt_foreign_follow(session, &sequences->thread.foreign, call);
	else if (kept)
		end_step(session, sequences, call);
	errno = saved;
}

static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	struct sequence_capture *sequences = state;

	(void)session;
	(void)domain;
	(void)id;
	(void)kept;
	gt_foreign_end_context(&sequences->thread.foreign,
	                       ((const CUpti_ResourceData *)data)->context);
}

/* ---- its life ---- */

/* A range that the program did not end is no occurrence. */
static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	struct sequence_capture *sequences = state;
	struct gt_record_captured_launch told;

	gt_capture_thread_run(session, &sequences->thread, waiter);
	if (atomic_load_explicit(&sequences->open, memory_order_acquire) == 0 ||
	    !gt_launch_turn_try(&sequences->thread.turn))
		return;
	told = told_of(sequences, atomic_load_explicit(&sequences->open, memory_order_relaxed));
	gt_capture_drop(sequences->thread.capture);
	atomic_store_explicit(&sequences->open, 0, memory_order_relaxed);
	if (told.number != atomic_load_explicit(&sequences->refused, memory_order_relaxed))
		gt_capture_emit_refused(session, &sequences->thread, &told, "",
		                        "the program ended before the range did");
	gt_launch_turn_give(&sequences->thread.turn);
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const struct gt_settings *settings = gt_settings_of(session);
	struct sequence_capture *sequences = state;
	int result;

	if (!*settings->capture_sequence)
		return 0;
	if (gt_captured_work(session) != GT_CAPTURED_SEQUENCES)
		return gt_fail(
			err, EINVAL,
			"no sequences are captured: launches are, or are run several times for "
			"their counters, and only one of these is done");
	if (!gt_nvtx_is_watched(session))
		return gt_fail(err, EINVAL,
		               "no sequences are captured: the name of the range is too long");
	sequences->thread.sequences = true;
	sequences->graphs = gt_graph_steps_new();
	if (!sequences->graphs)
		return gt_fail(err, ENOMEM, "no sequences are captured: there is no memory for it");
	result = gt_launch_choice_init(session, &sequences->choice, "", "no sequences are captured",
	                               err);
	if (result == 0)
		result = gt_capture_thread_init(session, &sequences->thread,
		                                &gt_source_sequence_capture,
		                                settings->capture_sequence, err);
	if (result < 0)
		return result;
	sequences->thread.capture->host_writes.wanted = true;
	sequences->thread.capture->segments.wanted = true;
	gt_launch_choice_want(session);
	gt_want_known(session, gt_step_call_is_known);
	gt_want_nested(session);
	gt_nvtx_watch_tell(&gt_nvtx.watch, end_occurrence, session);
	return 0;
}

/* Calls from here on are not heard: an occurrence that is open would lack them. */
static bool pause_for(struct gt_session *session, void *state, uint32_t times)
{
	struct sequence_capture *sequences = state;
	const uint32_t open = atomic_load_explicit(&sequences->open, memory_order_acquire);
	struct gt_record_captured_launch told;

	if (!gt_launch_turn_pause(&sequences->thread.turn, &sequences->choice, times))
		return false;
	if (times != GT_PAUSED || open == 0 || atomic_exchange(&sequences->refused, open) == open)
		return true;
	told = told_of(sequences, open);
	gt_capture_emit_refused(session, &sequences->thread, &told, "",
	                        "recording was switched off before the range ended");
	return true;
}

static void stop(struct gt_session *session, void *state)
{
	const struct sequence_capture *sequences = state;
	const struct gt_capture_thread *thread = &sequences->thread;
	char note[256];

	if (!thread->capture)
		return;
	if (thread->count == 0)
		(void)snprintf(
			note, sizeof(note),
			"no occurrence of the range was captured, of %u that were chosen and "
			"used the GPU",
			atomic_load(&sequences->occurrences));
	else
		(void)snprintf(note, sizeof(note),
		               "%llu occurrences of the range were captured into launches/, %.1f "
		               "MiB, which held the program up for %.0f ms: what ran in and beside "
		               "them is disturbed",
		               (unsigned long long)thread->count, (double)thread->bytes / (1 << 20),
		               (double)thread->held_ns / 1e6);
	gt_note(session, "sequence_capture", note);
}

const struct gt_source gt_source_sequence_capture = {
	.name = "sequence_capture",
	.state_size = sizeof(struct sequence_capture),
	.start = start,
	.pause = pause_for,
	.stop = stop,
	.run = run,
	.runs_when_asked = true,
	.end_ns = GT_CAPTURE_END_NS,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

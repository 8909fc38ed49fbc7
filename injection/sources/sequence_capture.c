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
#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/watch.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/snapshot/bundle/steps.h"
#include "injection/snapshot/graph_steps.h"
#include "injection/snapshot/launch/step_calls.h"
#include "injection/snapshot/sequence.h"
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

extern const struct gt_source gt_source_sequence_capture;

/* ---- which occurrence ---- */

/* The occurrence that is open and to be captured; 0: none. */
static uint32_t chosen(const struct gt_sequence *sequences)
{
	const uint32_t occurrence = gt_nvtx_watch_occurrence(&gt_nvtx.watch);

	return occurrence >= sequences->choice.first && occurrence < sequences->choice.end
	               ? occurrence
	               : 0;
}

static bool take_turn(struct gt_session *session, struct gt_sequence *sequences,
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
static void settle(struct gt_session *session, struct gt_sequence *sequences, uint32_t occurrence)
{
	const uint32_t open = atomic_load_explicit(&sequences->open, memory_order_relaxed);
	struct gt_error err = {0};

	if (open == 0 || open == occurrence)
		return;
	if (open != atomic_load_explicit(&sequences->refused, memory_order_relaxed) &&
	    open != atomic_load_explicit(&sequences->broken, memory_order_relaxed)) {
		gt_sequence_finish(session, sequences);
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
	struct gt_sequence *sequences = gt_source_state(session, &gt_source_sequence_capture);
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
static void *pass(struct gt_session *session, struct gt_sequence *sequences, struct gt_call call)
{
	struct gt_launch launch;
	const bool launches = call.driver && gt_launch_read(call.id, call.data, &launch);

	return launches && gt_capture_thread_pass(session, &sequences->thread)
	               ? &sequences->thread.turn
	               : NULL;
}

/* With the turn; true: the call keeps it until it returns. */
static bool enter_step(struct gt_session *session, struct gt_sequence *sequences,
                       uint32_t occurrence, struct gt_call call, const struct gt_step_call *asked)
{
	settle(session, sequences, occurrence);
	if (!occurrence ||
	    occurrence == atomic_load_explicit(&sequences->refused, memory_order_relaxed))
		return false;
	if (atomic_load_explicit(&sequences->open, memory_order_relaxed) == 0) {
		if (asked->kind == GT_STEP_CALL_END)
			return false;
		gt_sequence_begin(session, sequences, occurrence, call);
	}
	return gt_sequence_take_step(session, sequences, call, asked);
}

static void *enter_call(struct gt_session *session, struct gt_sequence *sequences,
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
static void enter_foreign(struct gt_session *session, struct gt_sequence *sequences,
                          struct gt_call call)
{
	if (gt_launch_turn_is_on(&sequences->thread.turn))
		(void)enter_call(session, sequences, call);
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct gt_sequence *sequences = state;
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
		if (gt_sequence_is_naming(sequences))
			gt_sequence_take_inside(session, sequences, call);
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

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct gt_sequence *sequences = state;
	const int saved = errno;

	if (kept == &sequences->thread.turn)
		gt_launch_turn_leave(&sequences->thread.turn);
	else if (kept == &sequences->choice)
		gt_launch_choice_follow(&sequences->choice, call);
	else if (kept == &sequences->thread.foreign)
		gt_foreign_follow(session, &sequences->thread.foreign, call);
	else if (kept)
		gt_sequence_end_step(session, sequences, call);
	errno = saved;
}

static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	struct gt_sequence *sequences = state;

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
	struct gt_sequence *sequences = state;
	struct gt_record_captured_launch told;

	gt_capture_thread_run(session, &sequences->thread, waiter);
	if (atomic_load_explicit(&sequences->open, memory_order_acquire) == 0 ||
	    !gt_launch_turn_try(&sequences->thread.turn))
		return;
	told = gt_sequence_told(sequences,
	                        atomic_load_explicit(&sequences->open, memory_order_relaxed));
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
	struct gt_sequence *sequences = state;
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
	struct gt_sequence *sequences = state;
	const uint32_t open = atomic_load_explicit(&sequences->open, memory_order_acquire);
	struct gt_record_captured_launch told;

	if (!gt_launch_turn_pause(&sequences->thread.turn, &sequences->choice, times))
		return false;
	if (times != GT_PAUSED || open == 0 || atomic_exchange(&sequences->refused, open) == open)
		return true;
	told = gt_sequence_told(sequences, open);
	gt_capture_emit_refused(session, &sequences->thread, &told, "",
	                        "recording was switched off before the range ended");
	return true;
}

static void stop(struct gt_session *session, void *state)
{
	const struct gt_sequence *sequences = state;
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
	.state_size = sizeof(struct gt_sequence),
	.start = start,
	.pause = pause_for,
	.stop = stop,
	.run = run,
	.runs_when_asked = true,
	.end_ns = GT_CAPTURE_END_NS,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/choose_occurrence.h"

#include <errno.h>

#include "base/error.h"
#include "injection/calls/launch.h"
#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/watch.h"
#include "injection/session/services.h"
#include "injection/snapshot/bundle/steps.h"
#include "injection/snapshot/launch/step_calls.h"

/* ---- which occurrence ---- */

/* The occurrence that is open and to be captured; 0: none. */
static uint32_t chosen(const struct gt_sequence *sequences)
{
	const uint32_t occurrence = gt_nvtx_watch_occurrence(&gt_nvtx.watch);

	return occurrence >= sequences->thread.choice.first &&
	                       occurrence < sequences->thread.choice.end
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
	struct gt_sequence *sequences = context;
	struct gt_session *session = sequences->thread.capture->session;
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

/* ---- calls ---- */

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

void *gt_choose_occurrence(struct gt_session *session, struct gt_sequence *sequences,
                           struct gt_call call)
{
	if (gt_foreign_is_call(call)) {
		/* First, so that no step takes the array from when it was looked for. */
		gt_foreign_end_objects(&sequences->thread.foreign, call);
		enter_foreign(session, sequences, call);
		gt_foreign_enter(&sequences->thread.foreign, call);
		return &sequences->thread.foreign;
	}
	if (call.depth > 0) {
		if (gt_sequence_is_naming(sequences))
			gt_sequence_take_inside(session, sequences, call);
		return NULL;
	}
	if (call.driver && gt_capture_step(call.id))
		return &sequences->thread.choice;
	return gt_launch_turn_is_on(&sequences->thread.turn) ? enter_call(session, sequences, call)
	                                                     : NULL;
}

/* ---- its life ---- */

void gt_choose_occurrence_start(struct gt_session *session, struct gt_sequence *sequences)
{
	sequences->thread.capture->host_writes.wanted = true;
	sequences->thread.capture->segments.wanted = true;
	gt_want_known(session, gt_step_call_is_known);
	gt_want_nested(session);
	gt_nvtx_watch_tell(&gt_nvtx.watch, NULL, end_occurrence, sequences);
}

void gt_choose_occurrence_pause(struct gt_session *session, struct gt_sequence *sequences)
{
	const uint32_t open = atomic_load_explicit(&sequences->open, memory_order_acquire);
	struct gt_record_captured_launch told;

	if (open == 0 || atomic_exchange(&sequences->refused, open) == open)
		return;
	told = gt_sequence_told(sequences, open);
	gt_capture_emit_refused(session, &sequences->thread, &told, "",
	                        "recording was switched off before the range ended");
}

void gt_choose_occurrence_end(struct gt_session *session, struct gt_sequence *sequences)
{
	struct gt_record_captured_launch told;

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

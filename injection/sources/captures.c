/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "injection/nvtx/nvtx.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/snapshot/choose_launch.h"
#include "injection/snapshot/choose_occurrence.h"
#include "injection/snapshot/thread.h"

/*
 * Work of the program that can be run again: single launches (snapshot/choose_launch.h) or
 * sequences (snapshot/choose_occurrence.h), one kind in a recording. Off unless
 * GPUTRACE_CAPTURE_KERNELS says which launches, GPUTRACE_CAPTURE_GRAPHS that it is those of CUDA
 * graphs, or GPUTRACE_CAPTURE_SEQUENCE names a range.
 */

extern const struct gt_source gt_source_captures;

union captures {
	struct gt_capture_thread thread; /* the first member of both */
	struct gt_single_launch single;
	struct gt_sequence sequence;
};

/* ---- callbacks ---- */

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	union captures *captures = state;
	const int saved = errno;
	void *kept = captures->thread.sequences
	                     ? gt_choose_occurrence(session, &captures->sequence, call)
	                     : gt_choose_launch(session, &captures->single, call);

	errno = saved;
	return kept;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	union captures *captures = state;
	struct gt_capture_thread *thread = &captures->thread;
	const int saved = errno;

	if (kept == &thread->turn)
		gt_launch_turn_leave(&thread->turn);
	else if (kept == &thread->choice)
		gt_launch_choice_follow(&thread->choice, call);
	else if (kept == &thread->foreign)
		gt_foreign_follow(session, &thread->foreign, call);
	else if (kept && thread->sequences)
		gt_sequence_end_step(session, &captures->sequence, call);
	else if (kept)
		gt_single_launch_end(session, &captures->single, call);
	errno = saved;
}

static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	union captures *captures = state;

	(void)session;
	(void)domain;
	(void)id;
	(void)kept;
	gt_foreign_end_context(&captures->thread.foreign,
	                       ((const CUpti_ResourceData *)data)->context);
}

/* ---- its life ---- */

static int start_launches(struct gt_session *session, union captures *captures,
                          struct gt_error *err)
{
	const struct gt_settings *settings = gt_settings_of(session);

	if (*settings->capture_kernels && settings->capture_graphs)
		return gt_fail(
			err, EINVAL,
			"no launches are captured: of kernels and of CUDA graphs only one is "
			"done");
	if (*settings->kernel_counters)
		return gt_fail(err, EINVAL,
		               "no launches are captured: GPUTRACE_KERNEL_COUNTERS has launches "
		               "run several times, and only one of both is done");
	captures->thread.choice.wanted = gt_captured_work(session) == GT_CAPTURED_GRAPHS
	                                         ? GT_LAUNCH_GRAPH
	                                         : GT_LAUNCH_KERNEL;
	return gt_capture_thread_init(session, &captures->thread, &gt_source_captures,
	                              settings->capture_kernels, settings->launches_range, err);
}

static int start_sequences(struct gt_session *session, union captures *captures,
                           struct gt_error *err)
{
	const char *range = gt_settings_of(session)->capture_sequence;
	int result;

	if (!gt_nvtx_is_watched(session))
		return gt_fail(err, EINVAL,
		               "no sequences are captured: the name of the range is too long");
	captures->thread.sequences = true;
	result = gt_capture_thread_init(session, &captures->thread, &gt_source_captures, "", range,
	                                err);
	if (result == 0)
		gt_choose_occurrence_start(session, &captures->sequence);
	return result;
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	static const char no_sequences[] =
		"no sequences are captured: launches are, or are run several times for their "
		"counters, and only one of these is done";
	const struct gt_settings *settings = gt_settings_of(session);
	const bool launches = *settings->capture_kernels || settings->capture_graphs;

	if (gt_captured_work(session) == GT_CAPTURED_SEQUENCES)
		return start_sequences(session, state, err);
	if (launches && *settings->capture_sequence) {
		gt_count(session, GT_LEDGER_sources_failed, 1);
		gt_note(session, "sequence_capture", no_sequences);
	} else if (*settings->capture_sequence) {
		return gt_fail(err, EINVAL, "%s", no_sequences);
	}
	return launches ? start_launches(session, state, err) : 0;
}

static bool pause_for(struct gt_session *session, void *state, uint32_t times)
{
	union captures *captures = state;

	if (!gt_launch_turn_pause(&captures->thread.turn, &captures->thread.choice, times))
		return false;
	if (times == GT_PAUSED && captures->thread.sequences)
		gt_choose_occurrence_pause(session, &captures->sequence);
	return true;
}

static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	union captures *captures = state;

	gt_capture_thread_run(session, &captures->thread, waiter);
	if (captures->thread.sequences)
		gt_choose_occurrence_end(session, &captures->sequence);
}

static void note_nothing(struct gt_session *session, const union captures *captures)
{
	char note[256];

	if (captures->thread.sequences)
		(void)snprintf(
			note, sizeof(note),
			"no occurrence of the range was captured, of %u that were chosen and "
			"used the GPU",
			atomic_load(&captures->sequence.occurrences));
	else
		(void)snprintf(note, sizeof(note),
		               "no launch was captured, of %llu that were chosen by name and range",
		               (unsigned long long)atomic_load(&captures->thread.choice.chosen));
	gt_note(session, captures->thread.topic, note);
}

static void stop(struct gt_session *session, void *state)
{
	const union captures *captures = state;
	const struct gt_capture_thread *thread = &captures->thread;
	char note[256];

	if (!thread->capture)
		return;
	if (thread->count == 0) {
		note_nothing(session, captures);
		return;
	}
	(void)snprintf(note, sizeof(note),
	               "%llu %s captured into launches/, %.1f MiB, which held the program up for "
	               "%.0f ms: what ran %s is disturbed",
	               (unsigned long long)thread->count,
	               thread->sequences ? "occurrences of the range were" : "launches were",
	               (double)thread->bytes / (1 << 20), (double)thread->held_ns / 1e6,
	               thread->sequences ? "in and beside them" : "beside them");
	gt_note(session, captures->thread.topic, note);
}

const struct gt_source gt_source_captures = {
	.name = "captures",
	.state_size = sizeof(union captures),
	.start = start,
	.pause = pause_for,
	.stop = stop,
	.run = run,
	.runs_when_asked = true,
	.end_ns = GT_CAPTURE_END_NS,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

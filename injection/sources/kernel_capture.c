/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "injection/capture_thread.h"
#include "injection/launch_calls.h"
#include "injection/launch_choice.h"
#include "injection/services.h"
#include "injection/source.h"

/*
 * Single launches with all that running them again needs: code, parameters, and the memory that
 * they can reach, before and after. One launch is captured at a time, and no other one of the
 * process goes to a GPU meanwhile. Off unless GPUTRACE_CAPTURE_KERNELS says which.
 *
 * At the entry of the driver's call the program's thread reads what is launched and waits for a
 * thread of ours (capture_thread.h), which waits for the GPU, copies memory and writes the bundle;
 * at its return once more.
 */

struct kernel_capture {
	struct gt_capture_thread thread;
	struct gt_launch_choice choice;
	/* With the turn: */
	uint64_t number;   /* of the launch that is being captured */
	uint64_t began_ns; /* gt_stamp */
	uint64_t began_at_ns;
};

extern const struct gt_source gt_source_kernel_capture;

static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	gt_capture_thread_run(session, &((struct kernel_capture *)state)->thread, waiter);
}

/* ---- one launch ---- */

/* With the turn: all that is done before the launch. */
static int capture_before(struct gt_session *session, struct kernel_capture *kernels,
                          const struct gt_launch *launch, struct gt_call call, struct gt_error *err)
{
	struct gt_launch_capture *capture = kernels->thread.capture;
	CUstream per_thread =
		!launch->stream && launch->per_thread ? CU_STREAM_PER_THREAD : launch->stream;
	struct gt_capture_stream stream;
	int result = gt_capture_thread_open(&kernels->thread, err);

	gt_capture_lists_empty(&capture->lists);
	capture->context = call.data->context;
	capture->name = call.data->symbolName ? call.data->symbolName : "";
	capture->most = gt_capture_thread_left(session, &kernels->thread);
	capture->step = (struct gt_capture_step){.kind = GT_BUNDLE_STEP_launch,
	                                         .correlation = call.data->correlationId,
	                                         .event = GT_CAPTURE_NONE};
	gt_capture_folder(capture->folder, sizeof(capture->folder), kernels->number, capture->name);
	if (result == 0 && !gt_launch_describe(call.id, call.data, &capture->step.launch))
		result = gt_fail(err, EINVAL, "its call has no parameters");
	if (result == 0)
		result = gt_capture_read_launch(session, &kernels->thread, err);
	if (result < 0)
		return result;
	stream = gt_capture_read_stream(session, &kernels->thread, per_thread);
	capture->step.stream = (uint32_t)gt_capture_number_stream(&capture->lists, &stream, err);
	return gt_capture_thread_do(session, &kernels->thread, GT_CAPTURE_BEFORE, err);
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
                          const struct gt_launch *launch, struct gt_call call, uint64_t number)
{
	struct gt_record_captured_launch told = told_of(call, number);
	struct gt_error err = {0};

	switch (gt_launch_turn_take(&kernels->thread.turn)) {
	case GT_TURN_TAKEN:
		break;
	case GT_TURN_LATE:
		gt_capture_emit_refused(session, &kernels->thread, &told,
		                        "another launch was being captured");
		return false;
	case GT_TURN_NOISY:
		gt_capture_emit_refused(
			session, &kernels->thread, &told,
			"another thread's launch did not return within two seconds");
		return false;
	}
	kernels->number = number;
	kernels->began_ns = gt_stamp();
	kernels->began_at_ns = gt_now();
	if (capture_before(session, kernels, launch, call, &err) == 0)
		return true;
	told.start_ns = kernels->began_ns;
	told.end_ns = gt_stamp();
	kernels->thread.held_ns += gt_now() - kernels->began_at_ns;
	gt_capture_emit_refused(session, &kernels->thread, &told, err.text);
	gt_launch_turn_end(&kernels->thread.turn);
	return false;
}

static void end_capture(struct gt_session *session, struct kernel_capture *kernels,
                        struct gt_call call)
{
	struct gt_record_captured_launch told = told_of(call, kernels->number);
	const uint32_t failed = gt_call_result(call);
	struct gt_error err = {0};
	int result = gt_capture_thread_do(session, &kernels->thread,
	                                  failed ? GT_CAPTURE_DROP : GT_CAPTURE_AFTER, &err);

	if (failed)
		result = gt_fail(&err, EINVAL, "the launch failed");
	told.start_ns = kernels->began_ns;
	told.end_ns = gt_stamp();
	if (result == 0)
		gt_capture_emit(session, &kernels->thread, &told);
	else
		gt_capture_emit_refused(session, &kernels->thread, &told, err.text);
	kernels->thread.held_ns += gt_now() - kernels->began_at_ns;
	gt_launch_turn_end(&kernels->thread.turn);
}

/* ---- callbacks ---- */

static void *enter_launch(struct gt_session *session, struct kernel_capture *kernels,
                          const struct gt_launch *launch, struct gt_call call)
{
	struct gt_record_captured_launch told;
	uint64_t number = 0;

	switch (gt_launch_choice_ask(session, &kernels->choice, launch, call, &number)) {
	case GT_LAUNCH_OTHER:
		break;
	case GT_LAUNCH_CAPTURED:
		told = told_of(call, 0);
		gt_capture_emit_refused(
			session, &kernels->thread, &told,
			"a stream was being captured into a CUDA graph: as its node it runs "
			"later, after other nodes");
		break;
	case GT_LAUNCH_TAKEN:
		if (begin_capture(session, kernels, launch, call, number))
			return &kernels->thread;
		break;
	}
	return gt_capture_thread_pass(session, &kernels->thread) ? &kernels->thread.turn : NULL;
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct kernel_capture *kernels = state;
	const int saved = errno;
	struct gt_launch launch;
	void *kept = NULL;

	if (gt_foreign_is_call(call))
		return &kernels->thread.foreign;
	if (!gt_launch_read(call.id, call.data, &launch))
		return gt_capture_step(call.id) ? &kernels->choice : NULL;
	if (atomic_load_explicit(&kernels->thread.turn.on, memory_order_acquire))
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

/* ---- its life ---- */

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const struct gt_settings *settings = gt_settings_of(session);
	struct kernel_capture *kernels = state;
	int result;

	if (!*settings->capture_kernels)
		return 0;
	if (*settings->kernel_counters)
		return gt_fail(err, EINVAL,
		               "no launches are captured: GPUTRACE_KERNEL_COUNTERS has launches "
		               "run several times, and only one of both is done");
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
	.stop = stop,
	.run = run,
	.runs_when_asked = true,
	.end_ns = GT_CAPTURE_END_NS,
	.hears = {.enter = enter, .leave = leave},
};

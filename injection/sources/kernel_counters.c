/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "injection/calls/launch.h"
#include "injection/counters/kernel_asked.h"
#include "injection/counters/launch_choice.h"
#include "injection/counters/range_profiler.h"
#include "injection/cupti/cupti.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Hardware counters of single launches: CUPTI runs a chosen launch as often as the counters need
 * passes, inside of the program's own call. One launch is profiled at a time, and no other one of
 * the process goes to a GPU meanwhile, as it would be counted with it: threads that launch wait.
 * Off unless GPUTRACE_KERNEL_COUNTERS names some.
 *
 * It is done in the driver's call, which every launch of the runtime has inside. Threads here wait
 * a bounded time: where it is over, nothing is profiled any more and the program goes on.
 */

#define MOST_CONTEXTS 16

enum context_phase { UNSEEN = 0, LEFT_OUT, READY, GONE };

struct context {
	enum context_phase phase;
	CUcontext handle;
	uint32_t first_metric; /* number of its first one in the capture */
	struct gt_range_profiler profiler;
};

struct kernel_counters {
	struct gt_launch_choice choice;
	struct gt_asked_kernel_counters asked;
	struct gt_launch_turn turn; /* whoever has it, has all below */
	struct gt_ranges ranges;
	struct context contexts[MOST_CONTEXTS];
	uint32_t metrics_told;
	uint64_t began_ns;    /* of the launch that is being profiled, gt_stamp */
	uint64_t began_at_ns; /* the same, gt_now */
	/* Totals of all profiled launches: */
	uint64_t launches;
	uint64_t runs;
	uint64_t held_ns;
	char noted[256]; /* the last sentence, which is not said twice */
};

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const struct gt_settings *settings = gt_settings_of(session);
	struct kernel_counters *counters = state;

	if (!*settings->kernel_counters)
		return 0;
	if (*settings->counters)
		return gt_fail(err, EINVAL,
		               "no kernel counters: GPUTRACE_COUNTERS has the GPU's counters "
		               "sampled, and CUPTI gives them to one of both");
	gt_asked_kernel_counters_read(session, &counters->asked);
	if (counters->asked.graphs)
		counters->choice.wanted = GT_LAUNCH_GRAPH;
	if (counters->asked.count == 0)
		return gt_fail(err, EINVAL,
		               "no kernel counters: GPUTRACE_KERNEL_COUNTERS names none");
	if (gt_launch_choice_init(session, &counters->choice, settings->kernels,
	                          "no kernel counters", err) < 0)
		return -EINVAL;
	if (!gt_ranges_open(&counters->ranges, gt_cupti_of(session)))
		return gt_fail(err, ENOTSUP,
		               "no kernel counters: they need the CUPTI of CUDA 12.6 or later, and "
		               "this one is version %u",
		               gt_cupti_of(session)->version);
	gt_launch_choice_want(session);
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
	gt_launch_turn_init(&counters->turn, settings->launches_patience_ns);
	return 0;
}

/* ---- notes ---- */

static void note_once(struct gt_session *session, struct kernel_counters *counters,
                      const char *sentence)
{
	if (strncmp(counters->noted, sentence, sizeof(counters->noted) - 1) == 0)
		return;
	(void)snprintf(counters->noted, sizeof(counters->noted), "%s", sentence);
	gt_note(session, "kernel_counters", sentence);
}

/* Something hangs, or waits for what waits for it: the program comes first. */
static void give_up(void *context)
{
	struct gt_session *session = context;

	gt_count(session, GT_LEDGER_sources_failed, 1);
	gt_note(session, "kernel_counters",
	        "launches are not profiled any more: one took more than half a minute while "
	        "another thread waited to launch");
}

/* ---- contexts ---- */

static void note_unknown(void *context, const char *metric)
{
	char note[256];

	(void)snprintf(note, sizeof(note),
	               "not counted, as the chip has no counter of this name: %.150s", metric);
	gt_note(context, "kernel_counters", note);
}

static enum gt_range_mode mode_of(const struct kernel_counters *counters)
{
	return counters->choice.wanted == GT_LAUNCH_GRAPH ? GT_RANGE_GRAPH : GT_RANGE_KERNEL;
}

static void tell_metrics(struct gt_session *session, struct kernel_counters *counters,
                         struct context *context)
{
	const struct gt_range_plan *plan = &context->profiler.plan;

	context->first_metric = counters->metrics_told;
	for (size_t i = 0; i < plan->count; i++)
		gt_asked_kernel_counters_tell(session, &counters->asked, &context->profiler,
		                              plan->metrics[i], counters->metrics_told++);
}

static void get_to_know(struct gt_session *session, struct kernel_counters *counters,
                        struct context *context, CUcontext handle)
{
	const struct gt_range_wanted wanted = {counters->asked.metrics, counters->asked.count,
	                                       note_unknown, session};
	struct gt_error err = {0};
	uint32_t ordinal = 0;

	(void)gt_cupti_of(session)->cuptiGetDeviceId(handle, &ordinal);
	*context = (struct context){
		.phase = LEFT_OUT,
		.handle = handle,
		.profiler = {.ranges = &counters->ranges,
	                     .device = ordinal,
	                     .mode = mode_of(counters)},
	};
	if (gt_range_prepare(&context->profiler, handle, (CUdevice)ordinal, &wanted, &err) < 0) {
		gt_count(session, GT_LEDGER_sources_failed, 1);
		note_once(session, counters, err.text);
		return;
	}
	context->phase = READY;
	tell_metrics(session, counters, context);
}

/* The context's place, known or new; NULL: there is none left. */
static struct context *find_context(struct kernel_counters *counters, CUcontext handle)
{
	struct context *free_one = NULL;

	for (size_t i = 0; i < MOST_CONTEXTS; i++) {
		struct context *context = &counters->contexts[i];

		if (context->phase != UNSEEN && context->phase != GONE && context->handle == handle)
			return context;
		if (!free_one && (context->phase == UNSEEN || context->phase == GONE))
			free_one = context;
	}
	if (free_one)
		free_one->phase = UNSEEN;
	return free_one;
}

/* Ready to profile; NULL: its launches are not. */
static struct context *ready_context(struct gt_session *session, struct kernel_counters *counters,
                                     CUcontext handle)
{
	struct context *context = handle ? find_context(counters, handle) : NULL;

	if (!context)
		return NULL;
	if (context->phase == UNSEEN)
		get_to_know(session, counters, context, handle);
	return context->phase == READY ? context : NULL;
}

/* On the thread that ends the context: what CUPTI has for it goes before it does. */
static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	const CUpti_ResourceData *resource = data;
	struct kernel_counters *counters = state;

	(void)session;
	(void)domain;
	(void)id;
	(void)kept;
	if (!gt_launch_turn_hold(&counters->turn))
		return;
	for (size_t i = 0; i < MOST_CONTEXTS; i++) {
		struct context *context = &counters->contexts[i];

		if (context->phase == UNSEEN || context->handle != resource->context)
			continue;
		gt_range_release(&context->profiler);
		context->phase = GONE;
	}
	gt_launch_turn_give(&counters->turn);
}

/* ---- a launch ---- */

/* Returns the context whose profiler runs, NULL where the launch is not profiled. */
static struct context *begin_launch(struct gt_session *session, struct kernel_counters *counters,
                                    CUcontext handle)
{
	struct gt_error err = {0};
	struct context *context;

	switch (gt_launch_turn_take(&counters->turn)) {
	case GT_TURN_TAKEN:
		break;
	case GT_TURN_NOISY:
		note_once(session, counters,
		          "a launch was not profiled, as another thread's launch did not return "
		          "within two seconds");
		return NULL;
	case GT_TURN_LATE:
		return NULL;
	}
	counters->began_ns = gt_stamp();
	counters->began_at_ns = gt_now();
	context = ready_context(session, counters, handle);
	if (context && gt_range_begin(&context->profiler, &err) == 0) {
		gt_replay_begins(session);
		return context;
	}
	if (context) {
		gt_count(session, GT_LEDGER_sources_failed, 1);
		note_once(session, counters, err.text);
		gt_range_release(&context->profiler);
		context->phase = LEFT_OUT;
	}
	gt_launch_turn_end(&counters->turn);
	return NULL;
}

static void emit_value(struct gt_session *session, uint32_t correlation, uint32_t metric,
                       double value)
{
	struct gt_record_profiled_value *record =
		gt_emit_begin(session, GT_RECORD_profiled_value, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_profiled_value){
		.correlation = correlation, .metric = metric, .value = value};
	gt_emit_commit();
}

static void emit(struct gt_session *session, struct kernel_counters *counters,
                 const struct context *context, uint32_t correlation, const double *values)
{
	const struct gt_range_plan *plan = &context->profiler.plan;
	struct gt_record_profiled_launch *record =
		gt_emit_begin(session, GT_RECORD_profiled_launch, sizeof(*record));

	counters->launches++;
	counters->runs += plan->passes;
	counters->held_ns += gt_now() - counters->began_at_ns;
	if (!record)
		return;
	*record = (struct gt_record_profiled_launch){
		.start_ns = counters->began_ns,
		.end_ns = gt_stamp(),
		.correlation = correlation,
		.passes = (uint32_t)plan->passes,
		.kind = counters->choice.wanted == GT_LAUNCH_GRAPH,
	};
	gt_emit_commit();
	for (size_t i = 0; i < plan->count; i++)
		if (!isnan(values[i]))
			emit_value(session, correlation, context->first_metric + (uint32_t)i,
			           values[i]);
}

/* A launch that failed was none; several at once cannot be told apart. */
static void end(struct gt_session *session, struct kernel_counters *counters,
                struct context *context, struct gt_call call)
{
	double values[GT_RANGE_METRICS];
	struct gt_error err = {0};
	const int launches = gt_range_end(&context->profiler, values, &err);

	if (launches == 1)
		emit(session, counters, context, call.data->correlationId, values);
	else if (launches > 1)
		note_once(
			session, counters,
			"the counters of a launch are not known, as CUPTI counted others with it");
	if (launches < 0) {
		gt_count(session, GT_LEDGER_sources_failed, 1);
		note_once(session, counters, err.text);
		gt_range_release(&context->profiler);
		context->phase = LEFT_OUT;
	}
	gt_replay_ends(session,
	               counters->choice.wanted == GT_LAUNCH_KERNEL ? call.data->correlationId : 0);
	gt_launch_turn_end(&counters->turn);
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct kernel_counters *counters = state;
	const int saved = errno;
	struct gt_launch launch;
	uint64_t number;
	void *kept = NULL;

	if (!gt_launch_read(call.id, call.data, &launch))
		return gt_capture_step(call.id) ? &counters->choice : NULL;
	if (!gt_launch_turn_is_on(&counters->turn))
		return NULL;
	if (gt_launch_choice_ask(session, &counters->choice, &launch, call, &number) ==
	    GT_LAUNCH_TAKEN)
		kept = begin_launch(session, counters, call.data->context);
	if (!kept && gt_launch_turn_pass(&counters->turn, give_up, session))
		kept = &counters->turn;
	errno = saved;
	return kept;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct kernel_counters *counters = state;
	const int saved = errno;

	if (kept == &counters->turn)
		gt_launch_turn_leave(&counters->turn);
	else if (kept == &counters->choice)
		gt_launch_choice_follow(&counters->choice, call);
	else if (kept)
		end(session, counters, kept, call);
	errno = saved;
}

/* ---- its end ---- */

static bool pause_for(struct gt_session *session, void *state, uint32_t times)
{
	struct kernel_counters *counters = state;

	(void)session;
	return gt_launch_turn_pause(&counters->turn, &counters->choice, times);
}

/*
 * Says how much was profiled at what cost; CUPTI's objects stay, as the driver may be gone by now.
 */
static void stop(struct gt_session *session, void *state)
{
	struct kernel_counters *counters = state;
	char note[256];

	if (!*gt_settings_of(session)->kernel_counters || counters->asked.count == 0)
		return;
	if (counters->launches == 0)
		(void)snprintf(note, sizeof(note),
		               "no launch was profiled, of %llu that were chosen by name and range",
		               (unsigned long long)atomic_load(&counters->choice.chosen));
	else
		(void)snprintf(
			note, sizeof(note),
			"%llu launches were profiled, and run %llu times for that, which held the "
			"program up for %.0f ms: their times are in no figure of kernels and "
			"calls, and others' times beside them are disturbed",
			(unsigned long long)counters->launches, (unsigned long long)counters->runs,
			(double)counters->held_ns / 1e6);
	gt_note(session, "kernel_counters", note);
}

const struct gt_source gt_source_kernel_counters = {
	.name = "kernel_counters",
	.state_size = sizeof(struct kernel_counters),
	.start = start,
	.pause = pause_for,
	.stop = stop,
	.hears = {.enter = enter, .leave = leave, .event = event},
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/facts.h"

#include <stdbool.h>
#include <stdio.h>

#include "analysis/figures.h"
#include "analysis/time/module_calls.h"
#include "base/array.h"
#include "base/strings.h"
#include "base/sums.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/whole.h"
#include "model/work/sync.h"
#include "model/work/timed.h"

enum {
	KINDS = 64,      /* numbers of kinds of waits that are known are below it */
	SOME_CALLS = 10, /* that allocate, or copies: rules say nothing of fewer */
	SOME_WORK = 20,  /* kernels, copies and fills: with fewer a stream more changes little */
};

static void add(struct gt_amount *amount, gt_id unit, struct gt_interval when)
{
	amount->count++;
	amount->summed_ns += (uint64_t)(when.end_ns - when.start_ns);
	gt_unit_times_add(&amount->times, unit, when);
}

static void take_most(struct gt_amount *amount, const char *name, uint64_t total_ns)
{
	if (total_ns <= amount->most_ns)
		return;
	amount->most = name;
	amount->most_ns = total_ns;
}

struct gt_amount_calls gt_amount_calls(const struct gt_amount *amount)
{
	const bool several = gt_unit_times_used(&amount->times) > 1;
	struct gt_amount_calls calls;
	const int used =
		snprintf(calls.text, sizeof(calls.text), "%s %s%s", gt_grouped(amount->count).text,
	                 amount->count == 1 ? "call" : "calls",
	                 !several                              ? ""
	                 : amount->times.whose == GT_OF_THREAD ? " of all threads"
	                                                       : " of all processes");

	if (amount->most)
		snprintf(calls.text + used, sizeof(calls.text) - (size_t)used, ", %s in %s",
		         amount->most_ns == amount->summed_ns ? "all" : "most of it", amount->most);
	return calls;
}

static bool is_default_stream(const struct gt_trace *trace, gt_id stream)
{
	const struct gt_stream *row =
		stream < trace->streams.count ? &trace->streams.rows[stream] : NULL;

	return row && row->context < trace->contexts.count &&
	       trace->contexts.rows[row->context].null_stream == row->number;
}

/* Between the host and a GPU: copies inside of a GPU need its memory as kernels do. */
static bool is_host_copy(const struct gt_trace *trace, const struct gt_activity *activity)
{
	const gt_count kind = trace->copies.rows[activity->row].kind;

	return kind == GT_COPY_HOST_TO_DEVICE || kind == GT_COPY_DEVICE_TO_HOST ||
	       kind == GT_COPY_HOST_TO_ARRAY || kind == GT_COPY_ARRAY_TO_HOST;
}

/* Time that kernels and copies of the host cover together, from the first kernel to the last. */
static void see_overlap(const struct gt_facts *facts, struct gt_cover *covers,
                        const struct gt_inside *window, const struct gt_activity *activity)
{
	const struct gt_cover *kernels = &facts->busy[activity->device].kernels;
	struct gt_interval when = {activity->start_ns, activity->end_ns};

	if (activity->type == GT_ACTIVITY_FILL || !kernels->begun ||
	    (activity->type == GT_ACTIVITY_COPY && !is_host_copy(facts->calls.trace, activity)))
		return;
	when.start_ns = when.start_ns > kernels->start_ns ? when.start_ns : kernels->start_ns;
	when.end_ns = when.end_ns < kernels->end_ns ? when.end_ns : kernels->end_ns;
	gt_cover_add_inside(&covers[activity->device], window, when);
}

/* seen: by stream. */
static void see_streams(struct gt_facts *facts, const struct gt_activity *activity, bool *seen)
{
	const struct gt_trace *trace = facts->calls.trace;
	const gt_id stream = gt_activity_stream(trace, activity);

	if (!is_default_stream(trace, stream)) {
		facts->of_other_streams[activity->device]++;
		return;
	}
	facts->of_default_stream[activity->device]++;
	facts->default_streams[activity->device] += !seen[stream];
	seen[stream] = true;
}

/* Who asks when kernels ran: that takes memory for each of them. */
static bool wants_work(const struct gt_facts *facts)
{
	const struct gt_trace *trace = facts->view->trace;

	return facts->memory_calls >= SOME_CALLS || trace->copies.count >= SOME_CALLS ||
	       trace->counters.count > 0;
}

/* All that is kept by device; to be filled. */
static void init_devices(struct gt_facts *facts, size_t count)
{
	facts->busy = gt_busy_of_devices(facts->view);
	facts->alone_ns = gt_allocate_zeroed(count, sizeof(*facts->alone_ns));
	facts->of_default_stream = gt_allocate_zeroed(count, sizeof(*facts->of_default_stream));
	facts->of_other_streams = gt_allocate_zeroed(count, sizeof(*facts->of_other_streams));
	facts->default_streams = gt_allocate_zeroed(count, sizeof(*facts->default_streams));
	facts->idle = gt_allocate(count * sizeof(*facts->idle));
	facts->work = gt_allocate(count * sizeof(*facts->work));
	for (size_t i = 0; i < count; i++) {
		facts->work[i] = (struct gt_covered){0};
		facts->idle[i] = (struct gt_idle){
			.largest_count = 1,
			.window = gt_window_of(facts->view),
			.hear = gt_gap_totals_hear,
			.hearer = &facts->gaps,
			.device = (gt_id)i,
		};
	}
}

/*
 * Device by device: what ran and where, the gaps between, and which copies ran beside nothing, of
 * all that happened.
 */
static void see_activity(struct gt_facts *facts)
{
	const struct gt_trace *shown = facts->view->trace;
	const size_t count = shown->devices.count;
	struct gt_cover *covers = gt_allocate_zeroed(count, sizeof(*covers));
	const struct gt_inside window = gt_window_of(facts->view);
	bool *seen = gt_allocate_zeroed(facts->calls.trace->streams.count, sizeof(*seen));
	const bool keeps_work = wants_work(facts);
	struct gt_activity_walk walk;
	struct gt_activity activity;

	init_devices(facts, count);
	gt_activity_walk_init(&walk, facts->calls.trace, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &activity)) {
		activity.device = gt_whole_device(shown, activity.device);
		if (activity.device >= count)
			continue;
		gt_idle_see(&facts->idle[activity.device], &activity);
		see_overlap(facts, covers, &window, &activity);
		see_streams(facts, &activity, seen);
		if (keeps_work && gt_activity_is_work(activity.type))
			gt_covered_add(&facts->work[activity.device],
			               (struct gt_interval){activity.start_ns, activity.end_ns},
			               GT_NOT_ASKED);
	}
	for (size_t i = 0; i < count; i++) {
		gt_idle_end(&facts->idle[i]);
		if (covers[i].covered_ns > facts->busy[i].kernels.covered_ns)
			facts->alone_ns[i] =
				covers[i].covered_ns - facts->busy[i].kernels.covered_ns;
	}
	gt_gap_totals_sort(&facts->gaps);
	gt_array_free(seen);
	gt_array_free(covers);
}

static void see_failure(struct gt_facts *facts, const struct gt_api_call *call)
{
	if (!gt_api_failed(call))
		return;
	facts->failed++;
	if (!facts->first_failed)
		facts->first_failed = call;
}

static void see_load(struct gt_facts *facts, const struct gt_api_call *call, uint64_t *of_function)
{
	const struct gt_trace *trace = facts->view->trace;
	struct gt_amount *loads = &facts->loads;

	add(loads, gt_trace_thread_process(trace, call->thread),
	    (struct gt_interval){call->start_ns, call->end_ns});
	if (loads->count == 1 || call->start_ns < loads->start_ns)
		loads->start_ns = call->start_ns;
	if (loads->count == 1 || call->end_ns > loads->end_ns)
		loads->end_ns = call->end_ns;
	of_function[call->function] += (uint64_t)(call->end_ns - call->start_ns);
	take_most(loads, gt_trace_text(trace, call->function), of_function[call->function]);
}

/* A call inside another is part of that one's time. */
static void see_calls(struct gt_facts *facts)
{
	const struct gt_trace *trace = facts->view->trace;
	const size_t size = gt_strings_count(trace->strings);
	uint64_t *of_function = gt_allocate_zeroed(size, sizeof(*of_function));

	gt_array_each(const struct gt_api_call, call, &trace->api_calls) {
		see_failure(facts, call);
		if (call->flags & GT_NESTED || call->function >= size ||
		    !gt_timed(GT_TIMES_FIGURES, call->flags, call->start_ns, call->end_ns))
			continue;
		if (call->kind == GT_API_ALLOCATE || call->kind == GT_API_FREE)
			facts->memory_calls++;
		else if (gt_call_takes_code(trace, call))
			see_load(facts, call, of_function);
	}
	gt_array_free(of_function);
}

static void see_waits(struct gt_facts *facts)
{
	uint64_t of_kind[KINDS] = {0};

	gt_array_each(const struct gt_sync, sync, &facts->view->trace->syncs) {
		const uint32_t kind = sync->kind < KINDS ? sync->kind : 0;

		if (!gt_sync_waits_host(sync->kind) ||
		    !gt_timed(GT_TIMES_ANY, sync->flags, sync->start_ns, sync->end_ns))
			continue;
		add(&facts->waits, sync->thread,
		    (struct gt_interval){sync->start_ns, sync->end_ns});
		of_kind[kind] += (uint64_t)(sync->end_ns - sync->start_ns);
		take_most(&facts->waits, gt_sync_kind_name(kind), of_kind[kind]);
	}
}

static void see_copies(struct gt_facts *facts)
{
	gt_array_each(const struct gt_copy, copy, &facts->view->trace->copies)
		if (gt_timed(GT_TIMES_ANY, copy->flags, copy->start_ns, copy->end_ns))
			gt_sum_add(&facts->copied_bytes, copy->size_bytes);
}

void gt_facts_init(struct gt_facts *facts, const struct gt_view *view)
{
	*facts = (struct gt_facts){.view = view, .wall = gt_wall_of(view)};
	gt_unit_times_init(&facts->waits.times, view, GT_OF_THREAD);
	gt_unit_times_init(&facts->loads.times, view, GT_OF_PROCESS);
	gt_thread_calls_init(&facts->calls, gt_whole_of(view->trace));
	gt_gap_totals_init(&facts->gaps, &facts->calls);
	gt_throttles_init(&facts->throttles, view->trace);
	gt_variables_init(&facts->variables, view->trace);
	gt_range_totals_init(&facts->ranges, view, GT_RANGES_BY_PATH, GT_FOLD_AUTO);
	gt_range_losses_init(&facts->range_losses, &facts->ranges, &facts->wall);
	gt_memory_totals_init(&facts->allocated, view);
	gt_memory_failures_init(&facts->not_allocated, view);
	if (view->trace->syncs.count)
		gt_host_waits_init(&facts->host_waits, view, GT_SMALL_READ_BYTES);
	gt_shape_totals_init(&facts->shapes, view);
	see_calls(facts);
	see_activity(facts);
	/* Where some of the work is chosen, whose loading it was is not known. */
	if (view->by_work)
		gt_unit_times_init(&facts->loading, view, GT_OF_PROCESS);
	else
		gt_loading_times_init(&facts->loading, view);
	see_waits(facts);
	see_copies(facts);
}

void gt_facts_release(struct gt_facts *facts)
{
	for (size_t i = 0; i < facts->view->trace->devices.count; i++) {
		gt_idle_release(&facts->idle[i]);
		gt_covered_release(&facts->work[i]);
	}
	gt_unit_times_release(&facts->waits.times);
	gt_unit_times_release(&facts->loads.times);
	gt_unit_times_release(&facts->loading);
	gt_array_free(facts->work);
	gt_array_free(facts->busy);
	gt_array_free(facts->idle);
	gt_gap_totals_release(&facts->gaps);
	gt_thread_calls_release(&facts->calls);
	gt_throttles_release(&facts->throttles);
	gt_variables_release(&facts->variables);
	gt_range_losses_release(&facts->range_losses);
	gt_range_totals_release(&facts->ranges);
	gt_memory_totals_release(&facts->allocated);
	gt_memory_failures_release(&facts->not_allocated);
	if (facts->view->trace->syncs.count)
		gt_host_waits_release(&facts->host_waits);
	gt_shape_totals_release(&facts->shapes);
	gt_array_free(facts->alone_ns);
	gt_array_free(facts->of_default_stream);
	gt_array_free(facts->of_other_streams);
	gt_array_free(facts->default_streams);
}

bool gt_facts_on_default_stream(const struct gt_facts *facts, gt_id device)
{
	return facts->of_default_stream[device] >= SOME_WORK &&
	       facts->of_other_streams[device] == 0;
}

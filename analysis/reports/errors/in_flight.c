/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/errors/in_flight.h"

#include <stdlib.h>

#include "analysis/reports/errors/failures.h"
#include "model/whole.h"
#include "model/work/sync.h"
#include "model/work/timed.h"

/* One failure, with what was known to be well before it. */
struct look {
	struct gt_in_flight *flight;
	const struct gt_trace *whole;
	size_t failure;
	gt_id process;       /* of the whole */
	gt_time returned_ns; /* of the failed call */
	gt_time *well_ns;    /* by row of contexts: the last good wait returned, 0: none did */
};

static bool is_asked_about(const struct look *look, gt_id api_call)
{
	return api_call < look->whole->api_calls.count &&
	       look->whole->api_calls.rows[api_call].start_ns < look->returned_ns;
}

static void see_waits(const struct look *look)
{
	const struct gt_trace *whole = look->whole;

	gt_array_each(const struct gt_sync, sync, &whole->syncs)
		if (sync->context < whole->contexts.count && sync->result == 0 &&
		    gt_sync_waits_host(sync->kind) && !(sync->flags & GT_UNFINISHED) &&
		    sync->end_ns <= look->returned_ns &&
		    sync->end_ns > look->well_ns[sync->context])
			look->well_ns[sync->context] = sync->end_ns;
}

static void see_pending(const struct look *look, const struct gt_pending *pending)
{
	gt_array_each(const struct gt_pending_work, work, &pending->works)
		if (work->process == look->process && is_asked_about(look, work->api_call))
			*gt_array_push(&look->flight->rows) = (struct gt_in_flight_work){
				.failure = look->failure,
				.work = *work,
				.state =
					work->place == 1 ? GT_IN_FLIGHT_FIRST : GT_IN_FLIGHT_BEHIND,
			};
}

static bool may_have_failed(const struct look *look, const struct gt_kernel *kernel)
{
	const struct gt_trace *whole = look->whole;

	if (gt_trace_stream_process(whole, kernel->stream) != look->process ||
	    !is_asked_about(look, kernel->api_call) ||
	    !gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns))
		return false;

	const gt_id context = whole->streams.rows[kernel->stream].context;

	return context >= whole->contexts.count || kernel->end_ns > look->well_ns[context];
}

static void see_ended(const struct look *look)
{
	const struct gt_trace *whole = look->whole;

	for (gt_id row = 0; row < whole->kernels.count; row++) {
		const struct gt_kernel *kernel = &whole->kernels.rows[row];

		if (may_have_failed(look, kernel))
			*gt_array_push(&look->flight->rows) = (struct gt_in_flight_work){
				.failure = look->failure,
				.work = {.step = {GT_TABLE_kernels, row},
			                 .node = {.table = GT_TABLE_NONE},
			                 .stream = kernel->stream,
			                 .process = look->process,
			                 .api_call = kernel->api_call,
			                 .correlation = kernel->correlation,
			                 .given_ns =
			                         whole->api_calls.rows[kernel->api_call].start_ns},
				.state = GT_IN_FLIGHT_ENDED,
				.end_ns = kernel->end_ns,
			};
	}
}

/* Since when any of the process's contexts is not known to be well. */
static gt_time doubtful_ns(const struct look *look)
{
	gt_time least_ns = INT64_MAX;

	for (gt_id i = 0; i < look->whole->contexts.count; i++)
		if (look->whole->contexts.rows[i].process == look->process &&
		    look->well_ns[i] < least_ns)
			least_ns = look->well_ns[i];
	return least_ns == INT64_MAX ? 0 : least_ns;
}

/* Launches whose kernel has no record, as CUPTI may drop what was running when it went wrong. */
static void count_missing(const struct look *look)
{
	const struct gt_trace *whole = look->whole;
	const gt_time from_ns = doubtful_ns(look);
	bool *has_kernel = gt_allocate_zeroed(whole->api_calls.count, sizeof(*has_kernel));

	gt_array_each(const struct gt_kernel, kernel, &whole->kernels)
		if (kernel->api_call < whole->api_calls.count)
			has_kernel[kernel->api_call] = true;
	for (gt_id row = 0; row < whole->api_calls.count; row++) {
		const struct gt_api_call *call = &whole->api_calls.rows[row];

		look->flight->missing +=
			call->kind == GT_API_LAUNCH && call->result == 0 && !has_kernel[row] &&
			!(call->flags & (GT_NESTED | GT_GRAPH_NODE)) && call->end_ns >= from_ns &&
			is_asked_about(look, row) &&
			gt_trace_thread_process(whole, call->thread) == look->process;
	}
	gt_array_free(has_kernel);
}

static int by_number(size_t left, size_t right)
{
	return (left > right) - (left < right);
}

static int by_suspicion(const void *a, const void *b)
{
	const struct gt_in_flight_work *left = a;
	const struct gt_in_flight_work *right = b;

	if (left->failure != right->failure)
		return by_number(left->failure, right->failure);
	if (left->state != right->state)
		return by_number(left->state, right->state);
	if (left->work.stream != right->work.stream)
		return by_number(left->work.stream, right->work.stream);
	if (left->end_ns != right->end_ns)
		return left->end_ns > right->end_ns ? -1 : 1;
	if (left->work.place != right->work.place)
		return by_number(left->work.place, right->work.place);
	return by_number(left->work.step.row, right->work.step.row);
}

/* Leaves so many ended ones of each stream; the rows are sorted. */
static void leave_out(struct gt_in_flight *flight, uint64_t most)
{
	struct gt_in_flight_work last = {.failure = SIZE_MAX};
	uint64_t of_stream = 0;
	size_t kept = 0;

	for (size_t i = 0; i < flight->rows.count; i++) {
		const struct gt_in_flight_work row = flight->rows.rows[i];
		const bool goes_on = row.failure == last.failure && row.state == last.state &&
		                     row.work.stream == last.work.stream;

		of_stream = goes_on ? of_stream + 1 : 1;
		last = row;
		if (row.state == GT_IN_FLIGHT_ENDED && of_stream > most)
			flight->ended_more++;
		else
			flight->rows.rows[kept++] = row;
	}
	flight->rows.count = kept;
}

static void see_failure(struct look *look, const struct gt_pending *pending)
{
	look->well_ns = gt_allocate_zeroed(look->whole->contexts.count, sizeof(*look->well_ns));
	see_waits(look);
	see_pending(look, pending);
	see_ended(look);
	count_missing(look);
	gt_array_free(look->well_ns);
}

/* One for each process: once it has come up, every later call returns such an error. */
static void see_failures(struct gt_in_flight *flight, const struct gt_failures *failures,
                         const struct gt_pending *pending)
{
	const struct gt_trace *trace = failures->trace;
	bool *seen = gt_allocate_zeroed(trace->processes.count, sizeof(*seen));

	for (size_t i = 0; i < failures->rows.count; i++) {
		const struct gt_failure *failure = &failures->rows.rows[i];

		if (!gt_failure_is_of_work(failure) || failure->process >= trace->processes.count ||
		    seen[failure->process])
			continue;
		seen[failure->process] = true;
		see_failure(&(struct look){.flight = flight,
		                           .whole = flight->whole,
		                           .failure = i,
		                           .process = gt_whole_origin(trace, GT_TABLE_processes,
		                                                      failure->process),
		                           .returned_ns =
		                                   gt_failure_call(failures, failure)->end_ns},
		            pending);
	}
	gt_array_free(seen);
}

static bool any_of_work(const struct gt_failures *failures)
{
	gt_array_each(const struct gt_failure, failure, &failures->rows)
		if (gt_failure_is_of_work(failure))
			return true;
	return false;
}

void gt_in_flight_init(struct gt_in_flight *flight, const struct gt_failures *failures,
                       uint64_t most_ended)
{
	struct gt_pending pending;

	*flight = (struct gt_in_flight){.whole = gt_whole_of(failures->trace)};
	flight->was_asked = any_of_work(failures);
	if (!flight->was_asked)
		return;
	gt_pending_init(&pending, flight->whole, flight->whole->end_ns);
	see_failures(flight, failures, &pending);
	gt_pending_release(&pending);
	if (flight->rows.count > 0)
		qsort(flight->rows.rows, flight->rows.count, sizeof(*flight->rows.rows),
		      by_suspicion);
	leave_out(flight, most_ended);
}

void gt_in_flight_release(struct gt_in_flight *flight)
{
	gt_array_release(&flight->rows);
}

const char *gt_in_flight_state_name(const struct gt_in_flight_work *work)
{
	switch (work->state) {
	case GT_IN_FLIGHT_FIRST:
		break;
	case GT_IN_FLIGHT_ENDED:
		return "ended";
	case GT_IN_FLIGHT_BEHIND:
		return gt_pending_state_name(GT_PENDING_BEHIND);
	}
	return work->work.state == GT_PENDING_FIRST || work->work.state == GT_PENDING_UNTOLD
	               ? "first without an end"
	               : gt_pending_state_name(work->work.state);
}

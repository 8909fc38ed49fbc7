/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "model/work/timed.h"

static gt_id process_of_thread(const struct gt_trace *trace, gt_id thread)
{
	return thread < trace->threads.count ? trace->threads.rows[thread].process : GT_NONE;
}

/* ---- occurrences ---- */

static bool is_captured(const struct gt_sequence *sequence,
                        const struct gt_sequence_interval *interval)
{
	gt_array_each(const struct gt_captured_launch, launch, &sequence->trace->captured_launches)
		if (launch->process == sequence->launch->process &&
		    launch->start_ns <= interval->end_ns && launch->end_ns >= interval->start_ns)
			return true;
	return false;
}

/* Ranges come by their begin; those that overlap are one occurrence. */
static void list_occurrences(struct gt_sequence *sequence)
{
	const struct gt_trace *trace = sequence->trace;
	const char *name = gt_trace_text(trace, sequence->launch->range);
	gt_array(struct gt_sequence_interval) all = {0};

	gt_array_each(const struct gt_range, range, &trace->ranges) {
		struct gt_sequence_interval *last = all.count ? &all.rows[all.count - 1] : NULL;

		if (strcmp(gt_trace_text(trace, range->text), name) != 0 ||
		    process_of_thread(trace, range->thread) != sequence->launch->process ||
		    !gt_timed(GT_TIMES_ANY, range->flags, range->start_ns, range->end_ns))
			continue;
		if (last && range->start_ns <= last->end_ns)
			last->end_ns = range->end_ns > last->end_ns ? range->end_ns : last->end_ns;
		else
			*gt_array_push(&all) =
				(struct gt_sequence_interval){range->start_ns, range->end_ns};
	}
	gt_array_each(const struct gt_sequence_interval, interval, &all)
		if (!is_captured(sequence, interval))
			*gt_array_push(&sequence->occurrences) = *interval;
	gt_array_free(all.rows);
}

/* ---- work ---- */

static void add_work(struct gt_sequence *sequence, gt_id api_call, struct gt_sequence_work work)
{
	const struct gt_trace *trace = sequence->trace;
	const struct gt_api_call *call;

	if (api_call >= trace->api_calls.count)
		return;
	call = &trace->api_calls.rows[api_call];
	if (process_of_thread(trace, call->thread) != sequence->launch->process)
		return;
	work.call_ns = call->start_ns;
	work.captured = (call->flags & GT_PROFILED) != 0;
	*gt_array_push(&sequence->work) = work;
}

static int by_call(const void *a, const void *b)
{
	const struct gt_sequence_work *left = a;
	const struct gt_sequence_work *right = b;

	if (left->call_ns != right->call_ns)
		return left->call_ns < right->call_ns ? -1 : 1;
	return left->start_ns < right->start_ns ? -1 : left->start_ns > right->start_ns;
}

#define ADD(row, ...)                                                                              \
	add_work(sequence, (row)->api_call,                                                        \
	         (struct gt_sequence_work){.start_ns = (row)->start_ns,                            \
	                                   .end_ns = (row)->end_ns,                                \
	                                   .counts = gt_timed(GT_TIMES_FIGURES, (row)->flags,      \
	                                                      (row)->start_ns, (row)->end_ns),     \
	                                   __VA_ARGS__})

static void list_work(struct gt_sequence *sequence)
{
	const struct gt_trace *trace = sequence->trace;

	gt_array_each(const struct gt_kernel, kernel, &trace->kernels)
		ADD(kernel, .kind = GT_SEQUENCE_LAUNCH, .shape = kernel->shape);
	gt_array_each(const struct gt_copy, copy, &trace->copies)
		ADD(copy, .kind = GT_SEQUENCE_COPY, .bytes = copy->size_bytes);
	gt_array_each(const struct gt_fill, fill, &trace->fills)
		ADD(fill, .kind = GT_SEQUENCE_FILL, .bytes = fill->size_bytes);
	if (sequence->work.count)
		qsort(sequence->work.rows, sequence->work.count, sizeof(*sequence->work.rows),
		      by_call);
}

size_t gt_sequence_first_at(const struct gt_sequence *sequence, int64_t time_ns)
{
	size_t first = 0;
	size_t end = sequence->work.count;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;

		if (sequence->work.rows[middle].call_ns < time_ns)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* For a launch of a graph: whatever else the process asked for in one call, by when it was made. */
static void list_calls_as_occurrences(struct gt_sequence *sequence)
{
	for (size_t i = 0; i < sequence->work.count; i++) {
		const struct gt_sequence_work *work = &sequence->work.rows[i];

		if (!work->captured && (i == 0 || work->call_ns != work[-1].call_ns))
			*gt_array_push(&sequence->occurrences) =
				(struct gt_sequence_interval){work->call_ns, work->call_ns};
	}
}

/* ---- calls ---- */

static void list_calls(struct gt_sequence *sequence)
{
	const struct gt_trace *trace = sequence->trace;

	for (size_t i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];

		/* The first one began before the capture did. */
		if ((call->start_ns >= sequence->launch->start_ns ||
		     call->end_ns >= sequence->launch->start_ns) &&
		    call->start_ns <= sequence->launch->end_ns &&
		    process_of_thread(trace, call->thread) == sequence->launch->process &&
		    gt_known_find(&sequence->calls, call->correlation) == GT_NONE)
			gt_known_add(&sequence->calls, call->correlation, (gt_id)i);
	}
}

void gt_sequence_init(struct gt_sequence *sequence, const struct gt_trace *trace,
                      const struct gt_captured_launch *launch)
{
	*sequence = (struct gt_sequence){.trace = trace, .launch = launch};
	list_work(sequence);
	if (*gt_trace_text(trace, launch->range))
		list_occurrences(sequence);
	else
		list_calls_as_occurrences(sequence);
	list_calls(sequence);
}

void gt_sequence_release(struct gt_sequence *sequence)
{
	gt_array_release(&sequence->occurrences);
	gt_array_release(&sequence->work);
	gt_known_release(&sequence->calls);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/ranges/own_work.h"
#include "base/array.h"
#include "model/trace.h"
#include "model/work/timed.h"

enum {
	LEAST_CALLS = 10,  /* a program may allocate a few things when it needs them first */
	LEAST_LATE = 5,    /* in the second half of the kernels: else it was warming up */
	LEAST_PERCENT = 5, /* of the recording, of one process */
};

/* Churn of one process. */
struct churn {
	uint64_t kernels;
	gt_time first_ns; /* when its first kernel began, */
	gt_time half_ns;  /* and when half of them had begun */
	uint64_t calls;
	struct gt_interval when; /* from the first of them to the latest end */
	uint64_t late;
	const char *longest; /* function of the longest call */
	uint64_t longest_ns;
};

struct churns {
	const struct gt_facts *facts;
	const struct gt_trace *trace;
	struct churn *rows; /* by process; those of none that is known last */
	struct gt_unit_times times;
	uint64_t summed_ns;
	gt_array(struct gt_interval) gain;
};

static struct churn *churn_of(const struct churns *churns, gt_id process)
{
	const size_t count = churns->trace->processes.count;

	return &churns->rows[process < count ? process : count];
}

/* Each process has its own begin: one that joins later warms up later. */
static void find_phases(const struct churns *churns)
{
	const size_t count = churns->trace->processes.count + 1;
	uint64_t *seen = gt_allocate(count * sizeof(*seen));

	for (size_t i = 0; i < count; i++)
		seen[i] = 0;
	for (int pass = 0; pass < 2; pass++)
		gt_array_each(const struct gt_kernel, kernel, &churns->trace->kernels) {
			struct churn *churn = churn_of(
				churns, gt_trace_stream_process(churns->trace, kernel->stream));

			if (!gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns,
			              kernel->end_ns))
				continue;
			if (pass == 0 && churn->kernels++ == 0)
				churn->first_ns = kernel->start_ns;
			else if (pass == 1 && seen[churn - churns->rows]++ == churn->kernels / 2)
				churn->half_ns = kernel->start_ns;
		}
	gt_array_free(seen);
}

/* Not those before the first kernel: the first call makes the context, whatever it asks for. */
static bool counts(const struct churns *churns, const struct gt_api_call *call)
{
	const struct churn *churn =
		churn_of(churns, gt_trace_thread_process(churns->trace, call->thread));

	return (call->kind == GT_API_ALLOCATE || call->kind == GT_API_FREE) &&
	       !(call->flags & GT_NESTED) && churn->kernels > 0 &&
	       call->start_ns >= churn->first_ns &&
	       gt_timed(GT_TIMES_ANY, call->flags, call->start_ns, call->end_ns);
}

static void add(struct churns *churns, const struct gt_api_call *call)
{
	const gt_id process = gt_trace_thread_process(churns->trace, call->thread);
	const uint64_t call_ns = (uint64_t)(call->end_ns - call->start_ns);
	struct churn *churn = churn_of(churns, process);

	gt_unit_times_add(&churns->times, process,
	                  (struct gt_interval){call->start_ns, call->end_ns});
	churns->summed_ns += call_ns;
	if (churn->calls++ == 0)
		churn->when.start_ns = call->start_ns;
	if (call->end_ns > churn->when.end_ns)
		churn->when.end_ns = call->end_ns;
	churn->late += call->start_ns >= churn->half_ns;
	if (call_ns >= churn->longest_ns) {
		churn->longest_ns = call_ns;
		churn->longest = gt_trace_text(churns->trace, call->function);
	}
}

static void churns_init(struct churns *churns, const struct gt_facts *facts)
{
	const size_t count = facts->view->trace->processes.count + 1;

	*churns = (struct churns){
		.facts = facts,
		.trace = facts->view->trace,
		.rows = gt_allocate(count * sizeof(*churns->rows)),
	};
	for (size_t i = 0; i < count; i++)
		churns->rows[i] = (struct churn){0};
	gt_unit_times_init(&churns->times, facts->view, GT_OF_PROCESS);
	find_phases(churns);
	gt_array_each(const struct gt_api_call, call, &churns->trace->api_calls)
		if (counts(churns, call))
			add(churns, call);
}

static void churns_release(struct churns *churns)
{
	gt_unit_times_release(&churns->times);
	gt_array_free(churns->rows);
	gt_array_release(&churns->gain);
}

static bool goes_on(const struct churn *churn)
{
	return churn->calls >= LEAST_CALLS && churn->late >= LEAST_LATE;
}

/* The process that it takes most of; NULL: none that is worth a word. */
static const struct churn *find_worst(const struct churns *churns, struct gt_share *most)
{
	const struct churn *worst = NULL;

	for (size_t i = 0; i <= churns->trace->processes.count; i++) {
		const struct gt_share share = gt_unit_times_of(&churns->times, (gt_id)i);

		if (!goes_on(&churns->rows[i]) || (worst && share.ns <= most->ns) ||
		    !gt_share_reaches(&share, LEAST_PERCENT))
			continue;
		worst = &churns->rows[i];
		*most = share;
	}
	return worst;
}

/* The context of each API call that is about memory. The caller frees it with gt_array_free. */
static gt_id *contexts_of_calls(const struct gt_trace *trace)
{
	gt_id *contexts = gt_allocate(trace->api_calls.count * sizeof(*contexts));

	for (size_t i = 0; i < trace->api_calls.count; i++)
		contexts[i] = GT_NONE;
	gt_array_each(const struct gt_memory_call, call, &trace->memory_calls)
		if (call->api_call < trace->api_calls.count &&
		    call->context < trace->contexts.count)
			contexts[call->api_call] = call->context;
	return contexts;
}

/* Frees wait for the GPU: while it works they cost nothing that something else would not. */
static void add_gain(struct churns *churns, const struct gt_own_work *work, gt_id context,
                     const struct gt_api_call *call)
{
	struct gt_interval when = {call->start_ns, call->end_ns};
	const struct gt_covered *covered = NULL;
	struct gt_interval gap;

	if (call->kind == GT_API_FREE)
		covered = gt_own_work_at(
			work, context, gt_trace_thread_process(churns->trace, call->thread), when);
	if (!covered)
		*gt_array_push(&churns->gain) = when;
	else
		while (gt_covered_next_gap(covered, &when, &gap))
			*gt_array_push(&churns->gain) = gap;
}

static struct gt_share gain_of(struct churns *churns)
{
	const struct gt_trace *trace = churns->trace;
	gt_id *contexts = contexts_of_calls(trace);
	struct gt_own_work work;

	gt_own_work_init(&work, trace);
	for (size_t i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];

		if (counts(churns, call) &&
		    goes_on(churn_of(churns, gt_trace_thread_process(trace, call->thread))))
			add_gain(churns, &work, contexts[i], call);
	}
	gt_own_work_release(&work);
	gt_array_free(contexts);
	return gt_share_of_intervals(&churns->facts->wall, churns->gain.rows, churns->gain.count,
	                             GT_OF_RECORDING, GT_NONE);
}

static void say(struct churns *churns, struct gt_advice *advice, const struct churn *worst,
                const struct gt_share *most)
{
	const bool several = gt_unit_times_used(&churns->times) > 1;
	struct gt_advice_row *row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"Allocating and freeing memory took %s%s, %s of the recording%s, after %s first "
		"kernel had begun (%s calls, the longest %s): memory that is kept, or "
		"cudaMallocAsync, costs less.",
		gt_advice_ns(most->ns).text,
		gt_advice_whose(churns->facts, &churns->times, most).text,
		gt_advice_percent(most).text, gt_advice_most_of(&churns->times).text,
		several ? "its" : "the", gt_grouped(worst->calls).text, worst->longest);

	gt_advice_when(row, worst->when.start_ns, worst->when.end_ns);
	gt_advice_cite(row, "api", "functions", "max_ns", (double)worst->longest_ns, "%s: %s",
	               worst->longest, gt_advice_ns(worst->longest_ns).text);
	gt_advice_cite(row, "api", "functions", "total_ns", (double)churns->summed_ns,
	               "%s of it after the first kernel%s", gt_advice_ns(churns->summed_ns).text,
	               several ? " of each process" : "");
	gt_advice_gain(row, GT_GAIN_AT_MOST, gain_of(churns),
	               "time in which at least one process was in these calls, of frees that in "
	               "which none of its kernels ran");
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	const struct churn *worst;
	struct churns churns;
	struct gt_share most;

	if (!gt_trace_has_calls(facts->view->trace)) {
		gt_advice_unasked(advice, "no API calls were recorded");
		return;
	}
	if (facts->memory_calls < LEAST_CALLS)
		return;
	churns_init(&churns, facts);
	worst = find_worst(&churns, &most);
	if (worst)
		say(&churns, advice, worst, &most);
	churns_release(&churns);
}

const struct gt_advice_rule gt_advice_allocation_churn = {
	.name = "allocation_churn",
	.summary = "Memory that is allocated and freed over and over",
	.report = "api",
	.of_recording = look,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice.h"
#include "analysis/covered.h"
#include "analysis/facts.h"
#include "model/timed.h"
#include "model/trace.h"
#include "model/view.h"

enum {
	LEAST_CALLS = 10,  /* a program may allocate a few things when it needs them first */
	LEAST_LATE = 5,    /* in the second half of the kernels: else it was warming up */
	LEAST_PERCENT = 5, /* of the recording */
};

struct churn {
	uint64_t calls;
	uint64_t late;
	uint64_t total_ns;
	uint64_t gain_ns;
	const char *longest; /* function of the longest call */
	uint64_t longest_ns;
};

/* When the first kernel began, and when half of them had begun. */
struct phases {
	gt_time first_ns;
	gt_time half_ns;
};

static bool phases_of(const struct gt_trace *trace, struct phases *phases)
{
	size_t untimed = 0; /* they come first */

	while (untimed < trace->kernels.count &&
	       !gt_timed(GT_TIMES_ANY, trace->kernels.rows[untimed].flags,
	                 trace->kernels.rows[untimed].start_ns,
	                 trace->kernels.rows[untimed].end_ns))
		untimed++;
	if (untimed == trace->kernels.count)
		return false;
	phases->first_ns = trace->kernels.rows[untimed].start_ns;
	phases->half_ns =
		trace->kernels.rows[untimed + (trace->kernels.count - untimed) / 2].start_ns;
	return true;
}

static uint64_t covered_on_all(const struct gt_facts *facts, struct gt_interval when)
{
	uint64_t most_ns = 0;

	for (size_t i = 0; i < facts->view->trace->devices.count; i++) {
		const uint64_t ns = gt_covered_within(&facts->work[i], when);

		if (ns > most_ns)
			most_ns = ns;
	}
	return most_ns;
}

/* Frees wait for the GPU: while it works they cost nothing that something else would not. */
static void add(struct churn *churn, const struct gt_facts *facts, const struct gt_api_call *call,
                const struct phases *phases)
{
	const struct gt_interval when = {call->start_ns, call->end_ns};
	const uint64_t call_ns = (uint64_t)(call->end_ns - call->start_ns);

	churn->calls++;
	churn->late += call->start_ns >= phases->half_ns;
	churn->total_ns += call_ns;
	churn->gain_ns += call_ns;
	if (call->kind == GT_API_FREE)
		churn->gain_ns -= covered_on_all(facts, when);
	if (call_ns >= churn->longest_ns) {
		churn->longest_ns = call_ns;
		churn->longest = gt_trace_text(facts->view->trace, call->function);
	}
}

/* Not those before the first kernel: the first call makes the context, whatever it asks for. */
static struct churn churn_of(const struct gt_facts *facts)
{
	const struct gt_trace *trace = facts->view->trace;
	struct churn churn = {0};
	struct phases phases;

	if (!phases_of(trace, &phases))
		return churn;
	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		if ((call->kind == GT_API_ALLOCATE || call->kind == GT_API_FREE) &&
		    !(call->flags & GT_NESTED) && call->start_ns >= phases.first_ns &&
		    gt_timed(GT_TIMES_ANY, call->flags, call->start_ns, call->end_ns))
			add(&churn, facts, call, &phases);
	return churn;
}

static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	const struct churn churn = churn_of(facts);
	const uint64_t duration_ns = gt_facts_duration_ns(facts);
	struct gt_advice_row *row;

	if (churn.calls < LEAST_CALLS || churn.late < LEAST_LATE ||
	    !gt_is_share(churn.total_ns, duration_ns, LEAST_PERCENT))
		return;
	row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"Allocating and freeing memory took %s, %s of the recording, after the first "
		"kernel had begun (%s calls, the longest %s): memory that is kept, or "
		"cudaMallocAsync, costs less.",
		gt_advice_ns(churn.total_ns).text,
		gt_advice_share(churn.total_ns, duration_ns).text, gt_grouped(churn.calls).text,
		churn.longest);
	gt_advice_cite(row, "api", "functions", "max_ns", "%s: %s", churn.longest,
	               gt_advice_ns(churn.longest_ns).text);
	gt_advice_cite(row, "api", "functions", "total_ns", "%s of it after the first kernel",
	               gt_advice_ns(churn.total_ns).text);
	gt_advice_gain(row, GT_GAIN_AT_MOST, churn.gain_ns,
	               "time in these calls, of frees that in which no kernel ran");
}

const struct gt_advice_rule gt_advice_allocation_churn = {
	.name = "allocation_churn",
	.summary = "Memory that is allocated and freed over and over",
	.report = "api",
	.of_recording = look,
};

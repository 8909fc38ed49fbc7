/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gap_cause.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/idle.h"

/* Whether that is half of the gap or more. */
static bool is_half(gt_time part_ns, const struct gt_gap *gap)
{
	const uint64_t gap_ns = gt_gap_ns(gap);

	return (uint64_t)part_ns >= gap_ns - gap_ns / 2;
}

static struct gt_gap_cause cause_of_several(const struct gt_gap *gap,
                                            const struct gt_host_calls *found)
{
	const struct gt_host_function *most = gt_host_calls_most(found);

	if (most && is_half(most->total_ns, gap))
		return (struct gt_gap_cause){
			.kind = GT_GAP_CAUSE_CALLS,
			.function = most->name,
			.calls = most->calls,
			.host_ns = most->total_ns,
		};
	return (struct gt_gap_cause){
		.kind = is_half(found->all_ns, gap) ? GT_GAP_CAUSE_SEVERAL : GT_GAP_CAUSE_NONE,
		.host_ns = found->all_ns,
	};
}

/* A call that took a small part of the gap does not explain it, though it be the longest. */
static struct gt_gap_cause cause_among(const struct gt_gap *gap, const struct gt_host_calls *found)
{
	const struct gt_api_call *call = found->longest;

	if (!call || !is_half(found->longest_ns, gap))
		return cause_of_several(gap, found);
	return (struct gt_gap_cause){
		.kind = call->kind == GT_API_SYNCHRONIZE ? GT_GAP_CAUSE_WAIT : GT_GAP_CAUSE_CALL,
		.call = call,
		.host_ns = found->longest_ns,
	};
}

struct gt_gap_cause gt_gap_cause_of(const struct gt_thread_calls *calls, const struct gt_gap *gap)
{
	const struct gt_trace *trace = calls->trace;
	const gt_id asked = gap->after.api_call;

	if (asked >= trace->api_calls.count ||
	    trace->api_calls.rows[asked].thread >= trace->threads.count)
		return (struct gt_gap_cause){.kind = GT_GAP_CAUSE_UNKNOWN};

	const struct gt_host_calls found =
		gt_host_calls_in(calls, (struct gt_interval){gap->start_ns, gap->end_ns},
	                         trace->api_calls.rows[asked].thread);

	return cause_among(gap, &found);
}

void gt_gap_cause_text(const struct gt_gap_cause *cause, const struct gt_trace *trace, char *text,
                       size_t size)
{
	const char *function = cause->call ? gt_trace_text(trace, cause->call->function) : "";

	switch (cause->kind) {
	case GT_GAP_CAUSE_UNKNOWN:
		snprintf(text, size, "%s", "");
		return;
	case GT_GAP_CAUSE_CALL:
		snprintf(text, size, "%s", function);
		return;
	case GT_GAP_CAUSE_WAIT:
		snprintf(text, size, "waiting in %s", function);
		return;
	case GT_GAP_CAUSE_CALLS:
		snprintf(text, size, "%s (%zu calls)", gt_trace_text(trace, cause->function),
		         cause->calls);
		return;
	case GT_GAP_CAUSE_SEVERAL:
		snprintf(text, size, "several CUDA calls");
		return;
	case GT_GAP_CAUSE_NONE:
		snprintf(text, size, cause->host_ns > 0 ? "mostly no CUDA call" : "no CUDA call");
		return;
	}
}

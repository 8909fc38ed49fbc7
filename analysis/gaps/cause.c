/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gaps/cause.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/gaps/idle.h"
#include "model/work/timed.h"

enum gt_gap_cause_kind gt_gap_cause_of_call(const struct gt_api_call *call)
{
	return call->kind == GT_API_SYNCHRONIZE ? GT_GAP_CAUSE_WAIT : GT_GAP_CAUSE_CALL;
}

struct gt_gap_host gt_gap_host_of(const struct gt_trace *trace, const struct gt_gap *gap)
{
	const gt_id asked = gap->after.api_call;
	const struct gt_api_call *call =
		asked < trace->api_calls.count ? &trace->api_calls.rows[asked] : NULL;
	gt_time returned;

	if (!call || call->thread >= trace->threads.count)
		return (struct gt_gap_host){.kind = GT_GAP_CAUSE_UNKNOWN};
	if (gap->before.api_call == asked && call->kind == GT_API_GRAPH_LAUNCH)
		return (struct gt_gap_host){.kind = GT_GAP_CAUSE_GRAPH};
	returned = gt_known_end(call->flags, call->end_ns, gap->end_ns);
	if (returned > gap->end_ns)
		returned = gap->end_ns;
	return (struct gt_gap_host){
		.kind = GT_GAP_CAUSE_NONE,
		.thread = call->thread,
		.asking = {gap->start_ns, returned > gap->start_ns ? returned : gap->start_ns},
	};
}

/* Whether that is half of the gap or more. */
static bool is_half(gt_time part_ns, const struct gt_gap *gap)
{
	const uint64_t gap_ns = gt_gap_ns(gap);

	return (uint64_t)part_ns >= gap_ns - gap_ns / 2;
}

static struct gt_gap_cause cause_of_several(const struct gt_gap *gap,
                                            const struct gt_gap_host *host,
                                            const struct gt_host_calls *found)
{
	const struct gt_host_function *most = gt_host_calls_most(found);
	const gt_time asking_ns = host->asking.end_ns - host->asking.start_ns;
	const bool calls_most = found->all_ns > 0 && found->all_ns >= asking_ns - found->all_ns;

	if (most && is_half(most->total_ns, gap))
		return (struct gt_gap_cause){
			.kind = GT_GAP_CAUSE_CALLS,
			.function = most->name,
			.calls = most->calls,
			.host_ns = most->total_ns,
		};
	return (struct gt_gap_cause){
		.kind = calls_most ? GT_GAP_CAUSE_SEVERAL : GT_GAP_CAUSE_NONE,
		.host_ns = found->all_ns,
	};
}

/* A call that took a small part of the gap does not explain it, though it be the longest. */
static struct gt_gap_cause cause_among(const struct gt_gap *gap, const struct gt_gap_host *host,
                                       const struct gt_host_calls *found)
{
	const struct gt_api_call *call = found->longest;

	const gt_time launched_ns = gap->end_ns - host->asking.end_ns;

	if (is_half(launched_ns, gap))
		return (struct gt_gap_cause){
			.kind = GT_GAP_CAUSE_LAUNCHED,
			.host_ns = launched_ns,
		};
	if (!call || !is_half(found->longest_ns, gap))
		return cause_of_several(gap, host, found);
	return (struct gt_gap_cause){
		.kind = gt_gap_cause_of_call(call),
		.function = call->function,
		.host_ns = found->longest_ns,
	};
}

struct gt_gap_cause gt_gap_cause_of(const struct gt_thread_calls *calls, const struct gt_gap *gap)
{
	const struct gt_gap_host host = gt_gap_host_of(calls->trace, gap);
	struct gt_host_calls found;

	if (host.kind != GT_GAP_CAUSE_NONE)
		return (struct gt_gap_cause){.kind = host.kind};
	found = gt_host_calls_in(calls, host.asking, host.thread);
	return cause_among(gap, &host, &found);
}

void gt_gap_cause_text(const struct gt_gap_cause *cause, const struct gt_trace *trace, char *text,
                       size_t size)
{
	const char *function = gt_trace_text(trace, cause->function);

	switch (cause->kind) {
	case GT_GAP_CAUSE_UNKNOWN:
		snprintf(text, size, "%s", "");
		return;
	case GT_GAP_CAUSE_GRAPH:
		snprintf(text, size, "within one graph launch");
		return;
	case GT_GAP_CAUSE_LAUNCHED:
		snprintf(text, size, "launched but not started");
		return;
	case GT_GAP_CAUSE_CALL:
		snprintf(text, size, "%s", function);
		return;
	case GT_GAP_CAUSE_WAIT:
		snprintf(text, size, "waiting in %s", function);
		return;
	case GT_GAP_CAUSE_CALLS:
		snprintf(text, size, "%s (%zu calls)", function, cause->calls);
		return;
	case GT_GAP_CAUSE_SEVERAL:
		snprintf(text, size, "several CUDA calls");
		return;
	case GT_GAP_CAUSE_NONE:
		snprintf(text, size, cause->host_ns > 0 ? "mostly no CUDA call" : "no CUDA call");
		return;
	}
}

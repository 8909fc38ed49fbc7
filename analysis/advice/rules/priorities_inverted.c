/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/gaps/idle.h"
#include "model/path/stream_order.h"
#include "model/view/view.h"
#include "model/work/activity.h"
#include "model/work/timed.h"

enum {
	LEAST_TIMES = 10,    /* once is chance: kernels that run are not interrupted */
	LEAST_PERCENT = 2,   /* of the window */
	MOST_STREAMS = 1000, /* each is compared with all others */
};

/* Data to look up for each kernel. */
struct finder {
	const struct gt_trace *trace;
	gt_time *allowed_ns; /* by kernel: when what it waits for by events was done */
	gt_time *end_ns;     /* by stream: of what ran on it so far */
	gt_time *begun_ns;   /* by stream: when its latest kernel began */
};

struct inverted {
	uint64_t times;
	gt_array(struct gt_interval) waits; /* from when a kernel was ready to its begin */
	gt_id urgent;                       /* streams of the longest wait; GT_NONE: none */
	gt_id other;
	uint64_t longest_ns;
};

static gt_time *new_times(size_t count)
{
	gt_time *times = gt_allocate(count * sizeof(*times));

	for (size_t i = 0; i < count; i++)
		times[i] = INT64_MIN;
	return times;
}

static void finder_init(struct finder *finder, const struct gt_trace *trace)
{
	*finder = (struct finder){
		.trace = trace,
		.allowed_ns = new_times(trace->kernels.count),
		.end_ns = new_times(trace->streams.count),
		.begun_ns = new_times(trace->streams.count),
	};
	gt_array_each(const struct gt_edge, edge, &trace->edges) {
		const struct gt_step from = {edge->from_table, edge->from_row};
		gt_time start_ns;
		gt_time end_ns;

		if (edge->to_table != GT_TABLE_kernels || edge->to_row >= trace->kernels.count)
			continue;
		gt_step_times(trace, from, &start_ns, &end_ns);
		if (end_ns > finder->allowed_ns[edge->to_row])
			finder->allowed_ns[edge->to_row] = end_ns;
	}
}

static void finder_release(struct finder *finder)
{
	gt_array_free(finder->allowed_ns);
	gt_array_free(finder->end_ns);
	gt_array_free(finder->begun_ns);
}

/* Default streams and those that wait for them have an order that is not looked at here. */
static bool has_own_order(const struct gt_trace *trace, gt_id stream)
{
	enum { NON_BLOCKING = 2 }; /* CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING */

	return stream < trace->streams.count && trace->streams.rows[stream].flags == NON_BLOCKING;
}

/* Whether the streams of a GPU have more than one. */
static bool has_priorities(const struct gt_trace *trace, gt_id device)
{
	const struct gt_stream *first = NULL;

	for (gt_id i = 0; i < trace->streams.count; i++) {
		if (!has_own_order(trace, i) || gt_stream_device(trace, i) != device)
			continue;
		if (first && trace->streams.rows[i].priority != first->priority)
			return true;
		first = &trace->streams.rows[i];
	}
	return false;
}

/* From when on nothing that is known kept the kernel from running. */
static gt_time ready_ns(const struct finder *finder, gt_id row)
{
	const struct gt_kernel *kernel = &finder->trace->kernels.rows[row];
	const struct gt_api_call *call = &finder->trace->api_calls.rows[kernel->api_call];
	gt_time ready = call->end_ns;

	if (finder->end_ns[kernel->stream] > ready)
		ready = finder->end_ns[kernel->stream];
	return finder->allowed_ns[row] > ready ? finder->allowed_ns[row] : ready;
}

/*
 * A less urgent stream of the process and the GPU on which a kernel began since then; GT_NONE:
 * none. Between processes priorities of streams do not count: they share a GPU in turns.
 */
static gt_id overtaken_by(const struct finder *finder, const struct gt_kernel *kernel,
                          gt_time since_ns)
{
	const struct gt_trace *trace = finder->trace;
	const gt_id process = gt_trace_stream_process(trace, kernel->stream);

	for (gt_id i = 0; i < trace->streams.count; i++)
		if (has_own_order(trace, i) && finder->begun_ns[i] > since_ns &&
		    trace->streams.rows[i].priority >
		            trace->streams.rows[kernel->stream].priority &&
		    gt_stream_device(trace, i) == kernel->device &&
		    gt_trace_stream_process(trace, i) == process)
			return i;
	return GT_NONE;
}

static void see_kernel(const struct finder *finder, gt_id row, struct inverted *inverted)
{
	const struct gt_trace *trace = finder->trace;
	const struct gt_kernel *kernel = &trace->kernels.rows[row];
	gt_time ready;
	gt_id other;

	if (kernel->graph || kernel->api_call >= trace->api_calls.count ||
	    trace->api_calls.rows[kernel->api_call].flags & GT_UNFINISHED)
		return;
	ready = ready_ns(finder, row);
	if (kernel->start_ns - ready < GT_GAP_SHORT_NS) /* a launch may take so long */
		return;
	other = overtaken_by(finder, kernel, ready);
	if (other == GT_NONE)
		return;
	inverted->times++;
	*gt_array_push(&inverted->waits) = (struct gt_interval){ready, kernel->start_ns};
	if ((uint64_t)(kernel->start_ns - ready) > inverted->longest_ns) {
		inverted->longest_ns = (uint64_t)(kernel->start_ns - ready);
		inverted->urgent = kernel->stream;
		inverted->other = other;
	}
}

static void see(struct finder *finder, const struct gt_activity *activity, gt_id device,
                struct inverted *inverted)
{
	const gt_id stream = gt_activity_stream(finder->trace, activity);

	if (stream >= finder->trace->streams.count)
		return;
	if (activity->type == GT_ACTIVITY_KERNEL && activity->device == device &&
	    has_own_order(finder->trace, stream))
		see_kernel(finder, activity->row, inverted);
	if (activity->type == GT_ACTIVITY_KERNEL)
		finder->begun_ns[stream] = activity->start_ns;
	if (activity->end_ns > finder->end_ns[stream])
		finder->end_ns[stream] = activity->end_ns;
}

static struct inverted inverted_of(const struct gt_trace *trace, gt_id device)
{
	struct inverted inverted = {.urgent = GT_NONE, .other = GT_NONE};
	struct gt_activity_walk walk;
	struct gt_activity activity;
	struct finder finder;

	finder_init(&finder, trace);
	gt_activity_walk_init(&walk, trace, GT_WORK_ALL);
	while (gt_activity_next(&walk, &activity))
		see(&finder, &activity, device, &inverted);
	finder_release(&finder);
	return inverted;
}

static void say(const struct gt_facts *facts, struct gt_advice *advice,
                const struct inverted *inverted, struct gt_share waited)
{
	const struct gt_trace *trace = facts->view->trace;
	struct gt_advice_row *row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"%s kernels of more urgent streams were ready on GPU %lld and waited for %s while "
		"kernels of less urgent ones began, most on stream %u (priority %d) behind stream %u "
		"(priority %d). Streams may share a hardware queue (CUDA_DEVICE_MAX_CONNECTIONS), or "
		"the less urgent kernels leave no room: fewer blocks at a time would.",
		gt_grouped(inverted->times).text, gt_advice_gpu(facts, advice->device),
		gt_advice_ns(waited.ns).text, trace->streams.rows[inverted->urgent].number,
		trace->streams.rows[inverted->urgent].priority,
		trace->streams.rows[inverted->other].number,
		trace->streams.rows[inverted->other].priority);

	gt_advice_cite(row, "streams", "streams", "priority",
	               (double)trace->streams.rows[inverted->urgent].priority, "%u: %d",
	               trace->streams.rows[inverted->urgent].number,
	               trace->streams.rows[inverted->urgent].priority);
	gt_advice_cite(row, "streams", "streams", "priority",
	               (double)trace->streams.rows[inverted->other].priority, "%u: %d",
	               trace->streams.rows[inverted->other].number,
	               trace->streams.rows[inverted->other].priority);
	gt_advice_gain(row, GT_GAIN_AT_MOST, waited,
	               "time in which at least one of these kernels was ready, by its call, stream "
	               "and events, and had not begun");
}

static void look(const struct gt_facts *facts, gt_id device, struct gt_advice *advice)
{
	const struct gt_trace *trace = facts->view->trace;
	struct inverted inverted;
	struct gt_share waited;

	if (!has_priorities(trace, device))
		return;
	if (trace->streams.count > MOST_STREAMS) {
		gt_advice_unasked(advice, "there are more streams than are looked at");
		return;
	}
	inverted = inverted_of(trace, device);
	waited = gt_share_of_intervals(&facts->wall, inverted.waits.rows, inverted.waits.count,
	                               GT_OF_GPU, device);
	if (inverted.times >= LEAST_TIMES && gt_share_reaches(&waited, LEAST_PERCENT))
		say(facts, advice, &inverted, waited);
	gt_array_release(&inverted.waits);
}

const struct gt_advice_rule gt_advice_priorities_inverted = {
	.name = "priorities_inverted",
	.summary = "Kernels of urgent streams that wait while less urgent ones begin",
	.report = "streams",
	.undisturbed = true,
	.of_device = look,
};

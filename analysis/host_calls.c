/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/host_calls.h"

#include <stdint.h>

#include "base/array.h"
#include "base/search.h"

void gt_thread_calls_init(struct gt_thread_calls *calls, const struct gt_trace *trace)
{
	const size_t threads = trace->threads.count;

	*calls = (struct gt_thread_calls){
		.trace = trace,
		.first = gt_allocate(threads * sizeof(*calls->first)),
	};
	for (size_t i = 0; i < threads; i++)
		calls->first[i] = SIZE_MAX;
	for (size_t i = trace->api_calls.count; i-- > 0;)
		if (trace->api_calls.rows[i].thread < threads)
			calls->first[trace->api_calls.rows[i].thread] = i;
}

void gt_thread_calls_release(struct gt_thread_calls *calls)
{
	gt_array_free(calls->first);
	*calls = (struct gt_thread_calls){0};
}

static int call_to_time(const void *row, const void *wanted)
{
	const struct gt_api_call *call = row;
	const gt_time *time = wanted;

	return (call->start_ns > *time) - (call->start_ns < *time);
}

/* The first row of api_calls that does not start before that time. */
static size_t first_call_from(const struct gt_trace *trace, gt_time time)
{
	return gt_count_before(&trace->api_calls, &time, call_to_time);
}

static gt_time overlap(struct gt_interval stretch, const struct gt_api_call *call)
{
	const gt_time start = call->start_ns > stretch.start_ns ? call->start_ns : stretch.start_ns;
	const gt_time end = call->flags & GT_UNFINISHED || call->end_ns > stretch.end_ns
	                            ? stretch.end_ns
	                            : call->end_ns;

	return end > start ? end - start : 0;
}

static void count_function(struct gt_host_calls *found, gt_string name, gt_time overlap_ns)
{
	size_t i = 0;

	while (i < found->function_count && found->functions[i].name != name)
		i++;
	if (i == GT_HOST_FUNCTIONS)
		return;
	if (i == found->function_count)
		found->functions[found->function_count++] = (struct gt_host_function){.name = name};
	found->functions[i].calls++;
	found->functions[i].total_ns += overlap_ns;
}

const struct gt_host_function *gt_host_calls_most(const struct gt_host_calls *calls)
{
	const struct gt_host_function *most = NULL;

	for (size_t i = 0; i < calls->function_count; i++)
		if (!most || calls->functions[i].total_ns > most->total_ns)
			most = &calls->functions[i];
	return most;
}

static void consider(struct gt_host_calls *found, struct gt_interval stretch,
                     const struct gt_api_call *call)
{
	const gt_time overlap_ns = overlap(stretch, call);
	const gt_time length_ns = stretch.end_ns - stretch.start_ns;

	/* Calls of a thread follow each other; those of a damaged recording may all be open. */
	found->all_ns += overlap_ns;
	if (found->all_ns > length_ns)
		found->all_ns = length_ns;
	if (overlap_ns > 0)
		count_function(found, call->function, overlap_ns);
	if (overlap_ns > found->longest_ns) {
		found->longest = call;
		found->longest_ns = overlap_ns;
	}
}

/*
 * The outermost calls of a thread follow each other, so of those entered before the stretch only
 * the last can reach into it.
 */
struct gt_host_calls gt_host_calls_in(const struct gt_thread_calls *calls,
                                      struct gt_interval stretch, gt_id thread)
{
	const struct gt_trace *trace = calls->trace;
	const struct gt_api_call *rows = trace->api_calls.rows;
	const size_t first_inside = first_call_from(trace, stretch.start_ns);
	struct gt_host_calls found = {0};

	for (size_t i = first_inside;
	     i < trace->api_calls.count && rows[i].start_ns < stretch.end_ns; i++)
		if (rows[i].thread == thread && !(rows[i].flags & GT_NESTED))
			consider(&found, stretch, &rows[i]);
	for (size_t i = first_inside; i > calls->first[thread]; i--) {
		const struct gt_api_call *call = &rows[i - 1];

		if (call->thread == thread && !(call->flags & GT_NESTED)) {
			consider(&found, stretch, call);
			break;
		}
	}
	return found;
}

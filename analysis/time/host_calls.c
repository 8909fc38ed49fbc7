/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/host_calls.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/search.h"
#include "model/work/timed.h"

static bool is_of_thread(const struct gt_trace *trace, const struct gt_api_call *call)
{
	return call->thread < trace->threads.count && !(call->flags & GT_NESTED);
}

void gt_thread_calls_init(struct gt_thread_calls *calls, const struct gt_trace *trace)
{
	const size_t threads = trace->threads.count;
	size_t *first = gt_allocate((threads + 2) * sizeof(*first));
	size_t *next =
		first + 1; /* by thread: where its next one goes, in the end that of its next */

	for (size_t i = 0; i < threads + 2; i++)
		first[i] = 0;
	gt_array_each(const struct gt_api_call, call, &trace->api_calls)
		if (is_of_thread(trace, call))
			next[call->thread + 1]++;
	for (size_t i = 1; i < threads + 1; i++)
		next[i] += next[i - 1];
	*calls = (struct gt_thread_calls){
		.trace = trace,
		.rows = gt_allocate(next[threads] * sizeof(*calls->rows)),
		.first = first,
	};
	for (size_t i = 0; i < trace->api_calls.count; i++)
		if (is_of_thread(trace, &trace->api_calls.rows[i]))
			calls->rows[next[trace->api_calls.rows[i].thread]++] = (gt_id)i;
}

void gt_thread_calls_release(struct gt_thread_calls *calls)
{
	gt_array_free(calls->rows);
	gt_array_free(calls->first);
	*calls = (struct gt_thread_calls){0};
}

struct moment {
	const struct gt_trace *trace;
	gt_time time_ns;
};

static int by_start(const void *row, const void *wanted)
{
	const struct moment *moment = wanted;
	const gt_time start_ns = moment->trace->api_calls.rows[*(const gt_id *)row].start_ns;

	return (start_ns > moment->time_ns) - (start_ns < moment->time_ns);
}

/* The first of the thread's calls that does not start before that time. */
static size_t first_call_from(const struct gt_thread_calls *calls, gt_id thread, gt_time time_ns)
{
	const struct moment moment = {calls->trace, time_ns};
	const size_t first = calls->first[thread];

	return first + gt_search(calls->rows + first, calls->first[thread + 1] - first,
	                         sizeof(*calls->rows), &moment, by_start, 0);
}

struct gt_call_reach gt_thread_calls_reaching(const struct gt_thread_calls *calls,
                                              struct gt_interval stretch, gt_id thread)
{
	const size_t inside = first_call_from(calls, thread, stretch.start_ns);
	struct gt_call_reach reach = {inside, inside};

	if (inside > calls->first[thread])
		reach.first--;
	while (reach.end < calls->first[thread + 1] &&
	       calls->trace->api_calls.rows[calls->rows[reach.end]].start_ns < stretch.end_ns)
		reach.end++;
	return reach;
}

static gt_time overlap(struct gt_interval stretch, const struct gt_api_call *call)
{
	const gt_time start = call->start_ns > stretch.start_ns ? call->start_ns : stretch.start_ns;
	const gt_time known = gt_known_end(call->flags, call->end_ns, stretch.end_ns);
	const gt_time end = known > stretch.end_ns ? stretch.end_ns : known;

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

struct gt_host_calls gt_host_calls_in(const struct gt_thread_calls *calls,
                                      struct gt_interval stretch, gt_id thread)
{
	const struct gt_call_reach reach = gt_thread_calls_reaching(calls, stretch, thread);
	struct gt_host_calls found = {0};

	for (size_t i = reach.first; i < reach.end; i++)
		consider(&found, stretch, &calls->trace->api_calls.rows[calls->rows[i]]);
	return found;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/errors/failures.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "model/index.h"
#include "model/names.h"
#include "model/whole.h"

struct key {
	gt_id process;
	gt_code code;
};

static bool is_before(const struct gt_api_call *call, const struct gt_api_call *other)
{
	return call->end_ns < other->end_ns;
}

static void see(struct gt_failures *failures, gt_id row, struct gt_index *kinds)
{
	const struct gt_api_call *calls = failures->trace->api_calls.rows;
	const struct key key = {
		.process = gt_trace_thread_process(failures->trace, calls[row].thread),
		.code = calls[row].result,
	};
	const size_t number = gt_index_add(kinds, &key);
	struct gt_failure *failure;

	if (number == failures->rows.count)
		*gt_array_push(&failures->rows) =
			(struct gt_failure){.process = key.process, .code = key.code, .call = row};
	failure = &failures->rows.rows[number];
	failure->calls++;
	failures->calls++;
	if (is_before(&calls[row], &calls[failure->call]))
		failure->call = row;
}

static void find(struct gt_failures *failures)
{
	const struct gt_trace *trace = failures->trace;
	struct gt_index *kinds = gt_index_new(sizeof(struct key));

	for (gt_id row = 0; row < trace->api_calls.count; row++) {
		const struct gt_api_call *call = &trace->api_calls.rows[row];

		if (!gt_api_failed(call))
			continue;
		if (call->flags & GT_NESTED)
			failures->nested++;
		else
			see(failures, row, kinds);
	}
	gt_index_free(kinds);
}

/* By row of processes of the whole: row of its api_calls, GT_NONE: none failed. To be freed. */
static gt_id *find_first(const struct gt_trace *whole)
{
	const size_t size = (whole->processes.count + 1) * sizeof(gt_id);
	gt_id *first = gt_allocate(size);

	memset(first, 0xff, size);
	for (gt_id row = 0; row < whole->api_calls.count; row++) {
		const struct gt_api_call *call = &whole->api_calls.rows[row];
		const gt_id process = gt_trace_thread_process(whole, call->thread);

		if (process >= whole->processes.count || !gt_api_failed(call) ||
		    call->flags & GT_NESTED)
			continue;
		if (first[process] == GT_NONE ||
		    is_before(call, &whole->api_calls.rows[first[process]]))
			first[process] = row;
	}
	return first;
}

static void mark_first(struct gt_failures *failures)
{
	const struct gt_trace *trace = failures->trace;
	const struct gt_trace *whole = gt_whole_of(trace);
	gt_id *first = find_first(whole);

	gt_array_each(struct gt_failure, failure, &failures->rows)
		if (failure->process < trace->processes.count)
			failure->is_first =
				gt_whole_origin(trace, GT_TABLE_api_calls, failure->call) ==
				first[gt_whole_origin(trace, GT_TABLE_processes, failure->process)];
	for (gt_id process = 0; process < whole->processes.count; process++)
		failures->hidden +=
			first[process] != GT_NONE &&
			gt_whole_shown(trace, GT_TABLE_processes, process) != GT_NONE &&
			gt_whole_shown(trace, GT_TABLE_api_calls, first[process]) == GT_NONE;
	gt_array_free(first);
}

/* A failure with the time that it is sorted by: qsort has no room for the trace. */
struct placed {
	struct gt_failure failure;
	gt_time end_ns;
};

static int by_return(const void *a, const void *b)
{
	const struct placed *left = a;
	const struct placed *right = b;

	if (left->end_ns != right->end_ns)
		return left->end_ns < right->end_ns ? -1 : 1;
	return (left->failure.call > right->failure.call) -
	       (left->failure.call < right->failure.call);
}

static void sort(struct gt_failures *failures)
{
	const size_t count = failures->rows.count;
	struct placed *placed = gt_allocate((count + 1) * sizeof(*placed));

	for (size_t i = 0; i < count; i++)
		placed[i] =
			(struct placed){failures->rows.rows[i],
		                        gt_failure_call(failures, &failures->rows.rows[i])->end_ns};
	qsort(placed, count, sizeof(*placed), by_return);
	for (size_t i = 0; i < count; i++)
		failures->rows.rows[i] = placed[i].failure;
	gt_array_free(placed);
}

void gt_failures_init(struct gt_failures *failures, const struct gt_trace *trace)
{
	*failures = (struct gt_failures){.trace = trace};
	find(failures);
	mark_first(failures);
	sort(failures);
}

void gt_failures_release(struct gt_failures *failures)
{
	gt_array_release(&failures->rows);
}

const struct gt_api_call *gt_failure_call(const struct gt_failures *failures,
                                          const struct gt_failure *failure)
{
	return &failures->trace->api_calls.rows[failure->call];
}

const char *gt_failure_name(const struct gt_failures *failures, const struct gt_failure *failure)
{
	const struct gt_api_call *call = gt_failure_call(failures, failure);

	return gt_result_name(failure->code, (call->flags & GT_DRIVER_API) != 0);
}

bool gt_failure_is_of_work(const struct gt_failure *failure)
{
	const enum gt_result_class class = gt_result_class(failure->code);

	return class == GT_RESULT_ASYNCHRONOUS || class == GT_RESULT_HARDWARE;
}

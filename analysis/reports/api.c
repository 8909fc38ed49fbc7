/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/statistics/groups.h"
#include "analysis/statistics/spread.h"
#include "base/array.h"
#include "base/strings.h"
#include "model/index.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/whole.h"
#include "model/work/timed.h"

static const struct gt_heading function_headings[] = {
	{"function", GT_UNIT_TEXT, "Function of the CUDA runtime (cuda...) or driver (cu...) API",
         GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Calls that returned", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of return - entry on the host", GT_WORTH_KEY},
	{"thread_percent", GT_UNIT_PERCENT,
         "total_ns of the time from first to last call, all threads summed, without held-up calls",
         GT_WORTH_KEY, .label = "thread_share"},
	{"mean_ns", GT_UNIT_NS, "total_ns / calls"},
	{"median_ns", GT_UNIT_NS, "Half of the calls took no longer", GT_WORTH_ORDINARY},
	{"min_ns", GT_UNIT_NS, "Shortest call", GT_WORTH_LITTLE},
	{"max_ns", GT_UNIT_NS, "Longest call", GT_WORTH_ORDINARY},
	{"errors", GT_UNIT_COUNT, "Calls that returned an error", GT_WORTH_LITTLE, true},
	{"unfinished", GT_UNIT_COUNT, "Calls that had not returned when their process ended",
         GT_WORTH_LEAST, true},
};

static const struct gt_heading error_headings[] = {
	{"function", GT_UNIT_TEXT, "Function that returned it", GT_WORTH_NAME},
	{"result", GT_UNIT_TEXT, "Name of the result, as CUDA 13.0 has it", GT_WORTH_KEY},
	{"code", GT_UNIT_COUNT, "Its number: a cudaError_t or a CUresult", GT_WORTH_LITTLE},
	{"calls", GT_UNIT_COUNT, "Calls that returned it", GT_WORTH_KEY, true},
	{"first_time_ns", GT_UNIT_TIME,
         "When the first of them was entered, since the recording began"},
};

/* One row of the first table; functions lie in an array by the number of their name. */
struct function {
	const char *name;
	uint64_t errors;
	uint64_t unfinished;
	uint64_t profiled;
	struct gt_spread spread;
};

/* Key of failed calls that are one row of the second. */
struct failure_key {
	gt_string function;
	gt_code result;
	uint32_t driver_api;
};

struct failure {
	struct failure_key key;
	uint64_t calls;
	gt_time first_ns;
};

/* When a thread was first and last in a call; empty while end < start. */
struct activity_of_thread {
	gt_time start_ns;
	gt_time end_ns;
	gt_time held_until_ns; /* calls come in the order of their start */
	gt_time held_ns;       /* in calls that were held up: not measured */
};

struct tally {
	const struct gt_trace *trace;
	struct function *functions;
	size_t function_count;
	struct gt_groups durations;  /* by function */
	struct gt_index *by_failure; /* failure_key -> row of failures */
	gt_array(struct failure) failures;
	struct activity_of_thread *threads; /* and one more for calls of no known thread */
	uint64_t not_ready;
	uint64_t nested;
	uint64_t profiled;
	uint64_t unfinished;
};

static size_t function_of(const struct tally *tally, const struct gt_api_call *call)
{
	return call->function < tally->function_count ? call->function : 0;
}

static void tally_init(struct tally *tally, const struct gt_trace *trace)
{
	const size_t threads = trace->threads.count + 1;

	*tally = (struct tally){
		.trace = trace,
		.function_count = gt_strings_count(trace->strings),
		.by_failure = gt_index_new(sizeof(struct failure_key)),
		.threads = gt_allocate(threads * sizeof(*tally->threads)),
	};
	tally->functions = gt_allocate(tally->function_count * sizeof(*tally->functions));
	for (size_t i = 0; i < tally->function_count; i++)
		tally->functions[i] = (struct function){.name = gt_trace_text(trace, (gt_string)i)};
	for (size_t i = 0; i < threads; i++)
		tally->threads[i] = (struct activity_of_thread){.start_ns = 0, .end_ns = -1};
	gt_groups_init(&tally->durations, tally->function_count);
}

static void tally_release(struct tally *tally)
{
	gt_index_free(tally->by_failure);
	gt_array_release(&tally->failures);
	gt_groups_release(&tally->durations);
	free(tally->functions);
	free(tally->threads);
}

static void count_failure(struct tally *tally, const struct gt_api_call *call)
{
	const struct failure_key key = {
		.function = call->function,
		.result = call->result,
		.driver_api = call->flags & GT_DRIVER_API,
	};
	const size_t number = gt_index_add(tally->by_failure, &key);

	if (number == tally->failures.count)
		*gt_array_push(&tally->failures) =
			(struct failure){.key = key, .first_ns = call->start_ns};
	tally->failures.rows[number].calls++;
	tally->functions[function_of(tally, call)].errors++;
}

static void see_thread(struct tally *tally, const struct gt_api_call *call)
{
	const size_t known = tally->trace->threads.count;
	struct activity_of_thread *thread =
		&tally->threads[call->thread < known ? call->thread : known];
	const bool first = thread->end_ns < thread->start_ns;

	if (first || call->start_ns < thread->start_ns)
		thread->start_ns = call->start_ns;
	if (first || call->end_ns > thread->end_ns)
		thread->end_ns = call->end_ns;
}

static void see_held(struct activity_of_thread *thread, const struct gt_api_call *call)
{
	gt_time from_ns =
		call->start_ns > thread->held_until_ns ? call->start_ns : thread->held_until_ns;
	const gt_time to_ns = call->end_ns < thread->end_ns ? call->end_ns : thread->end_ns;

	if (from_ns < thread->start_ns)
		from_ns = thread->start_ns;
	if (to_ns <= from_ns)
		return;
	thread->held_ns += to_ns - from_ns;
	thread->held_until_ns = to_ns;
}

/* A thread was held up for a launch whether a filter shows that or not. */
static void count_held(struct tally *tally)
{
	gt_array_each(const struct gt_api_call, call, &gt_whole_of(tally->trace)->api_calls) {
		const gt_id thread = gt_whole_shown(tally->trace, GT_TABLE_threads, call->thread);

		if (call->flags & GT_PROFILED && thread < tally->trace->threads.count &&
		    gt_timed(GT_TIMES_ANY, call->flags, call->start_ns, call->end_ns))
			see_held(&tally->threads[thread], call);
	}
}

static void count_calls(struct tally *tally)
{
	gt_array_each(const struct gt_api_call, call, &tally->trace->api_calls) {
		const size_t function = function_of(tally, call);

		if (!gt_timed(GT_TIMES_ANY, call->flags, call->start_ns, call->end_ns)) {
			tally->functions[function].unfinished++;
			tally->unfinished++;
			continue;
		}
		see_thread(tally, call);
		if (call->flags & GT_PROFILED) {
			tally->functions[function].profiled++;
			tally->profiled++;
		} else {
			gt_groups_expect(&tally->durations, function);
		}
		tally->nested += (call->flags & GT_NESTED) != 0;
		tally->not_ready += call->result == GT_RESULT_NOT_READY;
		if (gt_api_failed(call))
			count_failure(tally, call);
	}
	count_held(tally);
	gt_groups_begin(&tally->durations);
	gt_array_each(const struct gt_api_call, call, &tally->trace->api_calls)
		if (gt_timed(GT_TIMES_FIGURES, call->flags, call->start_ns, call->end_ns))
			gt_groups_add(&tally->durations, function_of(tally, call),
			              call->end_ns - call->start_ns);
}

static double thread_time(const struct tally *tally)
{
	double total_ns = 0;

	for (size_t i = 0; i <= tally->trace->threads.count; i++)
		if (tally->threads[i].end_ns > tally->threads[i].start_ns)
			total_ns += (double)(tally->threads[i].end_ns - tally->threads[i].start_ns -
			                     tally->threads[i].held_ns);
	return total_ns;
}

static int by_total(const void *a, const void *b)
{
	const struct function *left = a;
	const struct function *right = b;

	if (left->spread.total != right->spread.total)
		return left->spread.total < right->spread.total ? 1 : -1;
	return strcmp(left->name, right->name);
}

static void add_function(struct gt_result *result, const struct function *function,
                         double thread_ns)
{
	const struct gt_spread *spread = &function->spread;

	gt_result_add_text(result, function->name[0] ? function->name : "unknown function");
	gt_result_add_count(result, (int64_t)spread->count);
	if (spread->count > 0) {
		gt_result_add_count(result, spread->total);
		gt_result_add_real(result, gt_percent((double)spread->total, thread_ns));
		gt_add_rounded(result, spread->mean);
		gt_result_add_count(result, spread->median);
		gt_result_add_count(result, spread->min);
		gt_result_add_count(result, spread->max);
	} else {
		gt_result_add_unknowns(result, 6);
	}
	gt_result_add_count(result, (int64_t)function->errors);
	gt_result_add_count(result, (int64_t)function->unfinished);
}

static void add_functions(struct tally *tally, struct gt_result *result)
{
	const double thread_ns = thread_time(tally);

	for (size_t i = 0; i < tally->function_count; i++)
		tally->functions[i].spread = gt_spread_of_group(&tally->durations, i);
	qsort(tally->functions, tally->function_count, sizeof(*tally->functions), by_total);
	gt_result_begin(result, "functions", function_headings, GT_COUNT_OF(function_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < tally->function_count; i++)
		if (tally->functions[i].spread.count > 0 || tally->functions[i].unfinished > 0 ||
		    tally->functions[i].profiled > 0)
			add_function(result, &tally->functions[i], thread_ns);
}

static int by_calls(const void *a, const void *b)
{
	const struct failure *left = a;
	const struct failure *right = b;

	if (left->calls != right->calls)
		return left->calls < right->calls ? 1 : -1;
	return (left->first_ns > right->first_ns) - (left->first_ns < right->first_ns);
}

static void add_failures(struct tally *tally, struct gt_result *result)
{
	if (tally->failures.count > 1)
		qsort(tally->failures.rows, tally->failures.count, sizeof(*tally->failures.rows),
		      by_calls);
	gt_result_begin(result, "errors", error_headings, GT_COUNT_OF(error_headings));
	gt_result_order(result, "calls");
	gt_array_each(const struct failure, failure, &tally->failures) {
		const struct failure_key *key = &failure->key;
		const char *name = gt_result_name(key->result, key->driver_api != 0);

		gt_add_string(result, tally->trace, key->function);
		if (name)
			gt_result_add_text(result, name);
		else
			gt_result_add_unknown(result);
		gt_result_add_count(result, key->result);
		gt_result_add_count(result, (int64_t)failure->calls);
		gt_add_moment(result, tally->trace, failure->first_ns);
	}
}

static void add_remarks(const struct tally *tally, struct gt_result *result)
{
	if (tally->trace->api_calls.count == 0) {
		gt_result_remark_empty(result, "%s.", gt_no_calls(tally->trace));
		return;
	}
	gt_result_remark(result,
	                 "Only calls that launch, copy, fill, allocate, free or synchronize are "
	                 "recorded, and those that manage streams, events, graphs, modules, "
	                 "contexts and host functions.");
	if (tally->nested)
		gt_result_remark_on(
			result, "total_ns thread_percent",
			"%s calls were made inside another call, whose time they are part of: "
			"that time counts twice.",
			gt_grouped(tally->nested).text);
	if (tally->not_ready)
		gt_result_remark(
			result,
			"%s queries returned \"not ready\", which is an answer and no error.",
			gt_grouped(tally->not_ready).text);
	if (tally->profiled)
		gt_result_remark(
			result,
			"%s launches were held up for their counters (run --kernel-counters) and are "
			"in no time.",
			gt_grouped(tally->profiled).text);
	if (tally->unfinished)
		gt_result_remark(
			result,
			"%s calls had not returned when their process ended, or when recording was "
			"paused, and are in no time.",
			gt_grouped(tally->unfinished).text);
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct tally tally;

	(void)arguments;
	(void)err;
	tally_init(&tally, view->trace);
	count_calls(&tally);
	add_functions(&tally, result);
	add_failures(&tally, result);
	add_remarks(&tally, result);
	tally_release(&tally);
	return 0;
}

const struct gt_report gt_report_api = {
	.name = "api",
	.summary = "CUDA API calls by time on the host, and those that failed",
	.run = run,
};

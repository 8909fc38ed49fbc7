/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/gaps/blocked.h"
#include "analysis/gaps/host_waits.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/statistics/groups.h"
#include "analysis/statistics/shares.h"
#include "analysis/statistics/spread.h"
#include "analysis/time/event_use.h"
#include "analysis/time/stream_dependencies.h"
#include "base/array.h"
#include "model/index.h"
#include "model/names.h"
#include "model/trace.h"
#include "model/view/view.h"
#include "model/work/sync.h"
#include "model/work/timed.h"

static const struct gt_heading wait_headings[] = {
	{"kind", GT_UNIT_TEXT, "Effect of the call on the order of work", GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "Calls; queries are counted one by one", GT_WORTH_KEY},
	{"host_waits", GT_UNIT_TEXT, "Whether the host may wait in such a call"},
	{"total_ns", GT_UNIT_NS, "Sum of return - entry over all threads; not measured for queries",
         GT_WORTH_KEY},
	{"mean_ns", GT_UNIT_NS, "total_ns / calls that returned"},
	{"median_ns", GT_UNIT_NS, "Half of the calls took no longer", GT_WORTH_LITTLE},
	{"max_ns", GT_UNIT_NS, "Longest call"},
	{"failed", GT_UNIT_COUNT, "Calls that returned an error", GT_WORTH_LITTLE, true},
	{"unfinished", GT_UNIT_COUNT, "Calls that had not returned when their process ended",
         GT_WORTH_LEAST, true},
};

static const struct gt_heading object_headings[] = {
	{"thread", GT_UNIT_TEXT, "Who waited: name and thread id", GT_WORTH_KEY},
	{"kind", GT_UNIT_TEXT, "How", GT_WORTH_NAME},
	{"stream", GT_UNIT_TEXT,
         "On which stream: CUPTI's number; of an event's record the stream it was made on",
         GT_WORTH_KEY},
	{"event", GT_UNIT_COUNT, "On which event: its number in its process", GT_WORTH_KEY},
	{"event_name", GT_UNIT_TEXT, "That the program gave the event through NVTX",
         GT_WORTH_LITTLE},
	{"calls", GT_UNIT_COUNT, "Calls that returned", GT_WORTH_KEY},
	{"total_ns", GT_UNIT_NS, "Sum of return - entry", GT_WORTH_KEY},
	{"thread_percent", GT_UNIT_PERCENT, "Share of the window in which the thread waited so"},
	{"max_ns", GT_UNIT_NS, "Longest call", GT_WORTH_LITTLE},
};

static const struct gt_heading query_headings[] = {
	{"kind", GT_UNIT_TEXT, "Event query or stream query", GT_WORTH_KEY},
	{"answer", GT_UNIT_TEXT, "Answer that they got", GT_WORTH_KEY},
	{"thread", GT_UNIT_TEXT, "Who asked", GT_WORTH_NAME},
	{"calls", GT_UNIT_COUNT, "How often", GT_WORTH_KEY},
};

static const struct gt_parameter parameters[] = {
	{"top", GT_PARAMETER_ROWS, "20", "Rows of each table, the longest waits first"},
	{"small", GT_PARAMETER_COUNT, "4096",
         "Bytes up to which a copy to the host is a small read"},
	{0},
};

enum { TOP, SMALL }; /* arguments, as above */

enum { KINDS = 64 }; /* numbers of kinds that are known are below it */

/* ---- by kind ---- */

struct kind {
	uint32_t number;
	uint64_t calls;
	uint64_t failed;
	uint64_t unfinished;
	struct gt_spread times;
};

static uint32_t kind_of(gt_count kind)
{
	return kind < KINDS ? kind : 0;
}

static bool has_times(const struct gt_sync *sync)
{
	return gt_timed(GT_TIMES_ANY, sync->flags, sync->start_ns, sync->end_ns);
}

static void count_kinds(const struct gt_trace *trace, struct kind *kinds, struct gt_groups *times)
{
	gt_array_each(const struct gt_sync, sync, &trace->syncs) {
		struct kind *kind = &kinds[kind_of(sync->kind)];

		kind->calls++;
		kind->failed += gt_result_failed(sync->result);
		if (has_times(sync))
			gt_groups_expect(times, kind_of(sync->kind));
		else
			kind->unfinished++;
	}
	gt_array_each(const struct gt_query, query, &trace->queries) {
		struct kind *kind = &kinds[kind_of(query->kind)];

		kind->calls += query->count;
		kind->failed += gt_result_failed(query->result) ? query->count : 0;
	}
	gt_groups_begin(times);
	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		if (has_times(sync))
			gt_groups_add(times, kind_of(sync->kind), sync->end_ns - sync->start_ns);
}

/* Those that took longest first; what has no times last, by calls. */
static int by_total_of_kind(const void *a, const void *b)
{
	const struct kind *left = a;
	const struct kind *right = b;

	if ((left->times.count > 0) != (right->times.count > 0))
		return left->times.count > 0 ? -1 : 1;
	if (left->times.total != right->times.total)
		return left->times.total < right->times.total ? 1 : -1;
	if (left->calls != right->calls)
		return left->calls < right->calls ? 1 : -1;
	return (left->number > right->number) - (left->number < right->number);
}

static void add_times(struct gt_result *result, const struct gt_spread *spread)
{
	if (spread->count == 0) {
		gt_result_add_unknowns(result, 4);
		return;
	}
	gt_result_add_count(result, spread->total);
	gt_add_rounded(result, spread->mean);
	gt_result_add_count(result, spread->median);
	gt_result_add_count(result, spread->max);
}

static void add_kinds(const struct gt_trace *trace, struct gt_result *result)
{
	struct kind kinds[KINDS] = {{0}};
	struct gt_groups times;

	gt_groups_init(&times, KINDS);
	count_kinds(trace, kinds, &times);
	for (uint32_t i = 0; i < KINDS; i++) {
		kinds[i].number = i;
		kinds[i].times = gt_spread_of_group(&times, i);
	}
	gt_groups_release(&times);
	qsort(kinds, KINDS, sizeof(kinds[0]), by_total_of_kind);
	gt_result_begin(result, "waits", wait_headings, GT_COUNT_OF(wait_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < KINDS; i++) {
		const struct kind *kind = &kinds[i];

		if (kind->calls == 0)
			continue;
		gt_result_add_text(result, gt_sync_kind_name(kind->number));
		gt_result_add_count(result, (int64_t)kind->calls);
		gt_result_add_text(result, gt_sync_waits_host(kind->number) ? "yes" : "no");
		add_times(result, &kind->times);
		gt_result_add_count(result, (int64_t)kind->failed);
		gt_result_add_count(result, (int64_t)kind->unfinished);
	}
}

/* ---- who waited on what ---- */

struct object {
	gt_id thread;
	gt_id stream;
	gt_id event;
	uint32_t kind;
};

struct total {
	struct object object;
	uint64_t calls;
	struct gt_united waited;
	int64_t total_ns;
	int64_t max_ns;
};

struct totals {
	struct gt_wall wall;
	struct gt_index *index;
	gt_array(struct total) list;
};

static struct total *total_of(struct totals *totals, const struct object *object)
{
	const size_t number = gt_index_add(totals->index, object);

	if (number < totals->list.count)
		return &totals->list.rows[number];

	struct total *fresh = gt_array_push(&totals->list);

	*fresh = (struct total){.object = *object};
	return fresh;
}

static void count_wait(const struct gt_trace *trace, struct totals *totals,
                       const struct gt_sync *sync)
{
	const struct object object = {
		.thread = sync->thread,
		.stream = gt_sync_stream(trace, sync),
		.event = sync->event,
		.kind = sync->kind,
	};
	const int64_t duration_ns = sync->end_ns - sync->start_ns;
	struct total *total = total_of(totals, &object);

	total->calls++;
	total->total_ns += duration_ns;
	gt_unite(&total->waited, &totals->wall, (struct gt_interval){sync->start_ns, sync->end_ns});
	if (duration_ns > total->max_ns)
		total->max_ns = duration_ns;
}

static int by_total(const void *a, const void *b)
{
	const struct total *left = a;
	const struct total *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return memcmp(&left->object, &right->object, sizeof(left->object));
}

static void add_total(struct gt_result *result, const struct gt_trace *trace,
                      const struct gt_wall *wall, const struct total *total)
{
	const struct gt_share share =
		gt_share_of(&total->waited, wall, GT_OF_THREAD, total->object.thread);

	gt_add_thread(result, trace, total->object.thread);
	gt_result_add_text(result, gt_sync_kind_name(total->object.kind));
	gt_add_stream(result, trace, total->object.stream);
	if (total->object.event < trace->events.count) {
		gt_result_add_count(result, trace->events.rows[total->object.event].number);
		gt_add_string(result, trace, trace->events.rows[total->object.event].name);
	} else {
		gt_result_add_unknown(result);
		gt_result_add_unknown(result);
	}
	gt_result_add_count(result, (int64_t)total->calls);
	gt_result_add_count(result, total->total_ns);
	gt_result_add_real(result, gt_share_percent(&share));
	gt_result_add_count(result, total->max_ns);
}

static void add_objects(const struct gt_view *view, struct gt_result *result, uint64_t top)
{
	const struct gt_trace *trace = view->trace;
	struct totals totals = {
		.wall = gt_wall_of(view),
		.index = gt_index_new(sizeof(struct object)),
	};

	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		if (gt_sync_waits_host(sync->kind) && has_times(sync))
			count_wait(trace, &totals, sync);
	if (totals.list.count > 1)
		qsort(totals.list.rows, totals.list.count, sizeof(*totals.list.rows), by_total);
	gt_result_begin(result, "waited_on", object_headings, GT_COUNT_OF(object_headings));
	gt_result_order(result, "total_ns");
	for (size_t i = 0; i < totals.list.count && i < top; i++)
		add_total(result, trace, &totals.wall, &totals.list.rows[i]);
	gt_result_top(result, totals.list.count, top);
	gt_index_free(totals.index);
	gt_array_release(&totals.list);
}

/* ---- queries ---- */

struct asked {
	uint32_t kind;
	gt_code result;
	gt_id thread;
};

static void add_answer(struct gt_result *result, gt_code code)
{
	if (code == 0)
		gt_result_add_text(result, "ready");
	else if (code == GT_RESULT_NOT_READY)
		gt_result_add_text(result, "not ready");
	else
		gt_result_add_format(result, "failed: %d", code);
}

static void add_queries(const struct gt_trace *trace, struct gt_result *result)
{
	struct gt_index *index = gt_index_new(sizeof(struct asked));
	uint64_t *counts = gt_allocate((trace->queries.count + 1) * sizeof(*counts));

	gt_array_each(const struct gt_query, query, &trace->queries) {
		const struct asked asked = {query->kind, query->result, query->thread};
		const size_t before = gt_index_count(index);
		const size_t number = gt_index_add(index, &asked);

		counts[number] = (number == before ? 0 : counts[number]) + query->count;
	}
	gt_result_begin(result, "queries", query_headings, GT_COUNT_OF(query_headings));
	for (size_t i = 0; i < gt_index_count(index); i++) {
		const struct asked *asked = gt_index_key(index, i);

		gt_result_add_text(result, gt_sync_kind_name(asked->kind));
		add_answer(result, asked->result);
		gt_add_thread(result, trace, asked->thread);
		gt_result_add_count(result, (int64_t)counts[i]);
	}
	gt_array_free(counts);
	gt_index_free(index);
}

static bool are_unlinked(const struct gt_trace *trace)
{
	gt_array_each(const struct gt_sync, sync, &trace->syncs)
		if (sync->record == GT_NONE &&
		    (sync->kind == GT_SYNC_STREAM_WAIT_EVENT || sync->kind == GT_SYNC_WAIT_VALUE))
			return true;
	return false;
}

static uint64_t count_unknown(const struct gt_host_waits *waits)
{
	uint64_t unknown = 0;

	gt_array_each(const struct gt_host_wait, wait, &waits->list)
		unknown += wait->outcome == GT_WAIT_UNKNOWN;
	return unknown;
}

static void add_remarks(const struct gt_trace *trace, const struct gt_host_waits *waits,
                        struct gt_result *result)
{
	const uint64_t unknown = count_unknown(waits);

	if (trace->syncs.count + trace->queries.count == 0) {
		gt_result_remark_empty(result, "No waits were recorded.");
		return;
	}
	gt_result_remark_on(result, "total_ns",
	                    "A call that may wait counts whole, also where it did not wait; copies "
	                    "of pageable memory may wait without being listed here.");
	if (unknown > 0)
		gt_result_remark_on(result, "at_once emptied",
		                    "What %s of %s waits waited for is not known: frees, functions "
		                    "of the host, other processes, or work that is not in the "
		                    "recording; they count as blocked alone.",
		                    gt_grouped(unknown).text, gt_grouped(waits->list.count).text);
	if (!waits->has_calls && waits->list.count > 0)
		gt_result_remark_on(
			result, "why emptied",
			"API calls were not recorded: what the host asked for next, and "
			"so which waits emptied a GPU or could go, is not known.");
	if (waits->has_managed)
		gt_result_remark_on(result, "why",
		                    "The program has managed memory, which the host reads without "
		                    "a call: which waits before more work could go is not said.");
	if (are_unlinked(trace))
		gt_result_remark_on(
			result, "held",
			"Some waits are linked to nothing: what they wait for was recorded before "
			"the recording began, by the host, a kernel or another process, or CUPTI's "
			"own records of an earlier version do not say it.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	const uint64_t top = arguments->values[TOP].number;
	struct gt_host_waits waits;

	(void)err;
	gt_host_waits_init(&waits, view, arguments->values[SMALL].number);
	add_kinds(view->trace, result);
	gt_add_blocked(result, &waits, top);
	add_objects(view, result, top);
	add_queries(view->trace, result);
	gt_add_event_use(result, view->trace);
	gt_add_stream_dependencies(result, view->trace);
	add_remarks(view->trace, &waits, result);
	gt_host_waits_release(&waits);
	return 0;
}

const struct gt_report gt_report_waits = {
	.name = "waits",
	.summary = "Cost of waits, and which could go; which stream held another one back",
	.parameters = parameters,
	.run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/facts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/module_calls.h"
#include "base/array.h"
#include "base/strings.h"
#include "model/names.h"
#include "model/sync.h"
#include "model/timed.h"
#include "model/trace.h"

enum { KINDS = 64 }; /* numbers of kinds of waits that are known are below it */

static void add(struct gt_amount *amount, uint64_t duration_ns, uint64_t bytes)
{
	amount->count++;
	amount->total_ns += duration_ns;
	amount->bytes += bytes;
}

static void take_most(struct gt_amount *amount, const char *name, uint64_t total_ns)
{
	if (total_ns <= amount->most_ns)
		return;
	amount->most = name;
	amount->most_ns = total_ns;
}

struct gt_amount_calls gt_amount_calls(const struct gt_amount *amount)
{
	struct gt_amount_calls calls;
	const int used =
		snprintf(calls.text, sizeof(calls.text), "%s %s", gt_grouped(amount->count).text,
	                 amount->count == 1 ? "call" : "calls");

	if (amount->most)
		snprintf(calls.text + used, sizeof(calls.text) - (size_t)used, ", %s in %s",
		         amount->most_ns == amount->total_ns ? "all" : "most of it", amount->most);
	return calls;
}

/* Device by device: what ran, and the gaps between. */
static void see_activity(struct gt_facts *facts)
{
	const size_t count = facts->view->trace->devices.count;
	struct gt_activity_walk walk;
	struct gt_activity activity;

	facts->busy = gt_busy_of_devices(facts->view);
	facts->idle = gt_allocate(count * sizeof(*facts->idle));
	for (size_t i = 0; i < count; i++)
		facts->idle[i] = (struct gt_idle){
			.largest_count = 1,
			.parts = facts->view->trace->parts.rows,
			.part_count = facts->view->trace->parts.count,
			.totals = &facts->gaps,
			.device = (gt_id)i,
		};
	gt_activity_walk_init_whole(&walk, facts->view->trace);
	while (gt_activity_next(&walk, &activity))
		if (activity.device < count)
			gt_idle_see(&facts->idle[activity.device], &activity);
	for (size_t i = 0; i < count; i++)
		gt_idle_end(&facts->idle[i]);
	gt_gap_totals_sort(&facts->gaps);
}

/* The sort that a call counts as; NULL: none. */
static struct gt_amount *amount_of(struct gt_facts *facts, const struct gt_api_call *call)
{
	if (call->kind == GT_API_ALLOCATE || call->kind == GT_API_FREE)
		return &facts->memory;
	if (gt_call_takes_code(facts->view->trace, call))
		return &facts->loads;
	return NULL;
}

/* A call inside another is part of that one's time. */
static void see_calls(struct gt_facts *facts)
{
	const struct gt_trace *trace = facts->view->trace;
	const size_t size = gt_strings_count(trace->strings);
	uint64_t *of_function = gt_allocate(size * sizeof(*of_function));

	memset(of_function, 0, size * sizeof(*of_function));
	gt_array_each(const struct gt_api_call, call, &trace->api_calls) {
		struct gt_amount *amount = amount_of(facts, call);

		if (gt_api_failed(call)) {
			add(&facts->failed, 0, 0);
			if (!facts->first_failed)
				facts->first_failed = call;
		}
		if (!amount || call->flags & GT_NESTED || call->function >= size ||
		    !gt_is_figure(call->flags, call->start_ns, call->end_ns))
			continue;
		add(amount, (uint64_t)(call->end_ns - call->start_ns), 0);
		if (amount->count == 1 || call->end_ns > amount->end_ns)
			amount->end_ns = call->end_ns;
		of_function[call->function] += (uint64_t)(call->end_ns - call->start_ns);
		take_most(amount, gt_trace_text(trace, call->function),
		          of_function[call->function]);
	}
	gt_array_free(of_function);
}

static void see_waits(struct gt_facts *facts)
{
	uint64_t of_kind[KINDS] = {0};

	gt_array_each(const struct gt_sync, sync, &facts->view->trace->syncs) {
		const uint32_t kind = sync->kind < KINDS ? sync->kind : 0;
		const uint64_t duration_ns = (uint64_t)(sync->end_ns - sync->start_ns);

		if (!gt_sync_waits_host(sync->kind) ||
		    !gt_timed(sync->flags, sync->start_ns, sync->end_ns))
			continue;
		add(&facts->waits, duration_ns, 0);
		of_kind[kind] += duration_ns;
		take_most(&facts->waits, gt_sync_kind_name(kind), of_kind[kind]);
	}
}

static void see_copies(struct gt_facts *facts)
{
	gt_array_each(const struct gt_copy, copy, &facts->view->trace->copies) {
		const uint64_t duration_ns = (uint64_t)(copy->end_ns - copy->start_ns);

		if (!gt_timed(copy->flags, copy->start_ns, copy->end_ns))
			continue;
		add(&facts->copies, duration_ns, copy->size_bytes);
		if (copy->src_kind == GT_MEMORY_PAGEABLE || copy->dst_kind == GT_MEMORY_PAGEABLE)
			add(&facts->pageable, duration_ns, copy->size_bytes);
	}
}

void gt_facts_init(struct gt_facts *facts, const struct gt_view *view)
{
	*facts = (struct gt_facts){.view = view};
	gt_thread_calls_init(&facts->calls, view->trace);
	gt_gap_totals_init(&facts->gaps, &facts->calls);
	gt_throttles_init(&facts->throttles, view->trace);
	gt_variables_init(&facts->variables, view->trace);
	gt_range_totals_init(&facts->ranges, view->trace, GT_RANGES_BY_PATH, GT_FOLD_AUTO);
	gt_memory_totals_init(&facts->allocated, view);
	gt_memory_failures_init(&facts->not_allocated, view);
	see_activity(facts);
	see_calls(facts);
	facts->loading_ns = gt_loading_ns(facts->view);
	see_waits(facts);
	see_copies(facts);
}

void gt_facts_release(struct gt_facts *facts)
{
	for (size_t i = 0; i < facts->view->trace->devices.count; i++)
		gt_idle_release(&facts->idle[i]);
	gt_array_free(facts->busy);
	gt_array_free(facts->idle);
	gt_gap_totals_release(&facts->gaps);
	gt_thread_calls_release(&facts->calls);
	gt_throttles_release(&facts->throttles);
	gt_variables_release(&facts->variables);
	gt_range_totals_release(&facts->ranges);
	gt_memory_totals_release(&facts->allocated);
	gt_memory_failures_release(&facts->not_allocated);
}

uint64_t gt_facts_duration_ns(const struct gt_facts *facts)
{
	return gt_view_lasts_ns(facts->view);
}

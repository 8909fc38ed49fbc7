/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gaps/totals.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/gaps/idle.h"
#include "model/index.h"
#include "model/work/timed.h"

enum {
	SMALL_NS = 1000000,
	MEANWHILE_PERCENT = 20, /* of the gaps: less is not named */
};

/* Key of totals; has no padding. */
struct key {
	gt_id device;
	uint32_t kind;
	gt_string function;
};

void gt_gap_totals_init(struct gt_gap_totals *totals, const struct gt_thread_calls *calls)
{
	const size_t devices = calls->trace->devices.count;

	*totals = (struct gt_gap_totals){
		.calls = calls,
		.index = gt_index_new(sizeof(struct key)),
		.between_launches = gt_allocate(devices * sizeof(*totals->between_launches)),
	};
	for (size_t i = 0; i < devices; i++)
		totals->between_launches[i] = (struct gt_gap_sum){0};
}

void gt_gap_totals_release(struct gt_gap_totals *totals)
{
	gt_index_free(totals->index);
	gt_array_release(&totals->all);
	gt_array_free(totals->between_launches);
	*totals = (struct gt_gap_totals){0};
}

static struct gt_gap_total *total_of(struct gt_gap_totals *totals, const struct key *key)
{
	const size_t number = gt_index_add(totals->index, key);

	if (number == totals->all.count)
		*gt_array_push(&totals->all) = (struct gt_gap_total){
			.device = key->device,
			.kind = (enum gt_gap_cause_kind)key->kind,
			.function = key->function,
		};
	return &totals->all.rows[number];
}

static void add(struct gt_gap_totals *totals, const struct key *key, gt_time duration_ns)
{
	struct gt_gap_total *total;

	if (duration_ns <= 0)
		return;
	total = total_of(totals, key);
	total->gaps += total->latest != totals->seen;
	total->latest = totals->seen;
	total->total_ns += (uint64_t)duration_ns;
}

static gt_time later(gt_time a, gt_time b)
{
	return a > b ? a : b;
}

static gt_time earlier(gt_time a, gt_time b)
{
	return a < b ? a : b;
}

/*
 * Calls of a thread follow each other; where those of a damaged recording do not, a moment counts
 * for the one that was entered first. Returns how long calls took that only wait.
 */
static uint64_t add_calls(struct gt_gap_totals *totals, gt_id device,
                          const struct gt_gap_host *host)
{
	const struct gt_interval asking = host->asking;
	const struct gt_call_reach reach =
		gt_thread_calls_reaching(totals->calls, asking, host->thread);
	gt_time outside_ns = 0;
	gt_time waited_ns = 0;
	gt_time until = asking.start_ns;

	for (size_t i = reach.first; i < reach.end; i++) {
		const struct gt_api_call *call =
			&totals->calls->trace->api_calls.rows[totals->calls->rows[i]];
		const gt_time start = later(call->start_ns, until);
		const gt_time end = earlier(gt_known_end(call->flags, call->end_ns, asking.end_ns),
		                            asking.end_ns);

		if (end <= start)
			continue;
		add(totals, &(struct key){device, gt_gap_cause_of_call(call), call->function},
		    end - start);
		if (gt_gap_cause_of_call(call) == GT_GAP_CAUSE_WAIT)
			waited_ns += end - start;
		outside_ns += start - until;
		until = end;
	}
	outside_ns += asking.end_ns - until;
	add(totals, &(struct key){device, GT_GAP_CAUSE_NONE, 0}, outside_ns);
	return (uint64_t)waited_ns;
}

static void sum_up(struct gt_gap_sum *sum, uint64_t gap_ns, uint64_t waited_ns)
{
	sum->gaps++;
	sum->short_gaps += gap_ns < GT_GAP_SHORT_NS;
	sum->total_ns += gap_ns;
	sum->small_ns += gap_ns < SMALL_NS ? gap_ns : 0;
	sum->unwaited_ns += gap_ns < SMALL_NS ? gap_ns - waited_ns : 0;
}

void gt_gap_totals_hear(void *hearer, gt_id device, const struct gt_gap *gap)
{
	struct gt_gap_totals *totals = hearer;
	const struct gt_gap_host host = gt_gap_host_of(totals->calls->trace, gap);
	const gt_time gap_ns = gap->end_ns - gap->start_ns;

	totals->seen++;
	if (host.kind == GT_GAP_CAUSE_GRAPH) {
		add(totals, &(struct key){device, GT_GAP_CAUSE_GRAPH, 0}, gap_ns);
		return;
	}
	if (host.kind == GT_GAP_CAUSE_UNKNOWN) {
		sum_up(&totals->between_launches[device], (uint64_t)gap_ns, 0);
		add(totals, &(struct key){device, GT_GAP_CAUSE_UNKNOWN, 0}, gap_ns);
		return;
	}
	sum_up(&totals->between_launches[device], (uint64_t)gap_ns,
	       add_calls(totals, device, &host));
	add(totals, &(struct key){device, GT_GAP_CAUSE_LAUNCHED, 0},
	    gap->end_ns - host.asking.end_ns);
}

static int by_total(const void *a, const void *b)
{
	const struct gt_gap_total *left = a;
	const struct gt_gap_total *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->device != right->device)
		return left->device > right->device ? 1 : -1;
	if (left->kind != right->kind)
		return left->kind > right->kind ? 1 : -1;
	return (left->function > right->function) - (left->function < right->function);
}

void gt_gap_totals_sort(struct gt_gap_totals *totals)
{
	if (totals->all.count > 1)
		qsort(totals->all.rows, totals->all.count, sizeof(*totals->all.rows), by_total);
}

void gt_gap_total_text(const struct gt_gap_total *total, const struct gt_trace *trace, char *text,
                       size_t size)
{
	const struct gt_gap_cause cause = {.kind = total->kind, .function = total->function};

	if (total->kind == GT_GAP_CAUSE_UNKNOWN)
		snprintf(text, size, "not known");
	else
		gt_gap_cause_text(&cause, trace, text, size);
}

struct gt_meanwhile gt_meanwhile_of(const struct gt_gap_totals *totals, gt_id device)
{
	const double gap_ns = (double)totals->between_launches[device].total_ns;
	struct gt_meanwhile meanwhile = {""};
	size_t used = 0;
	char what[80];

	gt_array_each(const struct gt_gap_total, total, &totals->all) {
		const double percent = gt_percent((double)total->total_ns, gap_ns);

		if (total->device != device || total->kind == GT_GAP_CAUSE_GRAPH ||
		    total->kind == GT_GAP_CAUSE_UNKNOWN || !(percent >= MEANWHILE_PERCENT) ||
		    used >= sizeof(meanwhile.text) / 2)
			continue;
		gt_gap_total_text(total, totals->calls->trace, what, sizeof(what));
		used += (size_t)snprintf(meanwhile.text + used, sizeof(meanwhile.text) - used,
		                         "%s%s (%s)", used ? ", " : " Meanwhile: ", what,
		                         gt_figure_percent(percent).text);
	}
	if (used && used + 1 < sizeof(meanwhile.text))
		snprintf(meanwhile.text + used, sizeof(meanwhile.text) - used, ".");
	return meanwhile;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranges/operation_parts.h"

#include "analysis/time/covered.h"
#include "model/whole.h"
#include "model/work/timed.h"

struct host {
	struct gt_operation_totals *totals;
	struct gt_covered *calls; /* by row of threads of all that happened */
};

/* Time of a thread, and what of it CUDA calls took. */
struct spent {
	uint64_t wall_ns;
	uint64_t api_ns;
};

static struct spent spent_between(const struct host *host, gt_id thread, gt_time start_ns,
                                  gt_time end_ns)
{
	const struct gt_trace *trace = host->totals->trace;
	const gt_id origin = gt_whole_origin(trace, GT_TABLE_threads, thread);
	struct spent spent = {0};

	if (end_ns <= start_ns)
		return spent;
	spent.wall_ns = (uint64_t)(end_ns - start_ns);
	if (origin < gt_whole_of(trace)->threads.count)
		spent.api_ns = gt_covered_within(&host->calls[origin],
		                                 (struct gt_interval){start_ns, end_ns});
	return spent;
}

static bool counts(const struct gt_operation_totals *totals, gt_id range)
{
	const struct gt_range *row = &totals->trace->ranges.rows[range];

	return totals->scopes[range].group != GT_NONE && !(row->flags & GT_AROUND) &&
	       gt_timed(GT_TIMES_ANY, row->flags, row->start_ns, row->end_ns);
}

/* What of a range is in one around it is not that one's own. */
static void take_out(const struct host *host, const struct gt_range *range, gt_id around)
{
	struct gt_operation_totals *totals = host->totals;
	const gt_time end_ns = totals->trace->ranges.rows[around].end_ns;
	const struct spent spent = spent_between(host, range->thread, range->start_ns,
	                                         range->end_ns < end_ns ? range->end_ns : end_ns);
	struct gt_operation_total *row = &totals->rows.rows[totals->scopes[around].group];

	row->own_wall_ns -= spent.wall_ns;
	row->own_api_ns -= spent.api_ns;
}

/*
 * Ranges inside of one and of none inside that follow each other: those that are taken out of it
 * never overlap. Ranges are gone through from the outer to the inner.
 */
static void add_range(const struct host *host, gt_id i)
{
	struct gt_operation_totals *totals = host->totals;
	const struct gt_range *range = &totals->trace->ranges.rows[i];
	const gt_id group = totals->scopes[i].group;
	struct gt_operation_total *row = &totals->rows.rows[group];
	const struct spent spent =
		spent_between(host, range->thread, range->start_ns, range->end_ns);
	bool inside_of_kind = false;
	bool inside_of_row = false;

	for (gt_id at = gt_ranges_around_sure(&totals->ranges, i, range->start_ns);
	     at != GT_NONE && totals->trace->ranges.rows[at].thread == range->thread;
	     at = gt_ranges_around_sure(&totals->ranges, at, range->start_ns)) {
		if (!counts(totals, at))
			continue;
		inside_of_row = inside_of_row || totals->scopes[at].group == group;
		if (inside_of_kind || totals->rows.rows[totals->scopes[at].group].kind != row->kind)
			continue;
		inside_of_kind = true;
		take_out(host, range, at);
	}
	row->timed++;
	row->own_wall_ns += spent.wall_ns;
	row->own_api_ns += spent.api_ns;
	/* Calls of modules in backward include those of their parts. */
	if (!inside_of_row && !gt_operation_is_part(totals, i))
		row->wall_ns += spent.wall_ns;
}

void gt_operations_add_host(struct gt_operation_totals *totals)
{
	const struct gt_trace *whole = gt_whole_of(totals->trace);
	struct host host = {.totals = totals};

	if (totals->trace->ranges.count == 0)
		return;
	host.calls = gt_covered_calls(whole);
	for (size_t i = 0; i < totals->trace->ranges.count; i++)
		if (counts(totals, totals->ranges.order[i]))
			add_range(&host, totals->ranges.order[i]);
	gt_covered_calls_release(host.calls, whole);
}

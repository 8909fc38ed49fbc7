/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/range_losses.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/time/covered.h"
#include "base/array.h"
#include "model/ranges/projection.h"
#include "model/ranges/quiet.h"
#include "model/whole.h"
#include "model/work/timed.h"

enum {
	LEAST_PERCENT = 50,           /* of the path's time */
	LEAST_RECORDING_PERCENT = 10, /* of the recording */
	INSIDE_PERCENT = 80,          /* of it in one path inside: that one is told of */
	/* Sum, of the recording: the gaps of a path that has less are not looked for. */
	LEAST_SUM_PERCENT = 5,
};

static struct gt_range_loss *new_losses(size_t count)
{
	struct gt_range_loss *losses = gt_allocate(count * sizeof(*losses));

	for (size_t i = 0; i < count; i++)
		losses[i] = (struct gt_range_loss){0};
	return losses;
}

/* ---- quiet ---- */

/* By path, of what no range of it that began earlier covers. */
static uint64_t *quiet_times(const struct gt_range_totals *totals, const struct gt_wall *wall)
{
	const struct gt_trace *trace = totals->ranges.trace;
	uint64_t *quiet_ns = gt_allocate(totals->count * sizeof(*quiet_ns));
	gt_time *until_ns = gt_allocate(totals->count * sizeof(*until_ns));
	struct gt_quiet quiet;

	for (size_t i = 0; i < totals->count; i++) {
		quiet_ns[i] = 0;
		until_ns[i] = wall->start_ns;
	}
	gt_quiet_init(&quiet, trace);
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];
		const gt_id path = totals->group_of[i];
		const gt_time end_ns = range->end_ns < wall->end_ns ? range->end_ns : wall->end_ns;

		if (range->flags & GT_AROUND ||
		    !gt_timed(GT_TIMES_ANY, range->flags, range->start_ns, range->end_ns) ||
		    end_ns <= until_ns[path])
			continue;
		quiet_ns[path] += gt_quiet_between(
			&quiet, range->start_ns > until_ns[path] ? range->start_ns : until_ns[path],
			end_ns);
		until_ns[path] = end_ns;
	}
	gt_quiet_release(&quiet);
	gt_array_free(until_ns);
	return quiet_ns;
}

static struct gt_range_loss *quiet_of(const struct gt_range_totals *totals,
                                      const struct gt_wall *wall)
{
	struct gt_range_loss *losses = new_losses(totals->count);
	uint64_t *united_ns = quiet_times(totals, wall);

	for (size_t i = 0; i < totals->count; i++)
		losses[i] = (struct gt_range_loss){
			.lost_ns = totals->rows[i].quiet_ns,
			.whole_ns = totals->rows[i].shown_ns,
			.united = gt_share_of_apart(wall, united_ns[i], GT_OF_RECORDING, GT_NONE),
		};
	gt_array_free(united_ns);
	return losses;
}

/* ---- gaps ---- */

/* From the first to the last work of a range on one GPU. */
struct span {
	gt_id path;
	gt_id device; /* in the end its row where all that happened is */
	struct gt_interval when;
};

struct spans {
	gt_array(struct span) list;
};

static int by_path_and_device(const void *a, const void *b)
{
	const struct span *left = a;
	const struct span *right = b;

	if (left->path != right->path)
		return left->path < right->path ? -1 : 1;
	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return (left->when.start_ns > right->when.start_ns) -
	       (left->when.start_ns < right->when.start_ns);
}

/* Spans of the paths whose loss is not small. */
static void find_spans(struct spans *spans, const struct gt_range_totals *totals,
                       const struct gt_wall *wall, const struct gt_range_loss *losses)
{
	const struct gt_trace *trace = totals->ranges.trace;
	struct gt_projection each;

	gt_projection_init(&each, &totals->ranges, GT_PROJECT_DEVICES, NULL, 0);
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const gt_id path = totals->group_of[i];

		if (trace->ranges.rows[i].flags & GT_AROUND ||
		    !gt_is_share(losses[path].lost_ns, wall->ns, LEAST_SUM_PERCENT))
			continue;
		for (gt_id at = each.first[i]; at != GT_NONE; at = each.rows.rows[at].next) {
			const struct gt_projected *part = &each.rows.rows[at];

			if (part->place < trace->devices.count)
				*gt_array_push(&spans->list) = (struct span){
					path,
					part->place,
					{part->span.start_ns, part->span.end_ns},
				};
		}
	}
	gt_projection_release(&each);
	if (spans->list.count > 1)
		qsort(spans->list.rows, spans->list.count, sizeof(*spans->list.rows),
		      by_path_and_device);
}

/* The gaps of the GPUs in the spans of one path, whose first one is given; how many spans it has. */
static size_t unite_gaps(const struct spans *spans, size_t first, const struct gt_wall *wall,
                         const struct gt_covered_device *devices, struct gt_range_loss *losses)
{
	const gt_id path = spans->list.rows[first].path;
	gt_array(struct gt_interval) gaps = {0};
	gt_time until_ns = INT64_MIN;
	size_t at = first;

	for (; at < spans->list.count && spans->list.rows[at].path == path; at++) {
		const struct span *span = &spans->list.rows[at];
		struct gt_interval left = span->when;
		struct gt_interval gap;

		if (at > first && spans->list.rows[at - 1].device != span->device)
			until_ns = INT64_MIN;
		if (left.start_ns < until_ns)
			left.start_ns = until_ns;
		if (left.end_ns > until_ns)
			until_ns = left.end_ns;
		while (gt_covered_next_gap(&devices[span->device].all, &left, &gap))
			*gt_array_push(&gaps) = gap;
	}
	losses[path].united =
		gt_share_of_intervals(wall, gaps.rows, gaps.count, GT_OF_RECORDING, GT_NONE);
	gt_array_free(gaps.rows);
	return at - first;
}

static struct gt_range_loss *gaps_of(const struct gt_range_totals *totals,
                                     const struct gt_wall *wall)
{
	const struct gt_trace *trace = totals->ranges.trace;
	const struct gt_trace *whole = gt_whole_of(trace);
	struct gt_range_loss *losses = new_losses(totals->count);
	struct gt_covered_device *devices;
	struct spans spans = {0};
	bool any = false;

	for (size_t i = 0; i < totals->count; i++) {
		const uint64_t lost_ns = (uint64_t)totals->rows[i].idle.spread.total;

		losses[i] = (struct gt_range_loss){
			.lost_ns = lost_ns,
			.whole_ns = totals->rows[i].span_ns,
			.united = gt_share_of_apart(wall, lost_ns, GT_OF_RECORDING, GT_NONE),
		};
		any |= gt_is_share(lost_ns, wall->ns, LEAST_SUM_PERCENT);
	}
	if (!any)
		return losses;
	find_spans(&spans, totals, wall, losses);
	devices = gt_covered_devices(whole);
	for (size_t i = 0; i < spans.list.count; i++)
		spans.list.rows[i].device =
			gt_whole_origin(trace, GT_TABLE_devices, spans.list.rows[i].device);
	for (size_t i = 0; i < spans.list.count;)
		i += unite_gaps(&spans, i, wall, devices, losses);
	gt_covered_devices_release(devices, whole);
	gt_array_release(&spans.list);
	return losses;
}

void gt_range_losses_init(struct gt_range_losses *losses, const struct gt_range_totals *totals,
                          const struct gt_wall *wall)
{
	*losses = (struct gt_range_losses){0};
	if (totals->ranges.trace->ranges.count == 0)
		return;
	losses->of[GT_RANGE_QUIET] = quiet_of(totals, wall);
	losses->of[GT_RANGE_GAPS] = gaps_of(totals, wall);
}

void gt_range_losses_release(struct gt_range_losses *losses)
{
	for (size_t i = 0; i < GT_RANGE_LOSSES; i++)
		gt_array_free(losses->of[i]);
	*losses = (struct gt_range_losses){0};
}

/* ---- the worst ---- */

static bool is_told_of(const struct gt_range_totals *ranges, const struct gt_range_loss *losses,
                       gt_id path)
{
	return ranges->rows[path].ranges > 0 &&
	       gt_is_share(losses[path].lost_ns, losses[path].whole_ns, LEAST_PERCENT) &&
	       gt_share_reaches(&losses[path].united, LEAST_RECORDING_PERCENT);
}

/*
 * By path: the most that one of those in it loses which could be told of in its place. The caller
 * frees it with gt_array_free.
 */
static uint64_t *lost_inside(const struct gt_range_totals *ranges,
                             const struct gt_range_loss *losses)
{
	uint64_t *inside = gt_allocate(ranges->count * sizeof(*inside));

	for (size_t i = 0; i < ranges->count; i++)
		inside[i] = 0;
	/* The outer stand before the inner: each has all of those in it when its turn comes. */
	for (size_t i = ranges->count; i-- > 0;) {
		const gt_id outer = ranges->ranges.paths.rows[i].outer;
		uint64_t most_ns = inside[i];

		if (is_told_of(ranges, losses, (gt_id)i) && losses[i].united.ns > most_ns)
			most_ns = losses[i].united.ns;
		if (outer != GT_NONE && most_ns > inside[outer])
			inside[outer] = most_ns;
	}
	return inside;
}

gt_id gt_range_worst(const struct gt_facts *facts, enum gt_range_loss_kind kind)
{
	const struct gt_range_totals *ranges = &facts->ranges;
	const struct gt_range_loss *losses = facts->range_losses.of[kind];
	uint64_t most_ns = 0;
	gt_id worst = GT_NONE;
	uint64_t *inside;

	if (!losses)
		return GT_NONE;
	inside = lost_inside(ranges, losses);
	for (gt_id i = 0; i < ranges->count; i++) {
		const struct gt_share *united = &losses[i].united;

		if (united->ns <= most_ns || !is_told_of(ranges, losses, i) ||
		    gt_is_share(inside[i], united->ns, INSIDE_PERCENT))
			continue;
		most_ns = united->ns;
		worst = i;
	}
	gt_array_free(inside);
	return worst;
}

struct gt_interval gt_range_extent(const struct gt_facts *facts, gt_id path)
{
	const struct gt_trace *trace = facts->view->trace;
	struct gt_interval extent = {INT64_MAX, 0};

	for (size_t i = 0; i < trace->ranges.count; i++) {
		const struct gt_range *range = &trace->ranges.rows[i];

		if (facts->ranges.group_of[i] != path)
			continue;
		if (range->start_ns < extent.start_ns)
			extent.start_ns = range->start_ns;
		if (gt_range_end(range) > extent.end_ns)
			extent.end_ns = gt_range_end(range);
	}
	return extent;
}

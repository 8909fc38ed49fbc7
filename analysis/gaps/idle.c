/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gaps/idle.h"

#include <stdbool.h>
#include <stdlib.h>

static int by_length(const void *a, const void *b)
{
	const struct gt_gap *left = a;
	const struct gt_gap *right = b;

	if (gt_gap_ns(left) != gt_gap_ns(right))
		return gt_gap_ns(left) < gt_gap_ns(right) ? 1 : -1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* Forgets all but the longest. */
static void keep_largest(struct gt_idle *idle)
{
	if (idle->largest.count > 1)
		qsort(idle->largest.rows, idle->largest.count, sizeof(*idle->largest.rows),
		      by_length);
	if (idle->largest.count > idle->largest_count)
		idle->largest.count = idle->largest_count;
}

/* Twice as many as are asked for are collected before they are sorted: n log n in all. */
static void add_gap(struct gt_idle *idle, const struct gt_gap *gap)
{
	if (idle->largest.count / 2 >= idle->largest_count)
		keep_largest(idle);
	if (idle->largest_count > 0)
		*gt_array_push(&idle->largest) = *gap;
}

static unsigned decade_of(uint64_t ns)
{
	unsigned decade = 0;

	for (; ns >= 10; ns /= 10)
		decade++;
	return decade;
}

static void count_gap(struct gt_idle *idle, const struct gt_gap *gap)
{
	const uint64_t gap_ns = gt_gap_ns(gap);
	const unsigned decade = decade_of(gap_ns);

	add_gap(idle, gap);
	idle->gap_count++;
	idle->short_count += gap_ns < GT_GAP_SHORT_NS;
	idle->gaps_of_decade[decade]++;
	idle->idle_of_decade[decade] += gap_ns;
	idle->idle_ns += gap_ns;
	if (idle->hear)
		idle->hear(idle->hearer, idle->device, gap);
}

/* Gaps come in order of time, and each begins no earlier than the work that was seen before it. */
static void count_inside(struct gt_idle *idle, const struct gt_gap *gap)
{
	struct gt_pieces pieces =
		gt_pieces_of(&idle->window, (struct gt_interval){gap->start_ns, gap->end_ns});
	struct gt_interval interval;

	while (gt_pieces_next(&pieces, &interval)) {
		struct gt_gap piece = *gap;

		piece.start_ns = interval.start_ns;
		piece.end_ns = interval.end_ns;
		count_gap(idle, &piece);
	}
}

void gt_idle_see(struct gt_idle *idle, const struct gt_activity *activity)
{
	const struct gt_interval interval = {activity->start_ns, activity->end_ns};
	const gt_time busy_until = idle->cover.end_ns;
	const bool first = !idle->cover.begun;
	const uint64_t gap_ns = gt_cover_add(&idle->cover, interval);
	const struct gt_gap gap = {busy_until, activity->start_ns, idle->latest, *activity};

	if (gap_ns > 0)
		count_inside(idle, &gap);
	gt_cover_add_inside(&idle->active, &idle->window, interval);
	if (first || activity->end_ns >= busy_until)
		idle->latest = *activity;
}

void gt_idle_end(struct gt_idle *idle)
{
	keep_largest(idle);
}

void gt_idle_release(struct gt_idle *idle)
{
	gt_array_release(&idle->largest);
}

uint64_t gt_idle_ns(const struct gt_idle *idle)
{
	return idle->idle_ns;
}

uint64_t gt_idle_span_ns(const struct gt_idle *idle)
{
	return idle->active.covered_ns + idle->idle_ns;
}

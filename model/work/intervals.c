/* SPDX-License-Identifier: Apache-2.0 */
#include "model/work/intervals.h"

#include <stdlib.h>

#include "base/search.h"

/* Times may be anywhere in the range of gt_time, so the difference is taken without a sign. */
static uint64_t between(gt_time start_ns, gt_time end_ns)
{
	return end_ns > start_ns ? (uint64_t)end_ns - (uint64_t)start_ns : 0;
}

static int by_start(const void *a, const void *b)
{
	const struct gt_interval *left = a;
	const struct gt_interval *right = b;

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* Tables of a trace are sorted already, and looking costs far less than sorting again. */
static bool sorted(const struct gt_interval *intervals, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (intervals[i].start_ns < intervals[i - 1].start_ns)
			return false;
	return true;
}

size_t gt_intervals_merge(struct gt_interval *intervals, size_t count)
{
	size_t kept = 0;

	if (!sorted(intervals, count))
		qsort(intervals, count, sizeof(*intervals), by_start);
	for (size_t i = 0; i < count; i++) {
		if (intervals[i].end_ns <= intervals[i].start_ns)
			continue;
		if (kept == 0 || intervals[i].start_ns > intervals[kept - 1].end_ns)
			intervals[kept++] = intervals[i];
		else if (intervals[i].end_ns > intervals[kept - 1].end_ns)
			intervals[kept - 1].end_ns = intervals[i].end_ns;
	}
	return kept;
}

uint64_t gt_intervals_union(struct gt_interval *intervals, size_t count)
{
	struct gt_cover cover = {0};

	if (!sorted(intervals, count))
		qsort(intervals, count, sizeof(*intervals), by_start);
	for (size_t i = 0; i < count; i++)
		gt_cover_add(&cover, intervals[i]);
	return cover.covered_ns;
}

uint64_t gt_cover_add(struct gt_cover *cover, struct gt_interval interval)
{
	if (interval.end_ns < interval.start_ns)
		interval.end_ns = interval.start_ns;
	if (!cover->begun)
		*cover = (struct gt_cover){
			.start_ns = interval.start_ns, .end_ns = interval.start_ns, .begun = true};

	const uint64_t gap_ns = between(cover->end_ns, interval.start_ns);
	const gt_time fresh = gap_ns ? interval.start_ns : cover->end_ns;

	cover->covered_ns += between(fresh, interval.end_ns);
	if (interval.end_ns > cover->end_ns)
		cover->end_ns = interval.end_ns;
	return gap_ns;
}

static int by_end(const void *row, const void *wanted)
{
	const gt_time end_ns = ((const struct gt_interval *)row)->end_ns;
	const gt_time time_ns = *(const gt_time *)wanted;

	return (end_ns > time_ns) - (end_ns < time_ns);
}

struct gt_pieces gt_pieces_of(const struct gt_inside *inside, struct gt_interval interval)
{
	return (struct gt_pieces){
		inside,
		interval,
		gt_search(inside->parts, inside->count, sizeof(*inside->parts), &interval.start_ns,
	                  by_end, 1),
	};
}

int gt_pieces_next(struct gt_pieces *pieces, struct gt_interval *piece)
{
	const struct gt_inside *inside = pieces->inside;

	*piece = pieces->interval;
	if (inside->count == 0)
		return pieces->next++ == 0 && piece->end_ns > piece->start_ns;
	while (pieces->next < inside->count &&
	       inside->parts[pieces->next].start_ns < pieces->interval.end_ns) {
		const struct gt_interval *part = &inside->parts[pieces->next++];

		piece->start_ns = part->start_ns > pieces->interval.start_ns
		                          ? part->start_ns
		                          : pieces->interval.start_ns;
		piece->end_ns = part->end_ns < pieces->interval.end_ns ? part->end_ns
		                                                       : pieces->interval.end_ns;
		if (piece->end_ns > piece->start_ns)
			return 1;
	}
	return 0;
}

/* A piece in a later part covers nothing that a later interval has in an earlier one: it starts
 * there. */
void gt_cover_add_inside(struct gt_cover *cover, const struct gt_inside *inside,
                         struct gt_interval interval)
{
	struct gt_pieces pieces = gt_pieces_of(inside, interval);
	struct gt_interval piece;

	while (gt_pieces_next(&pieces, &piece))
		(void)gt_cover_add(cover, piece);
}

uint64_t gt_cover_span(const struct gt_cover *cover)
{
	return between(cover->start_ns, cover->end_ns);
}

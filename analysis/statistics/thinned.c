/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics/thinned.h"

void gt_thinned_init(struct gt_thinned *thinned, struct gt_interval time, uint64_t changes,
                     uint64_t stretches)
{
	*thinned = (struct gt_thinned){.start_ns = time.start_ns};
	if (changes > GT_THINNED_OF_STRETCH * stretches && time.end_ns > time.start_ns)
		thinned->width_ns = (time.end_ns - time.start_ns) / (gt_time)stretches + 1;
}

static void keep(struct gt_thinned *thinned, struct gt_point point)
{
	struct gt_point *last =
		thinned->points.count > 0 ? &thinned->points.rows[thinned->points.count - 1] : NULL;

	if (last && last->time_ns == point.time_ns && last->value <= point.value)
		*last = point;
	else if (!last || last->value != point.value)
		*gt_array_push(&thinned->points) = point;
}

/* Adds the points of the open stretch that stay, in its order. */
static void close_stretch(struct gt_thinned *thinned)
{
	const struct gt_thinned_stretch *open = &thinned->open;
	const bool low_first = open->lowest_at < open->highest_at;

	if (thinned->open_count == 0)
		return;
	keep(thinned, low_first ? open->lowest : open->highest);
	keep(thinned, low_first ? open->highest : open->lowest);
	keep(thinned, open->last);
	thinned->open_count = 0;
}

static void open_stretch(struct gt_thinned *thinned, gt_time time_ns)
{
	const gt_time since_ns = time_ns > thinned->start_ns ? time_ns - thinned->start_ns : 0;

	thinned->until_ns = thinned->start_ns + since_ns / thinned->width_ns * thinned->width_ns +
	                    thinned->width_ns;
}

static void add_to_stretch(struct gt_thinned *thinned, struct gt_point point)
{
	struct gt_thinned_stretch *open = &thinned->open;
	const bool first = thinned->open_count++ == 0;

	if (first || point.value < open->lowest.value) {
		open->lowest = point;
		open->lowest_at = thinned->added;
	}
	if (first || point.value > open->highest.value) {
		open->highest = point;
		open->highest_at = thinned->added;
	}
	open->last = point;
}

void gt_thinned_add(struct gt_thinned *thinned, gt_time time_ns, double value)
{
	const struct gt_point point = {time_ns, value};

	thinned->added++;
	thinned->last_ns = time_ns;
	if (thinned->width_ns == 0) {
		keep(thinned, point);
		return;
	}
	if (thinned->open_count > 0 && time_ns >= thinned->until_ns)
		close_stretch(thinned);
	if (thinned->open_count == 0)
		open_stretch(thinned, time_ns);
	add_to_stretch(thinned, point);
}

void gt_thinned_finish(struct gt_thinned *thinned)
{
	close_stretch(thinned);
}

void gt_thinned_release(struct gt_thinned *thinned)
{
	gt_array_release(&thinned->points);
}

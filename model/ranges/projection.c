/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranges/projection.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/sums.h"
#include "model/ranges/owners.h"
#include "model/whole.h"
#include "model/work/activity.h"
#include "model/work/unmeasured.h"

enum { MOST_AROUND = 1 << 10 }; /* ranges around one call: nothing real nests as deep */

struct walk {
	struct gt_projection *projection;
	const struct gt_ranges *ranges;
	const struct gt_trace *trace;
	const gt_id *groups;
	enum gt_projection_by by;
	struct gt_activity_walk work;    /* all that happened, */
	struct gt_activity next;         /* of which this was not seen yet, */
	bool ended;                      /* unless nothing is left */
	struct gt_unmeasured unmeasured; /* in which no GPU was idle, */
	size_t next_unmeasured;          /* from here on not seen yet */
	struct gt_cover *devices;        /* by row of devices: what was seen */
	uint64_t *idle_ns;               /* by row of devices: so far */
	uint64_t *seen;                  /* by group: number of the work that counted last */
	uint64_t number;                 /* of the work that is looked at, from 1 */
};

static struct gt_projected *add_row(struct gt_projection *projection, gt_id group, gt_id place,
                                    uint64_t key)
{
	const gt_id at = (gt_id)projection->rows.count;
	struct gt_projected *row = gt_array_push(&projection->rows);

	*row = (struct gt_projected){
		.group = group, .place = place, .next = projection->first[group]};
	projection->first[group] = projection->latest[group] = at;
	gt_known_add(&projection->by_place, key, at);
	return row;
}

/* A group mostly goes on where it was. */
static struct gt_projected *row_of(struct gt_projection *projection, gt_id group, gt_id place)
{
	const uint64_t key = (uint64_t)group << 32 | place;
	gt_id number = projection->latest[group];

	if (number != GT_NONE && projection->rows.rows[number].place == place)
		return &projection->rows.rows[number];
	number = gt_known_find(&projection->by_place, key);
	if (number == GT_NONE)
		return add_row(projection, group, place, key);
	projection->latest[group] = number;
	return &projection->rows.rows[number];
}

/*
 * Idle time inside a span is what the GPU was idle between its first and its last start: from that
 * start on something of the span runs to its end.
 */
static void see_span(const struct walk *walk, struct gt_projected *row,
                     const struct gt_activity *activity)
{
	const struct gt_interval interval = {activity->start_ns, activity->end_ns};
	const uint64_t idle_ns =
		activity->device < walk->trace->devices.count ? walk->idle_ns[activity->device] : 0;

	if (!row->span.begun)
		row->idle_before_ns = idle_ns;
	row->idle_ns = idle_ns - row->idle_before_ns;
	gt_cover_add(&row->span, interval);
}

/* Work that runs at once counts once, also on several GPUs. */
static void see_within(const struct walk *walk, gt_id range, const struct gt_activity *activity)
{
	const struct gt_range *row = &walk->trace->ranges.rows[range];
	const gt_time until_ns = gt_whole_until(walk->trace);
	const gt_time end_ns = gt_range_end(row) < until_ns ? gt_range_end(row) : until_ns;
	const struct gt_interval part = {
		activity->start_ns > row->start_ns ? activity->start_ns : row->start_ns,
		activity->end_ns < end_ns ? activity->end_ns : end_ns,
	};

	if (part.start_ns < part.end_ns)
		gt_cover_add(&walk->projection->within[range], part);
}

/* How work came to a range. */
struct way {
	bool captured;
	bool by_time;
};

static void count(const struct walk *walk, struct gt_projected *row,
                  const struct gt_activity *activity, struct way way)
{
	const struct gt_interval interval = {activity->start_ns, activity->end_ns};
	const bool captured = way.captured;

	gt_cover_add(&row->cover, interval);
	if (!way.by_time)
		gt_cover_add(&row->sure, interval);
	if (walk->projection->within)
		see_within(walk, row->group, activity);
	if (!captured)
		see_span(walk, row, activity);
	switch (activity->type) {
	case GT_ACTIVITY_KERNEL:
		row->kernels++;
		row->captured += captured;
		break;
	case GT_ACTIVITY_COPY:
		row->copies++;
		gt_sum_add(&row->copied_bytes, walk->trace->copies.rows[activity->row].size_bytes);
		break;
	case GT_ACTIVITY_FILL:
		row->fills++;
		gt_sum_add(&row->filled_bytes, walk->trace->fills.rows[activity->row].size_bytes);
		break;
	case GT_ACTIVITY_GRAPH:
		break;
	}
}

/* A group that was seen with this work already has it. */
static void see_owner(struct walk *walk, const struct gt_activity *activity, gt_id place,
                      struct gt_owner owner, bool captured)
{
	const struct gt_range *rows = walk->trace->ranges.rows;
	struct way way = {captured, owner.by_time};
	gt_id range = owner.range;

	for (size_t i = 0; range != GT_NONE && i < MOST_AROUND; i++) {
		const gt_id group = walk->groups ? walk->groups[range] : range;
		const gt_id around = gt_ranges_around(walk->ranges, range, owner.at_ns);

		if (!(rows[range].flags & GT_AROUND) && walk->seen[group] != walk->number) {
			walk->seen[group] = walk->number;
			count(walk, row_of(walk->projection, group, place), activity, way);
		}
		if (around != GT_NONE && gt_ranges_by_time(walk->ranges, range, around))
			way.by_time = true;
		range = around;
	}
}

static void see_unmeasured(struct walk *walk, gt_time until_ns)
{
	const struct gt_interval *held;

	while ((held = gt_unmeasured_next(&walk->unmeasured, &walk->next_unmeasured, until_ns)))
		for (size_t i = 0; i < walk->trace->devices.count; i++)
			walk->idle_ns[i] += gt_cover_add(&walk->devices[i], *held);
}

/* All that ran by then, whether it was chosen or not: GPUs were not idle meanwhile. */
static void see_work(struct walk *walk, gt_time until_ns)
{
	for (; !walk->ended && walk->next.start_ns <= until_ns;
	     walk->ended = !gt_activity_next(&walk->work, &walk->next)) {
		const struct gt_activity *work = &walk->next;
		const gt_id device = gt_whole_shown(walk->trace, GT_TABLE_devices, work->device);

		see_unmeasured(walk, work->start_ns);
		if (device < walk->trace->devices.count)
			walk->idle_ns[device] +=
				gt_cover_add(&walk->devices[device],
			                     (struct gt_interval){work->start_ns, work->end_ns});
	}
	see_unmeasured(walk, until_ns);
}

static void see(struct walk *walk, const struct gt_activity *activity)
{
	const bool streams = walk->by == GT_PROJECT_STREAMS;
	const gt_id place = streams ? gt_activity_stream(walk->trace, activity) : activity->device;
	const size_t places = streams ? walk->trace->streams.count : walk->trace->devices.count;
	const struct gt_owners owners = gt_owners_of(walk->trace, activity->type, activity->row);

	see_work(walk, activity->start_ns);
	if (place >= places)
		return;
	walk->number++;
	see_owner(walk, activity, place, owners.launched, false);
	see_owner(walk, activity, place, owners.captured, true);
}

static gt_id *new_rows(size_t count)
{
	gt_id *rows = gt_allocate(count * sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = GT_NONE;
	return rows;
}

void gt_projection_init(struct gt_projection *projection, const struct gt_ranges *ranges,
                        enum gt_projection_by by, const gt_id *groups, size_t group_count)
{
	const struct gt_trace *trace = ranges->trace;
	struct walk walk = {
		.projection = projection,
		.ranges = ranges,
		.trace = trace,
		.groups = groups,
		.by = by,
	};
	struct gt_activity_walk activities;
	struct gt_activity activity;

	*projection =
		(struct gt_projection){.group_count = groups ? group_count : trace->ranges.count};
	projection->first = new_rows(projection->group_count);
	projection->latest = new_rows(projection->group_count);
	if (trace->ranges.count == 0)
		return;
	walk.devices = gt_allocate_zeroed(trace->devices.count + 1, sizeof(*walk.devices));
	walk.idle_ns = gt_allocate_zeroed(trace->devices.count + 1, sizeof(*walk.idle_ns));
	if (!groups)
		projection->within =
			gt_allocate_zeroed(trace->ranges.count + 1, sizeof(*projection->within));
	walk.seen = gt_allocate_zeroed(projection->group_count + 1, sizeof(*walk.seen));
	gt_unmeasured_init(&walk.unmeasured, trace);
	gt_activity_walk_init(&walk.work, gt_whole_of(trace), GT_WORK_ALL);
	walk.ended = !gt_activity_next(&walk.work, &walk.next);
	gt_activity_walk_init(&activities, trace, GT_WORK_BUSY);
	while (gt_activity_next(&activities, &activity))
		see(&walk, &activity);
	gt_unmeasured_release(&walk.unmeasured);
	gt_array_free(walk.devices);
	gt_array_free(walk.idle_ns);
	gt_array_free(walk.seen);
}

/* A row, and what it is put in order by. */
struct projected {
	const struct gt_projected *row;
	gt_time begun_ns; /* on the host: outer ones first, also those of another thread */
	uint32_t depth;
};

static int by_place_and_start(const void *a, const void *b)
{
	const struct projected *left = a;
	const struct projected *right = b;
	const struct gt_cover *one = &left->row->span;
	const struct gt_cover *other = &right->row->span;

	if (left->row->place != right->row->place)
		return left->row->place < right->row->place ? -1 : 1;
	if (one->start_ns != other->start_ns)
		return one->start_ns < other->start_ns ? -1 : 1;
	if (one->end_ns != other->end_ns)
		return one->end_ns > other->end_ns ? -1 : 1;
	if (left->begun_ns != right->begun_ns)
		return left->begun_ns < right->begun_ns ? -1 : 1;
	if (left->depth != right->depth)
		return left->depth < right->depth ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row);
}

gt_id *gt_projection_order(const struct gt_projection *projection, const struct gt_ranges *ranges,
                           size_t *count)
{
	const struct gt_projected *rows = projection->rows.rows;
	gt_array(struct projected) found = {0};
	gt_id *order;

	gt_array_each(const struct gt_projected, row, &projection->rows)
		if (row->span.begun)
			*gt_array_push(&found) = (struct projected){
				row, ranges->trace->ranges.rows[row->group].start_ns,
				ranges->paths.rows[ranges->path_of[row->group]].depth};
	if (found.count > 1)
		qsort(found.rows, found.count, sizeof(*found.rows), by_place_and_start);
	order = gt_allocate(found.count * sizeof(*order));
	for (size_t i = 0; i < found.count; i++)
		order[i] = (gt_id)(found.rows[i].row - rows);
	*count = found.count;
	gt_array_free(found.rows);
	return order;
}

void gt_projection_release(struct gt_projection *projection)
{
	gt_array_release(&projection->rows);
	gt_array_free(projection->first);
	gt_array_free(projection->latest);
	gt_array_free(projection->within);
	gt_known_release(&projection->by_place);
	*projection = (struct gt_projection){0};
}

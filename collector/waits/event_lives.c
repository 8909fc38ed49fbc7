/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/waits/event_lives.h"

#include <stdlib.h>

#include "base/search.h"
#include "model/work/sync.h"

void gt_event_lives_init(struct gt_event_lives *lives, const struct gt_trace *trace)
{
	const size_t count = trace->events.count;

	*lives = (struct gt_event_lives){.first_count = count, .record_capacity = count};
	lives->current = gt_allocate(count * sizeof(*lives->current));
	lives->record = gt_allocate(count * sizeof(*lives->record));
	for (size_t i = 0; i < count; i++) {
		lives->current[i] = (gt_id)i;
		lives->record[i] = GT_NONE;
	}
}

void gt_event_lives_release(struct gt_event_lives *lives)
{
	gt_array_release(&lives->list);
	gt_array_free(lives->current);
	gt_array_free(lives->record);
}

/* The handle is another event's from now on. */
static gt_id begin_life(struct gt_trace *trace, struct gt_event_lives *lives, gt_id first,
                        gt_time time_ns)
{
	const struct gt_event event = trace->events.rows[first];
	const gt_id row = (gt_id)trace->events.count;

	*gt_array_push(&trace->events) = (struct gt_event){
		.handle = event.handle, .process = event.process, .original = GT_NONE};
	if (trace->events.count > lives->record_capacity) {
		lives->record_capacity = 2 * trace->events.count;
		lives->record = gt_array_resize(lives->record, lives->record_capacity,
		                                sizeof(*lives->record));
	}
	lives->record[row] = GT_NONE;
	lives->current[first] = row;
	*gt_array_push(&lives->list) = (struct gt_event_life){first, time_ns, row};
	return row;
}

/* The event that a sync is about, by the row that its handle got first. */
static gt_id event_now(struct gt_trace *trace, struct gt_event_lives *lives, gt_id first,
                       gt_time time_ns)
{
	if (first >= lives->first_count)
		return GT_NONE;
	if (lives->current[first] == GT_NONE)
		return begin_life(trace, lives, first, time_ns);
	return lives->current[first];
}

void gt_event_lives_follow(struct gt_trace *trace, struct gt_event_lives *lives, gt_id row)
{
	struct gt_sync *sync = &trace->syncs.rows[row];
	const gt_id first = sync->event;

	if (first == GT_NONE)
		return;
	sync->event = event_now(trace, lives, first, sync->start_ns);
	if (sync->event == GT_NONE)
		return;

	struct gt_event *event = &trace->events.rows[sync->event];

	switch (sync->kind) {
	case GT_SYNC_EVENT_DESTROY:
		lives->current[first] = GT_NONE;
		event->destroyed_ns = sync->start_ns;
		return;
	case GT_SYNC_EVENT_CREATE:
		event->created_ns = sync->start_ns;
		return;
	case GT_SYNC_EVENT_EXPORT:
		return;
	case GT_SYNC_EVENT_RECORD:
		if (sync->result != 0)
			return;
		event->records++;
		lives->record[sync->event] = row;
		break;
	default:
		sync->record = lives->record[sync->event];
		break;
	}
	sync->generation = event->records;
}

static int by_handle(const void *a, const void *b)
{
	const struct gt_event_life *left = a;
	const struct gt_event_life *right = b;

	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return (left->row > right->row) - (left->row < right->row); /* made in order of time */
}

static int by_handle_and_time(const void *a, const void *b)
{
	const struct gt_event_life *left = a;
	const struct gt_event_life *right = b;

	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return (left->from_ns > right->from_ns) - (left->from_ns < right->from_ns);
}

/* The last life of a handle that began by then; NULL: it was still its first event. */
static const struct gt_event_life *find_life(const struct gt_event_lives *lives, gt_id first,
                                             gt_time time_ns)
{
	const struct gt_event_life wanted = {.first = first, .from_ns = time_ns};
	const size_t began = gt_count_up_to(&lives->list, &wanted, by_handle_and_time);
	const struct gt_event_life *last = began ? &lives->list.rows[began - 1] : NULL;

	return last && last->first == first ? last : NULL;
}

void gt_event_lives_follow_queries(struct gt_trace *trace, struct gt_event_lives *lives)
{
	if (lives->list.count > 0)
		qsort(lives->list.rows, lives->list.count, sizeof(*lives->list.rows), by_handle);
	gt_array_each(struct gt_query, query, &trace->queries) {
		const struct gt_event_life *life =
			query->event == GT_NONE ? NULL
						: find_life(lives, query->event, query->start_ns);

		if (life)
			query->event = life->row;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_WAITS_EVENT_LIVES_H
#define GT_COLLECTOR_WAITS_EVENT_LIVES_H

#include "base/array.h"
#include "model/trace.h"

/*
 * A handle of CUDA stands for one event after the other: which event each wait, record and query is
 * about, and which record each wait is for.
 */

/* From when on a handle, known by the row it got first, stands for which row of events. */
struct gt_event_life {
	gt_id first;
	gt_time from_ns;
	gt_id row;
};

struct gt_event_lives {
	gt_array(struct gt_event_life) list; /* in order of time */
	gt_id *current;                      /* by first row; GT_NONE: destroyed */
	gt_id *record; /* by row of events: the last record of it, row of syncs */
	size_t record_capacity;
	size_t first_count; /* events before this stage made more */
};

void gt_event_lives_init(struct gt_event_lives *lives, const struct gt_trace *trace);
void gt_event_lives_release(struct gt_event_lives *lives);

/* Of a sync, which come in order of time: the event and the record that it is about. */
void gt_event_lives_follow(struct gt_trace *trace, struct gt_event_lives *lives, gt_id row);

/* Queries were counted over a while: the event is the one that the handle stood for at first. */
void gt_event_lives_follow_queries(struct gt_trace *trace, struct gt_event_lives *lives);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/event_use.h"

#include <stdbool.h>
#include <stdint.h>

#include "analysis/figures.h"
#include "analysis/result.h"
#include "base/array.h"
#include "model/known.h"
#include "model/trace.h"
#include "model/work/sync.h"

static const struct gt_heading headings[] = {
	{"process", GT_UNIT_TEXT, "That made them", GT_WORTH_NAME},
	{"events", GT_UNIT_COUNT, "Events that were used or made", GT_WORTH_KEY},
	{"created", GT_UNIT_COUNT, "Those that were made while recording", GT_WORTH_LITTLE},
	{"destroyed", GT_UNIT_COUNT, "Those that were destroyed", GT_WORTH_LITTLE},
	{"single_use", GT_UNIT_COUNT, "Made, recorded once at most, and destroyed", GT_WORTH_KEY},
	{"records", GT_UNIT_COUNT, "Times that one was recorded", GT_WORTH_KEY},
	{"unused_records", GT_UNIT_COUNT,
         "Records that nobody waited for or asked about before the next, or the end", GT_WORTH_KEY},
	{"waits", GT_UNIT_COUNT, "Waits for an event, of the host and of streams"},
	{"queries", GT_UNIT_COUNT, "Times that somebody asked whether an event had come"},
	{"not_ready", GT_UNIT_COUNT, "Queries for which it had not", GT_WORTH_KEY},
};

struct use {
	uint64_t events;
	uint64_t created;
	uint64_t destroyed;
	uint64_t single_use;
	uint64_t records;
	uint64_t unused_records;
	uint64_t waits;
	uint64_t queries;
	uint64_t not_ready;
};

/* Use of one event so far. */
struct course {
	bool is_pending; /* the latest record has not been used yet */
	bool queried;    /* at any time: queries are counted, so nobody knows about which record */
	uint32_t unused;
};

/* The event that a handle of a process stands for. */
static uint64_t key_of(const struct gt_event *event, uint64_t handle)
{
	return handle ^ (uint64_t)event->process << 48;
}

/* An elapsed time is about two events, of which the earlier stands as its handle. */
static void use_earlier(const struct gt_trace *trace, struct gt_known *handles,
                        struct course *courses, const struct gt_sync *sync)
{
	const gt_id earlier =
		gt_known_find(handles, key_of(&trace->events.rows[sync->event], sync->value));

	if (sync->kind == GT_SYNC_EVENT_ELAPSED_TIME && earlier != GT_NONE)
		courses[earlier].is_pending = false;
}

static void see(struct course *course, struct use *use, uint32_t kind)
{
	switch (kind) {
	case GT_SYNC_EVENT_RECORD:
		use->records++;
		course->unused += course->is_pending;
		course->is_pending = true;
		return;
	default:
		use->waits +=
			kind == GT_SYNC_EVENT_SYNCHRONIZE || kind == GT_SYNC_STREAM_WAIT_EVENT;
		course->is_pending = false;
		return;
	}
}

static bool is_of_process(const struct gt_trace *trace, gt_id event)
{
	return event < trace->events.count &&
	       trace->events.rows[event].process < trace->processes.count;
}

static void follow(const struct gt_trace *trace, struct course *courses, struct use *uses)
{
	struct gt_known handles = {0};

	gt_array_each(const struct gt_sync, sync, &trace->syncs) {
		const struct gt_event *event;

		if (!is_of_process(trace, sync->event) || sync->result != 0)
			continue;
		event = &trace->events.rows[sync->event];
		gt_known_set(&handles, key_of(event, event->handle), sync->event);
		use_earlier(trace, &handles, courses, sync);
		see(&courses[sync->event], &uses[event->process], sync->kind);
	}
	gt_known_release(&handles);
}

static void ask(const struct gt_trace *trace, struct course *courses, struct use *uses)
{
	gt_array_each(const struct gt_query, query, &trace->queries) {
		struct use *use;

		if (!is_of_process(trace, query->event))
			continue;
		use = &uses[trace->events.rows[query->event].process];
		courses[query->event].queried = true;
		use->queries += query->count;
		use->not_ready += query->result == GT_RESULT_NOT_READY ? query->count : 0;
	}
}

static void sum_up(const struct gt_trace *trace, const struct course *courses, struct use *uses)
{
	for (gt_id i = 0; i < trace->events.count; i++) {
		const struct gt_event *event = &trace->events.rows[i];
		const struct course *course = &courses[i];
		struct use *use;

		if (!is_of_process(trace, i))
			continue;
		use = &uses[event->process];
		use->events++;
		use->created += event->created_ns != 0;
		use->destroyed += event->destroyed_ns != 0;
		use->single_use +=
			event->created_ns != 0 && event->destroyed_ns != 0 && event->records <= 1;
		if (!course->queried)
			use->unused_records += course->unused + course->is_pending;
	}
}

static void add_use(struct gt_result *result, const struct gt_trace *trace, gt_id process,
                    const struct use *use)
{
	gt_add_process(result, trace, process);
	gt_result_add_count(result, (int64_t)use->events);
	gt_result_add_count(result, (int64_t)use->created);
	gt_result_add_count(result, (int64_t)use->destroyed);
	gt_result_add_count(result, (int64_t)use->single_use);
	gt_result_add_count(result, (int64_t)use->records);
	gt_result_add_count(result, (int64_t)use->unused_records);
	gt_result_add_count(result, (int64_t)use->waits);
	gt_result_add_count(result, (int64_t)use->queries);
	gt_result_add_count(result, (int64_t)use->not_ready);
}

void gt_add_event_use(struct gt_result *result, const struct gt_trace *trace)
{
	struct course *courses = gt_allocate_zeroed(trace->events.count + 1, sizeof(*courses));
	struct use *uses = gt_allocate_zeroed(trace->processes.count + 1, sizeof(*uses));

	follow(trace, courses, uses);
	ask(trace, courses, uses);
	sum_up(trace, courses, uses);
	gt_result_begin(result, "events", headings, GT_COUNT_OF(headings));
	for (gt_id i = 0; i < trace->processes.count; i++)
		if (uses[i].events > 0)
			add_use(result, trace, i, &uses[i]);
	gt_array_free(courses);
	gt_array_free(uses);
}

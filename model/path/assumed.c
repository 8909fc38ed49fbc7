/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/minima.h"
#include "base/search.h"
#include "model/path/edges.h"
#include "model/work/activity.h"

/* Edges that nobody recorded, but the times tell. */

/* ---- threads that hand over to each other ---- */

/*
 * A thread that made no call for long may have waited for another one: for the one that returned
 * from a call last before the thread went on, if that took most of the time and did nothing since.
 * The first call of a thread comes after whatever another one had returned from last: who made it
 * is not recorded.
 */
struct threads {
	struct gt_path *path;
	gt_id *latest; /* by row of threads: its last call; GT_NONE: none yet */
	gt_id *newer;  /* by row of threads: of its process who called next after it; GT_NONE */
	gt_id *older;  /* by row of threads: who called last before it */
	gt_id *newest; /* by row of processes: the thread that called last */
};

enum {
	LONG_NS = 50000, /* a wait for another thread is longer than calls that follow each other */
	MOST_OF_IT = 4,
	LOOKED_AT = 64, /* threads that called last: more are not looked at */
};

/* The call of another thread that returned last before a moment. */
static gt_id last_of_others(const struct threads *threads, gt_id thread, gt_time at_ns)
{
	const struct gt_trace *trace = threads->path->trace;
	const gt_id process = trace->threads.rows[thread].process;
	gt_id latest = GT_NONE;
	gt_time latest_ns = 0;
	gt_id other = process < trace->processes.count ? threads->newest[process] : GT_NONE;

	for (int i = 0; i < LOOKED_AT && other != GT_NONE; i++, other = threads->older[other]) {
		const gt_id call = threads->latest[other];
		const gt_time end_ns = gt_path_time(threads->path, 2 * call + 1);

		if (other == thread || end_ns > at_ns || end_ns <= latest_ns)
			continue;
		latest = call;
		latest_ns = end_ns;
	}
	return latest;
}

static void see_call(struct threads *threads, gt_id call)
{
	const struct gt_api_call *row = &threads->path->trace->api_calls.rows[call];
	const gt_id before = threads->latest[row->thread];
	const gt_time before_ns =
		before == GT_NONE ? 0 : gt_path_time(threads->path, 2 * before + 1);
	gt_id other;
	gt_time other_ns;

	if (before != GT_NONE && row->start_ns - before_ns < LONG_NS)
		return;
	other = last_of_others(threads, row->thread, row->start_ns);
	if (other == GT_NONE)
		return;
	other_ns = gt_path_time(threads->path, 2 * other + 1);
	if (before == GT_NONE || (other_ns > before_ns && (row->start_ns - other_ns) * MOST_OF_IT <=
	                                                          row->start_ns - before_ns))
		gt_path_add_edge(threads->path, other, 2 * call, GT_PATH_THREAD, true);
}

static void take_out(struct threads *threads, gt_id thread, gt_id *newest)
{
	const gt_id newer = threads->newer[thread];
	const gt_id older = threads->older[thread];

	*(newer == GT_NONE ? newest : &threads->older[newer]) = older;
	if (older != GT_NONE)
		threads->newer[older] = newer;
}

static void note_call(struct threads *threads, gt_id call)
{
	const struct gt_trace *trace = threads->path->trace;
	const gt_id thread = trace->api_calls.rows[call].thread;
	const gt_id process = trace->threads.rows[thread].process;
	const bool known = threads->latest[thread] != GT_NONE;
	gt_id *newest;

	threads->latest[thread] = call;
	if (process >= trace->processes.count || threads->newest[process] == thread)
		return;
	newest = &threads->newest[process];
	if (known)
		take_out(threads, thread, newest);
	threads->newer[thread] = GT_NONE;
	threads->older[thread] = *newest;
	if (*newest != GT_NONE)
		threads->newer[*newest] = thread;
	*newest = thread;
}

void gt_path_add_threads(struct gt_path *path)
{
	const struct gt_trace *trace = path->trace;
	const size_t count = trace->threads.count + 1;
	struct threads threads = {
		.path = path,
		.latest = gt_allocate(count * sizeof(*threads.latest)),
		.newer = gt_allocate(count * sizeof(*threads.newer)),
		.older = gt_allocate(count * sizeof(*threads.older)),
		.newest = gt_allocate((trace->processes.count + 1) * sizeof(*threads.newest)),
	};

	memset(threads.latest, 0xff, count * sizeof(*threads.latest));
	memset(threads.newest, 0xff, (trace->processes.count + 1) * sizeof(*threads.newest));
	for (gt_id call = 0; call < trace->api_calls.count; call++) {
		if (trace->api_calls.rows[call].thread >= trace->threads.count ||
		    !gt_path_has(path, call))
			continue;
		see_call(&threads, call);
		note_call(&threads, call);
	}
	gt_array_free(threads.latest);
	gt_array_free(threads.newer);
	gt_array_free(threads.older);
	gt_array_free(threads.newest);
}

/* ---- room on the GPU ---- */

struct running {
	gt_id item;
	gt_time end_ns;
};

/* Work that runs side by side on one GPU: kernels, or copies in one direction. */
struct room {
	struct gt_minima ends;          /* by place; INT64_MAX: it is free */
	gt_array(struct running) items; /* by place: what runs there */
	gt_array(size_t) free;          /* places where nothing does */
	gt_id last;                     /* what ended last of all that is through; GT_NONE */
	gt_time last_ns;
};

enum { ROOMS = 16 }; /* of a device: kernels, then copies by kind */

static size_t room_of(const struct gt_trace *trace, const struct gt_activity *activity)
{
	const gt_count kind =
		activity->type == GT_ACTIVITY_COPY ? trace->copies.rows[activity->row].kind : 0;

	return (size_t)activity->device * ROOMS + (kind < ROOMS ? kind : 0);
}

static void leave(struct room *room, gt_time at_ns)
{
	for (;;) {
		const size_t place = gt_minima_find(&room->ends, at_ns);

		if (place >= room->ends.count)
			return;
		if (room->last == GT_NONE || room->items.rows[place].end_ns > room->last_ns) {
			room->last = room->items.rows[place].item;
			room->last_ns = room->items.rows[place].end_ns;
		}
		*gt_array_push(&room->free) = place;
		gt_minima_set(&room->ends, place, INT64_MAX);
	}
}

static void enter(struct room *room, gt_id item, gt_time end_ns)
{
	const size_t place =
		room->free.count ? room->free.rows[--room->free.count] : room->items.count;

	gt_minima_set(&room->ends, place, end_ns);
	if (place == room->items.count)
		(void)gt_array_push(&room->items);
	room->items.rows[place] = (struct running){item, end_ns};
}

struct pair {
	gt_id from;
	gt_id to;
};

/* Edges between items, until all are found: those that are there must stay in order meanwhile. */
struct found {
	gt_array(struct pair) list;
};

/* Held for long by nothing that is known, and begun as soon as something else had ended. */
static void see_begin(const struct gt_path *path, const struct room *room, gt_id item,
                      struct found *found)
{
	enum { SOON_NS = 10000, LONG_HELD_NS = 20000 };
	const gt_time start_ns = gt_path_time(path, 2 * item);
	struct gt_path_edge edge;
	gt_time free_ns;

	if (room->last == GT_NONE || start_ns - room->last_ns > SOON_NS ||
	    !gt_path_held_by(path, 2 * item, &edge))
		return;
	free_ns = gt_path_time(path, edge.from) + path->typical_ns[edge.kind];
	if (start_ns - free_ns > LONG_HELD_NS && room->last_ns > free_ns)
		*gt_array_push(&found->list) = (struct pair){room->last, item};
}

void gt_path_add_room(struct gt_path *path)
{
	const struct gt_trace *trace = path->trace;
	const size_t count = trace->devices.count * ROOMS;
	struct room *rooms = gt_allocate((count + 1) * sizeof(*rooms));
	struct gt_activity_walk walk;
	struct gt_activity activity;
	struct found found = {0};

	for (size_t i = 0; i < count; i++)
		rooms[i] = (struct room){.last = GT_NONE};
	gt_activity_walk_init(&walk, trace, GT_WORK_FIGURES | GT_WORK_PROFILED);
	while (gt_activity_next(&walk, &activity)) {
		const gt_id item = gt_path_item(
			path,
			(struct gt_step){activity.type == GT_ACTIVITY_KERNEL ? GT_TABLE_kernels
		                         : activity.type == GT_ACTIVITY_COPY ? GT_TABLE_copies
		                                                             : GT_TABLE_fills,
		                         activity.row});
		struct room *room;

		if (activity.device >= trace->devices.count)
			continue;
		room = &rooms[room_of(trace, &activity)];
		leave(room, activity.start_ns);
		see_begin(path, room, item, &found);
		enter(room, item, activity.end_ns);
	}
	gt_array_each(const struct pair, edge, &found.list)
		gt_path_add_edge(path, edge->from, 2 * edge->to, GT_PATH_ROOM, true);
	gt_array_release(&found.list);
	for (size_t i = 0; i < count; i++) {
		gt_minima_release(&rooms[i].ends);
		gt_array_release(&rooms[i].items);
		gt_array_release(&rooms[i].free);
	}
	gt_array_free(rooms);
}

/* ---- waits of which it is not known for what ---- */

struct end {
	gt_time end_ns;
	gt_id item;
};

static int by_end(const void *a, const void *b)
{
	const struct end *left = a;
	const struct end *right = b;

	if (left->end_ns != right->end_ns)
		return left->end_ns < right->end_ns ? -1 : 1;
	return (left->item > right->item) - (left->item < right->item);
}

/* Recordings of before waits were read, and with waits left out. */
static bool is_unlinked(const struct gt_path *path, gt_id call)
{
	enum { LONG_WAIT_NS = 20000 };
	const struct gt_api_call *row = &path->trace->api_calls.rows[call];
	struct gt_path_edge edge;

	return row->kind == GT_API_SYNCHRONIZE && !(row->flags & GT_UNFINISHED) &&
	       row->end_ns - row->start_ns > LONG_WAIT_NS && gt_path_has(path, call) &&
	       gt_path_held_by(path, 2 * call + 1, &edge) && edge.kind == GT_PATH_CALL;
}

/* It ended in the call, and the call returned soon after. */
static void link_wait(struct gt_path *path, const struct end *ends, size_t count, gt_id call)
{
	enum { SOON_NS = 100000 };
	const struct gt_api_call *row = &path->trace->api_calls.rows[call];
	const struct end wanted = {.end_ns = row->end_ns, .item = GT_NONE};
	const gt_id process = gt_path_process(path, call);
	size_t at = gt_search(ends, count, sizeof(*ends), &wanted, by_end, 1);

	for (; at > 0 && ends[at - 1].end_ns > row->start_ns &&
	       row->end_ns - ends[at - 1].end_ns <= SOON_NS;
	     at--) {
		const gt_id asked = gt_path_call_of(path, ends[at - 1].item);

		if (gt_path_process(path, ends[at - 1].item) != process || asked > call)
			continue;
		gt_path_add_edge(path, ends[at - 1].item, 2 * call + 1, GT_PATH_WAIT, true);
		return;
	}
}

static struct end *find_ends(const struct gt_path *path, size_t *count)
{
	const gt_id first = (gt_id)path->trace->api_calls.count;
	const gt_id all = (gt_id)(gt_path_points(path) / 2);
	struct end *ends = gt_allocate((all - first + 1) * sizeof(*ends));

	*count = 0;
	for (gt_id item = first; item < all; item++)
		if (gt_path_has(path, item))
			ends[(*count)++] = (struct end){gt_path_time(path, 2 * item + 1), item};
	if (*count > 1)
		qsort(ends, *count, sizeof(*ends), by_end);
	return ends;
}

void gt_path_add_unlinked(struct gt_path *path)
{
	gt_array(gt_id) calls = {0};

	for (gt_id call = 0; call < path->trace->api_calls.count; call++)
		if (is_unlinked(path, call))
			*gt_array_push(&calls) = call;
	if (calls.count > 0) {
		size_t count;
		struct end *ends = find_ends(path, &count);

		gt_array_each(const gt_id, call, &calls)
			link_wait(path, ends, count, *call);
		gt_array_free(ends);
	}
	gt_array_free(calls.rows);
}

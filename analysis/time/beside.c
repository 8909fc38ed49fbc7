/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/beside.h"

#include <string.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/index.h"
#include "model/trace.h"

/* Things of which several can be active at a time. */
enum measure { KERNELS, COPIES, STREAMS, PROCESSES, MEASURES };

/* Time so far in which there were one or more, and two or more. */
struct clock {
	uint64_t one_ns;
	uint64_t two_ns;
};

struct device {
	gt_time now_ns; /* up to when the clocks go */
	uint32_t running[MEASURES];
	struct clock clocks[MEASURES];
	gt_id active[GT_BESIDE_PAIRS]; /* streams */
	size_t active_count;
};

struct stream {
	uint32_t running;
	gt_time began_ns;
	uint64_t two_ns; /* of its device's streams, when it began */
	size_t group;
};

/* An activity that has begun, and what the clocks of its device were then. */
struct item {
	struct gt_activity activity;
	gt_time end_ns; /* in the time of the window */
	size_t stream;  /* its place in walk.streams */
	struct clock clocks[MEASURES];
};

/* Streams of one process on one GPU. */
struct group_key {
	gt_id process;
	gt_id device;
};

struct pair_key {
	gt_id stream;
	gt_id other;
};

struct walk {
	const struct gt_trace *trace;
	struct gt_inside window;
	uint64_t *before_ns; /* by part of the window: how much of it lies before the part */
	struct gt_beside_totals *totals;
	struct device *devices;
	struct stream *streams; /* by row, then one for each device: what is on no stream of it */
	struct gt_index *groups;
	uint32_t *running_of;       /* by group */
	gt_array(struct item) heap; /* what runs, the first to end on top */
	struct gt_index *pairs;
	gt_array(struct gt_beside_pair) found;
	gt_beside_see *see;
	void *context;
};

/* ---- the heap ---- */

static void swap(struct walk *walk, size_t a, size_t b)
{
	const struct item item = walk->heap.rows[a];

	walk->heap.rows[a] = walk->heap.rows[b];
	walk->heap.rows[b] = item;
}

static gt_time end_of(const struct walk *walk, size_t item)
{
	return walk->heap.rows[item].end_ns;
}

static void push(struct walk *walk, const struct item *item)
{
	size_t at = walk->heap.count;

	*gt_array_push(&walk->heap) = *item;
	for (; at > 0 && end_of(walk, at) < end_of(walk, (at - 1) / 2); at = (at - 1) / 2)
		swap(walk, at, (at - 1) / 2);
}

static struct item pop(struct walk *walk)
{
	const struct item first = walk->heap.rows[0];
	size_t at = 0;

	swap(walk, 0, --walk->heap.count);
	for (;;) {
		size_t least = 2 * at + 1;

		if (least >= walk->heap.count)
			return first;
		if (least + 1 < walk->heap.count && end_of(walk, least + 1) < end_of(walk, least))
			least++;
		if (end_of(walk, at) <= end_of(walk, least))
			return first;
		swap(walk, at, least);
		at = least;
	}
}

/* ---- the clocks ---- */

/*
 * The clocks go while it is the time of the window and stand still else, so whatever they measure
 * is inside of it. How much of the window lies before a moment, in ns.
 */
static gt_time window_time(const struct walk *walk, gt_time at_ns)
{
	size_t low = 0;
	size_t high = walk->window.count;
	const struct gt_interval *part;

	if (high == 0)
		return at_ns;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (walk->window.parts[middle].start_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	part = &walk->window.parts[low - 1];
	return (gt_time)walk->before_ns[low - 1] + (at_ns < part->end_ns ? at_ns : part->end_ns) -
	       part->start_ns;
}

static void add_pair(struct walk *walk, gt_id a, gt_id b, uint64_t elapsed_ns)
{
	const struct pair_key key = {a < b ? a : b, a < b ? b : a};
	const size_t number = gt_index_add(walk->pairs, &key);

	if (number == walk->found.count)
		*gt_array_push(&walk->found) =
			(struct gt_beside_pair){.stream = key.stream, .other = key.other};
	walk->found.rows[number].both_ns += elapsed_ns;
}

static void advance(struct walk *walk, struct device *device, gt_time now_ns)
{
	const uint64_t elapsed_ns =
		now_ns > device->now_ns ? (uint64_t)(now_ns - device->now_ns) : 0;

	if (elapsed_ns == 0)
		return;
	device->now_ns = now_ns;
	for (int i = 0; i < MEASURES; i++) {
		device->clocks[i].one_ns += device->running[i] >= 1 ? elapsed_ns : 0;
		device->clocks[i].two_ns += device->running[i] >= 2 ? elapsed_ns : 0;
	}
	for (size_t a = 1; a < device->active_count; a++)
		for (size_t b = 0; b < a; b++)
			add_pair(walk, device->active[a], device->active[b], elapsed_ns);
}

/* A damaged recording may have a stream on two GPUs: only that of its context counts. */
static size_t stream_of(const struct walk *walk, const struct gt_activity *activity)
{
	const gt_id stream = gt_activity_stream(walk->trace, activity);

	return gt_stream_device(walk->trace, stream) == activity->device
	               ? stream
	               : walk->trace->streams.count + activity->device;
}

static void begin_stream(struct walk *walk, size_t id, struct device *device, struct stream *stream)
{
	device->running[STREAMS]++;
	stream->began_ns = device->now_ns;
	stream->two_ns = device->clocks[STREAMS].two_ns;
	if (id >= walk->trace->streams.count)
		return;
	if (device->active_count < GT_BESIDE_PAIRS)
		device->active[device->active_count++] = (gt_id)id;
	else
		walk->totals->pairs_left_out = true;
}

static void end_stream(struct walk *walk, size_t id, struct device *device, struct stream *stream)
{
	device->running[STREAMS]--;
	if (id >= walk->trace->streams.count)
		return;
	walk->totals->streams[id].active_ns += (uint64_t)(device->now_ns - stream->began_ns);
	walk->totals->streams[id].streams_ns += device->clocks[STREAMS].two_ns - stream->two_ns;
	for (size_t i = 0; i < device->active_count; i++) {
		if (device->active[i] != id)
			continue;
		device->active[i] = device->active[--device->active_count];
		return;
	}
}

static void begin(struct walk *walk, const struct gt_activity *activity, gt_time start_ns)
{
	struct device *device = &walk->devices[activity->device];
	struct gt_device_beside *total = &walk->totals->devices[activity->device];
	struct item item = {.activity = *activity,
	                    .end_ns = window_time(walk, activity->end_ns),
	                    .stream = stream_of(walk, activity)};
	struct stream *stream = &walk->streams[item.stream];

	advance(walk, device, start_ns);
	device->running[KERNELS] += gt_activity_is_work(activity->type);
	device->running[COPIES] += activity->type == GT_ACTIVITY_COPY;
	if (stream->running++ == 0)
		begin_stream(walk, item.stream, device, stream);
	device->running[PROCESSES] += walk->running_of[stream->group]++ == 0;
	if (item.end_ns > start_ns && device->running[STREAMS] > total->most_streams)
		total->most_streams = device->running[STREAMS];
	memcpy(item.clocks, device->clocks, sizeof(item.clocks));
	push(walk, &item);
}

/* Two must run at a time where the item is of that sort itself. */
static uint64_t elapsed(const struct device *device, const struct item *item, enum measure measure,
                        bool own)
{
	const struct clock *now = &device->clocks[measure];
	const struct clock *then = &item->clocks[measure];

	return own ? now->two_ns - then->two_ns : now->one_ns - then->one_ns;
}

static void end_first(struct walk *walk)
{
	const struct item item = pop(walk);
	const enum gt_activity_type type = item.activity.type;
	struct device *device = &walk->devices[item.activity.device];
	struct stream *stream = &walk->streams[item.stream];

	advance(walk, device, item.end_ns);

	const struct gt_beside beside = {
		.kernels_ns = elapsed(device, &item, KERNELS, gt_activity_is_work(type)),
		.copies_ns = elapsed(device, &item, COPIES, type == GT_ACTIVITY_COPY),
		.streams_ns = elapsed(device, &item, STREAMS, true),
		.processes_ns = elapsed(device, &item, PROCESSES, true),
	};

	device->running[KERNELS] -= gt_activity_is_work(type);
	device->running[COPIES] -= type == GT_ACTIVITY_COPY;
	if (--stream->running == 0)
		end_stream(walk, item.stream, device, stream);
	device->running[PROCESSES] -= --walk->running_of[stream->group] == 0;
	if (walk->see)
		walk->see(walk->context, &item.activity, &beside);
}

/* ---- the walk ---- */

/* One for each process on each GPU that it has streams on. */
static void make_groups(struct walk *walk)
{
	const struct gt_trace *trace = walk->trace;

	walk->groups = gt_index_new(sizeof(struct group_key));
	for (size_t i = 0; i < trace->streams.count + trace->devices.count; i++) {
		const bool known = i < trace->streams.count;
		const struct group_key key = {
			.process = known ? gt_trace_stream_process(trace, (gt_id)i) : GT_NONE,
			.device = known ? gt_stream_device(trace, (gt_id)i)
		                        : (gt_id)(i - trace->streams.count),
		};

		walk->streams[i].group = gt_index_add(walk->groups, &key);
	}
	walk->running_of =
		gt_allocate_zeroed(gt_index_count(walk->groups), sizeof(*walk->running_of));
}

static void walk_init(struct walk *walk)
{
	const struct gt_trace *trace = walk->trace;
	const size_t devices = trace->devices.count;

	walk->devices = gt_allocate_zeroed(devices, sizeof(*walk->devices));
	walk->streams = gt_allocate_zeroed(trace->streams.count + devices, sizeof(*walk->streams));
	walk->pairs = gt_index_new(sizeof(struct pair_key));
	walk->before_ns = gt_allocate_zeroed(walk->window.count, sizeof(*walk->before_ns));
	for (size_t i = 1; i < walk->window.count; i++)
		walk->before_ns[i] =
			walk->before_ns[i - 1] + (uint64_t)(walk->window.parts[i - 1].end_ns -
		                                            walk->window.parts[i - 1].start_ns);
	make_groups(walk);
	*walk->totals = (struct gt_beside_totals){
		.streams = gt_allocate_zeroed(trace->streams.count, sizeof(*walk->totals->streams)),
		.devices = gt_allocate_zeroed(devices, sizeof(*walk->totals->devices)),
	};
}

static void walk_release(struct walk *walk)
{
	gt_array_free(walk->devices);
	gt_array_free(walk->streams);
	gt_array_free(walk->running_of);
	gt_array_free(walk->before_ns);
	gt_array_release(&walk->heap);
	gt_index_free(walk->groups);
	gt_index_free(walk->pairs);
}

void gt_beside_walk(struct gt_beside_totals *totals, const struct gt_trace *trace,
                    const struct gt_inside *window, gt_beside_see *see, void *context)
{
	struct walk walk = {.trace = trace, .totals = totals, .see = see, .context = context};
	struct gt_activity_walk activities;
	struct gt_activity activity;

	if (window)
		walk.window = *window;
	walk_init(&walk);
	gt_activity_walk_init(&activities, trace, GT_WORK_BUSY);
	while (gt_activity_next(&activities, &activity)) {
		const gt_time start_ns = window_time(&walk, activity.start_ns);

		if (activity.device >= trace->devices.count)
			continue;
		while (walk.heap.count > 0 && end_of(&walk, 0) <= start_ns)
			end_first(&walk);
		begin(&walk, &activity, start_ns);
	}
	while (walk.heap.count > 0)
		end_first(&walk);
	for (size_t i = 0; i < trace->devices.count; i++)
		totals->devices[i].streams_ns = walk.devices[i].clocks[STREAMS].two_ns;
	totals->pairs = walk.found.rows;
	totals->pair_count = walk.found.count;
	walk_release(&walk);
}

void gt_beside_release(struct gt_beside_totals *totals)
{
	gt_array_free(totals->streams);
	gt_array_free(totals->devices);
	gt_array_free(totals->pairs);
	*totals = (struct gt_beside_totals){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/chrome/places.h"

#include <stdbool.h>
#include <stdio.h>

#include "model/known.h"
#include "model/naming/labels.h"

enum {
	NAME_SIZE = 300,
	OWN_TIDS = 1 << 24, /* no stream has such a number */
	OWN_PIDS = 1 << 23, /* nor a process: see ids.c */
	LANES_MAX = 64,     /* of a stream: nothing real overlaps more */
	GPUS_LAST = 1 << 20 /* viewers sort processes by this; GPUs stand below them */
};

/* Two streams of a GPU may have one number, in two contexts. */
static void number_streams(struct gt_places *places)
{
	const struct gt_trace *trace = places->ids->trace;
	struct gt_known taken = {0};

	for (gt_id i = 0; i < trace->streams.count; i++) {
		const struct gt_stream *stream = &trace->streams.rows[i];
		const gt_id device = stream->context < trace->contexts.count
		                             ? trace->contexts.rows[stream->context].device
		                             : GT_NONE;
		const uint64_t key = (uint64_t)device << 32 | stream->number;

		places->stream_tids[i] = stream->number;
		if (gt_known_find(&taken, key) == GT_NONE)
			gt_known_add(&taken, key, i);
		else
			places->stream_tids[i] = OWN_TIDS + places->tids++;
	}
	gt_known_release(&taken);
}

void gt_places_init(struct gt_places *places, struct gt_chrome_out *out, const struct gt_ids *ids)
{
	const size_t stream_count = ids->trace->streams.count;
	const size_t thread_count = ids->trace->threads.count;

	*places = (struct gt_places){.out = out, .ids = ids};
	places->streams = gt_allocate(stream_count * sizeof(*places->streams));
	places->stream_tids = gt_allocate(stream_count * sizeof(*places->stream_tids));
	places->threads = gt_allocate(thread_count * sizeof(*places->threads));
	for (size_t i = 0; i < stream_count; i++)
		places->streams[i] = (struct gt_chrome_stream){0};
	for (size_t i = 0; i < thread_count; i++)
		places->threads[i] = (struct gt_open_calls){0};
	number_streams(places);
}

void gt_places_release(struct gt_places *places)
{
	for (size_t i = 0; i < places->ids->trace->streams.count; i++)
		gt_array_release(&places->streams[i].lanes);
	for (size_t i = 0; i < places->ids->trace->threads.count; i++)
		gt_array_release(&places->threads[i].ends_ns);
	gt_array_free(places->streams);
	gt_array_free(places->stream_tids);
	gt_array_free(places->threads);
}

static uint32_t pid_of(const struct gt_places *places, gt_id process)
{
	const uint32_t pid = places->ids->pids[process];

	return pid < places->ids->gpu_count ? OWN_PIDS + pid : pid;
}

struct gt_place gt_places_of_thread(const struct gt_places *places, gt_id thread)
{
	const struct gt_thread *row = &places->ids->trace->threads.rows[thread];

	return (struct gt_place){.pid = pid_of(places, row->process), .tid = row->tid};
}

struct gt_place gt_places_of_stream(const struct gt_places *places, gt_id stream, gt_id device)
{
	return (struct gt_place){.pid = places->ids->gpus[device],
	                         .tid = places->stream_tids[stream]};
}

/* One line of metadata. text: its value, NULL when that is the number. */
static void describe(struct gt_places *places, struct gt_place place, const char *what,
                     const char *key, const char *text, int64_t number)
{
	struct gt_chars *chars = &places->out->chars;

	gt_chars_add(chars, ",\n{\"ph\":\"M\",\"name\":\"");
	gt_chars_add(chars, what);
	gt_chars_add(chars, "\",\"ts\":0.000,\"pid\":");
	gt_chars_add_number(chars, place.pid);
	gt_chars_add(chars, ",\"tid\":");
	gt_chars_add_number(chars, place.tid);
	gt_chars_add(chars, ",\"args\":{\"");
	gt_chars_add(chars, key);
	gt_chars_add(chars, "\":");
	if (text)
		gt_chars_add_quoted(chars, text);
	else
		gt_chars_add_number(chars, number);
	gt_chars_add(chars, "}}");
	gt_chrome_pass(places->out);
}

static void describe_process(struct gt_places *places, uint32_t pid, const char *name,
                             const char *label, int64_t sort_index)
{
	const struct gt_place place = {.pid = pid};

	describe(places, place, "process_name", "name", name, 0);
	describe(places, place, "process_labels", "labels", label, 0);
	describe(places, place, "process_sort_index", "sort_index", NULL, sort_index);
}

static void describe_stream(struct gt_places *places, gt_id row, struct gt_place place)
{
	const struct gt_trace *trace = places->ids->trace;
	const struct gt_stream *stream = &trace->streams.rows[row];
	const gt_id process = gt_trace_stream_process(trace, row);
	char label[GT_LABEL_BYTES];
	char name[NAME_SIZE + GT_LABEL_BYTES];

	gt_stream_label(trace, row, label, sizeof(label));
	snprintf(name, sizeof(name), "stream %s", label);
	if (places->ids->several_processes && process < trace->processes.count)
		snprintf(name, sizeof(name), "stream %s (%.200s %u)", label,
		         gt_trace_text(trace, trace->processes.rows[process].name),
		         trace->processes.rows[process].pid);
	describe(places, place, "thread_name", "name", name, 0);
	describe(places, place, "thread_sort_index", "sort_index", NULL, stream->number);
}

static void describe_threads(struct gt_places *places)
{
	const struct gt_trace *trace = places->ids->trace;

	for (gt_id i = 0; i < trace->threads.count; i++) {
		const struct gt_thread *thread = &trace->threads.rows[i];

		if (gt_ids_has_thread(places->ids, i))
			describe(places, gt_places_of_thread(places, i), "thread_name", "name",
			         gt_trace_text(trace, thread->name), 0);
	}
}

void gt_places_describe(struct gt_places *places)
{
	const struct gt_trace *trace = places->ids->trace;

	for (gt_id i = 0; i < trace->processes.count; i++)
		describe_process(places, pid_of(places, i),
		                 gt_trace_text(trace, trace->processes.rows[i].name), "CPU", i);
	for (gt_id i = 0; i < trace->devices.count; i++) {
		const uint32_t gpu = places->ids->gpus[i];
		char name[GT_LABEL_BYTES];
		char label[32];

		snprintf(label, sizeof(label), "GPU %u", gpu);
		gt_device_label(trace, i, name, sizeof(name));
		describe_process(places, gpu, name, label, GPUS_LAST + (int64_t)gpu);
	}
	describe_threads(places);
}

struct gt_place gt_places_of_multiprocessor(struct gt_places *places, gt_id device, gt_count sm)
{
	const struct gt_place place = {.pid = places->ids->gpus[device],
	                               .tid = OWN_TIDS + places->tids++};
	char name[32];

	snprintf(name, sizeof(name), "SM %u", sm);
	describe(places, place, "thread_name", "name", name, 0);
	describe(places, place, "thread_sort_index", "sort_index", NULL, (int64_t)OWN_TIDS + sm);
	return place;
}

/* The lane of the stream that is free, or a new one; none is free and there are many: the last. */
static struct gt_lane_end *find_lane(struct gt_chrome_stream *stream, gt_time start_ns)
{
	gt_array_each(struct gt_lane_end, lane, &stream->lanes)
		if (lane->end_ns <= start_ns)
			return lane;
	if (stream->lanes.count == LANES_MAX)
		return &stream->lanes.rows[LANES_MAX - 1];
	*gt_array_push(&stream->lanes) = (struct gt_lane_end){0};
	return &stream->lanes.rows[stream->lanes.count - 1];
}

struct gt_place gt_places_of_slice(struct gt_places *places, const struct gt_placed *placed)
{
	struct gt_chrome_stream *stream = &places->streams[placed->stream];
	struct gt_lane_end *lane = find_lane(stream, placed->start_ns);
	const bool described = lane->end_ns > 0;
	struct gt_place place = {.pid = places->ids->gpus[placed->device]};

	lane->end_ns = placed->end_ns;
	if (!described)
		lane->tid = stream->lanes.count == 1 ? places->stream_tids[placed->stream]
		                                     : OWN_TIDS + places->tids++;
	place.tid = lane->tid;
	if (!described)
		describe_stream(places, placed->stream, place);
	return place;
}

/* End of a call that begins there, at least a nanosecond later if there is one. */
static gt_time end_after(const struct gt_api_call *call, gt_time start_ns)
{
	if (call->end_ns > start_ns)
		return call->end_ns;
	return start_ns < INT64_MAX ? start_ns + 1 : INT64_MAX;
}

void gt_places_fit(struct gt_places *places, const struct gt_api_call *call, gt_time *start_ns,
                   gt_time *end_ns)
{
	struct gt_open_calls *open = &places->threads[call->thread];
	size_t depth = open->ends_ns.count;

	*start_ns = call->start_ns;
	*end_ns = INT64_MAX;
	while (depth > 0 && open->ends_ns.rows[depth - 1] <= call->start_ns)
		depth--;
	if (depth > 0 && !(call->flags & GT_NESTED)) {
		*start_ns = open->ends_ns.rows[0];
		depth = 0;
	}
	open->ends_ns.count = depth;
	if (call->flags & GT_UNFINISHED && !(call->flags & GT_INTERRUPTED))
		return;
	*end_ns = end_after(call, *start_ns);
	if (depth > 0 && *end_ns > open->ends_ns.rows[depth - 1])
		*end_ns = open->ends_ns.rows[depth - 1];
	*gt_array_push(&open->ends_ns) = *end_ns;
}

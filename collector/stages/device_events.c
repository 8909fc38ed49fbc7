/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/strings.h"
#include "collector/device_events/builder.h"
#include "collector/device_events/kernels.h"
#include "collector/device_events/ticks.h"
#include "collector/device_events/written.h"
#include "collector/stage.h"
#include "model/gpu/device_clocks.h"
#include "model/known.h"

/*
 * Events that kernels wrote become rows: begins and ends become ranges, names texts, and times come
 * from the clock of the multiprocessor by way of %globaltimer to the common timeline. Nothing is
 * moved into the kernel that it is of.
 */

/* ---- names ---- */

static void add_names(struct gt_known *known, const struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_device_name, name, &capture->raw_device_names)
		if (gt_known_find(known, name->number) == GT_NONE)
			gt_known_add(known, name->number, gt_capture_string(capture, name->name));
}

/* An id is made of the text alone: what one process told holds for all. */
static gt_string name_of(struct gt_event_builder *builder, uint32_t number)
{
	gt_string name = number ? gt_known_find(&builder->names, number) : 0;

	if (name != GT_NONE)
		return name;
	name = gt_known_find(&builder->told, number);
	if (name == GT_NONE) {
		char text[16];

		snprintf(text, sizeof(text), "#%u", number);
		name = gt_strings_add(builder->trace->strings, text);
	}
	gt_known_add(&builder->names, number, name);
	return name;
}

/* ---- events ---- */

static struct gt_built_event *add_event(struct gt_event_builder *builder, gt_time time_ns,
                                        uint32_t tag)
{
	const struct gt_event_thread *thread = &builder->thread;

	*gt_array_push(&builder->events) = (struct gt_built_event){
		.start_ns = time_ns,
		.end_ns = time_ns,
		.place = (uint32_t)(builder->places.count - 1),
		.parent = thread->open_count ? thread->open[thread->open_count - 1].event : GT_NONE,
		.name = name_of(builder, GPUTRACE_DEVICE_TAG_NAME(tag)),
		.sequence = thread->sequence,
	};
	return &builder->events.rows[builder->events.count - 1];
}

/* Takes a range out of the open ones, with an end or without. */
static struct gt_built_event *close_range(struct gt_event_builder *builder, uint32_t which)
{
	struct gt_event_thread *thread = &builder->thread;
	struct gt_built_event *event = &builder->events.rows[thread->open[which].event];

	thread->open_count--;
	memmove(&thread->open[which], &thread->open[which + 1],
	        (thread->open_count - which) * sizeof(thread->open[0]));
	return event;
}

/* Ranges that are open when events are lost, or when there are no more, have no known end. */
static void leave_open(struct gt_event_builder *builder)
{
	while (builder->thread.open_count > 0)
		close_range(builder, builder->thread.open_count - 1)->flags |= GT_DEVICE_NO_END;
}

static void begin_range(struct gt_event_builder *builder, gt_time time_ns, uint32_t tag)
{
	struct gt_event_thread *thread = &builder->thread;

	add_event(builder, time_ns, tag)->kind = GT_DEVICE_RANGE;
	if (thread->open_count == GT_MOST_OPEN_EVENTS)
		close_range(builder, 0)->flags |= GT_DEVICE_NO_END;
	thread->open[thread->open_count++] = (struct gt_open_event){
		(gt_id)(builder->events.count - 1), GPUTRACE_DEVICE_TAG_NAME(tag)};
}

/* Damage alone makes a range longer than all that can be added up. */
static void end_event(struct gt_event_builder *builder, struct gt_built_event *event,
                      gt_time time_ns)
{
	const uint64_t length_ns = (uint64_t)(time_ns - event->start_ns);

	if (time_ns < event->start_ns || length_ns > builder->work_left_ns) {
		event->flags |= GT_DEVICE_NO_END;
		return;
	}
	builder->work_left_ns -= length_ns;
	event->end_ns = time_ns;
}

static void end_range(struct gt_event_builder *builder, gt_time time_ns, uint32_t tag)
{
	const struct gt_event_thread *thread = &builder->thread;
	uint32_t which = thread->open_count;

	while (which > 0 && thread->open[which - 1].name != GPUTRACE_DEVICE_TAG_NAME(tag))
		which--;
	if (which > 0)
		end_event(builder, close_range(builder, which - 1), time_ns);
	else
		add_event(builder, time_ns, tag)->flags = GT_DEVICE_NO_BEGIN;
}

static void add_value(struct gt_event_builder *builder, gt_time time_ns,
                      const struct gt_written_event *written, enum gt_device_kind kind)
{
	struct gt_built_event *event = add_event(builder, time_ns, written->tag);

	event->kind = (uint8_t)kind;
	event->value = kind == GT_DEVICE_MARK ? 0 : written->value;
}

static void follow(struct gt_event_builder *builder, const struct gt_written_event *written,
                   gt_time time_ns)
{
	switch (GPUTRACE_DEVICE_TAG_KIND(written->tag)) {
	case GPUTRACE_DEVICE_BEGIN:
	case GPUTRACE_DEVICE_BEGIN | GPUTRACE_DEVICE_TIMED:
		begin_range(builder, time_ns, written->tag);
		break;
	case GPUTRACE_DEVICE_END:
	case GPUTRACE_DEVICE_END | GPUTRACE_DEVICE_TIMED:
		end_range(builder, time_ns, written->tag);
		break;
	case GPUTRACE_DEVICE_MARK:
	case GPUTRACE_DEVICE_MARK | GPUTRACE_DEVICE_TIMED:
		add_value(builder, time_ns, written, GT_DEVICE_MARK);
		break;
	case GPUTRACE_DEVICE_INT:
		add_value(builder, time_ns, written, GT_DEVICE_INT);
		break;
	case GPUTRACE_DEVICE_REAL:
		add_value(builder, time_ns, written, GT_DEVICE_REAL);
		break;
	default: /* damage */
		builder->impossible++;
		break;
	}
}

static void widen(struct gt_device_launch *launch, gt_time time_ns)
{
	if (launch->start_ns == 0 || time_ns < launch->start_ns)
		launch->start_ns = time_ns;
	if (time_ns > launch->end_ns)
		launch->end_ns = time_ns;
}

static void walk_chunk(struct gt_event_builder *builder, const struct gt_written_chunk *chunk)
{
	struct gt_written_reader reader =
		gt_written_read(&builder->written, chunk, gt_event_cycles(builder->gpu));
	struct gt_written_step step;

	*gt_array_push(&builder->places) = (struct gt_built_place){
		.ticket = chunk->ticket,
		.launch = (uint32_t)(builder->launches.count - 1),
		.sm = chunk->sm,
		.block = chunk->block,
		.thread = chunk->thread,
	};
	while (gt_written_next(&reader, &step)) {
		gt_time time_ns;

		if (GPUTRACE_DEVICE_TAG_KIND(step.event->tag) == GPUTRACE_DEVICE_TIME ||
		    builder->events.count >= GT_NONE - 1)
			continue;
		time_ns = gt_event_time(builder, step.clock);
		if (time_ns) {
			widen(&builder->launches.rows[builder->launches.count - 1], time_ns);
			follow(builder, step.event, time_ns);
		}
		builder->thread.sequence++;
	}
}

/* Chunks of one thread follow each other; what was lost between two may be begins and ends. */
static void walk_launch(struct gt_event_builder *builder, const struct gt_written_launch *launch)
{
	struct gt_event_thread *thread = &builder->thread;

	thread->chunk = NULL;
	for (uint32_t i = launch->first; i < launch->first + launch->count; i++) {
		const struct gt_written_chunk *chunk = &builder->written.chunks.rows[i];
		const struct gt_written_chunk *before = thread->chunk;
		const bool same = before && gt_written_same(before, chunk);

		if (!same || chunk->lost || chunk->part != before->part + 1)
			leave_open(builder);
		if (!same)
			thread->sequence = 0;
		thread->sequence += (uint32_t)chunk->lost;
		thread->chunk = chunk;
		walk_chunk(builder, chunk);
	}
	leave_open(builder);
}

/* ---- launches ---- */

static uint64_t count_events(const struct gt_event_builder *builder,
                             const struct gt_written_launch *launch)
{
	uint64_t count = 0;

	for (uint32_t i = launch->first; i < launch->first + launch->count; i++) {
		const struct gt_written_chunk *chunk = &builder->written.chunks.rows[i];
		struct gt_written_reader reader = gt_written_read(&builder->written, chunk, 0);
		struct gt_written_step step;

		while (gt_written_next(&reader, &step))
			count += GPUTRACE_DEVICE_TAG_KIND(step.event->tag) != GPUTRACE_DEVICE_TIME;
	}
	return count;
}

/* The bound that times of a launch have, where they begin and where they end. */
static gt_wide bound_of(const struct gt_event_builder *builder,
                        const struct gt_device_launch *launch)
{
	gt_wide bound_ns = 0;

	for (int i = 0; i < 2 && launch->start_ns; i++) {
		const struct gt_device_clock *row = gt_device_clock_at(
			&builder->gpu->clocks, i ? launch->end_ns : launch->start_ns);
		const gt_wide here_ns =
			row->bound_ns +
			(gt_wide)fmin(builder->doubts_ns[row - builder->trace->device_clocks.rows],
		                      (double)GT_FAR_EVENT_NS);

		bound_ns = here_ns > bound_ns ? here_ns : bound_ns;
	}
	return bound_ns;
}

static void add_launch(struct gt_event_builder *builder, const struct gt_written_launch *written)
{
	const gt_id device = gt_event_device(builder, written->context);
	const uint64_t events = count_events(builder, written);
	struct gt_device_launch *launch;

	*gt_array_push(&builder->writers) =
		(struct gt_built_writer){builder->capture->process, device, events};
	*gt_array_push(&builder->launches) = (struct gt_device_launch){
		.grid_id = written->grid_id,
		.context = gt_event_context(builder, written->context),
		.blocks = written->blocks,
		.threads = written->threads,
		.kernel = GT_NONE,
	};
	builder->gpu = device == GT_NONE ? NULL : &builder->gpus[device];
	if (!builder->gpu || builder->gpu->clocks.count == 0) {
		builder->uncalibrated += events;
		return;
	}
	gt_event_fit_ticks(builder, written);
	walk_launch(builder, written);
	launch = &builder->launches.rows[builder->launches.count - 1];
	launch->bound_ns = bound_of(builder, launch);
}

static void remark(const struct gt_event_builder *builder)
{
	const gt_id process = builder->capture->process;

	if (builder->uncalibrated)
		gt_collection_note(builder->collection, process, "device_events",
		                   "events that kernels wrote and that are left out, since no "
		                   "kernel of gputrace's own says where the GPU's clock is on "
		                   "the common timeline: %llu",
		                   (unsigned long long)builder->uncalibrated);
	if (builder->impossible)
		gt_collection_note(builder->collection, process, "device_events",
		                   "events that kernels wrote and that cannot be right, by their "
		                   "time or kind: %llu; they were left out",
		                   (unsigned long long)builder->impossible);
	if (builder->written.broken)
		gt_trace_add_ledger(builder->trace, process, "device_events_broken",
		                    builder->written.broken);
	if (builder->written.orphans)
		gt_collection_note(builder->collection, process, "device_events",
		                   "events that kernels wrote and whose chunk is not there, or "
		                   "makes no sense: %zu; they were left out",
		                   builder->written.orphans);
}

static bool wrote_something(const struct gt_capture *capture)
{
	return capture->raw_device_chunks.count || capture->raw_device_events.count ||
	       capture->raw_device_rings.count;
}

static void add_capture(struct gt_event_builder *builder)
{
	struct gt_capture *capture = builder->capture;

	gt_written_init(&builder->written, capture);
	gt_array_release(&capture->raw_device_chunks);
	gt_array_release(&capture->raw_device_events);
	builder->uncalibrated = builder->impossible = 0;
	builder->first_launch = builder->launches.count;
	add_names(&builder->names, capture);
	gt_event_find_gpus(builder);
	gt_array_each(const struct gt_written_launch, launch, &builder->written.launches)
		add_launch(builder, launch);
	if (builder->launches.count > builder->first_launch)
		gt_device_find_kernels(builder->trace,
		                       builder->launches.rows + builder->first_launch,
		                       builder->launches.count - builder->first_launch);
	gt_event_add_rings(builder);
	remark(builder);
	gt_array_free(builder->gpus);
	gt_known_release(&builder->names);
	gt_written_release(&builder->written);
}

static void build(struct gt_collection *collection)
{
	struct gt_event_builder builder = {
		.collection = collection,
		.trace = collection->trace,
		.work_left_ns = GT_MOST_WORK_NS,
	};
	const size_t clocks = collection->trace->device_clocks.count;

	builder.doubts_ns = gt_allocate(clocks * sizeof(*builder.doubts_ns));
	for (size_t i = 0; i < clocks; i++)
		builder.doubts_ns[i] = 0;
	gt_array_each(const struct gt_capture, teller, &collection->captures)
		add_names(&builder.told, teller);
	gt_array_each(struct gt_capture, capture, &collection->captures) {
		builder.capture = capture;
		if (wrote_something(capture))
			add_capture(&builder);
	}
	gt_event_add_rows(&builder);
	gt_event_widen_bounds(&builder);
	gt_array_release(&builder.events);
	gt_array_release(&builder.places);
	gt_array_release(&builder.launches);
	gt_array_release(&builder.writers);
	gt_array_free(builder.doubts_ns);
	gt_ticks_release(&builder.ticks);
	gt_known_release(&builder.told);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	bool any = false;

	(void)err;
	gt_array_each(const struct gt_capture, capture, &collection->captures)
		any |= wrote_something(capture);
	if (any)
		build(collection);
	return 0;
}

const struct gt_stage gt_stage_device_events = {.name = "device_events", .run = run};

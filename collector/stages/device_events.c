/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "collector/device_events/kernels.h"
#include "collector/device_events/ticks.h"
#include "collector/device_events/written.h"
#include "collector/stage.h"
#include "format/arena/device_ring.h"
#include "model/gpu/device_clocks.h"
#include "model/known.h"

/*
 * Events that kernels wrote become rows: begins and ends become ranges, names texts, and times come
 * from the clock of the multiprocessor by way of %globaltimer to the common timeline. Nothing is
 * moved into the kernel that it is of.
 */

/* Ranges of one writer that are open and may still be ended: more are left without an end. */
enum { MOST_OPEN = 64 };

/* By so much a clock may be off its peak, which is all that is known of it. */
#define GUESSED_DOUBT 0.3

/* By so much a GPU's clock changes with its load. */
#define USUAL_DOUBT 0.1

/* So many steps of %globaltimer tell a rate. */
#define STEPS_ENOUGH 64

/* Within so much time the half clock cannot have gone round: of one that makes 8 GHz. */
#define UNTURNED_NS 500000000

/*
 * Cycles between two pairs of a writer's that its multiprocessor's clock is told by. Nearer ones
 * say nothing more, as %globaltimer goes on in steps.
 */
#define PAIRS_APART 2000

/* No event is so far from the readings that its time is told by: 100 days. */
#define FAR_NS ((gt_time)100 * 86400 * 1000000000)

/* An event on its way to its row, in the order of writers. */
struct event {
	gt_time start_ns;
	gt_time end_ns;
	uint64_t value;
	uint32_t place;
	gt_id parent; /* among these; GT_NONE */
	gt_string name;
	uint32_t sequence;
	uint8_t kind;
	uint8_t flags;
};

/* Where a chunk was written. */
struct place {
	uint64_t ticket;
	uint32_t launch;
	uint32_t sm;
	uint32_t block;
	uint32_t thread;
};

/* Who wrote a launch's events, besides what its kernel is told by. */
struct writer {
	gt_id process;
	gt_id device;
	uint64_t events; /* that were copied out, without those that have nothing but a time */
};

/* A GPU's clocks, as a process read them. */
struct gpu {
	struct gt_device_clocks clocks;
	struct gt_rate usual;
	uint32_t step_ns;
};

struct open_range {
	gt_id event;
	uint32_t name; /* its id */
};

/* A thread of a kernel on the way through what it wrote. */
struct thread {
	const struct gt_written_chunk *chunk; /* at hand, NULL: before its first */
	uint32_t sequence;
	uint32_t open_count;
	struct open_range open[MOST_OPEN]; /* the innermost last */
};

struct builder {
	struct gt_collection *collection;
	struct gt_trace *trace;
	gt_array(struct event) events;
	gt_array(struct place) places;
	gt_array(struct gt_device_launch) launches;
	gt_array(struct writer) writers; /* of the launches */
	double *doubts_ns;               /* by row of device_clocks */
	struct gt_ticks ticks;
	struct gt_known told; /* names that any process told, by id: the text */
	uint64_t work_left_ns;
	/* State of the capture at hand. */
	struct gt_capture *capture;
	struct gt_written written;
	struct gt_known names; /* by id: the text */
	struct gpu *gpus;      /* by row of devices */
	size_t clocks_at;      /* its first row of device_clocks, if it has one */
	size_t first_launch;
	uint64_t uncalibrated;
	uint64_t impossible;
	/* State of the launch at hand. */
	const struct gpu *gpu;
	struct thread thread;
};

/* ---- names ---- */

static void add_names(struct gt_known *known, const struct gt_capture *capture)
{
	gt_array_each(const struct gt_record_device_name, name, &capture->raw_device_names)
		if (gt_known_find(known, name->number) == GT_NONE)
			gt_known_add(known, name->number, gt_capture_string(capture, name->name));
}

/* An id is made of the text alone: what one process told holds for all. */
static gt_string name_of(struct builder *builder, uint32_t number)
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

/* ---- clocks ---- */

static gt_id context_of(const struct builder *builder, uint32_t context)
{
	return gt_known_find(&builder->capture->contexts, context);
}

static gt_id device_of(const struct builder *builder, uint32_t context)
{
	const gt_id row = context_of(builder, context);

	return row == GT_NONE ? GT_NONE : builder->trace->contexts.rows[row].device;
}

/* Rows of device_clocks come in the order of captures, and so do processes. */
static void find_clocks(struct builder *builder)
{
	const struct gt_trace *trace = builder->trace;
	size_t at = builder->clocks_at;

	while (at < trace->device_clocks.count &&
	       trace->device_clocks.rows[at].process < builder->capture->process)
		at++;
	for (; at < trace->device_clocks.count; at++) {
		const struct gt_device_clock *row = &trace->device_clocks.rows[at];
		struct gpu *gpu;

		if (row->process != builder->capture->process)
			break;
		gpu = &builder->gpus[row->device];
		if (gpu->clocks.count++ == 0)
			gpu->clocks.rows = row;
		if (row->step_ns > gpu->step_ns)
			gpu->step_ns = row->step_ns;
	}
	builder->clocks_at = at;
}

static bool tells_rate(const struct gpu *gpu, uint64_t baseline_ns)
{
	return baseline_ns >= (uint64_t)STEPS_ENOUGH * gpu->step_ns && baseline_ns <= UNTURNED_NS;
}

/* The rate of a clock that is told from the longest time that one chunk covers. */
static void look_at_rate(struct gpu *gpu, const struct gt_written_chunk *chunk,
                         const struct gt_written_step *step)
{
	const uint64_t baseline_ns = step->globaltimer - chunk->globaltimer;
	const double cycles = (double)(step->clock - chunk->clock);

	if (step->globaltimer <= chunk->globaltimer || !tells_rate(gpu, baseline_ns) ||
	    baseline_ns <= gpu->usual.baseline_ns || !(cycles > 0))
		return;
	gpu->usual = (struct gt_rate){(double)baseline_ns / cycles, USUAL_DOUBT, baseline_ns};
}

static void find_rates(struct builder *builder)
{
	gt_array_each(const struct gt_written_chunk, chunk, &builder->written.chunks) {
		const gt_id device = device_of(builder, chunk->context);
		struct gt_written_reader reader = gt_written_read(&builder->written, chunk, 0);
		struct gt_written_step step;

		while (device != GT_NONE && gt_written_next(&reader, &step))
			if (step.globaltimer)
				look_at_rate(&builder->gpus[device], chunk, &step);
	}
}

/* From one chunk of a multiprocessor to the next: its clock may have stood still in between, so
 * that the quickest holds. */
static void look_between(struct gpu *gpu, const struct gt_written_chunk *before,
                         const struct gt_written_chunk *chunk)
{
	const uint64_t baseline_ns = chunk->globaltimer - before->globaltimer;
	double ns_per_cycle;

	if (chunk->globaltimer <= before->globaltimer || chunk->clock <= before->clock ||
	    !tells_rate(gpu, baseline_ns))
		return;
	ns_per_cycle = (double)baseline_ns / (double)(chunk->clock - before->clock);
	if (gpu->usual.baseline_ns == 0 || ns_per_cycle < gpu->usual.ns_per_cycle)
		gpu->usual = (struct gt_rate){ns_per_cycle, USUAL_DOUBT, baseline_ns};
}

/* Where kernels are so short that no chunk tells how fast its clock is. */
static void find_rates_between(struct builder *builder)
{
	struct gt_known last = {0}; /* by GPU and multiprocessor: its last chunk */
	bool *wanted = gt_allocate(builder->trace->devices.count * sizeof(*wanted));

	for (size_t i = 0; i < builder->trace->devices.count; i++)
		wanted[i] = builder->gpus[i].usual.baseline_ns == 0;
	for (size_t i = 0; i < builder->written.chunks.count; i++) {
		const struct gt_written_chunk *chunk = &builder->written.chunks.rows[i];
		const gt_id device = device_of(builder, chunk->context);
		const uint64_t key = (uint64_t)device << 32 | chunk->sm;
		const gt_id before = gt_known_find(&last, key);

		if (device == GT_NONE || !wanted[device])
			continue;
		if (before != GT_NONE)
			look_between(&builder->gpus[device], &builder->written.chunks.rows[before],
			             chunk);
		gt_known_set(&last, key, (gt_id)i);
	}
	gt_known_release(&last);
	gt_array_free(wanted);
}

static void find_gpus(struct builder *builder)
{
	const struct gt_trace *trace = builder->trace;

	builder->gpus = gt_allocate(trace->devices.count * sizeof(*builder->gpus));
	for (size_t i = 0; i < trace->devices.count; i++) {
		const uint32_t khz = trace->devices.rows[i].sm_clock_khz;

		builder->gpus[i] = (struct gpu){
			.usual = {khz ? 1e6 / khz : 1, khz ? GUESSED_DOUBT : 1,
		                  0} /* 1 GHz: nobody knows */,
		};
	}
	find_clocks(builder);
	for (size_t i = 0; i < trace->devices.count; i++)
		if (builder->gpus[i].step_ns == 0)
			builder->gpus[i].step_ns = GT_COARSEST_STEP_NS;
	find_rates(builder);
	find_rates_between(builder);
}

/* A clock that counts more than 100 cycles in a nanosecond, or less than one in 100, is none. */
static double cycles_of(const struct gpu *gpu)
{
	return 1 / fmin(fmax(gpu->usual.ns_per_cycle, 0.01), 100);
}

static void fit_ticks(struct builder *builder, const struct gt_written_launch *launch)
{
	struct gt_ticks *ticks = &builder->ticks;

	gt_ticks_clear(ticks);
	for (uint32_t i = launch->first; i < launch->first + launch->count; i++) {
		const struct gt_written_chunk *chunk = &builder->written.chunks.rows[i];
		struct gt_written_reader reader =
			gt_written_read(&builder->written, chunk, cycles_of(builder->gpu));
		struct gt_written_step step;
		uint64_t last_clock = chunk->clock;

		gt_ticks_add(ticks, chunk->sm, chunk->clock, chunk->globaltimer);
		while (gt_written_next(&reader, &step)) {
			if (!step.globaltimer || step.clock - last_clock < PAIRS_APART)
				continue;
			gt_ticks_add(ticks, chunk->sm, step.clock, step.globaltimer);
			last_clock = step.clock;
		}
	}
	gt_ticks_fit(ticks, &builder->gpu->usual, builder->gpu->step_ns);
}

/* The doubt of the way from the multiprocessor's clock adds to the bound of that time. */
static void note_doubt(const struct builder *builder, gt_time time_ns, double doubt_ns)
{
	const struct gt_device_clock *row = gt_device_clock_at(&builder->gpu->clocks, time_ns);
	double *known_ns = &builder->doubts_ns[row - builder->trace->device_clocks.rows];

	*known_ns = fmax(*known_ns, doubt_ns);
}

/* When it was, on the common timeline; 0: that cannot be. */
static gt_time time_of(struct builder *builder, uint64_t clock)
{
	const struct gt_device_clocks *clocks = &builder->gpu->clocks;
	double doubt_ns;
	const uint64_t timer =
		gt_ticks_timer(&builder->ticks, builder->thread.chunk->sm, clock, &doubt_ns);
	const gt_time time_ns = gt_device_time(clocks, timer);

	if (time_ns <= 0 || time_ns < clocks->rows[0].start_ns - FAR_NS ||
	    time_ns > clocks->rows[clocks->count - 1].end_ns + FAR_NS) {
		builder->impossible++;
		return 0;
	}
	if (doubt_ns >= 0.5)
		note_doubt(builder, time_ns, doubt_ns);
	return time_ns;
}

/* ---- events ---- */

static struct event *add_event(struct builder *builder, gt_time time_ns, uint32_t tag)
{
	const struct thread *thread = &builder->thread;

	*gt_array_push(&builder->events) = (struct event){
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
static struct event *close_range(struct builder *builder, uint32_t which)
{
	struct thread *thread = &builder->thread;
	struct event *event = &builder->events.rows[thread->open[which].event];

	thread->open_count--;
	memmove(&thread->open[which], &thread->open[which + 1],
	        (thread->open_count - which) * sizeof(thread->open[0]));
	return event;
}

/* Ranges that are open when events are lost, or when there are no more, have no known end. */
static void leave_open(struct builder *builder)
{
	while (builder->thread.open_count > 0)
		close_range(builder, builder->thread.open_count - 1)->flags |= GT_DEVICE_NO_END;
}

static void begin_range(struct builder *builder, gt_time time_ns, uint32_t tag)
{
	struct thread *thread = &builder->thread;

	add_event(builder, time_ns, tag)->kind = GT_DEVICE_RANGE;
	if (thread->open_count == MOST_OPEN)
		close_range(builder, 0)->flags |= GT_DEVICE_NO_END;
	thread->open[thread->open_count++] = (struct open_range){(gt_id)(builder->events.count - 1),
	                                                         GPUTRACE_DEVICE_TAG_NAME(tag)};
}

/* Damage alone makes a range longer than all that can be added up. */
static void end_event(struct builder *builder, struct event *event, gt_time time_ns)
{
	const uint64_t length_ns = (uint64_t)(time_ns - event->start_ns);

	if (time_ns < event->start_ns || length_ns > builder->work_left_ns) {
		event->flags |= GT_DEVICE_NO_END;
		return;
	}
	builder->work_left_ns -= length_ns;
	event->end_ns = time_ns;
}

static void end_range(struct builder *builder, gt_time time_ns, uint32_t tag)
{
	const struct thread *thread = &builder->thread;
	uint32_t which = thread->open_count;

	while (which > 0 && thread->open[which - 1].name != GPUTRACE_DEVICE_TAG_NAME(tag))
		which--;
	if (which > 0)
		end_event(builder, close_range(builder, which - 1), time_ns);
	else
		add_event(builder, time_ns, tag)->flags = GT_DEVICE_NO_BEGIN;
}

static void add_value(struct builder *builder, gt_time time_ns,
                      const struct gt_written_event *written, enum gt_device_kind kind)
{
	struct event *event = add_event(builder, time_ns, written->tag);

	event->kind = (uint8_t)kind;
	event->value = kind == GT_DEVICE_MARK ? 0 : written->value;
}

static void follow(struct builder *builder, const struct gt_written_event *written, gt_time time_ns)
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

static void walk_chunk(struct builder *builder, const struct gt_written_chunk *chunk)
{
	struct gt_written_reader reader =
		gt_written_read(&builder->written, chunk, cycles_of(builder->gpu));
	struct gt_written_step step;

	*gt_array_push(&builder->places) = (struct place){
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
		time_ns = time_of(builder, step.clock);
		if (time_ns) {
			widen(&builder->launches.rows[builder->launches.count - 1], time_ns);
			follow(builder, step.event, time_ns);
		}
		builder->thread.sequence++;
	}
}

/* Chunks of one thread follow each other; what was lost between two may be begins and ends. */
static void walk_launch(struct builder *builder, const struct gt_written_launch *launch)
{
	struct thread *thread = &builder->thread;

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

static uint64_t count_events(const struct builder *builder, const struct gt_written_launch *launch)
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
static gt_wide bound_of(const struct builder *builder, const struct gt_device_launch *launch)
{
	gt_wide bound_ns = 0;

	for (int i = 0; i < 2 && launch->start_ns; i++) {
		const struct gt_device_clock *row = gt_device_clock_at(
			&builder->gpu->clocks, i ? launch->end_ns : launch->start_ns);
		const gt_wide here_ns =
			row->bound_ns +
			(gt_wide)fmin(builder->doubts_ns[row - builder->trace->device_clocks.rows],
		                      (double)FAR_NS);

		bound_ns = here_ns > bound_ns ? here_ns : bound_ns;
	}
	return bound_ns;
}

static void add_launch(struct builder *builder, const struct gt_written_launch *written)
{
	const gt_id device = device_of(builder, written->context);
	const uint64_t events = count_events(builder, written);
	struct gt_device_launch *launch;

	*gt_array_push(&builder->writers) =
		(struct writer){builder->capture->process, device, events};
	*gt_array_push(&builder->launches) = (struct gt_device_launch){
		.grid_id = written->grid_id,
		.context = context_of(builder, written->context),
		.blocks = written->blocks,
		.threads = written->threads,
		.kernel = GT_NONE,
	};
	builder->gpu = device == GT_NONE ? NULL : &builder->gpus[device];
	if (!builder->gpu || builder->gpu->clocks.count == 0) {
		builder->uncalibrated += events;
		return;
	}
	fit_ticks(builder, written);
	walk_launch(builder, written);
	launch = &builder->launches.rows[builder->launches.count - 1];
	launch->bound_ns = bound_of(builder, launch);
}

/* ---- rings ---- */

static gt_id find_ring(struct builder *builder, struct gt_known *known, uint32_t context)
{
	gt_id row;

	if (gt_known_is_new(known, context, builder->trace->device_rings.count, &row))
		*gt_array_push(&builder->trace->device_rings) = (struct gt_device_ring){
			.process = builder->capture->process,
			.context = context_of(builder, context),
		};
	return row;
}

/* Whether a record tells what the ring came to, and not when it was made or gone. */
static bool tells_counts(const struct gt_record_device_ring *raw)
{
	return raw->made_ns == 0 && raw->gone_ns == 0;
}

static void take_ring(struct gt_device_ring *ring, const struct gt_record_device_ring *raw)
{
	if (tells_counts(raw)) {
		ring->written = raw->written;
		ring->lost = raw->lost;
		ring->overwritten = raw->overwritten;
	}
	if (raw->made_ns)
		ring->made_ns = (gt_time)raw->made_ns;
	if (raw->gone_ns) {
		ring->gone_ns = (gt_time)raw->gone_ns;
		return;
	}
	ring->bytes = gt_device_ring_bytes(raw->chunk_count);
	ring->chunk_count = raw->chunk_count;
	ring->flags = raw->flags;
}

/* Those that tell counts, or the others. */
static void take_rings(struct builder *builder, struct gt_known *known, bool counts)
{
	gt_array_each(const struct gt_record_device_ring, raw,
	              &builder->capture->raw_device_rings) {
		gt_id row;

		if (tells_counts(raw) != counts)
			continue;
		row = find_ring(builder, known, raw->context);
		take_ring(&builder->trace->device_rings.rows[row], raw);
	}
}

/* A context whose ring told no counts before the process died gets those of its events. */
static void add_rings(struct builder *builder)
{
	struct gt_trace *trace = builder->trace;
	const size_t first = trace->device_rings.count;
	struct gt_known known = {0};
	size_t told;

	take_rings(builder, &known, true);
	told = trace->device_rings.count;
	take_rings(builder, &known, false);
	for (size_t i = 0; i < builder->written.launches.count; i++) {
		const struct writer *writer = &builder->writers.rows[builder->first_launch + i];
		const uint32_t context = builder->written.launches.rows[i].context;
		const gt_id row = find_ring(builder, &known, context);
		struct gt_device_ring *ring = &trace->device_rings.rows[row];

		if (row >= told)
			ring->written += writer->events;
		if (builder->launches.rows[builder->first_launch + i].kernel == GT_NONE)
			ring->without_kernel += writer->events;
	}
	gt_array_each(const struct gt_written_chunk, chunk, &builder->written.chunks) {
		const gt_id row = gt_known_find(&known, chunk->context);

		if (row != GT_NONE && row >= told && row >= first)
			trace->device_rings.rows[row].lost += chunk->lost;
	}
	gt_known_release(&known);
}

static void remark(const struct builder *builder)
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

static void add_capture(struct builder *builder)
{
	struct gt_capture *capture = builder->capture;

	gt_written_init(&builder->written, capture);
	gt_array_release(&capture->raw_device_chunks);
	gt_array_release(&capture->raw_device_events);
	builder->uncalibrated = builder->impossible = 0;
	builder->first_launch = builder->launches.count;
	add_names(&builder->names, capture);
	find_gpus(builder);
	gt_array_each(const struct gt_written_launch, launch, &builder->written.launches)
		add_launch(builder, launch);
	if (builder->launches.count > builder->first_launch)
		gt_device_find_kernels(builder->trace,
		                       builder->launches.rows + builder->first_launch,
		                       builder->launches.count - builder->first_launch);
	add_rings(builder);
	remark(builder);
	gt_array_free(builder->gpus);
	gt_known_release(&builder->names);
	gt_written_release(&builder->written);
}

/* ---- rows ---- */

struct moment {
	uint64_t time_ns; /* since the first */
	uint32_t event;
};

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* One pass of a radix sort; what is equal stays in its order. */
static void sort_digit(const struct moment *from, struct moment *to, size_t count, unsigned shift)
{
	size_t starts[DIGITS] = {0};
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		starts[from[i].time_ns >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		const size_t here = starts[i];

		starts[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i].time_ns >> shift & (DIGITS - 1)]++] = from[i];
}

/* The events by time, those of one thread that begin at once in their order. */
static struct moment *sort_events(const struct builder *builder)
{
	const size_t count = builder->events.count;
	struct moment *moments = gt_allocate(count * sizeof(*moments));
	struct moment *room = gt_allocate(count * sizeof(*room));
	gt_time first_ns = INT64_MAX;
	gt_time last_ns = 0;

	gt_array_each(const struct event, event, &builder->events) {
		first_ns = event->start_ns < first_ns ? event->start_ns : first_ns;
		last_ns = event->start_ns > last_ns ? event->start_ns : last_ns;
	}
	for (size_t i = 0; i < count; i++)
		moments[i] = (struct moment){
			(uint64_t)(builder->events.rows[i].start_ns - first_ns), (uint32_t)i};
	for (unsigned shift = 0; shift < 64 && (uint64_t)(last_ns - first_ns) >> shift;
	     shift += DIGIT_BITS) {
		struct moment *sorted = room;

		sort_digit(moments, sorted, count, shift);
		room = moments;
		moments = sorted;
	}
	gt_array_free(room);
	return moments;
}

static void add_row(const struct builder *builder, const struct event *event, gt_id parent)
{
	const struct place *place = &builder->places.rows[event->place];
	const struct gt_device_launch *launch = &builder->launches.rows[place->launch];
	const struct writer *writer = &builder->writers.rows[place->launch];

	*gt_array_push(&builder->trace->device_events) = (struct gt_device_event){
		.start_ns = event->start_ns,
		.end_ns = event->end_ns,
		.value = event->value,
		.ticket = place->ticket,
		.process = writer->process,
		.device = writer->device,
		.kernel = launch->kernel,
		.parent = parent,
		.name = event->name,
		.kind = event->kind,
		.sm = place->sm,
		.block = place->block,
		.thread = place->thread,
		.sequence = event->sequence,
		.flags = (gt_count)event->flags | (launch->by_time ? GT_DEVICE_BY_TIME : 0u),
	};
}

static void add_rows(const struct builder *builder)
{
	const size_t count = builder->events.count;
	struct moment *moments;
	gt_id *rows;

	if (count == 0)
		return;
	moments = sort_events(builder);
	rows = gt_allocate(count * sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		rows[moments[i].event] = (gt_id)i;
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &builder->events.rows[moments[i].event];

		add_row(builder, event, event->parent == GT_NONE ? GT_NONE : rows[event->parent]);
	}
	gt_array_free(rows);
	gt_array_free(moments);
}

static void widen_bounds(const struct builder *builder)
{
	for (size_t i = 0; i < builder->trace->device_clocks.count; i++)
		builder->trace->device_clocks.rows[i].bound_ns +=
			(gt_wide)ceil(fmin(builder->doubts_ns[i], (double)FAR_NS));
}

static void build(struct gt_collection *collection)
{
	struct builder builder = {
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
	add_rows(&builder);
	widen_bounds(&builder);
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

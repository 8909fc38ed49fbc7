/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/device_events/builder.h"

#include <math.h>

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
static struct moment *sort_events(const struct gt_event_builder *builder)
{
	const size_t count = builder->events.count;
	struct moment *moments = gt_allocate(count * sizeof(*moments));
	struct moment *room = gt_allocate(count * sizeof(*room));
	gt_time first_ns = INT64_MAX;
	gt_time last_ns = 0;

	gt_array_each(const struct gt_built_event, event, &builder->events) {
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

static void add_row(const struct gt_event_builder *builder, const struct gt_built_event *event,
                    gt_id parent)
{
	const struct gt_built_place *place = &builder->places.rows[event->place];
	const struct gt_device_launch *launch = &builder->launches.rows[place->launch];
	const struct gt_built_writer *writer = &builder->writers.rows[place->launch];

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

void gt_event_add_rows(const struct gt_event_builder *builder)
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
		const struct gt_built_event *event = &builder->events.rows[moments[i].event];

		add_row(builder, event, event->parent == GT_NONE ? GT_NONE : rows[event->parent]);
	}
	gt_array_free(rows);
	gt_array_free(moments);
}

void gt_event_widen_bounds(const struct gt_event_builder *builder)
{
	for (size_t i = 0; i < builder->trace->device_clocks.count; i++)
		builder->trace->device_clocks.rows[i].bound_ns +=
			(gt_wide)ceil(fmin(builder->doubts_ns[i], (double)GT_FAR_EVENT_NS));
}

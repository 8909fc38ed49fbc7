/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/device_writers.h"

#include <stdlib.h>
#include <string.h>

#include "model/index.h"

/* Key of a writer: without padding, as gt_index wants it. */
struct key {
	gt_id process;
	gt_id device;
	gt_id kernel;
	gt_count sm;
	gt_count block;
	gt_count thread;
};

static int compare(uint32_t left, uint32_t right)
{
	return (left > right) - (left < right);
}

static int by_place(const void *a, const void *b)
{
	const struct gt_device_writer *left = a;
	const struct gt_device_writer *right = b;
	const int orders[] = {
		compare(left->kernel, right->kernel), compare(left->process, right->process),
		compare(left->device, right->device), compare(left->sm, right->sm),
		compare(left->block, right->block),   compare(left->thread, right->thread),
	};

	for (size_t i = 0; i < GT_COUNT_OF(orders); i++)
		if (orders[i] != 0)
			return orders[i];
	return 0;
}

/* No clock of ours is negative or near its end: what a damaged recording holds must not overflow. */
static gt_time sound(gt_time time_ns)
{
	if (time_ns < 0)
		return 0;
	return time_ns < INT64_MAX / 2 ? time_ns : INT64_MAX / 2;
}

static void see(struct gt_device_writer *writer, const struct gt_device_event *event)
{
	const gt_time start_ns = sound(event->start_ns);
	const gt_time end_ns = event->end_ns > start_ns ? sound(event->end_ns) : start_ns;

	if (writer->count == 0 || start_ns < writer->start_ns)
		writer->start_ns = start_ns;
	if (writer->count == 0 || end_ns > writer->end_ns)
		writer->end_ns = end_ns;
	writer->count++;
}

static struct gt_device_writer *find(struct gt_device_writers *writers, struct gt_index *index,
                                     const struct gt_device_event *event, size_t *number)
{
	const struct key key = {event->process, event->device, event->kernel,
	                        event->sm,      event->block,  event->thread};

	*number = gt_index_add(index, &key);
	if (*number == writers->rows.count)
		*gt_array_push(&writers->rows) = (struct gt_device_writer){
			.process = key.process,
			.device = key.device,
			.kernel = key.kernel,
			.sm = key.sm,
			.block = key.block,
			.thread = key.thread,
		};
	return &writers->rows.rows[*number];
}

/* Gives each writer its place in order, and fills that in. */
static void put_in_order(struct gt_device_writers *writers, const uint32_t *writer_of, size_t count)
{
	size_t next = 0;

	gt_array_each(struct gt_device_writer, writer, &writers->rows) {
		writer->first = next;
		next += writer->count;
		writer->count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct gt_device_writer *writer = &writers->rows.rows[writer_of[i]];

		writers->order[writer->first + writer->count++] = (gt_id)i;
	}
}

static void find_launches(struct gt_device_writers *writers)
{
	const struct gt_device_writer *before = NULL;
	size_t next = 0;

	gt_array_each(const struct gt_device_writer, writer, &writers->rows) {
		if (!before || before->kernel != writer->kernel ||
		    before->process != writer->process || before->device != writer->device)
			*gt_array_push(&writers->launches) =
				(struct gt_device_launch){.kernel = writer->kernel, .first = next};
		writers->launches.rows[writers->launches.count - 1].count++;
		before = writer;
		next++;
	}
}

void gt_device_writers_init(struct gt_device_writers *writers, const struct gt_trace *trace)
{
	const size_t count = trace->device_events.count;
	struct gt_index *index = gt_index_new(sizeof(struct key));
	uint32_t *writer_of = gt_allocate((count + 1) * sizeof(*writer_of));

	*writers = (struct gt_device_writers){.order = NULL};
	writers->order = gt_allocate((count + 1) * sizeof(*writers->order));
	for (size_t i = 0; i < count; i++) {
		const struct gt_device_event *event = &trace->device_events.rows[i];
		size_t number;

		see(find(writers, index, event, &number), event);
		writer_of[i] = (uint32_t)number;
	}
	put_in_order(writers, writer_of, count);
	gt_array_free(writer_of);
	gt_index_free(index);
	if (writers->rows.count > 1)
		qsort(writers->rows.rows, writers->rows.count, sizeof(*writers->rows.rows),
		      by_place);
	find_launches(writers);
}

void gt_device_writers_release(struct gt_device_writers *writers)
{
	gt_array_free(writers->order);
	writers->order = NULL;
	gt_array_release(&writers->rows);
	gt_array_release(&writers->launches);
}

bool gt_device_is_timed(const struct gt_device_event *event)
{
	return event->kind == GT_DEVICE_RANGE && event->start_ns >= 0 &&
	       event->end_ns >= event->start_ns &&
	       !(event->flags & (GT_DEVICE_NO_END | GT_DEVICE_NO_BEGIN));
}

double gt_device_real(const struct gt_device_event *event)
{
	double real;

	memcpy(&real, &event->value, sizeof(real));
	return real;
}

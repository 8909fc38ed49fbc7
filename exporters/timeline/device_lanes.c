/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/timeline/device_lanes.h"

#include <stdlib.h>

#include "base/minima.h"

/* A writer with what it is sorted by. */
struct sorted {
	struct gt_device_writer writer;
	size_t number;
	size_t launch;
};

static int compare(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static int by_place(const void *a, const void *b)
{
	const struct sorted *left = a;
	const struct sorted *right = b;
	const int orders[] = {
		compare(left->writer.process, right->writer.process),
		compare(left->writer.device, right->writer.device),
		compare(left->writer.sm, right->writer.sm),
		compare((uint64_t)left->writer.start_ns, (uint64_t)right->writer.start_ns),
		compare(left->number, right->number),
	};

	for (size_t i = 0; i < GT_COUNT_OF(orders); i++)
		if (orders[i] != 0)
			return orders[i];
	return 0;
}

static void sort(struct gt_device_lanes *lanes)
{
	const struct gt_device_writers *writers = &lanes->writers;
	struct sorted *rows = gt_allocate((writers->rows.count + 1) * sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < writers->launches.count; i++) {
		const struct gt_device_launch *launch = &writers->launches.rows[i];

		for (size_t w = launch->first; w < launch->first + launch->count; w++)
			rows[count++] = (struct sorted){writers->rows.rows[w], w, i};
	}
	qsort(rows, count, sizeof(*rows), by_place);
	lanes->laid = gt_allocate((count + 1) * sizeof(*lanes->laid));
	for (size_t i = 0; i < count; i++)
		lanes->laid[i] = (struct gt_device_laid){rows[i].number, rows[i].launch, 0};
	gt_array_free(rows);
}

/* Nothing that is shown is shorter than a nanosecond. */
static gt_time end_of(const struct gt_device_writer *writer)
{
	return writer->end_ns > writer->start_ns ? writer->end_ns : writer->start_ns + 1;
}

/* The writers of a group come by multiprocessor, those of one in order of their begin. */
static void lay(struct gt_device_lanes *lanes, struct gt_device_group *group)
{
	struct gt_minima ends = {0};
	size_t sms = 0;

	for (size_t i = group->first; i < group->end; i++) {
		const struct gt_device_writer *writer = gt_device_laid_writer(lanes, i);

		if (i == group->first || gt_device_laid_writer(lanes, i - 1)->sm != writer->sm) {
			gt_minima_release(&ends);
			ends = (struct gt_minima){0};
			sms++;
		}
		lanes->laid[i].lane = (uint32_t)gt_minima_find(&ends, writer->start_ns);
		gt_minima_set(&ends, lanes->laid[i].lane, end_of(writer));
		group->events += writer->count;
		group->too_many |= lanes->laid[i].lane >= GT_DEVICE_LANES_MOST;
	}
	gt_minima_release(&ends);
	group->too_many |= sms > GT_DEVICE_SMS_MOST || group->events > GT_DEVICE_SLICES_MOST;
}

void gt_device_lanes_init(struct gt_device_lanes *lanes, const struct gt_trace *trace)
{
	*lanes = (struct gt_device_lanes){.trace = trace};
	gt_device_writers_init(&lanes->writers, trace);
	sort(lanes);
	for (size_t i = 0; i < lanes->writers.rows.count; i++) {
		const struct gt_device_writer *writer = gt_device_laid_writer(lanes, i);
		struct gt_device_group *last =
			lanes->groups.count > 0 ? &lanes->groups.rows[lanes->groups.count - 1]
						: NULL;

		if (!last || last->process != writer->process || last->device != writer->device) {
			last = gt_array_push(&lanes->groups);
			*last = (struct gt_device_group){
				.process = writer->process, .device = writer->device, .first = i};
		}
		last->end = i + 1;
	}
	gt_array_each(struct gt_device_group, group, &lanes->groups)
		lay(lanes, group);
}

void gt_device_lanes_release(struct gt_device_lanes *lanes)
{
	gt_array_free(lanes->laid);
	lanes->laid = NULL;
	gt_array_release(&lanes->groups);
	gt_device_writers_release(&lanes->writers);
}

/* ---- events ---- */

struct begun {
	gt_time start_ns;
	gt_count sequence;
	gt_id row;
};

static int by_begin(const void *a, const void *b)
{
	const struct begun *left = a;
	const struct begun *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	if (left->sequence != right->sequence)
		return left->sequence < right->sequence ? -1 : 1;
	return compare(left->row, right->row);
}

gt_id *gt_device_rows_of(const struct gt_device_lanes *lanes, const struct gt_device_writer *writer)
{
	gt_id *rows = gt_allocate((writer->count + 1) * sizeof(*rows));
	struct begun *begun = gt_allocate((writer->count + 1) * sizeof(*begun));

	for (size_t i = 0; i < writer->count; i++) {
		const gt_id row = lanes->writers.order[writer->first + i];
		const struct gt_device_event *event = &lanes->trace->device_events.rows[row];

		begun[i] = (struct begun){event->start_ns, event->sequence, row};
	}
	qsort(begun, writer->count, sizeof(*begun), by_begin);
	for (size_t i = 0; i < writer->count; i++)
		rows[i] = begun[i].row;
	gt_array_free(begun);
	return rows;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "exporters/perfetto/gpu.h"
#include "exporters/perfetto/wire.h"
#include "model/names.h"

/*
 * How fast each GPU copies, as lines over time: one a GPU and kind of copy, stepping where a copy
 * begins or ends. Copies of one kind that overlap add up.
 */
enum {
	GROUP = 100, /* up to 7 are Perfetto's own; 6, compute, is for counters of kernels only */
	UNIT_BYTE = 7,
	UNIT_SECOND = 22,
	FORWARDS = 2, /* a value holds from its time on, not up to it */
};

/* The end of a copy that is running. */
struct ending {
	gt_time time_ns;
	gt_id device;
	uint32_t kind;
	uint64_t rate; /* bytes per second */
};

struct line {
	uint64_t rate; /* sum of what is running */
	bool used;     /* there is at least one copy of the kind */
	bool changed;  /* since the last value that was written */
};

struct lines {
	struct gt_perfetto *perfetto;
	struct gt_sequence sequence;
	uint32_t event_tag;
	gt_time now_ns;                      /* of the changes that are not written yet */
	struct line (*lines)[GT_COPY_KINDS]; /* by device and kind */
	gt_array(struct ending) endings;     /* a heap, the earliest first */
};

static void push_ending(struct lines *lines, struct ending ending)
{
	size_t at = lines->endings.count;

	*gt_array_push(&lines->endings) = ending;
	for (; at > 0; at = (at - 1) / 2) {
		const size_t parent = (at - 1) / 2;

		if (lines->endings.rows[parent].time_ns <= ending.time_ns)
			break;
		lines->endings.rows[at] = lines->endings.rows[parent];
	}
	lines->endings.rows[at] = ending;
}

static struct ending pop_ending(struct lines *lines)
{
	struct ending *rows = lines->endings.rows;
	const struct ending first = rows[0];
	const struct ending last = rows[--lines->endings.count];
	const size_t count = lines->endings.count;
	size_t at = 0;

	for (size_t child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && rows[child + 1].time_ns < rows[child].time_ns)
			child++;
		if (rows[child].time_ns >= last.time_ns)
			break;
		rows[at] = rows[child];
		at = child;
	}
	rows[at] = last;
	return first;
}

static void put_values(struct lines *lines, gt_id device)
{
	Perfetto__GpuCounter rows[GT_COPY_KINDS];
	Perfetto__GpuCounter *list[GT_COPY_KINDS];
	Perfetto__GpuCounterEvent event = PERFETTO__GPU_COUNTER_EVENT__INIT;
	uint8_t message[GT_COPY_KINDS * 32 + 16];

	for (uint32_t kind = 0; kind < GT_COPY_KINDS; kind++) {
		struct line *line = &lines->lines[device][kind];

		if (!line->changed)
			continue;
		Perfetto__GpuCounter *counter = &rows[event.n_counters];

		*counter = (Perfetto__GpuCounter)PERFETTO__GPU_COUNTER__INIT;
		counter->has_counter_id = counter->has_int_value = 1;
		counter->counter_id = kind;
		counter->int_value = (int64_t)line->rate;
		list[event.n_counters++] = counter;
		line->changed = false;
	}
	if (event.n_counters == 0)
		return;
	event.counters = list;
	event.has_counter_descriptor_iid = 1;
	event.counter_descriptor_iid = (uint64_t)device + 1;
	gt_sequence_put(&lines->sequence, lines->now_ns, lines->event_tag, message,
	                perfetto__gpu_counter_event__pack(&event, message));
}

static void put_all_values(struct lines *lines)
{
	for (gt_id i = 0; i < lines->perfetto->trace->devices.count; i++)
		put_values(lines, i);
}

/* Changes that happen at one instant become one value. */
static void step(struct lines *lines, gt_time time_ns, struct line *line, uint64_t rate)
{
	if (time_ns > lines->now_ns) {
		put_all_values(lines);
		lines->now_ns = time_ns;
	}
	line->rate = rate;
	line->changed = true;
}

static void end_copies(struct lines *lines, gt_time time_ns)
{
	while (lines->endings.count > 0 && lines->endings.rows[0].time_ns <= time_ns) {
		const struct ending ending = pop_ending(lines);
		struct line *line = &lines->lines[ending.device][ending.kind];

		step(lines, ending.time_ns, line, line->rate - ending.rate);
	}
}

/* In whole bytes per second, so that sums come back to 0 exactly. */
static uint64_t rate(const struct gt_copy *copy)
{
	const double bytes_per_ns =
		(double)copy->size_bytes / (double)(copy->end_ns - copy->start_ns);
	const double bytes_per_second = round(bytes_per_ns * 1e9);

	/* A damaged record must not make the sums overflow; no link is within 1000 times of it. */
	return bytes_per_second < 1e17 ? (uint64_t)bytes_per_second : 0;
}

/* A copy without a length has no rate. */
static bool has_rate(const struct lines *lines, size_t row, struct gt_activity *activity)
{
	const struct gt_copy *copy = &lines->perfetto->trace->copies.rows[row];
	const struct gt_ids *ids = &lines->perfetto->ids;

	*activity = gt_ids_activity_at(ids, gt_ids_activity(ids, GT_COPIES, row));
	return activity->placed && copy->end_ns > copy->start_ns;
}

/* The counters of a GPU while they are being described; points into itself. */
struct description {
	Perfetto__GpuCounterDescriptor counters;
	Perfetto__GpuCounterGroupSpec group;
	Perfetto__GpuCounterGroupSpec *groups[1];
	Perfetto__GpuCounterSpec specs[GT_COPY_KINDS];
	Perfetto__GpuCounterSpec *list[GT_COPY_KINDS];
	uint32_t ids[GT_COPY_KINDS];
	uint32_t numerator;
	uint32_t denominator;
	char names[GT_COPY_KINDS][32];
};

static void describe_line(struct description *description, uint32_t kind)
{
	const size_t at = description->counters.n_specs++;
	Perfetto__GpuCounterSpec *spec = &description->specs[at];

	snprintf(description->names[at], sizeof(description->names[at]), "%s copies",
	         gt_copy_kind_name(kind));
	*spec = (Perfetto__GpuCounterSpec)PERFETTO__GPU_COUNTER_SPEC__INIT;
	spec->has_counter_id = spec->has_value_direction = 1;
	spec->counter_id = kind;
	spec->value_direction = FORWARDS;
	spec->name = description->names[at];
	spec->description = gt_borrow("Sum of the rates of the copies under way");
	spec->numerator_units = &description->numerator;
	spec->denominator_units = &description->denominator;
	spec->n_numerator_units = spec->n_denominator_units = 1;
	description->list[at] = spec;
	description->ids[at] = kind;
}

static void describe_gpu(struct lines *lines, gt_id device)
{
	struct description description = {
		.counters = PERFETTO__GPU_COUNTER_DESCRIPTOR__INIT,
		.group = PERFETTO__GPU_COUNTER_GROUP_SPEC__INIT,
		.numerator = UNIT_BYTE,
		.denominator = UNIT_SECOND,
	};
	Perfetto__InternedGpuCounterDescriptor interned =
		PERFETTO__INTERNED_GPU_COUNTER_DESCRIPTOR__INIT;
	Perfetto__InternedGpuCounterDescriptor *list[] = {&interned};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	for (uint32_t kind = 0; kind < GT_COPY_KINDS; kind++)
		if (lines->lines[device][kind].used)
			describe_line(&description, kind);
	if (description.counters.n_specs == 0)
		return;
	description.group.has_group_id = 1;
	description.group.group_id = GROUP;
	description.group.name = gt_borrow("Copies");
	description.group.counter_ids = description.ids;
	description.group.n_counter_ids = description.counters.n_specs;
	description.groups[0] = &description.group;
	description.counters.specs = description.list;
	description.counters.counter_groups = description.groups;
	description.counters.n_counter_groups = 1;
	interned.has_iid = interned.has_gpu_id = 1;
	interned.iid = (uint64_t)device + 1;
	interned.gpu_id = (int32_t)lines->perfetto->ids.gpus[device];
	interned.counter_descriptor = &description.counters;
	data.gpu_counter_descriptors = list;
	data.n_gpu_counter_descriptors = 1;
	gt_sequence_intern(&lines->sequence, &data);
}

static void put_copies(struct lines *lines)
{
	const struct gt_trace *trace = lines->perfetto->trace;

	for (size_t i = 0; i < trace->copies.count; i++) {
		const struct gt_copy *copy = &trace->copies.rows[i];
		const uint32_t kind = gt_copy_kind_known(copy->kind);
		struct gt_activity activity;
		struct line *line;

		if (!has_rate(lines, i, &activity))
			continue;
		line = &lines->lines[activity.device][kind];
		end_copies(lines, copy->start_ns);
		step(lines, copy->start_ns, line, line->rate + rate(copy));
		push_ending(lines, (struct ending){.time_ns = copy->end_ns,
		                                   .device = activity.device,
		                                   .kind = kind,
		                                   .rate = rate(copy)});
	}
	end_copies(lines, INT64_MAX);
	put_all_values(lines);
}

void gt_perfetto_write_bandwidth(struct gt_perfetto *perfetto)
{
	const struct gt_trace *trace = perfetto->trace;
	struct lines lines = {.perfetto = perfetto};
	const size_t size = trace->devices.count * sizeof(*lines.lines);

	if (trace->copies.count == 0)
		return;
	lines.lines = gt_allocate(size);
	memset(lines.lines, 0, size);
	lines.event_tag = gt_wire_tag(&perfetto__trace_packet__descriptor, "gpu_counter_event");
	for (size_t i = 0; i < trace->copies.count; i++) {
		struct gt_activity activity;

		if (has_rate(&lines, i, &activity))
			lines.lines[activity.device][gt_copy_kind_known(trace->copies.rows[i].kind)]
				.used = true;
	}
	gt_perfetto_start(perfetto, &lines.sequence, 0);
	for (gt_id i = 0; i < trace->devices.count; i++)
		describe_gpu(&lines, i);
	put_copies(&lines);
	gt_array_free(lines.lines);
	gt_array_release(&lines.endings);
}

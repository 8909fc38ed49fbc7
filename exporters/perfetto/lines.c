/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/lines.h"

#include <math.h>
#include <string.h>

#include "exporters/perfetto/wire/wire.h"
#include "exporters/perfetto/writer.h"

enum {
	FIRST_GROUP =
		100, /* up to 7 are Perfetto's own; 6, compute, is for counters of kernels only */
	COMPUTE = 6,
	FORWARDS = 2,   /* a value holds from its time on */
	BATCH = 64,     /* values in one packet */
	VALUE_MAX = 32, /* bytes of one, packed */
};

void gt_lines_init(struct gt_lines *lines, struct gt_perfetto *perfetto)
{
	const size_t gpu_count = perfetto->trace->devices.count;

	*lines = (struct gt_lines){
		.perfetto = perfetto,
		.event_tag = gt_wire_tag(&perfetto__trace_packet__descriptor, "gpu_counter_event"),
	};
	lines->gpus = gt_allocate(gpu_count * sizeof(*lines->gpus));
	for (size_t i = 0; i < gpu_count; i++)
		lines->gpus[i] = (struct gt_line_list){GT_NONE, GT_NONE};
}

uint32_t gt_lines_add(struct gt_lines *lines, const struct gt_line *line)
{
	struct gt_line_list *list = &lines->gpus[line->device];
	const uint32_t number = (uint32_t)lines->rows.count;

	for (uint32_t i = list->first; i != GT_NONE; i = lines->rows.rows[i].next_line)
		if (strcmp(lines->rows.rows[i].line.name, line->name) == 0)
			return i;
	*gt_array_push(&lines->rows) =
		(struct gt_line_state){.line = *line, .next_line = GT_NONE, .value = NAN};
	if (list->first == GT_NONE)
		list->first = number;
	else
		lines->rows.rows[list->last].next_line = number;
	list->last = number;
	return number;
}

/* A group has one number in the whole file, on all GPUs and in all parts. */
static uint32_t group_id(struct gt_perfetto *perfetto, const char *name)
{
	size_t at = 0;

	while (at < perfetto->groups.count && strcmp(perfetto->groups.rows[at], name) != 0)
		at++;
	if (at == perfetto->groups.count)
		*gt_array_push(&perfetto->groups) = name;
	return FIRST_GROUP + (uint32_t)at;
}

static bool is_of_kernels(const struct gt_line *line)
{
	return line->group == GT_GROUP_KERNELS;
}

/* The lines of a GPU while they are being described. */
struct description {
	gt_array(Perfetto__GpuCounterSpec) specs;
	gt_array(Perfetto__GpuCounterGroupSpec) groups;
	uint32_t *ids;   /* of the lines, group after group */
	uint32_t *units; /* two for each line */
	uint32_t compute;
};

static void add_spec(struct description *description, const struct gt_line *line, uint32_t id)
{
	const size_t at = description->specs.count;
	Perfetto__GpuCounterSpec *spec = gt_array_push(&description->specs);
	uint32_t *units = &description->units[2 * at];

	*spec = (Perfetto__GpuCounterSpec)PERFETTO__GPU_COUNTER_SPEC__INIT;
	spec->has_counter_id = spec->has_value_direction = 1;
	spec->counter_id = id;
	spec->value_direction = FORWARDS;
	spec->name = gt_borrow(line->name);
	spec->description = *line->help ? gt_borrow(line->help) : NULL;
	units[0] = line->unit;
	units[1] = line->per;
	spec->numerator_units = &units[0];
	spec->n_numerator_units = line->unit != GT_MEASURE_NONE;
	spec->denominator_units = &units[1];
	spec->n_denominator_units = line->per != GT_MEASURE_NONE;
	if (!is_of_kernels(line))
		return;
	description->compute = COMPUTE;
	spec->groups = &description->compute;
	spec->n_groups = 1;
}

/* Adds the group of a line with all of the GPU's lines in it, unless it is there. Returns how
 * many lines that were. */
static size_t add_group(struct gt_lines *lines, struct description *description,
                        const struct gt_line *of, uint32_t *ids)
{
	const uint32_t id = group_id(lines->perfetto, of->group);
	Perfetto__GpuCounterGroupSpec *group;

	gt_array_each(const Perfetto__GpuCounterGroupSpec, known, &description->groups)
		if (known->group_id == id)
			return 0;
	group = gt_array_push(&description->groups);
	*group = (Perfetto__GpuCounterGroupSpec)PERFETTO__GPU_COUNTER_GROUP_SPEC__INIT;
	group->has_group_id = 1;
	group->group_id = id;
	group->name = gt_borrow(of->group);
	group->counter_ids = ids;
	for (uint32_t i = lines->gpus[of->device].first; i != GT_NONE;
	     i = lines->rows.rows[i].next_line)
		if (!is_of_kernels(&lines->rows.rows[i].line) &&
		    strcmp(lines->rows.rows[i].line.group, of->group) == 0)
			ids[group->n_counter_ids++] = i;
	return group->n_counter_ids;
}

static void collect(struct gt_lines *lines, struct description *description, gt_id device)
{
	size_t id_count = 0;

	for (uint32_t i = lines->gpus[device].first; i != GT_NONE;
	     i = lines->rows.rows[i].next_line) {
		const struct gt_line *line = &lines->rows.rows[i].line;

		add_spec(description, line, i);
		if (!is_of_kernels(line))
			id_count +=
				add_group(lines, description, line, description->ids + id_count);
	}
}

static void intern(struct gt_lines *lines, Perfetto__GpuCounterDescriptor *counters, gt_id device)
{
	Perfetto__InternedGpuCounterDescriptor interned =
		PERFETTO__INTERNED_GPU_COUNTER_DESCRIPTOR__INIT;
	Perfetto__InternedGpuCounterDescriptor *list[] = {&interned};
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;

	interned.has_iid = interned.has_gpu_id = 1;
	interned.iid = (uint64_t)device + 1;
	interned.gpu_id = (int32_t)lines->perfetto->ids.gpus[device];
	interned.counter_descriptor = counters;
	data.gpu_counter_descriptors = list;
	data.n_gpu_counter_descriptors = 1;
	gt_sequence_intern(&lines->sequence, &data);
}

static size_t count_lines(const struct gt_lines *lines, gt_id device)
{
	size_t count = 0;

	for (uint32_t i = lines->gpus[device].first; i != GT_NONE;
	     i = lines->rows.rows[i].next_line)
		count++;
	return count;
}

static void describe_gpu(struct gt_lines *lines, gt_id device)
{
	const size_t count = count_lines(lines, device);
	Perfetto__GpuCounterDescriptor counters = PERFETTO__GPU_COUNTER_DESCRIPTOR__INIT;
	Perfetto__GpuCounterSpec **specs = gt_allocate(count * sizeof(Perfetto__GpuCounterSpec *));
	Perfetto__GpuCounterGroupSpec **groups =
		gt_allocate(count * sizeof(Perfetto__GpuCounterGroupSpec *));
	struct description description = {
		.ids = gt_allocate(count * sizeof(uint32_t)),
		.units = gt_allocate(2 * count * sizeof(uint32_t)),
	};

	collect(lines, &description, device);
	for (size_t i = 0; i < description.specs.count; i++)
		specs[i] = &description.specs.rows[i];
	for (size_t i = 0; i < description.groups.count; i++)
		groups[i] = &description.groups.rows[i];
	counters.specs = specs;
	counters.n_specs = description.specs.count;
	counters.counter_groups = groups;
	counters.n_counter_groups = description.groups.count;
	if (counters.n_specs > 0)
		intern(lines, &counters, device);
	gt_array_free(specs);
	gt_array_free(groups);
	gt_array_free(description.ids);
	gt_array_free(description.units);
	gt_array_release(&description.specs);
	gt_array_release(&description.groups);
}

void gt_lines_describe(struct gt_lines *lines)
{
	if (lines->rows.count == 0)
		return;
	gt_perfetto_start(lines->perfetto, &lines->sequence, 0);
	for (gt_id i = 0; i < lines->perfetto->trace->devices.count; i++)
		describe_gpu(lines, i);
}

/* The values of some lines of one GPU while they are being written. */
struct values {
	Perfetto__GpuCounter rows[BATCH];
	Perfetto__GpuCounter *list[BATCH];
	Perfetto__GpuCounterEvent event;
	gt_id device;
};

static void write_values(struct gt_lines *lines, struct values *values, gt_time time_ns)
{
	uint8_t message[BATCH * VALUE_MAX + 2 * GT_VARINT_MAX];

	if (values->event.n_counters == 0)
		return;
	values->event.counters = values->list;
	values->event.has_counter_descriptor_iid = 1;
	values->event.counter_descriptor_iid = (uint64_t)values->device + 1;
	gt_sequence_put(&lines->sequence, time_ns, lines->event_tag, message,
	                perfetto__gpu_counter_event__pack(&values->event, message));
	values->event.n_counters = 0;
}

/* Whole numbers take fewer bytes. */
static bool is_whole(double value)
{
	return value == floor(value) && fabs(value) < 1e9;
}

static void add_value(struct gt_lines *lines, struct values *values, uint32_t line, double value,
                      gt_time time_ns)
{
	const gt_id device = lines->rows.rows[line].line.device;
	Perfetto__GpuCounter *counter;

	if (values->event.n_counters == BATCH || device != values->device)
		write_values(lines, values, time_ns);
	values->device = device;
	counter = &values->rows[values->event.n_counters];
	values->list[values->event.n_counters++] = counter;
	*counter = (Perfetto__GpuCounter)PERFETTO__GPU_COUNTER__INIT;
	counter->has_counter_id = 1;
	counter->counter_id = line;
	counter->has_int_value = is_whole(value);
	counter->has_double_value = !counter->has_int_value;
	if (counter->has_int_value)
		counter->int_value = (int64_t)value;
	else
		counter->double_value = value;
}

/* The old value of each line that changes now, where it was not written just before. */
static void write_old_values(struct gt_lines *lines)
{
	struct values values = {.event = PERFETTO__GPU_COUNTER_EVENT__INIT};
	const gt_time before_ns = lines->now_ns - 1;

	gt_array_each(const uint32_t, number, &lines->changed) {
		struct gt_line_state *line = &lines->rows.rows[*number];

		if (!is_of_kernels(&line->line) && !isnan(line->value) &&
		    line->next != line->value && line->written_ns < before_ns)
			add_value(lines, &values, *number, line->value, before_ns);
	}
	write_values(lines, &values, before_ns);
}

static void write_new_values(struct gt_lines *lines)
{
	struct values values = {.event = PERFETTO__GPU_COUNTER_EVENT__INIT};

	gt_array_each(const uint32_t, number, &lines->changed) {
		struct gt_line_state *line = &lines->rows.rows[*number];

		line->changed = false;
		if (line->next == line->value && !is_of_kernels(&line->line))
			continue; /* it stays as it was */
		add_value(lines, &values, *number, line->next, lines->now_ns);
		line->value = line->next;
		line->written_ns = lines->now_ns;
	}
	write_values(lines, &values, lines->now_ns);
	lines->changed.count = 0;
}

void gt_lines_put(struct gt_lines *lines, uint32_t number, gt_time time_ns, double value)
{
	struct gt_line_state *line = &lines->rows.rows[number];

	if (!isfinite(value))
		return;
	if (time_ns != lines->now_ns && lines->changed.count > 0) {
		write_old_values(lines);
		write_new_values(lines);
	}
	lines->now_ns = time_ns;
	line->next = value;
	if (line->changed)
		return;
	line->changed = true;
	*gt_array_push(&lines->changed) = number;
}

/* Older readers do not show a value that no other one follows; 0 they show anyway. */
static void write_last_values(struct gt_lines *lines, gt_time end_ns)
{
	struct values values = {.event = PERFETTO__GPU_COUNTER_EVENT__INIT};

	for (uint32_t i = 0; i < lines->rows.count; i++) {
		const struct gt_line_state *line = &lines->rows.rows[i];

		if (!is_of_kernels(&line->line) && !isnan(line->value) && line->value != 0 &&
		    line->written_ns < end_ns)
			add_value(lines, &values, i, line->value, end_ns);
	}
	write_values(lines, &values, end_ns);
}

void gt_lines_finish(struct gt_lines *lines, gt_time end_ns)
{
	if (lines->changed.count > 0) {
		write_old_values(lines);
		write_new_values(lines);
	}
	write_last_values(lines, end_ns > lines->now_ns ? end_ns : lines->now_ns + 1);
	gt_array_release(&lines->rows);
	gt_array_release(&lines->changed);
	gt_array_free(lines->gpus);
	lines->gpus = NULL;
}

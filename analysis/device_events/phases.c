/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_events/phases.h"

#include <math.h>

#include "analysis/statistics/spread.h"
#include "model/index.h"
#include "model/work/timed.h"

static const struct gt_kernel *kernel_of(const struct gt_trace *trace,
                                         const struct gt_device_launch *launch)
{
	return launch->kernel < trace->kernels.count ? &trace->kernels.rows[launch->kernel] : NULL;
}

size_t gt_device_function(const struct gt_device_phases *phases,
                          const struct gt_device_launch *launch)
{
	const struct gt_kernel *kernel = kernel_of(phases->trace, launch);

	return gt_function_of(&phases->functions, kernel ? kernel->shape : GT_NONE);
}

int64_t gt_device_kernel_ns(const struct gt_trace *trace, const struct gt_device_launch *launch)
{
	const struct gt_kernel *kernel = kernel_of(trace, launch);

	return kernel && gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns)
	               ? kernel->end_ns - kernel->start_ns
	               : -1;
}

/* ---- own time ---- */

static void find_own(struct gt_device_phases *phases)
{
	const struct gt_trace *trace = phases->trace;
	const size_t count = trace->device_events.count;

	phases->own_ns = gt_allocate_zeroed(count + 1, sizeof(*phases->own_ns));
	for (size_t i = 0; i < count; i++) {
		const struct gt_device_event *event = &trace->device_events.rows[i];

		if (!gt_device_is_timed(event))
			continue;
		phases->own_ns[i] += (uint64_t)(event->end_ns - event->start_ns);
		if (event->parent < count)
			phases->own_ns[event->parent] -=
				(uint64_t)(event->end_ns - event->start_ns);
	}
	/* Clocks are not exact, and recordings can be damaged: less than nothing is nothing. */
	for (size_t i = 0; i < count; i++)
		if (!gt_device_is_timed(&trace->device_events.rows[i]) ||
		    phases->own_ns[i] > INT64_MAX)
			phases->own_ns[i] = 0;
}

/* ---- names ---- */

struct key {
	uint32_t function;
	gt_string name;
	gt_count kind;
};

static uint32_t name_of(struct gt_device_phases *phases, struct gt_index *index, size_t function,
                        const struct gt_device_event *event)
{
	const struct key key = {(uint32_t)function, event->name, event->kind};
	const size_t number = gt_index_add(index, &key);

	if (number == phases->names.count)
		*gt_array_push(&phases->names) = (struct gt_device_name){
			.function = function,
			.name = event->name,
			.kind = event->kind,
			.least = INFINITY,
			.most = -INFINITY,
		};
	return (uint32_t)number;
}

/* ---- one launch ---- */

/* Time of a name in the launch at hand. */
struct part {
	bool seen;
	double sm_ns; /* of the multiprocessor and of the block at hand */
	double block_ns;
	double slowest_sm_ns;
	double slowest_block_ns;
	double total_ns;
	size_t sms;
	size_t blocks;
};

struct walk {
	struct gt_device_phases *phases;
	const struct gt_device_launch *launch;
	struct gt_device_launch_facts *facts;
	gt_array(struct part) parts; /* by name */
	gt_array(uint32_t) seen;     /* names that the launch has */
	gt_array(uint32_t) of_sm;    /* that the multiprocessor at hand has a time of */
	gt_array(uint32_t) of_block; /* likewise */
	gt_array(int64_t) sm_ends;   /* when each of them told its last */
	gt_time block_start_ns;
	gt_time first_block_ns;
	gt_time last_block_ns;
	size_t sm_blocks;
};

static struct part *part_of(struct walk *walk, uint32_t name)
{
	while (walk->parts.count <= name)
		*gt_array_push(&walk->parts) = (struct part){.seen = false};
	return &walk->parts.rows[name];
}

static double value_of(const struct walk *walk, const struct gt_device_event *event)
{
	const struct gt_kernel *kernel = kernel_of(walk->phases->trace, walk->launch);

	switch ((enum gt_device_kind)event->kind) {
	case GT_DEVICE_INT:
		return (double)(int64_t)event->value;
	case GT_DEVICE_REAL:
		return gt_device_real(event);
	case GT_DEVICE_MARK:
		return kernel && kernel->start_ns > 0 && event->start_ns >= 0
		               ? (double)(event->start_ns - kernel->start_ns)
		               : NAN;
	case GT_DEVICE_RANGE:
		break;
	}
	return NAN;
}

static void add_value(struct gt_device_name *name, double value)
{
	if (isnan(value))
		return;
	name->sum += value;
	name->least = value < name->least ? value : name->least;
	name->most = value > name->most ? value : name->most;
	name->valued++;
}

static void add_time(struct walk *walk, uint32_t number, double lasts_ns)
{
	struct part *part = part_of(walk, number);

	if (part->sm_ns == 0)
		*gt_array_push(&walk->of_sm) = number;
	if (part->block_ns == 0)
		*gt_array_push(&walk->of_block) = number;
	part->sm_ns += lasts_ns;
	part->block_ns += lasts_ns;
	part->total_ns += lasts_ns;
}

static void add_event(struct walk *walk, gt_id row)
{
	struct gt_device_phases *phases = walk->phases;
	const struct gt_device_event *event = &phases->trace->device_events.rows[row];
	const uint32_t number = phases->names_of[row];
	struct gt_device_name *name = &phases->names.rows[number];
	struct part *part = part_of(walk, number);

	if (!part->seen)
		*gt_array_push(&walk->seen) = number;
	part->seen = true;
	name->count++;
	if (event->kind != GT_DEVICE_RANGE) {
		add_value(name, value_of(walk, event));
	} else if (!gt_device_is_timed(event)) {
		name->unended++;
	} else {
		name->total_ns += (uint64_t)(event->end_ns - event->start_ns);
		name->own_ns += phases->own_ns[row];
		if (event->end_ns > event->start_ns)
			add_time(walk, number, (double)(event->end_ns - event->start_ns));
	}
}

static void end_block(struct walk *walk, const struct gt_device_writer *last)
{
	for (size_t i = 0; i < walk->of_block.count; i++) {
		struct part *part = &walk->parts.rows[walk->of_block.rows[i]];

		part->slowest_block_ns = fmax(part->slowest_block_ns, part->block_ns);
		part->blocks++;
		part->block_ns = 0;
	}
	walk->of_block.count = 0;
	if (walk->facts->blocks == 0 || walk->block_start_ns < walk->first_block_ns)
		walk->first_block_ns = walk->block_start_ns;
	if (walk->facts->blocks == 0 || walk->block_start_ns > walk->last_block_ns) {
		walk->last_block_ns = walk->block_start_ns;
		walk->facts->late_block = last->block;
		walk->facts->late_sm = last->sm;
	}
	walk->facts->blocks++;
	walk->sm_blocks++;
}

static void end_sm(struct walk *walk)
{
	struct gt_device_launch_facts *facts = walk->facts;

	for (size_t i = 0; i < walk->of_sm.count; i++) {
		struct part *part = &walk->parts.rows[walk->of_sm.rows[i]];

		part->slowest_sm_ns = fmax(part->slowest_sm_ns, part->sm_ns);
		part->sms++;
		part->sm_ns = 0;
	}
	walk->of_sm.count = 0;
	if (facts->sms == 0 || walk->sm_blocks < facts->least_blocks)
		facts->least_blocks = walk->sm_blocks;
	if (walk->sm_blocks > facts->most_blocks)
		facts->most_blocks = walk->sm_blocks;
	facts->sms++;
	walk->sm_blocks = 0;
}

static void add_writer(struct walk *walk, const struct gt_device_writer *writer, bool new_sm,
                       bool new_block)
{
	struct gt_device_launch_facts *facts = walk->facts;

	if (new_sm)
		*gt_array_push(&walk->sm_ends) = writer->end_ns;
	if (new_block || writer->start_ns < walk->block_start_ns)
		walk->block_start_ns = writer->start_ns;

	int64_t *sm_end_ns = &walk->sm_ends.rows[walk->sm_ends.count - 1];

	*sm_end_ns = writer->end_ns > *sm_end_ns ? writer->end_ns : *sm_end_ns;
	if (facts->writers == 0 || writer->start_ns < facts->start_ns)
		facts->start_ns = writer->start_ns;
	if (facts->writers == 0 || writer->end_ns > facts->end_ns) {
		facts->end_ns = writer->end_ns;
		facts->last_sm = writer->sm;
	}
	facts->writers++;
	facts->events += writer->count;
	for (size_t i = 0; i < writer->count; i++)
		add_event(walk, walk->phases->writers.order[writer->first + i]);
}

/* The names of the launch: what they took of it, and how that was spread. */
static void end_names(struct walk *walk)
{
	const int64_t kernel_ns = gt_device_kernel_ns(walk->phases->trace, walk->launch);

	for (size_t i = 0; i < walk->seen.count; i++) {
		struct part *part = &walk->parts.rows[walk->seen.rows[i]];
		struct gt_device_name *name = &walk->phases->names.rows[walk->seen.rows[i]];

		name->launches++;
		name->writers_ns +=
			kernel_ns > 0 ? (double)kernel_ns * (double)walk->facts->writers : NAN;
		if (part->sms > 0) {
			name->sms.slowest_ns += part->slowest_sm_ns;
			name->sms.mean_ns += part->total_ns / (double)part->sms;
			name->blocks.slowest_ns += part->slowest_block_ns;
			name->blocks.mean_ns += part->total_ns / (double)part->blocks;
		}
		*part = (struct part){.seen = false};
	}
	walk->seen.count = 0;
}

static void end_launch(struct walk *walk)
{
	struct gt_device_launch_facts *facts = walk->facts;

	for (size_t i = 0; i < walk->sm_ends.count; i++)
		facts->idle_ns += (uint64_t)(facts->end_ns - walk->sm_ends.rows[i]);
	facts->half_ns = gt_percentile(walk->sm_ends.rows, walk->sm_ends.count, 50);
	facts->late_ns = walk->last_block_ns - walk->first_block_ns;
	walk->sm_ends.count = 0;
	end_names(walk);
}

/* Writers come by multiprocessor, and of one by block. */
static void walk_launch(struct walk *walk, size_t number)
{
	const struct gt_device_launch *launch = &walk->phases->writers.launches.rows[number];
	const struct gt_device_writer *writers = walk->phases->writers.rows.rows + launch->first;

	walk->launch = launch;
	walk->facts = &walk->phases->facts[number];
	*walk->facts = (struct gt_device_launch_facts){.start_ns = 0};
	walk->sm_blocks = 0;
	for (size_t i = 0; i < launch->count; i++) {
		const bool new_sm = i == 0 || writers[i].sm != writers[i - 1].sm;
		const bool new_block = new_sm || writers[i].block != writers[i - 1].block;

		if (i > 0 && new_block)
			end_block(walk, &writers[i - 1]);
		if (i > 0 && new_sm)
			end_sm(walk);
		add_writer(walk, &writers[i], new_sm, new_block);
	}
	end_block(walk, &writers[launch->count - 1]);
	end_sm(walk);
	end_launch(walk);
}

static void find_names(struct gt_device_phases *phases)
{
	const struct gt_trace *trace = phases->trace;
	struct gt_index *index = gt_index_new(sizeof(struct key));

	phases->names_of =
		gt_allocate((trace->device_events.count + 1) * sizeof(*phases->names_of));
	for (size_t i = 0; i < trace->device_events.count; i++) {
		const struct gt_device_event *event = &trace->device_events.rows[i];
		const struct gt_device_launch launch = {.kernel = event->kernel};

		phases->names_of[i] =
			name_of(phases, index, gt_device_function(phases, &launch), event);
	}
	gt_index_free(index);
}

void gt_device_phases_init(struct gt_device_phases *phases, const struct gt_trace *trace)
{
	struct walk walk = {.phases = phases};

	*phases = (struct gt_device_phases){.trace = trace};
	gt_functions_init(&phases->functions, trace);
	gt_device_writers_init(&phases->writers, trace);
	find_own(phases);
	find_names(phases);
	phases->facts = gt_allocate((phases->writers.launches.count + 1) * sizeof(*phases->facts));
	for (size_t i = 0; i < phases->writers.launches.count; i++)
		walk_launch(&walk, i);
	gt_array_release(&walk.parts);
	gt_array_release(&walk.seen);
	gt_array_release(&walk.of_sm);
	gt_array_release(&walk.of_block);
	gt_array_release(&walk.sm_ends);
}

void gt_device_phases_release(struct gt_device_phases *phases)
{
	gt_array_free(phases->facts);
	gt_array_free(phases->own_ns);
	gt_array_free(phases->names_of);
	gt_array_release(&phases->names);
	gt_device_writers_release(&phases->writers);
	gt_functions_release(&phases->functions);
}

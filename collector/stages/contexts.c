/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "collector/stage.h"
#include "model/memory_owned.h"

/*
 * What a context takes of its GPU: the memory that the process had there when that was first read,
 * without what it had allocated then. Contexts are made before anything is read, so that there is
 * no difference of two readings to take. Not measured where NVML does not list the process, as in
 * most containers, where a process has several contexts on the GPU, and where a pool had been used:
 * what that had reserved is not known.
 */

struct reading {
	gt_time time_ns;
	double bytes; /* NAN: there is none */
};

/* Of what the process had on the GPU. */
static struct reading first_reading(const struct gt_trace *trace, gt_id process, gt_id device)
{
	struct reading first = {.bytes = NAN};

	gt_array_each(const struct gt_counter, counter, &trace->counters) {
		const struct gt_series *series;

		if (counter->process != process || counter->device != device ||
		    strcmp(gt_trace_text(trace, counter->name), "process_memory_bytes") != 0)
			continue;
		series = &trace->series.rows[counter->series];
		for (size_t i = 0; i < series->count && isnan(first.bytes); i++)
			first = (struct reading){series->times_ns[i],
			                         series->columns[counter->place][i]};
	}
	return first;
}

/* Of one that was begun before a moment: whether it says nothing of what was reserved then. */
static bool hides_memory(const struct gt_allocation *allocation)
{
	const enum gt_memory_owner owner = gt_memory_owner(allocation);

	return owner == GT_MEMORY_OF_POOL || owner == GT_MEMORY_OF_GRAPH ||
	       owner == GT_MEMORY_OF_MANAGER;
}

/* What was allocated on the GPU at that time; NAN: not known. */
static double allocated_at(const struct gt_trace *trace, gt_id process, gt_id device,
                           gt_time time_ns)
{
	double bytes = 0;

	gt_array_each(const struct gt_allocation, allocation, &trace->allocations) {
		if (allocation->start_ns > time_ns)
			break;
		if (allocation->process != process || allocation->device != device)
			continue;
		if (hides_memory(allocation))
			return NAN;
		if (!allocation->end_ns || allocation->end_ns > time_ns)
			bytes += (double)gt_memory_bytes_on(allocation, device);
	}
	return bytes;
}

static bool is_alone(const struct gt_trace *trace, const struct gt_context *context)
{
	size_t count = 0;

	gt_array_each(const struct gt_context, other, &trace->contexts)
		count += other->process == context->process && other->device == context->device;
	return count == 1;
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;

	(void)err;
	gt_array_each(struct gt_context, context, &trace->contexts) {
		struct reading reading;
		double bytes;

		context->memory_bytes = NAN;
		if (context->device == GT_NONE || !is_alone(trace, context))
			continue;
		reading = first_reading(trace, context->process, context->device);
		bytes = reading.bytes -
		        allocated_at(trace, context->process, context->device, reading.time_ns);
		if (bytes >= 0)
			context->memory_bytes = bytes;
	}
	return 0;
}

const struct gt_stage gt_stage_contexts = {.name = "contexts", .run = run};

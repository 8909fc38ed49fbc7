/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/ids.h"

#include <string.h>

#include "base/array.h"

enum {
	/* Linux gives out no pid above this; twins are moved there. (proc(5), pid_max) */
	PID_LIMIT = 1 << 22,
	/* A GPU number above it is taken for a mistake and not for a machine with so many. */
	GPU_LIMIT = 1024,
};

static const uint64_t fnv_start = 0xcbf29ce484222325; /* 64-bit FNV-1a */

static uint64_t hash(uint64_t state, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size; i++)
		state = (state ^ at[i]) * 0x100000001b3;
	return state;
}

static uint64_t hash_number(uint64_t state, uint64_t number)
{
	return hash(state, &number, sizeof(number));
}

static uint64_t hash_text(uint64_t state, const char *text)
{
	return hash(state, text, strlen(text) + 1);
}

/*
 * Two processes may have one pid: in two containers, on two machines, or one after the other. To
 * Perfetto they would be one process, so all but the first get a pid that no process can have.
 */
static uint32_t free_pid(const struct gt_ids *ids, size_t row)
{
	uint32_t pid = ids->trace->processes.rows[row].pid;

	for (size_t i = 0; i < row; i++) {
		if (ids->pids[i] == pid) {
			pid += PID_LIMIT;
			i = SIZE_MAX; /* begin again: the new one may be taken as well */
		}
	}
	return pid;
}

static void name_processes(struct gt_ids *ids)
{
	const struct gt_trace *trace = ids->trace;

	for (size_t i = 0; i < trace->processes.count; i++) {
		const struct gt_process *process = &trace->processes.rows[i];
		uint64_t uuid = hash_text(fnv_start, gt_trace_text(trace, process->host));

		ids->pids[i] = free_pid(ids, i);
		uuid = hash_number(hash_number(uuid, ids->pids[i]), process->started_ticks);
		ids->process_uuids[i] = uuid | 1; /* 0 is the uuid of no track */
		if (process->host != trace->processes.rows[0].host)
			ids->several_hosts = true;
	}
	ids->several_processes = trace->processes.count > 1;
}

static bool gpu_is_taken(const struct gt_ids *ids, size_t known, uint32_t gpu)
{
	for (size_t i = 0; i < known; i++)
		if (ids->gpus[i] == gpu)
			return true;
	return false;
}

/* The number in the machine where it is known; the others, and twins on other machines, follow. */
static void name_gpus(struct gt_ids *ids)
{
	const struct gt_trace *trace = ids->trace;

	for (size_t i = 0; i < trace->devices.count; i++) {
		const int32_t index = trace->devices.rows[i].index;

		ids->gpus[i] = GT_NONE;
		if (index < 0 || index >= GPU_LIMIT || gpu_is_taken(ids, i, (uint32_t)index))
			continue;
		ids->gpus[i] = (uint32_t)index;
		if (ids->gpus[i] >= ids->gpu_count)
			ids->gpu_count = ids->gpus[i] + 1;
	}
	for (size_t i = 0; i < trace->devices.count; i++)
		if (ids->gpus[i] == GT_NONE)
			ids->gpus[i] = ids->gpu_count++;
}

void gt_ids_init(struct gt_ids *ids, const struct gt_trace *trace)
{
	*ids = (struct gt_ids){.trace = trace};
	ids->pids = gt_allocate(trace->processes.count * sizeof(*ids->pids));
	ids->process_uuids = gt_allocate(trace->processes.count * sizeof(*ids->process_uuids));
	ids->gpus = gt_allocate(trace->devices.count * sizeof(*ids->gpus));
	name_processes(ids);
	name_gpus(ids);
}

void gt_ids_release(struct gt_ids *ids)
{
	gt_array_free(ids->pids);
	gt_array_free(ids->process_uuids);
	gt_array_free(ids->gpus);
	*ids = (struct gt_ids){0};
}

uint64_t gt_ids_track_uuid(const struct gt_ids *ids, gt_id process, const char *kind, size_t number)
{
	return hash_number(hash_text(ids->process_uuids[process], kind), number) | 1;
}

uint64_t gt_ids_thread_uuid(const struct gt_ids *ids, const struct gt_thread *thread)
{
	return gt_ids_track_uuid(ids, thread->process, "thread", thread->tid);
}

size_t gt_ids_activity(const struct gt_ids *ids, enum gt_activity_table table, size_t row)
{
	const struct gt_trace *trace = ids->trace;

	return row + (table > GT_KERNELS ? trace->kernels.count : 0) +
	       (table > GT_COPIES ? trace->copies.count : 0);
}

size_t gt_ids_activity_count(const struct gt_ids *ids)
{
	return gt_ids_activity(ids, GT_FILLS, ids->trace->fills.count);
}

static bool has_place(const struct gt_trace *trace, struct gt_activity *activity, gt_count flags)
{
	activity->process = gt_trace_stream_process(trace, activity->stream);
	if (activity->process >= trace->processes.count || flags & GT_UNFINISHED ||
	    !gt_ids_time_is_sound(activity->start_ns))
		return false;
	if (activity->device >= trace->devices.count) {
		const gt_id context = trace->streams.rows[activity->stream].context;

		activity->device = trace->contexts.rows[context].device;
	}
	/* Nothing is shorter than a nanosecond, or a viewer would not draw it. */
	if (activity->end_ns <= activity->start_ns)
		activity->end_ns = activity->start_ns + 1;
	return activity->device < trace->devices.count;
}

/* The columns that the three tables have in common. */
#define ACTIVITY(row)                                                                              \
	((struct gt_activity){.start_ns = (row)->start_ns,                                         \
	                      .end_ns = (row)->end_ns,                                             \
	                      .device = (row)->device,                                             \
	                      .stream = (row)->stream,                                             \
	                      .api_call = (row)->api_call})

struct gt_activity gt_ids_activity_at(const struct gt_ids *ids, size_t activity)
{
	const struct gt_trace *trace = ids->trace;
	struct gt_activity found;
	gt_count flags;

	if (activity < trace->kernels.count) {
		const struct gt_kernel *kernel = &trace->kernels.rows[activity];

		found = ACTIVITY(kernel);
		found.placed = has_place(trace, &found, kernel->flags) &&
		               kernel->shape < trace->launch_shapes.count;
		return found;
	}
	activity -= trace->kernels.count;
	if (activity < trace->copies.count) {
		found = ACTIVITY(&trace->copies.rows[activity]);
		flags = trace->copies.rows[activity].flags;
	} else {
		const struct gt_fill *fill = &trace->fills.rows[activity - trace->copies.count];

		found = ACTIVITY(fill);
		flags = fill->flags;
	}
	found.placed = has_place(trace, &found, flags);
	return found;
}

uint64_t gt_ids_event(size_t activity)
{
	return (uint64_t)activity + 1;
}

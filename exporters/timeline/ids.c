/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/timeline/ids.h"

#include <string.h>

#include "base/array.h"
#include "model/known.h"
#include "model/work/timed.h"

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

struct pids {
	struct gt_known taken;
	struct gt_known moved; /* by the pid of twins: where the last of them was moved to */
};

static uint32_t next_pid(uint32_t pid)
{
	const uint64_t next = (uint64_t)pid + PID_LIMIT;

	/* Perfetto's pids have a sign: another row of numbers begins when one is used up. */
	return next <= INT32_MAX ? (uint32_t)next : PID_LIMIT + (pid + 1) % PID_LIMIT;
}

/*
 * Two processes may have one pid: in two containers, on two machines, or one after the other. To
 * Perfetto they would be one process, so all but the first get a pid that no process can have.
 */
static uint32_t free_pid(struct pids *pids, uint32_t pid)
{
	const gt_id moved = gt_known_find(&pids->moved, pid);
	uint32_t free = moved == GT_NONE ? pid : moved;

	while (gt_known_find(&pids->taken, free) != GT_NONE)
		free = next_pid(free);
	gt_known_add(&pids->taken, free, 0);
	if (free == pid)
		return pid;
	/* Its next twin looks from there on. */
	gt_known_set(&pids->moved, pid, free);
	return free;
}

static void name_processes(struct gt_ids *ids)
{
	const struct gt_trace *trace = ids->trace;
	struct pids pids = {{0}, {0}};

	for (size_t i = 0; i < trace->processes.count; i++) {
		const struct gt_process *process = &trace->processes.rows[i];
		uint64_t uuid = hash_text(fnv_start, gt_trace_text(trace, process->host));

		ids->pids[i] = free_pid(&pids, process->pid);
		uuid = hash_number(hash_number(uuid, ids->pids[i]), process->started_ticks);
		ids->process_uuids[i] = uuid | 1; /* 0 is the uuid of no track */
		if (process->host != trace->processes.rows[0].host)
			ids->several_hosts = true;
	}
	ids->several_processes = trace->processes.count > 1;
	gt_known_release(&pids.taken);
	gt_known_release(&pids.moved);
}

static void count_contexts(struct gt_ids *ids)
{
	const struct gt_trace *trace = ids->trace;

	for (size_t i = 0; i < trace->processes.count; i++)
		ids->context_counts[i] = 0;
	gt_array_each(const struct gt_context, context, &trace->contexts)
		if (context->process < trace->processes.count)
			ids->context_counts[context->process]++;
}

/* The number in the machine where it is known; the others, and twins on other machines, follow. */
static void name_gpus(struct gt_ids *ids)
{
	const struct gt_trace *trace = ids->trace;
	bool taken[GPU_LIMIT] = {false};

	for (size_t i = 0; i < trace->devices.count; i++) {
		const int32_t index = trace->devices.rows[i].index;

		ids->gpus[i] = GT_NONE;
		if (index < 0 || index >= GPU_LIMIT || taken[index])
			continue;
		taken[index] = true;
		ids->gpus[i] = (uint32_t)index;
		if (ids->gpus[i] >= ids->gpu_count)
			ids->gpu_count = ids->gpus[i] + 1;
	}
	for (size_t i = 0; i < trace->devices.count; i++)
		if (ids->gpus[i] == GT_NONE)
			ids->gpus[i] = ids->gpu_count++;
}

static size_t row_count(const struct gt_trace *trace, enum gt_placed_table table)
{
	static const size_t tables[] = {
#define PLACED(name, plural) GT_TABLE_##plural,
#include "exporters/timeline/placed.def"
	};

	return gt_trace_table(trace, tables[table]).row_count;
}

static void number_slices(struct gt_ids *ids)
{
	size_t count = 0;

	ids->first_slices = gt_allocate((GT_PLACED_TABLES + 1) * sizeof(*ids->first_slices));
	for (size_t i = 0; i < GT_PLACED_TABLES; i++) {
		ids->first_slices[i] = count;
		count += row_count(ids->trace, (enum gt_placed_table)i);
	}
	ids->first_slices[GT_PLACED_TABLES] = count;
}

void gt_ids_init(struct gt_ids *ids, const struct gt_trace *trace)
{
	*ids = (struct gt_ids){.trace = trace};
	ids->pids = gt_allocate(trace->processes.count * sizeof(*ids->pids));
	ids->process_uuids = gt_allocate(trace->processes.count * sizeof(*ids->process_uuids));
	ids->gpus = gt_allocate(trace->devices.count * sizeof(*ids->gpus));
	ids->context_counts = gt_allocate(trace->processes.count * sizeof(*ids->context_counts));
	name_processes(ids);
	count_contexts(ids);
	name_gpus(ids);
	number_slices(ids);
}

void gt_ids_release(struct gt_ids *ids)
{
	gt_array_free(ids->pids);
	gt_array_free(ids->process_uuids);
	gt_array_free(ids->context_counts);
	gt_array_free(ids->gpus);
	gt_array_free(ids->first_slices);
	*ids = (struct gt_ids){0};
}

uint64_t gt_ids_track_uuid(uint64_t parent_uuid, const char *kind, uint64_t number)
{
	return hash_number(hash_text(parent_uuid, kind), number) | 1;
}

uint64_t gt_ids_thread_uuid(const struct gt_ids *ids, const struct gt_thread *thread)
{
	return gt_ids_track_uuid(ids->process_uuids[thread->process], "thread", thread->tid);
}

bool gt_ids_has_thread(const struct gt_ids *ids, gt_id thread)
{
	const struct gt_trace *trace = ids->trace;

	return thread < trace->threads.count &&
	       trace->threads.rows[thread].process < trace->processes.count;
}

bool gt_ids_places_call(const struct gt_ids *ids, gt_id call)
{
	const struct gt_trace *trace = ids->trace;

	return call < trace->api_calls.count &&
	       gt_ids_time_is_sound(trace->api_calls.rows[call].start_ns) &&
	       gt_ids_has_thread(ids, trace->api_calls.rows[call].thread);
}

bool gt_ids_has_call(const struct gt_ids *ids, gt_id call)
{
	return !ids->without_calls && gt_ids_places_call(ids, call);
}

size_t gt_ids_slice(const struct gt_ids *ids, enum gt_placed_table table, size_t row)
{
	return ids->first_slices[table] + row;
}

size_t gt_ids_slice_count(const struct gt_ids *ids)
{
	return ids->first_slices[GT_PLACED_TABLES];
}

gt_id gt_ids_slice_of(const struct gt_ids *ids, gt_count table, gt_id row)
{
	const struct gt_trace *trace = ids->trace;

#define PLACED(name, plural)                                                                       \
	if (table == GT_TABLE_##plural && row < trace->plural.count)                               \
		return (gt_id)gt_ids_slice(ids, GT_PLACED_##plural, row);
#include "exporters/timeline/placed.def"
	return GT_NONE;
}

static bool find_place(const struct gt_trace *trace, struct gt_placed *placed)
{
	placed->process = gt_trace_stream_process(trace, placed->stream);
	if (placed->process >= trace->processes.count)
		return false;
	if (placed->device >= trace->devices.count) {
		const gt_id context = trace->streams.rows[placed->stream].context;

		placed->device = trace->contexts.rows[context].device;
	}
	/* Nothing is shorter than a nanosecond, or a viewer would not draw it. */
	if (placed->end_ns <= placed->start_ns)
		placed->end_ns = placed->start_ns + 1;
	return placed->device < trace->devices.count;
}

struct gt_placed gt_ids_place(const struct gt_ids *ids, size_t slice)
{
	const struct gt_trace *trace = ids->trace;
	struct gt_placed found = {0};
	enum gt_placed_table table = 0;
	gt_count flags = 0;

	while (slice >= ids->first_slices[table + 1])
		table++;
	slice -= ids->first_slices[table];
	switch (table) {
#define PLACED(name, plural)                                                                       \
	case GT_PLACED_##plural: {                                                                 \
		const struct gt_##name *row = &trace->plural.rows[slice];                          \
                                                                                                   \
		found = (struct gt_placed){.start_ns = row->start_ns,                              \
		                           .end_ns = row->end_ns,                                  \
		                           .device = row->device,                                  \
		                           .stream = row->stream,                                  \
		                           .api_call = row->api_call};                             \
		flags = row->flags;                                                                \
		break;                                                                             \
	}
#include "exporters/timeline/placed.def"
	case GT_PLACED_TABLES:
		break;
	}
	found.placed = gt_timed(GT_TIMES_ANY, flags, found.start_ns, found.end_ns) &&
	               gt_ids_time_is_sound(found.start_ns) && find_place(trace, &found);
	if (table == GT_PLACED_kernels &&
	    trace->kernels.rows[slice].shape >= trace->launch_shapes.count)
		found.placed = false;
	return found;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_IDS_H
#define GT_EXPORTERS_PERFETTO_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * What things of the trace are called in the file. Perfetto joins by these numbers over the whole
 * file, whatever process or GPU they come from, and says nothing when two things share one.
 */
struct gt_ids {
	const struct gt_trace *trace;
	uint32_t *pids;          /* by row of processes */
	uint64_t *process_uuids; /* by row of processes */
	uint32_t *gpus;          /* by row of devices: place in GpuInfo */
	uint32_t gpu_count;      /* with the holes between them */
	bool several_processes;
	bool several_hosts;
};

void gt_ids_init(struct gt_ids *ids, const struct gt_trace *trace);
void gt_ids_release(struct gt_ids *ids);

uint64_t gt_ids_thread_uuid(const struct gt_ids *ids, const struct gt_thread *thread);

/* A further track of the process: number tells those of one kind ("sync") apart. */
uint64_t gt_ids_track_uuid(const struct gt_ids *ids, gt_id process, const char *kind,
                           size_t number);

/* Kernels, copies and fills are numbered through in this order: it makes them one kind of thing. */
enum gt_activity_table { GT_KERNELS, GT_COPIES, GT_FILLS };
size_t gt_ids_activity(const struct gt_ids *ids, enum gt_activity_table table, size_t row);
size_t gt_ids_activity_count(const struct gt_ids *ids);

/* A time that a slice can begin at, with room for its end: damaged recordings hold anything. */
static inline bool gt_ids_time_is_sound(gt_time time_ns)
{
	return time_ns > 0 && time_ns < INT64_MAX - 1;
}

/* Where and when an activity ran, whatever kind it is. */
struct gt_activity {
	gt_time start_ns;
	gt_time end_ns;
	gt_id process;
	gt_id device;
	gt_id stream;
	gt_id api_call;
	bool placed; /* false: no time, or nothing to show it on; the ids above may be GT_NONE */
};
struct gt_activity gt_ids_activity_at(const struct gt_ids *ids, size_t activity);

/*
 * Names the activity in the whole file, whatever its process: Perfetto keeps one map of event
 * ids for a file. Small, since every launch carries it twice.
 */
uint64_t gt_ids_event(size_t activity);

/* Perfetto's number of a context: small and the same in the whole file, CUPTI's is neither. */
static inline uint64_t gt_ids_context(gt_id context)
{
	return (uint64_t)context + 1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_TIMELINE_IDS_H
#define GT_EXPORTERS_TIMELINE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/*
 * Numbers that the file has for things of the trace. Perfetto joins by these numbers over the whole
 * file, whatever process or GPU they come from, and says nothing when two things share one.
 */
struct gt_ids {
	const struct gt_trace *trace;
	uint32_t *pids;          /* by row of processes */
	uint64_t *process_uuids; /* by row of processes */
	size_t *context_counts;  /* by row of processes */
	uint32_t *gpus;          /* by row of devices: place in GpuInfo */
	uint32_t gpu_count;      /* with the holes between them */
	size_t *first_slices;    /* by enum gt_placed_table, and one more: where its rows begin */
	bool several_processes;
	bool several_hosts;
	bool without_calls; /* they are left out of the file */
};

/* Everything of the trace is in the file; who leaves something out says so afterwards. */
void gt_ids_init(struct gt_ids *ids, const struct gt_trace *trace);
void gt_ids_release(struct gt_ids *ids);

uint64_t gt_ids_thread_uuid(const struct gt_ids *ids, const struct gt_thread *thread);

/* A further track below another one: number tells those of one kind ("sync") apart. */
uint64_t gt_ids_track_uuid(uint64_t parent_uuid, const char *kind, uint64_t number);

/* Whether the row is a thread of a process that is known: it then has a track. */
bool gt_ids_has_thread(const struct gt_ids *ids, gt_id thread);

/* Whether the row is an API call with a time and a thread that it can be shown at. */
bool gt_ids_places_call(const struct gt_ids *ids, gt_id call);

/* Whether the row is an API call that has a slice in the file. */
bool gt_ids_has_call(const struct gt_ids *ids, gt_id call);

/* The tables whose rows are slices on a GPU: GT_PLACED_kernels, ... */
enum gt_placed_table {
#define PLACED(name, plural) GT_PLACED_##plural,
#include "exporters/timeline/placed.def"
	GT_PLACED_TABLES
};

/* Their rows are numbered through, table after table: it makes them one kind of thing. */
size_t gt_ids_slice(const struct gt_ids *ids, enum gt_placed_table table, size_t row);
size_t gt_ids_slice_count(const struct gt_ids *ids);

/* The number of a row of any table (GT_TABLE_...); GT_NONE when it is no slice on a GPU. */
gt_id gt_ids_slice_of(const struct gt_ids *ids, gt_count table, gt_id row);

/* A time that a slice can begin at, with room for its end: damaged recordings hold anything. */
static inline bool gt_ids_time_is_sound(gt_time time_ns)
{
	return time_ns > 0 && time_ns < INT64_MAX - 1;
}

/* Where and when a slice on a GPU ran, whatever it is. */
struct gt_placed {
	gt_time start_ns;
	gt_time end_ns;
	gt_id process;
	gt_id device;
	gt_id stream;
	gt_id api_call;
	bool placed; /* false: no time, or nothing to show it on; the ids above may be GT_NONE */
};
struct gt_placed gt_ids_place(const struct gt_ids *ids, size_t slice);

/*
 * Names a slice on a GPU in the whole file, whatever its process: Perfetto keeps one map of event
 * ids for a file. Small, since every launch carries it twice.
 */
static inline uint64_t gt_ids_event(size_t slice)
{
	return (uint64_t)slice + 1;
}

/* Perfetto's number of a context: small and the same in the whole file, CUPTI's is neither. */
static inline uint64_t gt_ids_context(gt_id context)
{
	return (uint64_t)context + 1;
}

#endif

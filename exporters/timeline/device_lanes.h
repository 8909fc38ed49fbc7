/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_TIMELINE_DEVICE_LANES_H
#define GT_EXPORTERS_TIMELINE_DEVICE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/gpu/device_writers.h"
#include "model/trace.h"

/*
 * Where events of kernels are shown: for each process and GPU its multiprocessors, each with as
 * many lanes as writers were on it at a time. A writer has a lane from its first event to its last,
 * so that ranges of one lane lie in one another or follow each other.
 */
enum {
	GT_DEVICE_SLICES_MOST = 200000, /* of a process on a GPU; of more there are none */
	GT_DEVICE_LANES_MOST = 64,      /* of a multiprocessor, likewise */
	GT_DEVICE_SMS_MOST = 1024,      /* of a GPU, likewise */
};

/* A writer on its lane. */
struct gt_device_laid {
	size_t writer; /* of writers */
	size_t launch; /* of writers */
	uint32_t lane; /* of its multiprocessor, from 0 */
};

/* One process on one GPU. */
struct gt_device_group {
	gt_id process;
	gt_id device;
	size_t first; /* of its writers: place in laid */
	size_t end;
	uint64_t events;
	bool too_many; /* for slices: more than may be of one of the above */
};

struct gt_device_lanes {
	const struct gt_trace *trace;
	struct gt_device_writers writers;
	struct gt_device_laid *laid; /* by process, GPU, multiprocessor, and begin */
	gt_array(struct gt_device_group) groups;
};

/* The trace must outlive the lanes. */
void gt_device_lanes_init(struct gt_device_lanes *lanes, const struct gt_trace *trace);
void gt_device_lanes_release(struct gt_device_lanes *lanes);

/* The writer that is laid there. */
static inline const struct gt_device_writer *
gt_device_laid_writer(const struct gt_device_lanes *lanes, size_t place)
{
	return &lanes->writers.rows.rows[lanes->laid[place].writer];
}

/*
 * Rows of device_events of a writer in the order in which they are put on a track: by begin, of
 * equals the outer one first. Owned by the caller (gt_array_free).
 */
gt_id *gt_device_rows_of(const struct gt_device_lanes *lanes,
                         const struct gt_device_writer *writer);

#endif

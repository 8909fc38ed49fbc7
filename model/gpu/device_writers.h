/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_DEVICE_WRITERS_H
#define GT_MODEL_GPU_DEVICE_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * Who wrote the events of kernels (table device_events). A writer is one thread of one launch, on
 * the multiprocessor that its block was on; ranges begin, end and lie in one another by writer.
 * Events whose launch is not known are one launch for each process and GPU.
 */
struct gt_device_writer {
	size_t first; /* of its events: place in order */
	size_t count;
	gt_time start_ns; /* of the first and the last thing that it told: from 0 to INT64_MAX / 2 */
	gt_time end_ns;
	gt_id process;
	gt_id device;
	gt_id kernel;
	gt_count sm;
	gt_count block;
	gt_count thread;
};

/* All writers of one launch. */
struct gt_device_launch {
	gt_id kernel; /* GT_NONE: not known */
	size_t first; /* of the writers */
	size_t count;
};

struct gt_device_writers {
	gt_id *order; /* rows of device_events: writer after writer, of each in the table's order */
	/* By launch, multiprocessor, block and thread. */
	gt_array(struct gt_device_writer) rows;
	/* In the order of the table kernels; those that are not known stand last. */
	gt_array(struct gt_device_launch) launches;
};

/* Whether it is a range whose begin and end are known. */
bool gt_device_is_timed(const struct gt_device_event *event);

/* The value of an event of kind GT_DEVICE_REAL. */
double gt_device_real(const struct gt_device_event *event);

/* The trace must outlive the writers and not change. */
void gt_device_writers_init(struct gt_device_writers *writers, const struct gt_trace *trace);
void gt_device_writers_release(struct gt_device_writers *writers);

#endif

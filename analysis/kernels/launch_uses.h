/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_KERNELS_LAUNCH_USES_H
#define GT_ANALYSIS_KERNELS_LAUNCH_USES_H

#include <stddef.h>
#include <stdint.h>

#include "model/gpu/occupancy.h"
#include "model/trace.h"

struct gt_result;

/* Executions of one launch shape on one GPU, or on the part of it that a green context has. */
struct gt_launch_use {
	uint64_t calls; /* that have a start and an end */
	uint64_t total_ns;
	uint64_t profiled;   /* replayed for their counters: in none of these */
	gt_id shape;         /* GT_NONE: not known */
	gt_id device;        /* GT_NONE: not known */
	gt_count sm_count;   /* multiprocessors that they could run on, 0: not known */
	gt_count first_seen; /* number in the order in which they come in the trace */
};

struct gt_launch_uses {
	struct gt_launch_use *rows; /* those with the most time first */
	size_t count;
	uint32_t *of_kernel; /* by row of kernels */
};

/* The trace must not change as long as they are used. */
void gt_launch_uses_init(struct gt_launch_uses *uses, const struct gt_trace *trace);
void gt_launch_uses_release(struct gt_launch_uses *uses);

/* The GPU with the multiprocessors that they could run on; zeroed where it is not known. */
struct gt_device gt_launch_use_device(const struct gt_trace *trace,
                                      const struct gt_launch_use *use);

/* Without a limit where the shape or the device is not known. */
struct gt_occupancy gt_launch_use_occupancy(const struct gt_trace *trace,
                                            const struct gt_launch_use *use);

/* A cell "132x1x1"; unknown where there are none. */
void gt_add_size(struct gt_result *result, gt_count x, gt_count y, gt_count z);

/*
 * Cells: grid, block and cluster ("132x1x1"), registers, and shared memory that the
 * kernel declares and that the launch asked for.
 */
void gt_add_launch(struct gt_result *result, const struct gt_trace *trace, gt_id shape);

/* The theoretical occupancy and what limits it. */
void gt_add_occupancy(struct gt_result *result, const struct gt_occupancy *occupancy);

/* The name as C++ writes it, and as the compiler mangled it. */
void gt_add_names(struct gt_result *result, const struct gt_trace *trace, gt_id shape);

#endif

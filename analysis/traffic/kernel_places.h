/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_KERNEL_PLACES_H
#define GT_ANALYSIS_TRAFFIC_KERNEL_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/kernels/groups.h"
#include "model/gpu/sampled.h"
#include "model/index.h"

struct gt_traffic_facts;

/* Kernels of one group on one GPU, and of one size where sizes are told apart. */
struct gt_kernel_place {
	uint64_t group;         /* of gt_kernel_groups */
	uint64_t device;        /* row of devices, GT_NONE: not known */
	uint64_t shape;         /* group by shape; 0: not told apart, here and below */
	uint64_t declared_read; /* bytes that the program declares of one execution */
	uint64_t declared_write;
};

struct gt_kernel_places {
	struct gt_kernel_groups groups;
	struct gt_index *index; /* struct gt_kernel_place -> number of the place */
	gt_id *of_kernel;       /* by row of kernels */
	struct gt_sampled_groups sampled;
	size_t count;
};

/* All kernels of a trace by place. */
void gt_kernel_places_init(struct gt_kernel_places *places, const struct gt_trace *trace,
                           enum gt_group_by by);

/*
 * By name, and by launch shape and declared bytes: a kernel that works on several sizes has
 * several. Its groups are those by shape: labels of shape, not of group.
 */
void gt_kernel_sizes_init(struct gt_kernel_places *places, const struct gt_traffic_facts *facts);
void gt_kernel_places_release(struct gt_kernel_places *places);

const struct gt_kernel_place *gt_kernel_place(const struct gt_kernel_places *places, size_t number);

#endif

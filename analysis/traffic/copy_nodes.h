/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_COPY_NODES_H
#define GT_ANALYSIS_TRAFFIC_COPY_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * Copies between host and GPU by the NUMA nodes that they involve: that of the host's memory, that
 * of the thread that asked for them, and that of the GPU. Known of calls that were recorded with
 * --numa alone; other copies are in no row.
 */
struct gt_copy_node {
	gt_id device;
	uint32_t to_gpu;      /* 1: into the GPU, 0: out of it */
	uint32_t memory_kind; /* of the host: enum gt_memory_kind */
	gt_code memory_node;  /* numbers of nodes, -1: not known */
	gt_code thread_node;
	gt_code gpu_node;
	gt_id thread;
	uint64_t copies;
	uint64_t bytes;
	uint64_t total_ns; /* sum of end - start */
};

struct gt_copy_nodes {
	gt_array(struct gt_copy_node) list; /* most bytes first */
};

void gt_copy_nodes_init(struct gt_copy_nodes *nodes, const struct gt_trace *trace);
void gt_copy_nodes_release(struct gt_copy_nodes *nodes);

/* Whether the two are known and differ. */
static inline bool gt_is_far(gt_code node, gt_code gpu_node)
{
	return node >= 0 && gpu_node >= 0 && node != gpu_node;
}

/*
 * Bytes a second of the copies that are like this one, whichever threads asked for them, but whose
 * memory is on the GPU's node; NAN: there were none.
 */
double gt_near_rate(const struct gt_copy_nodes *nodes, const struct gt_copy_node *like);

#endif

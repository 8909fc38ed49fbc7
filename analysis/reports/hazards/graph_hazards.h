/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_HAZARDS_GRAPH_HAZARDS_H
#define GT_ANALYSIS_REPORTS_HAZARDS_GRAPH_HAZARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/reports/hazards/hazards.h"
#include "model/trace.h"

/*
 * Hazards inside one launch of a graph: nodes that use the same memory, of which one writes, and
 * none of which waits for the other, directly or through other nodes.
 */

/* Bytes on end that are used. */
struct gt_touch {
	uint64_t address;
	uint64_t size_bytes;
	bool writes;
};

/* Use of memory by a node in one launch; shown.api_call: the launch, shown.node: the node. */
struct gt_node_use {
	struct gt_hazard_use shown;
	size_t first; /* of touches */
	size_t count;
};

/*
 * Adds to the hazards, a pair of nodes once for each launch; the earlier of both is that which was
 * made first. Sorts the uses. Nothing is said of graphs in which nodes wait for events, semaphores
 * or values.
 */
void gt_graph_hazards_find(struct gt_hazards *hazards, const struct gt_trace *trace,
                           struct gt_node_use *uses, size_t count, const struct gt_touch *touches);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_GRAPHS_BODIES_H
#define GT_COLLECTOR_GRAPHS_BODIES_H

#include "model/trace.h"

/*
 * An activity in the body of a conditional node names no API call: CUPTI 13.0 gives it the
 * correlation id 0. It is of the launch whose other activities it lies among, as the launches of
 * one executable graph never overlap: after the first of a launch and before the first of the next
 * one, or, where the body comes first in the graph, before the last of a launch and after the last
 * of the one before. Where neither tells, as with bodies alone, it stays without a call.
 */
void gt_graph_bodies_link(struct gt_trace *trace);

#endif

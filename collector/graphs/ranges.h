/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_GRAPHS_RANGES_H
#define GT_COLLECTOR_GRAPHS_RANGES_H

#include "model/trace.h"

/*
 * The range of NVTX that each node of a graph was made in: the innermost that was open on the
 * thread whose call made its origin. Clones have the range of what they are clones of, whatever
 * thread made them so.
 *
 * A thread that has no range open and launches into another thread's capture works for that one,
 * as autograd's threads do for the one that waits in backward(): there the range counts that was
 * open on the thread that began the capture.
 */
void gt_graph_ranges_link(struct gt_trace *trace);

#endif

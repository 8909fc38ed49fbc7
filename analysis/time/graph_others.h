/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_GRAPH_OTHERS_H
#define GT_ANALYSIS_TIME_GRAPH_OTHERS_H

#include <stdint.h>

struct gt_graph_runs;
struct gt_result;
struct gt_trace;

/* Tables of report graphs about what is not in graphs. */

/* How much of the GPU's work came from graphs, and how much was asked for one by one. */
void gt_add_graph_share(struct gt_result *result, const struct gt_trace *trace);

/* Kernels that ran in graphs and were launched one by one as well; the first top of them. */
void gt_add_graph_compared(struct gt_result *result, const struct gt_trace *trace,
                           const struct gt_graph_runs *runs, uint64_t top);

/* Calls between two launches of graphs by one thread; the first top of them. */
void gt_add_graph_between(struct gt_result *result, const struct gt_trace *trace, uint64_t top);

#endif

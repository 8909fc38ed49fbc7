/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_PROFILED_H
#define GT_ANALYSIS_PROFILED_H

struct gt_kernel_groups;
struct gt_result;
struct gt_trace;

/*
 * What hardware counters said of launches that were profiled, by kernel and by counter, and what
 * that cost: the sections profiled and profiled_counters of report counters. groups: of the trace.
 */
void gt_add_profiled(struct gt_result *result, const struct gt_trace *trace,
                     const struct gt_kernel_groups *groups);

/* After the report's other remarks: what stood in the way of the counters of launches. */
void gt_remark_profiled(struct gt_result *result, const struct gt_trace *trace);

/* That a report's times have those in which launches were held up for their counters, if any were. */
void gt_remark_held_up(struct gt_result *result, const struct gt_trace *trace);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_PROFILED_H
#define GT_ANALYSIS_TIME_PROFILED_H

struct gt_kernel_groups;
struct gt_result;
struct gt_trace;

/*
 * Hardware counters of launches that were profiled, by kernel and by counter, and what
 * that cost: the sections profiled and profiled_counters of report counters. groups: of the trace.
 */
void gt_add_profiled(struct gt_result *result, const struct gt_trace *trace,
                     const struct gt_kernel_groups *groups);

/* After the report's other remarks: what stood in the way of the counters of launches. */
void gt_remark_profiled(struct gt_result *result, const struct gt_trace *trace);

/* That the times of a report contain stretches in which launches were held up, if any were. */
void gt_remark_held_up(struct gt_result *result, const struct gt_trace *trace);

/* That the columns (as gt_result_remark_on has them) leave such stretches out, if there are any. */
void gt_remark_not_measured(struct gt_result *result, const struct gt_trace *trace,
                            const char *columns);

#endif

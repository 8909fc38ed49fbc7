/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TIME_STREAM_DEPENDENCIES_H
#define GT_ANALYSIS_TIME_STREAM_DEPENDENCIES_H

struct gt_result;
struct gt_trace;

/* Adds the table dependencies: which stream waited for which, and was held back by it. */
void gt_add_stream_dependencies(struct gt_result *result, const struct gt_trace *shown);

#endif

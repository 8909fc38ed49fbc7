/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_MANAGED_H
#define GT_ANALYSIS_MEMORY_MANAGED_H

struct gt_result;
struct gt_trace;

/* The section "placed": calls that say where managed memory is to be, by what they say. */
void gt_add_placed(struct gt_result *result, const struct gt_trace *trace);

#endif

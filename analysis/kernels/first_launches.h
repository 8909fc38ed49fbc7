/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_KERNELS_FIRST_LAUNCHES_H
#define GT_ANALYSIS_KERNELS_FIRST_LAUNCHES_H

struct gt_first_launches;
struct gt_result;
struct gt_trace;

/*
 * Adds the table first_launches, those first whose CUDA calls took most, and a remark when they
 * took much more than later ones.
 */
void gt_add_first_launches(struct gt_result *result, const struct gt_trace *trace,
                           const struct gt_first_launches *launches);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_KERNELS_EACH_H
#define GT_ANALYSIS_KERNELS_EACH_H

struct gt_kernel_groups;
struct gt_result;

/*
 * Adds the table each: what each group of kernels takes of one NVTX range, of those that are in no
 * other one that is chosen, and how much that differs from one range to the next. A range without
 * such a kernel counts as one that took nothing.
 */
void gt_add_kernels_each(struct gt_result *result, const struct gt_kernel_groups *groups);

#endif

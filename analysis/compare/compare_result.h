/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_COMPARE_RESULT_H
#define GT_ANALYSIS_COMPARE_COMPARE_RESULT_H

struct gt_comparison;
struct gt_result;

/* Adds the tables of a comparison, which must outlive the result; NULL: without rows. */
void gt_comparison_show(const struct gt_comparison *comparison, struct gt_result *result);

#endif

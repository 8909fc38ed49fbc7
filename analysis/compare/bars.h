/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_BARS_H
#define GT_ANALYSIS_COMPARE_BARS_H

struct gt_comparison;
struct gt_result;

/*
 * Adds a picture: a bar for each side, of the GPU time of a step, or of the run, by the kernels
 * whose time changed most; the others are one part. For pages of HTML and SVG.
 */
void gt_comparison_add_bars(const struct gt_comparison *comparison, struct gt_result *result);

#endif

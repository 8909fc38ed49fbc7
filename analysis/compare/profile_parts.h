/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_PROFILE_PARTS_H
#define GT_ANALYSIS_COMPARE_PROFILE_PARTS_H

struct gt_profile;
struct gt_steps;
struct gt_trace;
struct gt_view;

/* The figures of figures.def, after the kernels were added. */
void gt_profile_add_figures(struct gt_profile *profile, const struct gt_view *view,
                            const struct gt_steps *steps);

/* Facts that explain differences: GPUs, versions, the environment, how it was recorded. */
void gt_profile_add_settings(struct gt_profile *profile, const struct gt_trace *trace);

#endif

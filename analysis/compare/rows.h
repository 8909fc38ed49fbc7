/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_ROWS_H
#define GT_ANALYSIS_COMPARE_ROWS_H

struct gt_profile;
struct gt_steps;
struct gt_view;

/*
 * Adds a row for each group of kernels: those of one name and launch shape that were asked for in
 * ranges of the program of one path, in graphs or one by one. Kernels that were launched in steady
 * steps are summed up by themselves, too: a step is steady when it took at most a fifth more than
 * the median of its process, and those before the first steady one are warm-up. The first launch of
 * each group is warm-up as well, where there are three.
 */
void gt_profile_add_kernels(struct gt_profile *profile, const struct gt_view *view,
                            const struct gt_steps *steps);

/* Adds a row for each path of ranges that the program itself opened. */
void gt_profile_add_ranges(struct gt_profile *profile, const struct gt_view *view);

#endif

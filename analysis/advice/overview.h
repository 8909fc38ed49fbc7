/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ADVICE_OVERVIEW_H
#define GT_ANALYSIS_ADVICE_OVERVIEW_H

struct gt_facts;
struct gt_result;

/*
 * A recording in a dozen lines for people: what ran, how much, how busy it kept the GPUs, what was
 * waited for, the longest gap, what of the environment changes the speed, what recording cost.
 */
void gt_add_overview(struct gt_result *result, const struct gt_facts *facts);

#endif

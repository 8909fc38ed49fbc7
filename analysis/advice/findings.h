/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ADVICE_FINDINGS_H
#define GT_ANALYSIS_ADVICE_FINDINGS_H

struct gt_advice;
struct gt_result;

/*
 * Findings in a recording, one sentence each with its evidence, its worth and the report that has
 * more of it: the advice that is worth a line on the first page.
 */
void gt_add_findings(struct gt_result *result, const struct gt_advice *advice);

#endif

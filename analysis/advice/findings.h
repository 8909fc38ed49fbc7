/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_ADVICE_FINDINGS_H
#define GT_ANALYSIS_ADVICE_FINDINGS_H

#include <stddef.h>

struct gt_advice;
struct gt_result;

/*
 * Findings in a recording, one sentence each with its evidence, its worth and the report that has
 * more of it: the advice that is worth a line on the first page.
 */
void gt_add_findings(struct gt_result *result, const struct gt_advice *advice);

/* Numbers of these rows of the advice, in its order; rows has room for all. Returns how many. */
size_t gt_findings_choose(const struct gt_advice *advice, size_t *rows);

#endif

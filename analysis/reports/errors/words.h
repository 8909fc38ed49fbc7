/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_ERRORS_WORDS_H
#define GT_ANALYSIS_REPORTS_ERRORS_WORDS_H

struct gt_result;
struct gt_trace;

/*
 * Remarks of a page: the first call that failed, its result, where that was, and work that was in
 * flight then. None where no call failed.
 */
void gt_failures_remark(struct gt_result *result, const struct gt_trace *trace);

#endif

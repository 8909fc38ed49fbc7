/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_FAMILY_SHARES_H
#define GT_ANALYSIS_FAMILY_SHARES_H

struct gt_result;
struct gt_trace;

/* Adds the table families: what the GPUs' time went into, the most first. */
void gt_add_families(struct gt_result *result, const struct gt_trace *trace);

#endif

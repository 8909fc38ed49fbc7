/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_FINDINGS_H
#define GT_ANALYSIS_FINDINGS_H

struct gt_facts;
struct gt_result;

/*
 * What stands out in a recording, one sentence each with its evidence and the report that has more
 * of it. To add one: a rule in the table at the end of findings.c.
 */
void gt_add_findings(struct gt_result *result, const struct gt_facts *facts);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_DOCTOR_TABLE_H
#define GT_CLI_DOCTOR_TABLE_H

#include <stdio.h>

struct gt_findings;
struct gt_result;

/* Findings of gputrace doctor for readers: as tables, which become JSON, and as text. */

/* The tables "verdict" and "findings". The result borrows the texts. */
void gt_doctor_tables(struct gt_result *result, const struct gt_findings *findings);

/* A block for each finding, width columns wide (0: as wide as it gets), and the verdict. */
void gt_doctor_print(const struct gt_findings *findings, size_t width, FILE *out);

#endif

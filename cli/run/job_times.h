/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_JOB_TIMES_H
#define GT_CLI_RUN_JOB_TIMES_H

struct gt_trace;

/*
 * How long captured launches took in the program is known when that has ended: it is then put into
 * their bundles, in the recording's folder launches/, so that these have it wherever they are
 * moved. What cannot be is told to complain, in a sentence.
 */
void gt_job_times_keep(const struct gt_trace *trace, const char *recording,
                       void (*complain)(const char *sentence));

#endif
